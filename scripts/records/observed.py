"""What the recorder of `epd run` tells of a command, as `observed` of its record holds it."""

from collections.abc import Mapping
from typing import Any


def samples_of_a_step(told: Mapping[str, Any]) -> float:
    """Return the samples of a step: it is one itself where nobody says what it goes through."""
    return float(told["per_step"]["each"]) if told["per_step"] else 1.0


def is_one_piece(told: Mapping[str, Any]) -> bool:
    """Return whether a command ran to its end and nothing could be read of it: its life is all that is known."""
    return told["rate"] is None and told["ended_by"] == "itself" and told["exit_code"] == 0


def samples(told: Mapping[str, Any] | None) -> int | None:
    """Return how many samples the whole training goes through, 1 where it is one piece; None where it is not known."""
    if told is None:
        return None
    if is_one_piece(told):
        return 1
    return max(1, round(told["whole"]["units"] * samples_of_a_step(told))) if told["whole"] else None
