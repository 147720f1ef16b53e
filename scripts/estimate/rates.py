"""How fast a training is on each card, with an interval that trials have widened, or why that is not answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import ceil, exp, log, sqrt

import numpy as np

from scripts.estimate import ceiling, linear
from scripts.estimate.known import Known
from scripts.estimate.points import OTHER, Point, software_on
from scripts.estimate.question import Question
from scripts.estimate.reasons import text
from scripts.estimate.trial import WIDTH
from scripts.storage.numbers import rounded

#: An interval that is wider than the first, a factor either way, is said to be wide; one that is wider than the second
#: says nothing that is worth an answer.
WIDE, WIDEST = 1.6, 2.0

#: A printed rate of this model on this card is of another machine (1.16 at the 90th percentile, of eight cards) and of
#: another release (1.12): the standard deviation of its logarithm.
PRINTED_ELSEWHERE = 0.11

#: Cards of one machine that PCIe alone links (its fifth generation, x16, both ways): no table has a language model on
#: several of these, and the model of speeds knows nothing of links.
PCIE_GB_PER_SECOND = 128.0

#: Of a card that is so linked and in no table of speed the data sheet says less than of those that trials left out, all
#: of which have HBM: the standard deviation of a logarithm with which an L40S, said to be as fast as an A100,
#: may be as slow as its sister was timed (RTX 6000 Ada, .66 in the median of Lambda's transformers).
UNLIKE = 0.3

#: No printed row is off by such a factor from what is said of it, whatever trials leave out (2.99 at most). What slows
#: a training by more, or what else its rate counts, no row says of another card: such a rate is of its own card alone.
FARTHEST = 3.0

#: A rate that is off by less is what would be said without it.
SAME = 1.05

#: What an answer rests on: a rate of the person's own on this card; a printed row of this model on this card in this
#: precision; other models on it in this precision; in other precisions alone; what its maker says.
BASES = ("measured", "tables, this model", "tables", "tables, other precision", "data sheet only")


@dataclass(frozen=True)
class Rate:
    """Tokens a second and card: the middle, and the ends of the 80 % interval; what that rests on.

    `rows_until` is when the newest row of this card and kind was printed, empty without one. `is_wide` says that the
    interval is, before what the card cannot reach was cut off.
    """

    card: str
    low: float
    middle: float
    high: float
    basis: str
    rows_until: str
    is_old: bool
    is_wide: bool


@dataclass(frozen=True)
class Beside:
    """A rate of the person's own, what would be said of it without (tokens a second and card), and what that rests on.

    `share` is that of the card's peak that the rate comes to.
    """

    point: Point
    said: float
    basis: str
    share: float

    @property
    def is_far(self) -> bool:
        """Whether no printed row is as far from what is said of it."""
        return abs(log(self._times)) > log(FARTHEST)

    @property
    def is_near_the_peak(self) -> bool:
        """Whether no printed row is as near its peak."""
        return self.share > ceiling.MOST_OF_PEAK

    @property
    def is_asked_after(self) -> bool:
        """Whether it may well be a slip: what follows from it decides nothing."""
        return self.is_far or self.is_near_the_peak

    @property
    def _times(self) -> float:
        return (self.point.rate or 0) / self.said

    @property
    def _off(self) -> dict[str, str]:
        side = "above" if self._times >= 1 else "below"
        return {"card": self.point.card, "factor": rounded(max(self._times, 1 / self._times)), "side": side}

    @property
    def line(self) -> str:
        """Both figures, and what is to be asked of a rate that no printed one is like."""
        key = "beside" if abs(log(self._times)) > log(SAME) else "as said"
        rate, said = rounded(self.point.rate), rounded(self.said)
        found = [text(key, **self._off, rate=rate, precision=self.point.precision, said=said, basis=self.basis)]
        if self.is_near_the_peak:
            most = f"{100 * ceiling.HIGHEST_PRINTED:g} %"
            asked = text("near the peak", share=f"{100 * self.share:.0f} %", most=most)
            found.append(
                asked if self.is_far else f"{asked} {text('capped', limit=f'{100 * ceiling.MOST_OF_PEAK:.0f} %')}"
            )
        return ". ".join(found + ([text("far", limit=f"{FARTHEST:g}")] if self.is_far else []))

    @property
    def not_carried(self) -> str:
        """Why no other card is answered from it; empty if one is."""
        return text("not carried", **self._off) if self.is_far else ""


@dataclass(frozen=True)
class Rates:
    """Answers by card, the covariance of the logarithms of their rates, and reasons of the cards that have none.

    `beside` are the person's own rates, each beside what would be said without it.
    """

    answers: list[Rate]
    covariance: linear.Array
    refused: dict[str, str]
    beside: list[Beside] = field(default_factory=list)


def rates(known: Known, question: Question, measured: Sequence[Point], today: date) -> Rates:
    """Return what is to be said of each card. `measured` are the person's own rates of the same training."""
    refused = {card: why for card in known.cards if (why := _refusal(known, question, measured, card))}
    measured = [_known_by(known, point) for point in measured]
    fitted = linear.fit([point for point in known.points if point.model != question.model], known.cards)
    alone = [_alone(known, fitted, question, point, today) for point in measured]
    beside = [_beside(known, point, one) for point, one in zip(measured, alone, strict=True)]
    given = {point.card: point.rate for point in measured if point.precision == question.precision}
    if why := next((one.not_carried for one in beside if one.is_far), ""):
        refused |= {card: why for card in known.cards if card not in refused and card not in given}
    asked = [_known_by(known, question.on(card)) for card in known.cards if card not in refused]
    if not asked:
        return Rates([], np.zeros((0, 0)), refused, beside)
    carried = [_carried(known, one.point, of) for one, of in zip(beside, alone, strict=True)]
    expected, covariance, bases, until, ageing = _expected(known, fitted, question, asked, measured, carried, today)
    # What a person measured is said as given: what tables know of its like moves other cards alone.
    expected = np.array(
        [log(rate) if (rate := given.get(p.card)) else one for p, one in zip(asked, expected, strict=True)]
    )
    # The interval of a rate that is above what any row reaches goes down to that.
    above = [max(0.0, log(given.get(p.card) or 1) - ceiling.of_rate(p, known.cards)) for p in asked]
    covariance += np.diag([(one / WIDTH) ** 2 for one in above])
    kept, answers, times = [], [], []
    for place, (point, middle) in enumerate(zip(asked, expected, strict=True)):
        deviation = sqrt(covariance[place, place])
        if exp(WIDTH * deviation) > WIDEST:
            is_old = until[place] if ageing[place] else ""
            refused[point.card] = _too_wide(exp(WIDTH * deviation), is_old, question.is_named)
            continue
        if bases[place] == "measured":
            found: ceiling.Below | None = ceiling.up_to(middle, deviation, ceiling.of_rate(point, known.cards, 1.0))
        else:
            found = ceiling.below(middle, deviation, ceiling.of_rate(point, known.cards))
        if found is None:
            share_of_peak = f"{ceiling.MOST_OF_PEAK:.0%}"
            refused[point.card] = text("above the peak", rate=f"{exp(middle):,.0f}", share=share_of_peak)
            continue
        kept.append(place)
        times.append(found.times)
        ends = (exp(found.low), exp(found.middle), exp(found.high))
        is_wide = exp(WIDTH * deviation) > WIDE
        answers.append(Rate(point.card, *ends, bases[place], until[place], ageing[place] > 0, is_wide))
    return Rates(answers, covariance[np.ix_(kept, kept)] * np.outer(times, times), refused, beside)


def _known_by(known: Known, point: Point) -> Point:
    """Return a point as tables know it: what software does on a TPU says nothing of it on a GPU."""
    return point if point.software in software_on(known.points, point.card) else replace(point, software=OTHER)


@dataclass(frozen=True)
class _Alone:
    """What is said of a card without a rate of the person's own: the logarithm that the model expects, and the middle
    that is left of it below what the card can reach.
    """

    expected: float
    middle: float


def _alone(known: Known, fitted: linear.Fitted, question: Question, point: Point, today: date) -> _Alone:
    of = replace(question, precision=point.precision)
    (expected,), ((variance,),), *_ = _expected(known, fitted, of, [point], [], [], today)
    limit = ceiling.of_rate(point, known.cards)
    found = ceiling.below(expected, sqrt(variance), limit)
    return _Alone(expected, found.middle if found else limit)


def _beside(known: Known, point: Point, alone: _Alone) -> Beside:
    """Return a rate of the person's own beside what is said of its card without it."""
    share = exp(point.tflops) / known.cards[point.card]["peak_tflops"][point.precision]
    return Beside(point, exp(alone.middle), _basis(known, point, []), share)


def _carried(known: Known, point: Point, alone: _Alone) -> Point:
    """Return a rate of the person's own as other cards follow from it: of no more of the peak than rows reach, and as
    far from what the model expects as it is from what is said, which the card can reach.
    """
    assert point.rate is not None
    rate = min(log(point.rate), ceiling.of_rate(point, known.cards))
    return replace(point, rate=exp(rate - alone.middle + alone.expected))


def _expected(
    known: Known,
    fitted: linear.Fitted,
    question: Question,
    asked: Sequence[Point],
    measured: Sequence[Point],
    carried: Sequence[Point],
    today: date,
) -> tuple[linear.Array, linear.Array, list[str], list[str], list[float]]:
    """Return the logarithms that the model expects of points, and their covariance, as trials have widened it; what
    each rests on, when the newest row of its card was printed, and what the age of that adds to the variance.

    The person's own rates are `measured`, and `carried` as others follow from them.
    """
    own = [point for point in known.points if point.model == question.model]
    expected, covariance = linear.joint(fitted, asked, [*own, *carried])
    bases = [_basis(known, point, measured) for point in asked]
    until = [_until(known, point) for point in asked]
    ageing = [
        0.0 if base == "measured" else known.aged(question.kind, day, today)
        for base, day in zip(bases, until, strict=True)
    ]
    alike = {
        point.card: [*measured, *(one for one in own if one.software == point.software != OTHER)] for point in asked
    }
    factors = np.array(
        [
            _factor(known, question, point, base, alike[point.card], bool(measured))
            for point, base in zip(asked, bases, strict=True)
        ]
    )
    elsewhere = [PRINTED_ELSEWHERE**2 * (base == "tables, this model") for base in bases]
    unlike = [
        UNLIKE**2 * (base == "data sheet only" and known.cards[point.card]["link_gb_per_second"] <= PCIE_GB_PER_SECOND)
        for point, base in zip(asked, bases, strict=True)
    ]
    covariance = covariance * np.outer(factors, factors) + np.diag(ageing) + np.diag(elsewhere) + np.diag(unlike)
    return expected, covariance, bases, until, ageing


def _too_wide(factor: float, old_rows: str, is_named: bool) -> str:
    why = text("old rows", until=old_rows) if old_rows else ""
    or_name = "" if is_named else text("name the software")
    return text("too wide", factor=f"{ceil(factor * 100) / 100:.2f}", widest=f"{WIDEST:g}", why=why, or_name=or_name)


def _refusal(known: Known, question: Question, measured: Sequence[Point], card: str) -> str:
    """Return why a card is not answered, empty if it is."""
    peaks = known.cards[card]["peak_tflops"]
    if question.precision not in peaks:
        return text("precision", precision=question.precision, has=", ".join(peaks))
    if any((point.card, point.precision) == (card, question.precision) for point in measured):
        return ""
    if question.kind == "moe" and question.precision == "nvfp4":
        return text("nvfp4")
    if question.kind == "moe" and not _rows(known, question.on(card)):
        return text("no experts")
    if card.startswith("TPU") and question.on(card).task == "lora" and not has_adapters_on_tpu(known.points):
        return text("adapters on TPU")
    if question.is_named and card.startswith("TPU") and question.software not in software_on(known.points, card):
        name = "the software named" if question.software == OTHER else question.software
        return text("software on TPU", software=name)
    return ""


def has_adapters_on_tpu(points: Sequence[Point]) -> bool:
    """Return whether LoRA is printed of any TPU: what it saves of a step is known of GPUs alone otherwise."""
    return any(point.task == "lora" and point.card.startswith("TPU") for point in points)


def _rows(known: Known, asked: Point) -> list[Point]:
    return [point for point in known.points if (point.card, point.kind) == (asked.card, asked.kind)]


def _until(known: Known, asked: Point) -> str:
    return max((point.published for point in _rows(known, asked)), default="")


def _basis(known: Known, asked: Point, measured: Sequence[Point]) -> str:
    if any((point.card, point.precision) == (asked.card, asked.precision) for point in measured):
        return "measured"
    rows = _rows(known, asked)
    same = [point for point in rows if point.precision == asked.precision]
    if any(point.model == asked.model for point in same):
        return "tables, this model"
    return "tables" if same else "tables, other precision" if rows else "data sheet only"


def _factor(
    known: Known, question: Question, asked: Point, basis: str, alike: Sequence[Point], is_measured: bool
) -> float:
    """Return by how much an interval is widened: the most that trials found where as much is missing.

    `alike` are rates of the same model with the same software, measured or printed.
    """
    if basis == "measured":
        return 1.0
    missing = []
    if alike:
        is_same = any(point.precision == question.precision for point in alike)
        # Of mixtures of experts the factor of another card alone is too small: few of them are printed on several.
        is_same = is_same and question.kind == "dense"
        missing.append("another card" if is_same else "another card and precision")
        if all(point.length != question.length for point in alike):
            missing.append("another length")
    else:
        missing.append("its model" if question.family else "its family")
        if basis == "tables, other precision":
            missing.append("its precision on its card, and its model")
    if basis == "data sheet only":
        missing.append("its card, and its model")
    if asked.software == OTHER and not is_measured:
        missing.append("its software, and its model")
    return max(known.factors[one][question.kind] for one in missing)


def digits_within(low: float, high: float) -> int:
    """Return how many digits of a number an interval bears: two, and three where its ends lie within a quarter."""
    return 3 if high <= 1.25 * low else 2
