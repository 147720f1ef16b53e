"""What a net that is timed on one card takes on another: the ratio of both cards' speeds in tables of other nets.

The median over families of nets, each counted once, with an interval that is as wide as the ratios of families have
been off when each was left out (a conformal interval: Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random
World", 2005, section 2.2). A net that the tables hold has its own ratio in the middle.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, exp, hypot, log
from statistics import median
from typing import Any

#: Nets of one family are one witness.
FAMILIES = {
    "bert_base_squad": "bert",
    "bert_large_squad": "bert",
    "transformer_xl_base": "transformer-xl",
    "transformer_xl_large": "transformer-xl",
}

LEVEL = 0.8

#: A wider interval, a factor either way, is no answer: what is left are tables with a slip, or machines whose cards a
#: net does not fill. Narrower ones are answered as a range; of nets 1.6 would leave out most pairs of machines.
WIDEST = 2.5

#: Each of several cards is at most so many times as fast as one alone. What a table prints above that is a slip of it:
#: of 1,284 rows of several cards in Lambda's 28, which are 2.4 to 48 times as fast; the next ones are 1.9.
MOST_SCALING = 2.0

#: Fewer machines are no choice.
FEWEST_MACHINES = 8

#: By these rules: what the ratios come to, and the lowest price an hour.
PICK_RULES = ("ratios of the tables", "lowest price an hour")

#: Fewer families than these give no interval of that level.
FEWEST = 4


@dataclass(frozen=True)
class Ratio:
    """How many times as fast a card is as another: the middle, and between which an 80 % interval lies."""

    middle: float
    low: float
    high: float
    families: int


def rates(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], float]:
    """Return the median of the rates by (net, precision, machine), of rows of `workload`, `precision`, `hardware`,
    `devices` and `samples_per_second`, without `slips`.
    """
    rows = list(rows)
    known = _medians(rows)
    return _medians(row for row in rows if not _is_slip(row, known))


def slips(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of several cards that cannot be: each is more than `MOST_SCALING` times as fast as one alone."""
    rows = list(rows)
    known = _medians(rows)
    return [row for row in rows if _is_slip(row, known)]


def _is_slip(row: Mapping[str, Any], known: Mapping[tuple[str, str, str], float]) -> bool:
    count = int(row["devices"])
    one = known.get((row["workload"], row["precision"], row["hardware"].removesuffix(f"-x{count}")))
    if count == 1 or one is None or not row["samples_per_second"]:
        return False
    return float(row["samples_per_second"]) > MOST_SCALING * count * one


def _medians(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], float]:
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if row["samples_per_second"]:
            key = row["workload"], row["precision"], row["hardware"]
            found.setdefault(key, []).append(float(row["samples_per_second"]))
    return {key: median(values) for key, values in found.items()}


def ratio(
    known: Mapping[tuple[str, str, str], float], precision: str, measured: str, asked: str, net: str
) -> Ratio | None:
    """Return how many times as fast `asked` trains a net as `measured` does; None where too few families say, or where
    they differ too much. `net` is one of the tables, or any other name.
    """
    logs = _logs(known, precision, measured, asked)
    own = logs.pop(net, None)
    others = _of_families(logs, FAMILIES.get(net, net))
    if len(others) < FEWEST:
        return None
    if (reach := _reach(others)) > log(WIDEST):
        return None
    middle = median(others.values()) if own is None else own
    return Ratio(exp(middle), exp(middle - reach), exp(middle + reach), len(others) + (own is not None))


def is_decided(one: Ratio, one_usd: float, other: Ratio, other_usd: float) -> bool:
    """Return whether it is decided which of two machines costs less, at what (USD) their middle ratios come to.

    Both intervals are taken as independent. They are not quite: on Lambda's tables a twentieth of the errors that 80 %
    would allow are made (tests/estimate/test_classic.py), and far more is decided than by intervals that do not meet.
    """
    return abs(log(one_usd / other_usd)) > hypot(log(one.high / one.middle), log(other.high / other.middle))


@dataclass(frozen=True)
class Trials:
    """How far ratios were off for families of nets that were left out: factors (half, and nine in ten, are below), and
    how often their intervals held, each net counted once.
    """

    cases: int
    median: float
    most: float
    held: float


def trials(known: Mapping[tuple[str, str, str], float]) -> Trials:
    """Return how good the ratios are from each machine to each other one, without the net's own family."""
    errors: list[float] = []
    held: dict[str, list[bool]] = {}
    nets, precisions, cards = (sorted({key[axis] for key in known}) for axis in range(3))
    for net in nets:
        left = {key: rate for key, rate in known.items() if FAMILIES.get(key[0], key[0]) != FAMILIES.get(net, net)}
        for precision, measured, asked in product(precisions, cards, cards):
            if measured == asked or not {(net, precision, measured), (net, precision, asked)} <= known.keys():
                continue
            if found := ratio(left, precision, measured, asked, ""):
                true = known[net, precision, asked] / known[net, precision, measured]
                errors.append(abs(log(found.middle / true)))
                held.setdefault(net, []).append(found.low <= true <= found.high)
    errors.sort()
    shares = [sum(of) / len(of) for of in held.values()]
    nine = errors[ceil(0.9 * len(errors)) - 1]
    return Trials(len(errors), exp(median(errors)), exp(nine), sum(shares) / len(shares))


def picks(
    known: Mapping[tuple[str, str, str], float], usd_per_hour: Mapping[str, float]
) -> Iterator[tuple[str, int, dict[str, tuple[int, float]]]]:
    """Yield how well the cheapest machine is found for each net, precision and machine that it was timed on.

    The net's family is left out of the tables. Each case: the net, how many machines there were (`FEWEST_MACHINES` or
    more, by `usd_per_hour`), and of each rule of `PICK_RULES` the place (from 1) that the truly cheapest one had and
    what its first one costs over it, minus 1.
    """
    nets, precisions = ({key[axis] for key in known} for axis in range(2))
    for net, precision in product(sorted(nets), sorted(precisions)):
        left = {key: rate for key, rate in known.items() if FAMILIES.get(key[0], key[0]) != FAMILIES.get(net, net)}
        timed = sorted(card for card in usd_per_hour if (net, precision, card) in known)
        true = {card: usd_per_hour[card] / known[net, precision, card] for card in timed}
        for measured in timed:
            ratios = {card: ratio(left, precision, measured, card, "") for card in timed if card != measured}
            said = {card: usd_per_hour[card] / found.middle for card, found in ratios.items() if found}
            said[measured] = usd_per_hour[measured]
            if len(said) < FEWEST_MACHINES:
                continue
            cheapest = min(said, key=true.__getitem__)
            found_by: dict[str, tuple[int, float]] = {}
            for rule, costs in zip(PICK_RULES, (said, {card: usd_per_hour[card] for card in said}), strict=True):
                order = sorted(costs, key=lambda card: costs[card])
                found_by[rule] = 1 + order.index(cheapest), true[order[0]] / true[cheapest] - 1
            yield net, len(said), found_by


def _logs(known: Mapping[tuple[str, str, str], float], precision: str, measured: str, asked: str) -> dict[str, float]:
    return {
        net: log(rate / known[net, precision, measured])
        for (net, of, card), rate in known.items()
        if of == precision and card == asked and (net, precision, measured) in known
    }


def _of_families(logs: Mapping[str, float], but: str) -> dict[str, float]:
    families: dict[str, list[float]] = {}
    for net, value in logs.items():
        if (family := FAMILIES.get(net, net)) != but:
            families.setdefault(family, []).append(value)
    return {family: median(values) for family, values in families.items()}


def _reach(families: Mapping[str, float]) -> float:
    """Return how far off the median of the others is for a family, at the level of the interval."""
    off = sorted(
        abs(value - median(other for name, other in families.items() if name != family))
        for family, value in families.items()
    )
    return off[min(ceil(LEVEL * (len(off) + 1)), len(off)) - 1]
