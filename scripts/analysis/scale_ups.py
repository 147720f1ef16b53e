"""How far off an extrapolated cost is: what measured scale-ups say of a workload that nobody has scaled up. Pure.

A scale-up is a training on a part of the samples, and the same on all of them: its error is the logarithm of what the
whole took over what the part predicted (`clocks.parts`). Frameworks and repeats of one workload share its error, so the
workloads are the witnesses: of so many, a new one lies with `COVERAGE` within a t interval of their means. Between two
measured parts the smaller one counts; below the smallest the error grows as the logarithm of the part.

`python -m tests.bench.scale_ups` measures them; `make docs` writes what they come to into `config/noise.yaml`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import noise
from scripts.storage.numbers import number

#: Of workloads that nobody has scaled up, so many lie within what is said.
COVERAGE = 0.8

#: Fewer workloads say nothing of another one.
FEWEST = 6

#: From this part of full length on, a cost is as measured.
WHOLE = 0.99


@dataclass(frozen=True)
class Error:
    """Of workloads that were scaled up from a part of their samples: the mean and the scatter of their errors."""

    mean: float
    deviation: float
    workloads: int

    def reach(self, times: float = 1.0) -> tuple[float, float]:
        """Return the factors between which the whole lies of what the part predicts, 1 among them.

        `times` is how much further than measured it is extrapolated.
        """
        from scipy import special  # a fifth of a second, and most pages ask for no reach

        around = float(special.stdtrit(self.workloads - 1, (1 + COVERAGE) / 2)) * self.deviation
        around *= (1 + 1 / self.workloads) ** 0.5
        low, high = (times * (self.mean + side * around) for side in (-1, 1))
        return exp(min(low, 0.0)), exp(max(high, 0.0))


def errors(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the error of each workload on each part of its samples: workload, part, error.

    `runs` are those of `tests.bench.scale_ups`, with `part` (of the samples), `predicted_seconds` (of a process on all
    of them, from what this run took) and `total_seconds`. Means over frameworks, modes and repeats.
    """
    of = ["workload", "framework", "mode"]
    whole = runs[runs["part"] == 1].groupby(of)["total_seconds"].median().rename("whole_seconds")
    parts = runs[runs["part"] < 1].join(whole, on=of)
    found = parts.assign(error=np.log(parts["whole_seconds"] / parts["predicted_seconds"])).dropna(subset="error")
    return found.groupby(["workload", "part"])[["error"]].mean().reset_index()


def fit(found: pd.DataFrame) -> dict[float, Error]:
    """Return by part what `errors` come to, of parts that enough workloads were measured on."""
    return {
        float(str(part)): Error(float(of["error"].mean()), float(of["error"].std()), len(of))
        for part, of in found.groupby("part")
        if len(of) >= FEWEST
    }


def entry(runs: pd.DataFrame) -> dict[str, Any]:
    """Return what stands in `config/noise.yaml` of measured scale-ups."""
    known = {f"{part:g}": asdict(error) for part, error in fit(errors(runs)).items()}
    return {"parts": known, "of": f"{len(runs)} runs of {runs['workload'].nunique()} workloads", "runs": len(runs)}


def known() -> dict[float, Error]:
    """Return by part what is known of extrapolations; empty as long as nobody has measured them."""
    return {
        float(part): Error(of["mean"], of["deviation"], int(of["workloads"])) for part, of in noise.scale_ups().items()
    }


def reach(part: float, of: Mapping[float, Error] | None = None) -> tuple[float, float] | None:
    """Return the factors between which a cost lies that is extrapolated from a part of full length.

    None where that is not known; (1, 1) of a whole.
    """
    if part >= WHOLE:
        return 1.0, 1.0
    errors_of = known() if of is None else of
    if not errors_of:
        return None
    smaller = [one for one in errors_of if one <= part]
    if smaller:
        return errors_of[max(smaller)].reach()
    smallest = min(errors_of)
    return errors_of[smallest].reach(log(part) / log(smallest))


def of_runs(runs: Iterable[str], shares: Mapping[str, float]) -> tuple[float, float]:
    """Return by which factors what is extrapolated from the least of these runs may be off; (1, 1) if not known.

    `shares` are those of the full length that runs have trained (`clocks.shares`); of what is unknown, one is whole.
    """
    return reach(min((shares[run] for run in runs if run in shares), default=1.0)) or (1.0, 1.0)


def words(part: float) -> str:
    """Return how far off what is extrapolated from a part may be."""
    between = reach(part)
    if between is None:
        return "how far off that may be was not measured, and no range includes it"
    low, high = (number(one) for one in between)
    return (
        f"in {100 * COVERAGE:g} % of workloads the whole takes {low} to {high} times what is extrapolated, "
        "which the intervals of the tables include"
    )
