import csv
import json
from pathlib import Path

import pytest

from scripts.measurement.outcome import Outcome
from scripts.records import record
from scripts.records.cell import Cell
from scripts.records.reference import Reference
from scripts.records.samples import Gpu, Sample
from scripts.storage.errors import InputError
from tests import made

PUBLISHED = "epoch,elapsed,loss,acc,val_loss,val_acc\r\n0,3.86,0.2466,0.92415,0.1179,0.9638\r\n"


def epochs_file(folder: Path, text: str) -> Path:
    path = folder / "epochs.csv"
    path.write_bytes(text.encode())
    return path


def test_record_has_facts_and_nothing_that_follows_from_them() -> None:
    facts = {"chance": 0.1, "train_samples": 1000, "settings": {"loop": "model.fit"}, "peak_memory_mib": 7.5}
    outcome = Outcome("done", times={"total_seconds": 20.0}, epochs=[made.epoch()], facts=facts, clock=9.25)
    reference = Reference(metric="val_acc", values=(0.5, 1.0), source="a paper")
    run = outcome.record(Cell("net", "cpu1", "jax", 100, 2, 1.0, "real"), 100, reference)
    assert set(run) <= set(made.record())
    assert (run["clock_seconds"], run["peak_memory_mib"], run["chance"]) == (9.25, 7.5, 0.1)
    assert json.loads(json.dumps(run["reference"]))["values"] == [0.5, 1.0]
    assert set(run["times"]) == set(record.TIMES)


@pytest.mark.parametrize("run", [made.record(), made.failed_record()], ids=["done", "failed"])
def test_record_comes_back_as_written(tmp_path: Path, run: dict) -> None:
    record.write(tmp_path / "r1", run, [], [])
    assert record.read_run(tmp_path / "r1" / "run.json") == run


def test_epochs_come_back_as_written(tmp_path: Path) -> None:
    rows = [made.epoch(0), made.epoch(1, acc=None, val_loss=None, val_acc=None)]
    record.write(tmp_path, made.record(), rows, [])
    assert record.read_epochs(tmp_path / "epochs.csv") == rows


def test_epochs_begin_with_the_published_columns(tmp_path: Path) -> None:
    record.write(tmp_path, made.record(), [made.epoch()], [])
    header = (tmp_path / "epochs.csv").read_text().splitlines()[0]
    assert header.startswith("epoch,elapsed,loss,acc,val_loss,val_acc,")


@pytest.mark.parametrize(("clock", "elapsed"), [(100.0, ["-1.5", "2.25"]), (None, ["", ""])])
def test_telemetry_counts_from_the_start_of_the_clock(tmp_path: Path, clock: float | None, elapsed: list[str]) -> None:
    samples = [
        Sample(98.5, "build", 50, 256, 60, 3, gpus=(Gpu(),)),
        Sample(102.25, "train", 99, 512, 60, 3, gpus=(Gpu(80, 1024, 70),)),
    ]
    record.write(tmp_path, made.record(clock_seconds=clock), [], samples)
    with (tmp_path / "telemetry.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["elapsed"] for row in rows] == elapsed
    assert [row["stage"] for row in rows] == ["build", "train"]
    assert [row["gpu0_power_watts"] for row in rows] == ["", "70"]


def test_record_that_breaks_the_schema_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run record: repeat: 0 is less than"):
        record.write(tmp_path, made.record(repeat=0), [made.epoch()], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(made.record())[:-40], "truncated or not JSON"),
        ("", "truncated or not JSON"),
        ("[]", "is not a mapping"),
        (json.dumps(made.record(status="fine")), "status: 'fine' is not one of"),
        (json.dumps(made.record(status="learned_nothing")), "status: 'learned_nothing' is not one of"),
        (json.dumps(made.record() | {"warnings": []}), "'warnings' is unknown: it is one of"),
        (json.dumps(made.record(schema_version=1)), "schema_version: 1, must be 2$"),
        (
            json.dumps(made.record(schema_version=3)),
            "schema_version: 3, must be 2: a newer version of this project wrote it$",
        ),
        (json.dumps(made.record(schema_version="two")), "schema_version: 'two', must be 2$"),
        (json.dumps(made.record(schema_version=0)), "schema_version: 0, must be 2$"),
        (json.dumps(made.record(schema_version=True)), "schema_version: True, must be 2$"),
        ("{}", "'schema_version' is a required property"),
        (json.dumps(made.record(mood="good")), "'mood' is unknown: it is one of"),
        (None, "No such file"),
    ],
)
def test_bad_record_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message) as error:
        record.read_run(path)
    assert str(error.value).startswith(f"{path}:")


def test_published_log_is_read(tmp_path: Path) -> None:
    (row,) = record.read_epochs(epochs_file(tmp_path, PUBLISHED))
    assert row == {
        "epoch": 0,
        "elapsed": 3.86,
        "loss": 0.2466,
        "acc": 0.92415,
        "val_loss": 0.1179,
        "val_acc": 0.9638,
    }


def test_empty_fields_are_nothing_and_other_columns_are_left(tmp_path: Path) -> None:
    text = "epoch,elapsed,loss,acc,val_loss,val_acc,mood\n0,82.4,1.99,,,,good\n"
    (row,) = record.read_epochs(epochs_file(tmp_path, text))
    assert row == {"epoch": 0, "elapsed": 82.4, "loss": 1.99, "acc": None, "val_loss": None, "val_acc": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epoch,elapsed,loss\n0,3.86,0.2466\n", "column acc is missing; needed are epoch, elapsed, loss"),
        ("", "is empty"),
        (PUBLISHED + "1,fast,0.1,0.9,0.1,0.9\r\n", ":3: elapsed: 'fast'"),
    ],
)
def test_bad_epochs_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = epochs_file(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        record.read_epochs(path)
    assert str(error.value).startswith(f"{path}:")


def test_missing_epochs_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: .*No such file"):
        record.read_epochs(tmp_path / "none.csv")


def test_record_that_is_written_over_never_stands_beside_files_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.write(tmp_path, made.record(), made.epochs(), [])

    def ended(path: Path, text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "write_text", ended)
    with pytest.raises(KeyboardInterrupt):
        record.write(tmp_path, made.record(repeat=2), made.epochs(), [])
    assert not (tmp_path / "run.json").exists()


def test_a_key_or_a_column_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    record.write(tmp_path, made.record(), made.epochs(), [])
    text = (tmp_path / "run.json").read_text()
    (tmp_path / "run.json").write_text(text.rstrip().removesuffix("}") + ', "status": "failed"}')
    with pytest.raises(InputError, match=r"run\.json: truncated or not JSON: 'status' is given twice"):
        record.read_run(tmp_path / "run.json")
    rows = (tmp_path / "epochs.csv").read_text().splitlines()
    (tmp_path / "epochs.csv").write_text("".join(f"{row},{row.split(',')[1]}\n" for row in rows))
    with pytest.raises(InputError, match=r"epochs\.csv:1: column elapsed is there twice"):
        record.read_epochs(tmp_path / "epochs.csv")


@pytest.mark.parametrize("text", ["1_000", "\u0663", "1e999", "nan", "9 "])
def test_what_only_python_takes_for_a_number_is_no_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "epochs.csv").write_text(f"epoch,elapsed,loss,acc,val_loss,val_acc\n0,{text},nan,0.9,inf,0.9\n")
    with pytest.raises(InputError, match=r"epochs\.csv:2: elapsed: .* is not a number"):
        record.read_epochs(tmp_path / "epochs.csv")


def test_a_table_that_was_cut_is_noticed(tmp_path: Path) -> None:
    record.write(tmp_path, made.record(), made.epochs(), [])
    for name, read in (("epochs.csv", record.read_epochs), ("telemetry.csv", record.read_telemetry)):
        whole = (tmp_path / name).read_text()
        (tmp_path / name).write_text(whole[:-1])
        with pytest.raises(InputError, match=rf"{name}: ends within its last row: it was cut"):
            read(tmp_path / name)
        (tmp_path / name).write_text("")
        with pytest.raises(InputError, match=rf"{name}: is empty"):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("cut", "7", r":2: cut: 7 must be 0 or 1$"),
        ("samples", "-1", r":2: samples: -1 must be a whole number, 0 or more$"),
        ("warmup_samples", "0.5", r":2: warmup_samples: 0.5 must be a whole number"),
        ("mood", "7", r": column 'mood' is unknown; known are epoch, elapsed"),
    ],
)
def test_epochs_of_a_record_hold_what_a_training_writes(tmp_path: Path, column: str, value: str, message: str) -> None:
    record.write(tmp_path, made.record(), made.epochs(), [])
    with (tmp_path / "epochs.csv").open(newline="") as file:
        rows = [row | {column: value} for row in csv.DictReader(file)]
    text = "".join(",".join(map(str, row)) + "\n" for row in ([*rows[0]], *(row.values() for row in rows)))
    path = epochs_file(tmp_path, text)
    with pytest.raises(InputError, match=rf"^{path}{message}"):
        record.read_epochs(path, record.EPOCH_COLUMNS)
