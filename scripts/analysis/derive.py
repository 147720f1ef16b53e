"""What a run's raw record comes to: times, throughput, final values, verdict, warnings, use of the machine.

Measured once, judged as often as one likes: an edit of any of it trains nothing.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from scripts.analysis import convergence, telemetry, validators
from scripts.records.cell import Cell
from scripts.records.reference import Reference
from scripts.records.samples import Sample, peak_memory_mib

#: What only the raw record has: what follows from it is in the derived one.
_RAW = ("clock_seconds", "learnable", "peak_memory_mib", "reference")

#: The status of a run that ended well and is no result.
LEARNED_NOTHING = "learned_nothing"

_VALUES = ("loss", "acc", "val_loss", "val_acc")


def complete(raw: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]], samples: Sequence[Sample]) -> dict[str, Any]:
    """Return a run's record with all that follows from it.

    Args:
        raw: a `run.json` as it was written.
        epochs: rows of its `epochs.csv`.
        samples: those of its `telemetry.csv`.

    Added are `times` (s), `timed_samples`, `samples_per_second`, `final`, `convergence`, `telemetry` and `warnings`; of
    a speed test `learnable` stays, which is false.
    A run that is done and learned nothing gets that `status`, and a `reason`.
    """
    cell, machine = Cell(**raw["cell"]), raw["provenance"]["hardware"]
    steps = raw["batch_size"] * cell.devices
    times = totals(epochs, steps)
    throughput = times.pop("samples_per_second")
    timed = timed_samples(epochs, steps)
    use = _use(raw, epochs, samples)
    last = epochs[-1] if epochs else {}
    verdict, reason = _judge(raw, len(epochs), last)
    judged: dict[str, Any] = {"status": LEARNED_NOTHING, "reason": reason} if reason and raw["status"] == "done" else {}
    if judged and "attempts" in raw:
        judged["attempts"] = [*raw["attempts"][:-1], raw["attempts"][-1] | {"ended": LEARNED_NOTHING}]
    warnings = validators.warnings(
        use,
        losses=[] if raw["learnable"] is False else [row["loss"] for row in epochs],
        memory_mib=machine["memory_mib"],
        gpu_memory_mib=sum(gpu["memory_mib"] for gpu in machine["gpus"][: cell.devices]) or None,
        # The telemetry of an interrupted run is that of its last process.
        timed_seconds=None
        if is_interrupted(epochs) or not epochs
        else sum(row["training_seconds"] + row["validation_seconds"] for row in epochs),
        warmup_steps=None if not epochs else 1 + int(epochs[0]["warmup_samples"]) // steps,
        timed_steps=None if not epochs else max(0, timed) // steps,
        slept_seconds=raw["times"].get("slept_seconds"),
        settings=raw.get("settings"),
    )
    return (
        {name: value for name, value in raw.items() if name not in _RAW}
        | judged
        | ({"learnable": False} if raw["learnable"] is False else {})
        | {
            "times": raw["times"] | times,
            "timed_samples": max(0, timed) if epochs else None,
            "samples_per_second": throughput,
            "final": {"epochs": len(epochs)} | {name: _finite(last.get(name)) for name in _VALUES},
            "convergence": verdict,
            "telemetry": use,
            "warnings": warnings,
        }
    )


def _use(
    raw: Mapping[str, Any], epochs: Sequence[Mapping[str, Any]], samples: Sequence[Sample]
) -> dict[str, float | int | str | None]:
    """Return the summary of the telemetry, with what the process itself recorded of its memory."""
    # The telemetry is that of the last process, and so is the first step that is left out of it.
    first_steps = [row["first_step_seconds"] for row in epochs if row["first_step_seconds"]]
    trained_from = (raw["clock_seconds"] or 0.0) + (first_steps[-1] if first_steps else 0.0)
    use = telemetry.summary(samples, since=trained_from)
    return use | {"peak_memory_mib": peak_memory_mib(samples, raw["peak_memory_mib"])}


def _judge(raw: Mapping[str, Any], epochs: int, last: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the verdict on a run of so many epochs and, if it learned nothing, how that was seen."""
    reference = Reference(**raw["reference"]) if raw["reference"] else None
    metric = reference.metric if reference else "acc" if last.get("val_acc") is None else "val_acc"
    value, cell, data = last.get(metric), raw["cell"], raw["data"]
    part = data["train_samples"] / data["complete_train_samples"]
    verdict = convergence.verdict(reference, value, raw["chance"], epochs * cell["samples"] * part, cell["data"])
    if verdict != convergence.LEARNED_NOTHING:
        return verdict, None
    return verdict, f"{metric} {value:.4g}, guessing gives {raw['chance']:.4g}"


def totals(epochs: Sequence[Mapping[str, Any]], batch_size: int) -> dict[str, float | None]:
    """Return the run's times (s) and throughput (samples/s) from its epochs; `batch_size` is that of all devices.

    `train_seconds`, the time to train, is that of all epochs: the first step with its trace and compilation, training
    and validation. Throughput counts the samples after first step and warm-up over the training time after them.
    """
    first_steps = sum(row["first_step_seconds"] for row in epochs)
    training = sum(row["training_seconds"] for row in epochs)
    validation = sum(row["validation_seconds"] for row in epochs)
    warmup = sum(row["warmup_seconds"] for row in epochs)
    samples = timed_samples(epochs, batch_size)
    # An epoch that was cut in two is no measurement of speed.
    seconds = sum(row["training_seconds"] - row["warmup_seconds"] for row in epochs if not row.get("cut"))
    return {
        "first_step_seconds": first_steps if epochs else None,
        "warmup_seconds": warmup if epochs else None,
        "training_seconds": training if epochs else None,
        "validation_seconds": validation if epochs else None,
        "train_seconds": training + validation + first_steps if epochs else None,
        "samples_per_second": samples / seconds if samples > 0 and seconds > 0 else None,
    }


def _finite(value: float | None) -> float | None:
    """Return the value, or None for one that JSON cannot hold (a diverged loss)."""
    return value if value is not None and isfinite(value) else None


def is_interrupted(epochs: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a run was resumed: its time to train holds more than one start, and compares with none."""
    return any(row.get("cut") or (row["epoch"] and row.get("first_step_seconds")) for row in epochs)


def timed_samples(epochs: Sequence[Mapping[str, Any]], batch_size: int) -> int:
    """Return how many samples were trained on after the first step and the warm-up (which each process repeats)."""
    whole = [row for row in epochs if not row.get("cut")]
    starts = sum(bool(row["first_step_seconds"]) for row in whole) if is_interrupted(epochs) else 1
    return int(sum(row["samples"] - row["warmup_samples"] for row in whole)) - starts * batch_size
