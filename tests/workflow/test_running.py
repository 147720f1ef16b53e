"""The jobs of a study are known by what they train."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.storage.errors import InputError
from scripts.workflow import running

TARGET = "train:study=small,workload=mnist_mlp,hardware=cpu1,framework=jax,variant=b128,repeat=2"
RUN = "mnist_mlp/cpu1/jax/b128/r2"

Start = Callable[[Path, str], subprocess.Popen]


@pytest.mark.parametrize("quote", ["'", "", '"'])
def test_command_says_what_it_trains(quote: str) -> None:
    command = f"python -m snakemake --target-jobs {quote}{TARGET}{quote} --cores all"
    assert running.trained_by(command)["study"] == "small"
    assert running.trained_by(command)["repeat"] == "2"


@pytest.mark.parametrize("command", ["", "sleep 9", "snakemake --target-jobs 'collect:study=small'"])
def test_command_that_trains_nothing_says_nothing(command: str) -> None:
    assert running.trained_by(command) == {}


@pytest.fixture
def start() -> Iterator[Start]:
    """Return what starts a process that looks like a training."""
    started = []

    def make(folder: Path, output: str) -> subprocess.Popen:
        words = [sys.executable, "-c", "import time; time.sleep(1800)", "scripts.train", "--output", output]
        started.append(subprocess.Popen(words, cwd=folder))
        return started[-1]

    yield make
    for process in started:
        process.kill()
        process.wait()


def test_trainings_of_a_study_in_a_folder_are_ended_and_no_others(start: Start, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    mine = start(tmp_path, f"results/small/{RUN}")
    others = [start(tmp_path, f"results/small2/{RUN}"), start(tmp_path / "other", f"results/small/{RUN}")]
    (job,) = running.here(tmp_path, "small")
    assert (job.run, job.name) == (RUN, f"process {mine.pid}")
    job.end()
    assert mine.poll() is not None
    assert [other.poll() for other in others] == [None, None]
    assert list(running.here(tmp_path, "small")) == []
    job.end()


def slurm(answers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let commands of Slurm answer what is given by their first word, and return what is cancelled."""
    cancelled: list[str] = []

    def say(*command: str) -> str:
        if command[0] == "scancel":
            cancelled.append(command[1])
        elif command[0] == "scontrol" and command[3] == "9":
            raise InputError("Invalid job id specified")
        return answers.get(command[0], "")

    monkeypatch.setattr(running, "say", say)
    return cancelled


def test_jobs_of_a_slurm_are_known_by_folder_and_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [f"7|7|RUNNING|{tmp_path}", f"8_[1-4]|8|PENDING|{tmp_path}", f"9|9|RUNNING|{tmp_path}", "10|10|RUNNING|/x"]
    script = f"#!/bin/sh\npython -m snakemake --target-jobs '{TARGET}'\n"
    cancelled = slurm({"squeue": "\n".join(listed), "scontrol": script}, monkeypatch)
    found = list(running.on_slurm(tmp_path, "small"))
    assert [(job.run, job.name) for job in found] == [(RUN, "7"), ("cpu1, task of an array", "8_[1-4]")]
    assert list(running.on_slurm(tmp_path, "smal")) == []
    for job in found:
        job.end()
    assert cancelled == ["7", "8_[1-4]"]


def test_machine_without_slurm_is_one_line() -> None:
    with pytest.raises(InputError, match="there is no no-such-command on this machine"):
        running.say("no-such-command")


def test_job_of_google_batch_that_is_not_deleted_is_named_with_the_command() -> None:
    def refuse(name: str) -> None:
        raise RuntimeError("permission denied")

    with pytest.raises(InputError, match=r"permission denied; it may still cost: gcloud batch jobs delete jobs/a$"):
        running._deleting(SimpleNamespace(delete_job=refuse), "jobs/a")()
