"""What is refused before anything is submitted to a cluster."""

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from scripts.storage.errors import InputError
from scripts.workflow.plan import Plan


def _scontrol(*what: str) -> str:
    told = subprocess.run(["scontrol", "show", *what], capture_output=True, text=True)
    if told.returncode:
        raise InputError(f"profile slurm: scontrol show {' '.join(what)}: {told.stderr.strip()}")
    return told.stdout


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


def check_slurm(plan: Plan, settings: Any, show: Callable[..., str] = _scontrol) -> None:
    """Refuse the settings under which Snakemake waits for ever for a job that has ended (plugin 2.8.0).

    `settings` are those of the executor; `show` asks Slurm for what it is configured to be.
    """
    check_arrays(plan, settings.array_jobs)
    if settings.status_command != "squeue":
        raise InputError(
            "profile slurm: slurm-status-command: squeue is needed: sacct says `CANCELLED by <uid>` of a job that was "
            "cancelled, and that is waited for in vain"
        )
    modes = {"this Slurm": show("config")}
    for machine in _machines(plan):
        partition = plan.catalogue[machine]["clusters"]["slurm"].get("slurm_partition")
        if partition:
            modes[f"partition {partition}"] = show("partition", partition)
    for name, told in modes.items():
        mode = re.search(r"\bPreemptMode\s*=\s*(\S+)", told)
        if mode and "CANCEL" in mode[1]:
            raise InputError(
                f"profile slurm: {name} has PreemptMode={mode[1]}, and a job that is preempted so is waited for in "
                "vain: ask for REQUEUE, or for partitions that are not preempted"
            )


def image(name: str, images: Path = Path("envs/images.yaml")) -> str:
    """Return a framework's image by its digest, as envs/images.sh has noted it; nothing for one that nobody built."""
    known = yaml.safe_load(images.read_text(encoding="utf-8")) if images.is_file() else {}
    return known.get(name, "")


def check_images(names: Iterable[str]) -> None:
    """Refuse to submit jobs whose image nobody has built."""
    lacking = sorted({name for name in names if not image(name)})
    if lacking:
        listed = " ".join(lacking)
        raise InputError(f"envs/images.yaml: there is no {listed}: run envs/images.sh {listed}")
