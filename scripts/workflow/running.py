"""The jobs of a study that run or wait somewhere, and how they are ended: on Google Batch, on a Slurm, on this machine.

What a job trains is read from its own command, so that another study of a similar name, another clone of a Slurm's user
or another bucket of a project is left alone.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from scripts.storage.errors import InputError

_TARGET = re.compile(r"--target-jobs\s+['\"]?train:([^\s'\"]+)")
_MARK = re.compile(r"\bEPOCHS_MARK=(\w+)")
_PREFIX = re.compile(r"--default-storage-prefix\s+['\"]?([^\s'\"]+)")

#: A training saves itself when it is asked to end (s).
_GRACE_SECONDS = 30


@dataclass(frozen=True)
class Running:
    """A job: the folder of the run that it trains, how its place calls it, its state, what ends it, and its mark.

    `end` raises InputError with the command that a person can type where the job could not be ended. `mark` says by
    which code it trains, where its command says so (`with_mark`).
    """

    run: str
    name: str
    state: str
    end: Callable[[], None] = field(repr=False)
    mark: str = ""


def with_mark(command: str, mark: str) -> str:
    """Return a shell command that does the same, and carries its mark."""
    return f": EPOCHS_MARK={mark}; {command}"


def trained_by(command: str) -> dict[str, str]:
    """Return the wildcards of the run that a job's command trains; empty for a command that trains none."""
    target = _TARGET.search(command)
    return dict(pair.split("=", 1) for pair in target[1].split(",") if "=" in pair) if target else {}


def _run(wildcards: dict[str, str]) -> str:
    return "{workload}/{hardware}/{framework}/{variant}/r{repeat}".format(**wildcards)


def on_batch(client: Any, project: str, region: str, prefix: str, study: str) -> Iterator[Running]:
    """Yield the jobs of a study on Google Batch whose runs go to a place of a bucket (`prefix`)."""
    from snakemake_executor_plugin_gcebatch import ending, spec

    parent = spec.Site(project, region).parent
    for listed in client.list_jobs(parent=parent):
        if listed.labels.get("study") != spec.label(study) or listed.status.state.name not in ending.ACTIVE:
            continue
        job = client.get_job(name=listed.name)
        runnables = [one for group in job.task_groups for one in group.task_spec.runnables]
        command = " ".join(word for one in runnables for word in one.container.commands)
        wildcards, place = trained_by(command), _PREFIX.search(command)
        if wildcards.get("study") == study and place and place[1] == prefix:
            yield Running(_run(wildcards), job.name, job.status.state.name, _deleting(client, job.name))


def _deleting(client: Any, name: str) -> Callable[[], None]:
    from google.api_core import exceptions

    def delete() -> None:
        try:
            # Until its VM is gone.
            client.delete_job(name=name).result(timeout=600)
        except exceptions.NotFound:
            pass  # it has ended meanwhile
        except Exception as error:
            raise InputError(f"{error}; it may still cost: gcloud batch jobs delete {name}") from error

    return delete


def on_slurm(folder: Path, study: str) -> Iterator[Running]:
    """Yield the jobs of a study that this user has submitted from a folder."""
    listed = say("squeue", "--me", "--noheader", "--format=%i|%F|%T|%Z")
    for line in listed.splitlines():
        name, first, state, submitted_from = line.split("|", 3)
        if Path(submitted_from) != folder:
            continue
        try:
            script = say("scontrol", "write", "batch_script", first, "-")
        except InputError:
            continue  # it has ended meanwhile
        wildcards, marked = trained_by(script), _MARK.search(script)
        if wildcards.get("study") == study:
            # The command of an array names its first run alone.
            run = _run(wildcards) if name == first else f"{wildcards['hardware']}, task of an array"
            yield Running(run, name, state, partial(_cancel, name), marked[1] if marked else "")


def say(*command: str) -> str:
    """Return what a command of Slurm prints. Raises InputError where it fails, with its words."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:
        raise InputError(f"profile slurm: there is no {command[0]} on this machine") from error
    except subprocess.CalledProcessError as error:
        raise InputError(f"profile slurm: {' '.join(command)}: {error.stderr.strip()}") from error


def _cancel(name: str) -> None:
    say("scancel", name)


def trainings() -> Iterator[tuple[psutil.Process, str]]:
    """Yield the trainings of this machine, and the folder of the run that each writes."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "scripts.train" in words and "--output" in words[:-1]:
            yield process, words[words.index("--output") + 1]


def here(folder: Path, study: str) -> Iterator[Running]:
    """Yield the trainings of a study that a call in a folder of this machine has started."""
    results = f"results/{study}/"
    for process, output in trainings():
        try:
            is_ours = output.startswith(results) and Path(process.cwd()) == folder
        except psutil.Error:  # it has ended, or is another user's
            continue
        if is_ours:
            yield Running(output.removeprefix(results), f"process {process.pid}", "RUNNING", partial(_end, process))


def _end(process: psutil.Process) -> None:
    try:
        process.terminate()
        process.wait(_GRACE_SECONDS)
    except psutil.NoSuchProcess:
        pass  # it has ended meanwhile
    except psutil.Error as error:
        raise InputError(f"{error}: kill -KILL {process.pid}") from error
