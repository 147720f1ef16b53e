"""Pages of cells that are alike name no winner; pages on which one is better name it. The truth is made beforehand."""

import re
from functools import cache
from math import log

import numpy as np
import pytest

from scripts import charts
from scripts.pages import first, report
from scripts.pages.inputs import Inputs
from tests.charts.test_charts import view
from tests.made import STUDY, inputs, run, runs
from tests.reading import Read
from tests.simulation import verdicts as simulation

#: Of pages whose cells are alike at most 5 % may name a winner: of so many pages at most `FALSE`.
PAGES, FALSE = 12, 1

CELLS = [(framework, size) for framework in ("tensorflow", "jax", "torch") for size in (32, 64, 128, 256)]


@cache
def noisy() -> simulation.Draw:
    """Return what draws two cells' logarithms as noisy as runs of this project's own."""
    return simulation.real(simulation.own_cells())


def page(seed: int, count: int, faster: float = 0.0) -> Inputs:
    """Return twelve cells of one machine with `count` runs each: alike, but for the first, faster by `faster` (log)."""
    rng = np.random.default_rng(seed)
    rows = []
    for place, (framework, size) in enumerate(CELLS):
        logs = noisy()(rng, count)[0] - faster * (place == 0)
        rows += [
            run(framework=framework, batch_size=size, repeat=i + 1, train_seconds=100 * float(np.exp(one)),
                samples_per_second=1000 / float(np.exp(one)))
            for i, one in enumerate(logs)
        ]  # fmt: skip
    return inputs(STUDY, runs(*rows))


def named(made: Inputs) -> list[str]:
    """Return each place of a page that names one cell as a winner, or says by which factor one beats another."""
    text = report.page(made)
    head, _, rest = Read(text).text.partition("What to train on")
    summary = rest.partition("MNIST · MLP: ")[2].partition(" 100")[0]
    found = re.findall(r"<span>(Cheapest|Fastest)</span>", text)
    found += re.findall(r"[\d.]+× the money", text)
    found += ["said"] if " or " not in summary[:200] and "which of" not in summary[:200] else []
    found += ["head"] if "Configuration clear in 0 of 1 workload" not in head or re.search("clearly[.]", head) else []
    for name in ("pareto", "relative_time", "relative_cost"):
        drawn = charts.chart(name).draw(view(judge=made.judge, runs=made.runs, costs=made.costs, base=made.base))
        finding = drawn.finding if drawn else ""
        found += [name] if finding and not re.search(r" or |which of|Too close", finding) else []
    return found


@pytest.mark.represented_by("6")
@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 6])
def test_cells_that_are_alike_have_no_winner(count: int) -> None:
    false = {seed: places for seed in range(PAGES) if (places := named(page(seed, count)))}
    assert len(false) <= FALSE, false


@pytest.mark.parametrize(("count", "faster", "wins"), [(1, 0.0, False), (12, 0.0, False), (12, log(2), True)])
def test_winner_is_named_where_there_is_one(count: int, faster: float, wins: bool) -> None:
    made = page(1, count, faster)
    (panel,) = first.context(made)["panels"]
    heads = [panel["best"][role]["head"] for role in ("cheapest", "fastest")]
    assert (heads == ["cheapest", "fastest"]) == wins
    assert (panel["said"] == "TensorFlow · 1 vCPU · batch 32 is cheapest and fastest") == wins, panel["said"]
    assert bool(re.search("which of 12| or ", panel["said"])) != wins
