import atexit
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict
from math import ceil
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

from scripts import datasets, workloads
from scripts.storage import errors, schemas
from scripts.studies import grid
from scripts.kit import contents
from scripts.measurement import provenance
from scripts.workflow.code import code_of

# Through the environment and not as a parameter: where the same files were found is no reason to train again.
if config["data_dir"] and workflow.is_main_process:
    os.environ |= {"EPOCHS_DATA_DIR": config["data_dir"]}
# What libraries would else keep in the home directory stays in the clone.
os.environ.setdefault("XDG_CACHE_HOME", str(Path(".cache").resolve()))
os.environ.setdefault("XDG_CONFIG_HOME", str(Path(".cache/config").resolve()))


# Of a cluster's machines each has its own cores: those of this one (profiles/default) do not limit them.
if workflow.is_main_process and config["reach"] != "local":
    workflow.resource_settings.cores = None
    workflow.global_resources["_cores"] = None
# Without a shared file system runs come through a bucket: they are trained into `runs/` there, and `bring` copies them.
BUCKET = bool(
    workflow.storage_settings and workflow.storage_settings.default_storage_provider
)


pathvars:
    trained="runs" if BUCKET else "results",


def store_what_machines_share(path):
    """Only runs and data lie in the bucket: code is sent, and what is made of the runs stays here."""
    known = workflow.pathvars.apply(str(path))
    return apply_storage(path) if known.startswith(("runs/", "data/")) else path


apply_storage = workflow.modifier.path_modifier.apply_default_storage
workflow.modifier.path_modifier.apply_default_storage = store_what_machines_share


def choose_data(policy):
    """Return the function that tells `real` or `synthetic` for a data set under the study's policy."""
    # A machine that trains one run of a study is told what was chosen for it.
    chosen = (
        {}
        if workflow.is_main_process
        else json.loads(os.environ.get("EPOCHS_DATA_KINDS", "{}"))
    )

    def choose(dataset):  # once for each data set: its host may be asked
        if dataset not in chosen:
            chosen[dataset] = datasets.choose(
                policy, dataset, Path("data"), datasets.given_folder()
            )
            os.environ |= {"EPOCHS_DATA_KINDS": json.dumps(chosen)}
        return chosen[dataset]

    return choose


def is_reached(cell):
    """Say whether the profile in use trains on the cell's machine."""
    clusters = CATALOGUE[cell.hardware].get("clusters", {})
    return config["reach"] in clusters or (config["reach"] == "local" and not clusters)


try:
    CATALOGUE = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    NAME, settings = grid.read(config["study"], config)
    STUDIES = dict(grid.read(study, {}) for study in config["published"])
    STUDIES[NAME] = settings
    STUDIES = grid.beside(STUDIES) | STUDIES
    if workflow.is_main_process:
        grid.check_beside(NAME, settings, Path("results"))
    CELLS, RUNS, KEPT, AGAIN, TIERS = {}, [], [], range(0), {}
    if grid.is_trained_here(settings):
        study = grid.expand(
            NAME,
            settings,
            CATALOGUE,
            cores=len(os.sched_getaffinity(0)),
            kind=choose_data(settings["data"]),
        )
        CELLS = {cell.path: cell for cell in study.cells}
        RUNS = [
            f"results/{NAME}/{cell.path}/r{repeat}"
            for cell, repeat in study.runs()
            if is_reached(cell)
        ]
        AGAIN = study.again()
        TIERS = {cell.path: study.tier(cell) for cell in study.cells}
        # What other profiles have trained is in the report too.
        KEPT = [
            folder
            for cell in study.cells
            if not is_reached(cell)
            for repeat in range(1, AGAIN.stop)
            if Path(
                folder := f"results/{NAME}/{cell.path}/r{repeat}", "run.json"
            ).is_file()
        ]
        # Without a run here, a kit can be packed still.
        if not RUNS and not KEPT and not grid.is_for_kit(study, CATALOGUE):
            grid.check_reach(study, CATALOGUE, config["reach"])
    saved = config["checkpoints"] or (
        f"{workflow.storage_settings.default_storage_prefix}/checkpoints"
        if BUCKET
        else ""
    )
    # Likewise: where a run that is preempted goes on, and how long it may take.
    os.environ |= {
        "EPOCHS_CHECKPOINTS": saved and f"{saved}/{NAME}",
        "EPOCHS_MOST_MINUTES": str(settings["max_run_minutes"]),
    }
    if BUCKET and workflow.is_main_process:
        os.environ |= {"EPOCHS_COMMIT": json.dumps(provenance.commit())}
        grid.check_bucket(
            workflow.storage_settings.default_storage_prefix,
            [
                config["study"],
                *settings["beside"],
                *settings.get("workload_files", {}).values(),
            ],
        )
except errors.InputError as error:
    sys.exit(f"error: {error}")


# What the machines that train are told beside the config.
os.environ.setdefault("EPOCHS_DATA_KINDS", "{}")
os.environ.setdefault("EPOCHS_COMMIT", "null")


envvars:
    "EPOCHS_DATA_KINDS",
    "EPOCHS_COMMIT",


# What decides what is trained and how it is timed: an edit there trains again.
TRAINER = [
    "scripts/train.py",
    "scripts/datasets/__init__.py",
    "scripts/workloads/__init__.py",
    "scripts/frameworks/__init__.py",
    "scripts/measurement/checkpoint.py",
    "scripts/measurement/flops.py",
    "scripts/measurement/largest.py",
    "scripts/measurement/loop.py",
    "scripts/measurement/protocol.py",
    "scripts/measurement/record.py",
    "scripts/measurement/resumable.py",
    "scripts/measurement/stopwatch.py",
    "scripts/measurement/worker.py",
    "scripts/measurement/watch.py",
    "scripts/measurement/telemetry.py",
    "scripts/measurement/validators.py",
    "scripts/measurement/convergence.py",
]


def either(names):
    """Return a pattern that matches just these names."""
    return "|".join(map(re.escape, names)) or "(?!x)x"


GRIDS = [name for name, study in STUDIES.items() if grid.is_grid(study)]
SHOWN = [name for name in STUDIES if name not in GRIDS]
TRAINED = [name for name in GRIDS if STUDIES[name]["trained"]]


wildcard_constraints:
    study=either(STUDIES),
    workload=either(workloads.names()),
    dataset=r"\w+",
    hardware=r"[\w.-]+",
    framework=r"\w+",
    variant=r"b(\d+|largest)[\w-]*",
    repeat=r"\d+",
    chart=either({chart for study in STUDIES.values() for chart in study["charts"]}),


def get_report(wildcards):
    """The report, if there is a run to report."""
    if CELLS and not RUNS and not KEPT:
        sys.exit(
            f"error: study {NAME}: no profile trains on {', '.join(sorted(UNREACHED))}: `make kit STUDY={NAME}` packs what is "
            "carried there, `snakemake take_kit --config file=...` takes in what comes back"
        )
    return f"results/{NAME}/report.html"


def get_study(wildcards):
    """The study's config as one string, so that any change of it is seen."""
    return json.dumps(STUDIES[wildcards.study])


def get_books(wildcards):
    """The price books that a study names."""
    study = STUDIES[wildcards.study]
    named = [
        study["book"],
        *(option.get("book", []) for option in study["prices"].values()),
    ]
    names = [
        name
        for books in named
        for name in ([books] if isinstance(books, str) else books)
    ]
    return [
        name if name.endswith(".csv") else f"config/prices/{name}.csv"
        for name in dict.fromkeys(names)
    ]


def get_cell(wildcards):
    path = "{0.workload}/{0.hardware}/{0.framework}/{0.variant}".format(wildcards)
    if path not in CELLS:
        raise WorkflowError(
            f"study {NAME} has no cell {path}; `snakemake -n` lists them"
        )
    return CELLS[path]


def get_workload(wildcards):
    """The file of a workload: the project's, or the user's own."""
    return settings["workload_files"].get(
        wildcards.workload, f"scripts/workloads/{wildcards.workload}.py"
    )


def get_runs(wildcards):
    """The runs of the grid, those of other profiles, and those of the second measurement of unstable cells."""
    runs = get_grid(wildcards) + KEPT
    if not JUDGED:
        return runs
    with checkpoints.find_unstable.get(study=NAME).output[0].open() as file:
        unstable = file.read().split()
    again = [
        f"results/{NAME}/{cell}/r{repeat}" for repeat in AGAIN for cell in unstable
    ]
    return runs + get_affordable(again)


def get_train_arguments(wildcards):
    """One string, so that any change of the cell is seen; it is the command a person could type."""
    cell = get_cell(wildcards)
    target = "" if cell.target is None else f" --target {cell.target:g}"
    return (
        f"--workload {settings['workload_files'].get(cell.workload, cell.workload)} --hardware {cell.hardware} "
        f"--framework {cell.framework} --batch-size {cell.batch_size} --mode {cell.mode} --precision {cell.precision} "
        f"--devices {cell.devices} --epochs {cell.epochs} --samples {cell.samples:g} "
        f"--data {'real' if cell.data == 'own' else cell.data} --repeat {wildcards.repeat} "
        f"--seed {cell.seed(int(wildcards.repeat))}{target}"
    )


def get_searched(wildcards):
    """The first run of a cell with the largest batch size: it searches, and the others take what it found."""
    cell = get_cell(wildcards)
    if cell.batch_size == "largest" and wildcards.repeat != "1":
        return ancient(f"<trained>/{NAME}/{cell.path}/r1/run.json")
    return []


def get_files(wildcards, input):
    """What the machine that trains finds where Snakemake has put it."""
    given = {
        "--data-file": input.data,
        "--searched": input.searched,
    }
    return " ".join(f"{option} {file}" for option, file in given.items() if file)


def get_threads(wildcards):
    """All cores: a timed run shares the machine with nothing."""
    if config["reach"] == "local":
        return workflow.cores
    return CATALOGUE[wildcards.hardware]["machine"]["cores"]


def get_submission(name):
    """Return the function that tells a resource of a cell's machine under the profile in use."""
    # Without a word of it nothing is asked for: of a size that is 0, as Snakemake converts its unit.
    nothing = 0 if name in ("mem_mb", "disk_mb") else None
    return lambda wildcards: CATALOGUE[wildcards.hardware]["clusters"][
        config["reach"]
    ].get(name, nothing)


def has_gpus(wildcards):
    return "gpus" in CATALOGUE[wildcards.hardware]["machine"]


def get_lock(wildcards):
    """What the framework was installed from: for GPUs its CUDA build."""
    return f"envs/{wildcards.framework}{'-gpu' if has_gpus(wildcards) else ''}.lock"


UNREACHED = {cell.hardware for cell in CELLS.values() if not is_reached(cell)}
# What the profile in use asks of the machines that it reaches.
SUBMISSION = {
    name: get_submission(name)
    for entry in CATALOGUE.values()
    for name in entry.get("clusters", {}).get(config["reach"], {})
}


def get_claims(wildcards):
    return json.dumps(CATALOGUE[wildcards.hardware]["machine"], sort_keys=True)


def get_trained(table):
    """Return the function that tells where a table of a study lies that was trained before."""
    return lambda wildcards: f"{STUDIES[wildcards.study]['trained']}/{table}"


def get_data(wildcards):
    cell = get_cell(wildcards)
    dataset = workloads.workload(cell.workload).DATASET
    return f"data/{cell.data}/{dataset}.npz" if dataset else []


def get_charts(wildcards):
    return [
        f"results/{wildcards.study}/charts/{chart}"
        for chart in STUDIES[wildcards.study]["charts"]
    ]


def get_beside(wildcards):
    """The runs of the studies that stand beside a study."""
    return [
        f"results/{name}/runs.parquet"
        for name in grid.beside({"": STUDIES[wildcards.study]})
    ]


def get_beside_facts(wildcards):
    """The committed facts of these studies: the report says which of their logs are those of others."""
    given = [
        study.get("import", {})
        for study in grid.beside({"": STUDIES[wildcards.study]}).values()
    ]
    return [
        file
        for about in given
        if "facts" in about
        for file in (about["facts"], *about.get("others", []))
    ]


def get_beside_arguments(wildcards, input):
    """What the report tells of the studies beside it; nothing where there are none."""
    keys = ("title", "published", "machines", "import")
    others = [
        {key: study[key] for key in keys if key in study}
        for study in grid.beside({"": STUDIES[wildcards.study]}).values()
    ]
    return ["--beside", json.dumps(others), *input.beside] if others else []


def get_facts(wildcards):
    """The table that an imported study's runs are made of: given, made from logs, or none for a study of figures."""
    given = STUDIES[wildcards.study].get("import")
    return given.get("facts", f"results/{wildcards.study}/facts.csv") if given else []


def get_problems(wildcards):
    """What the importer refused, where the logs are read here."""
    given = STUDIES[wildcards.study].get("import", {"facts": ""})
    return [] if "facts" in given else f"results/{wildcards.study}/problems.txt"


def get_log_epochs(wildcards):
    """The epochs of an imported study, where the logs are read here: committed facts keep totals."""
    given = STUDIES[wildcards.study].get("import", {"facts": ""})
    return [] if "facts" in given else f"results/{wildcards.study}/log-epochs.parquet"


def get_words(wildcards):
    """The words of the tables that a study derives, if somebody wrote any."""
    words = Path(f"reports/words/{wildcards.study}.yaml")
    return str(words) if words.is_file() else []


def get_report_arguments(wildcards, input):
    """What the report is given of some studies only: words, and for the audit where imported runs are from."""
    given = [["--words", input.words]] if input.words else []
    given += [["--problems", input.problems]] if input.problems else []
    given += [["--facts", input.facts, "--others", *input.others]] if input.facts else []
    return [word for option in given for word in option]


def get_pricing(wildcards):
    """What of a study's config decides what its runs cost."""
    study = STUDIES[wildcards.study]
    return json.dumps({key: study[key] for key in ("machines", "book", "prices")})


def get_kinds(wildcards):
    """Which data each data set of the study has, `real` or `synthetic`."""
    kinds = {
        workloads.workload(cell.workload).DATASET: cell.data for cell in CELLS.values()
    }
    return json.dumps(
        {name: kind for name, kind in kinds.items() if name}, sort_keys=True
    )


def get_import(wildcards):
    """What of a study's config decides how its logs are read: a new price or chart reads none again."""
    study = STUDIES[wildcards.study]
    return json.dumps({"import": study["import"], "machines": list(study["machines"])})


def get_logs(wildcards):
    """Every log file in the folder of an imported study: a new or changed one is read again."""
    folder = STUDIES[wildcards.study]["import"].get("folder")
    found = sorted(Path(folder).rglob("*")) if folder else []
    return [str(file) for file in found if file.is_file()]


def get_others(wildcards):
    """Facts of other studies: a log of one may be a log of another."""
    if "import" not in STUDIES[wildcards.study]:
        return []
    shown = [STUDIES[name].get("import", {}) for name in config["published"]]
    given = STUDIES[wildcards.study]["import"].get("others", [])
    return [about["facts"] for about in shown if "facts" in about] + given
