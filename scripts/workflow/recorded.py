"""What an estimate takes from a record of `epd run`, or of a grid's command: the card, its rate and its memory."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.estimate.answer import Peak
from scripts.estimate.question import Question
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_text

RECORDER = Path(__file__).resolve().parents[2] / "plugins" / "epochs-per-dollar"


@dataclass(frozen=True)
class Recorded:
    """What a minute measured: tokens a second of a card (named as offers name it), and the whole, where it says that.

    `peak_memory_mib` is that of a card, None where it was not read.
    """

    place: str
    card: str
    cards: int
    tokens_per_second_per_card: float
    whole_tokens: float | None
    peak_memory_mib: float | None

    def peak(self, card: str) -> Peak | None:
        """Return the peak of its memory, on a card as data sheets call it."""
        return None if self.peak_memory_mib is None else Peak(card, self.cards, self.peak_memory_mib)


def read(path: Path, per_step: str = "") -> Recorded:
    """Return what a run.json says. Raises InputError for what it lacks.

    `per_step` is what a step goes through on all cards, as `12x1024 tokens`, where the record does not say it.
    """
    run = schemas.read_json(read_text(path), path)
    if not isinstance(run, dict) or not isinstance(run.get("observed", run), dict):
        raise InputError(f"{path}: is no record of epd run")
    try:
        return _taken(path, run, run.get("observed") or run, per_step)
    except (KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise InputError(f"{path}: is no record of epd run: {error!r}") from error


def _taken(path: Path, run: dict[str, Any], seen: dict[str, Any], per_step: str) -> Recorded:
    sys.path.insert(0, str(RECORDER))  # it knows drivers' names
    from epochs_per_dollar import offers, reading

    if not (seen.get("rate") and seen.get("progress")):
        what = "no rate was read of it" if "clock" in seen else "it has samples a second, and no tokens"
        raise InputError(f"{path}: {what}: a rate of yours is --on CARD=RATE, tokens a second and card")
    try:
        reading.check(seen)
    except reading.RecordError as error:
        raise InputError(f"{path}: {'' if seen is run else 'observed.'}{error}") from error
    if "machine" in seen:
        names = [card["name"] for card in seen["machine"]["cards"]]
    else:
        names = [gpu["model"] for gpu in run["provenance"]["hardware"]["gpus"]]
    if not names:
        raise InputError(f"{path}: was measured without a GPU: no processor's rate says what a card does")
    card = offers.card(names[0])
    if card is None:
        raise InputError(f"{path}: {names[0]!r} is no card that is known: --on CARD=RATE names one")
    cards = seen["use"].get("cards") or len(names)
    each = _tokens(path, seen, per_step)
    whole = (seen.get("whole") or {}).get("units")
    memory = seen["use"].get("peak_gpu_memory_mib")
    return Recorded(
        str(path),
        card,
        cards,
        seen["rate"]["units_per_second"] * each / cards,
        whole and whole * each,
        memory / cards if memory else None,
    )


def _tokens(path: Path, seen: dict[str, Any], per_step: str) -> float:
    """Return how many tokens one unit of progress is, on all cards."""
    unit: str = seen["progress"]["unit"]
    if unit.rstrip("s") == "token":
        return 1.0
    if per_step:
        from epochs_per_dollar import words

        found = words.amount(per_step)
        if not found or found[1] not in ("", "token", "tokens"):
            raise InputError(f"--per-step: {per_step!r} is no amount, as '12x1024 tokens'")
        return found[0]
    known = seen.get("per_step") or {}
    if str(known.get("unit", "")).rstrip("s") == "token":
        return float(known["each"])
    raise InputError(f"{path}: counts by the {unit}: --per-step '12x1024 tokens' says what one is on all cards")


def assumed(asked: Question, recorded: Recorded, is_whole: bool) -> Question:
    """Return a question with what was taken from a record, or for granted of it."""
    lines = [
        f"rate: {recorded.tokens_per_second_per_card:,.0f} tokens a second and card on {recorded.cards} x "
        f"{recorded.card}, in {asked.precision}, as of the record; its start and pauses are not counted"
    ]
    if is_whole:
        lines.append(f"tokens of the whole: {asked.tokens:,.0f}, as of the record")
    return replace(asked, assumed=(*lines, *asked.assumed))
