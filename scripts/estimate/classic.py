"""What a net that is timed on one card takes on another: the ratio of both cards' speeds in tables of other nets.

The median over families of nets, each counted once: those of the net's kind, where enough are timed on both, or all of
them. The interval is as wide as the ratios of families have been off when each was left out (a conformal interval:
Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005, section 2.2). A net that the tables hold has
its own ratio in the middle.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product
from math import ceil, exp, hypot, log
from statistics import median
from typing import Any

from scripts.estimate.nets import family, kind

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

#: Fewer families of its kind say less of a net than all families do.
FEWEST_ALIKE = 2

#: Kind and precision of nets that no answer is given for between a V100 and newer cards: by how much these differ
#: there hangs on software and batch more than on the cards.
REFUSED = (("depthwise", "float16"), ("depthwise", "float32"), ("recommender", "float32"))


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
    """Return how many times as fast `asked` trains a net as `measured` does; None where too few families say, where
    they differ too much, or where it is `REFUSED`. `net` is one of the tables, a kind of net, or any other name.
    """
    logs = _logs(known, precision, measured, asked)
    own = logs.pop(net, None)
    others = _of_families(logs, family(net))
    if len(others) < FEWEST or (own is None and _is_refused(net, precision, measured, asked)):
        return None
    if (reach := _reach(others)) > log(WIDEST):
        return None
    middle = _middle(others, kind(net)) if own is None else own
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
    how often their intervals held, each family counted once.
    """

    cases: int
    median: float
    most: float
    held: float

    @classmethod
    def of(cls, found: Iterable[tuple[str, float, bool]]) -> "Trials":
        """Return that of the family, the error (as a logarithm) and whether the interval held, of each case."""
        found = list(found)
        errors = sorted(abs(error) for _, error, _ in found)
        held: dict[str, list[bool]] = {}
        for of, _, holds in found:
            held.setdefault(of, []).append(holds)
        nine = errors[ceil(0.9 * len(errors)) - 1]
        shares = [sum(each) / len(each) for each in held.values()]
        return cls(len(errors), exp(median(errors)), exp(nine), sum(shares) / len(shares))


def without(known: Mapping[tuple[str, str, str], float], net: str) -> dict[tuple[str, str, str], float]:
    """Return the rates of nets of other families."""
    return {key: rate for key, rate in known.items() if family(key[0]) != family(net)}


def trials(known: Mapping[tuple[str, str, str], float]) -> Trials:
    """Return how good the ratios are from each machine to each other one, without the net's own family."""
    found: list[tuple[str, float, bool]] = []
    nets, precisions, cards = (sorted({key[axis] for key in known}) for axis in range(3))
    for net in nets:
        left = without(known, net)
        for precision in precisions:
            timed = [card for card in cards if (net, precision, card) in known]
            for measured, asked in permutations(timed, 2):
                if said := ratio(left, precision, measured, asked, net):
                    true = known[net, precision, asked] / known[net, precision, measured]
                    found.append((family(net), log(said.middle / true), said.low <= true <= said.high))
    return Trials.of(found)


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
        left = without(known, net)
        timed = sorted(card for card in usd_per_hour if (net, precision, card) in known)
        true = {card: usd_per_hour[card] / known[net, precision, card] for card in timed}
        for measured in timed:
            ratios = {card: ratio(left, precision, measured, card, net) for card in timed if card != measured}
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
        if family(net) != but:
            families.setdefault(family(net), []).append(value)
    return {name: median(values) for name, values in families.items()}


def _middle(families: Mapping[str, float], of_kind: str) -> float:
    """Return the median of the families of a kind, or of all where these are too few."""
    alike = [value for name, value in families.items() if kind(name) == of_kind]
    return median(alike if len(alike) >= FEWEST_ALIKE else families.values())


def _reach(families: Mapping[str, float]) -> float:
    """Return how far off the middle of the others is for a family, at the level of the interval."""
    off = sorted(
        abs(value - _middle({other: at for other, at in families.items() if other != name}, kind(name)))
        for name, value in families.items()
    )
    return off[min(ceil(LEVEL * (len(off) + 1)), len(off)) - 1]


def _is_refused(net: str, precision: str, measured: str, asked: str) -> bool:
    return (kind(net), precision) in REFUSED and measured.startswith("v100") != asked.startswith("v100")
