"""What the record of a command comes to, that was watched from outside: the fourth clock, *observed*.

Its times are those of its whole: measured where it ran to its end, else expected of what was watched, as `epd run`
does. The clock is not synchronised with a device: no verdict sets such a time against one of another clock. Pure.
"""

from collections.abc import Mapping
from typing import Any

from scripts.analysis import convergence, telemetry
from scripts.records.observed import is_one_piece, samples_of_a_step
from scripts.records.record import TIMES, epoch_row


def is_observed(raw: Mapping[str, Any]) -> bool:
    """Return whether a raw record is of a command, and not of a training of our own."""
    return "observed" in raw


def epochs(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the whole of a command as one row of epochs.csv, steps and pauses; none where it is not known."""
    known = _steps_and_pauses(raw)
    if known is None:
        return []
    steps, pauses = known
    return [epoch_row(0, steps + pauses, {}, raw["train_samples"], validation_seconds=pauses)]


def complete(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a command with all that follows from it, as `scripts.analysis.derive` does for others."""
    observed, known = raw["observed"], _steps_and_pauses(raw)
    of_all: dict[str, float | None] = dict.fromkeys(TIMES) | {"total_seconds": raw["times"]["total_seconds"]}
    if known:
        steps, pauses = known
        total = max(observed["whole"]["seconds"] if observed["whole"] else 0.0, steps + pauses)
        of_all |= {
            "import_seconds": total - steps - pauses,
            "total_seconds": total,
            "training_seconds": steps,
            "validation_seconds": pauses,
            "train_seconds": steps + pauses,
        }
    rate = _rate(raw)
    return {name: value for name, value in raw.items() if name not in ("clock_seconds", "observed")} | {
        "times": of_all,
        "timed_samples": None,
        "samples_per_second": rate,
        "final": {"epochs": len(epochs(raw))} | dict.fromkeys(("loss", "acc", "val_loss", "val_acc")),
        "convergence": convergence.verdict(None, None, None, 0.0, "own"),
        "telemetry": _use(observed),
        "warnings": _doubts(raw),
        "observed_seconds": observed and observed["seconds"],
        "observed_samples": observed["rate"]["observed_units"] * samples_of_a_step(observed) if rate else None,
    }


def _doubts(raw: Mapping[str, Any]) -> list[str]:
    observed = raw["observed"]
    if not observed:
        return []
    unread = ["no progress could be read of it: nothing but its life is known"] * is_one_piece(observed)
    return [*observed["doubts"], *unread]


def _rate(raw: Mapping[str, Any]) -> float | None:
    """Return the samples a second of a command that is done, None where none was read."""
    observed = raw["observed"]
    if raw["status"] != "done" or not observed or not observed["rate"]:
        return None
    return float(observed["rate"]["units_per_second"]) * samples_of_a_step(observed)


def _steps_and_pauses(raw: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return how long (s) the steps and the pauses of the whole take, None where it is not known."""
    observed, rate = raw["observed"], _rate(raw)
    if raw["status"] == "done" and observed and is_one_piece(observed):
        return float(observed["seconds"]), 0.0
    if rate is None or raw["train_samples"] is None or observed["whole"]["seconds"] is None:
        return None
    units = observed["whole"]["units"]
    pauses = sum(units / pause["every_units"] * pause["each_seconds"] for pause in observed["rate"]["pauses"])
    return raw["train_samples"] / rate, pauses


def _use(observed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the machine did meanwhile, as `telemetry.summary` has it, as far as the recorder saw it."""
    use = telemetry.summary([])
    if not observed or not observed["seconds"]:
        return use
    seconds, seen = observed["seconds"], observed["use"]

    def percent(name: str) -> float | None:
        return None if seen.get(name) is None else 100 * seen[name] / seconds

    joules = seen.get("energy_joules")
    return use | {
        "cpu_percent": percent("cpu_seconds"),
        "other_cpu_percent": percent("other_cpu_seconds"),
        "peak_memory_mib": seen.get("peak_memory_mib"),
        "gpu_percent": None if seen.get("gpu_busy") is None else 100 * seen["gpu_busy"],
        "peak_gpu_memory_mib": seen.get("peak_gpu_memory_mib"),
        "gpu_power_watts": joules and joules / seconds,
        "energy_joules": joules,
        "energy_seconds": joules and seconds,
        "energy_source": joules and "power integral",
    }
