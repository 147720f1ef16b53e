"""What is refused before anything is submitted to a cluster."""

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from math import ceil, inf
from pathlib import Path
from typing import Any

import yaml

from scripts.costs import hourly
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import definition
from scripts.workflow.plan import Plan

#: Where the executor's plugin sends Google's storage client if there are no credentials (`account.NOWHERE` there).
_NO_ACCOUNT = "http://127.0.0.1:9"


def _scontrol(*what: str) -> str:
    answer = subprocess.run(["scontrol", "show", *what], capture_output=True, text=True)
    if answer.returncode:
        raise InputError(f"profile slurm: scontrol show {' '.join(what)}: {answer.stderr.strip()}")
    return answer.stdout


def _partitions() -> list[str]:
    answer = subprocess.run(["sinfo", "--all", "--noheader", "--format=%R"], capture_output=True, text=True)
    if answer.returncode:
        raise InputError(f"profile slurm: sinfo: {answer.stderr.strip()}")
    return sorted(set(answer.stdout.split()))


def _machines(plan: Plan) -> list[str]:
    return sorted({plan.find_cell(run).hardware for run in plan.runs})


def check_arrays(plan: Plan, array_jobs: str | None) -> None:
    """Refuse arrays of jobs that are not alike: all would get the first one's resources, or wait for one another."""
    asked = re.split(r"[,;\s]+", array_jobs or "")
    if not {"all", "train"} & set(asked):
        return
    machines = _machines(plan)
    if len(machines) > 1:
        raise InputError(
            "profile slurm: --slurm-array-jobs: an array is of one machine, and this call has several "
            f"({', '.join(machines)}): choose one by --config 'hardware=[{machines[0]}]'"
        )
    if plan.settings["repeats"] > 1 and "largest" in plan.settings["batch_sizes"]:
        raise InputError(
            "profile slurm: --slurm-array-jobs: with the batch size `largest` later runs wait for the first one, and "
            "an array would wait for all"
        )


def _minutes(partition: str) -> float:
    """Return how long (minutes) a partition lets a job run, by scontrol's `MaxTime`: D-HH:MM:SS, or a word."""
    limit = re.search(r"\bMaxTime\s*=\s*(?:(\d+)-)?(\d+):(\d+):(\d+)", partition)
    if not limit:
        return inf
    days, hours, minutes, seconds = (int(part or 0) for part in limit.groups())
    return (days * 24 + hours) * 60 + minutes + seconds / 60


def _partitions_of(plan: Plan, there: list[str]) -> dict[str, list[str]]:
    """Return the machines by the partition that their jobs ask for. Raises InputError for one that is not `there`."""
    found: dict[str, list[str]] = {}
    for machine in _machines(plan):
        entry = plan.catalogue[machine]["clusters"]["slurm"]
        if {"cluster", "clusters", "slurm_cluster"} & set(entry):
            continue  # of another Slurm than the one that is asked here
        for partition in filter(None, str(entry.get("slurm_partition", "")).split(",")):
            if partition not in there:
                raise InputError(
                    f"profile slurm: {machine}: slurm_partition: {partition!r} is unknown: it is one of "
                    f"{', '.join(there)}; name yours in {schemas.own(Path('config/hardware.yaml'))}"
                )
            found.setdefault(partition, []).append(machine)
    return found


def _check_partition(partition: str, shown: str, entry: Mapping[str, Any], machine: str) -> None:
    """Refuse a partition that starts no jobs, and an account that it does not allow: jobs would wait for ever."""
    state = re.search(r"\bState=(\w+)", shown)
    if state and state[1] != "UP" and partition == entry["slurm_partition"]:  # of several another may start it
        raise InputError(
            f"profile slurm: {machine}: slurm_partition: {partition} is {state[1]} and starts no jobs: `sinfo -R` "
            "says why; wait, or name another one"
        )
    allowed = re.search(r"\bAllowAccounts=(\S+)", shown)
    asked = set(re.split(r"[,\s]+", str(entry.get("slurm_account", "")))) - {""}
    if allowed and allowed[1] != "ALL" and asked and not asked & set(allowed[1].split(",")):
        raise InputError(
            f"profile slurm: {machine}: slurm_account: {entry['slurm_account']}: partition {partition} allows "
            f"{allowed[1]} alone"
        )


def check_slurm(
    plan: Plan,
    settings: Any,
    show: Callable[..., str] = _scontrol,
    partitions: Callable[[], list[str]] = _partitions,
) -> None:
    """Refuse partitions that are not there, and what lets Snakemake wait for ever (plugin 2.8.0).

    `settings` are those of the executor; `show` asks Slurm for what it is configured to be, `partitions` for their
    names.
    """
    check_arrays(plan, settings.array_jobs)
    if settings.status_command != "squeue":
        raise InputError(
            "profile slurm: slurm-status-command: squeue is needed: for a job that was cancelled, sacct says "
            "`CANCELLED by <uid>`, and the call would wait for ever"
        )
    modes = {"this Slurm": show("config")}
    for partition, machines in _partitions_of(plan, partitions()).items():
        shown = modes[f"partition {partition}"] = show("partition", partition)
        most = _minutes(shown)
        for machine in machines:
            _check_partition(partition, shown, plan.catalogue[machine]["clusters"]["slurm"], machine)
            if most < ceil(plan.most_minutes(machine)) + definition.MORE_MINUTES:
                raise InputError(
                    f"profile slurm: partition {partition} ends jobs after {most:g} minutes (MaxTime), and one that "
                    "asks for more waits for ever: max_run_minutes is at most "
                    f"{max(0, most - definition.MORE_MINUTES):g} there, in the study or by `runtime: {most:g}` of "
                    f"{machine}"
                )
    for name, shown in modes.items():
        mode = re.search(r"\bPreemptMode\s*=\s*(\S+)", shown)
        if mode and "CANCEL" in mode[1]:
            raise InputError(
                f"profile slurm: {name} has PreemptMode={mode[1]}, and the call would wait for ever for a job that is "
                "preempted so: ask for REQUEUE, or for partitions that are not preempted"
            )


def is_kubernetes(settings: Any) -> bool:
    """Return whether the executor of a call, by its settings, is the public one for Kubernetes."""
    return type(settings).__module__.startswith("snakemake_executor_plugin_kubernetes")


def elsewhere(plan: Plan, region: str | None) -> str:
    """Return what is wrong with prices where jobs run in another region than they are priced in; empty for nothing."""
    rents = {name: plan.catalogue[name].get("rent", {}).get("region") for name in _machines(plan)}
    others = {name: priced for name, priced in rents.items() if region and priced and priced != region}
    if not others:
        return ""
    return (
        f"jobs run in {region}, and config/hardware.yaml prices {', '.join(others)} in "
        f"{' and '.join(sorted(set(others.values())))}: set their `region:` to {region} (`refresh_prices` fetches the "
        "prices of regions that config/prices/catalogue.yaml names)"
    )


def image(name: str, images: Path = Path("envs/images.yaml")) -> str:
    """Return a framework's image by its digest, as envs/images.sh has noted it; nothing for one that nobody built.

    The image of a command is named as it is, with its registry.
    """
    if "/" in name:
        return name
    known = yaml.safe_load(images.read_text(encoding="utf-8")) if images.is_file() else {}
    return known.get(name, "")


def unbuilt(names: Iterable[str]) -> str:
    """Return what is to be done for images that nobody has built; empty for none."""
    names = set(names)
    if "" in names:
        return (
            "workloads: a command needs its own image: on Google Batch, made from one of this project's (docs/run.md)"
        )
    lacking = " ".join(sorted({name for name in names if not image(name)}))
    return f"envs/images.yaml: there is no {lacking}: run envs/images.sh {lacking}" if lacking else ""


def check_images(names: Iterable[str]) -> None:
    """Refuse to submit jobs whose image nobody has built."""
    if lacking := unbuilt(names):
        raise InputError(lacking)


def setting(settings: Any, name: str, variables: Mapping[str, str] = os.environ) -> str | None:
    """Return a setting of Google Batch: of the executor, or where there is none, as in a dry run, of its variable."""
    return getattr(settings, name, None) or variables.get(f"SNAKEMAKE_GCEBATCH_{name.upper()}")


def unset(settings: Any, prefix: str | None, variables: Mapping[str, str] = os.environ) -> list[str]:
    """Return what Google Batch needs and nobody has set, a line each.

    `settings` are those of the executor, `prefix` the place of the bucket. Nothing is asked of any network.
    """
    lines = [
        f"SNAKEMAKE_GCEBATCH_{name.upper()} (docs/clusters.md)"
        for name in ("project", "region")
        if not setting(settings, name, variables)
    ]
    if not prefix or "$" in prefix:
        lines.append("the variable EPOCHS_BUCKET: a bucket, and a folder in it if you like: my-bucket/epochs")
    if variables.get("STORAGE_EMULATOR_HOST") == _NO_ACCOUNT:
        lines.append("credentials: gcloud auth application-default login")
    return lines


def check_beside(plan: Plan, results: Path = Path("results")) -> None:
    """Refuse a study unless each study beside it, or in its claims, has runs: trained in `results` or supplied."""
    mine = {plan.name: plan.settings}
    for other, about in (definition.beside(mine) | definition.compared(mine)).items():
        if definition.is_trained_here(about) and not (results / other / "runs.parquet").is_file():
            raise InputError(
                f"study {plan.name}: {other!r}, with which it is compared, is trained here and has no runs yet: "
                f"./epd report {other}"
            )


def check_prices(plan: Plan) -> None:
    """Refuse what is wrong with the study's prices, its books and own machines before anything is trained."""
    machines = definition.machines(plan.settings, plan.catalogue)
    named = {*plan.settings["machines"], *(cell.hardware for cell in plan.cells.values())}
    hourly.of_study(plan.settings, machines, named)


def check_bucket(prefix: str, plan: Plan) -> None:
    """Refuse a bucket without a name, and files that a run needs but are not sent with it: git does not know them."""
    if "$" in prefix:
        raise InputError(
            f"{prefix}: the variable is not set: a bucket, and a folder in it if you like: my-bucket/epochs"
        )
    studies = [definition.file(name) for name in (plan.asked, *plan.settings["beside"])]
    check_known_to_git([*studies, *map(Path, plan.settings.get("workload_files", {}).values())])


def check_known_to_git(paths: Iterable[Path]) -> None:
    """Refuse files that machines elsewhere would not get: what is sent to them, or cloned there, is what git knows."""
    for path in paths:
        asked = ["git", "ls-files", "--error-unmatch", str(path)]
        if subprocess.run(asked, cwd=definition.ROOT, capture_output=True).returncode:
            raise InputError(f"{path}: git does not know it, so it is not sent to the machines: git add {path}")
