"""What tf_cnn_benchmarks (github.com/tensorflow/benchmarks) prints; a file may hold several runs.

Throughput is `total images/sec`, batches after the warm-up over their time, of all devices together. It trains for a
number of batches that somebody chose, so no time to train is in such a log. The batch size is that of one device. What
precision it trained in is not printed; a part of the path may name it (`fp16`). Synthetic images
(`Dataset: imagenet (synthetic)`) teach nothing, and a loss of NaN on them is no sign that a training diverged.

Forks print a UNIX time after the loss of each step: the first is when the run began.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite, number, shown

HELP = "output of tf_cnn_benchmarks, with its line 'total images/sec' (.log, .txt, .out, or no ending)"

_SUFFIXES = (".log", ".out", ".txt", "")

#: What it calls networks that this project has under another name.
_NETWORKS = {"inception3": "inception_v3"}

#: Lines of the header that are read.
_HEADER = {
    "Model": re.compile(r"Model:\s+(\S+)\s*"),
    "Dataset": re.compile(r"Dataset:\s+(.+?)\s*"),
    "Mode": re.compile(r"Mode:\s+(.+?)\s*"),
    "per device": re.compile(r"\s*(\S+) per device\s*"),
    "Devices": re.compile(r"Devices:\s+\[(.*)\]\s*"),
}
_STEPS_BEGIN = re.compile(r"Step\s+Img/sec\b.*")
_STEP = re.compile(r"\s*([0-9]{1,12})\s+images/sec:.*")
#: The loss, top-1 and top-5 accuracy where they are printed, and a UNIX time.
_STEP_VALUES = re.compile(r".*\(jitter = [^)]*\)\s+(\S+)(?:\s+(\S+)\s+\S+?)??(?:\s+([0-9]{10}))?\s*", re.ASCII)
_TOTAL = re.compile(r"\s*total images/sec:\s*(.*?)\s*")
_OUT_OF_MEMORY = re.compile(r"ResourceExhaustedError|OOM when allocating tensor")


@dataclass
class _Run:
    """A run while its lines are read; `fault` is the first that makes it useless."""

    begins: int
    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    step: int = 0
    losses: list[float] = field(default_factory=list)
    acc: float | None = None
    began: str | None = None
    out_of_memory: bool = False
    fault: Refused | None = None

    def refuse(self, message: str, line: int) -> None:
        self.fault = self.fault or Refused(message, line)

    def add_header(self, content: str, line: int) -> None:
        for key, pattern in _HEADER.items():
            found = pattern.fullmatch(content)
            if found:
                self.header.setdefault(key, (found[1], line))

    def batch_size(self) -> int | None:
        """Return the samples per step of one device, None if unknown; what is no count is a fault."""
        if "per device" not in self.header:
            return None
        text, line = self.header["per device"]
        value = count(number(text))
        if value is None:
            self.refuse(f"per device: {shown(text)} is not a count", line)
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
        if values[3] and self.began is None:
            self.began = datetime.fromtimestamp(int(values[3]), UTC).isoformat()

    def truncated(self, line: int) -> dict[str, Any] | Refused:
        """Return a run without a total: one that ran out of memory is one, with what it says of its cell."""
        cell = self.cell()
        if self.out_of_memory and not self.fault:
            return cell | {"status": "out_of_memory"}
        return self.fault or Refused(f"the run that begins in line {self.begins} has no 'total images/sec'", line)

    def cell(self) -> dict[str, Any]:
        """Return what the header says of the run's cell; what it cannot be is a fault."""
        model, mode = (self.header.get(key, (None, 0)) for key in ("Model", "Mode"))
        if mode[0] and not mode[0].startswith("training"):
            self.refuse(f"Mode: {shown(mode[0])} is no training", mode[1])
        devices = self.header["Devices"][0].split(",") if "Devices" in self.header else []
        return {
            "workload": _NETWORKS.get(str(model[0]), model[0]),
            "framework": "tensorflow",
            "batch_size": self.batch_size(),
            "devices": len(devices) or None,
            "started_at": self.began,
        }

    def facts(self, total: str, line: int) -> dict[str, Any] | Refused:
        """Return the columns of the run, or why it is refused."""
        cell = self.cell()
        speed = finite(number(total))
        if speed is None or speed <= 0:
            return self.fault or Refused(f"total images/sec: {shown(total)} must be a number above 0", line)
        if self.fault:
            return self.fault
        made_up = self.header.get("Dataset", ("", 0))[0].endswith("(synthetic)")
        return cell | {
            "status": "done" if made_up or all(isfinite(loss) for loss in self.losses) else "diverged",
            "samples_per_second": speed,
            "loss": finite(self.losses[-1]) if self.losses else None,
            "acc": finite(self.acc),
        }


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name, its beginning and its end."""
    return name.suffix.lower() in _SUFFIXES and ("total images/sec:" in text or "Img/sec" in text)


def runs_of(log: _logs.Log) -> Iterator[dict[str, Any] | Refused]:
    """Yield the runs of a log."""
    return _parse(log.name, log.text)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
    precision = _logs.precision_of(name)
    for run in _runs(text):
        yield run if isinstance(run, Refused) else run | {"precision": precision}


def _runs(text: str) -> Iterator[dict[str, Any] | Refused]:
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
        elif _OUT_OF_MEMORY.search(content):
            run.out_of_memory = True
    if run:
        yield run.truncated(text.rstrip().count("\n") + 1)
    if not anything:
        raise Refused("no run of tf_cnn_benchmarks: no 'Model:', no step, no 'total images/sec'", 1)
