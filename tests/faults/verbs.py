"""Each verb killed at each of its steps, at any moment and by a power cut, on a full disk, and two verbs at once.

A step is what a verb does to a file: `steps.c`, which is loaded before all else, counts and writes them down, and
kills the process at one of them, a write half done, or lets the disk be full from then on. A verb runs in a fork of a
process that has all it needs imported (`warm`), so that a fault takes as long as the verb itself.
"""

import ctypes
import hashlib
import itertools
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache, partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import yaml

from scripts.epd import __main__ as epd
from scripts.kit import records
from scripts.storage import errors
from scripts.studies import definition, grid
from scripts.workflow.repetitions import History
from tests import test_refresh_prices as of_prices
from tests.articles import test_mlperf_logs as of_mlperf
from tests.conftest import made_once
from tests.faults import stage, trial
from tests.faults.stage import ROOT, Stage
from tests.kit.test_records import ABOUT

#: Strays of a process that was killed are taken away by the next one when they are older (s).
_STRAY_SECONDS = 2.5

#: No verb takes longer (s).
_LONGEST_SECONDS = 120

#: Verbs that are not killed here, and where they are, or why they need not be.
ELSEWHERE = {
    "kit.fetch_wheels": "network: tests.faults.network",
    "repeat": "is killed at each step by tests/workflow/test_repetitions.py; what it calls is here",
    "kit.probe": "writes nothing",
    "run_kit": "trains: tests/kit/test_session.py",
    "train": "trains: tests.faults.trainings",
    "observe": "trains: tests/measurement/test_observed.py",
    "epd document": "writes this project's own documents",
    "epd prices": "calls Snakemake, writes nothing, or a chart under another name first",
    **dict.fromkeys(("epd import", "epd quote", "epd report", "epd summary"), "calls Snakemake"),
    **dict.fromkeys(("epd estimate", "epd status", "epd stop"), "writes nothing"),
    "epd run": "writes one folder, under another name first: tests/recorder",
    "epd bill": "writes one file, under another name first: tests/recorder",
    "epd forget": "removes, and writes nothing",
    "elsewhere": "writes one file, under another name first, as the quote does",
}


def _name(step: str) -> str:
    """Return the verb of a step, or the sub-command of `epd`."""
    return " ".join(step.split()[: 2 if step.startswith("epd ") else 1])


def _all_verbs() -> set[str]:
    """Return all verbs, those of the kit's room, and the sub-commands of `epd`."""
    places = {"": "scripts", "kit.": "scripts/kit", "articles.mlperf.": "scripts/articles/mlperf"}
    verbs = {
        f"{before}{path.stem}"
        for before, folder in places.items()
        for path in (ROOT / folder).glob("*.py")
        if "\ndef main(" in path.read_text()
    }
    return verbs | {f"epd {name}" for name in epd.commands()}


@cache
def _layer() -> Path | None:
    """Return the library that watches the steps; None where there is no C compiler."""

    def make(folder: Path) -> None:
        folder.mkdir()
        source = Path(__file__).with_name("steps.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "steps.so", source], check=True)

    return made_once("faults-steps", make) / "steps.so" if shutil.which("cc") else None


@cache
def _starter() -> Any:
    """Return what starts processes: forks of one that is warm, and has the layer loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.warm"])
    about = {"PYTHONPATH": str(ROOT)} | ({"LD_PRELOAD": str(layer)} if (layer := _layer()) else {})
    with mock.patch.dict(os.environ, about):
        multiprocessing.forkserver.ensure_running()  # type: ignore[attr-defined]
    return context


def _run(step: str, place: Stage, kill_at: int, number: int, log: str) -> None:
    """Call a verb in this process and end it; at the step `kill_at` (0: none) that touches its results, kill it.

    Killed by 0 it meets a disk that is full from then on. The steps are lines of the file `log`.
    """
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code, said = 70, StringIO()
    sys.stdout = sys.stderr = said
    if _layer():
        log_file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if log else -1
        ctypes.CDLL(None).steps_begin(os.fsencode(place.results.resolve()), ctypes.c_long(kill_at), number, log_file)
    try:
        errors.run(lambda: place.call(step) or 0)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        said.write(traceback.format_exc())
    finally:
        lines = said.getvalue().strip().splitlines()
        if code not in (0, 130) and not (code == 2 and lines and trial.is_line(lines[-1])):
            os.write(2, f"{step}: code {code}: {said.getvalue()[-2000:]}\n".encode())
            code = 71
        os._exit(code)


def start(step: str, place: Stage, kill_at: int = 0, number: int = signal.SIGKILL, log: str = "") -> Any:
    """Return the process in which a verb runs."""
    process = _starter().Process(target=_run, args=(step, place, kill_at, number, log))
    process.start()
    return process


def end(process: Any) -> int:
    """Wait for a process and return how it ended: its exit code, or the signal below 0."""
    process.join(_LONGEST_SECONDS)
    if process.exitcode is None:
        process.kill()
        raise AssertionError("hangs")
    return process.exitcode


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file; what was read of records is known by times, and left out."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "seen.json")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _clear(place: Stage, step: str) -> None:
    """Take away what a verb writes, as Snakemake does before it calls it."""
    for name in place.writes[step]:
        path = place.results / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _look(place: Stage, step: str, whole: dict[str, str]) -> None:
    """Look at what a verb left that was ended, call it again, and look again."""
    with place.restored():
        left = checksums(place.results)
        strays = {name for name in left if name not in whole}
        assert all(Path(name).name.startswith(".") for name in strays), f"half-written: {strays}"
        other = {name for name in left if name in whole and left[name] != whole[name]}
        assert not other, f"half-written: {other}"
        old = time.time() - _STRAY_SECONDS
        for name in strays:
            os.utime(place.results / name, (old, old))
        assert end(start(step, place)) == 0
        again = checksums(place.results)
        assert again == whole, f"after it was done again: {set(again.items()) ^ set(whole.items())}"


def _kill(place: Stage, step: str, whole: dict[str, str], kill_at: int, number: int, is_there: bool) -> None:
    """Kill a verb at a step."""
    if not is_there:
        _clear(place, step)
    assert end(start(step, place, kill_at, number)) != 71, "did not end in one line"
    _look(place, step, whole)


def _kill_sometime(place: Stage, step: str, whole: dict[str, str], seconds: float) -> None:
    """Kill a verb after so long."""
    _clear(place, step)
    process = start(step, place)
    time.sleep(seconds)
    process.kill()
    end(process)
    _look(place, step, whole)


def steps(log: str) -> list[tuple[str, str, str]]:
    """Return the steps that a log holds: what, the path below the results, and the other path of a rename."""
    if not Path(log).exists():
        return []
    return [tuple(line.split("\t")) for line in Path(log).read_text().splitlines()]  # type: ignore[misc]


def unsynced(taken: list[tuple[str, str, str]]) -> set[str]:
    """Return the files, by their last names, of which a power cut after these steps loses what was written."""
    lost: set[str] = set()
    for what, path, other in taken:
        if what in ("open", "write", "truncate"):
            lost.add(path)
        elif what == "sync":
            lost.discard(path)
        elif what == "rename" and path in lost:
            lost.remove(path)
            lost.add(other)
        elif what in ("rename", "remove"):
            lost.discard(other or path)
    return lost


def unordered(taken: list[tuple[str, str, str]]) -> str:
    """Return the first file whose new name could be lost while what was named after it lasts; empty for none.

    A name lasts when its folder was synced after it was given.
    """
    waiting: dict[str, str] = {}
    for what, path, other in taken:
        if what == "sync":
            waiting = {name: folder for name, folder in waiting.items() if folder != path.rstrip("/")}
        elif what == "rename":
            if waiting:
                return next(iter(waiting))
            waiting[other] = str(Path(other).parent) if "/" in other else ""
    return next(iter(waiting), "")


def _cut_power(place: Stage, step: str, whole: dict[str, str], kill_at: int, log: str) -> None:
    """Kill a verb at a step and take away what a file system need not have on its disk by then."""
    _clear(place, step)
    Path(log).unlink(missing_ok=True)
    end(start(step, place, kill_at, log=log))
    taken = steps(log)
    for name in unsynced(taken[: kill_at - 1] if kill_at else taken):
        if (path := place.results / name).is_file():
            os.truncate(path, 0)
    if not kill_at:
        name = unordered(taken)
        assert not name, f"{name}: its folder is not synced before another file has its name, or the end"
    _look(place, step, whole)


def _refresh(folder: Path) -> Stage:
    """Return the price book that is refreshed from a catalogue in a folder."""
    catalogue, place = folder / "catalogue", folder / "results"
    catalogue.mkdir(parents=True)
    place.mkdir()
    for cloud, text in of_prices.FILES.items():
        (catalogue / f"{cloud}_vms.csv").write_text(text)
    (folder / "wanted.yaml").write_text(of_prices.WANTED)
    words = ["--catalogue", str(catalogue), "--wanted", f"{folder}/wanted.yaml", "--as-of=2026-02-01"]
    return Stage(place, {"refresh_prices": [*words, f"--book={place}/mine.csv"]}, {"refresh_prices": ("mine.csv",)})


def kit(folder: Path) -> Stage:
    """Return a kit that is packed, and its records that are taken in."""
    folder.mkdir(parents=True)
    place = folder / "results"
    whole = stage.TRAINED | {"hardware": ["cpu1"]}
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(whole))
    name, settings = definition.read(str(file), {})
    study = grid.planned(name, settings, yaml.safe_load((ROOT / "config" / "hardware.yaml").read_text()))
    cell = study.cells[0]
    wheels, data = folder / "wheels", folder / "mnist.npz"
    wheels.mkdir()
    (wheels / "a-1-py3-none-any.whl").write_bytes(b"a wheel" * 1000)
    about = {"dataset": "mnist", "kind": "real", "train_samples": 10, "complete_train_samples": 10, "sha256": {}}
    np.savez(data, about=np.array(json.dumps(about)), x_train=np.zeros((10, 28, 28), np.uint8))
    entry = b"cpu1: {label: 1 vCPU, machine: {cores: 1}}\n"
    members = {records.ABOUT: json.dumps(ABOUT | {"study": name}).encode(), records.MACHINE: entry}
    run = stage.trained(folder / "run", whole | {"hardware": ["cpu1", "cpu2"]})
    for file_of_run in records.FILES[1:]:
        source = run.results / "mnist_mlp/cpu1/jax/b128/r1" / file_of_run
        content = source.read_bytes()
        if file_of_run == "run.json":
            content = json.dumps(json.loads(content) | {"seed": cell.seed(1)}).encode()
        members[f"{cell.path}/r1/{file_of_run}"] = content
    records.add(folder / "records.zip", members)
    words = ["--name", name, "--study", json.dumps(settings), "--kinds", '{"mnist": "real"}']
    words += [f"--hardware={ROOT}/config/hardware.yaml", f"--wheels={wheels}", "--python=3.12", "--data", str(data)]
    calls = {
        "kit.pack_data": [str(data), f"{place}/mnist.npz.xz"],
        "kit.pack": [f"{place}/kit.tar", *words, "--packed", f"{place}/mnist.npz.xz"],
        "epd kit take": [f"{folder}/records.zip", "--study", str(file)],
    }
    writes = {"kit.pack_data": ("mnist.npz.xz",), "kit.pack": ("kit.tar",), "epd kit take": (name,)}
    return Stage(place, calls, writes, instead={"scripts.kit.take.RESULTS": place})


def _tables(folder: Path) -> Stage:
    """Return the tables of a study that others trained, as they are taken."""
    place, given = folder / "results", folder / "given"
    made_ = stage.trained(folder)
    made_.call("collect")
    given.mkdir()
    for name in ("runs", "epochs", "attempts"):
        shutil.copy(made_.results / f"{name}.csv", given)
    shutil.rmtree(place)
    words = [f"--{name}={place / name}.parquet" for name in ("runs", "epochs", "attempts")]
    return Stage(place, {"load_tables": [str(given), *words]}, {"load_tables": stage._TABLES})


def _compared_days(folder: Path) -> Stage:
    """Return the history of a study, and its schedule at GitHub."""
    root = folder / "clone"
    file = folder / "mine.yaml"
    of_runs = stage.trained(folder / "made")
    of_runs.all()
    file.write_text((folder / "made" / "mine.yaml").read_text())
    history = History("mine", root)
    root.mkdir()
    (root / "config").symlink_to(ROOT / "config")
    shutil.copytree(of_runs.results, history.results)
    history.folder.mkdir(parents=True)
    instead = {
        "scripts.workflow.history.ROOT": root,
        "scripts.workflow.timers.github.ROOT": root,
        "scripts.workflow.history.datetime": Noon,
    }
    # GitHub's clone must know the study.
    calls = {
        "epd history": [str(file)],
        "epd schedule": ["add", "local", "--every=1d", "--by=github", "--config=data=synthetic"],
    }
    writes = {
        "epd history": ("history/mine/history.html",),
        "epd schedule": (".github/workflows/epochs-per-dollar-local.yml",),
    }
    return Stage(root, calls, writes, instead=instead)


class Noon(datetime):
    """A day on which it is always noon, so that a page is the same each time."""

    @classmethod
    def now(cls, tz: Any = None) -> "Noon":
        """Return that noon."""
        return cls(2026, 11, 24, 12, tzinfo=tz)


def _fetched(folder: Path) -> Stage:
    """Return a data set that is made, and results of MLPerf that are read."""
    place, logs = folder / "results", folder / "logs"
    place.mkdir(parents=True)
    of_mlperf.write(logs, 10.0, 11.0)
    calls = {
        "fetch_data": ["nietzsche", "synthetic", f"{place}/data/nietzsche.npz"],
        "articles.mlperf.__main__": [f"{place}/mlperf.csv", f"--logs-dir={logs}"],
    }
    return Stage(place, calls, {"fetch_data": ("data/nietzsche.npz",), "articles.mlperf.__main__": ("mlperf.csv",)})


def stages(folder: Path) -> Iterator[Stage]:
    """Yield what all verbs have made."""
    for name, make in (
        ("imported", stage.imported), ("trained", stage.trained), ("tables", _tables), ("prices", _refresh),
        ("kit", kit), ("days", _compared_days), ("fetched", _fetched),
    ):  # fmt: skip
        place = make(folder / name)
        os.chdir(ROOT)  # a kit is taken in where the catalogue of machines is
        for step in place.calls:
            assert end(start(step, place)) == 0, step
        place.keep()
        yield place


def _all_steps(folder: Path) -> Iterator[tuple[Stage, str, dict[str, str], list[tuple[str, str, str]], float]]:
    """Yield each verb with its files, its steps when it makes them anew, and how long that takes (s)."""
    left = _all_verbs() - set(ELSEWHERE)
    for place in stages(folder):
        whole = checksums(place.results)
        for step in place.calls:
            left.discard(_name(step))
            _clear(place, step)
            log, began = f"{folder}/{place.results.parent.name}-{step.replace(' ', '-')}.log", time.monotonic()
            assert end(start(step, place, log=log)) == 0
            yield place, step, whole, steps(log), time.monotonic() - began
    assert not left, f"verbs that nobody kills: {left}"


def killed(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return each verb killed at each of its steps; half of the time its files are there already."""
    if not _layer():
        return []
    faults: list[trial.Fault] = []
    for place, step, whole, taken, _ in _all_steps(folder):
        for moment, (what, path, _) in enumerate(taken, 1):
            number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            is_there = rng.random() < 0.5
            words = (
                f"{step}: {number.name} at step {moment} ({what} {path}), its files {'' if is_there else 'not '}there"
            )
            faults.append((words, partial(_kill, place, step, whole, moment, number, is_there)))
    return _distinct_first(faults, rng)


def without_power(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return each verb at whose steps, and after whose end, the power is cut."""
    if not _layer():
        return []
    faults: list[trial.Fault] = []
    for place, step, whole, taken, _ in _all_steps(folder):
        for moment in range(len(taken) + 1):
            where = f"at step {moment} ({' '.join(taken[moment - 1][:2])})" if moment else "after its end"
            faults.append(
                (f"{step}: power cut {where}", partial(_cut_power, place, step, whole, moment, f"{folder}/cut.log"))
            )
    return _distinct_first(faults, rng)


#: The signal that is none: the disk is full.
_FULL = 0


def _fill(place: Stage, step: str, whole: dict[str, str], kill_at: int, is_there: bool) -> None:
    """Let the disk be full from a step of a verb on: it says so in a line, and leaves nothing."""
    if not is_there:
        _clear(place, step)
    assert end(start(step, place, kill_at, _FULL)) in (2, 1), "did not end in one line"
    left = checksums(place.results)
    assert set(left) <= set(whole), f"left {set(left) - set(whole)}"
    _look(place, step, whole)


def full(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return each verb whose disk is full from one of its writes on."""
    if not _layer():
        return []
    faults: list[trial.Fault] = []
    for place, step, whole, taken, _ in _all_steps(folder):
        for moment, (what, path, _) in enumerate(taken, 1):
            if what in ("open", "write", "mkdir"):
                is_there = rng.random() < 0.5
                words = f"{step}: full at step {moment} ({what} {path})"
                faults.append((words, partial(_fill, place, step, whole, moment, is_there)))
    return _distinct_first(faults, rng)


def _distinct_first(faults: list[trial.Fault], rng: Random) -> list[trial.Fault]:
    """Return faults in an order by chance, those of one verb and file that differ in the step alone behind others."""
    rng.shuffle(faults)
    seen: Counter[str] = Counter()
    ranked = []
    for fault in faults:
        key = re.sub(r"\d+|[0-9a-f]{8}", "", fault[0])
        ranked.append((seen[key], fault))
        seen[key] += 1
    return [fault for _, fault in sorted(ranked, key=lambda one: one[0])]


def killed_sometime(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return each verb killed five times at some moment."""
    faults: list[trial.Fault] = []
    for place, step, whole, _, took in _all_steps(folder):
        for _ in range(5):
            seconds = rng.uniform(0, took)
            faults.append((f"{step}: {seconds:.3f} s in", partial(_kill_sometime, place, step, whole, seconds)))
    rng.shuffle(faults)
    return faults


def _both(place: Stage, first: str, second: str, whole: dict[str, str], seconds: float) -> None:
    """Start one verb, and another one a moment later: both end well, and so are their files."""
    with place.restored():
        one = start(first, place)
        time.sleep(seconds)
        other = start(second, place)
        ends = [end(one), end(other)]
        assert ends[0] == 0, f"{first} ended with {ends[0]}"
        assert ends[1] in (0, 2), f"{second} ended with {ends[1]}"
        again = checksums(place.results)
        assert again == whole, f"{set(again.items()) ^ set(whole.items())}"


def at_once(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return every pair of verbs that write below the same folder, the second one a moment after the first."""
    faults: list[trial.Fault] = []
    for place in stages(folder):
        whole = checksums(place.results)
        for first, second in itertools.product(place.calls, repeat=2):
            seconds = rng.uniform(0, 0.4)
            what = f"{first}, and {second} {seconds:.2f} s later"
            faults.append((what, partial(_both, place, first, second, whole, seconds)))
    rng.shuffle(faults)
    return faults


KINDS = [
    trial.Kind("verbs killed at a step", None, killed, limit_seconds=180),
    trial.Kind("verbs killed at a moment", None, killed_sometime, limit_seconds=180),
    trial.Kind("verbs without power", None, without_power, limit_seconds=180),
    trial.Kind("verbs on a full disk", None, full, limit_seconds=180),
    trial.Kind("verbs at once", None, at_once, limit_seconds=180),
]
