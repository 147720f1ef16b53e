"""MLPerf training logs: lines with `:::MLLOG {json}` among other text; a file may hold several runs.

Those of v0.5 (2018) and v0.6 (2019) have lines of their own: `:::MLPv0.5.0 resnet 1541635123.2 (file:1) run_start: ...`
and `:::MLL 1558659951.246 run_start: {json}`.

Events are those of github.com/mlcommons/logging. Time to train is `run_stop` - `run_start`, the score of
MLPerf; an aborted run counts as failed. Epochs are the `epoch_stop` events, or the sum of `epoch_count`
over the blocks that ended. The batch size is the global one. No event names the framework. Samples/s are those that
`tracked_stats` give (the median), or the last `samples_count` over the time to train; else none, as `train_samples` is
iterations or tokens in some logs.
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

HELP = "MLPerf training logs with ':::MLLOG' lines, or those of v0.5 and v0.6 (.log, .txt, .out)"

_SUFFIXES = (".log", ".out", ".txt")

_EVENT = re.compile(r":::MLLOG\s+(.*)", re.IGNORECASE)
_EVENT_OF_0_6 = re.compile(r":::MLL (?P<seconds>[\d.]+) (?P<key>\w+): (?P<event>.*)")
_EVENT_OF_0_5 = re.compile(
    r":::MLPv0\.5\.\d+ (?P<benchmark>\w+) (?P<seconds>[\d.]+) \(.*?\) (?P<key>\w+)(?:: (?P<value>.*))?"
)

#: `status` of run_stop -> ours.
_STATUS = {"success": "done", "aborted": "failed", "abort": "failed", "fail": "failed"}

#: What benchmarks are called in logs that a folder `<benchmark>/result_0.txt` names alone.
BENCHMARKS = (
    *("bert", "dlrm", "dlrm_dcnv2", "flux1", "gnmt", "gpt3", "llama2_70b_lora", "llama31_405b", "llama31_8b"),
    *("maskrcnn", "minigo", "ncf", "resnet", "retinanet", "rgat", "rnnt", "ssd", "stable_diffusion", "transformer"),
    "unet3d",
)

#: Where `eval_accuracy` is no accuracy: the column it is instead, by the quality targets of the
#: compliance checker; a word error rate, BLEU and image scores have none.
_QUALITY = {
    "flux1": "val_loss",
    "gnmt": None,
    "gpt3": "val_loss",
    "llama2_70b_lora": "val_loss",
    "llama31_405b": "val_loss",
    "llama31_8b": "val_loss",
    "rnnt": None,
    "stable_diffusion": None,
    "transformer": None,
}

#: Samples of an epoch by the benchmark's definition: a log's `train_samples` counts samples where it is one of these.
_SAMPLES = {
    "maskrcnn": {117_266},
    "resnet": {1_281_167},
    "retinanet": {1_170_301},
    "ssd": {117_266, 1_170_301},
    "unet3d": {168},
}

#: What no run may lack.
_DECIDES = re.compile(r"run_(start|stop)")

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
    init_started: float | None = None
    init_stopped: float | None = None
    throughputs: list[float] = field(default_factory=list)
    samples: int = 0
    garbled: bool = False

    def _samples_per_second(self, seconds: float) -> float | None:
        if self.throughputs:
            return median(self.throughputs)
        return self.samples / seconds if self.samples and seconds else None

    def _init_seconds(self) -> float | None:
        if self.init_started is None or self.init_stopped is None:
            return None
        return (self.init_stopped - self.init_started) / 1000 if self.init_stopped >= self.init_started else None

    def facts(self, started: float, stopped: float) -> dict[str, Any]:
        """Return the columns of the run, which lasted from `started` to `stopped`.

        Beside those of a table of facts: `division`, and `init_seconds`, which MLPerf's time to train leaves out.
        """
        benchmark = self.values.get("submission_benchmark")
        samples = count(self.values.get("train_samples"))
        quality = _QUALITY.get(str(benchmark), "val_acc")
        is_whole = len(self.epoch_seconds) == self.epochs_ended and not self.garbled
        seconds = self.epoch_seconds if is_whole else []
        result = {
            "workload": benchmark,
            "batch_size": count(self.values.get("global_batch_size")),
            "status": self.status,
            "epochs_done": None if self.garbled else self.epochs_ended or self.blocks_epochs or None,
            "train_seconds": (stopped - started) / 1000,
            "first_epoch_seconds": seconds[0] if seconds else None,
            "median_epoch_seconds": median(seconds[1:]) if len(seconds) > 1 else None,
            "samples_per_second": self._samples_per_second((stopped - started) / 1000),
            "train_samples": samples if samples in _SAMPLES.get(str(benchmark), ()) else None,
            "init_seconds": self._init_seconds(),
            "division": self.values.get("submission_division"),
            "started_at": datetime.fromtimestamp(started / 1000, UTC).isoformat(timespec="seconds"),
        }
        return result | ({quality: finite(self.values.get("eval_accuracy"))} if quality else {})


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name, its beginning and its end."""
    return name.suffix.lower() in _SUFFIXES and (":::MLL" in text or ":::MLPv0.5" in text)


def runs_of(log: _logs.Log) -> Iterator[dict[str, Any] | Refused]:
    """Yield the runs of a log; bytes that are no text are passed over."""
    return _accurate(log.name, _logs.text_of(log.data, lenient=True))


def _accurate(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
    """Return the runs of `parse` without those whose accuracy is not an accuracy; MLPerf still counts their time."""
    for run in parse(name, text):
        accuracy = None if isinstance(run, Refused) else run.get("val_acc")
        if accuracy is None or 0 <= accuracy <= 1:
            yield run
        else:
            yield Refused(f"eval_accuracy: {accuracy:g} is no accuracy: from 0 to 1")


def parse(name: PurePosixPath, text: str, passed: list[Refused] | None = None) -> Iterator[dict[str, Any] | Refused]:
    """Return what each run of a log says (`_Run.facts`), or why it says nothing. Raises Refused for the whole log.

    A garbled line is passed over, and put into `passed`: start, end and success of a run must be whole, and where they
    are its time is; how many epochs it had is unknown then.
    """
    runs: list[_Run] = []
    passed = [] if passed is None else passed
    for line, content in enumerate(text.split("\n"), start=1):
        try:
            event = _read_event(content, line)
        except Refused as refused:
            if _DECIDES.search(content):
                raise
            passed.append(refused)
            if runs:
                runs[-1].garbled = True
            continue
        if event:
            key, value, time, metadata = event
            if not runs or (runs[-1].stopped is not None and key in _BEGINNINGS):
                runs.append(_Run(line))
            _add(runs[-1], key, value, time, metadata, line)
    if not runs:
        raise passed[0] if passed else Refused("no :::MLLOG line", 1)
    # What other ranks print of the beginning may come after the end of the run.
    for run in [run for run in runs if run is runs[0] or run.started is not None or run.stopped is not None]:
        if run.started is None or run.stopped is None:
            missing = "run_start" if run.started is None else "run_stop"
            yield Refused(f"the run that begins in line {run.begins} has no {missing}", text.rstrip().count("\n") + 1)
        elif run.status == "done" and run.started == run.stopped:
            yield Refused(f"the run that begins in line {run.begins} takes 0 seconds", run.begins)
        else:
            named = name.parent.name if name.parent.name in BENCHMARKS else None
            run.values.setdefault("submission_benchmark", named)
            yield run.facts(run.started, run.stopped)


def _read_event(content: str, line: int) -> tuple[str, Any, float, dict[str, Any]] | None:
    """Return key, value, time (ms) and metadata of a line, of whatever round; None for other text."""
    if found := _EVENT.search(content):
        return _event(found[1], line)
    if found := _EVENT_OF_0_6.search(content):
        event = _of_0_6(found["event"], line)
        if not isinstance(event, dict):
            raise Refused("an event must be an object", line)
        metadata = event.get("metadata")
        return (
            found["key"],
            event.get("value"),
            _ms(found["seconds"], line),
            metadata if isinstance(metadata, dict) else {},
        )
    if found := _EVENT_OF_0_5.search(content):
        return _of_0_5(found, line)
    return None


def _of_0_6(text: str, line: int) -> Any:
    """Return the JSON of an event of v0.6; some of its writers wrote metadata as Python does."""
    try:
        return _logs.from_json(text, line)
    except Refused:
        return _logs.from_json(text.replace("'", '"'), line)


def _ms(seconds: str, line: int) -> float:
    time = _logs.number(seconds)
    if time is None or not 0 <= 1000 * time <= _LATEST_MS:
        raise Refused(f"{_logs.shown(seconds)} must be seconds since 1970", line)
    return 1000 * time


def _of_0_5(found: re.Match[str], line: int) -> tuple[str, Any, float, dict[str, Any]]:
    """Return an event of v0.5 as later rounds have it; the benchmark stands in every line."""
    key, value, metadata = found["key"], found["value"], {"benchmark": found["benchmark"]}
    if key == "run_stop":
        # Without a word of success it marks the end alone.
        stated = _logs.from_json(value, line) if value else {}
        success = stated.get("success", True) if isinstance(stated, dict) else True
        metadata["status"] = "success" if success in (True, "true") else "aborted"
    elif key == "eval_accuracy" and value:
        stated = _logs.from_json(value, line)
        value = stated.get("value") if isinstance(stated, dict) else stated
    return key, value, _ms(found["seconds"], line), metadata


def _event(text: str, line: int) -> tuple[str, Any, float, dict[str, Any]]:
    """Return key, value, time (ms) and metadata of an event."""
    event = _logs.from_json(text, line)
    if not isinstance(event, dict):
        raise Refused("an event must be an object", line)
    key, time, metadata = event.get("key"), finite(event.get("time_ms")), event.get("metadata")
    if not isinstance(key, str):
        raise Refused("key: must be text", line)
    # One submitter of v0.7 writes seconds.
    if time is None and (seconds := finite(event.get("time_s"))) is not None:
        time = 1000 * seconds
    if time is None or not 0 <= time <= _LATEST_MS:
        raise Refused(f"time_ms: {event.get('time_ms')!r:.40} must be milliseconds since 1970", line)
    return key, event.get("value"), time, metadata if isinstance(metadata, dict) else {}


def _add(run: _Run, key: str, value: Any, time: float, metadata: dict[str, Any], line: int) -> None:
    """Take one event into the run. Raises Refused for one that cannot follow those before it."""
    run.samples = count(metadata.get("samples_count")) or run.samples
    if "benchmark" in metadata:  # in every line of v0.5
        run.values.setdefault("submission_benchmark", metadata["benchmark"])
    match key:
        case "run_start":
            if run.started == time and run.stopped is None:  # printed twice, by two loggers
                return
            if run.started is not None:
                raise Refused("run_start: a second one before run_stop", line)
            run.started = time
        case "run_stop":
            if run.stopped == time:
                return
            if run.started is None or run.stopped is not None:
                raise Refused("run_stop: without a run_start", line)
            if time < run.started:
                raise Refused("run_stop: lies before run_start", line)
            status = metadata.get("status")
            if status not in _STATUS:
                raise Refused(f"run_stop: status: {status!r:.40} must be one of {', '.join(_STATUS)}", line)
            run.stopped, run.status = time, _STATUS[status]
        case "init_start":
            run.init_started = time if run.init_started is None else run.init_started
        case "init_stop":
            run.init_stopped = time if run.init_stopped is None else run.init_stopped
        case "tracked_stats":
            if isinstance(value, dict) and (rate := finite(value.get("throughput"))):
                run.throughputs.append(rate)
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
        case "global_batch_size" | "train_samples" | "eval_accuracy" | "submission_division":
            run.values[key] = value
