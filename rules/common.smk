import atexit
import json
import os
import re
import sys
import time
from math import ceil
from pathlib import Path

from scripts import datasets, workloads
from scripts.kit import contents
from scripts.measurement import provenance
from scripts.storage import errors
from scripts.studies import grid
from scripts.workflow import checks, internals, quotes
from scripts.workflow.canary import Canary
from scripts.workflow.code import code_of, meaning
from scripts.workflow.plan import Plan

# Through the environment and not as a parameter: where the same files were found is no reason to train again.
if config["data_dir"] and workflow.is_main_process:
    os.environ |= {"EPOCHS_DATA_DIR": config["data_dir"]}
# What libraries would else keep in the home directory stays in the clone.
os.environ.setdefault("XDG_CACHE_HOME", str(Path(".cache").resolve()))
os.environ.setdefault("XDG_CONFIG_HOME", str(Path(".cache/config").resolve()))

if workflow.is_main_process and grid.profile(config) != "local":
    internals.free_cores(workflow)
# Without a shared file system runs come through a bucket: they are trained into `runs/` there, and `bring` copies them.
BUCKET = internals.storage_prefix(workflow)
internals.store_only(workflow, ("runs/", "data/"))


pathvars:
    trained="runs" if BUCKET else "results",


def choose_data(policy):
    """Return the function that tells `real` or `synthetic` for a data set under the study's policy."""
    # A machine that trains one run of a study is told what was chosen for it.
    told = (
        "{}" if workflow.is_main_process else os.environ.get("EPOCHS_DATA_KINDS", "{}")
    )
    chosen = json.loads(told)

    def choose(dataset):  # once for each data set: its host may be asked
        if dataset not in chosen:
            chosen[dataset] = datasets.choose(
                policy, dataset, Path("data"), datasets.given_folder()
            )
            os.environ |= {"EPOCHS_DATA_KINDS": json.dumps(chosen)}
        return chosen[dataset]

    return choose


try:
    plan = Plan.of(config, choose_data)
    if workflow.is_main_process:
        grid.check_beside(plan.name, plan.settings, Path("results"))
    contents.check_python(config["kit_python"])
    quoted = quotes.Quotes(plan, quotes.budget_usd(config["budget_usd"]))
    if workflow.is_main_process:
        quoted.limit(Canary(plan, {}).is_given_up)
    canary = Canary(plan, quoted.rates() if workflow.is_main_process else {})
    saved = config["checkpoints"] or (f"{BUCKET}/checkpoints" if BUCKET else "")
    # Likewise: where a run that is preempted goes on, and how long it may take.
    os.environ |= {
        "EPOCHS_CHECKPOINTS": saved and f"{saved}/{plan.name}",
        "EPOCHS_MOST_MINUTES": str(plan.settings["max_run_minutes"]),
    }
    if BUCKET and workflow.is_main_process:
        os.environ |= {"EPOCHS_COMMIT": json.dumps(provenance.commit())}
        sent = [
            *plan.settings["beside"],
            *plan.settings.get("workload_files", {}).values(),
        ]
        grid.check_bucket(BUCKET, [config["study"], *sent])
except errors.InputError as error:
    sys.exit(f"error: {error}")

# What the machines that train are told beside the config.
os.environ.setdefault("EPOCHS_DATA_KINDS", "{}")
os.environ.setdefault("EPOCHS_COMMIT", "null")


envvars:
    "EPOCHS_DATA_KINDS",
    "EPOCHS_COMMIT",


def either(names):
    """Return a pattern that matches just these names."""
    return "|".join(map(re.escape, names)) or "(?!x)x"


wildcard_constraints:
    study=either(plan.studies),
    workload=either(workloads.names()),
    dataset=r"\w+",
    hardware=r"[\w.-]+",
    framework=r"\w+",
    variant=r"b(\d+|largest)[\w-]*",
    repeat=r"\d+",
    chart=either(
        {chart for study in plan.studies.values() for chart in study["charts"]}
    ),


def get_data(wildcards):
    """The data of a run, whose time trains nothing again."""
    return ancient(data) if (data := plan.get_data(wildcards)) else []


def get_searched(wildcards):
    """Likewise the first run of a cell, which searched its largest batch size."""
    return ancient(first) if (first := plan.get_searched(wildcards)) else []


def get_files(wildcards, input):
    """What the machine that trains finds where Snakemake has put it."""
    given = {"--data-file": input.data, "--searched": input.searched}
    return " ".join(f"{option} {file}" for option, file in given.items() if file)


def get_threads(wildcards):
    """All cores: a timed run shares the machine with nothing."""
    if plan.profile == "local":
        return workflow.cores
    return plan.catalogue[wildcards.hardware]["machine"]["cores"]


def get_priority(wildcards):
    return canary.get_priority(plan.get_cell(wildcards), int(wildcards.repeat))


def read_note(**names):
    with (
        checkpoints.try_cheapest.get(study=plan.name, **names).output[0].open() as file
    ):
        return file.read()


def get_grid(wildcards):
    """The runs of the study, without second measurements."""
    tried = {
        run
        for configuration in canary.runs
        for run in canary.tried(configuration, read_note)
    }
    return [run for run in plan.runs if run in tried]


def get_records(configuration):
    """The input function that tells the records of a configuration: each waits for its own first run alone."""
    return lambda wildcards: [
        f"{run}/run.json" for run in canary.tried(configuration, read_note)
    ]


def get_runs(wildcards):
    """The runs of the grid, those of other profiles, and those of the second measurement of unstable cells."""
    runs = get_grid(wildcards) + plan.others_runs
    if not plan.is_judged:
        return runs
    with checkpoints.find_unstable.get(study=plan.name).output[0].open() as file:
        unstable = file.read().split()
    again = [
        f"results/{plan.name}/{cell}/r{repeat}"
        for repeat in plan.remeasured
        for cell in unstable
    ]
    return runs + (
        quoted.affordable(again, canary.is_given_up)
        if workflow.is_main_process
        else again
    )
