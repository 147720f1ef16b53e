"""What cannot be true together is refused; all that this project ever wrote is not."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.analysis import contradictions
from scripts.records import record as records
from scripts.records.samples import Sample
from scripts.storage import tables
from scripts.storage.errors import InputError
from tests import made
from tests.made import read_run

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SAMPLES = [Sample(95.0 + i, "train", 90.0, 256.0, 50.0, 1.0) for i in range(20)]


def wrong(record: dict | None = None, epochs: list[dict] | None = None, samples: list[Sample] | None = None) -> str:
    return contradictions.of_record(record or made.record(), epochs or made.epochs(), samples or SAMPLES, NOW) or ""


def times(**values) -> dict:
    return {"times": made.record()["times"] | values}


def changed(number: int, **values) -> list[dict]:
    rows = made.epochs()
    return [row | values if place == number else row for place, row in enumerate(rows)]


def test_what_was_written_is_without() -> None:
    assert wrong() == ""


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (times(total_seconds=30_000.0), "times: total_seconds: 30000, and its parts take only"),
        (times(total_seconds=300.0), "and its parts take only"),
        (times(total_seconds=15.0), "times: total_seconds: 15, and its parts take"),
        (times(import_seconds=8_000.0), "and its parts take"),
        (times(build_seconds=3_000.0), "and its parts take"),
        (times(data_seconds=60.0), "and its parts take"),
        ({"clock_seconds": 100_000.0}, "clock_seconds: 100000, and telemetry.csv is from 95 to 114"),
        ({"data": made.record()["data"] | {"kind": "synthetic"}}, "data: kind: synthetic, and its cell has real"),
        ({"batch_size": 256}, "batch_size: 256, and its cell has 128"),
        ({"train_samples": 60_000}, "train_samples: 60000, of 30000 at hand"),
        ({"train_samples": 14_000}, "epochs.csv: epoch 0: samples: 15000, and the run trains on 14000"),
        ({"cell": made.record()["cell"] | {"epochs": 3}}, "status: done after 2 of 3 epochs"),
        ({"cell": made.record()["cell"] | {"epochs": 1}}, "epochs.csv: 2 epochs, and 1 were asked for"),
        ({"data": made.record()["data"] | {"train_samples": 70_000}}, "data: train_samples: 70000, of 60000 at most"),
        (
            {"provenance": made.record()["provenance"] | {"started_at": "2999-01-02T03:04:05+00:00"}},
            "started_at: 2999-01-02T03:04:05+00:00: runs are from 2015 to today",
        ),
        ({"provenance": made.record()["provenance"] | {"started_at": "1970-01-01T00:00:00"}}, "runs are from 2015"),
        ({"provenance": made.record()["provenance"] | {"started_at": "yesterday"}}, "'yesterday' is no time"),
    ],
)
def test_record_that_contradicts_itself_is_named(values: dict, said: str) -> None:
    assert said in wrong(made.record(**values))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"elapsed": 14.0}, "epoch 1: elapsed: 14 s, and its parts take"),
        ({"elapsed": -5.5}, "elapsed: -5.5, not below 0"),
        ({"elapsed": None}, "elapsed: None"),
        ({"epoch": 4}, "epoch: the epochs are not 0, 1, 2"),
        ({"epoch": 0}, "epoch: the epochs are not 0, 1, 2"),
        ({"acc": 72.0}, "acc: 72.0, from 0 to 1"),
        ({"val_acc": -0.72}, "val_acc: -0.72, from 0 to 1"),
        ({"training_seconds": 5_000.0}, "and its parts take"),
        ({"validation_seconds": -3.0, "training_seconds": 8.5}, "a time below 0: -3 s"),
        ({"warmup_seconds": 50.0}, "warmup_seconds: 50 of"),
        ({"samples": 1_500}, "samples: 1500, and the run trains on 15000"),
        ({"warmup_samples": 20_000}, "warmup_samples: 20000 of 15000"),
    ],
)
def test_epoch_that_contradicts_itself_is_named(values: dict, said: str) -> None:
    assert said in wrong(epochs=changed(1, **values))


@pytest.mark.parametrize(
    ("readings", "said"),
    [((100.0, 99.0), "the clock goes backwards"), ((100.0, 100.0), "backwards"), ((100.0, 200.0), "over 100 s, and")],
)
def test_telemetry_of_another_run_is_named(readings: tuple[float, ...], said: str) -> None:
    assert said in wrong(samples=[Sample(reading, "train", 90.0, 256.0, 50.0, 1.0) for reading in readings])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mnist_mlp/cpu1/jax/b128/r1", None),
        ("node-7/mnist_mlp/cpu1/jax/b128/r1", None),
        ("mnist_mlp/cpu2/jax/b128/r1", "in the folder mnist_mlp/cpu2/jax/b128/r1"),
        ("mnist_mlp/cpu1/jax/b128/r2", "of mnist_mlp/cpu1/jax/b128/r1, and in the folder mnist_mlp/cpu1/jax/b128/r2"),
    ],
)
def test_record_lies_in_the_folder_of_its_cell(name: str, said: str | None) -> None:
    found = contradictions.of_folder(name, made.record())
    assert found is None if said is None else said in found


def test_copy_of_a_run_is_named() -> None:
    first, later = (
        {"run": "r1", "started_at": "2026-01-02T03:04:05"},
        {"run": "r2", "started_at": "2026-01-02T04:00:00"},
    )
    assert contradictions.of_copies([(first, made.epochs()), (later, made.epochs())]) is None
    found = contradictions.of_copies([(first, made.epochs()), (first | {"run": "r2"}, made.epochs())])
    assert found == "r2/run.json: started and took as r1 did, to the last digit: one is a copy"


def test_every_record_of_this_project_is_without() -> None:
    files = sorted((ROOT / "reports" / "accuracy").rglob("run.json"))
    assert files
    for file in files:
        read_run(file)


TABLES = sorted((ROOT / "reports" / "published" / "tables").glob("*/runs.csv"))


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.parent.name)
def test_published_tables_are_without(file: Path) -> None:
    epochs = tables.read_csv("epochs", file.with_name("epochs.csv"))
    assert contradictions.of_tables(tables.read_csv("runs", file), epochs) is None


@pytest.mark.parametrize(
    ("column", "factor", "said"),
    [
        ("train_seconds", 2, "and its parts take"),
        ("training_seconds", 1_000, "and its parts take"),
        ("total_seconds", 0.001, "and train_seconds"),
        ("samples_per_second", 2, "samples took"),
        ("val_acc", 100, "from 0 to 1"),
        ("train_seconds", -1, "not below 0"),
        ("epochs_done", 2, "and epochs.csv has"),
    ],
)
def test_table_that_contradicts_itself_is_named(column: str, factor: float, said: str) -> None:
    file = next(table for table in TABLES if table.parent.name == "two-cores")
    frame, epochs = tables.read_csv("runs", file), tables.read_csv("epochs", file.with_name("epochs.csv"))
    edited = frame.copy()
    edited[column] = edited[column].where(edited.index != 3, edited[column] * factor)
    found = contradictions.of_tables(edited, epochs)
    assert found is not None
    assert found.startswith(f"runs.csv: run {frame['run'][3]}: ")
    assert said in found


def test_run_that_is_there_twice_is_named() -> None:
    file = TABLES[0]
    frame, epochs = tables.read_csv("runs", file), tables.read_csv("epochs", file.with_name("epochs.csv"))
    copied = frame.copy()
    copied.loc[1, "run"] = copied["run"][0]
    assert "is there twice" in (contradictions.of_tables(copied, epochs) or "")
    assert "is not in runs.csv" in (contradictions.of_tables(frame.iloc[1:], epochs) or "")


def test_collect_refuses_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "mnist_mlp/cpu1/jax/b128/r2"
    records.write(folder, made.record(), made.epochs(), [])
    with pytest.raises(InputError, match=r"run\.json: cell, repeat: of mnist_mlp/cpu1/jax/b128/r1, and in the folder"):
        made.collect(tmp_path, [folder / "run.json"], 1)
