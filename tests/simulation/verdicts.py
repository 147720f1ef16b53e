"""What the rule of verdicts does on noise that is known: false alarms, gaps found, probabilities that come true.

    python -m tests.simulation.verdicts      (about two minutes; `make simulate` writes it into the docs too)

Two cells of one kind are drawn, once the same and once with one 20 % slower, and compared by the rule, as a page would.
The kinds: `real` resamples the runs of the project's own cells, smoothed; the others are made up, with scales that
scatter from cell to cell like the real ones. Every kind is tried with the noise of the project and with that of a page
of its own.
"""

import json
from collections.abc import Callable
from math import log
from pathlib import Path

import numpy as np
from rich.progress import track

from scripts.analysis import noise
from scripts.analysis.verdicts import Judge
from scripts.storage.axes import CELL
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "reports" / "verdicts.json"

GAP = log(1.2)
RUNS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)

#: Median and scatter (of the logarithm) of the standard deviations of made-up cells: those of the project's cells.
_SCALE, _SCATTER = 0.09, 0.5

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def own_cells() -> list[np.ndarray]:
    """Return the logarithms of the times of the project's own repeated cells, each about its median."""
    return [cell - np.median(cell) for cell in noise.own_cells()]


def real(cells: list[np.ndarray]) -> Draw:
    """Return what draws runs of one of these cells."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        cell = cells[rng.integers(len(cells))]
        width = 0.3 * cell.std(ddof=1) * len(cell) ** -0.2  # a smoothed bootstrap: runs repeat to the last digit never
        both = rng.choice(cell, (2, runs)) + width * rng.standard_normal((2, runs))
        return both[0], both[1]

    return draw


def _made(standard: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    def draw(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        scale = _SCALE * np.exp(_SCATTER * rng.standard_normal())
        return scale * standard(rng, runs), scale * standard(rng, runs)

    return draw


def _drifting(draw: Draw) -> Draw:
    """Add a drift over rounds that meets both cells, up to 4.5 % either way, as in the project's own runs."""

    def drawn(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        one, other = draw(rng, runs)
        drift = np.cumsum(0.02 * rng.standard_normal(runs))
        return one + drift - drift.mean(), other + drift - drift.mean()

    return drawn


def _two_humps(rng: np.random.Generator, runs: int) -> np.ndarray:
    return (1.9 * (rng.random(runs) < 0.35) + 0.35 * rng.standard_normal(runs)) / 0.97


def kinds() -> dict[str, Draw]:
    """Return the kinds of noise by name: each draws the logarithms of the runs of two identical cells."""
    resampled = real(own_cells())
    return {
        "real": resampled,
        "real, drifting": _drifting(resampled),
        "normal": _made(lambda rng, runs: rng.standard_normal(runs)),
        "heavy tails": _made(lambda rng, runs: rng.standard_t(3, runs) / 3**0.5),
        "two humps": _made(_two_humps),
        "slow outliers": _made(lambda rng, runs: rng.exponential(1.0, runs)),
    }


def told(judge: Judge, draw: Draw, runs: int, pairs: int, gap: float, seed: int = 0) -> float:
    """Return the share of pairs that are told apart, one of each slower by `gap` (of the logarithm)."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(pairs):
        one, other = draw(rng, runs)
        found += judge.compare(np.exp(one + gap), np.exp(other)).told
    return found / pairs


def calibration(judge: Judge, draw: Draw, runs: int, pairs: int, seed: int = 0) -> list[dict[str, float]]:
    """Return what was said of the next run of two cells at most 30 % or so apart, and how often it came true."""
    rng = np.random.default_rng(seed)
    said, true = np.empty(pairs), np.empty(pairs, bool)
    for i in range(pairs):
        one, other = draw(rng, runs + 1)
        one = one + rng.normal(0, 0.3)
        probability = judge.probability_less(np.exp(one[:-1]), np.exp(other[:-1]))
        assert probability is not None
        is_less = one[-1] < other[-1]
        said[i], true[i] = max(probability, 1 - probability), is_less == (probability >= 0.5)
    bins = ((0.5, 0.7), (0.7, 0.9), (0.9, 0.94), (0.94, 0.96), (0.96, 0.99), (0.99, 1.01))
    inside = [(said >= low) & (said < high) for low, high in bins]
    return [
        {"pairs": int(chosen.sum()), "said": float(said[chosen].mean()), "true": float(true[chosen].mean())}
        for chosen in inside
    ]


def halves(splits: int) -> dict[str, float]:
    """Return how often the runs of a cell of two-cores, split in two at random, are told apart by their page's rule."""
    runs = noise.measured()[noise.MEASURED[-1]]
    judge, rng = Judge.of(runs), np.random.default_rng(1)
    cells = [times.to_numpy() for _, times in runs.groupby(CELL, dropna=False)["train_seconds"]]
    found = 0
    for cell in cells:
        for _ in range(splits):
            order, half = rng.permutation(cell), len(cell) // 2
            found += judge.compare(order[:half], order[half:]).told
    return {"cells": len(cells), "splits": splits * len(cells), "told": found / (splits * len(cells))}


def judges() -> dict[str, Judge]:
    """Return the judges that are tried: by the project's noise, and by that of a page with many runs of its own."""
    rng = np.random.default_rng(1)
    cells = own_cells()
    page = [np.exp(rng.choice(cells[rng.integers(len(cells))], 6)) for _ in range(36)]
    own = noise.pooled(page, "a page's own runs")
    assert own is not None
    return {"project": Judge(noise.project()), "page": Judge(own)}


def main() -> None:
    pairs = 3000
    rows = [
        {
            "noise": by,
            "kind": kind,
            "runs": runs,
            "false_alarms": told(judge, draw, runs, pairs, 0.0, seed=runs),
            "found": told(judge, draw, runs, pairs, GAP, seed=100 + runs),
        }
        for by, judge in judges().items()
        for kind, draw in track(kinds().items(), f"verdicts by the noise of the {by}")
        for runs in RUNS
    ]
    judge, draw = judges()["project"], kinds()["real"]
    said = {str(runs): calibration(judge, draw, runs, 40_000, seed=runs) for runs in (6, 12)}
    found = {"pairs": pairs, "rows": rows, "calibration": said, "halves": halves(200)}
    write_text(OUTPUT, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
