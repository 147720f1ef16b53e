"""The whole answer to a question, as programs read it: config/schemas/estimate.schema.json says what its keys mean."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from math import ceil, exp, inf
from typing import Any

import numpy as np

from scripts.estimate import dollars
from scripts.estimate.dollars import Bill
from scripts.estimate.known import Known
from scripts.estimate.memory import ROOM
from scripts.estimate.owned import Owned
from scripts.estimate.points import Point
from scripts.estimate.question import FEWEST_STEPS, MOST_CARDS, MOST_PRINTED, Question
from scripts.estimate.rates import PCIE_GB_PER_SECOND, Beside, Rate, rates
from scripts.estimate.reasons import text
from scripts.estimate.verdict import elsewhere, usd_of, verdict
from scripts.storage.numbers import number, rounded

_MINUTE = 60.0

#: Ways to buy, each by itself.
WAYS = ("on-demand", "spot", "market", "owned")

#: What is measured once may be a little more another time.
_MARGIN = 1.05

#: Of the question's fields those that answers repeat.
_ASKED = (
    "model", "kind", "active_billion", "total_billion", "layers", "width", "tokens", "length", "task", "precision",
    "software", "state_bytes", "state_gb", "sequence_gb",
)  # fmt: skip


@dataclass(frozen=True)
class Peak:
    """Memory that a measured training took at most: MiB of a card, of so many."""

    card: str
    cards: int
    memory_mib: float


def answer(
    known: Known,
    offered: Mapping[str, Sequence[Mapping[str, Any]]],
    question: Question,
    measured: Sequence[Point],
    cards: int | None,
    today: date,
    peak: Peak | None = None,
    sequences: float | None = None,
    without: Collection[str] = (),
    preemptions_per_hour: float = dollars.PREEMPTIONS_PER_HOUR,
    owned: Mapping[str, Owned] | None = None,
    owned_decides: bool = False,
) -> dict[str, Any]:
    """Return what is to be said of a question. `offered` are rows of offers by card, `cards` how many are rented.

    Machines whose cards together do not hold what the training keeps are left out, and those of more cards than a step
    has `sequences`, and providers and cards that are `without`. Spot machines are preempted so often. Cards that are
    `owned` stand apart, unless a person's own decide beside those that clouds offer on demand.
    """
    found = rates(known, question, measured, today)
    refused = dict(found.refused)
    answers: list[dict[str, Any]] = []
    priced, costs, minutes = [], [], []
    for place, rate in enumerate(found.answers):
        seen = _seen(question, rate.card, measured)
        least = _least(known, question, rate.card, peak, seen)
        linked = _linked(known, question, rate.card, measured)
        most = min(sequences or inf, question.sequences, linked)
        if reason := _refusal(known, question, rate, cards, least, linked, sequences, without):
            refused[rate.card] = reason
            continue
        of = dollars.of_rows(offered.get(rate.card, ()), today, cards, least, most, without)
        ways = {way: [one for one in of if one.way == way] for way in WAYS}
        paid = (question.tokens, rate.low, rate.middle, rate.high, preemptions_per_hour)
        bills = {way: dollars.bill(offers, *paid) for way, offers in ways.items()}
        first = bills["on-demand"] or bills["market"]
        count = cards or (first.cheapest.all_cards if first else least)
        decides = False
        if owned and (own := owned.get(rate.card)):
            number_owned = own.enough(cards, least, min(most, MOST_CARDS), count)
            ways["owned"] = [own.offer(number_owned)] if number_owned else []
            bills["owned"] = dollars.bill(ways["owned"], *paid)
            decides = owned_decides and own.cards is not None
        bill = dollars.bill([*ways["on-demand"], *ways["owned"]], *paid) if decides else bills["on-demand"]
        fits = _memory(known, question, rate.card, count, peak, seen)
        off = None if rate.basis == "measured" else known.off_logs.get((rate.card, question.precision))
        about = {"host": known.cards[rate.card].get("host"), "off_logs": off}
        answers.append(_answer(rate, bills, question.tokens, count) | fits | about)
        if bill is not None:
            priced.append((place, answers[-1] | {"deciding": _bill(bill)}))
            costs.append(bill.usd)
            minutes.append(bill.cheapest.usd_of(_MINUTE))
    mine = {one["owned"]["cheapest"]["cards"] for one in answers if one["owned"] and owned and owned[one["card"]].cards}
    counts = [cards] if cards else sorted(mine)
    whole: dict[str, Any] = {
        "asked": {key: getattr(question, key) for key in _ASKED}
        | {"cards": cards, "sequences": sequences, "without": sorted({*without}), "owned_decides": owned_decides}
        | {"preemptions_per_hour": preemptions_per_hour}
        | {"measured": [_measured(one) for one in found.beside]},
        "beside": [one.line for one in found.beside],
        "assumed": [*question.assumed, *_assumed(question, cards, sequences)],
        "ways": [
            *([text("memory", over=f"{max(known.memory.over.values(), default=1):.2f}")] if answers else []),
            *(f"{of:,} cards: {line}" for of in counts for line in _so_many(question, of, sequences)),
            *([text("order")] if priced else []),
            *([text("links")] if any(one["cards"] > 1 for one in answers) else []),
            *_ways(answers, preemptions_per_hour, owned or {}, owned_decides),
            *_too_few(answers, cards, owned or {}),
        ],
        "answers": answers,
        "refused": [{"card": card, "reason": reason} for card, reason in refused.items()],
    }
    places = [place for place, _ in priced]
    covariance = found.covariance[np.ix_(places, places)]

    def lowest(way: str) -> dict[str, Any] | None:
        """Return the lowest bill of a way to buy, with what is to be known of its card."""
        bills = [
            one[way] | {key: one[key] for key in ("card", "basis", "host", "off_logs")} for one in answers if one[way]
        ]
        if not (low := min(bills, key=usd_of, default=None)):
            return None
        count = low["cheapest"]["cards"] * low["cheapest"]["machines"]
        seen = _seen(question, low["card"], measured)
        return low | {"fits": _memory(known, question, low["card"], count, peak, seen)["fits"]}

    others = {way: lowest(way) for way in ("spot", "market", "owned") if not (owned_decides and way == "owned")}
    asked_after = [one.point.card for one in found.beside if one.is_asked_after]
    whole["choice"] = verdict(
        [one for _, one in priced], np.array(costs), covariance, np.array(minutes), others, asked_after
    )
    whole["otherwise"] = None if priced or not answers else _otherwise(cards, without, others)
    expected = {
        one["card"]: usd * exp(covariance[at, at] / 2)
        for at, ((_, one), usd) in enumerate(zip(priced, costs, strict=True))
    }
    answers.sort(key=lambda one: expected.get(one["card"], inf))
    return whole


def _assumed(question: Question, cards: int | None, sequences: float | None) -> list[str]:
    step = f"{sequences:,.0f} sequences" if sequences else "one sequence a card at least"
    if of_step := sequences or cards:
        steps = f"{question.tokens // (of_step * question.length):,.0f}"
        step += f", {of_step * question.length:,.0f} tokens, so {'' if sequences else 'at most '}{steps} steps"
    return [
        f"a step: {step}",
        "a steady run: no start, failure, restart, evaluation or checkpoint is counted",
    ]


def _otherwise(cards: int | None, without: Collection[str], others: Mapping[str, Mapping[str, Any] | None]) -> str:
    """Return that no offer decides, and what other ways to buy come to."""
    what = "a card" if cards is None else "so many cards"
    left_out = f" (without {', '.join(sorted({*without}))})" if without else ""
    none = text("no offer", what=what, without=left_out, months=dollars.OLDEST_MONTHS)
    return " ".join([none, *elsewhere(others)])


def _so_many(question: Question, cards: int, sequences: float | None) -> list[str]:
    """Return what is said of more cards than tables have, or than leave a training steps enough."""
    lines = []
    of_step = cards * question.length
    if of_step * FEWEST_STEPS > question.tokens and question.task == "pretrain" and sequences is None:
        steps = f"{question.tokens // of_step:,.0f}"
        lines.append(text("few steps", steps=steps, of_step=f"{of_step:,.0f}", fewest=f"{FEWEST_STEPS:,}"))
    return lines + ([text("many cards", limit=f"{MOST_PRINTED:,}")] if cards > MOST_PRINTED else [])


def _ways(
    answers: Sequence[Mapping[str, Any]],
    preemptions_per_hour: float,
    owned: Mapping[str, Owned],
    owned_decides: bool,
) -> list[str]:
    """Return how what spot machines lose and what owned cards cost are reckoned, where either is answered."""
    lines = []
    if any(one["spot"] for one in answers):
        lines.append(
            f"spot: {preemptions_per_hour:g} preemptions an hour of each machine (--preemptions), one of several stops "
            f"all; a checkpoint takes {dollars.SAVE_SECONDS:g} s, at Young's interval, and a restart "
            f"{dollars.RESTART_SECONDS:g} s; waiting for a machine is not counted"
        )
    groups: dict[str, list[str]] = {}
    deciding: dict[str, bool] = {}
    for one in answers:
        if one["owned"]:
            of = owned[one["card"]]
            said = f"{one['card']} {number(of.usd_per_hour)} USD an hour ({of.reckoned})"
            groups.setdefault(of.source, []).append(said)
            deciding[of.source] = owned_decides and of.cards is not None
    return lines + [
        f"owned, {'deciding beside' if deciding[source] else 'apart from'} offers: {'; '.join(said)}; {source}"
        for source, said in groups.items()
    ]


def _too_few(answers: Sequence[Mapping[str, Any]], cards: int | None, owned: Mapping[str, Owned]) -> list[str]:
    """Return of which answered cards a person has too few."""
    short = [one["card"] for one in answers if one["card"] in owned and not one["owned"]]
    wanted = f"{cards} are asked for" if cards else "these do not hold the training"
    return [f"owned: {owned[card].cards} of {card} ({owned[card].source}), and {wanted}" for card in short]


def _memory_gb(known: Known, card: str) -> float:
    return float(known.cards[card]["memory_gb"])


def _own(question: Question, card: str, measured: Sequence[Point]) -> list[Point]:
    return [point for point in measured if (point.card, point.precision) == (card, question.precision)]


def _seen(question: Question, card: str, measured: Sequence[Point]) -> int | None:
    """Return on how few cards a person says that the training ran, None where nothing is said."""
    return min((point.cards for point in _own(question, card, measured) if point.cards), default=None)


def _kept(known: Known, question: Question, card: str) -> int:
    """Return how many cards hold what a training keeps."""
    return max(1, ceil(question.kept_gb / (ROOM * _memory_gb(known, card))))


def _least(known: Known, question: Question, card: str, peak: Peak | None, seen: int | None) -> int:
    """Return how many cards hold what a training keeps, or held what was measured or printed, whichever is less."""
    least = min(_kept(known, question, card), seen or MOST_CARDS)
    least = min(least, known.memory.fewest(question, known.memory_gb, card) or least)
    return min(least, peak.cards) if peak and _fits(known, card, peak.cards, peak) == "yes" else least


def _linked(known: Known, question: Question, card: str, measured: Sequence[Point]) -> float:
    """Return for how many cards together that holds which is said of one: where PCIe alone links them, for as many as
    a rate was measured on.
    """
    if known.cards[card]["link_gb_per_second"] > PCIE_GB_PER_SECOND:
        return inf
    return max((point.cards or 1 for point in _own(question, card, measured)), default=1)


def _refusal(
    known: Known,
    question: Question,
    rate: Rate,
    cards: int | None,
    least: int,
    linked: float,
    sequences: float | None,
    without: Collection[str],
) -> str:
    """Return why a card with a rate is not answered, empty if it is."""
    if rate.card in without:
        return text("left out")
    held = cards or least
    if rate.basis != "measured" and (
        out := known.memory.ran_out(question, known.askable, known.memory_gb, rate.card, held)
    ):
        return text(
            "ran out", model=out.model, tokens=f"{out.tokens:,.0f}", cards=out.cards, card=out.card, source=out.source
        )
    if held > linked:
        yours = text("of so many", of=linked) if rate.basis == "measured" else ""
        return text("PCIe", cards=f"{held:,}", yours=yours)
    if held > (most := min(sequences or inf, question.sequences)):
        of = "a step" if most == sequences else "the whole training"
        return text("few sequences", cards=held, of=of, sequences=f"{most:,.0f}")
    return _too_small(known, question, rate.card, least) if least > (cards or MOST_CARDS) else ""


def _too_small(known: Known, question: Question, card: str, least: int) -> str:
    return text(
        "too small", state=rounded(question.state_gb), bytes=f"{question.state_bytes:g}",
        sequence=rounded(question.sequence_gb), needed=least, memory=f"{_memory_gb(known, card):g}",
    )  # fmt: skip


def _measured(one: Beside) -> dict[str, Any]:
    point = one.point
    return {
        "card": point.card, "precision": point.precision, "cards": point.cards or 1,
        "tokens_per_second_per_card": point.rate, "without_it": one.said, "is_carried": not one.is_far,
    }  # fmt: skip


def _answer(rate: Rate, bills: Mapping[str, Bill | None], tokens: float, count: int) -> dict[str, Any]:
    seconds = [tokens / (one * count) for one in (rate.middle, rate.high, rate.low)]
    return {
        "card": rate.card,
        "tokens_per_second_per_card": {"low": rate.low, "middle": rate.middle, "high": rate.high},
        "basis": rate.basis,
        "rows_until": rate.rows_until or None,
        "rows_are_old": rate.is_old,
        "is_wide": rate.is_wide,
        "cards": count,
        "hours": {"low": seconds[1] / 3600, "middle": seconds[0] / 3600, "high": seconds[2] / 3600},
        **{way.replace("-", "_"): _bill(bill) for way, bill in bills.items()},
    }


def _fits(known: Known, card: str, count: int, peak: Peak | None) -> str:
    """Return whether what was measured fits in the memory of so many cards; of fewer nobody knows."""
    if peak is None or count < peak.cards:
        return "unknown"
    room = _memory_gb(known, card) * 1e9 / 2**20
    return "yes" if card == peak.card or peak.memory_mib * _MARGIN <= room else "not as measured"


def _memory(
    known: Known, question: Question, card: str, count: int, peak: Peak | None, seen: int | None
) -> dict[str, Any]:
    """Return the memory of all cards, what each takes of a fine-tuning by printed peaks, and whether that fits: where
    it is reckoned not to, a person who has `seen` it on so many cards is believed.
    """
    of, memory = known.memory, known.memory_gb[card]
    fits, each = _fits(known, card, count, peak), of.peak_gb(question, count)
    if fits == "unknown" and of.ran(question, known.memory_gb, card, count):
        fits = "printed"
    elif fits == "unknown" and each is not None:
        alone = of.peak_gb(question)
        if each > ROOM * memory / of.over[question.task]:
            fits = "may run out"
        elif alone is not None and alone <= ROOM * memory / of.over[question.task] and of.is_learnt(question):
            fits = "likely"
    is_denied = fits == "may run out" or (fits == "unknown" and count < _kept(known, question, card))
    if is_denied and seen and seen <= count:
        fits = "as you say"
    return {"fits": fits, "peak_gb": each, "memory_gb": count * memory}


def _bill(bill: Bill | None) -> dict[str, Any] | None:
    if bill is None:
        return None
    usd = {"low": bill.usd_low, "cheapest": bill.usd, "high": bill.usd_high}
    return {
        "usd": usd | {"median": bill.median_usd, "dearest": bill.dearest_usd},
        "hours": bill.seconds / 3600,
        "second": bill.second
        and {"provider": bill.second.provider, "region": bill.second.region, "usd": bill.second_usd},
        "offers": bill.offers,
        "cheapest": asdict(bill.cheapest),
    }
