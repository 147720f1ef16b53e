"""The front door: what the page needs to quote by itself, and what it says where scripts are off."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from scripts.analysis.names import provider_name, provider_names
from scripts.costs import cards
from scripts.estimate import (
    answer,
    ceiling,
    choice,
    classic,
    dollars,
    exported,
    linear,
    memory,
    nets,
    question,
    rates,
    reasons,
)
from scripts.estimate.known import AGEING_MONTHS, OLD_MONTHS, Known
from scripts.estimate.owned import Owned
from scripts.estimate.points import KINDS, PRECISIONS, SOFTWARE, software_on

#: What runs in the page, in this order.
SCRIPTS = ("engine.js", "elements.js", "estimate.js", "quote.js")

#: What reports/scripts/quote.js needs of an offer.
OFFER = (
    *("provider", "item", "region", "purchase", "cards", "usd_per_hour"),
    *("as_of", "increment_seconds", "minimum_seconds"),
)

#: Trainings that people ask about: billions of parameters, tokens, and what else is not as it usually is.
_WORKED: tuple[dict[str, Any], ...] = (
    {"billion": 8, "tokens": 2e9, "software": "llm-foundry"},
    {"billion": 8, "tokens": 2e9},
    {"billion": 8, "tokens": 1e8, "task": "lora"},
    {"billion": 8, "tokens": 15e12, "precision": "fp8", "software": "Megatron-Bridge", "cards": 512},
    {"billion": 1.3, "tokens": 26e9, "software": "llm-foundry"},
    {"billion": 3, "tokens": 60e9, "software": "llm-foundry"},
    {"billion": 13, "tokens": 1e9, "task": "sft"},
    {"billion": 70, "tokens": 1e8, "task": "lora", "software": "NeMo AutoModel"},
    {"billion": 70, "tokens": 1e9, "task": "sft", "precision": "fp8", "software": "Megatron-Bridge", "cards": 64},
    {"billion": 405, "tokens": 1e9, "precision": "fp8", "software": "Megatron-Bridge", "cards": 512},
    {"billion": 47, "active": 13, "tokens": 1e9, "precision": "bf16", "software": "Megatron-Bridge"},
    {"billion": 0.125, "tokens": 2.5e9, "software": "llm-foundry", "cards": 1},
)

_TASKS = {"pretrain": "pre-training", "sft": "fine-tuning", "lora": "LoRA", "qlora": "QLoRA"}


def context(
    known: Known,
    offered: Mapping[str, Sequence[Mapping[str, Any]]],
    owned: Mapping[str, Owned],
    found: Mapping[str, Any],
    of_nets: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what the page shows; `found` are the results of trials, `of_nets` what `classic_data` returns.

    Keys: quote (what scripts answer from), precisions, tasks, worked (examples, of the day of the newest price), trials
    (of `found`, by question), of_nets (`classic.Trials`), slips (rows of nets that are left out), other_nets (names of
    those that no table has, by kind), points and models (how many), printed and priced (first and last day), untested
    (cards of which the tables have no dense BF16).
    """
    days = sorted(row["as_of"] for rows in offered.values() for row in rows)
    printed = sorted(point.published for point in known.points)
    tested = {point.card for point in known.points if (point.kind, point.precision) == ("dense", "bf16")}
    return {
        "quote": data(known, offered, owned)
        | {"classic": {key: value for key, value in of_nets.items() if key not in ("trials", "slips")}},
        "precisions": PRECISIONS,
        "tasks": _TASKS,
        "worked": [_worked(known, offered, one, date.fromisoformat(days[-1])) for one in _WORKED],
        "trials": {f"{one['question']}, {one['kind']}": one for one in found["questions"]},
        "of_nets": of_nets["trials"],
        "slips": of_nets["slips"],
        "other_nets": _OTHER_NETS,
        "points": len(known.points),
        "models": len({point.model for point in known.points}),
        "printed": (printed[0], printed[-1]),
        "priced": (days[0], days[-1]),
        "untested": [card for card in offered if offered[card] and card not in tested],
    }


#: How nets are called that no table has.
_OTHER_NETS = {
    "": "another net",
    "convolutional": "another convolutional net",
    "depthwise": "another net of depthwise convolutions",
    "transformer": "another transformer",
    "recommender": "another recommender",
}


def _worked(
    known: Known, offered: Mapping[str, Sequence[Mapping[str, Any]]], given: Mapping[str, Any], today: date
) -> dict[str, str]:
    count = given.get("cards", 8)
    kind = "moe" if "active" in given else "dense"
    asked = question.ask(known, kind=kind, **{key: value for key, value in given.items() if key != "cards"})
    found = answer.answer(known, offered, asked, [], count, today)
    size = f"{given['billion']:g} billion parameters" + (f", {given['active']:g} active" if kind == "moe" else "")
    software = f", {given['software']}" if "software" in given else ""
    asks = (
        f"{size}, {_TASKS[asked.task]} on {given['tokens'] / 1e9:,g} billion tokens in {asked.precision.upper()}"
        f"{software}, {count} card{'s' * (count > 1)}"
    )
    choice = found["choice"]
    if not choice:
        return {"asks": asks, "sentence": "No card that can be answered for has a price."}
    named = re.sub(r"\bat ([a-z][a-z-]+)\b", lambda found: f"at {provider_name(found[1])}", choice["sentence"])
    return {"asks": asks, "sentence": named}


def data(
    known: Known, offered: Mapping[str, Sequence[Mapping[str, Any]]], owned: Mapping[str, Owned]
) -> dict[str, Any]:
    """Return what reports/scripts/quote.js quotes language models from.

    Keys: model (`exported.model`), factors and ageing (of `Known`), old_months and ageing_months, wide and widest,
    most_of_peak and highest_printed, farthest and same (of `rates`), least_share, least_usd and most_measured (of
    `choice`), oldest_months, markets, by_card, whole and whole_of_rack (of offers), state_bytes, room and memory
    (`_memory`), pcie_gb_per_second and unlike, off_logs (card, precision and how many times the speed in logs),
    printed_elsewhere, providers (their names), names (of cards), arm (cards with such a host), texts (of `reasons`),
    rows (what the tables hold: card, kind, precision and until when), models (by name: kind, active, total, layers,
    of_layers, width, whether the tables have its family, vocabulary, printed runs, and their own points), lengths and
    sizes (by kind: the least and the most), most_in_all, most_tokens, most_cards, most_printed, fewest_steps,
    least_of_peak, software, tpu_software, gpu_software, has_adapters_on_tpu, spot (what is assumed of it),
    provider_names (all that they are called), owned and offers by card.
    """
    until: dict[tuple[str, str, str], str] = {}
    for point in known.points:
        key = point.card, point.kind, point.precision
        until[key] = max(until.get(key, ""), point.published)
    return {
        "model": exported.model(linear.fit(known.points, known.cards)),
        "factors": known.factors,
        "ageing": known.ageing,
        "old_months": OLD_MONTHS,
        "ageing_months": AGEING_MONTHS,
        "wide": rates.WIDE,
        "widest": rates.WIDEST,
        "most_of_peak": ceiling.MOST_OF_PEAK,
        "highest_printed": ceiling.HIGHEST_PRINTED,
        "farthest": rates.FARTHEST,
        "same": rates.SAME,
        "least_share": choice.LEAST_SHARE,
        "least_usd": choice.LEAST_USD,
        "most_measured": choice.MOST,
        "oldest_months": dollars.OLDEST_MONTHS,
        "markets": cards.MARKETS,
        "by_card": cards.BY_CARD,
        "whole": cards.WHOLE,
        "whole_of_rack": cards.WHOLE_OF_RACK,
        "state_bytes": memory.STATE_BYTES,
        "room": memory.ROOM,
        "memory": _memory(known),
        "most_cards": question.MOST_CARDS,
        "most_printed": question.MOST_PRINTED,
        "fewest_steps": question.FEWEST_STEPS,
        "texts": reasons.TEXTS,
        "least_of_peak": question.LEAST_OF_PEAK,
        "rows": [
            dict(zip(("card", "kind", "precision", "until"), (*key, day), strict=True)) for key, day in until.items()
        ],
        "models": _models(known),
        "names": known.card_names,
        "arm": [card for card, about in known.cards.items() if about.get("host") == "ARM"],
        "pcie_gb_per_second": rates.PCIE_GB_PER_SECOND,
        "unlike": rates.UNLIKE,
        "off_logs": [[*key, times] for key, times in known.off_logs.items()],
        "printed_elsewhere": rates.PRINTED_ELSEWHERE,
        "spot": {
            "preemptions_per_hour": dollars.PREEMPTIONS_PER_HOUR,
            "save_seconds": dollars.SAVE_SECONDS,
            "restart_seconds": dollars.RESTART_SECONDS,
            "most_times": dollars.MOST_TIMES,
        },
        "owned": {
            card: asdict(one) | {"increment_seconds": 1.0, "minimum_seconds": 0.0} for card, one in owned.items()
        },
        "most_tokens": question.MOST_TOKENS,
        "lengths": known.lengths(),
        "sizes": {kind: known.sizes(kind) for kind in KINDS},
        "most_in_all": {kind: known.most_in_all(kind) for kind in KINDS},
        "software": list(dict.fromkeys(SOFTWARE.values())),
        "tpu_software": sorted(software_on(known.points, "TPU")),
        "gpu_software": sorted(software_on(known.points, "GPU")),
        "has_adapters_on_tpu": rates.has_adapters_on_tpu(known.points),
        "providers": {
            name: provider_name(name) for name in sorted({row["provider"] for rows in offered.values() for row in rows})
        },
        "provider_names": provider_names(row["provider"] for rows in offered.values() for row in rows),
        "offers": {
            card: [{key: _number(row[key]) for key in OFFER} for row in rows] for card, rows in offered.items() if rows
        },
    }


def _memory(known: Known) -> dict[str, Any]:
    """Return what is printed of memory: `memory.Memory`, and the runs that ran out of it."""
    of = known.memory
    return {
        "weights": of.weights,
        "over": of.over,
        "tokens": of.tokens,
        "billion": memory.BEYOND * of.billion,
        "out": [asdict(run) for run in of.runs if run.is_out],
    }


#: What a printed run is, beside its model.
_OF_RUN = ("task", "precision", "card", "cards", "tokens")

#: What a point of a model is, beside what all of its points are.
_OF_POINT = ("card", "precision", "software", "task", "length", "gflop", "rate")


def _models(known: Known) -> dict[str, Any]:
    """Return the models that can be asked for by name, each with its points of the tables."""
    families = {point.family for point in known.points}
    found = {}
    for name, about in known.askable.items():
        low, high = known.sizes(about["kind"])
        if low <= about.get("active_billion", 0.0) <= high:
            found[name] = {
                "kind": about["kind"],
                "active": about["active_billion"],
                "total": about.get("total_billion", about["active_billion"]),
                "layers": about["layers"],
                "of_layers": about.get("of_layers"),
                "width": about["width"],
                "has_family": about["family"] in families,
                "vocabulary": about.get("vocabulary"),
                "positions": about.get("positions"),
                "are_learned": about.get("are_learned", False),
                "ran": [
                    {key: getattr(run, key) for key in _OF_RUN}
                    for run in known.memory.runs
                    if run.model == name and not run.is_out
                ],
                "points": [{key: getattr(one, key) for key in _OF_POINT} for one in known.points if one.model == name],
            }
    return found


def _number(value: Any) -> Any:
    """Return a text that is a number as that."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def classic_data(
    of_nets: Mapping[tuple[str, str, str], float],
    slips: int,
    labels: Mapping[str, str],
    offers: Mapping[str, Sequence[Mapping[str, Any]]],
) -> dict[str, Any]:
    """Return what reports/scripts/quote.js quotes classic nets from: rates by net, precision and card, and offers; and
    how good that is (`trials`) and how many rows are no rates (`slips`), for the words of the page.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (net, precision, card), rate in sorted(of_nets.items()):
        found.setdefault(net, {}).setdefault(precision, {})[card] = rate
    return {
        "trials": classic.trials(of_nets),
        "slips": slips,
        "rates": found,
        "families": {net: nets.family(net) for net in found},
        "kinds": {family: kind for kind, of in nets.KINDS.items() for family in of},
        "refused": classic.REFUSED,
        "widest": classic.WIDEST,
        "level": classic.LEVEL,
        "fewest": classic.FEWEST,
        "fewest_alike": classic.FEWEST_ALIKE,
        "cards": dict(labels),
        "offers": {card: list(rows) for card, rows in offers.items()},
    }
