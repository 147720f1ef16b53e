"""The head of a page says which machines, whose prices and of when, and the first screen says which are left out."""

from typing import Any

import pandas as pd
import pytest

from scripts.pages import first, header, report
from tests.made import STUDY, inputs, run, runs
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
    found = header._priced(pd.DataFrame(rows, columns=["provider", "region", "price_as_of"]))
    assert found == [
        {"where": "AWS, Hetzner", "first": "2026-05-20", "last": "2026-05-20"},
        {"where": "Google us-central1 and us-east4", "first": "2026-05-01", "last": "2026-05-20"},
        {"where": "Vast.ai 4 regions", "first": "2025-01-01", "last": "2025-01-01"},
    ]


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
