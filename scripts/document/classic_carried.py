"""How far off a classic net's ratio of V100s to A100s is, with NVIDIA's tables beside Lambda's and without."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from statistics import median

from scripts.estimate import classic, nets

_Known = Mapping[tuple[str, str, str], float]
_BITS = {"float16": "16 bits", "float32": "32 bits"}
_MEASURED, _ASKED = "v100-16gb", "a100-80gb-sxm4"


@dataclass(frozen=True)
class _Case:
    net: str
    precision: str
    cards: int
    true: float

    @property
    def family(self) -> str:
        return nets.family(self.net)

    @property
    def kind(self) -> str:
        return nets.kind(self.net) if nets.kind(self.net) in nets.KINDS else "other"

    @property
    def machines(self) -> tuple[str, str]:
        many = f"-x{self.cards}" if self.cards > 1 else ""
        return _MEASURED + many, _ASKED + many


def _cases(lambdas: _Known, printed: Mapping[tuple[str, str, str, int], float]) -> Iterator[_Case]:
    """Yield each net on each V100 and A100 that one table prints with as many cards."""
    for (net, precision, old, cards), slow in printed.items():
        for new in nets.CARDS:
            fast = printed.get((net, precision, new, cards))
            if fast and (nets.CARDS[old], nets.CARDS[new]) == (_MEASURED, _ASKED) and cards <= nets.MOST_CARDS:
                yield _Case(net, precision, cards, fast / slow)
    for (net, precision, machine), rate in lambdas.items():
        card, _, count = machine.partition("-x")
        if card == _MEASURED and (fast := lambdas.get((net, precision, machine.replace(_MEASURED, _ASKED)))):
            yield _Case(net, precision, int(count or 1), fast / rate)


def _tried(cases: Sequence[_Case], tables: _Known) -> list[tuple[_Case, float, bool]]:
    """Return the cases that are answered from tables without their family, the error of each and whether it held."""
    found = []
    for case in cases:
        if said := classic.ratio(classic.without(tables, case.net), case.precision, *case.machines, case.net):
            found.append((case, log(said.middle / case.true), said.low <= case.true <= said.high))
    return found


def lines(lambdas: _Known, both: _Known, printed: Mapping[tuple[str, str, str, int], float]) -> list[str]:
    """Return a table (Markdown) of how far off ratios are from tables without the net's family."""
    cases = list(_cases(lambdas, printed))
    tried = {"both": _tried(cases, both), "Lambda's alone": _tried(cases, lambdas)}
    answered = {case for case, _, _ in tried["both"]}
    refused = [case for case in cases if case not in answered]
    families = sorted({case.family for case in cases}, key=str.casefold)
    half = families[::2]
    parts: dict[str, Callable[[_Case], bool]] = {
        "half of the families": lambda case: case.family in half,
        "the other half": lambda case: case.family not in half,
        "all": lambda case: True,
    }
    for kind, precision in product([*nets.KINDS, "other"], _BITS):
        parts[f"{kind}, {_BITS[precision]}"] = (
            lambda case, kind=kind, precision=precision: (case.kind, case.precision) == (kind, precision)  # type: ignore[misc]
        )
    said = [
        f"{len(answered):,} cases of {len({case.family for case in answered})} families, and {len(refused)} that are "
        f"refused ({', '.join(sorted({f'{case.kind}, {_BITS[case.precision]}' for case in refused}))}):",
        "",
        "| nets | cases | families | error | each family once | interval holds "
        "| by Lambda's tables alone | interval holds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, is_in in parts.items():
        ours, alone = ([one for one in of if one[0] in answered and is_in(one[0])] for of in tried.values())
        if ours:
            trials, other = (_trials(of) for of in (ours, alone))
            said.append(
                f"| {name} | {trials.cases} | {len({case.family for case, _, _ in ours})} "
                f"| {trials.median:.2f} / {trials.most:.2f} | {_once(ours):.2f} | {trials.held:.0%} "
                f"| {other.median:.2f} / {other.most:.2f} | {other.held:.0%} |"
            )
    return said


def _trials(tried: Sequence[tuple[_Case, float, bool]]) -> classic.Trials:
    return classic.Trials.of((case.family, error, held) for case, error, held in tried)


def _once(tried: Sequence[tuple[_Case, float, bool]]) -> float:
    """Return the median over families of the median of each."""
    errors: dict[str, list[float]] = {}
    for case, error, _ in tried:
        errors.setdefault(case.family, []).append(abs(error))
    return exp(median(median(of) for of in errors.values()))
