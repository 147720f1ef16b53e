"""JSON report per run, as RaRe's benchmark of GPU platforms (2018) writes them: `<platform>-report.json`.

Keys are those of its `benchmark.py` (github.com/RaRe-Technologies/benchmark_GPU_platforms, f0242e5):
`time`, the wall time of all epochs (s), which is the study's train time; `epoch_stats`, the lines of a
CSV by epoch; `gpu_usage`, the mean use of the first GPU (%), NaN where it was not sampled. `systeminfo`
and `gpuinfo` are words. Its model needs cuDNN through TensorFlow; the workload is not in the report.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _epochs, _logs
from scripts.importers._logs import Refused, finite

HELP = "JSON report per run, <platform>-report.json (RaRe's benchmark of GPU providers)"

_NEEDED = ("time", "epoch_stats")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the JSON reports below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".json",), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any]]:
    report = _logs.from_json(text)
    if not isinstance(report, dict):
        raise Refused("not a report: must be an object", 1)
    for key in _NEEDED:
        if key not in report:
            raise Refused(f"{key} is missing; needed are {', '.join(_NEEDED)}", 1)
    epochs = _epoch_facts(report["epoch_stats"], _line(text, "epoch_stats"))
    seconds = finite(report["time"])
    # A hundredth is more than any clock errs; the time is that of the epochs and what lies between them.
    if seconds is None or seconds <= 0 or seconds < 0.99 * epochs["train_seconds"]:
        raise Refused(
            f"time: {report['time']!r:.40} must be seconds, not less than the epochs together, "
            f"{epochs['train_seconds']:g}",
            _line(text, "time"),
        )
    usage = report.get("gpu_usage")
    if usage is not None and not (isinstance(usage, float) and usage != usage):
        usage = finite(usage)
        if usage is None or not 0 <= usage <= 100:
            raise Refused(f"gpu_usage: {report['gpu_usage']!r:.40} must be from 0 to 100", _line(text, "gpu_usage"))
    yield epochs | {"framework": "tensorflow", "train_seconds": seconds, "gpu_percent": finite(usage)}


def _epoch_facts(lines: Any, line: int) -> dict[str, Any]:
    if not isinstance(lines, list) or not all(isinstance(item, str) for item in lines):
        raise Refused("epoch_stats: must be a list of the lines of a CSV", line)
    try:
        return _epochs.parse("\n".join(item.rstrip("\r\n") for item in lines))
    except Refused as refused:
        raise Refused(f"epoch_stats, line {refused.line}: {refused}", line) from refused


def _line(text: str, key: str) -> int:
    """Return the line in which `key` stands first."""
    return text.count("\n", 0, max(0, text.find(f'"{key}"'))) + 1
