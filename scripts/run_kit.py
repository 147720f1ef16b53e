"""Train the most telling runs of a kit's study on this machine, as many as end within some minutes.

Needs a Python with the frameworks and nothing else: no network, no Snakemake. Every run is packed into one file as soon
as it has ended; with that file the same command goes on, on a machine that was wiped, too. Exit codes: 0 nothing is
left, or nothing that ends in time; 1 stopped before (the cards are in use, the disk is full); 2 this machine or
what was typed does not fit; 130 ended by a signal.
"""

import argparse
import ctypes
import fcntl
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

if __package__ in (None, ""):  # `python kit/scripts/run_kit.py`: Python puts scripts/ on the path, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.kit import RECORDS_BYTES, records, wheels
from scripts.kit.queue import Run, expected_seconds, next_run
from scripts.measurement.cell import LARGEST, Cell
from scripts.storage import errors
from scripts.storage.errors import InputError
from scripts.storage.files import replacing, write_text

ROOT = Path(__file__).resolve().parents[1]
_PR_SET_PDEATHSIG = 1

#: Seconds at the end of the time that are kept for packing and a last word.
_RESERVE_SECONDS = 3.0

#: Free space (MiB) without which nothing is started: data, packages and records of a kit take less.
_NEEDED_MIB = 512

#: ... and without which no further run is started: a record is smaller, what a compiler leaves is not known.
_ENOUGH_MIB = 64

#: Room that is kept in the file of records for one more run (bytes): twice what the longest one of ours took.
_ROOM_BYTES = 256 * 2**10


class Stopped(Exception):
    """A signal, or the machine, ends the kit's work before its time; the message says which."""


@dataclass
class Session:
    """One call on this machine: what the kit is, where its records go, when its time ends (`monotonic`, s)."""

    about: dict[str, Any]
    archive: Path
    hardware: str
    until: float
    runs: list[Run]
    #: The runs in the archive: path -> status.
    packed: dict[str, str] = field(default_factory=dict)
    lasted: dict[Run, float] = field(default_factory=dict)
    #: Runs that ended without a record: not tried again in this call.
    lost: dict[Run, str] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        return ROOT / "results" / self.about["study"]

    def left(self) -> float:
        return self.until - monotonic() - _RESERVE_SECONDS

    def pending(self) -> list[Run]:
        """Return what is to be trained in order of value: what has failed once is repeated last."""
        runs = [run for run in self.runs if run.path not in self.packed and run not in self.lost]
        failed = {run.cell for run in self.runs if self.packed.get(run.path, "done") != "done"}
        return sorted(runs, key=lambda run: run.cell in failed)


def _minutes(text: str) -> float:
    value = float(text)
    if not 0 < value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def parse(arguments: list[str] | None, study: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=_minutes, required=True, help="nothing is started that would not end in time")
    parser.add_argument("--study", choices=[study], default=study, help="(default: the kit's)")
    parser.add_argument(
        "--records",
        type=Path,
        default=Path(f"{study}-records.zip"),
        help=f"the file that grows run by run, from which a later call goes on (default {study}-records.zip)",
    )
    parser.add_argument("--cpu", action="store_true", help="measure the processor: also where there is no card")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    print(line, flush=True)


def _unpack_data() -> None:
    for packed in sorted((ROOT / "data").glob("*/*.npz.xz")):
        data = packed.with_suffix("")
        if not data.exists():
            with replacing(data) as temporary, lzma.open(packed) as source, temporary.open("wb") as target:
                shutil.copyfileobj(source, target, 2**20)


def _check_machine(about: Mapping[str, Any], cpu: bool) -> tuple[str, dict[str, str]]:
    """Print a line for each thing a training needs; return the machine's name, and why a framework cannot train.

    Raises InputError where nothing can be trained.
    """
    from scripts.kit import machine
    from scripts.measurement import hardware
    from scripts.storage import schemas

    found = hardware.detect()
    if cpu:
        found |= {"gpus": [], "gpu_driver": None}
    elif not found["gpus"]:
        why = "no NVIDIA driver answers" if found["gpu_driver"] is None else f"driver {found['gpu_driver']} shows none"
        raise InputError(f"card: {why}; --cpu measures the processor instead")
    elif used := machine.in_use():
        raise InputError(f"{used}: what is measured beside them would be wrong")
    for index, gpu in enumerate(found["gpus"]):
        _say(f"card {index}: {gpu['model']}, {gpu['memory_mib']} MiB, driver {found['gpu_driver']}")
    _say(f"processor: {found['cpu_model']}, {found['cores']} cores, {found['memory_mib']} MiB")
    if (free := machine.disk_free_mib(ROOT)) < _NEEDED_MIB:
        raise InputError(f"disk: {free:.0f} MiB free at {ROOT}, {_NEEDED_MIB} are needed")
    catalogue_file = ROOT / "config" / "hardware.yaml"
    catalogue = schemas.read_yaml(catalogue_file, "hardware")
    name, entry = machine.entry(catalogue, found)
    text = machine.entry_text(name, entry, found)
    if name not in catalogue:
        write_text(catalogue_file, catalogue_file.read_text(encoding="utf-8") + text)
    write_text(ROOT / records.MACHINE, text)
    _say(f"catalogue: {name}: {entry['label']}{'' if name in catalogue else ' (new)'}")
    asked = list(dict.fromkeys(run["cell"]["framework"] for run in about["runs"]))
    gpus = len(found["gpus"]) and 1
    problems = {}
    for probed in machine.probe(asked, entry["machine"]["cores"], gpus):
        versions = ", ".join(f"{package} {number}" for package, number in probed.versions.items())
        if probed.problem:
            problems[probed.framework] = probed.problem
            _say(f"missing: {probed.framework}: {probed.problem}: its runs are left out")
        else:
            _say(f"framework {probed.framework}: {versions} on {', '.join(probed.devices)}")
    if len(problems) == len(asked):
        raise InputError(f"none of {', '.join(asked)} can train here")
    return name, problems


def _runs(about: Mapping[str, Any], hardware: str) -> list[Run]:
    """Return the study's runs in order of value, as runs of this machine.

    A study that does not name this machine gets the runs of its first one.
    """
    named = {run["cell"]["hardware"] for run in about["runs"]}
    taken = hardware if hardware in named else about["runs"][0]["cell"]["hardware"]
    return [
        Run(replace(Cell(**run["cell"]), hardware=hardware), run["repeat"])
        for run in about["runs"]
        if run["cell"]["hardware"] == taken
    ]


def _restore(session: Session) -> None:
    """Put the records of the archive where a training finds them, and note how long their runs took."""
    import yaml

    by_path = {run.path: run for run in session.runs}
    if session.archive.exists():
        runs, beside = records.read(session.archive)
        earlier = json.loads(beside[records.ABOUT])
        if earlier["study"] != session.about["study"]:
            raise InputError(
                f"{session.archive}: holds records of study {earlier['study']}, not {session.about['study']}"
            )
        (machine,) = yaml.safe_load(beside[records.MACHINE])
        if machine != session.hardware:
            raise InputError(
                f"{session.archive}: holds records of {machine}, this is {session.hardware}: name another (--records)"
            )
        if earlier["code"] != session.about["code"]:
            _say(f"note: {session.archive} was begun by a kit of other code; its runs are kept and not trained again")
        for path, files in runs.items():
            if "run.json" in files:
                for name, content in files.items():
                    with replacing(session.results / path / name) as temporary:
                        temporary.write_bytes(content)
                session.packed[path] = json.loads(files["run.json"])["status"]
            if path in by_path:
                session.lasted[by_path[path]] = _lasted(files)
    else:
        told = {key: value for key, value in session.about.items() if key != "runs"}
        begun = {records.ABOUT: json.dumps(told).encode(), records.MACHINE: (ROOT / records.MACHINE).read_bytes()}
        records.add(session.archive, begun)
    # What a kill kept from being packed.
    for run in session.runs:
        if run.path not in session.packed and (session.results / run.path / "run.json").is_file():
            _pack(session, run)


#: What scripts/train.py itself takes before and after the process that trains (s), on a slow core.
_WATCHER_SECONDS = 3.0

#: A run that was cut is not started again with less than this share more of the time that it had.
_MORE = 1.5


def _lasted(files: Mapping[str, bytes]) -> float:
    """Return how long (s) a run is known to last from its files, a search for its batch size not counted."""
    if "run.json" in files:
        return float(json.loads(files["run.json"])["times"]["total_seconds"]) + _WATCHER_SECONDS
    return _MORE * max(records.cut_seconds(name) for name in files)


def _pack(session: Session, run: Run) -> None:
    files = records.files_of(session.results / run.path)
    records.add(session.archive, {f"{run.path}/{name}": content for name, content in files.items()})
    session.packed[run.path] = json.loads(files["run.json"])["status"]
    session.lasted[run] = _lasted(files)


def _command(session: Session, run: Run) -> list[str]:
    cell = run.cell
    command = [sys.executable, str(ROOT / "scripts" / "train.py")]
    file = session.about["workload_files"].get(cell.workload)
    options: dict[str, Any] = {
        "workload": str(ROOT / file) if file else cell.workload,
        "hardware": cell.hardware,
        "framework": cell.framework,
        "batch-size": cell.batch_size,
        "mode": cell.mode,
        "precision": cell.precision,
        "devices": cell.devices,
        "epochs": cell.epochs,
        "samples": f"{cell.samples:g}",
        "data": "real" if cell.data == "own" else cell.data,
        "repeat": run.repeat,
        "seed": cell.seed(run.repeat),
        "output": session.results / run.path,
    }
    if cell.target is not None:
        options["target"] = f"{cell.target:g}"
    if cell.batch_size == LARGEST and run.repeat > 1:
        options["searched"] = session.results / cell.path / "r1" / "run.json"
    return command + [part for key, value in options.items() for part in (f"--{key}", str(value))]


def _hold_to_parent() -> None:
    """A training ends with the kit that started it, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _train(session: Session, run: Run) -> None:
    """Train one run and pack its record; one that is late is ended, and noted as cut."""
    folder = session.results / run.path
    folder.mkdir(parents=True, exist_ok=True)
    start = monotonic()
    with (folder / "train.log").open("w") as log:
        process = subprocess.Popen(
            _command(session, run), stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, preexec_fn=_hold_to_parent
        )
        try:
            process.wait(max(1.0, session.left()))
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)  # leaves no record
                try:
                    process.wait(2)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    seconds = monotonic() - start
    if (folder / "run.json").is_file():
        _pack(session, run)
        _say(f"  {_result(folder)}, {seconds:.0f} s in all")
    elif process.returncode in (130, -signal.SIGINT, -signal.SIGKILL):
        session.lost[run] = "cut: the time was over"
        records.add(session.archive, {f"{run.path}/{records.cut_name(seconds)}": b""})
        _say(f"  cut after {seconds:.0f} s: the time is over; nothing of it is kept but how long it takes")
    else:
        said = (folder / "train.log").read_text(errors="replace").strip().splitlines()
        session.lost[run] = said[-1][:200] if said else f"exit code {process.returncode}"
        _say(f"  no record: {session.lost[run]}")


def _result(folder: Path) -> str:
    """Return how a run ended, in what its record says without being worked on: what it is worth is told at home."""
    from scripts.measurement import record

    run = record.read_run(folder / "run.json")
    if run["status"] != "done":
        return f"{run['status'].replace('_', ' ')}: {run['reason']}"
    *_, last = record.read_epochs(folder / "epochs.csv")
    loss = f", loss {last['loss']:.4f}" if last["loss"] is not None else ""
    return f"done, its last epoch took {last['elapsed']:.2f} s{loss}"


def _work(session: Session, in_use: Callable[[], str | None]) -> str:
    """Train until nothing is left that ends in time; return why that was the end."""
    from scripts.kit.machine import disk_free_mib

    while pending := session.pending():
        run = next_run(pending, session.lasted, session.left())
        if run is None:
            shortest = min(expected_seconds(one, session.lasted) for one in pending)
            return f"the time is over: {max(0.0, session.left()):.0f} s are left, the shortest needs {shortest:.0f} s"
        if session.archive.stat().st_size > RECORDS_BYTES - _ROOM_BYTES:
            raise Stopped(f"{session.archive} is full: take it in, and begin another (--records)")
        if (free := disk_free_mib(ROOT)) < _ENOUGH_MIB:
            raise Stopped(f"disk: {free:.0f} MiB free at {ROOT}, a run needs {_ENOUGH_MIB}")
        if used := in_use():
            raise Stopped(used)
        cell = run.cell
        _say(
            f"{len(session.packed) + 1} of {len(session.runs)}, {session.left() / 60:.1f} min left: {cell.workload}, "
            f"{cell.framework}, {cell.variant}, run {run.repeat}"
        )
        _train(session, run)
    return "nothing is left to train"


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the kit's folder: two at once would measure each other."""
    with (ROOT / ".running").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{ROOT}: another call of this kit is training") from None
        yield


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> int:
    began = monotonic()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        about = json.loads((ROOT / records.ABOUT).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{ROOT / records.ABOUT}: {error.strerror}: this is not an unpacked kit (make kit)") from error
    options = parse(arguments, about["study"])
    archive = options.records.resolve()
    with _alone():
        _say(f"kit {about['study']} of commit {(about['commit'] or ['unknown'])[0][:12]}, {about['made_at']}")
        version = sys.version.split()[0]
        brought = wheels.unpack(ROOT / "wheels", ROOT / "site")
        _say(f"Python {version}; from the kit: {', '.join(brought) or 'no package'}")
        path = [str(ROOT / "site"), os.environ.get("PYTHONPATH", "")]
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "EPOCHS_COMMIT": json.dumps(about["commit"]),
            "XDG_CACHE_HOME": str(ROOT / ".cache"),
        }
        _unpack_data()
        name, problems = _check_machine(about, options.cpu)
        runs = [run for run in _runs(about, name) if run.cell.framework not in problems]
        session = Session(about, archive, name, began + 60 * options.minutes, runs)
        _restore(session)
        if session.packed:
            _say(f"{len(session.packed)} runs are in {archive} already")
        code, why = 0, ""
        try:
            from scripts.kit import machine

            why = _work(session, (lambda: None) if options.cpu else machine.in_use)
        except Stopped as stopped:
            code, why = 1, str(stopped)
        except (InputError, OSError) as error:
            code, why = 1, str(error)
        except KeyboardInterrupt:
            code, why = 130, "ended by a signal"
        _say(why)
        for run, reason in session.lost.items():
            _say(f"without a record: {run.path}: {reason}")
        left = sum(run.path not in session.packed for run in session.runs)
        _say(
            f"{len(session.packed)} of {len(session.runs)} runs are in {archive}; {left} are left for the same command"
        )
        return code


if __name__ == "__main__":
    errors.run(main)
