"""Trainings that are killed, whose clock is set, whose disk is full: done again, they are as if nothing had been."""

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import psutil

from scripts.records import record
from tests.conftest import Project, copy_project, made_once
from tests.faults import trial
from tests.made import read_run

#: Seconds that a call may take: a machine with other work is slow.
_LIMIT_SECONDS = 300

STUDY = """
title: Killed
data: synthetic
workloads: [mnist_mlp]
hardware: [cpu1]
frameworks: [jax]
modes: [stock, tuned]
scale: {samples: 0.05, epochs: 8}
base: {hardware: cpu1, framework: jax}
charts: [relative_time]
"""

CELLS = ("b128", "b128-tuned")

_CALL = ("snakemake", "--profile", "profiles/local", "--config", "study=killed")

#: Relative: a sum in another order is no other training.
_SAME = 1e-4


def _trained() -> Path:
    """Return a copy of the project in which the study is complete, for all kinds."""

    def make(folder: Path) -> None:
        project = copy_project(folder)
        (project.path / "config" / "studies" / "killed.yaml").write_text(STUDY)
        source = project.path / "scripts" / "measurement" / "checkpoint.py"
        text, count = re.subn(r"^INTERVAL_SECONDS, .*$", "INTERVAL_SECONDS, INTERVAL_SAVINGS = 0.2, 1",
                              source.read_text(), flags=re.MULTILINE)  # fmt: skip
        assert count == 1
        source.write_text(text)
        project.run(*_CALL, f"checkpoints={folder / 'kept'}")

    return made_once("faults-trained", make)


class Desk:
    """A copy of the project whose trainings are saved all the time, and what they come to undisturbed."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "project"
        shutil.copytree(_trained(), self.path, symlinks=True)
        self.project = Project(self.path)
        self.whole = {cell: self.losses(cell) for cell in CELLS}
        self.files = self._names()

    def call(self, *words: str, **about: Any) -> subprocess.Popen:
        """Start the call that a person makes."""
        return self.start((*_CALL, f"checkpoints={self.path / 'kept'}", *words), **about)

    def train(self, *words: str, cell: str = "b128-tuned", **about: Any) -> subprocess.Popen:
        """Start the training of one run, without Snakemake."""
        mode = "tuned" if cell.endswith("tuned") else "stock"
        return self.start((
            "python", "-m", "scripts.train", "--workload", "mnist_mlp", "--hardware", "cpu1", "--framework", "jax",
            "--mode", mode, "--samples", "0.05", "--epochs", "8", "--data", "synthetic", "--output",
            str(self.folder(cell)), "--checkpoints", str(self.path / "kept"), *words,
        ), **about)  # fmt: skip

    def start(self, words: tuple[str, ...], preexec: Callable[[], None] | None = None, **variables: str):
        return subprocess.Popen(
            words, cwd=self.path, env=self.project.environment(**variables), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=preexec,
        )  # fmt: skip

    def finish(self, process: subprocess.Popen) -> tuple[str, int]:
        said, _ = process.communicate(timeout=_LIMIT_SECONDS)
        return said, process.returncode

    def folder(self, cell: str) -> Path:
        return self.path / "results" / "killed" / "mnist_mlp" / "cpu1" / "jax" / cell / "r1"

    def losses(self, cell: str) -> list[float | None]:
        rows = record.read_epochs(self.folder(cell) / "epochs.csv")
        return [row[name] for row in rows for name in ("epoch", "samples", "loss", "val_loss", "val_acc")]

    def forget(self) -> None:
        """Take away all that was trained and made."""
        for name in ("results", "kept"):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def _names(self) -> set[str]:
        place = self.path / "results" / "killed"
        return {
            str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and "logs" not in path.parts
        }

    def processes(self) -> list[psutil.Process]:
        """Return the processes that work in the project."""
        found = []
        for process in psutil.process_iter():
            try:
                if Path(process.cwd()).is_relative_to(self.path) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def check_run(self, cell: str) -> dict[str, Any]:
        """Assert that a run has one record, of the losses of one that was left alone, and return it."""
        run = read_run(self.folder(cell) / "run.json")
        assert run["status"] == "done", (run["status"], run["reason"])
        found = self.losses(cell)
        assert len(found) == len(self.whole[cell]), "epochs are lost or doubled"
        same = all(isclose(one, other, rel_tol=_SAME) for one, other in zip(found, self.whole[cell], strict=True))
        assert same, f"other losses: {found} for {self.whole[cell]}"
        tries = run.get("attempts", [])
        for attempt in tries:
            assert 0 <= attempt["useful_seconds"] <= attempt["used_seconds"] < _LIMIT_SECONDS, attempt
        return run

    def check_all(self) -> None:
        for cell in CELLS:
            self.check_run(cell)
        rows = (self.path / "results" / "killed" / "runs.csv").read_text().splitlines()
        assert len(rows) == 1 + len(CELLS), "rows of the table"
        assert self._names() == self.files, f"files: {self._names() ^ self.files}"
        self.check_ended()

    def check_ended(self) -> None:
        """Assert that nothing is at work any more, soon."""
        until = time.monotonic() + 30
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.2)
        assert not left, f"strays: {[process.cmdline() for process in left]}"


def _workers(desk: Desk) -> list[psutil.Process]:
    return [one for one in desk.processes() if "scripts.train" in one.cmdline()]


def _kill_in_workflow(desk: Desk, whom: str, how: signal.Signals, moments: list[float]) -> None:
    desk.forget()
    for moment in moments:
        process = desk.call()
        time.sleep(moment)
        if process.poll() is None:
            if whom == "all of it":
                os.killpg(process.pid, how)
            elif whom == "Snakemake alone":
                os.kill(process.pid, how)
            else:
                for worker in _workers(desk):
                    worker.send_signal(how)
        desk.finish(process)
    said, code = desk.finish(desk.call())
    assert code == 0, said[-1500:]
    desk.check_all()


def workflow(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield calls that train, killed once or twice and made again."""
    desk = Desk(folder)
    while True:
        whom = rng.choice(("all of it", "Snakemake alone", "the training"))
        how = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
        moments = [rng.uniform(1, 30) for _ in range(rng.choice((1, 1, 2)))]
        what = f"{how.name} to {whom} after {', '.join(f'{moment:.1f}' for moment in moments)} s"
        yield what, lambda given=(desk, whom, how, moments): _kill_in_workflow(*given)


def _kill_training(desk: Desk, cell: str, how: signal.Signals, is_all: bool, moments: list[float]) -> None:
    desk.forget()
    for moment in moments:
        process = desk.train(cell=cell)
        time.sleep(moment)
        if process.poll() is None:
            os.killpg(process.pid, how) if is_all else os.kill(process.pid, how)
        desk.finish(process)
        desk.check_ended()
    if not (desk.folder(cell) / "run.json").exists():
        said, code = desk.finish(desk.train(cell=cell))
        assert code == 0, said[-1500:]
    desk.check_run(cell)


def killed(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield trainings that are killed some times and go on from what was saved."""
    desk = Desk(folder)
    while True:
        cell, is_all = rng.choice(CELLS), rng.random() < 0.5
        how = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
        moments = [rng.uniform(0.5, 15) for _ in range(rng.choice((1, 2, 3)))]
        what = f"{cell}: {how.name} to {'all of it' if is_all else 'the parent'} after "
        what += f"{', '.join(f'{moment:.1f}' for moment in moments)} s"
        yield what, lambda given=(desk, cell, how, is_all, moments): _kill_training(*given)


def _set_clock(desk: Desk, library: Path, cell: str, jump: int, after: int) -> None:
    desk.forget()
    began = time.monotonic()
    about = {"LD_PRELOAD": str(library), "EPOCHS_CLOCK_JUMP": str(jump), "EPOCHS_CLOCK_AFTER": str(after)}
    said, code = desk.finish(desk.train(cell=cell, **about))
    took = time.monotonic() - began
    assert code == 0, said[-1500:]
    run = desk.check_run(cell)
    assert 0 < run["times"]["total_seconds"] <= took
    assert sum(one["used_seconds"] for one in run["attempts"]) <= took, "billed by the clock that was set"


def clocks(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield clocks that are set back or forward while a run is trained; none where there is no C compiler."""
    if shutil.which("cc") is None:
        return
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    desk = Desk(folder)
    while True:
        jump = rng.choice((-86_400, -3600, -5, 5, 3600, 86_400))
        after, cell = rng.randint(0, 10), rng.choice(CELLS)
        yield (
            f"{cell}: by {jump} s after {after} s",
            lambda given=(desk, library, cell, jump, after): _set_clock(*given),
        )


def _fill_disk(desk: Desk, cell: str, most: int) -> None:
    desk.forget()

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    said, code = desk.finish(desk.train(cell=cell, preexec=limit))
    if code == 0:
        assert "checkpoint not written" in said
    else:
        assert code == 2, said[-1500:]
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, said[-1500:]
        assert "Traceback" not in said
        assert not (desk.folder(cell) / "run.json").exists()
    left = [path.name for path in (desk.path / "kept").rglob("*") if path.is_file() and path.name != "attempts.json"]
    assert code != 0 or not left, f"left {left}"
    said, code = desk.finish(desk.train(cell=cell))
    assert code == 0, said[-1500:]
    desk.check_run(cell)
    left = [path.name for path in (desk.path / "kept").rglob("*") if path.is_file()]
    assert set(left) <= {"attempts.json", "state.npz"}, f"left {left}"


def disks(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield disks that are full when a checkpoint or the record is written."""
    desk = Desk(folder)
    while True:
        cell, most = rng.choice(CELLS), rng.choice((0, 100, 400, 2000, 20_000, 200_000))
        yield f"{cell}: no file above {most} bytes", lambda given=(desk, cell, most): _fill_disk(*given)


KINDS = [
    trial.Kind("workflow killed in training", 30, workflow, limit_seconds=900),
    trial.Kind("training killed", 40, killed, limit_seconds=900),
    trial.Kind("clock set in training", 12, clocks, limit_seconds=600),
    trial.Kind("disk full in training", 10, disks, limit_seconds=600),
]
