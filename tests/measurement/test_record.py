import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.measurement import record, watch
from scripts.measurement.cell import Cell
from scripts.measurement.telemetry import Gpu, Sample
from scripts.storage.errors import InputError
from scripts.workloads import Reference
from tests import made

PUBLISHED = "epoch,elapsed,loss,acc,val_loss,val_acc\r\n0,3.86,0.2466,0.92415,0.1179,0.9638\r\n"


def epochs_file(folder: Path, text: str) -> Path:
    path = folder / "epochs.csv"
    path.write_bytes(text.encode())
    return path


def test_time_to_train_is_without_the_first_step() -> None:
    first = made.epoch(0, elapsed=9.5, first_step_seconds=3.0, warmup_seconds=1.0, warmup_samples=180)
    assert record.totals([first, made.epoch(1)], batch_size=200) == {
        "first_step_seconds": 3.0,
        "warmup_seconds": 1.0,
        "training_seconds": 10.0,
        "validation_seconds": 3.0,
        "train_seconds": 13.0,
        "samples_per_second": 180.0,  # (2 x 1000 - 200 - 180) / (10 - 1)
    }


def test_run_without_an_epoch_has_no_times() -> None:
    assert set(record.totals([], batch_size=200).values()) == {None}


def test_run_of_one_step_has_no_throughput() -> None:
    totals = record.totals([made.epoch(samples=200)], batch_size=200)
    assert totals["samples_per_second"] is None
    assert totals["train_seconds"] == 6.5


@pytest.mark.parametrize("run", [made.record(), made.failed_record()], ids=["done", "failed"])
def test_record_comes_back_as_written(tmp_path: Path, run: dict) -> None:
    record.write(tmp_path / "r1", run, [], [], None)
    assert record.read_run(tmp_path / "r1" / "run.json") == run


REFERENCE = Reference(metric="val_acc", values=(0.9, 0.95), source="a paper")
MACHINE = {"memory_mib": 1024, "gpus": []}


def went(val_acc: float, status: str = "done", **cell) -> dict:
    """Return what a record says of a run of two epochs of 1,000 real samples that ended with `val_acc`."""
    about = Cell("net", "cpu1", "jax", batch_size=100, epochs=2, samples=1.0, data="real")
    facts = {"chance": 0.1, "train_samples": 1000, "settings": {"loop": "model.fit"}}
    epochs = [made.epoch(0, warmup_samples=300), made.epoch(1, val_acc=val_acc)]
    outcome = watch.Outcome(status, times={"total_seconds": 20.0}, epochs=epochs, facts=facts)
    return record.of(outcome, replace(about, **cell), 100, REFERENCE, MACHINE, 1.0)


def test_telemetry_of_the_record_begins_after_the_first_step() -> None:
    about = Cell("net", "cpu1", "jax", batch_size=100, epochs=1, samples=1.0, data="real")
    samples = [
        Sample(reading, "train", cpu, 256, 50, 0) for reading, cpu in ((10, 1), (12.9, 1), (13, 1), (14, 99), (15, 101))
    ]
    epochs = [made.epoch(0, first_step_seconds=3.0)]
    outcome = watch.Outcome("done", times={"total_seconds": 20.0}, samples=samples, epochs=epochs, clock=10.0)
    assert record.of(outcome, about, 100, REFERENCE, MACHINE, 1.0)["telemetry"]["cpu_percent"] == 100


@pytest.mark.parametrize(
    ("told", "sampled", "peak"),
    [(900.0, [300, 800], 900.0), (500.0, [300, 800], 800.0), (None, [300], 300.0), (None, [], None)],
)
def test_peak_of_memory_is_what_the_process_told_or_more_with_its_children(
    told: float | None, sampled: list[float], peak: float | None
) -> None:
    about = Cell("net", "cpu1", "jax", batch_size=100, epochs=2, samples=1.0, data="real")
    samples = [Sample(i, "train", 100, memory, 50, 0) for i, memory in enumerate(sampled)]
    facts = {} if told is None else {"peak_memory_mib": told}
    outcome = watch.Outcome("failed", times={"total_seconds": 20.0}, samples=samples, facts=facts)
    run = record.of(outcome, about, 100, REFERENCE, MACHINE, 1.0)
    assert run["telemetry"]["peak_memory_mib"] == peak


@pytest.mark.parametrize(
    ("val_acc", "status", "verdict"),
    [(0.94, "done", "ok"), (0.7, "done", "below the reference"), (0.12, "learned_nothing", "learned nothing")],
)
def test_run_that_learned_nothing_is_no_result(val_acc: float, status: str, verdict: str) -> None:
    run = went(val_acc)
    assert (run["status"], run["convergence"]) == (status, verdict)
    assert (run["reason"] is None) == (status == "done")


def test_what_it_learned_does_not_hide_how_it_failed() -> None:
    assert went(0.12, status="killed")["status"] == "killed"


def test_samples_that_count_are_those_after_first_step_and_warm_up() -> None:
    run = went(0.94)
    assert run["timed_samples"] == 2 * 1000 - 100 - 300
    assert "short warm-up: 4 steps, limit 20" in run["warnings"]
    assert "short run: 16 timed steps, limit 100" in run["warnings"]
    assert went(0.94, devices=2)["timed_samples"] == 2 * 1000 - 200 - 300, "a step is that of all devices"


def test_epoch_that_was_cut_counts_for_no_speed() -> None:
    rows = [
        made.epoch(0, first_step_seconds=1.0, training_seconds=5.0),
        made.epoch(1, first_step_seconds=1.0, training_seconds=50.0, cut=1),
        made.epoch(2, training_seconds=4.0),
    ]
    assert record.is_interrupted(rows)
    assert record.timed_samples(rows, 100) == 1900
    assert record.totals(rows, 100)["samples_per_second"] == pytest.approx(1900 / 9)
    assert not record.is_interrupted(rows[:1])
    assert record.is_interrupted([rows[0], made.epoch(1, first_step_seconds=1.0)]), "it began again between epochs"


def test_epochs_come_back_as_written(tmp_path: Path) -> None:
    rows = [made.epoch(0), made.epoch(1, acc=None, val_loss=None, val_acc=None)]
    record.write(tmp_path, made.record(), rows, [], 0.0)
    assert record.read_epochs(tmp_path / "epochs.csv") == rows


def test_epochs_begin_with_the_published_columns(tmp_path: Path) -> None:
    record.write(tmp_path, made.record(), [made.epoch()], [], 0.0)
    header = (tmp_path / "epochs.csv").read_text().splitlines()[0]
    assert header.startswith("epoch,elapsed,loss,acc,val_loss,val_acc,")


@pytest.mark.parametrize(("clock", "elapsed"), [(100.0, ["-1.5", "2.25"]), (None, ["", ""])])
def test_telemetry_counts_from_the_start_of_the_clock(tmp_path: Path, clock: float | None, elapsed: list[str]) -> None:
    samples = [
        Sample(98.5, "build", 50, 256, 60, 3, gpus=(Gpu(),)),
        Sample(102.25, "train", 99, 512, 60, 3, gpus=(Gpu(80, 1024, 70),)),
    ]
    record.write(tmp_path, made.record(), [], samples, clock)
    with (tmp_path / "telemetry.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["elapsed"] for row in rows] == elapsed
    assert [row["stage"] for row in rows] == ["build", "train"]
    assert [row["gpu_power_watts"] for row in rows] == ["", "70"]


def test_record_that_breaks_the_schema_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run record: repeat: 0 is less than"):
        record.write(tmp_path, made.record(repeat=0), [made.epoch()], [], 0.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(made.record())[:-40], "truncated or not JSON"),
        ("", "truncated or not JSON"),
        ("[]", "is not of type 'object'"),
        (json.dumps(made.record(status="fine")), "status: 'fine' is not one of"),
        (json.dumps(made.record(schema_version=2)), "schema_version: 1 was expected"),
        (json.dumps(made.record(mood="good")), "'mood' was unexpected"),
        (None, "No such file"),
    ],
)
def test_bad_record_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message) as error:
        record.read_run(path)
    assert str(error.value).startswith(f"{path}: ")


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
        ("", "column epoch is missing"),
        (PUBLISHED + "1,fast,0.1,0.9,0.1,0.9\r\n", "line 3: .*'fast'"),
    ],
)
def test_bad_epochs_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = epochs_file(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        record.read_epochs(path)
    assert str(error.value).startswith(f"{path}: ")


def test_missing_epochs_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: .*No such file"):
        record.read_epochs(tmp_path / "none.csv")
