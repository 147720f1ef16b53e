import pandas as pd
import pytest

from scripts import report
from scripts.analysis import beside
from scripts.analysis.beside import STEADY, TRAINING, Side
from scripts.importers import facts
from scripts.storage import tables
from scripts.studies import definition
from tests.made import CATALOGUE, FAILED, run, runs

#: Merge into `run` for what a log by epoch of 2017 does not record.
LOG = dict.fromkeys(
    ("batch_size", "mode", "precision", "devices", "data", "data_fraction", "samples_fraction", "train_samples",
     "first_step_seconds", "samples_per_second", "started_at")
)  # fmt: skip

#: Likewise for a table of throughput, which names the precision.
RATE = LOG | {"epochs_done": None, "epochs": None, "train_seconds": None, "precision": "float16"}

EPOCHS = {"mnist_mlp": 20, "resnet50": 1}

ARTICLE = {"title": "An article", "by": "Somebody", "date": "2017-11-03"}


def side(*rows: dict, title: str = "Logs", **about) -> Side:
    return Side(title, runs(*rows), {"k80": "K80", "cpu1": "1 vCPU"}, **{"published": ARTICLE} | about)


def compare(own: list[dict], *others: Side) -> list[beside.Table]:
    return beside.compare(side(*own, title="Ours", published={}), others, EPOCHS)


def columns(table: beside.Table, *keys: str) -> list[list]:
    return [[row[key] for key in keys] for row in table.rows]


def test_logs_by_epoch_are_compared_on_the_training_clock() -> None:
    """Ours: 50,000 x 20 samples in 98 s and a first step of 2 s; a log of 200 s holds its first step."""
    (table,) = compare([run(train_seconds=100.0)], side(run(hardware="k80", train_seconds=200.0, **LOG)))
    assert (table.workload, table.clock, table.assumed, table.without) == ("mnist_mlp", TRAINING, 50_000, [])
    assert columns(table, "study", "own", "machine", "samples_per_second", "times") == [
        ["Ours", True, "1 vCPU", 10_000, 1],
        ["Logs", False, "K80", 5_000, 2],
    ]


def test_tables_of_throughput_are_compared_on_the_steady_clock() -> None:
    rates = [run(workload="resnet50", hardware="k80", **RATE | {"samples_per_second": rate}) for rate in (40.0, 60.0)]
    (table,) = compare([run(workload="resnet50", samples_per_second=25.0)], side(*rates))
    assert (table.clock, table.assumed) == (STEADY, None)
    assert columns(table, "machine", "precision", "samples_per_second", "runs", "times") == [
        ["K80", "float16", 50, 2, 0.5],
        ["1 vCPU", "float32", 25, 1, 1],
    ]


def test_throughput_worked_out_from_whole_epochs_is_no_steady_rate() -> None:
    """A log that records its samples has a throughput in the runs table, which holds validation and first step."""
    log = LOG | {"train_samples": 40_000, "samples_per_second": 4_000.0}
    frame = runs(run(hardware="k80", train_seconds=200.0, **log))
    assert beside.rates(frame, STEADY, {}).isna().all()
    assert beside.rates(frame, TRAINING, {}).to_list() == [4_000.0], "its own 40,000 x 20 samples in 200 s"


def test_study_without_a_rate_on_the_clock_is_named() -> None:
    logs = [side(run(hardware="k80", **LOG), title=title) for title in ("One", "Two")]
    (table,) = compare([run()], *logs, side(run(hardware="k80", **RATE | {"samples_per_second": 7.0}), title="Rates"))
    assert (table.clock, table.without) == (TRAINING, ["Rates"])
    assert {row["study"] for row in table.rows} == {"Ours", "One", "Two"}


def test_steady_counts_where_all_can_give_both() -> None:
    (table,) = compare([run()], side(run(hardware="k80")))
    assert table.clock == STEADY


def test_run_that_was_taken_up_again_has_no_time_to_compare() -> None:
    log = side(run(hardware="k80", **LOG))
    assert compare([run(train_seconds=None)], log) == []
    (table,) = compare([run(train_seconds=None), run(repeat=2)], log)
    assert [row["runs"] for row in table.rows if row["own"]] == [1]


def test_best_cell_of_each_machine_and_precision_is_shown_with_what_it_is_the_best_of() -> None:
    own = [
        run(samples_per_second=10.0),
        run(samples_per_second=30.0, repeat=2),
        run(mode="tuned", framework="jax", samples_per_second=25.0),
        run(batch_size=512, samples_per_second=5.0),
        run(precision="tf32", samples_per_second=40.0),
        run(hardware="cpu4", samples_per_second=1.0),
        run(devices=2, samples_per_second=35.0),
        run(framework="torch", samples_per_second=99.0) | FAILED | {"samples_per_second": 99.0},
    ]
    (table,) = compare(own, side(run(hardware="k80", samples_per_second=4.0)))
    keys = (
        "hardware",
        "devices",
        "precision",
        "framework",
        "mode",
        "batch_size",
        "samples_per_second",
        "runs",
        "cells",
    )
    assert columns(table, *keys) == [
        ["cpu1", 1, "tf32", "tensorflow", "stock", 128, 40, 1, 1],
        ["cpu1", 2, "float32", "tensorflow", "stock", 128, 35, 1, 1],
        ["cpu1", 1, "float32", "jax", "tuned", 128, 25, 1, 3],
        ["k80", 1, "float32", "tensorflow", "stock", 128, 4, 1, 1],
        ["cpu4", 1, "float32", "tensorflow", "stock", 128, 1, 1, 1],
    ]
    assert [row["times"] for row in table.rows] == [1, 40 / 35, 1.6, 10, 40]


def test_batch_sizes_that_two_studies_share_are_rows_of_their_own() -> None:
    def cells(rate: float, sizes: list[int], **more) -> list[dict]:
        return [run(batch_size=size, samples_per_second=rate + size, workload="resnet50", **more) for size in sizes]

    card = RATE | {"hardware": "k80"}
    both = cells(
        100.0, [16, 32, 64], **{k: v for k, v in card.items() if k not in ("batch_size", "samples_per_second")}
    )
    (table,) = compare(cells(0.0, [16, 32]), side(*both))
    shown = [["K80", 64], ["K80", 32], ["K80", 16], ["1 vCPU", 32], ["1 vCPU", 16]]
    assert columns(table, "machine", "batch_size") == shown
    (table,) = compare(cells(0.0, [16, 32]), side(*both[1:2]))
    assert columns(table, "machine", "batch_size") == [["K80", 32], ["1 vCPU", 32]], "one in common is the best of each"


def test_what_stands_alone_has_no_table() -> None:
    assert compare([run()]) == []
    assert compare([run()], side(run(workload="resnet50"))) == []
    assert compare([run(**FAILED)], side(run(hardware="k80"))) == []
    assert compare([run()], side(run(hardware="k80", **FAILED))) == []


def test_size_of_a_training_is_said_and_what_is_reduced_is_marked() -> None:
    own = [
        run(samples_fraction=0.5, data_fraction=0.2, epochs_done=2),
        run(hardware="cpu4"),
        run(hardware="gpu", data="synthetic"),
    ]
    (table,) = compare(own, side(run(hardware="k80", **RATE | {"samples_per_second": 1.0})))
    found = {
        row["hardware"]: [row[key] for key in ("part", "epochs_done", "epochs", "reduced", "data")]
        for row in table.rows
    }
    assert found == {
        "cpu1": [0.1, 2, 20, True, "real"],
        "cpu4": [1.0, 20, 20, False, "real"],
        "gpu": [1.0, 20, 20, False, "synthetic"],
        "k80": [None, None, 20, False, None],
    }


def test_date_is_that_of_the_runs_or_of_the_publication() -> None:
    own = [run(), run(repeat=2, started_at="2026-03-01T00:00:00+00:00")]
    (table,) = compare(own, side(run(hardware="k80", **RATE | {"samples_per_second": 1.0})))
    assert columns(table, "first", "last", "published") == [["2026-01", "2026-03", None], [None, None, "2017-11"]]


def test_samples_of_an_official_epoch_are_those_of_the_largest_part() -> None:
    """Half of the data at hand, a fifth of the official ones: 50,000 of them."""
    frame = runs(
        run(samples_fraction=0.01, train_samples=384),
        run(samples_fraction=0.5, data_fraction=0.2, train_samples=5_000),
        run(workload="resnet50", train_samples=4_096),
        run(workload="vgg16", **LOG),
    )
    assert beside.epoch_samples(frame) == {"mnist_mlp": 50_000, "resnet50": 4_096}


def test_what_is_unlike_is_said_where_it_touches_a_row() -> None:
    entries = [
        {"where": {"hardware": "k80"}, "says": "an old card"},
        {"where": {"workload": ["resnet50"], "hardware": ["k80"]}, "says": "another network"},
        {"where": {"framework": "cntk"}, "says": "not shown"},
    ]
    logs = side(run(hardware="k80"), run(hardware="k80", workload="resnet50"), unlike=entries)
    found = compare([run(), run(workload="resnet50")], logs)
    assert [(note["says"], note["workloads"]) for note in beside.unlike([logs], found)] == [
        ("an old card", ["mnist_mlp", "resnet50"]),
        ("another network", ["resnet50"]),
    ]


def test_run_whose_log_is_doubted_says_so() -> None:
    rows = [run(hardware="k80"), run(hardware="cpu4", samples_per_second=1.0)]
    (table,) = compare([run()], side(*rows, doubts={rows[0]["run"]: "same bytes as another", "gone": "none"}))
    assert {(row["study"], row["hardware"]): row["doubts"] for row in table.rows} == {
        ("Ours", "cpu1"): [],
        ("Logs", "k80"): ["same bytes as another"],
        ("Logs", "cpu4"): [],
    }


# With the tables of the published studies


def published(name: str) -> Side:
    """Return a published study as it stands beside another."""
    study = definition.read(name, {})[1]
    if "import" in study:
        frame = tables.conform(facts.runs_of(facts.read(definition.ROOT / study["import"]["facts"])), "runs")
    else:
        frame = tables.read_csv("runs", definition.ROOT / study["tables"] / "runs.csv")
    return report.side(study, CATALOGUE, frame)


@pytest.fixture(scope="module")
def others() -> list[Side]:
    return [published(name) for name in ("gpus-2017", "lambda-gpus", "two-cores")]


@pytest.mark.slow
def test_a_card_stands_beside_the_published_ones(others: list[Side]) -> None:
    """K80 with TensorFlow: 50,000 x 20 images in 775 s (its log); Lambda's V100: 369 and 833 images/s as printed."""
    own = [
        run(workload=name, train_samples=samples) for name, samples in (("cifar10_cnn", 50_000), ("resnet50", 4_096))
    ]
    found = {table.workload: table for table in compare(own, *others)}
    assert {name: table.clock for name, table in found.items()} == {"cifar10_cnn": TRAINING, "resnet50": STEADY}
    (k80,) = [row for row in found["cifar10_cnn"].rows if row["hardware"] == "k80"]
    log = next(row for row in tables.records(others[0].runs) if row["run"] == f"k80/cifar10_cnn_{k80['framework']}")
    assert k80["samples_per_second"] == pytest.approx(50_000 * 20 / log["train_seconds"])
    assert (k80["runs"], k80["cells"], k80["published"], k80["reduced"]) == (1, 2, "2017-11", False)
    v100 = {row["precision"]: row for row in found["resnet50"].rows if row["hardware"] == "v100-16gb"}
    assert {name: (row["samples_per_second"], row["batch_size"]) for name, row in v100.items()} == {
        "float32": (369, 128),
        "float16": (833, 256),
    }
    mlp = {table.workload: table for table in compare([run(workload="mnist_mlp", train_samples=60_000)], *others)}
    ours = [row for row in mlp["mnist_mlp"].rows if row["study"] == others[2].title]
    assert {row["hardware"] for row in ours} == {"cpu1", "cpu2", "cpu2-again"}
    assert all(row["reduced"] and row["part"] == pytest.approx(0.128) for row in ours)


def test_training_clock_of_our_own_runs_is_the_sum_of_their_epochs() -> None:
    study = definition.read("two-cores", {})[1]
    frame = published("two-cores").runs
    epochs = pd.read_csv(definition.ROOT / study["tables"] / "epochs.csv")
    whole = epochs.groupby("run").agg(samples=("samples", "sum"), seconds=("elapsed", "sum")).loc[frame["run"]]
    expected = (whole["samples"] / whole["seconds"]).to_list()
    assert beside.rates(frame, TRAINING, {}).to_list() == pytest.approx(expected)


def test_logs_that_are_those_of_an_earlier_study_are_doubted(others: list[Side]) -> None:
    assert {run: said.partition(" in ")[0] for run, said in others[0].doubts.items() if run.startswith("k80/")} == {
        f"k80/{name}_cntk": f"same bytes as logs/{name}_cntk.csv of k80"
        for name in ("imdb_bidirectional_lstm", "mnist_cnn", "mnist_mlp")
    }
    assert (others[1].doubts, others[2].doubts) == ({}, {})
