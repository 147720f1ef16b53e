"""How good quotes of other machines are, from committed facts: trials, and the tables of docs/estimating.md."""

import json
from collections.abc import Mapping, Sequence
from math import ceil, exp, isclose
from statistics import median
from typing import Any

from scripts.document import classic_picks, kept_back, simulated, torchtitan, whole_trainings
from scripts.estimate import ageing, exported, linear, picks, transfers, trial
from scripts.estimate.known import day
from scripts.estimate.points import KINDS, Point
from scripts.storage import schemas
from scripts.storage.files import read_text
from scripts.storage.numbers import rounded
from scripts.workflow import estimates

#: Models that people know: of each the newest row of each card is shown.
_FAMOUS = (
    "Llama 3 8B", "Llama 3 70B", "Llama 3.1 405B", "GPT-3 175B", "MPT 7b", "Mixtral 8x7B", "Qwen 3 30B A3B",
    "DeepSeek V3",
)  # fmt: skip


#: The fitted model, for programs that do not run this one: a static page.
MODEL = estimates.ROOT / "reports" / "estimate-model.json"


def trials() -> dict[str, Any]:
    """Return what trials on the committed facts find; it takes a minute."""
    points, cards = estimates.points(), schemas.read_yaml(estimates.CARDS, "cards")["cards"]
    left_out = {question: trial.trials(points, cards, question) for question in trial.QUESTIONS}
    carried = transfers.transfers(points, cards)
    factors = {question: {kind: trial.factor(of, kind) for kind in KINDS} for question, of in left_out.items()}
    # Few models of a kind have been printed twice: what one rate says of another is learnt from both kinds together.
    factors |= {question: dict.fromkeys(KINDS, trial.factor(of)) for question, of in carried.items()}
    # One rate of a mixture of experts is widened as in quotes (`rates._factor`): few are printed on several cards.
    widened_by = {("another card", "moe"): carried["another card and precision"]}
    questions = [
        {"question": question, "kind": kind} | trial.summary(here, widened_by.get((question, kind), of), is_pooled)
        for found, is_pooled in ((left_out, False), (carried, True))
        for question, of in found.items()
        for kind in KINDS
        if (here := [one for one in of if one.point.kind == kind])
    ]
    facts: dict[str, Any] = {
        "inputs_sha256": estimates.inputs_sha256(),
        "facts_until": max(point.published for point in points),
        "factors": factors,
        "ageing": {kind: _ageing(kind) for kind in KINDS},
        "questions": questions,
        "releases": _releases(carried["another card"]),
        "farthest": exp(max(abs(one.error) for of in left_out.values() for one in of)),
        "famous": _famous(left_out["its model"], factors["its model"]),
        "picks": _picks(points, cards),
    }
    return facts | {"kept_back": kept_back.quotes(estimates.known(facts), day(facts["facts_until"]))}


def _ageing(kind: str) -> dict[str, Any]:
    found = sorted(map(abs, ageing.gains(estimates.all_releases(), kind)))
    tenth = found[ceil(0.9 * len(found)) - 1]
    return {"pairs": len(found), "gain": [exp(median(found)), exp(tenth)], "deviation": tenth / trial.WIDTH}


def _releases(of: Sequence[trial.Trial]) -> dict[str, Any]:
    """Return how far the same row is apart in two releases, by kind, and what a rate of a mixture of experts misses of
    another card within a release and of another one: cases, and their error.
    """
    errors = {kind: ageing.changes(estimates.all_releases(), kind) for kind in KINDS}
    for name, is_one in (("one release", True), ("another release", False)):
        errors[name] = [one.error for one in of if one.point.kind == "moe" and one.is_of_release == is_one]
    return {name: [len(found), *trial.spread(found)] for name, found in errors.items()}


def _famous(of: Sequence[trial.Trial], factors: Mapping[str, float]) -> list[dict[str, Any]]:
    newest: dict[tuple[str, str], trial.Trial] = {}
    for one in of:
        key = (one.point.model, one.point.card)
        if one.point.model in _FAMOUS and (key not in newest or newest[key].point.published < one.point.published):
            newest[key] = one
    return [_shown(one, factors[one.point.kind]) for _, one in sorted(newest.items(), key=_order)]


def _order(item: tuple[tuple[str, str], trial.Trial]) -> tuple[int, str]:
    return _FAMOUS.index(item[0][0]), item[0][1]


def _shown(one: trial.Trial, factor: float) -> dict[str, Any]:
    point, width = one.point, exp(trial.WIDTH * factor * one.deviation)
    said = (point.rate or 0) * exp(one.error)
    return {
        "model": point.model,
        "card": point.card,
        "precision": point.precision,
        "software": point.software,
        "task": point.task,
        "length": point.length,
        "published": point.published,
        "printed": point.rate,
        "said": said,
        "low": said / width,
        "high": said * width,
    }


def _picks(points: Sequence[Point], cards: Mapping[str, Any]) -> dict[str, Any]:
    offered = {
        card: [row["usd_per_hour"] / int(row["cards"]) for row in rows if row["purchase"] == "on-demand"]
        for card, rows in estimates.offered([estimates.TRIED_BOOK]).items()
    }
    found = list(picks.picks(points, cards, {card: usd for card, usd in offered.items() if usd}))
    return {
        "cases": len(found),
        "models": len({one.model for one in found}),
        "machines": [min(one.machines for one in found), max(one.machines for one in found)],
        "rules": {
            rule: {
                "first": sum(one.places[rule] == 1 for one in found) / len(found),
                "among three": sum(one.places[rule] <= 3 for one in found) / len(found),
                "regret": [
                    median(one.regrets[rule] for one in found),
                    sorted(one.regrets[rule] for one in found)[ceil(0.9 * len(found)) - 1],
                ],
            }
            for rule in picks.RULES
        },
    }


def model_file() -> str:
    """Return the fitted model (JSON), for programs that condition it on rates of their own: `exported.model`."""
    points, cards = estimates.points(), schemas.read_yaml(estimates.CARDS, "cards")["cards"]
    found = estimates.trials()
    of = {"facts_until": found["facts_until"], "inputs_sha256": found["inputs_sha256"], "factors": found["factors"]}
    of |= {"ageing_deviations": {kind: one["deviation"] for kind, one in found["ageing"].items()}}
    made = json.loads(json.dumps(of | exported.model(linear.fit(points, cards))))
    kept = read_text(MODEL) if MODEL.is_file() else "{}"
    # Another processor's arithmetic differs in the last digits: that is no other model.
    return kept if _is_near(json.loads(kept), made) else json.dumps(made, separators=(",", ":")) + "\n"


def _is_near(one: Any, other: Any) -> bool:
    """Return whether two values of JSON are the same, numbers to a millionth of each."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_near(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


def estimating_page(page: str) -> str:
    """Return docs/estimating.md with its tables made anew, from what trials found last."""
    found = estimates.trials()
    kept = kept_back.lines(found["kept_back"])
    parts = [
        _errors(found, trial.QUESTIONS),
        [*_errors(found, transfers.QUESTIONS), "", *_between_releases(found["releases"])],
        _names(found),
        kept,
        torchtitan.lines(estimates.known(), found["facts_until"]),
        whole_trainings.lines(estimates.known()),
        _cheapest(found),
        classic_picks.lines(),
        classic_picks.carried_lines(),
    ]
    for place, lines in enumerate(parts):
        page = simulated.made(page, lines, place)
    return page


def _errors(found: Mapping[str, Any], questions: Mapping[str, Any]) -> list[str]:
    is_left_out = questions is trial.QUESTIONS
    simple = "median of others" if is_left_out else "same share of the peak"
    lines = [
        f"| {'left out of the tables' if is_left_out else 'asked from one rate'} | kind | cases | models | error "
        f"| each model once | {simple} | 40 % of the peak | interval holds | worst model |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in found["questions"]:
        if row["question"] in questions:
            keys = ("error", "each model once", "simple", "flat")
            errors = " | ".join("{:.2f} / {:.2f}".format(*row[key]) for key in keys)
            lines.append(
                f"| {row['question']} | {row['kind']} | {row['points']:,} | {row['models']} | {errors} "
                f"| {row['coverage']:.0%} | {row['worst'][0]}, {row['worst'][1]:.2f} |"
            )
    return lines


def _between_releases(of: Mapping[str, Sequence[float]]) -> list[str]:
    off = {name: f"{middle:.2f} / {tenth:.2f}" for name, (_, middle, tenth) in of.items()}
    cases = {name: f"{row[0]:,.0f}" for name, row in of.items()}
    return [
        f"Much of what is missed of a mixture of experts is its software: the same row of two releases is "
        f"{off['moe']} apart ({cases['moe']} pairs), and {off['dense']} of a dense model ({cases['dense']}).",
        f"From a rate to another card {off['one release']} is missed within a release ({cases['one release']} cases), "
        f"and {off['another release']} from one to another ({cases['another release']}).",
    ]


def _names(found: Mapping[str, Any]) -> list[str]:
    lines = [
        "| model | card | precision | software | printed | of | said | 80 % | off by |",
        "| --- | --- | --- | --- | ---: | --- | ---: | --- | ---: |",
    ]
    for row in found["famous"]:
        off = row["said"] / row["printed"]
        outside = "" if row["low"] <= row["printed"] <= row["high"] else ", outside"
        task = "" if row["task"] == "pretrain" else f", {row['task']}"
        between = f"{rounded(row['low'])} to {rounded(row['high'])}{outside}"
        lines.append(
            f"| {row['model']}{task} | {row['card']} | {row['precision']} | {row['software']} "
            f"| {rounded(row['printed'])} | {row['published'][:7]} | {rounded(row['said'])} | {between} | {off:.2f} |"
        )
    return lines


def _cheapest(found: Mapping[str, Any]) -> list[str]:
    of = found["picks"]
    low, high = of["machines"]
    lines = [
        f"{of['cases']:,} cases of {of['models']} models, {low} to {high} machines each:",
        "",
        "| rule | names the cheapest | has it among its first three | costs more than the cheapest |",
        "| --- | ---: | ---: | ---: |",
    ]
    for rule, row in of["rules"].items():
        middle, tenth = row["regret"]
        lines.append(f"| {rule} | {row['first']:.1%} | {row['among three']:.1%} | {middle:.1%} / {tenth:.1%} |")
    return lines
