"""Each verb killed at each of its steps, and two verbs at once: a file is the old one, the new one or not there.

A verb runs in a fork of this process, which has all it needs imported: a fault takes as long as the verb itself.
"""

import gc
import hashlib
import itertools
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from random import Random

import numpy as np
import yaml

from scripts.kit import records
from scripts.storage import errors
from scripts.studies import definition, grid
from tests import test_refresh_prices as of_prices
from tests.faults import stage, trial
from tests.faults.stage import ROOT, Stage
from tests.kit.test_records import ABOUT

#: What happens to files: each is a moment at which a verb can be killed.
_STEPS = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.chmod", "shutil.rmtree")

#: Strays of a process that was killed are taken away by the next one when they are older (s).
_STRAY_SECONDS = 2.5

#: No verb takes longer (s).
_LONGEST_SECONDS = 120


def _run(step: str, place: Stage, kill_at: int, number: signal.Signals, count_to: int | None) -> None:
    """Call a verb in this process and end it; at the step `kill_at` (0: none) that touches its results, kill it.

    Each step is a byte to the pipe `count_to`.
    """
    code, steps = 70, itertools.count(1)
    below = str(place.results)

    def watch(event: str, arguments: tuple) -> None:
        if event in _STEPS and str(arguments[0]).startswith(below):
            if count_to is not None:
                os.write(count_to, b".")
            if next(steps) == kill_at:
                os.kill(os.getpid(), number)

    said = StringIO()
    sys.stdout = sys.stderr = said
    try:
        sys.addaudithook(watch)
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


def start(
    step: str, place: Stage, kill_at: int = 0, number: signal.Signals = signal.SIGKILL, count_to: int | None = None
) -> int:
    """Return the number of the process in which a verb runs."""
    child = os.fork()
    if not child:
        signal.alarm(0)
        # A verb has a process of its own: SIGALRM of the trial and handlers of this one are none of it.
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _run(step, place, kill_at, number, count_to)
    return child


def end(child: int) -> int:
    """Wait for a process and return how it ended: its exit code, or the signal below 0."""
    until = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("hangs")


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file; what was read of records is known by times, and left out."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "seen.json")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _strays(found: dict[str, str], whole: dict[str, str]) -> set[str]:
    return {name for name in found if name not in whole}


def _clear(place: Stage, step: str) -> None:
    """Take away what a verb writes, as Snakemake does before it calls it."""
    for name in place.writes[step]:
        path = place.results / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _kill(place: Stage, step: str, whole: dict[str, str], kill_at: int, number: signal.Signals, is_there: bool) -> None:
    """Kill a verb at a step, look at what it left, call it again, and look again."""
    if not is_there:
        _clear(place, step)
    how = end(start(step, place, kill_at, number))
    assert how != 71, "did not end in one line"
    left = checksums(place.results)
    strays = _strays(left, whole)
    assert all(Path(name).name.startswith(".") for name in strays), f"half-written: {strays}"
    other = {name for name in left if name in whole and left[name] != whole[name]}
    assert not other, f"half-written: {other}"
    if strays:
        old = time.time() - _STRAY_SECONDS
        for name in strays:
            os.utime(place.results / name, (old, old))
    assert end(start(step, place)) == 0
    again = checksums(place.results)
    assert again == whole, f"after it was done again: {set(again.items()) ^ set(whole.items())}"


def steps(place: Stage, step: str) -> int:
    """Return at how many steps a verb that makes its files anew can be killed."""
    _clear(place, step)
    reader, writer = os.pipe()
    with os.fdopen(reader) as told:
        assert end(start(step, place, count_to=writer)) == 0
        os.close(writer)
        return len(told.read())


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
        "pack_data": [str(data), f"{place}/mnist.npz.xz"],
        "pack_kit": [f"{place}/kit.tar", *words, "--packed", f"{place}/mnist.npz.xz"],
        "take_kit": [f"{folder}/records.zip", "--study", str(file), "--results", str(place)],
    }
    writes = {"pack_data": ("mnist.npz.xz",), "pack_kit": ("kit.tar",), "take_kit": (name,)}
    return Stage(place, calls, writes)


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


def stages(folder: Path) -> Iterator[Stage]:
    """Yield what all verbs have made."""
    for name, make in (
        ("imported", stage.imported), ("trained", stage.trained), ("tables", _tables), ("prices", _refresh),
        ("kit", kit),
    ):  # fmt: skip
        place = make(folder / name)
        os.chdir(ROOT)  # a kit is taken in where the catalogue of machines is
        for step in place.calls:
            assert end(start(step, place)) == 0, step
        yield place


def killed(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield each verb killed at each of its steps in turn; half of the time its files are there already."""
    _warm(folder / "warm")
    faults = []
    for place in stages(folder):
        whole = checksums(place.results)
        for step in place.calls:
            for moment in range(1, steps(place, step) + 1):
                number = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
                faults.append((place, step, whole, moment, number, rng.random() < 0.5))
    rng.shuffle(faults)
    for place, step, whole, moment, number, is_there in faults:
        what = f"{step}: {number.name} at step {moment}, its files {'there' if is_there else 'not there'}"
        yield what, lambda given=(place, step, whole, moment, number, is_there): _kill(*given)


def _both(place: Stage, first: str, second: str, whole: dict[str, str], seconds: float) -> None:
    """Start one verb, and another one a moment later: both end well, and so are their files."""
    one = start(first, place)
    time.sleep(seconds)
    other = start(second, place)
    ends = [end(one), end(other)]
    assert ends[0] == 0, f"{first} ended with {ends[0]}"
    assert ends[1] in (0, 2), f"{second} ended with {ends[1]}"
    again = checksums(place.results)
    assert again == whole, f"{set(again.items()) ^ set(whole.items())}"


def at_once(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield every pair of verbs that write below the same folder, the second one a moment after the first."""
    _warm(folder / "warm")
    places = [(place, checksums(place.results)) for place in stages(folder)]
    while True:
        for place, whole in places:
            for first, second in itertools.product(place.calls, repeat=2):
                seconds = rng.uniform(0, 0.4)
                what = f"{first}, and {second} {seconds:.2f} s later"
                yield what, lambda given=(place, first, second, whole, seconds): _both(*given)


def _warm(folder: Path) -> None:
    """Import in this process what the verbs import, so that their forks need not."""
    for number, make in enumerate((stage.imported, stage.trained)):
        make(folder / str(number)).all()
    shutil.rmtree(folder)
    gc.collect()
    gc.freeze()


KINDS = [
    trial.Kind("verbs killed", None, killed, limit_seconds=180),
    trial.Kind("verbs at once", 200, at_once, limit_seconds=180),
]
