import pytest

from scripts.analysis import comparisons
from tests.made import FAILED, JUDGE, run, runs


def repeated(*seconds: float, **values) -> list[dict]:
    return [run(repeat=i, train_seconds=value, **values) for i, value in enumerate(seconds, 1)]


def test_spread_is_of_runs_that_are_done() -> None:
    rows = [*repeated(100.0, 90.0, 110.0), run(repeat=4, **FAILED)]
    (row,) = comparisons.spreads(runs(*rows), 3, 0.25)
    assert row["seconds"] == [100.0, 90.0, 110.0]
    assert (row["median"], row["spread"], row["unstable"]) == (100.0, 0.2, False)
    assert (row["trimmed"], row["interval"]) == ((), None)


def test_one_run_has_no_spread() -> None:
    assert comparisons.spreads(runs(run(), run(hardware="cpu4")), 1, 0.1) == []


def test_from_six_runs_there_is_an_interval_and_the_trimmed_ones_are_said() -> None:
    (row,) = comparisons.spreads(runs(*repeated(3.0, 1.0, 4.0, 2.0, 5.0, 9.0)), 6, 0.1)
    assert row["interval"][:2] == (1.0, 9.0)
    assert row["trimmed"] == (1, 5)
    assert row["mean"] == 3.5


def test_second_measurement_is_kept_beside_the_first() -> None:
    """The first two runs differ by 20 %, the second two do not: unstable all the same."""
    (row,) = comparisons.spreads(runs(*repeated(100.0, 120.0, 101.0, 102.0)), 2, 0.1)
    assert row["measurements"] == [110.0, 101.5]
    assert row["unstable"]


def test_run_that_stands_in_for_a_disturbed_one_is_of_its_measurement() -> None:
    rows = [run(repeat=1, train_seconds=150.0, status="disturbed"), *repeated(100.0, 102.0)[1:]]
    (row,) = comparisons.spreads(runs(*rows, run(repeat=3, train_seconds=101.0, cpu_seconds=90.0)), 2, 0.1)
    assert (row["measurements"], row["unstable"], row["seconds"]) == ([101.5], False, [102.0, 101.0])
    assert (row["cpu_seconds"], row["cpu_spread"]) == (90.0, None)


def test_cell_is_unstable_by_what_lies_within_a_measurement() -> None:
    """Each pair differs by 5 %, both pairs together by 16 %: the machine changed in between, the cell did not."""
    (row,) = comparisons.spreads(runs(*repeated(100.0, 105.0, 111.0, 116.0)), 2, 0.1)
    assert not row["unstable"]


def at(rate: float, **values) -> dict:
    return run(samples_per_second=rate, **values)


def test_mode_is_compared_with_stock_of_the_same_cell() -> None:
    rows = [at(100.0), at(150.0, mode="tuned"), at(200.0, hardware="cpu4"), at(202.0, hardware="cpu4", mode="tuned")]
    one, two = comparisons.compare_axis(runs(*rows), "mode", "stock", "samples_per_second", JUDGE)
    assert (one["hardware"], one["mode"], one["plain"], one["ratio"], one["mark"]) == ("cpu1", "tuned", 100, 1.5, "")
    assert (two["hardware"], two["ratio"], two["mark"]) == ("cpu4", 1.01, "tie")


def test_cell_without_a_plain_one_is_compared_with_nothing() -> None:
    rows = [at(150.0, mode="tuned"), at(100.0, framework="jax"), run(mode="tuned", framework="jax", **FAILED)]
    assert comparisons.compare_axis(runs(*rows), "mode", "stock", "samples_per_second", JUDGE) == []


def test_matrix_has_a_line_per_workload_and_a_column_per_other_cell() -> None:
    rows = [
        *(at(100.0, workload=name, batch_size=size) for name, size in (("mnist_mlp", 128), ("imdb_fasttext", 32))),
        at(200.0, mode="tuned"),
        at(300.0, mode="tuned", workload="imdb_fasttext", batch_size=32),
        at(100.0, framework="jax"),
        at(110.0, framework="jax", mode="tuned"),
    ]
    (table,) = comparisons.matrix(
        comparisons.compare_axis(runs(*rows), "mode", "stock", "samples_per_second", JUDGE), "mode"
    )
    assert [column["framework"] for column in table["columns"]] == ["tensorflow", "jax"]
    ratios = {workload: [row and row["ratio"] for row in line] for workload, line in table["lines"].items()}
    assert ratios == {"mnist_mlp": [2.0, 1.1], "imdb_fasttext": [3.0, None]}


def test_matrix_distinguishes_batch_sizes_where_a_workload_has_several() -> None:
    rows = [at(100.0 * size, batch_size=size, mode=mode) for size in (64, 128) for mode in ("stock", "tuned")]
    (table,) = comparisons.matrix(
        comparisons.compare_axis(runs(*rows), "mode", "stock", "samples_per_second", JUDGE), "mode"
    )
    assert [column["batch_size"] for column in table["columns"]] == [64, 128]


@pytest.mark.parametrize(("rate", "efficiency"), [(200.0, 1.0), (150.0, 0.75)])
def test_scaling_efficiency_is_the_speedup_per_device(rate: float, efficiency: float) -> None:
    (row,) = comparisons.scaling(runs(at(100.0), at(rate, devices=2)), JUDGE)
    assert (row["devices"], row["efficiency"]) == (2, efficiency)


def test_settings_and_warnings_are_listed_once() -> None:
    frame = runs(
        run(settings="loop: model.fit"),
        run(settings="loop: model.fit", workload="mnist_cnn", warnings="GPU idle\nshort run"),
    )
    (row,) = comparisons.settings(frame)
    assert row["workloads"] == ["mnist_mlp", "mnist_cnn"]
    assert comparisons.warnings(frame) == {"mnist_cnn/cpu1/tensorflow/b128/r1": ["GPU idle", "short run"]}
