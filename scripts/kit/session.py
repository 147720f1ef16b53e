"""One call of a kit on a machine: which runs are there, which comes next, how each is trained and packed."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from scripts.kit import RECORDS_BYTES, children, machine, records
from scripts.kit.queue import Run, expected_seconds, next_run
from scripts.records import record
from scripts.records.cell import LARGEST, Cell
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import opened, replacing

ROOT = Path(__file__).resolve().parents[2]

#: Seconds at the end of the time that are kept for packing and a last word.
_RESERVE_SECONDS = 3.0

#: Free space (MiB) without which no further run is started: a record is smaller, what a compiler leaves is not known.
_ENOUGH_MIB = 64

#: Room that is kept in the file of records for one more run (bytes): twice what the longest one of ours took.
_ROOM_BYTES = 256 * 2**10

#: How the record of a run says that its time was over: what it has trained is kept, and it is trained again with more.
_CUT = "timed_out"

#: What scripts/train.py itself takes before and after the process that trains (s), on a slow core.
_WATCHER_SECONDS = 3.0

#: A run that was cut is not started again with less than this share more of the time that it had.
_MORE = 1.5

#: Between two signs of life of a run (s).
_SIGN_SECONDS = 10.0


class Stopped(Exception):
    """The machine ends the kit's work before its time; the message says why."""


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def runs_of(about: Mapping[str, Any], hardware: str) -> list[Run]:
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


@dataclass
class Session:
    """What a call knows.

    Args:
        about: what `kit.json` says.
        archive: the file of records.
        hardware: this machine's name in the catalogue.
        until: when the time ends (s, the clock of `monotonic`).
        runs: of the study on this machine, in order of value.
        retry: whether failed runs are trained again.
    """

    about: dict[str, Any]
    archive: Path
    hardware: str
    until: float
    runs: list[Run]
    retry: bool = False
    #: The runs in the archive: path -> status.
    packed: dict[str, str] = field(default_factory=dict)
    #: How long (s) runs are known to last.
    lasted: dict[Run, float] = field(default_factory=dict)
    #: Runs that ended without a record: not tried again in this call.
    lost: dict[Run, str] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        """The folder of the study's records."""
        return ROOT / "results" / self.about["study"]

    def left(self) -> float:
        """Return the seconds that are left for runs."""
        return self.until - monotonic() - _RESERVE_SECONDS

    def done(self) -> int:
        """Return how many of the study's runs on this machine have a record."""
        return sum(run.path in self.packed for run in self.runs)

    def pending(self) -> list[Run]:
        """Return what is to be trained in order of value; cells that have failed come last."""
        runs = [run for run in self.runs if run.path not in self.packed and run not in self.lost]
        failed = {run.cell for run in self.runs if self.packed.get(run.path, "done") != "done"}
        return sorted(runs, key=lambda run: run.cell in failed)

    def restore(self) -> None:
        """Put the records of the archive where a training finds them, or begin an archive.

        Raises InputError where it is of another study, machine or size of a cell.
        """
        by_path = {run.path: run for run in self.runs}
        if not self.archive.exists():
            about = {key: value for key, value in self.about.items() if key != "runs"}
            entry = (ROOT / records.MACHINE).read_bytes()
            records.add(self.archive, {records.ABOUT: json.dumps(about).encode(), records.MACHINE: entry})
            say(f"no records yet: {self.archive} is begun")
        else:
            found, beside = records.read(self.archive)
            self._check(beside)
            for path, files in found.items():
                self._take(path, files, by_path.get(path))
            say(f"{self.done()} of {len(self.runs)} runs are in {self.archive} already")
        # What a kill kept from being packed.
        for run in self.runs:
            file = self.results / run.path / "run.json"
            if run.path in self.packed or not file.is_file():
                continue
            status = json.loads(file.read_text(encoding="utf-8"))["status"]
            if status == "done" or (status != _CUT and not self.retry):
                self.pack(run)

    def _check(self, beside: Mapping[str, bytes]) -> None:
        earlier = records.about(beside[records.ABOUT], str(self.archive))
        if earlier["study"] != self.about["study"]:
            raise InputError(
                f"{self.archive}: holds records of study {earlier['study']}, not {self.about['study']}: name another "
                "(--records)"
            )
        name, _ = records.machine(beside[records.MACHINE], str(self.archive))
        if name != self.hardware:
            raise InputError(
                f"{self.archive}: holds records of {name}, this is {self.hardware}: name another (--records)"
            )
        if earlier["code"] != self.about["code"]:
            say(f"note: {self.archive} was begun by a kit of other code; its runs are kept and not trained again")

    def _take(self, path: str, files: Mapping[str, bytes], run: Run | None) -> None:
        """Note a run of the archive, and put its record where a training finds it."""
        if "run.json" in files:
            raw = schemas.parse_json(files["run.json"], "run", f"{self.archive}: {path}/run.json")
            if run and raw["cell"] != asdict(run.cell):
                said, planned = raw["cell"], asdict(run.cell)
                differs = [f"{key} {said[key]}, not {planned[key]}" for key in planned if said.get(key) != planned[key]]
                raise InputError(
                    f"{self.archive}: {path} has {'; '.join(differs)}: the study has changed: name another (--records)"
                )
            if raw["status"] != _CUT and not (self.retry and raw["status"] != "done"):
                self.packed[path] = raw["status"]
                for name, content in files.items():
                    with replacing(self.results / path / name) as temporary:
                        temporary.write_bytes(content)
        if run and (seconds := _lasted(files)):
            self.lasted[run] = seconds

    def pack(self, run: Run) -> None:
        """Put a run's record into the archive, in place of an earlier one."""
        files = records.files_of(self.results / run.path)
        records.add(self.archive, {f"{run.path}/{name}": content for name, content in files.items()})
        status = json.loads(files["run.json"])["status"]
        if status == _CUT:
            self.lost[run] = "cut: the time was over"
        else:
            self.packed[run.path] = status
        if seconds := _lasted(files):
            self.lasted[run] = seconds

    def work(self, in_use: Callable[[], str | None]) -> str:
        """Train until nothing is left that ends in time; return why that was the end.

        `in_use` returns which card others use. Raises Stopped where the machine cannot go on.
        """
        while pending := self.pending():
            run = next_run(pending, self.lasted, self.left())
            if run is None:
                shortest = min(expected_seconds(one, self.lasted) for one in pending)
                return f"the time is over: {max(0.0, self.left()):.0f} s left, the shortest run needs {shortest:.0f} s"
            if self.archive.stat().st_size > RECORDS_BYTES - _ROOM_BYTES:
                raise Stopped(f"{self.archive} is full: take it in, and begin another (--records)")
            if (free := machine.disk_free_mib(ROOT)) < _ENOUGH_MIB:
                raise Stopped(f"disk: {free:.0f} MiB free at {ROOT}, a run needs {_ENOUGH_MIB}")
            if used := in_use():
                raise Stopped(used)
            cell = run.cell
            say(
                f"{self.done() + 1} of {len(self.runs)}, {self.left() / 60:.1f} min left: {cell.workload}, "
                f"{cell.framework}, {cell.variant}, run {run.repeat}"
            )
            self._train(run)
        return "nothing is left to train"

    def _train(self, run: Run) -> None:
        """Train one run and pack its record; one that is late is ended, and noted as cut."""
        folder = self.results / run.path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").unlink(missing_ok=True)
        start = monotonic()
        with opened(folder / "train.log", empty=True) as log:
            process = subprocess.Popen(
                self._command(run), stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, preexec_fn=children.end_with_parent
            )
            try:
                self._wait(process, folder / "train.log")
            finally:
                children.end(process)
        seconds = monotonic() - start
        if (folder / "run.json").is_file():
            self.pack(run)
            say(f"  {_result(folder)}, {seconds:.0f} s in all")
        elif process.returncode in (130, -signal.SIGINT, -signal.SIGKILL):
            self.lost[run] = "cut: the time was over"
            records.add(self.archive, {f"{run.path}/{records.cut_name(seconds)}": b""})
            say(f"  cut after {seconds:.0f} s: the time is over; nothing of it is kept but how long it takes")
        else:
            said = children.last_line(folder / "train.log")
            self.lost[run] = said or f"exit code {process.returncode}"
            say(f"  no record: {self.lost[run]}")

    def _wait(self, process: subprocess.Popen, log: Path) -> None:
        """Wait until a training has ended or the time is over, with a sign of life now and then."""
        while process.poll() is None and self.left() > 0:
            try:
                process.wait(max(0.1, min(_SIGN_SECONDS, self.left())))
            except subprocess.TimeoutExpired:
                if self.left() > 0:
                    say(f"  ... {children.last_line(log)}")

    def _command(self, run: Run) -> list[str]:
        cell = run.cell
        file = self.about["workload_files"].get(cell.workload)
        given = cell.arguments(run.repeat, str(ROOT / file) if file else cell.workload)
        # It ends itself and keeps its epochs, before it is ended here.
        minutes = max(1.0, self.left() - _WATCHER_SECONDS) / 60
        given += ["--output", str(self.results / run.path), "--most-minutes", f"{minutes:.3f}"]
        if cell.batch_size == LARGEST and run.repeat > 1:
            given += ["--searched", str(self.results / cell.path / "r1" / "run.json")]
        return [sys.executable, str(ROOT / "scripts" / "train.py"), *given]


def _lasted(files: Mapping[str, bytes]) -> float | None:
    """Return how long (s) a run is known to last from its files, a search for its batch size not counted.

    None where that is not known: a run that failed may have ended at once.
    """
    cut = _MORE * max(map(records.cut_seconds, files), default=0.0)
    if "run.json" in files:
        raw = json.loads(files["run.json"])
        seconds = float(raw["times"]["total_seconds"])
        if raw["status"] in ("done", _CUT):
            return seconds if raw["status"] == "done" else max(cut, _MORE * seconds)
    return cut or None


def _result(folder: Path) -> str:
    """Return how a run ended, in what its record says without being worked on: what it is worth is judged at home."""
    run = record.read_run(folder / "run.json")
    if run["status"] != "done":
        return f"{run['status'].replace('_', ' ')}: {run['reason']}"
    *_, last = record.read_epochs(folder / "epochs.csv")
    loss = f", loss {last['loss']:.4f}" if last["loss"] is not None else ""
    return f"done, its last epoch took {last['elapsed']:.2f} s{loss}"
