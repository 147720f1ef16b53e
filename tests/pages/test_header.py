"""The head of a page says which machines, whose prices and of when, and the first screen says which are left out."""

from typing import Any

import pandas as pd
import pytest

from scripts.pages import first, header, report
from tests.made import BOOK, CATALOGUE, OPTIONS, STUDY, inputs, run, runs
from tests.reading import Read

XEON = "Intel(R) Xeon(R) Processor"


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"machine_cores": 8, "machine_memory_mib": 30 * 1024.0}, "(8 cores, 30 GiB), no GPU"),
        ({"machine_cores": None, "machine_memory_mib": None, "cores": 2}, "(runs on 2 cores), no GPU"),
    ],
)
def test_machines_are_told_with_cores_and_memory(known: dict[str, Any], words: str) -> None:
    made = inputs(STUDY, runs(run(cpu_model=XEON, **known)))
    assert [one["what"] for one in header.context(made)["found"]] == [f"{XEON} {words}"]


def test_prices_are_told_with_providers_regions_and_days() -> None:
    rows = [
        ("gce", "us-central1", "2026-05-20"),
        ("gce", "us-east4", "2026-05-01"),
        ("hetzner", None, "2026-05-20"),
        ("aws", None, "2026-05-20"),
        *(("vast", region, "2025-01-01") for region in "abcd"),
        ("lambda", None, ""),
    ]
    prices = pd.DataFrame(rows, columns=["provider", "region", "price_as_of"])
    prices["hardware"] = [f"m{i}" for i in range(len(rows))]
    found = header._priced(prices, {"m3": "H100"} | {f"m{i}": f"card {i}" for i in range(4, 8)})
    assert found == [
        {"where": "AWS (H100), Hetzner", "first": "2026-05-20", "last": "2026-05-20"},
        {"where": "Google us-central1 and us-east4", "first": "2026-05-01", "last": "2026-05-20"},
        {"where": "Vast.ai 4 regions", "first": "2025-01-01", "last": "2025-01-01"},
    ]


@pytest.mark.slow
def test_at_a_glance_stand_the_cheapest_of_each_row_and_few_others() -> None:
    """Thirty configurations: the one that wins a single row is among those that are shown."""
    rows = [
        run(workload=workload, framework=framework, hardware=hardware, batch_size=size, train_seconds=100.0 + size)
        for workload in ("mnist_mlp", "mnist_cnn")
        for framework in ("tensorflow", "jax", "torch")
        for hardware in ("cpu1", "cpu4")
        for size in (8, 16, 32, 64, 256)
    ]
    rows.append(run(workload="mnist_cnn", batch_size=512, train_seconds=1.0))
    made = inputs(STUDY, runs(*rows))
    glance = first.context(made)["glance"]
    assert (len(glance["columns"]), glance["of"]) == (first._MOST_COLUMNS, 31)
    assert sum("batch 512" in name for name in glance["columns"]) == 1
    for row in glance["rows"]:
        assert min(cell[0] for cell in row["cells"] if cell) == 1
    assert "8 of 31 configurations" in Read(report.page(made)).text


def test_cheapest_of_each_way_to_buy_stand_beside_each_other() -> None:
    """20 s of four cores cost 0.0008 USD at 0.144 an hour, 100 s of one 0.001; on spot one alone has a price, half."""
    rows = [
        run(hardware=name, repeat=n, train_seconds=took, useful_seconds=took)
        for name, took in (("cpu1", 100.0), ("cpu4", 20.0))
        for n in range(1, 7)
    ]
    made = inputs(STUDY | {"prices": OPTIONS, "price": "on-demand"}, runs(*rows), CATALOGUE, BOOK)
    (panel,) = first.context(made)["panels"]
    found = [(one["option"], one["machine"].split(",")[0], round(one["usd"], 9)) for one in panel["ways"]]
    assert found == [("on-demand", "4 vCPUs", 0.0008), ("spot", "1 vCPU", 0.0005)]


def test_marks_say_which_is_lowest_and_what_is_too_close_to_it() -> None:
    """Of two cells alike the other is too close, of two unlike it has no mark."""
    rows = [
        run(workload=workload, framework=framework, repeat=n, train_seconds=took * (1 + n / 1000))
        for workload, second in (("mnist_mlp", 100.0), ("mnist_cnn", 300.0))
        for framework, took in (("tensorflow", 100.0), ("jax", second))
        for n in range(6)
    ]
    glance = first.context(inputs(STUDY, runs(*rows)))["glance"]
    marks = {row["workload"]: sorted(cell[1] for cell in row["cells"]) for row in glance["rows"]}
    assert marks == {"mnist_mlp": ["●", "◐"], "mnist_cnn": ["", "●"]}


def test_what_ran_at_another_batch_size_is_no_dash_and_a_tie_that_is_no_column_is_counted() -> None:
    columns = ["8 × V100", "A100 · batch 64", "T4"]
    ran = {"8 × V100 · batch 256": (2.0, ""), "8 × V100 · batch 128": (1.5, "◐"), "A100": (1.0, "●")}
    row = first._row(columns, ran | {"K80": (1.01, "◐"), "P100": (1.0, "="), "M60": (3.0, "○"), "M4": (9.0, "")})
    assert row["cells"] == [(1.5, "◐", "@128"), (1.0, "●", "other batch"), None]
    assert row["more"] == "tied: 2 more"
    twice = first._row(["8 × V100", "8 × V100 · batch 64", "8 × V100 · batch 256"], ran)
    assert twice["cells"] == [(1.5, "◐", "@128"), None, (2.0, "", "")], "each stands in one column"


@pytest.mark.parametrize(
    ("seconds", "alike"),
    [(50.0, []), (99.0, ["time"]), (25.0, ["cost"])],
    ids=["told apart in both", "as fast", "as cheap"],
)
def test_price_of_speed_says_what_is_not_told_apart(seconds: float, alike: list[str]) -> None:
    """An hour of four cores costs four times that of one."""
    times = [
        (hardware, middle + i / 100) for hardware, middle in (("cpu1", 100.0), ("cpu4", seconds)) for i in range(6)
    ]
    made = inputs(STUDY, runs(*(run(hardware=name, train_seconds=took, useful_seconds=took) for name, took in times)))
    (panel,) = first.context(made)["panels"]
    assert panel["speed"]["alike"] == alike
    words = f"too close to call in {' and '.join(alike)}"
    assert (words in Read(report.page(made)).text) == bool(alike)
