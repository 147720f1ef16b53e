"""Of more cells than can be read, the best, the worst and the base are drawn, whatever the chart."""

import pytest

from scripts import charts
from scripts.charts import _crowd, _theme
from tests.charts.test_charts import CATALOGUE, view
from tests.made import run

#: More machines than a study of this project ever had; the base is in the middle.
MACHINES = [f"m{i:03}" for i in range(120)]
MANY = CATALOGUE | {name: CATALOGUE["cpu1"] | {"label": name} for name in MACHINES}
ROWS = [
    run(
        run=f"{name}-{mode}",
        hardware=name,
        mode=mode,
        train_seconds=50.0 + place if mode == "stock" else 500.0,
        samples_per_second=1000.0 / (50.0 + place),
        gpu_percent=50.0,
        devices=devices,
    )
    for place, name in enumerate(MACHINES)
    for mode, devices in (("stock", 1), ("tuned", 1))
]
BASE = [run(run="base", train_seconds=110.0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in charts.names() if not hasattr(charts.chart(name), "SCOPE")])
def test_every_chart_of_many_cells_can_be_drawn(name: str) -> None:
    rows = [row | {"devices": n} for row in ROWS for n in (1, 2)] if "devices" in name else ROWS
    shown, words = _crowd.readable(view(*rows, *BASE, catalogue=MANY), charts.chart(name))
    made = charts.chart(name).draw(shown)
    if made is None:
        return
    assert made.height < 25, "inches: matplotlib draws no more"
    assert _theme.svg(made, name).startswith("<svg")
    if hasattr(charts.chart(name), "ROWS_BY"):
        assert "are drawn; all are in the tables." in words


def test_fastest_slowest_and_base_stay() -> None:
    rows = [row for row in ROWS if row["mode"] == "stock"]
    shown, words = _crowd.readable(view(*rows, *BASE, catalogue=MANY), charts.chart("relative_time"))
    left = shown.runs["hardware"].tolist()
    assert left == [*MACHINES[:28], *MACHINES[-11:], "cpu1"]
    assert words == (" Of 121 cells the 28 fastest, the 11 slowest and the base are drawn; all are in the tables.")
    assert set(shown.costs["run"]) <= set(shown.runs["run"])


def test_what_is_compared_along_an_axis_stays_together() -> None:
    shown, _ = _crowd.readable(view(*ROWS, *BASE, catalogue=MANY), charts.chart("by_mode"))
    modes = shown.runs.groupby("hardware")["mode"].nunique()
    assert set(modes[modes.index != "cpu1"]) == {2}


def test_few_cells_are_all_drawn() -> None:
    seen = view(*ROWS[:20], *BASE, catalogue=MANY)
    assert _crowd.readable(seen, charts.chart("relative_time")) == (seen, "")
