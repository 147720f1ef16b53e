"""Of more cells than can be read, the best, the worst and the base are drawn, whatever the chart."""

import pytest

from scripts import charts
from scripts.charts import _crowd, _theme
from tests.charts.test_charts import CATALOGUE, view
from tests.made import FAILED, costs, run, runs

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


#: As many batch sizes of one net on one machine, all as fast: none is clearly different, each has all its parts.
SIZES = [
    run(run=f"size-{size}", batch_size=size, gpu_percent=50.0, flops_per_sample=1e6, total_seconds=140.0)
    for size in range(1, 121)
]
#: A name of three lines, on as many machines.
LONG = CATALOGUE | {
    name: CATALOGUE["cpu1"] | {"label": f"a machine of a provider with a name that is long, and a number: {name}"}
    for name in MACHINES
}
#: One in three has failed.
FAILING = [row | (FAILED if place % 3 == 0 else {}) for place, row in enumerate(ROWS)]

CROWDS = {
    "machines": (ROWS, MANY),
    "batch sizes": (SIZES, MANY),
    "long names": (ROWS, LONG),
    "some failed": (FAILING, MANY),
}


@pytest.mark.represented_by(
    "machines-pareto", "batch sizes-by_batch_size", "some failed-relative_time", "long names-dollars"
)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in charts.names() if not hasattr(charts.chart(name), "SCOPE")])
@pytest.mark.parametrize("crowd", CROWDS)
def test_every_chart_of_many_cells_can_be_drawn(name: str, crowd: str) -> None:
    rows, machines = CROWDS[crowd]
    rows = [row | {"devices": n} for row in rows for n in (1, 2)] if "devices" in name else rows
    shown, words = _crowd.readable(view(*rows, *BASE, catalogue=machines), charts.chart(name))
    made = charts.chart(name).draw(shown)
    if made is None:
        return
    assert made.height < 26, "inches: nobody reads a longer one"
    assert _theme.svg(made, name).startswith("<svg")
    if hasattr(charts.chart(name), "ROWS_BY"):
        assert "are drawn; all are in the tables." in words


@pytest.mark.slow
@pytest.mark.parametrize("name", ["by_price", "per_usd"])
def test_prices_of_more_kinds_than_there_are_colours(name: str) -> None:
    off = {f"rate{i}": {"share": i / 20, "source": "a list"} for i in range(12)}
    options = {key: {"purchase": "on-demand", "discount": share} for key, share in off.items()}
    paid = costs(runs(*ROWS[:4], *BASE), MANY, options)
    made = charts.chart(name).draw(view(*ROWS[:4], *BASE, catalogue=MANY, costs=paid, prices={key: key for key in off}))
    assert made is not None
    assert "rate11" in _theme.svg(made, name)


@pytest.mark.slow
def test_lines_of_more_kinds_than_there_are_styles() -> None:
    rows = [
        run(run=f"{size}-{mode}-{n}-{precision}", batch_size=size, mode=mode, devices=n, precision=precision)
        for size in (32, 64)
        for n in (1, 2)
        for mode in ("stock", "tuned")
        for precision in ("float32", "tf32", "bfloat16", "float16")
    ]
    made = charts.chart("by_batch_size").draw(view(*rows))
    assert made is not None
    assert _theme.svg(made, "by_batch_size").startswith("<svg")
    assert any("16 kinds of lines differ in" in note and "devices" in note for note in made.notes)


def test_of_a_front_of_many_some_are_named() -> None:
    made = charts.chart("pareto").draw(view(*SIZES, *BASE, catalogue=MANY))
    assert made is not None
    assert "16 of 121 configurations named" in made.caption
    assert made.notes[1].endswith("than those that are named, nor than 104 more.")


def test_fastest_slowest_and_base_stay() -> None:
    rows = [row for row in ROWS if row["mode"] == "stock"]
    shown, words = _crowd.readable(view(*rows, *BASE, catalogue=MANY), charts.chart("relative_time"))
    left = shown.runs["hardware"].tolist()
    assert left == [*MACHINES[:28], *MACHINES[-11:], "cpu1"]
    said = " Of 121 configurations the 28 lowest in time, the 11 highest and the base are drawn; all are in the tables."
    assert words == said
    assert set(shown.costs["run"]) <= set(shown.runs["run"])


def test_what_is_compared_along_an_axis_stays_together() -> None:
    shown, _ = _crowd.readable(view(*ROWS, *BASE, catalogue=MANY), charts.chart("by_mode"))
    modes = shown.runs.groupby("hardware")["mode"].nunique()
    assert set(modes[modes.index != "cpu1"]) == {2}


def test_few_cells_are_all_drawn() -> None:
    seen = view(*ROWS[:20], *BASE, catalogue=MANY)
    assert _crowd.readable(seen, charts.chart("relative_time")) == (seen, "")
