"""What this project has written and finds again, damaged: each with its right answer, known before (`answers`)."""

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from scripts.measurement import checkpoint
from scripts.records import record
from scripts.records.samples import Sample
from scripts.storage import tables
from scripts.storage.files import opened, write_text
from scripts.studies import definition
from scripts.workflow.repetitions import History
from tests import made
from tests.faults import trial
from tests.faults.answers import NO_NUMBER_TEXTS, NO_NUMBERS, Case, accepted, kind, put, refused

ROOT = definition.ROOT
OWN = ROOT / "reports" / "published" / "tables" / "two-cores"
CATALOGUE = ROOT / "config" / "hardware.yaml"
CELL = Path("mnist_mlp/cpu1/jax/b128/r1")

RUN_NUMBERS = {
    "times.total_seconds": (-1,),
    "times.import_seconds": (-1,),
    "clock_seconds": (-1e9,),
    "train_samples": (-1, 1.5, 0.5),
    "cell.epochs": (0, -1, 1.5),
    "cell.samples": (0, -0.1, 1.5),
    "cell.batch_size": (0, -1, 1.5),
    "cell.devices": (0, -1),
    "repeat": (0, -1, 1.5),
    "seed": (1.5,),
    "claims.cores": (0, -1),
    "peak_memory_mib": (-1,),
    "flops_per_sample": (-1,),
    "data.train_samples": (-1, 1.5),
    "data.complete_train_samples": (0, -1),
    "provenance.hardware.cores": (-1,),
}
RUN_TEXTS = {
    "status": ("fine", "DONE", ""),
    "cell.workload": ("../x", "", "a b", "<b>"),
    "cell.hardware": ("../x", "", "a/b"),
    "cell.framework": ("../x", "", "a b"),
    "cell.mode": ("fast", ""),
    "cell.precision": ("float8",),
    "cell.data": ("fake",),
    "provenance.started_at": ("yesterday", "", "2999-01-01T00:00:00+00:00", "1999-01-01T00:00:00+00:00"),
    "schema_version": (0, 3, -1, "2", 2.0, True),
    "data.kind": ("fake",),
}


def _record(folder: Path, run: dict | None = None) -> Path:
    samples = [Sample(95.0 + i, "train", 90.0, 256.0, 50.0, 1.0) for i in range(20)]
    record.write(folder / CELL, made.record(), made.epochs(), samples)
    if run is not None:
        (folder / CELL / "run.json").write_text(json.dumps(run))
    return folder / CELL


def _collected(folder: Path, column: str = "") -> Any:
    of_runs, epochs, attempts = made.collect(folder, [folder / CELL / "run.json"], 1)
    for table, frame in (("runs", of_runs), ("epochs", epochs), ("attempts", attempts)):
        tables.write(frame, table, folder / f"{table}.parquet")
    return tables.read(folder / "runs.parquet")[column].iloc[0] if column else None


def run_json() -> Iterator[Case]:
    """A run's record, collected: of what is no number nothing is taken, of a right one its time to train comes out."""
    whole = made.record()

    def with_run(run: Any) -> Callable[[Path], Any]:
        return lambda folder: _record(folder, run) and _collected(folder)

    for key, bad in RUN_NUMBERS.items():
        missing = (
            {None}
            if key in ("clock_seconds", "train_samples", "peak_memory_mib", "flops_per_sample")
            or key.startswith("times")
            else set()
        )
        for value in (*NO_NUMBERS, *bad):
            if value is None and missing:
                continue
            yield refused(f"{key} = {value!r}", with_run(put(whole, key, value)), "run.json")
    for key, texts in RUN_TEXTS.items():
        for text in (*texts, None, [], {}):
            if key == "provenance.started_at" or text != "":
                yield refused(f"{key} = {text!r}", with_run(put(whole, key, text)), "run.json")
    for key in ("cell", "cell.epochs", "status", "times", "provenance", "data", "repeat", "seed", "claims"):
        yield refused(f"no {key}", with_run(put(whole, key, ...)), "run.json", key.rpartition(".")[2])
    text = json.dumps(whole)
    raw = {
        "empty": "",
        "null": "null",
        "a list": "[]",
        "a number": "5",
        "two": text + text,
        "cut": text[:-1],
        "deep": "[" * 100_000,
        "status twice": text[:-1] + ', "status": "failed"}',
        "seconds twice": text.replace('"import_seconds"', '"import_seconds": 1, "import_seconds"'),
        "a huge number": text.replace('"seed": 7', '"seed": ' + "9" * 5000),
        "NUL": text.replace("Linux", "Li\0nux"),
    }

    def with_text(content: bytes) -> Callable[[Path], Any]:
        return lambda folder: (_record(folder) / "run.json").write_bytes(content or b" ") and _collected(folder)

    for what, content in raw.items():
        yield refused(what, with_text(content.encode()), "run.json")
    yield refused("UTF-16", with_text(text.encode("utf-16")), "run.json")
    yield accepted("as it is", with_text(text.encode()), None)
    yield accepted("its time to train", lambda folder: _record(folder) and _collected(folder, "train_seconds"), 13.0)

    def odd(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            path = _record(folder) / "run.json"
            path.unlink()
            make(path)
            return _collected(folder)

        return run

    for what, make in (
        ("a folder", Path.mkdir),
        ("a pipe", os.mkfifo),
        ("a device", lambda p: p.symlink_to("/dev/zero")),
    ):
        yield refused(f"run.json: {what}", odd(make), "run.json")


EPOCH_NUMBERS = {
    "elapsed": ("-1", "", "1e30"),
    "epoch": ("-1", "5", "0.5", ""),
    "training_seconds": ("-20", ""),
    "samples": ("-1", "", "3"),
    "warmup_samples": ("99999999",),
    "acc": ("1.5", "-0.1", "90"),
    "val_acc": ("1.5", "-0.1"),
    "first_step_seconds": ("-9", "50", ""),
}


def beside_it() -> Iterator[Case]:
    """The epochs and the telemetry of a run, collected."""

    def changed(name: str, change: Callable[[str], str | bytes], column: str = "") -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            path = _record(folder) / name
            new = change(path.read_text())
            path.write_bytes(new if isinstance(new, bytes) else new.encode())
            return _collected(folder, column)

        return run

    def cell(column: str, value: str) -> Callable[[str], str]:
        def change(text: str) -> str:
            rows = list(csv.reader(io.StringIO(text)))
            rows[2][rows[0].index(column)] = value
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(rows)
            return out.getvalue()

        return change

    for column, bad in EPOCH_NUMBERS.items():
        for value in (*NO_NUMBER_TEXTS, *bad):
            yield refused(
                f"epochs.csv: {column} = {value!r}", changed("epochs.csv", cell(column, value)), "epochs.csv|run.json"
            )
    for value in NO_NUMBER_TEXTS:
        if value not in ("nan", "inf"):  # a training that diverges
            yield refused(f"epochs.csv: loss = {value!r}", changed("epochs.csv", cell("loss", value)), "epochs.csv")
        yield refused(
            f"telemetry.csv: cpu = {value!r}", changed("telemetry.csv", cell("cpu_percent", value)), "telemetry.csv"
        )
        yield refused(
            f"telemetry.csv: clock = {value!r}",
            changed("telemetry.csv", cell("reading_seconds", value)),
            "telemetry.csv|run.json",
        )
    for name in ("epochs.csv", "telemetry.csv"):
        texts: dict[str, Callable[[str], str | bytes]] = {
            "empty": lambda text: b"",
            "a row twice": lambda text: text + text.splitlines(keepends=True)[-1],
            "a cell more": lambda text: text.rstrip("\n") + ",7\n",
            "a cell less": lambda text: text.rstrip("\n").rpartition(",")[0] + "\n",
            "a column twice": lambda text: "".join(f"{line},{line.split(',')[1]}\n" for line in text.splitlines()),
            "rows swapped": lambda text: "".join(text.splitlines(keepends=True)[i] for i in (0, 2, 1)),
            "NUL": lambda text: text.replace("1", "\0", 1),
            "UTF-16": lambda text: text.encode("utf-16"),
            "cut in its last number": lambda text: text.rstrip("\n")[:-1],
        }
        for what, change in texts.items():
            yield refused(f"{name}: {what}", changed(name, change), "csv|run.json")
    yield refused(
        "epochs.csv: a row less",
        changed("epochs.csv", lambda text: "".join(text.splitlines(keepends=True)[:-1])),
        "done after 1 of 2",
    )
    yield accepted("losses that are none", changed("epochs.csv", cell("loss", "nan"), "epochs_done"), 2)


def cut_at_every_byte(folder: Path, rng: Random) -> list[trial.Fault]:
    """Each file of a record, cut after each of its bytes: none of these is a record."""
    whole = _record(folder)

    def read(name: str, size: int) -> None:
        (whole / name).write_bytes(contents[name][:size])
        try:
            refused("", lambda _: made.collect(folder, [whole / "run.json"], 1), r"run\.json|csv").meet(folder)
        finally:
            (whole / name).write_bytes(contents[name])

    contents = {name: (whole / name).read_bytes() for name in ("run.json", "epochs.csv", "telemetry.csv")}
    # How many samples of the telemetry there were stands nowhere: what ends with a line of it is whole.
    faults = [
        (f"{name} cut at {size}", partial(read, name, size))
        for name, content in contents.items()
        for size in range(len(content) - 1)
        if name != "telemetry.csv" or not content[:size].endswith(b"\n")
    ]
    rng.shuffle(faults)
    return faults


def attempts() -> Iterator[Case]:
    """The attempts at a run that was preempted: what is damaged is said and forgotten, a right one counts."""

    def read(change: Callable[[list[dict]], Any]) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            place = checkpoint.Place(str(folder / "kept"), "cell")
            checkpoint.Attempts(place, "vm-1").alive(5.0)
            path = folder / "kept" / "attempts.json"
            attempts = json.loads(path.read_text())
            attempts[0] |= {"lived_seconds": 7.0}
            new = change(attempts)
            path.write_bytes(new if isinstance(new, bytes) else json.dumps(new).encode())
            rows = checkpoint.Attempts(place, "vm-2").to_json("done", 9.0)
            return [round(row["used_seconds"]) for row in rows]

        return run

    yield accepted("as it is", read(lambda attempts: attempts), [7, 0])
    numbers = ("saved_seconds", "kept_seconds", "lived_seconds")
    for key in (*numbers, "started_at", "seen_at", "machine", "identity", "ended"):
        for value in ("x", [], {}, True, math.nan, math.inf, *((-1,) if key in numbers else (5,))):
            if isinstance(value, str) and key in ("machine", "identity", "ended"):
                continue
            yield accepted(f"{key} = {value!r}", read(lambda attempts, k=key, v=value: [attempts[0] | {k: v}]), [0])
    for what, content in {
        "empty": b"",
        "null": b"null",
        "{}": b"{}",
        "cut": b'[{"started_at"',
        "deep": b"[" * 10**5,
        "binary": b"\xff\0",
        "[5]": b"[5]",
        "[[]]": b"[[]]",
    }.items():
        yield accepted(what, read(lambda attempts, c=content: c), [0])


_TRIGGERS = "at,what,seconds,exit_code,every\n2026-11-23T02:10:15Z,done,100,0,1d\n"


def kept() -> Iterator[Case]:
    """A history: its triggers, what is at work, and a state of a training."""

    def triggers(text: str | bytes) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            history = History("tiny", folder)
            history.folder.mkdir(parents=True)
            (history.folder / "triggers.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
            return len(history.triggers())

        return run

    yield accepted("triggers.csv", triggers(_TRIGGERS), 1)
    for old, values in {
        "2026-11-23T02:10:15Z": ("yesterday", "", "2026-13-01T00:00:00Z", "\u0662026-11-23T02:10:15Z"),
        "done": ("", "Done", "<b>"),
        "100": ("-1", "1.5", "x", "\u0663", "1e3", "1_0"),
        ",0,": (",x,", ",-1,", ",\u0663,"),
        "1d": ("0d", "x", "-1d", "1y", "1d\x1b", "99999999999999d"),
    }.items():
        for value in values:
            yield refused(
                f"triggers.csv: {old} = {value!r}", triggers(_TRIGGERS.replace(old, value)), r"triggers\.csv:2"
            )
    for what, text in {
        "empty": b" ",
        "cut": _TRIGGERS[:-3].encode(),
        "NUL": b"\0",
        "UTF-16": _TRIGGERS.encode("utf-16"),
        "a column less": b"at,what\n",
    }.items():
        yield refused(f"triggers.csv: {what}", triggers(text), r"triggers\.csv")

    def current(text: str) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            history = History("tiny", folder)
            history.folder.mkdir(parents=True)
            (history.folder / "current.json").write_text(text)
            return history.current_id()

        return run

    yield accepted("current.json", current('{"id": "2026-11-23T021015Z", "ended": true}'), "2026-11-23T021015Z")
    for text in (
        "",
        "[]",
        "{",
        "null",
        '{"id": "../../x", "ended": true}',
        '{"id": "/etc", "ended": true}',
        '{"id": 5, "ended": true}',
        '{"id": "x", "ended": true}',
        '{"id": "2026-11-23T021015Z"}',
        '{"ended": true}',
        '{"id": "2026-11-23T021015Z", "ended": "yes"}',
        '{"id": "2026-11-23T021015Z\\n", "ended": true}',
        '{"id": "2026-11-23T021015Z", "ended": true, "id": "2026-11-24T021015Z"}',
    ):
        yield refused(f"current.json: {text}", current(text), r"current\.json")


def places() -> Iterator[Case]:
    """Where a file is written: nothing outside its folder, through a link, or over what is no file."""

    def write(make: Callable[[Path], Any], act: Callable[[Path], Any]) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            (folder / "in").mkdir()
            (folder / "secret").write_text("untouched")
            make(folder)
            try:
                act(folder / "in")
            finally:
                assert (folder / "secret").read_text() == "untouched", "written outside"
                assert {path.name for path in folder.iterdir()} == {"in", "secret"}, "written outside"

        return run

    def link(name: str, to: str) -> Callable[[Path], Any]:
        return lambda folder: (folder / "in" / name).symlink_to(folder / to)

    def within(name: str) -> Callable[[Path], Any]:
        return lambda folder: write_text(folder / name, "x", within=folder)

    def add(folder: Path) -> None:
        with opened(folder / "log") as log:
            log.write(b"x")

    yield accepted("below its folder", write(lambda folder: None, within("a/b/c")))
    for name in ("../secret", "a/../../secret", "..", "a/..", "/tmp/secret"):
        yield refused(f"within: {name}", write(lambda folder: None, within(name)), "lies outside")
    yield refused("within: a link to a folder", write(link("a", "."), within("a/secret")), "lies outside")
    yield refused("within: a link inside", write(link("a", "in"), within("a/x")), "lies outside")
    yield accepted("within: a link in its place", write(link("a", "secret"), within("a")))
    yield accepted("a link in its place", write(link("a", "secret"), lambda folder: write_text(folder / "a", "x")))
    yield refused("added to a link", write(link("log", "secret"), add), "it is a link")
    for what, make in (
        ("a pipe", os.mkfifo),
        ("a folder", Path.mkdir),
        ("a device", lambda path: path.symlink_to("/dev/null")),
    ):
        placed = partial(lambda folder, make: make(folder / "in" / "log"), make=make)
        yield refused(f"over {what}", write(placed, lambda folder: write_text(folder / "log", "x")), "not a file")
        yield refused(f"added to {what}", write(placed, add), "cannot be written")


KINDS = [
    kind("places", places),
    kind("run.json", run_json),
    kind("epochs.csv, telemetry.csv", beside_it),
    trial.Kind("cut at every byte", None, cut_at_every_byte),
    kind("attempts.json", attempts),
    kind("history", kept),
]
