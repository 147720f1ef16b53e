import atexit
import json
import os
import re
import sys
import time
from pathlib import Path

from snakemake.dag import DAG
from snakemake.io import _IOFile
from snakemake.persistence import PersistenceBase

from scripts import datasets
from scripts.costs import books
from scripts.kit import contents
from scripts.measurement import provenance
from scripts.records import about
from scripts.storage import environment, errors, schemas
from scripts.studies import commands, definition, settings, trust
from scripts.workflow import checks, command_line, data_kinds, estimates, failures
from scripts.workflow import internals, lease, locks, quotes, running, slurm
from scripts.workflow.analyses import Analyses
from scripts.workflow.canary import Canary
from scripts.storage.code import code_of, meaning
from scripts.workflow.plan import Plan

if workflow.is_main_process and (moved := command_line.moved(sys.argv)):
    sys.exit(f"error: {moved}")
if workflow.is_main_process and (foreign := command_line.foreign(sys.argv)):
    sys.exit(f"error: {foreign}")
config.update(settings.texts(config))
# Through the environment and not as a parameter: where the same files were found is no reason to train again.
if config["data_dir"] and workflow.is_main_process:
    environment.DATA_DIR.write(config["data_dir"])
if config["trust"] and workflow.is_main_process:
    environment.TRUST.write(config["trust"])
# What libraries would else keep in the home directory stays in the clone.
os.environ.setdefault("XDG_CACHE_HOME", str(Path(".cache").resolve()))
os.environ.setdefault("XDG_CONFIG_HOME", str(Path(".cache/config").resolve()))

if workflow.is_main_process and config["profile"] != "local":
    internals.free_cores(workflow)
# Without a shared file system runs come through a bucket: they are trained into `runs/` there, and copied from it.
BUCKET = internals.storage_prefix(workflow)
# A person's own machines, merged over the catalogue: what shows them is made again when they change.
OWN_HARDWARE = [
    str(file) for file in [schemas.own(Path("config/hardware.yaml"))] if file.exists()
]
internals.send(workflow, OWN_HARDWARE)
# Four fifths of the archive, which takes seconds to compress for each call.
internals.send_none_of(workflow, ("docs/", "reports/published/", "tests/"))
# On a machine that trains, what it is called.
MACHINE = command_line.wildcards_of_job().get("hardware")
# What is still to be set for a cluster: a dry run says it at its end, any other call is refused.
UNSET = (
    checks.unset(workflow.executor_settings, BUCKET)
    if workflow.is_main_process and config["profile"].startswith("gce-")
    else []
)
if UNSET and not command_line.is_dry_run(sys.argv):
    sys.exit(f"error: still to be set: {'; '.join(UNSET)}")
if UNSET:
    internals.leave_storage(workflow)
    BUCKET = None
if command_line.is_dry_run(sys.argv):
    internals.show_jobs(workflow)
internals.store_only(workflow, ("runs/", "data/"))
internals.take_parameters_as_they_are(PersistenceBase)
# With a checkpoint before the trainings, as clusters have it, Snakemake would find no training to do.
if config["profile"] == "local":
    internals.let_ancient_input_trigger_nothing(DAG, _IOFile)
internals.refuse_locked(
    PersistenceBase, lambda: locks.refusal(Path.cwd()), lambda: lease.held(Path.cwd())
)


pathvars:
    trained="runs" if BUCKET else "results",


try:
    if workflow.is_main_process and not command_line.is_dry_run(sys.argv):
        locks.clear(Path.cwd(), config["profile"] == "local")
    plan = Plan.of(
        config,
        lambda policy: data_kinds.chooser(
            lambda name: datasets.choose(
                policy, name, Path("data"), datasets.given_folder()
            ),
            not workflow.is_main_process,
        ),
    )
    if workflow.is_main_process and not command_line.is_dry_run(sys.argv):
        trust.check(
            definition.file(plan.asked),
            plan.settings.get("workload_files", {}),
            plan.settings.get("commands", {}),
        )
    analyses = Analyses(
        plan.studies,
        plan.catalogue,
        plan.published,
        {plan.name: plan.asked} if plan.asked != plan.name else {},
    )
    contents.check_python(config["kit_python"])
    quoted = quotes.Quotes(plan, quotes.budget_usd(config["budget_usd"]))
    machines = {}
    # Snakemake has imported all executors that are installed.
    if (
        workflow.is_main_process
        and "snakemake_executor_plugin_kubernetes" in sys.modules
    ):
        from scripts.workflow import pods

        pods.check_first(sys.modules["snakemake_executor_plugin_kubernetes"].Executor)
    if workflow.is_main_process:
        checks.check_beside(plan)
        checks.check_prices(plan)
        plan = quoted.limited()
        machines = quoted.rates()
    canary = Canary(plan, machines)
    saved = config["checkpoints"] or (f"{BUCKET}/checkpoints" if BUCKET else "")
    if workflow.is_main_process and plan.profile == "local":
        environment.CALLER.write(str(os.getpid()))
    if not workflow.is_main_process and plan.profile != "local":
        environment.JOB.write(plan.profile)
    # Likewise: where a run that is preempted goes on, and how long it may take.
    environment.CHECKPOINTS.write(saved and f"{saved}/{plan.name}")
    environment.MOST_MINUTES.write(
        str(plan.most_minutes(MACHINE) if MACHINE else plan.settings["max_run_minutes"])
    )
    if BUCKET and workflow.is_main_process:
        environment.COMMIT.write(json.dumps(provenance.commit()))
        checks.check_bucket(BUCKET, plan)
        internals.send(workflow, plan.own_code)
except (errors.InputError, OSError) as error:
    sys.exit(f"error: {errors.line(error)}")

# What the machines that train get beside the config.
environment.DATA_KINDS.write_default("{}")
environment.COMMIT.write_default("null")
environment.TRUST.write_default("")
# What is sent through a bucket was packed when the call began.
if BUCKET:
    environment.TRUSTED.write("")
environment.TRUSTED.write_default("")


envvars:
    environment.DATA_KINDS.name,
    environment.COMMIT.name,
    environment.TRUST.name,
    environment.TRUSTED.name,


def either(names):
    """Return a pattern that matches just these names."""
    return "|".join(map(re.escape, names)) or "(?!x)x"


wildcard_constraints:
    study=either(plan.studies),
    workload=either(about.workloads()),
    dataset=r"\w+",
    hardware=r"[\w.-]+",
    framework=r"\w+",
    variant=r"b(\d+|largest)[\w-]*",
    repeat=r"\d+",
    chart=either(
        {chart for study in plan.studies.values() for chart in study["charts"]}
    ),


def read_note(**names):
    """What of a family failed on the cheapest machine, once its first runs have ended."""
    note = checkpoints.try_cheapest.get(study=plan.name, **names).output[0]
    with note.open() as file:
        return file.read()


def get_records(family):
    """The input function that names the records of a family: each waits for its own first runs alone."""
    return lambda wildcards: [
        f"{run}/run.json" for run in canary.tried(family, read_note)
    ]


def get_grid(wildcards):
    """The runs of the study, without second measurements."""
    return canary.grid(read_note)


def get_runs(wildcards):
    """The runs of the grid, those of other profiles, and those that measure once more what was unsteady."""
    runs = get_grid(wildcards) + plan.others_runs
    if not plan.is_judged:
        return runs
    with checkpoints.find_unstable.get(study=plan.name).output[0].open() as file:
        again = [f"results/{plan.name}/{run}" for run in file.read().split()]
    if workflow.is_main_process:
        again = quoted.affordable(again)
    return runs + again
