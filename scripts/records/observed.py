"""What the recorder of `epd run` saw of a command, as `observed` of its record holds it."""

from collections.abc import Mapping
from typing import Any


def samples_of_a_step(observed: Mapping[str, Any]) -> float:
    """Return the samples of a step: it is one itself where nobody says what it goes through."""
    return float(observed["per_step"]["each"]) if observed["per_step"] else 1.0


def is_one_piece(observed: Mapping[str, Any]) -> bool:
    """Return whether a command ran to its end and nothing could be read of it: its life is all that is known."""
    return observed["rate"] is None and observed["ended_by"] == "itself" and observed["exit_code"] == 0


def samples(observed: Mapping[str, Any] | None) -> int | None:
    """Return how many samples the whole training goes through, 1 where it is one piece; None where it is not known."""
    if observed is None:
        return None
    if is_one_piece(observed):
        return 1
    return max(1, round(observed["whole"]["units"] * samples_of_a_step(observed))) if observed["whole"] else None
