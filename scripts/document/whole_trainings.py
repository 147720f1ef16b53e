"""Whole trainings whose makers say how many hours of a card they took, beside what a quote of the steady run says."""

from math import exp

from scripts.estimate import linear, question
from scripts.estimate.known import Known
from scripts.storage.files import read_csv
from scripts.workflow import estimates

FILE = estimates.ROOT / "reports" / "published" / "sources" / "whole-trainings.csv"

COLUMNS = (
    *("model", "published", "tokens", "sequence_length", "precision", "card", "card_hours"),
    *("note", "source"),
)


def lines(known: Known) -> list[str]:
    """Return a table (Markdown) of the trainings: tokens a second and card as stated, and as a quote by name says."""
    heads = (
        "model",
        "of",
        "tokens",
        "card",
        "hours of a card",
        "so tokens/s",
        "steady, as quoted",
        "times as long",
        "source",
    )
    found = [f"| {' | '.join(heads)} |", "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | --- |"]
    for _, row in read_csv(FILE, COLUMNS):
        tokens, hours = float(row["tokens"]), float(row["card_hours"])
        stated = tokens / (hours * 3600)
        said = steady(known, row["model"], row["card"], row["precision"], float(row["sequence_length"]))
        cells = (
            *(row["model"], row["published"], f"{tokens / 1e12:g} × 10¹²", row["card"], f"{hours:,.0f}"),
            *(f"{stated:,.0f}", f"{said:,.0f}", f"{said / stated:.2f}"),
            "; ".join(filter(None, (row["source"], row["note"]))),
        )
        found.append(f"| {' | '.join(cells)} |")
    return found


def steady(known: Known, model: str, card: str, precision: str, length: float) -> float:
    """Return tokens a second and card of a model of the tables, by its own rows and those of others."""
    asked = question.ask(known, model=model, tokens=length, precision=precision, length=length)
    others, own = ([point for point in known.points if (point.model == model) is is_own] for is_own in (False, True))
    (said,), _ = linear.predict(linear.fit(others, known.cards), [asked.on(card)], own)
    return exp(said)
