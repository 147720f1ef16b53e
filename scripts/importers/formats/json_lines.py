"""JSON lines with a row per step or epoch: LLaMA-Factory's `trainer_log.jsonl`, and those of any program.

LLaMA-Factory's `elapsed_time` (`0:03:10`, `1 day, 2:03:04`) counts from the beginning of the training. Others have
`elapsed`, `runtime`, a clock (`timestamp`, `time`), or no time. Where `trainer_state.json` of the same training lies
beside the lines, they are its clock and no run of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _console, _console_steps, _logs, _metrics, _table, naming
from scripts.importers._logs import Log, Refused, count, finite, number
from scripts.importers._recorder import lines
from scripts.importers._seconds import Said

HELP = "JSON lines with a row per step or epoch: LLaMA-Factory's trainer_log.jsonl, and those of any program"

_SUFFIXES = (".jsonl", ".ndjson")

#: Endings of other files in which JSON lines stand: mmengine's scalars.json, Detectron2's metrics.json, DeiT's log.txt.
_ALSO = (".json", ".txt", ".log")

#: LLaMA-Factory's file.
FILE = "trainer_log.jsonl"

#: Seconds since the beginning, and clocks; small, with _ between the words.
_SINCE = ("elapsed_time", "elapsed", "elapsed_seconds", "total_time", "train_runtime", "runtime", "wall_seconds")
_CLOCK = ("timestamp", "time", "wall_time", "datetime", "created_at", "date")

_TIME = re.compile(r"(?:(\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")

_LACKS = "its rows have no elapsed_time, timestamp or time of a step: log one of them, or give seconds"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the JSON lines below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these: a row of a step or an epoch with a loss or a time stands at its beginning.

    Files with other endings are, where two rows stand there.
    """
    least = {**dict.fromkeys(_SUFFIXES, 1), **dict.fromkeys(_ALSO, 2)}.get(name.suffix.lower())
    return least is not None and sum(map(_is_of_a_training, text.lstrip().split("\n", 3)[:3])) >= least


def _is_of_a_training(line: str) -> bool:
    try:
        named = {naming.plain(key) for key in _row(line) or {}}
    except Refused:
        return True  # and it is said why
    return bool(lines.read(line)) and (any("loss" in key for key in named) or not named.isdisjoint(_SINCE))


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of some lines. Raises Refused for a line that is none; none for those of a `trainer_state.json`."""
    if (log.name.name == FILE and _has_state(log.path.parent)) or _has_console(log.path):
        return
    rows = rows_of(log.text)
    values: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(key, []).append(float(value))
    ticks = [next((tick for tick in lines.read(json.dumps(row)) if tick.unit == "step"), None) for row in rows]
    known = [tick for tick in ticks if tick]
    epochs = _metrics.epochs(values)
    if not known and epochs is None:
        raise Refused("no row names a step or an epoch", 1)
    steps = max((tick.done for tick in known), default=None)
    wanted = max((tick.total for tick in known if tick.total), default=None)
    yield {
        **_metrics.last(values),
        "framework": "torch" if log.name.name == FILE else None,
        "batch_size": _metrics.batch_size({key: found[-1] for key, found in values.items()}),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": count(steps),
        "notes": [f"ends at step {steps:g} of {wanted:g}"] if steps and wanted and steps < wanted - 1 else [],
        "said": _said(rows, [tick and tick.done for tick in ticks], epochs, log.text),
    }


def rows_of(text: str) -> list[dict[str, Any]]:
    """Return the rows of JSON lines. Raises Refused for a line that is none; one that is cut at the end is left out."""
    found = []
    written = text.rstrip("\n").split("\n")
    for at, line in enumerate(written, start=1):
        if not line.strip():
            continue
        row = _row(line, at)
        if row is None and at < len(written):
            raise Refused(f"no JSON object: {_logs.shown(line)}", at)
        found += [row] if row is not None else []
    if not found:
        raise Refused("no row", 1)
    return found


def elapsed(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the seconds that rows count from the beginning, those of all parts of a resumed training."""
    for name in _SINCE:
        found = [_seconds(value) for row in rows for key, value in row.items() if naming.plain(key) == name]
        seconds = [one for one in found if one is not None and one >= 0]
        if seconds:
            return sum(_table.since(seconds))
    return None


def _said(rows: Sequence[Mapping[str, Any]], steps: Sequence[float | None], epochs: float | None, text: str) -> Said:
    """Return what the rows say of the time; `steps` is how many were done at each."""
    clock = []
    for row, done in zip(rows, steps, strict=True):
        named = {naming.plain(key): value for key, value in row.items()}
        at = next((at for key in _CLOCK if (at := _table.moment(str(named.get(key, "")))) is not None), None)
        clock += [(at, done)] if at is not None else []
    pace, since, words = _console_steps.of_steps(_console_steps.main_steps(_console.read(text)))
    stated, name = (elapsed(rows), "elapsed_time") if not since[0] else since
    return Said(
        stated=stated,
        stated_as=name,
        clock=clock,
        pace=pace,
        pace_is_mean=True,
        pace_words=words,
        epochs=epochs,
        lacks=_LACKS,
    )


def _row(line: str, at: int = 1) -> dict[str, Any] | None:
    """Return the row of a line, None where it is none. Raises Refused for one with a number that is too large."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    _logs.check_whole(found, line, at)
    return found if isinstance(found, dict) else None


def _seconds(value: Any) -> float | None:
    """Return a number of seconds, or a time as Python writes one: 0:03:10; None for neither."""
    if not isinstance(value, str):
        return finite(value)
    if found := _TIME.fullmatch(value.strip()):
        days, hours, minutes, seconds = found.groups()
        return 86_400.0 * int(days or 0) + 3_600.0 * int(hours) + 60.0 * int(minutes) + float(seconds)
    return finite(number(value))


def _has_console(path: Path) -> bool:
    """Return whether the console of the same training lies beside its rows: it has a clock, as mmengine's."""
    if path.parent.name == "vis_data":
        return any(path.parent.parent.glob("*.log"))
    console = path.with_suffix("") if path.name.endswith(".log.json") else path.parent / "log.txt"
    return path.name.endswith((".log.json", "metrics.json")) and console.is_file()


def _has_state(folder: Path) -> bool:
    """Return whether the state of the same training lies beside its lines."""
    states = [folder / "trainer_state.json", *folder.glob("checkpoint-*/trainer_state.json")]
    return any(state.is_file() for state in states)
