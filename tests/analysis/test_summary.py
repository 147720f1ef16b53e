import pandas as pd
import pytest

from scripts.analysis import summary
from tests.made import CATALOGUE, FAILED, costs, run, runs


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
    fastest = summary.best(table, "train_seconds")
    assert fastest["mnist_mlp"]["hardware"] == "cpu4"
    assert fastest["imdb_fasttext"] is None
    assert summary.best(table, summary.cost_column("on-demand"))["mnist_mlp"]["hardware"] == "cpu1"


def test_what_cannot_be_told_from_the_best_is_a_tie() -> None:
    table = cells(
        run(train_seconds=100.0), run(framework="jax", train_seconds=104.0), run(framework="torch", train_seconds=106.0)
    )
    best = summary.best(table, "train_seconds")["mnist_mlp"]
    assert best["framework"] == "tensorflow"
    assert [row["framework"] for row in best["ties"]] == ["jax"]


def test_gap_within_the_noise_of_the_runs_is_a_tie() -> None:
    """Medians 20 % apart, and yet the one is as often the slower as not."""
    noisy, steady = (100, 100, 100, 160, 160, 160), (150, 151, 152, 153, 154, 155)
    rows = [run(repeat=i, train_seconds=float(seconds)) for i, seconds in enumerate(noisy)]
    rows += [run(hardware="cpu4", repeat=i, train_seconds=float(seconds)) for i, seconds in enumerate(steady)]
    for few, ties in ((slice(None), 1), (slice(0, 12, 2), 0)):
        table = cells(*rows[few])
        assert len(summary.best(table, "train_seconds")["mnist_mlp"]["ties"]) == ties
        assert summary.versus(table, "cpu1", "train_seconds")["cpu4"][1] == ties


def test_nothing_is_best_without_a_price() -> None:
    table = summary.cells(runs(run()), costs(runs(run()), {"cpu1": {"label": "1 vCPU"}}))
    assert summary.best(table, summary.cost_column("on-demand")) == {"mnist_mlp": None}
    assert summary.versus(table, "cpu1", summary.cost_column("on-demand")) == {}


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
    assert summary.versus(table, "cpu1", "train_seconds") == {"cpu4": (1, 1, 2)}, "a tie is not less"
    assert summary.versus(table, "cpu1", summary.cost_column("on-demand")) == {"cpu4": (1, 0, 2)}


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
        ({"epochs_done": 20, "data": "synthetic"}, None, None),
    ],
)
def test_published_result_is_that_after_as_many_samples(values: dict, epochs: int | None, published: float) -> None:
    (row,) = summary.learned(runs(run(**values)))
    assert (row["published_epochs"], row["published"]) == (epochs, published)


def test_failed_cell_learned_nothing() -> None:
    assert summary.learned(runs(run(**FAILED))) == []


def test_example_catalogue_prices_what_the_tests_say() -> None:
    assert costs(runs(run()), CATALOGUE)["cost_usd"].to_list() == pytest.approx([0.001, 0.0005])


BASE = {"hardware": "cpu1", "framework": "tensorflow"}


def money(*rows: dict) -> dict[tuple[str, str], dict]:
    priced = costs(runs(*rows))
    shown = priced[priced["price_option"] == "on-demand"]
    return {(row["hardware"], row["framework"]): row for row in summary.money(shown, BASE)}


def test_money_tells_each_cell_against_the_base() -> None:
    cells = money(
        run(train_seconds=100.0),
        run(train_seconds=120.0, repeat=2),
        run(hardware="cpu4", train_seconds=20.0),
        run(hardware="cpu4", train_seconds=28.0, repeat=2),
        run(framework="jax", train_seconds=200.0),
    )
    base, four, jax = cells["cpu1", "tensorflow"], cells["cpu4", "tensorflow"], cells["cpu1", "jax"]
    assert [base[key] for key in ("cost_usd", "low", "high")] == pytest.approx([0.0011, 0.0010, 0.0012])
    assert (base["ratio"], base["cheaper"], base["runs"]) == (1.0, None, 2), "the base is not compared with itself"
    # cpu4 is four times as dear: 20 s cost 0.0008, 28 s 0.00112, against 0.0010 and 0.0012.
    assert four["ratio"] == pytest.approx(0.00096 / 0.0011)
    assert (four["cheaper"], four["pairs"]) == (0.75, 4)
    assert jax["ratio"] == pytest.approx(0.002 / 0.0011)
    assert jax["cheaper"] is None, "one run tells no probability"
    assert [cell["front"] for cell in (base, four, jax)] == [False, True, False]


def test_money_without_the_base_has_no_ratio() -> None:
    (cell,) = money(run(hardware="cpu4")).values()
    assert (cell["ratio"], cell["cheaper"], cell["pairs"]) == (None, None, 0)


def test_owning_pays_from_the_days_that_the_rent_says() -> None:
    # 730 USD over 10 months is 73 a month; at 0.146 USD/h rented and 0.046 for energy, 730 hours.
    own = {"acquisition_usd": 730, "life_months": 10, "power_watts": 460, "usd_per_kwh": 0.1, "hours_per_month": 100}
    prices = pd.DataFrame(
        [("box", "on-demand", "on-demand", 0.146), ("box", "spot", "spot", 0.04), ("box", "owned", "owned", 0.776)],
        columns=["hardware", "price_option", "purchase", "usd_per_hour"],
    )
    rented, spot = summary.rent_or_own({"box": {"own": own}}, prices)
    assert rented["days"] == pytest.approx(730 / 24)
    assert (rented["rented"], rented["owned"]) == (0.146, 0.776)
    assert spot["days"] == float("inf"), "the energy alone is dearer"
    assert summary.rent_or_own({"box": {}}, prices[prices["purchase"] != "owned"]) == []


def test_target_is_reached_after_whole_epochs_or_not_at_all() -> None:
    frame = runs(run(), run(repeat=2), run(hardware="cpu4"))
    path = frame["run"].to_list()
    epochs = pd.DataFrame(
        [(path[0], 0, 10.0, 0.5), (path[0], 1, 8.0, 0.9), (path[1], 0, 12.0, 0.9), (path[2], 0, 5.0, 0.2)],
        columns=["run", "epoch", "elapsed", "val_acc"],
    ).assign(workload="mnist_mlp", samples=100, first_step_seconds=0.0, cut=0)
    priced = costs(frame)
    shown = priced[priced["price_option"] == "on-demand"]
    one, four = summary.to_targets(frame, epochs, shown, {"mnist_mlp": 0.9, "imdb_fasttext": 0.8})
    assert (one["reached"], one["runs"], one["seconds"]) == (2, 2, 15.0)
    assert one["cost_usd"] == pytest.approx(15 * 0.036 / 3600)
    assert (four["reached"], four["runs"], four["seconds"], four["cost_usd"]) == (0, 1, None, None)
    few, _ = summary.to_targets(frame, epochs.iloc[[0, 2, 3]], shown, {"mnist_mlp": 0.9})
    assert (few["reached"], few["seconds"]) == (1, None), "one of two took for ever"
    interrupted = epochs.assign(cut=[0, 1, 0, 0])
    rest, _ = summary.to_targets(frame, interrupted, shown, {"mnist_mlp": 0.9})
    assert (rest["runs"], rest["seconds"]) == (1, 12.0), "a run that was taken up again has two starts in its time"


def test_interval_of_the_median_needs_six_runs() -> None:
    def interval(count: int) -> tuple | None:
        rows = [run(train_seconds=100.0 + 10 * n, repeat=n) for n in range(1, count + 1)]
        return money(*rows)["cpu1", "tensorflow"]["interval"]

    assert interval(5) is None
    low, high, coverage = interval(6)
    assert (low, high) == pytest.approx((0.0011, 0.0016)), "from the fastest to the slowest"
    assert coverage == pytest.approx(1 - 2 / 2**6)


def test_ranges_of_prices_count_in_the_probability_on_another_machine_only() -> None:
    frame = runs(
        *[run(repeat=n, train_seconds=100.0) for n in (1, 2)],
        *[run(hardware="cpu4", repeat=n, train_seconds=25.0) for n in (1, 2)],
        *[run(framework="jax", repeat=n, train_seconds=99.0) for n in (1, 2)],
    )
    priced = costs(frame)
    shown = priced[priced["price_option"] == "on-demand"].copy()
    # cpu4 at 0.144 USD/h costs as much as the base at 0.036; somewhere between 0.108 and 0.144 it costs less.
    shown.loc[shown["hardware"] == "cpu4", "usd_per_hour_low"] = 0.108
    shown.loc[shown["hardware"] == "cpu1", "usd_per_hour_high"] = 0.072
    found = {(row["hardware"], row["framework"]): row for row in summary.money(shown, BASE)}
    assert found["cpu4", "tensorflow"]["cheaper"] == 1.0
    assert found["cpu1", "jax"]["cheaper"] == 1.0, "the same machine has the same price"
    assert found["cpu4", "tensorflow"]["low"] == pytest.approx(25 * 0.108 / 3600)
    assert found["cpu1", "tensorflow"]["high"] == pytest.approx(100 * 0.072 / 3600)
