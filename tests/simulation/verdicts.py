"""What the rule of verdicts does on noise that is known: false alarms, gaps found, probabilities that come true.

    python -m tests.simulation.verdicts      (about ten minutes; `make simulate` writes it into the docs too)

Two cells of one kind are drawn, each with a noise of its own, once as fast and once with one 20 % slower, and compared
by the rule, as a page would. The kinds: `real` resamples the runs of the project's own cells, smoothed; the others are
made up, with scales that scatter from cell to cell like the real ones. Every kind is tried with the noise of the
project, with that of a page of its own, and where nothing is known of such machines. Pages are tried whole: of a
hundred cells forty are equally fast and the fastest, and a page errs that calls one of these slower than its fastest.
"""

import json
from collections.abc import Callable
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
from rich.progress import track

from scripts.analysis import noise, summary
from scripts.analysis.verdicts import Judge
from scripts.document import noise as known_noise
from scripts.storage import tables
from scripts.storage.axes import CELL
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "reports" / "verdicts.json"

GAP = log(1.2)
RUNS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)

#: Of machines of eight cards, whose runs differ by a thousandth.
SMALL_GAP = log(1.01)

#: Median and scatter (of the logarithm) of the standard deviations of made-up cells: those of the project's cells.
_SCALE, _SCATTER = 0.09, 0.5

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def own_cells() -> list[np.ndarray]:
    """Return the logarithms of the times of the project's own repeated cells, each about its median."""
    return [cell - np.median(cell) for cell in noise.of_tables(known_noise.measured().values())]


def real(cells: list[np.ndarray]) -> Draw:
    """Return what draws runs of one of these cells."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        cell = cells[rng.integers(len(cells))]
        width = 0.3 * cell.std(ddof=1) * len(cell) ** -0.2  # a smoothed bootstrap: runs repeat to the last digit never
        both = rng.choice(cell, (2, runs)) + width * rng.standard_normal((2, runs))
        return both[0], both[1]

    return draw


def unlike(draw: Draw) -> Draw:
    """Return what draws runs of two different cells, each by one call of `draw`."""

    def drawn(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return draw(rng, runs)[0], draw(rng, runs)[1]

    return drawn


def made(standard: Callable[[np.random.Generator, int], np.ndarray], scales: tuple[float, float] | None = None) -> Draw:
    """Return what draws runs of two made-up cells, of these standard deviations or of some that scatter."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        first, second = scales or _SCALE * np.exp(_SCATTER * rng.standard_normal(2))
        return first * standard(rng, runs), second * standard(rng, runs)

    return draw


def of_noise(known: noise.Noise) -> Draw:
    """Return what draws runs of two cells of a noise, whose variances scatter as it says."""

    def draw(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        scales = np.sqrt(known.degrees * known.variance / rng.chisquare(known.degrees, 2))
        return scales[0] * rng.standard_normal(runs), scales[1] * rng.standard_normal(runs)

    return draw


def _drifting(draw: Draw) -> Draw:
    """Add a drift over rounds that meets both cells, up to 4.5 % either way, as in the project's own runs."""

    def drawn(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        one, other = draw(rng, runs)
        drift = np.cumsum(0.02 * rng.standard_normal(runs))
        return one + drift - drift.mean(), other + drift - drift.mean()

    return drawn


def _normal(rng: np.random.Generator, runs: int) -> np.ndarray:
    return rng.standard_normal(runs)


def _two_humps(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Return values about their median."""
    return (1.9 * (rng.random(runs) < 0.35) + 0.35 * rng.standard_normal(runs) - 0.258) / 0.97


def kinds() -> dict[str, Draw]:
    """Return the kinds of noise by name: each draws the logarithms of the runs of two cells that are equally fast."""
    resampled = unlike(real(own_cells()))
    return {
        "real": resampled,
        "real, drifting": _drifting(resampled),
        "normal": made(_normal),
        "heavy tails": made(lambda rng, runs: rng.standard_t(3, runs) / 3**0.5),
        "two humps": made(_two_humps),
        "slow outliers": made(lambda rng, runs: rng.exponential(1.0, runs) - log(2)),
    }


def called_different(
    judge: Judge, draw: Draw, runs: int, pairs: int, gap: float, seed: int = 0, others: int | None = None
) -> float:
    """Return the share of pairs that are called different, one of each slower by `gap` (of the logarithm).

    Of one cell of each there are `runs`, of the other as many, or `others`.
    """
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(pairs):
        one, other = draw(rng, max(runs, others or runs))
        found += judge.compare(np.exp(one[:runs] + gap), np.exp(other[: others or runs])).is_clear
    return found / pairs


def page(rng: np.random.Generator, draw: Draw, runs: int, alike: int, others: int) -> pd.DataFrame:
    """Return the runs table of a page: cells that are equally fast, and others, each 5 % slower than the one before."""
    cells = [draw(rng, runs)[0] for _ in range(alike + others)]
    slower = [*([0.0] * alike), *np.log(1.1 * 1.05 ** np.arange(others))]
    about = {"workload": "made", "hardware": "machine", "framework": "jax", "mode": "stock", "precision": "float32"}
    about |= {"status": "done", "cpu_model": "two cores", "train_samples": 1, "epochs": 1, "samples_per_second": 1.0}
    rows = [
        about | {"batch_size": cell + 1, "devices": 1, "repeat": run + 1, "train_seconds": float(np.exp(log + slow))}
        for cell, (logs, slow) in enumerate(zip(cells, slower, strict=True))
        for run, log in enumerate(logs)
    ]
    return tables.conform(pd.DataFrame(rows, columns=list(tables.columns("runs"))), "runs")


def false_pages(draw: Draw, runs: int, pages: int, alike: int = 40, others: int = 60, seed: int = 0) -> float:
    """Return the share of pages that call one of the equally fastest cells slower than the one they show as fastest."""
    rng, false = np.random.default_rng(seed), 0
    nothing = tables.conform(pd.DataFrame(columns=list(tables.columns("costs"))), "costs")
    for _ in range(pages):
        frame = page(rng, draw, runs, alike, others)
        best = summary.best(summary.cells(frame, nothing), "train_seconds", Judge.of(frame))["made"]
        assert best is not None
        undecided = [best, *best["near"]]
        false += sum(cell["batch_size"] <= alike for cell in undecided) < alike
    return false / pages


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
    """Return how often random halves of the runs of a cell of two-cores are called different by their page's rule."""
    runs = known_noise.measured()[known_noise.MEASURED[-1]]
    judge, rng = Judge.of(runs), np.random.default_rng(1)
    cells = [times.to_numpy() for _, times in runs.groupby(CELL, dropna=False)["train_seconds"]]
    found = 0
    for cell in cells:
        for _ in range(splits):
            order, half = rng.permutation(cell), len(cell) // 2
            found += judge.compare(order[:half], order[half:]).is_clear
    return {"cells": len(cells), "splits": splits * len(cells), "told": found / (splits * len(cells))}


def judges() -> dict[str, Judge]:
    """Return the judges that are tried: by the noise of the project, of a page of its own with many runs, of none."""
    rng = np.random.default_rng(1)
    cells = own_cells()
    page = [np.exp(rng.choice(cells[rng.integers(len(cells))], 6)) for _ in range(36)]
    own = noise.pooled(page, "a page's own runs")
    assert own is not None
    return {"project": Judge(noise.project()), "page": Judge(own), "unknown": Judge(noise.UNKNOWN)}


def unequal(judge: Judge, draw: Draw, pairs: int) -> dict[str, float]:
    """Return the share of false alarms by the runs of the cell that has fewer, of 12: of either order the worse."""
    found = {}
    for runs in (1, 2, 3, 4, 6):
        found[str(runs)] = max(
            called_different(judge, draw, a, pairs, 0.0, seed=7, others=b) for a, b in ((runs, 12), (12, runs))
        )
    return found


def main(pairs: int = 3000, pages: int = 100) -> None:
    rows = [
        {
            "noise": by,
            "kind": kind,
            "runs": runs,
            "false_alarms": called_different(judge, draw, runs, pairs, 0.0, seed=runs),
            "found": called_different(judge, draw, runs, pairs, GAP, seed=100 + runs),
        }
        for by, judge in judges().items()
        for kind, draw in track(kinds().items(), f"verdicts by the noise of the {by}")
        for runs in RUNS
    ]
    project, eight = judges()["project"], noise.known("8 x H100")
    small = [
        {
            "runs": runs,
            "false_alarms": called_different(Judge(eight), of_noise(eight), runs, pairs, 0.0, seed=runs),
            "found": called_different(Judge(eight), of_noise(eight), runs, pairs, SMALL_GAP, seed=100 + runs),
        }
        for runs in RUNS
    ]
    few = {kind: kinds()[kind] for kind in ("real", "normal", "two humps")}
    strange = {"2 % against 30 %": made(_normal, (0.02, 0.3)), "five times noisier": made(_normal, (0.37, 0.37))}
    said = {str(runs): calibration(project, kinds()["real"], runs, 40_000, seed=runs) for runs in (6, 12)}
    found = {
        "pairs": pairs,
        "rows": rows,
        "8 x H100": small,
        "unequal": {kind: unequal(project, draw, pairs) for kind, draw in {**kinds(), **strange}.items()},
        "pages": {
            "tried": pages,
            "false": {
                kind: {str(runs): false_pages(draw, runs, pages, seed=runs) for runs in (1, 3, 6, 12)}
                for kind, draw in track({**few, **strange}.items(), "pages")
            },
        },
        "calibration": said,
        "halves": halves(200),
    }
    write_text(OUTPUT, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
