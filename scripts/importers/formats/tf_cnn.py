"""What tf_cnn_benchmarks (github.com/tensorflow/benchmarks) prints; a file may hold several runs.

Throughput is `total images/sec`, batches after the warm-up over their time. Where the log says how many
batches there were, the time to train is that time: batches x global batch size / images per second.
The batch size is that of one device.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite, number, shown

HELP = "output of tf_cnn_benchmarks, with its line 'total images/sec' (.log, .txt, .out)"

#: Lines of the header that are read.
_HEADER = {
    "Model": re.compile(r"Model:\s+(\S+)\s*"),
    "Mode": re.compile(r"Mode:\s+(.+?)\s*"),
    "global": re.compile(r"Batch size:\s+(\S+) global\s*"),
    "per device": re.compile(r"\s+(\S+) per device\s*"),
    "Num batches": re.compile(r"Num batches:\s+(\S+)\s*"),
}
_STEPS_BEGIN = re.compile(r"Step\s+Img/sec\b.*")
_STEP = re.compile(r"\s*([0-9]{1,12})\s+images/sec:.*")
_STEP_VALUES = re.compile(r".*\(jitter = [^)]*\)\s+(\S+)(?:\s+(\S+)\s+\S+)?\s*")
_TOTAL = re.compile(r"\s*total images/sec:\s*(.*?)\s*")


@dataclass
class _Run:
    """A run while its lines are read; `fault` is the first that makes it useless."""

    begins: int
    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    step: int = 0
    losses: list[float] = field(default_factory=list)
    acc: float | None = None
    fault: Refused | None = None

    def refuse(self, message: str, line: int) -> None:
        self.fault = self.fault or Refused(message, line)

    def add_header(self, content: str, line: int) -> None:
        for key, pattern in _HEADER.items():
            found = pattern.fullmatch(content)
            if found:
                self.header.setdefault(key, (found[1], line))

    def samples(self, key: str) -> int | None:
        """Return a count of the header, None without one; what is no count is a fault."""
        if key not in self.header:
            return None
        text, line = self.header[key]
        value = count(number(text))
        if value is None:
            self.refuse(f"{key}: {shown(text)} is not a count", line)
        return value

    def add_step(self, content: str, step: int, line: int) -> None:
        values = _STEP_VALUES.fullmatch(content)
        loss = number(values[1]) if values else None
        if values is None or loss is None:
            self.refuse(f"step {step}: must give images/sec, jitter and a loss", line)
            return
        if step <= self.step:
            self.refuse(f"step {step} after step {self.step}: lines of several workers, or of several runs", line)
        self.step = step
        self.losses.append(loss)
        self.acc = number(values[2]) if values[2] else None

    def truncated(self, line: int) -> Refused:
        return self.fault or Refused(f"the run that begins in line {self.begins} has no 'total images/sec'", line)

    def facts(self, total: str, line: int) -> dict[str, Any] | Refused:
        """Return the columns of the run, or why it is refused."""
        model, mode = (self.header.get(key, (None, 0)) for key in ("Model", "Mode"))
        if mode[0] and not mode[0].startswith("training"):
            self.refuse(f"Mode: {shown(mode[0])} is no training", mode[1])
        batch, whole, batches = (self.samples(key) for key in ("per device", "global", "Num batches"))
        speed = finite(number(total))
        if speed is None or speed <= 0:
            return self.fault or Refused(f"total images/sec: {shown(total)} must be a number above 0", line)
        if self.fault:
            return self.fault
        return {
            "workload": model[0],
            "framework": "tensorflow",
            "batch_size": batch,
            "status": "done" if all(isfinite(loss) for loss in self.losses) else "diverged",
            "train_seconds": finite(batches * whole / speed) if batches and whole else None,
            "samples_per_second": speed,
            "loss": finite(self.losses[-1]) if self.losses else None,
            "acc": finite(self.acc),
        }


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".log", ".out", ".txt"), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
    run: _Run | None = None
    anything = False
    for line, content in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        model, begin, step, total = (p.fullmatch(content) for p in (_HEADER["Model"], _STEPS_BEGIN, _STEP, _TOTAL))
        if run and (model or (begin and run.step)):
            yield run.truncated(line)
            run = None
        if run is None:
            if total:
                yield Refused("'total images/sec' without a run before it", line)
            if not (model or begin or step):
                anything = anything or total is not None
                continue
            run, anything = _Run(line), True
        run.add_header(content, line)
        if step:
            run.add_step(content, int(step[1]), line)
        if total:
            yield run.facts(total[1], line)
            run = None
    if run:
        yield run.truncated(text.rstrip().count("\n") + 1)
    if not anything:
        raise Refused("no run of tf_cnn_benchmarks: no 'Model:', no step, no 'total images/sec'", 1)
