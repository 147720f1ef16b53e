"""What the logs of modded-nanogpt say of its records: how long the runs of a record's program took, and their losses.

A log begins with the text of the program that made it; the machine as nvidia-smi shows it follows, then the steps. A
record's runs are the log that it names, and others in that folder of the same program to the last letter, on as many
steps and such cards, that came to their last step.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.importers import _smi

#: Columns of the table of logs: a row per record that names one.
LOGS = ("track", "record", "date", "log", "cards", "steps", "seconds", "val_losses", "lacks")

#: Columns of the table of curves: a row per evaluation of a named log.
CURVES = ("track", "record", "date", "log", "cards", "step", "steps", "val_loss", "seconds")

_STEP = re.compile(r"^step:(\d+)/(\d+) val_loss:([\d.]+) train_time:(\d+)ms", re.MULTILINE)
_LLM_C = re.compile(r"^s:(\d+) tel:([\d.]+)", re.MULTILINE)
#: A table of `nvidia-smi` that some programs print in place of its own: `0   NVIDIA H100 80GB HBM3     35    117 ...`
_TABLE = re.compile(r"^(\d)\s+(NVIDIA \S+(?: \S+)*?)\s{2,}\d+", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A run as its log has it: what it shares with its repeats, and each evaluation (step, loss, seconds)."""

    program: str
    cards: str
    steps: int
    evaluations: Sequence[tuple[int, float, float]]

    @property
    def of(self) -> tuple[str, str, int]:
        """What repeats of one program share."""
        return self.program, self.cards, self.steps

    @property
    def done(self) -> bool:
        """Whether it came to its last step."""
        return self.evaluations[-1][0] == self.steps


@cache
def run(path: Path) -> Run | None:
    """Return the run of a log; None without a line of a step with its time."""
    text = _text(path)
    found = _STEP.findall(text)
    if not found:
        return None
    names = _smi.cards(text) or list(dict(_TABLE.findall(text)).values())
    program = hashlib.sha256(re.split(r"\n={30,}\n", text)[0].encode()).hexdigest()
    steps = [(int(step), float(loss), int(milliseconds) / 1000) for step, _, loss, milliseconds in found]
    return Run(program, _smi.words(names) or "", int(found[-1][1]), steps)


def read(folder: Path, records: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a row of `LOGS` for each record that names a log: `lacks` says why there are no seconds."""
    for record in records:
        if record["log"]:
            row = {"cards": "", "steps": "", "seconds": "", "val_losses": "", "lacks": ""}
            row |= {name: record[name] for name in ("track", "record", "date", "log")}
            yield row | _of(folder / record["log"])


def _of(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"lacks": "its log is not among those that were read"}
    if path.is_dir():
        groups: dict[tuple[str, str, int], list[Run]] = {}
        for one in _runs(path.rglob("*")):
            groups.setdefault(one.of, []).append(one)
        if len(groups) != 1:
            return {"lacks": f"it names a folder of {len(groups)} programs, and not which of them"}
        (repeats,) = groups.values()
    elif named := run(path):
        repeats = [one for one in _runs(path.parent.iterdir()) if one.of == named.of]
    else:
        losses = _LLM_C.findall(_text(path))
        return {"val_losses": losses[-1][1], "steps": losses[-1][0], "lacks": "its log has no clock"}
    return {
        "cards": repeats[0].cards,
        "steps": repeats[0].steps,
        "seconds": " ".join(f"{one.evaluations[-1][2]:g}" for one in repeats),
        "val_losses": " ".join(f"{one.evaluations[-1][1]:g}" for one in repeats),
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _runs(paths: Iterable[Path]) -> list[Run]:
    """Return the runs of logs that came to their last step, by the names of the logs."""
    found = (run(path) for path in sorted(paths) if path.is_file())
    return [one for one in found if one is not None and one.done]


def curves(folder: Path, records: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a row of `CURVES` for each evaluation in the logs that records name."""
    for record in records:
        about = {name: record[name] for name in ("track", "record", "date", "log")}
        if found := run(folder / record["log"]):
            for step, loss, seconds in found.evaluations:
                of = {"cards": found.cards, "step": step, "steps": found.steps, "val_loss": loss, "seconds": seconds}
                yield about | of
