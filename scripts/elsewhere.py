"""Estimate what the language models that a study's programs train would cost on cards that were not measured."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from scripts.estimate import answer, question
from scripts.estimate.known import Known
from scripts.storage import errors, schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_text, write_text
from scripts.workflow import estimates
from scripts.workflow.recorded import Recorded, read


def minutes(runs: Iterable[Path]) -> tuple[list[Recorded], list[str]]:
    """Return what the runs that are done measured, of each card that of its fastest cell, and why others are none.

    A cell is the folder of its runs, and has the median of them.
    """
    cells: dict[Path, list[Recorded]] = {}
    reasons: list[str] = []
    for path in runs:
        if schemas.read_json(read_text(path), path).get("status") != "done":
            continue
        try:
            recorded = read(path)
        except InputError as error:
            reasons.append(str(error).removeprefix(f"{path}: "))
        else:
            cells.setdefault(path.parent.parent, []).append(recorded)
    found: dict[str, tuple[float, Recorded]] = {}
    for of in cells.values():
        rate = median(one.tokens_per_second_per_card for one in of)
        if of[0].card not in found or found[of[0].card][0] < rate:
            nearest = min(of, key=lambda one: abs(one.tokens_per_second_per_card - rate))
            found[of[0].card] = rate, nearest
    return [one for _, one in found.values()], list(dict.fromkeys(reasons))


def estimate(
    known: Known,
    offered: Mapping[str, Any],
    model: Mapping[str, Any],
    measured: list[Recorded],
    today: date,
) -> dict[str, Any]:
    """Return the answer for a language model by the rates that were measured of it. Raises InputError."""
    whole = next((one.whole_tokens for one in measured if one.whole_tokens), None)
    if whole is None:
        raise InputError("how long the whole is was not known: `of:` or `epochs:` of the program says it")
    asked = question.ask(
        known, tokens=whole, kind="moe" if "active" in model else "dense",
        **{key: value for key, value in model.items() if key in _ASKED},
    )  # fmt: skip
    points = [
        question.check_rate(known, asked, one.place, card, asked.precision, one.tokens_per_second_per_card, one.cards)
        for one in measured
        for card in [known.card(one.place, one.card)]
    ]
    peak = measured[0].peak(points[0].card)
    return answer.answer(known, offered, asked, points, None, today, peak)


_ASKED = ("model", "billion", "active", "layers", "width", "length", "precision", "software", "task")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="estimates to write (.json), a workload each")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument(
        "--folder", required=True, type=Path, help="of its runs, whose run.json are read from standard input"
    )
    options = parser.parse_args()
    runs = [Path(line) for line in sys.stdin.read().split("\n") if line]
    known, offered = estimates.known(), estimates.offered()
    found = []
    for workload, program in json.loads(options.study)["commands"].items():
        if "language_model" not in program:
            continue
        measured, reasons = minutes(run for run in runs if run.is_relative_to(options.folder / workload))
        entry: dict[str, Any] = {"workload": workload, "measured": [], "reasons": reasons, "answer": None}
        if measured:
            entry["measured"] = [{"card": one.card, "cards": one.cards} for one in measured]
            try:
                entry["answer"] = estimate(
                    known, offered, program["language_model"], measured, estimates.newest_price(offered)
                )
            except InputError as error:
                entry["reasons"] = [*reasons, str(error)]
        found.append(entry)
    write_text(options.output, json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    errors.run(main)
