"""Samples of what the machine did while a run trained, as `telemetry.csv` holds them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import inf
from typing import Any

from scripts.storage.numbers import written

#: What a GPU reports that nothing slows down.
NOT_THROTTLED = "no"


@dataclass(frozen=True)
class Gpu:
    """What one GPU reported at a sample, None for what it does not report.

    `throttled` is `no` or the reasons, joined by `+`; `energy_joules` counts from when the driver was loaded.
    """

    percent: float | None = None
    memory_mib: float | None = None
    power_watts: float | None = None
    clock_mhz: float | None = None
    temperature_c: float | None = None
    throttled: str | None = None
    energy_joules: float | None = None


@dataclass(frozen=True)
class Sample:
    """One sample at `reading` (s, the clock of `perf_counter`).

    100 % is one core in `cpu_percent` (the run with its children) and `other_cpu_percent` (all else on the
    machine, a difference that noise may take below 0), all cores in `machine_cpu_percent`. `cpu_pressure_percent` is
    the part of the time since the sample before in which a task, of the run or not, waited for a CPU.
    `cpu_energy_joules` is that of all processors since the first sample, memory and GPUs not counted.
    """

    reading: float
    stage: str
    cpu_percent: float
    memory_mib: float
    machine_cpu_percent: float
    other_cpu_percent: float
    cpu_pressure_percent: float | None = None
    cpu_energy_joules: float | None = None
    gpus: tuple[Gpu, ...] = ()


#: What of a sample and of each GPU has a column in `telemetry.csv`; the reading, a time, is called by its unit there.
_READING = "reading_seconds"
_OWN = tuple(field.name for field in fields(Sample) if field.name not in ("reading", "gpus"))
_EACH = tuple(field.name for field in fields(Gpu))

#: Columns that must not be empty, and those that hold words.
_NEEDED = (_READING, *(field.name for field in fields(Sample) if field.name in _OWN and field.default is MISSING))
_WORDS = {"stage": re.compile("[a-z][a-z_]*"), "throttled": re.compile(r"[a-z_]+(\+[a-z_]+)*")}

#: The least and the most that a number may be, where it is not 0 and anything. Of the whole machine and of a card no
#: more than all is in use; the run's own cores add up.
_RANGES = {
    **dict.fromkeys(("elapsed", "reading", "other_cpu_percent", "temperature_c"), (-inf, inf)),
    **dict.fromkeys(("machine_cpu_percent", "percent"), (0.0, 100.0)),
}


def table(samples: Sequence[Sample], clock: float | None) -> tuple[list[str], list[dict[str, Any]]]:
    """Return columns and rows of `telemetry.csv`: when, the run, the machine, and each GPU (`gpu0_*`, ...).

    `elapsed` (s) counts from `clock`, the reading at which the timed region began, and is there for people:
    `reading_seconds` is exact, and known of a run that never trained too.
    """
    rows = []
    for sample in samples:
        row = {"elapsed": None if clock is None else round(sample.reading - clock, 3), _READING: sample.reading}
        row |= {name: getattr(sample, name) for name in _OWN}
        row |= {f"gpu{i}_{name}": getattr(gpu, name) for i, gpu in enumerate(sample.gpus) for name in _EACH}
        rows.append(row)
    return list(rows[0]) if rows else ["elapsed", _READING, *_OWN], rows


def sample_of(row: Mapping[str, str]) -> Sample:
    """Return the sample of a row of `table` as it comes back from a file.

    Raises ValueError that names the column which is missing or not known, or the value that it cannot hold.
    """

    def read(column: str, name: str) -> Any:
        text = row.get(column)
        if not text:
            return None
        if name in _WORDS:
            if not _WORDS[name].fullmatch(text):
                raise ValueError(f"{column}: {text!r} must be a name: small letters and _")
            return text
        if (value := written(text)) is None:
            raise ValueError(f"{column}: {text!r} is not a number")
        least, most = _RANGES.get(name, (0.0, inf))
        if not least <= value <= most:
            allowed = f"{least:g} or more" if most == inf else f"from {least:g} to {most:g}"
            raise ValueError(f"{column}: {text} must be {allowed}")
        return value

    for column in _NEEDED:
        if not row.get(column):
            raise ValueError(f"column {column} is missing or empty")
    known = {"elapsed", _READING, *_OWN}
    gpus: list[Gpu] = []
    while (prefix := f"gpu{len(gpus)}_") + _EACH[0] in row:
        known |= {prefix + name for name in _EACH}
        gpus.append(Gpu(*(read(prefix + name, name) for name in _EACH)))
    if unknown := [column for column in row if column not in known]:
        raise ValueError(f"column {unknown[0]!r} is unknown; known are {', '.join(sorted(known))}")
    read("elapsed", "elapsed")
    own: dict[str, Any] = {name: read(name, name) for name in _OWN}
    return Sample(reading=read(_READING, "reading"), gpus=tuple(gpus), **own)


def peak_memory_mib(samples: Sequence[Sample], reported: float | None) -> float | None:
    """Return the most memory of a run: what its process `reported` is exact, the samples see its children too."""
    return max([sample.memory_mib for sample in samples] + ([] if reported is None else [reported]), default=None)
