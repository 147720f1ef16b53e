import json
import os
import sys
import time
from functools import cache
from pathlib import Path

from scripts import datasets, errors, grid, schemas, workloads

# Through the environment and not as a parameter: where the same files were found is no reason to train again.
if config["data_dir"]:
    os.environ |= {"EPOCHS_DATA_DIR": config["data_dir"]}
# What libraries would else keep in the home directory stays in the clone.
os.environ.setdefault("XDG_CACHE_HOME", str(Path(".cache").resolve()))
os.environ.setdefault("XDG_CONFIG_HOME", str(Path(".cache/config").resolve()))


def choose_data(policy):
    """Return the function that tells `real` or `synthetic` for a data set under the study's policy."""

    @cache
    def choose(dataset):  # once for each data set: its host may be asked
        return datasets.choose(policy, dataset, Path("data"), datasets.given_folder())

    return choose


try:
    CATALOGUE = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    name, settings = grid.read(config["study"], config)
    STUDY = grid.expand(
        name,
        settings,
        CATALOGUE,
        cores=len(os.sched_getaffinity(0)),
        kind=choose_data(settings["data"]),
    )
except errors.InputError as error:
    sys.exit(f"error: {error}")

CELLS = {cell.path: cell for cell in STUDY.cells}
RUNS = [f"results/{STUDY.name}/{cell.path}/r{repeat}" for cell, repeat in STUDY.runs()]


wildcard_constraints:
    study=STUDY.name,
    workload="|".join(workloads.names()),
    dataset=r"\w+",
    hardware=r"[\w.-]+",
    framework=r"\w+",
    batch=r"\d+",
    repeat=r"\d+",
    chart="|".join(STUDY.config["charts"]),


def get_cell(wildcards):
    return CELLS["{0.workload}/{0.hardware}/{0.framework}/b{0.batch}".format(wildcards)]


def get_train_arguments(wildcards):
    """One string, so that any change of the cell is seen; it is the command a person could type."""
    cell = get_cell(wildcards)
    return (
        f"--workload {cell.workload} --hardware {cell.hardware} --framework {cell.framework} "
        f"--batch-size {cell.batch_size} --epochs {cell.epochs} --samples {cell.samples:g} "
        f"--data {cell.data} --repeat {wildcards.repeat} --seed {cell.seed(int(wildcards.repeat))}"
    )


def get_claims(wildcards):
    return json.dumps(CATALOGUE[wildcards.hardware]["machine"], sort_keys=True)


def get_data(wildcards):
    cell = get_cell(wildcards)
    dataset = workloads.workload(cell.workload).DATASET
    return f"data/{cell.data}/{dataset}.npz"
