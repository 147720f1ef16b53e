"""How a training ended, and what its record says of that."""

from dataclasses import asdict, dataclass, field
from typing import Any

from scripts.records.cell import Cell
from scripts.records.record import SCHEMA_VERSION, TIMES
from scripts.records.reference import Reference
from scripts.records.samples import Sample
from scripts.storage.words import printable

#: What the process that trains reports of the run.
_FACTS = (
    "train_samples",
    "validation_samples",
    "whole_train_samples",
    "whole_validation_samples",
    "parameters",
    "flops_per_sample",
    "settings",
    "chance",
    "learnable",
    "peak_memory_mib",
)


@dataclass
class Outcome:
    """What is known of a run: how it ended, its times (s), its epochs, what the machine did meanwhile.

    `clock` is the reading at which the timed region began, None if it never did.
    """

    status: str = "killed"
    reason: str | None = None
    times: dict[str, float] = field(default_factory=dict)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    clock: float | None = None

    def record(self, cell: Cell, batch_size: int, reference: Reference | None) -> dict[str, Any]:
        """Return what the record says of how a run went: facts, nothing that can be worked out of them later.

        Args:
            cell: as asked for.
            batch_size: samples per step of one device, as found.
            reference: of the workload, None without one: a workload's file may be gone when its runs are judged.
        """
        return {
            "schema_version": SCHEMA_VERSION,
            "cell": asdict(cell),
            "batch_size": batch_size,
            "status": self.status,
            "reason": self.reason and printable(self.reason),
            **{name: self.facts.get(name) for name in _FACTS},
            "reference": reference and _to_json(reference),
            "times": {name: self.times.get(name) for name in TIMES},
            "clock_seconds": self.clock,
        }


def _to_json(reference: Reference) -> dict[str, Any]:
    return asdict(reference) | {"values": list(reference.values), "training": list(reference.training)}
