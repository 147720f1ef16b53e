"""How much two runs of one cell differ: what a verdict must see past.

Cells differ in how noisy they are. What is known of a page's cells together is a prior for each of them: variances of
the logarithm of time scatter around `variance` like a scaled inverse chi-squared distribution with `degrees` degrees of
freedom (Smyth, "Linear models and empirical Bayes methods", 2004, section 6.2, formulas for d0 and s0). A cell with few
runs is judged by the prior, one with many by itself.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from scripts.records import known_noise
from scripts.storage.axes import CELL
from scripts.storage.numbers import TIE

#: The kind of machine that these are: cores that others share. And entries of how far machines, and days, lie apart.
SHARED_CORES, MACHINES, DAYS = "shared cores", "machines", "days"

#: The entry of how far off is what is extrapolated, once that is measured.
SCALE_UPS = "scale-ups"

#: So many cells, and runs beyond the first of each, give the noise of a page by themselves (docs/measuring.md).
_CELLS, _DEGREES = 20, 100

#: Of fewer, the variance of a page noisier than the project's is taken from the upper end of what it may be.
_UPPER = 0.9


@dataclass(frozen=True)
class Noise:
    """Variance of the logarithm of one run's time, with the degrees of freedom by which it holds for a cell.

    `runs` and `cells` are those it was pooled from, `of` whose they are: words that follow "pooled from". Of 0 degrees
    nothing is known: a cell is judged by its own runs alone.
    """

    variance: float
    degrees: float
    runs: int
    cells: int
    of: str

    @property
    def percent(self) -> float:
        """The standard deviation of one run of a usual cell, in percent of its time."""
        return 100 * (exp(self.variance**0.5) - 1)

    @property
    def gap(self) -> float:
        """The least gap of medians that is a difference: 5 %, or five standard deviations of a run where they are less.

        Never below `LEAST_GAP`: what a machine's sittings do is not in the noise of one.
        """
        return max(LEAST_GAP, min(TIE, 0.05 * self.percent)) if self.degrees else TIE

    def variance_of(self, runs: np.ndarray) -> tuple[float, float]:
        """Return the variance of one of a cell's runs (an array of logarithms), and its degrees of freedom.

        What is known of such cells has the weight of `degrees` runs, unless the cell's own runs differ by more.
        """
        own = len(runs) - 1
        if self.degrees == inf:
            return self.variance, inf
        if not self.degrees + own:
            return inf, 0.0
        squares = float(((runs - runs.mean()) ** 2).sum())
        variance = (self.degrees * self.variance + squares) / (self.degrees + own)
        return max(variance, squares / own) if len(runs) >= THREE else variance, self.degrees + own


#: Below so many runs a cell says nothing of its own noise, and its runs count as one.
THREE = 3

#: The least gap that is a difference on any machine.
LEAST_GAP = 0.005

#: Of a machine whose kind nobody has measured.
UNKNOWN = Noise(0.0, 0.0, 0, 0, "nothing that is known of such machines")


def logarithms(values: Any) -> np.ndarray:
    """Return the logarithms of values; what is missing, infinite or not above 0 is left out."""
    array = np.asarray(values, dtype=float).ravel()
    found: np.ndarray = np.log(array[np.isfinite(array) & (array > 0)])
    return found


def fit(variances: Sequence[float], degrees: Sequence[int]) -> tuple[float, float]:
    """Return the prior variance and its degrees of freedom, from sample variances of at least two cells.

    Moments of log variances (Smyth 2004, section 6.2). Infinite degrees where the cells differ by no more than chance.
    """
    found, of = np.asarray(variances, dtype=float), np.asarray(degrees, dtype=float)
    logs = np.log(found) - special.digamma(of / 2) + np.log(of / 2)
    scatter = float(np.var(logs, ddof=1) - np.mean(special.polygamma(1, of / 2)))
    if scatter <= 0:
        return exp(float(np.mean(logs))), inf
    from scipy.optimize import brentq  # takes a third of a second, and few pages have runs to fit

    prior = 2 * float(brentq(lambda half: special.polygamma(1, half) - scatter, 1e-3, 1e9))
    return exp(float(np.mean(logs)) + special.digamma(prior / 2) - np.log(prior / 2)), prior


def repeated(cells: Iterable[Any]) -> list[np.ndarray]:
    """Return the logarithms of the values of each cell that has several, which are not all the same."""
    logs = (logarithms(values) for values in cells)
    return [one for one in logs if len(one) > 1 and np.ptp(one) > 0]


def pooled(cells: Iterable[Any], of: str) -> Noise | None:
    """Return the noise of cells with several values each, None with too few to know the scatter of variances."""
    logs = repeated(cells)
    if len(logs) < 2:
        return None
    variance, degrees = fit([one.var(ddof=1) for one in logs], [len(one) - 1 for one in logs])
    return Noise(variance, degrees, sum(map(len, logs)), len(logs), of)


def of_tables(tables: Iterable[pd.DataFrame]) -> list[np.ndarray]:
    """Return the logarithms of the times of each repeated cell; one that is in two of the tables is two."""
    cells = (values for runs in tables for _, values in runs.groupby(CELL, dropna=False)["train_seconds"])
    return repeated(list(values) for values in cells)


def known(kind: str) -> Noise:
    """Return the noise of a kind of machine, `UNKNOWN` where nobody has measured it."""
    about = known_noise.by_kind().get(kind)
    return Noise(*(about[key] for key in ("variance", "degrees", "runs", "cells", "of"))) if about else UNKNOWN


def project() -> Noise:
    """Return the noise of the project's own repeated runs, on shared cores."""
    return known(SHARED_CORES)


def between_machines() -> tuple[float, float]:
    """Return the variance of the logarithm of time between two machines of one kind, and its degrees of freedom."""
    about = known_noise.by_kind()[MACHINES]
    return about["variance"], about["degrees"]


def days() -> tuple[float, float]:
    """Return the assumed variance of the logarithm of time between days, and with the weight of how many it counts."""
    about = known_noise.by_kind()[DAYS]
    return about["variance"], about["degrees"]


def scale_ups() -> dict[str, dict[str, float]]:
    """Return what measured scale-ups came to by the part of the samples (`scale_ups.Error`); empty without any."""
    found: dict[str, dict[str, float]] = known_noise.by_kind().get(SCALE_UPS, {}).get("parts", {})
    return found


def kind(cpu_model: Any, gpu_model: Any) -> str:
    """Return the kind of a machine from what a run found there: `SHARED_CORES`, "8 x H100"; empty for a log of others.

    A card that other programs were measured on by other numbers (one of eight) is a kind of its own.
    """
    if not pd.isna(gpu_model) and gpu_model:
        models = [re.sub(r"^NVIDIA ", "", model).split()[0] for model in str(gpu_model).split(", ")]
        return f"{len(models)} x {models[0]}"
    return "" if pd.isna(cpu_model) else SHARED_CORES


def of_runs(runs: pd.DataFrame) -> dict[str, Noise]:
    """Return the noise by which the runs of a page are judged, by machine (`hardware`).

    Machines of one kind share it: that of their own runs, or with too few of them what is known of the kind. A page
    that is noisier than that by what few repeats it has is judged by its own, taken at the upper end of what it may be.
    Simulated in tests/analysis/test_verdicts.py.
    """
    kinds: dict[str, list[str]] = {}
    for hardware, rows in runs.groupby("hardware", sort=False):
        found = {kind(*models) for models in zip(rows["cpu_model"], rows["gpu_model"], strict=True)}
        kinds.setdefault(found.pop() if len(found) == 1 else "", []).append(str(hardware))
    noises: dict[str, Noise] = {}
    for name, some in kinds.items():
        noise = _of_kind(runs[runs["hardware"].isin(some)], known(name))
        noises |= dict.fromkeys(some, noise)
    return noises


def _of_kind(runs: pd.DataFrame, known: Noise) -> Noise:
    done = runs[runs["status"] == "done"]
    # A table of rates alone says as much: what varies are logarithms.
    seconds = done["train_seconds"].fillna(1 / done["samples_per_second"].astype("Float64"))
    timed = done.assign(seconds=seconds).dropna(subset="seconds")
    cells = [list(values) for _, values in timed.groupby(CELL, sort=False, dropna=False)["seconds"]]
    logs = repeated(cells)
    degrees = sum(len(one) - 1 for one in logs)
    if len(logs) >= _CELLS and degrees >= _DEGREES and (own := pooled(cells, "this page's own runs")):
        return own
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in logs)
    usual = known.variance * known.degrees / max(known.degrees - 2, 1e-9)
    if known.degrees and degrees and squares / degrees > usual:
        chi_squared = float(2 * special.gammaincinv(degrees / 2, 1 - _UPPER))
        upper = squares / chi_squared
        return Noise(
            known.variance * upper / usual, known.degrees, sum(map(len, logs)), len(logs), "this page's own runs"
        )
    return known
