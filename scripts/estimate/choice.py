"""Which card costs least, whether that is decided, and which one is worth a minute where it is not.

Costs are taken as lognormal around what the middle rate costs: what rates have in common (software, model, precision)
moves all of them alike and decides nothing between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from scripts.estimate.linear import MEASURED, Array
from scripts.estimate.trial import WIDTH

#: Equally likely outcomes of a minute that the mean fall in cost is taken over, and draws of all costs together.
_OUTCOMES = 401
_DRAWS = 20_000
_SEED = 20_261_125

#: Cards that are named to be measured.
MOST = 3

#: A minute is named where it is expected to save, beyond what it costs, a thousandth of the training and a dollar, what
#: a minute of a person is taken to cost (60 USD an hour).
LEAST_SHARE, LEAST_USD = 0.001, 1.0


@dataclass(frozen=True)
class Choice:
    """The card of the lowest expected cost, those that may be cheaper, and what a minute on each is expected to save.

    Cards are places in the costs given. `chances` are how often each costs least; `falls` are USD by card beyond
    what its minute costs, the highest first, and none that is not worth a person's time. `taken` is what is taken
    without a minute: the first that tables know, if they know any.
    """

    first: int
    taken: int
    rivals: list[int]
    chances: Array
    falls: dict[int, float]


def choose(usd: Array, covariance: Array, minutes: Array, unsure: Sequence[int] = ()) -> Choice:
    """Return what costs (USD at the middle rate) and the covariance of their rates' logarithms say.

    `minutes` is what a minute on each card costs (USD). What is `unsure`, as a data sheet alone speaks for it, is
    taken by nobody before a minute on it.
    """
    logs = np.log(usd)
    order = [int(place) for place in np.argsort(logs + np.diag(covariance) / 2)]
    first, known = order[0], [place for place in order if place not in unsure] or order
    variance = np.diag(covariance) + covariance[first, first] - 2 * covariance[first]
    within = logs - logs[first] - WIDTH * np.sqrt(np.maximum(variance, 0)) <= 0
    rivals = [place for place in np.argsort(logs) if within[place] and place != first]
    draws = np.random.default_rng(_SEED).multivariate_normal(logs, covariance, _DRAWS, method="eigh")
    chances = np.bincount(draws.argmin(axis=1), minlength=len(logs)) / _DRAWS
    found = {place: _fall(logs, covariance, place, known) - minutes[place] for place in range(len(logs))}
    least = max(LEAST_USD, LEAST_SHARE * float(usd[first]))
    worth = sorted((place for place in found if found[place] >= least), key=lambda place: -found[place])
    falls = {place: found[place] for place in worth}
    return Choice(first, known[0], [int(place) for place in rivals], chances, falls)


def is_below(usd: Array, covariance: Array, one: int, other: int) -> bool:
    """Return whether one card costs less than another, clearly at 80 %."""
    variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
    return bool(np.log(usd[one] / usd[other]) + WIDTH * np.sqrt(max(variance, 0)) < 0)


def _fall(logs: Array, covariance: Array, place: int, known: Sequence[int]) -> float:
    """Return by how much (USD) the cost of the choice is expected to fall when one card's rate is measured: of a choice
    among the `known`, and that card once it is measured.
    """
    noise = covariance[place, place] + MEASURED**2
    gain = covariance[:, place] / noise
    left = np.diag(covariance) - gain * covariance[place]
    sure = np.exp(logs + np.diag(covariance) / 2)[known].min()
    middles = (np.arange(_OUTCOMES) + 0.5) / _OUTCOMES
    seen = np.sqrt(noise) * np.array([NormalDist().inv_cdf(middle) for middle in middles])
    # In equal parts of a normal, whose ends are cut: the mean of each card's cost is kept by scaling it back.
    after = np.exp(logs + left / 2 + np.outer(seen, gain))
    after *= np.exp(logs + np.diag(covariance) / 2) / after.mean(axis=0)
    return float(sure - after[:, sorted({*known, place})].min(axis=1).mean())
