"""MLPerf training logs: lines with `:::MLLOG {json}` among other text; a file may hold several runs.

Events are those of github.com/mlcommons/logging. Time to train is `run_stop` - `run_start`, the score of
MLPerf; an aborted run counts as failed. Epochs are the `epoch_stop` events, or the sum of `epoch_count`
over the blocks that ended. The batch size is the global one. No event names the framework.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite

HELP = "MLPerf training logs with ':::MLLOG' lines (.log, .txt, .out)"

_EVENT = re.compile(r":::MLLOG\s+(.*)", re.IGNORECASE)

#: `status` of run_stop -> ours.
_STATUS = {"success": "done", "aborted": "failed"}

#: Where `eval_accuracy` is no accuracy: the column it is instead, by the quality targets of the
#: compliance checker; a word error rate and image scores have none.
_QUALITY = {
    "flux1": "val_loss",
    "gpt3": "val_loss",
    "llama2_70b_lora": "val_loss",
    "llama31_405b": "val_loss",
    "llama31_8b": "val_loss",
    "rnnt": None,
    "stable_diffusion": None,
}

#: Events with which another run begins, once one has ended.
_BEGINNINGS = ("submission_benchmark", "init_start", "run_start")

#: End of the year 9999.
_LATEST_MS = 253_402_300_799_000


@dataclass
class _Run:
    """A run while its events are read; times in ms since 1970."""

    begins: int
    started: float | None = None
    stopped: float | None = None
    status: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    epoch_started: float | None = None
    epochs_ended: int = 0
    epoch_seconds: list[float] = field(default_factory=list)
    block_epochs: int = 0
    blocks_epochs: int = 0

    def facts(self, started: float, stopped: float) -> dict[str, Any]:
        """Return the columns of the run, which lasted from `started` to `stopped`."""
        benchmark = self.values.get("submission_benchmark")
        quality = _QUALITY.get(str(benchmark), "val_acc")
        seconds = self.epoch_seconds if len(self.epoch_seconds) == self.epochs_ended else []
        result = {
            "workload": benchmark,
            "batch_size": count(self.values.get("global_batch_size")),
            "status": self.status,
            "epochs_done": self.epochs_ended or self.blocks_epochs or None,
            "train_seconds": (stopped - started) / 1000,
            "first_epoch_seconds": seconds[0] if seconds else None,
            "median_epoch_seconds": median(seconds[1:]) if len(seconds) > 1 else None,
            "train_samples": count(self.values.get("train_samples")),
            "started_at": datetime.fromtimestamp(started / 1000, UTC).isoformat(timespec="seconds"),
        }
        return result | ({quality: finite(self.values.get("eval_accuracy"))} if quality else {})


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".log", ".out", ".txt"), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
    runs: list[_Run] = []
    for line, content in enumerate(text.split("\n"), start=1):
        found = _EVENT.search(content)
        if found:
            key, value, time, metadata = _event(found[1], line)
            if not runs or (runs[-1].stopped is not None and key in _BEGINNINGS):
                runs.append(_Run(line))
            _add(runs[-1], key, value, time, metadata, line)
    if not runs:
        raise Refused("no :::MLLOG line", 1)
    for run in runs:
        if run.started is None or run.stopped is None:
            missing = "run_start" if run.started is None else "run_stop"
            yield Refused(f"the run that begins in line {run.begins} has no {missing}", text.rstrip().count("\n") + 1)
        else:
            yield run.facts(run.started, run.stopped)


def _event(text: str, line: int) -> tuple[str, Any, float, dict[str, Any]]:
    """Return key, value, time (ms) and metadata of an event."""
    event = _logs.from_json(text, line)
    if not isinstance(event, dict):
        raise Refused("an event must be an object", line)
    key, time, metadata = event.get("key"), finite(event.get("time_ms")), event.get("metadata")
    if not isinstance(key, str):
        raise Refused("key: must be text", line)
    if time is None or not 0 <= time <= _LATEST_MS:
        raise Refused(f"time_ms: {event.get('time_ms')!r:.40} must be milliseconds since 1970", line)
    return key, event.get("value"), time, metadata if isinstance(metadata, dict) else {}


def _add(run: _Run, key: str, value: Any, time: float, metadata: dict[str, Any], line: int) -> None:
    """Take one event into the run. Raises Refused for one that cannot follow those before it."""
    match key:
        case "run_start":
            if run.started is not None:
                raise Refused("run_start: a second one before run_stop", line)
            run.started = time
        case "run_stop":
            if run.started is None or run.stopped is not None:
                raise Refused("run_stop: without a run_start", line)
            if time < run.started:
                raise Refused("run_stop: lies before run_start", line)
            status = metadata.get("status")
            if status not in _STATUS:
                raise Refused(f"run_stop: status: {status!r:.40} must be one of {', '.join(_STATUS)}", line)
            run.stopped, run.status = time, _STATUS[status]
        case "epoch_start":
            run.epoch_started = time
        case "epoch_stop":
            run.epochs_ended += 1
            if run.epoch_started is not None and time >= run.epoch_started:
                run.epoch_seconds.append((time - run.epoch_started) / 1000)
            run.epoch_started = None
        case "block_start":
            run.block_epochs = count(metadata.get("epoch_count")) or 0
        case "block_stop":
            run.blocks_epochs += run.block_epochs
            run.block_epochs = 0
        case "submission_benchmark":
            if not isinstance(value, str):
                raise Refused(f"submission_benchmark: {value!r:.40} must be text", line)
            run.values[key] = value
        case "global_batch_size" | "train_samples" | "eval_accuracy":
            run.values[key] = value
