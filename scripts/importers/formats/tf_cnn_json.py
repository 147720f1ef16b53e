"""What tf_cnn_benchmarks writes with `--benchmark_log_dir`: `metric.log`, and `benchmark_run.log` beside it.

Both are of TensorFlow's model garden (official/utils/logs/logger.py): `benchmark_run.log` is one JSON object that names
model, data set and parameters of the newest run in the folder, `metric.log` has one for each metric and is appended to
by each run. `average_examples_per_sec` ends a run: samples a second of all devices, batches after the warm-up over
their time. As in the printed log there is no time to train, and no precision but what a part of the path names.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Refused, count, finite

HELP = "metric.log and benchmark_run.log of tf_cnn_benchmarks --benchmark_log_dir"

_METRICS, _RUN = "metric.log", "benchmark_run.log"
_RATE = "average_examples_per_sec"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of each `metric.log` below `folder`. Raises InputError if there is no such folder."""

    def parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any] | Refused]:
        if name.name == _RUN and (folder / name).with_name(_METRICS).is_file():
            return iter(())  # it is read with the metrics of its run
        if name.name != _METRICS:
            raise Refused(f"the name must be {_METRICS}")
        return _parse(name, text, _parameters((folder / name).with_name(_RUN)))

    return _logs.read(folder, layout, (".log",), parse)


def _parse(name: PurePosixPath, text: str, about: dict[str, Any]) -> Iterator[dict[str, Any] | Refused]:
    ends: list[tuple[int, float, str | None]] = []
    for line, content in enumerate(text.splitlines(), start=1):
        metric = _logs.from_json(content, line) if content.strip() else {}
        if not isinstance(metric, dict):
            raise Refused("must be one JSON object", line)
        if metric.get("name") != _RATE:
            continue
        rate = finite(metric.get("value"))
        if rate is None or rate <= 0:
            raise Refused(f"value: {metric.get('value')!r:.40} must be samples a second, more than 0", line)
        when = metric.get("timestamp")
        ends.append((line, rate, when if isinstance(when, str) else None))
    if not ends:
        raise Refused(f"no run has ended: no metric {_RATE}")
    for line, _, _ in ends[:-1]:
        yield Refused(f"{_RUN} names the parameters of the last run alone, and this is an earlier one", line)
    yield {
        "framework": "tensorflow",
        "precision": _logs.precision_of(name),
        "samples_per_second": ends[-1][1],
        **about,
    }


def _parameters(path: Path) -> dict[str, Any]:
    """Return workload, batch size of one device, devices and start of the run that `path` names; none without it."""
    if not path.is_file():
        return {}
    try:
        run = _logs.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, Refused) as error:
        raise Refused(f"{_RUN} beside it cannot be read: {error}") from error
    listed = run.get("run_parameters", []) if isinstance(run, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise Refused(f"{_RUN} beside it must be an object with a list of run_parameters")
    values = {one.get("name"): one.get(f"{kind}_value") for one in listed for kind in _KINDS if f"{kind}_value" in one}
    mode, devices, model = values.get("mode", "training"), values.get("devices"), run.get("model_name")
    if not str(mode).startswith("training"):
        raise Refused(f"{_RUN}: mode: {mode!r:.40} is no training")
    return {
        "workload": model if isinstance(model, str) else None,
        "batch_size": count(values.get("batch_size_per_device")),
        # The list of devices is written as Python writes it.
        "devices": devices.count("'") // 2 or None if isinstance(devices, str) else None,
        "started_at": run["run_date"] if isinstance(run.get("run_date"), str) else None,
    }


#: Parameters have their value under the name of its type.
_KINDS = ("string", "long", "float", "bool")
