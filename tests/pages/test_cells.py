import pandas as pd
import pytest

from scripts.pages import report
from scripts.pages.cells import context
from tests.made import FAILED, STUDY, inputs, log, run, runs
from tests.reading import Read

#: The runs as logs of others tell them: no batch size.
ROWS = (
    run(batch_size=None),
    run(batch_size=None, hardware="cpu4", train_seconds=50.0),
    run(batch_size=None, framework="jax", train_seconds=200.0),
    run(batch_size=None, workload="mnist_cnn", hardware="cpu4", train_seconds=10.0, val_acc=None),
)


def cells(*rows: dict, **study) -> list[dict]:
    """Return the rows of the cells of logs, each with its name."""
    given = inputs(STUDY | study, runs(*rows))
    return [row | {"name": given.name_of(row)} for row in context(given)["cells"]]


@pytest.mark.slow
def test_cells_without_a_batch_size_keep_their_rows_and_costs() -> None:
    found = cells(*ROWS)
    assert [(row["workload"], row["name"]) for row in found] == [
        ("mnist_mlp", "TensorFlow · 1 vCPU"),
        ("mnist_mlp", "TensorFlow · 4 vCPUs"),
        ("mnist_mlp", "JAX · 1 vCPU"),
        ("mnist_cnn", "TensorFlow · 4 vCPUs"),
    ]
    assert [row["relative_time"] for row in found] == [1.0, 0.5, 2.0, None], "mnist_cnn has no base cell"
    assert [row["relative_costs"]["then"] for row in found] == [1.0, pytest.approx(2.0), pytest.approx(2.0), None]
    assert [row["costs"]["then"] for row in found] == pytest.approx([0.001, 0.002, 0.002, 0.0004])
    assert [pd.isna(row["costs"]["today"]) for row in found] == [False, True, False, True], "cpu4 is not offered"
    assert found[0]["costs"]["today"] == pytest.approx(0.001 / 3)
    assert [row["relative_costs"]["today"] for row in found] == [1.0, None, pytest.approx(2.0), None]
    assert [pd.isna(row["val_acc"]) for row in found] == [False, False, False, True]


def test_cell_is_the_median_of_its_runs_that_are_done() -> None:
    rows = [
        run(batch_size=None, repeat=i, run=f"r{i}", train_seconds=seconds, val_acc=accuracy)
        for i, (seconds, accuracy) in enumerate([(90.0, 0.9), (100.0, 0.8), (400.0, 0.7)])
    ]
    (row,) = cells(*rows, run(batch_size=None, repeat=9, **FAILED))
    assert (row["train_seconds"], row["val_acc"]) == (100.0, 0.8)
    assert row["costs"]["then"] == pytest.approx(0.001)
    assert row["status"] == "killed", "of the last run"


def test_batch_size_that_is_known_is_part_of_the_name_and_the_first_is_the_base() -> None:
    found = cells(run(batch_size=16), run(batch_size=64, train_seconds=25.0))
    assert [row["name"] for row in found] == ["1 vCPU · batch 16", "1 vCPU · batch 64"], "one framework"
    assert [row["relative_time"] for row in found] == [1.0, 0.25]


def test_base_that_failed_leaves_the_others_without_a_ratio() -> None:
    found = cells(run(**FAILED), run(framework="jax"))
    assert [row["relative_time"] for row in found] == [None, None]
    assert found[1]["costs"]["then"] == pytest.approx(0.001)


def test_study_without_a_base_has_its_cells() -> None:
    frame = runs(*ROWS)
    study = {key: value for key, value in STUDY.items() if key != "base"}
    found = context(inputs(study, frame))["cells"]
    assert [row["relative_time"] for row in found] == [None] * 4
    assert found[0]["costs"]["then"] == pytest.approx(0.001)


@pytest.mark.parametrize(("rows", "unstable"), [(2, False), (4, True)])
def test_runs_of_a_log_are_one_measurement(rows: int, unstable: bool) -> None:
    given = [run(batch_size=None, repeat=i + 1, run=f"r{i}", train_seconds=100.0 + 5 * i) for i in range(rows)]
    (spread,) = context(inputs(STUDY, runs(*given)))["spreads"]
    assert (spread["unstable"], len(spread["measurements"])) == (unstable, 1)


def test_columns_that_no_log_fills_are_left_out() -> None:
    found = context(inputs(STUDY, runs(log())))
    assert [found[name] for name in ("counted", "first_steps", "memory", "computed", "peaks")] == [False] * 4 + [[]]


def test_column_of_nothing_is_not_drawn() -> None:
    """Rates alone, of machines without a price: no column of time, cost or accuracy."""
    nothing = dict.fromkeys(("train_seconds", "total_seconds", "val_acc", "first_step_seconds", "peak_memory_mib"))
    rows = [run(**nothing, hardware=machine, samples_per_second=100.0) for machine in ("gpu", "cpu1")]
    study = STUDY | {"import": {"format": "throughput_table"}, "prices": {}, "price": ""}
    heads = Read(report.page(inputs(study, runs(*rows)))).rows["cells"][0]
    assert heads == ["workload", "configuration", "status", "samples/s"]
