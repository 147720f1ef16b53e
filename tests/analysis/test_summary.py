import pandas as pd
import pytest

from scripts.analysis import noise, summary
from scripts.analysis.verdicts import Judge
from tests.made import CATALOGUE, FAILED, JUDGE, costs, run, runs


def cells(*rows: dict) -> pd.DataFrame:
    frame = runs(*rows)
    return summary.cells(frame, costs(frame))


def test_cell_has_the_median_of_its_runs_that_are_done() -> None:
    table = cells(
        run(train_seconds=100.0),
        run(hardware="cpu4", train_seconds=50.0),
        run(repeat=2, train_seconds=400.0),
        run(repeat=3, train_seconds=130.0),
        run(repeat=4, **FAILED),
    )
    assert table["hardware"].to_list() == ["cpu1", "cpu4"], "in the order of the runs"
    assert table["train_seconds"].to_list() == [130.0, 50.0]
    assert table["runs"].to_list() == [4, 1]
    assert table["runs_done"].to_list() == [3, 1]
    assert table[summary.cost_column("on-demand")].to_list() == pytest.approx([0.0013, 0.002], rel=5e-4)
    assert table[summary.cost_column("spot")][0] == pytest.approx(0.00065, rel=5e-4)
    assert pd.isna(table[summary.cost_column("spot")][1]), "cpu4 has no spot price"


@pytest.mark.parametrize(
    ("rows", "status", "reason"),
    [
        ([run(), run(repeat=2, **FAILED)], "killed", "ended by SIGKILL"),
        ([run(**FAILED), run(repeat=2)], "done", "none"),
    ],
)
def test_status_and_reason_are_of_the_last_run(rows: list[dict], status: str, reason: str) -> None:
    cell = cells(*rows).fillna({"reason": "none"}).iloc[0]
    assert (cell["status"], cell["reason"]) == (status, reason)


def test_study_of_which_all_failed_keeps_its_cells() -> None:
    table = cells(run(**FAILED), run(framework="jax", **FAILED))
    assert table["status"].to_list() == ["killed", "killed"]
    assert table["runs_done"].to_list() == [0, 0]
    assert table["train_seconds"].isna().all()


def test_other_batch_size_is_another_cell() -> None:
    assert cells(run(), run(batch_size=64))["batch_size"].to_list() == [128, 64]


def test_best_is_the_smallest_of_each_workload() -> None:
    table = cells(
        run(train_seconds=100.0),
        run(hardware="cpu4", train_seconds=50.0),
        run(workload="imdb_fasttext", batch_size=32, **FAILED),
    )
    fastest = summary.best(table, "train_seconds", JUDGE)
    assert fastest["mnist_mlp"]["hardware"] == "cpu4"
    assert fastest["imdb_fasttext"] is None
    assert summary.best(table, summary.cost_column("on-demand"), JUDGE)["mnist_mlp"]["hardware"] == "cpu1"


def test_what_is_not_clearly_different_from_the_best_stands_beside_it() -> None:
    table = cells(
        run(train_seconds=100.0), run(framework="jax", train_seconds=104.0), run(framework="torch", train_seconds=106.0)
    )
    best = summary.best(table, "train_seconds", JUDGE)["mnist_mlp"]
    assert best["framework"] == "tensorflow"
    assert [row["framework"] for row in best["near"]] == ["jax"]


def test_noise_of_the_runs_decides_how_many_are_called_different() -> None:
    """Medians 20 % apart, and yet the one is as often the slower as not."""
    noisy, steady = (100, 100, 100, 160, 160, 160), (150, 151, 152, 153, 154, 155)
    rows = [run(repeat=i, train_seconds=float(seconds)) for i, seconds in enumerate(noisy)]
    rows += [run(hardware="cpu4", repeat=i, train_seconds=float(seconds)) for i, seconds in enumerate(steady)]
    table = cells(*rows)
    for judge, undecided in ((Judge(noise.project()), 1), (JUDGE, 0)):
        assert len(summary.best(table, "train_seconds", judge)["mnist_mlp"]["near"]) == undecided
        assert summary.count_wins(table, "cpu1", "train_seconds", judge)["cpu4"][1] == undecided


def test_nothing_is_best_without_a_price() -> None:
    table = summary.cells(runs(run()), costs(runs(run()), {"cpu1": {"label": "1 vCPU"}}))
    assert summary.best(table, summary.cost_column("on-demand"), JUDGE) == {"mnist_mlp": None}
    assert summary.count_wins(table, "cpu1", summary.cost_column("on-demand"), JUDGE) == {}


def test_machines_are_compared_on_cells_that_both_finished() -> None:
    table = cells(
        run(train_seconds=100.0),
        run(framework="jax", train_seconds=100.0),
        run(framework="torch", train_seconds=100.0),
        run(batch_size=64, train_seconds=100.0),
        run(hardware="cpu4", train_seconds=20.0),
        run(hardware="cpu4", framework="jax", train_seconds=100.0),
        run(hardware="cpu4", framework="torch", **FAILED),
    )
    assert summary.count_wins(table, "cpu1", "train_seconds", JUDGE) == {"cpu4": (1, 1, 2)}, "a tie is not less"
    assert summary.count_wins(table, "cpu1", summary.cost_column("on-demand"), JUDGE) == {"cpu4": (1, 0, 2)}


@pytest.mark.parametrize(
    ("values", "reduced"),
    [
        ({}, False),
        ({"epochs": 30}, False),
        ({"epochs": 19}, True),
        ({"samples_fraction": 0.5}, True),
        ({"data_fraction": 0.2}, True),
    ],
)
def test_less_than_published_is_reduced(values: dict, reduced: bool) -> None:
    assert summary.is_reduced(runs(run(framework="jax"), run(**values))) is reduced


def test_result_is_the_median_of_the_runs() -> None:
    (row,) = summary.learned(runs(run(epochs_done=2, val_acc=0.9), run(repeat=2, epochs_done=2, val_acc=0.8)))
    assert row["value"] == pytest.approx(0.85)
    assert (row["metric"], row["runs"], row["epochs"]) == ("val_acc", 2, 2)


def test_training_without_validation_is_judged_by_its_loss() -> None:
    (row,) = summary.learned(runs(run(workload="lstm_text_generation", epochs_done=1, loss=1.9, val_acc=None)))
    assert (row["metric"], row["value"], row["published"]) == ("loss", 1.9, 1.9910)


@pytest.mark.parametrize(
    ("values", "epochs", "published"),
    [
        ({"epochs_done": 2}, 2, 0.9672),
        ({"epochs_done": 20}, 20, 0.9820),
        ({"epochs_done": 20, "samples_fraction": 0.1}, 2, 0.9672),
        ({"epochs_done": 20, "samples_fraction": 0.5, "data_fraction": 0.2}, 2, 0.9672),
        ({"epochs_done": 3, "samples_fraction": 0.9}, 2, 0.9672),
        ({"epochs_done": 40}, 20, 0.9820),
        ({"epochs_done": 9, "samples_fraction": 0.1}, None, None),
    ],
)
def test_published_result_is_that_after_as_many_samples(values: dict, epochs: int | None, published: float) -> None:
    (row,) = summary.learned(runs(run(**values)))
    assert (row["published_epochs"], row["published"]) == (epochs, published)


def test_synthetic_data_have_no_accuracy_to_show() -> None:
    assert summary.learned(runs(run(data="synthetic"))) == []


def test_failed_cell_learned_nothing() -> None:
    assert summary.learned(runs(run(**FAILED))) == []


def test_example_catalogue_prices_what_the_tests_say() -> None:
    assert costs(runs(run()), CATALOGUE)["cost_usd"].to_list() == pytest.approx([0.001, 0.0005])


def test_rates_alone_are_known_of_speed_tests_and_of_logs_without_a_time() -> None:
    rows = [
        run(workload="noise", is_training=False),
        run(workload="log of rates", train_seconds=None),
        run(workload="log of times"),
        run(workload="resumed", is_training=True, train_seconds=None),
        run(workload="failed", **FAILED),
    ]
    assert summary.rated_alone(runs(*rows)) == {"noise", "log of rates"}
