"""What a training of full length takes, worked out from a shorter one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.analysis import clocks, derive
from scripts.records import record
from scripts.storage import tables
from tests.made import JUDGE, read_run, run
from tests.made import runs as table

ROOT = Path(__file__).resolve().parents[2]

#: Trainings of many epochs, whose first two are a training at a reduced scale.
LONG = [path for path in sorted((ROOT / "reports" / "accuracy").rglob("run.json")) if len(
    record.read_epochs(path.with_name("epochs.csv"))) >= 4]  # fmt: skip

TIMES = {"total_seconds": 30.0, "first_step_seconds": 2.0, "train_seconds": 12.0, "validation_seconds": 1.0}


def test_published_length_is_that_of_the_workload_and_all_its_data() -> None:
    part = run(epochs=2, epochs_done=2, train_samples=5_000, samples_fraction=0.5, data_fraction=0.2, **TIMES)
    assert clocks.published_length(part) == (5_000 / 0.1 * 20, 20)
    own = run(workload="of_a_user", epochs=3, epochs_done=3, train_samples=5_000, samples_fraction=0.5, **TIMES)
    assert clocks.published_length(own) == (30_000, 3)
    cut = run(epochs=20, epochs_done=5, train_samples=5_000, samples_fraction=0.5, **TIMES)
    assert clocks.published_length(cut) == (25_000, 5), "it has reached its target"
    assert clocks.published_length(run(samples_fraction=None)) is None
    assert clocks.published_length(run(train_samples=None)) is None


def test_what_is_done_once_is_counted_once() -> None:
    """18 s around the epochs, 2 s of the first step; 10^6 samples at 1,000/s; .5 s of validation in 20 epochs."""
    short = run(epochs=2, epochs_done=2, train_samples=50_000, samples_per_second=1_000.0, **TIMES)
    assert clocks.published_seconds(short) == pytest.approx(18 + 2 + 1_000 + 20 * 0.5)


def test_scale_cuts_the_validation_and_data_that_are_not_at_hand_do_not() -> None:
    """A fifth of the training data, a tenth of it trained on: validation of 5 s an epoch at full size."""
    part = {"samples_fraction": 0.1, "data_fraction": 0.2, "train_samples": 1_000, "samples_per_second": 1_000.0}
    short = run(epochs=2, epochs_done=2, **TIMES | part)
    assert clocks.published_seconds(short) == pytest.approx(18 + 2 + 1_000 + 20 * 0.5 / 0.1)


@pytest.mark.parametrize(
    ("workload", "counts", "passes"),
    [
        # MNIST holds out 10,000 whatever is at hand; a scale had cut them to whole batches.
        ("mnist_mlp", {"data_fraction": 0.5, "samples_fraction": 0.1, "validation_samples": 896}, 10_000 / 896),
        # Of a text a tenth is held out, of half a text half of that.
        (
            "nietzsche_gpt",
            {
                "data_fraction": 0.5,
                "samples_fraction": 0.1,
                "validation_samples": 32,
                "whole_train_samples": 4_200,
                "whole_validation_samples": 466,
            },
            466 / 0.5 / 32,
        ),
        ("of_a_user", {"data_fraction": 1.0, "samples_fraction": 0.25, "validation_samples": 100}, 4),
        (
            "lstm_text_generation",
            {"data_fraction": 1.0, "samples_fraction": 0.1, "validation_samples": 0, "whole_validation_samples": 0},
            1,  # it has none
        ),
    ],
)
def test_validation_is_that_of_all_the_data(workload: str, counts: dict, passes: float) -> None:
    """Of 1 s an epoch, with a training that takes none to speak of."""
    short = run(workload=workload, epochs=2, epochs_done=2, train_samples=10, samples_per_second=1e12)
    short |= counts | TIMES | {"validation_seconds": 2.0}
    published = clocks.published_length(short)
    assert published
    assert clocks.published_seconds(short) == pytest.approx(18 + 2 + published[1] * passes)


def test_samples_that_a_scale_cut_to_whole_batches_are_of_the_published_length() -> None:
    """60,000 x .02 are 1,200 samples: nine batches of 128 are 1,152 of them."""
    short = run(workload="mnist_cnn", epochs=2, epochs_done=2, train_samples=1_152, samples_fraction=0.02, **TIMES)
    assert clocks.published_length(short | {"whole_train_samples": 60_000}) == (12 * 60_000, 12)


def test_whole_training_is_not_worked_out_from_a_smaller_model() -> None:
    """As the workload says that its model grows with the data, and as a model of all data has other parameters."""
    short = TIMES | {"epochs": 2, "epochs_done": 2, "train_samples": 1_920, "samples_fraction": 0.0768}
    whole = {"whole_train_samples": 25_000, "whole_validation_samples": 25_000, "validation_samples": 1_920}
    grows, same = run(workload="imdb_fasttext", **short), run(workload="imdb_bidirectional_lstm", **short)
    assert clocks.published_seconds(grows) is None, "before 2026-12 a scale cut the model"
    assert clocks.published_seconds(same) is not None
    assert clocks.published_seconds(grows | whole) is not None
    assert clocks.published_seconds(grows | whole | {"data_fraction": 0.5}) is None, "a kit with half of the reviews"
    own = run(workload="of_a_user", **short)
    assert clocks.published_seconds(own | {"parameters": 10}, parameters=60) is None
    assert clocks.published_seconds(own | {"parameters": 60}, parameters=60) is not None
    assert clocks.published_seconds(own, parameters=60) is not None, "its table does not record it"


def test_run_of_all_data_shows_which_models_are_smaller() -> None:
    short = TIMES | {"workload": "of_a_user", "epochs": 2, "epochs_done": 2, "train_samples": 500}
    rows = [
        run(repeat=1, parameters=10, samples_fraction=0.1, **short),
        run(repeat=2, parameters=60, samples_fraction=1.0, **short),
        run(repeat=3, parameters=10, samples_fraction=0.1, mode="tuned", **short),
    ]
    table_of = clocks.complete(table(*rows))
    assert table_of["published_seconds"].isna().tolist() == [True, False, False]
    assert clocks.smaller(table_of) == (
        "The cost of a whole training of of_a_user is unknown: its model grows with the data, and was made from "
        "10 % of them."
    )
    assert clocks.smaller(clocks.complete(table(rows[1]))) == ""


@pytest.mark.parametrize("unknown", ["total_seconds", "train_seconds", "samples_per_second", "first_step_seconds"])
def test_what_cannot_be_known_is_none(unknown: str) -> None:
    assert clocks.published_seconds(run(epochs=2, epochs_done=2, **TIMES | {unknown: None})) is None


def extrapolated(path: Path) -> float:
    """Return what two epochs of a long training say of the whole, over what it took."""
    long = read_run(path)
    # The first records have no warm-up apart.
    none = {"warmup_seconds": 0.0, "warmup_samples": 0}
    epochs = [none | row for row in record.read_epochs(path.with_name("epochs.csv"))]
    batch = long["cell"]["batch_size"]
    short = derive.totals(epochs[:2], batch)
    whole = derive.totals(epochs, batch)
    assert short["samples_per_second"]
    assert whole["train_seconds"]
    samples = sum(row["samples"] for row in epochs)
    around = long["times"]["total_seconds"] - whole["train_seconds"]
    expected = around + short["first_step_seconds"] + samples / short["samples_per_second"]
    expected += len(epochs) * short["validation_seconds"] / 2
    return float(expected / long["times"]["total_seconds"])


def test_two_epochs_show_how_long_a_long_training_takes() -> None:
    """On runs that were made, whose machine had other work of changing size: docs/measuring.md has the figures."""
    ratios = np.array([extrapolated(path) for path in LONG])
    assert len(ratios) >= 10
    assert abs(np.median(ratios) - 1) < 0.05
    assert (np.abs(np.log(ratios)) < np.log(2.5)).all(), ratios.round(2)


def test_how_far_it_was_extrapolated_is_said_in_words() -> None:
    whole = clocks.complete(table(run(epochs=20, epochs_done=20, train_samples=50_000, **TIMES)))
    assert clocks.extrapolated(whole) == "as measured"
    parts = [run(epochs=n, epochs_done=n, train_samples=50_000, repeat=n, **TIMES) for n in (2, 4)]
    said = clocks.extrapolated(clocks.complete(table(*parts)))
    assert said.startswith("extrapolated from 10 to 20 % of its samples; "), "and how far off that may be"
    logs = clocks.complete(table(run(total_seconds=None)))
    assert not clocks.is_paid_by_process(logs)
    assert isinstance(pd.concat([whole, logs]), pd.DataFrame)
    assert set(tables.columns("runs")) == set(whole.columns)


def repaid(tuned: tuple[float, float], stock: tuple[float, float]) -> dict:
    """Return the row of a cell whose processes take (once, samples/s) so, three runs on each side."""
    rows = [
        run(repeat=i, mode=mode, train_seconds=100.0, first_step_seconds=2.0, total_seconds=98.0 + once)
        | {"samples_per_second": rate * (1 + (i - 2.5) / 1000), "published_samples": 100_000.0}
        for mode, (once, rate) in (("tuned", tuned), ("stock", stock))
        for i in range(6)
    ]
    (row,) = clocks.repaid(table(*rows), JUDGE)
    return row


def test_tuned_pays_once_its_compilation_is_repaid() -> None:
    """Ten seconds more at the start, and 500 samples/s more: 1/500 - 1/1000 s are gained a sample."""
    row = repaid((20.0, 1_000.0), (10.0, 500.0))
    assert row["samples"] == pytest.approx(10_000, rel=0.02)
    assert (row["words"], row["part"]) == ("from 10,000 samples on", pytest.approx(0.1, rel=0.02))


@pytest.mark.parametrize(
    ("tuned", "words"),
    [
        ((10.0, 1_000.0), "from the start"),
        ((20.0, 300.0), "never"),
        ((5.0, 250.0), "up to 2,500 samples"),
        ((20.0, 510.0), "tie"),
    ],
)
def test_what_never_or_always_pays_says_so(tuned: tuple[float, float], words: str) -> None:
    assert repaid(tuned, (10.0, 500.0))["words"] == words


def test_start_that_noise_hides_pays_at_no_number_of_samples() -> None:
    """Half a second more at the start, of ten: the rate, twice as high, is clearly different, the start is not."""
    row = repaid((10.4, 1_000.0), (10.0, 500.0))
    assert row["samples"] is None
    assert row["words"] == "faster a sample; its start: too close to call"


def test_speed_test_has_no_published_length() -> None:
    noise = run(workload="resnet50", epochs=1, epochs_done=1, train_samples=256, samples_fraction=0.0625, **TIMES)
    assert clocks.published_length(noise) is None
    assert clocks.published_seconds(noise | {"samples_per_second": 6.0}) is None
    recorded = run(workload="of_a_user", epochs=1, epochs_done=1, is_training=False, **TIMES)
    assert clocks.published_length(recorded) is None, "its record says that its labels are random"


def test_speed_tests_that_were_published_are_no_trainings() -> None:
    """256 images of noise a run: written before records had it in the tables."""
    read = tables.read_csv("runs", ROOT / "reports" / "published" / "tables" / "batch-size" / "runs.csv")
    whole = clocks.complete(read)
    assert len(whole) == 27
    assert whole["is_training"].eq(False).all()
    assert whole["published_seconds"].isna().all()
