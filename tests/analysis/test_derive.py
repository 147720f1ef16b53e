import json
from pathlib import Path

import pytest

from scripts.analysis import derive, runs
from scripts.measurement.outcome import Outcome
from scripts.records import record
from scripts.records.cell import Cell
from scripts.records.reference import Reference
from scripts.records.samples import Sample
from tests import made
from tests.made import read_run

#: Records of made-up outcomes, and what other code, which worked it out while it trained, made of the same ones.
RECORDS = Path(__file__).resolve().parents[1] / "records"
BOTH = sorted(path.name for path in (RECORDS / "derived").iterdir())


@pytest.mark.parametrize("name", BOTH)
def test_what_is_derived_is_what_was_once_worked_out_while_it_trained(name: str) -> None:
    was, now = json.loads((RECORDS / "derived" / name / "run.json").read_text()), read(name)
    if was["times"]["train_seconds"] is not None:  # it left out the first step
        was["times"]["train_seconds"] += was["times"]["first_step_seconds"]
    use = {key: now["telemetry"][key] for key in was["telemetry"]}  # more may be read of a card today
    assert now | {"schema_version": 1, "telemetry": use} == was
    assert runs.row(name, now | {"telemetry": use}) == runs.row(name, was)


def read(name: str) -> dict:
    return read_run(RECORDS / "raw" / name / "run.json")


def test_outcomes_are_of_every_kind() -> None:
    found = [read(name) for name in BOTH]
    assert {run["status"] for run in found} >= {"done", "learned_nothing", "diverged", "out_of_memory", "quota"}
    assert {run["telemetry"]["energy_source"] for run in found} == {"nvml counter", "power integral", "rapl", None}
    assert len({warning.partition(":")[0] for run in found for warning in run["warnings"]}) >= 7
    assert any(derive.is_interrupted(record.read_epochs(RECORDS / "raw" / name / "epochs.csv")) for name in BOTH)


def test_time_to_train_holds_the_first_step() -> None:
    first = made.epoch(0, elapsed=9.5, first_step_seconds=3.0, warmup_seconds=1.0, warmup_samples=180)
    assert derive.totals([first, made.epoch(1)], batch_size=200) == {
        "first_step_seconds": 3.0,
        "warmup_seconds": 1.0,
        "training_seconds": 10.0,
        "validation_seconds": 3.0,
        "train_seconds": 16.0,
        "samples_per_second": 180.0,  # (2 x 1000 - 200 - 180) / (10 - 1)
    }


def test_run_without_an_epoch_has_no_times() -> None:
    assert set(derive.totals([], batch_size=200).values()) == {None}


def test_run_of_one_step_has_no_throughput() -> None:
    totals = derive.totals([made.epoch(samples=200)], batch_size=200)
    assert totals["samples_per_second"] is None
    assert totals["train_seconds"] == 6.5


CELL = {
    "workload": "net",
    "hardware": "cpu1",
    "framework": "jax",
    "batch_size": 100,
    "epochs": 2,
    "samples": 1.0,
    "data": "real",
}
REFERENCE = Reference(metric="val_acc", values=(0.9, 0.95), source="a paper")
WHOLE = made.record()["data"] | {"train_samples": 60_000}
MACHINE = {"provenance": {"hardware": {"memory_mib": 1024, "gpus": []}}}


def derived(outcome: Outcome, cell: dict = CELL, **more) -> dict:
    """Return what is derived of a run of the whole data set that ended so."""
    raw = outcome.record(Cell(**cell), 100, REFERENCE) | MACHINE | {"data": WHOLE} | more
    return derive.complete(raw, outcome.epochs, outcome.samples)


def went(val_acc: float, status: str = "done", reason: str | None = None, devices: int = 1, **more) -> dict:
    """Return what is derived of a run of two epochs of 1,000 real samples that ended with `val_acc`."""
    facts = {"chance": 0.1, "train_samples": 1000, "settings": {"loop": "model.fit"}}
    epochs = [made.epoch(0, warmup_samples=300), made.epoch(1, val_acc=val_acc)]
    outcome = Outcome(status, reason, times={"total_seconds": 20.0}, epochs=epochs, facts=facts)
    return derived(outcome, CELL | {"devices": devices}, **more)


def test_telemetry_begins_after_the_first_step() -> None:
    samples = [
        Sample(reading, "train", cpu, 256, 50, 0) for reading, cpu in ((10, 1), (12.9, 1), (13, 1), (14, 99), (15, 101))
    ]
    epochs = [made.epoch(0, first_step_seconds=3.0)]
    outcome = Outcome("done", times={"total_seconds": 20.0}, samples=samples, epochs=epochs, clock=10.0)
    assert derived(outcome, CELL | {"epochs": 1})["telemetry"]["cpu_percent"] == 100


@pytest.mark.parametrize(
    ("reported", "sampled", "peak"),
    [(900.0, [300, 800], 900.0), (500.0, [300, 800], 800.0), (None, [300], 300.0), (None, [], None)],
)
def test_peak_of_memory_is_what_the_process_reported_or_more_with_its_children(
    reported: float | None, sampled: list[float], peak: float | None
) -> None:
    samples = [Sample(i, "train", 100, memory, 50, 0) for i, memory in enumerate(sampled)]
    facts = {} if reported is None else {"peak_memory_mib": reported}
    outcome = Outcome("failed", times={"total_seconds": 20.0}, samples=samples, facts=facts)
    assert derived(outcome)["telemetry"]["peak_memory_mib"] == peak


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
    assert derive.is_interrupted(rows)
    assert derive.timed_samples(rows, 100) == 1900
    assert derive.totals(rows, 100)["samples_per_second"] == pytest.approx(1900 / 9)
    assert not derive.is_interrupted(rows[:1])
    assert derive.is_interrupted([rows[0], made.epoch(1, first_step_seconds=1.0)]), "it began again between epochs"


def test_last_attempt_of_a_run_that_learned_nothing_ended_so() -> None:
    attempts = [{"ended": "preempted", "used_seconds": 3.0}, {"ended": "done", "used_seconds": 4.0}]
    ended = [one["ended"] for one in went(0.12, attempts=attempts)["attempts"]]
    assert ended == ["preempted", "learned_nothing"]
    assert went(0.94, attempts=attempts)["attempts"] == attempts


def test_why_it_failed_is_said_in_the_words_of_the_record() -> None:
    run = went(0.12, status="failed", reason="RuntimeError: broken model")
    assert (run["status"], run["reason"]) == ("failed", "RuntimeError: broken model")


def test_random_labels_raise_no_warning_of_their_loss() -> None:
    epochs = [made.epoch(0), made.epoch(1, loss=0.9)]
    for learnable, warned in ((True, True), (None, True), (False, False)):
        outcome = Outcome("done", times={"total_seconds": 20.0}, epochs=epochs, facts={"learnable": learnable})
        assert any("the loss rises" in warning for warning in derived(outcome)["warnings"]) is warned


def test_diverged_loss_is_none_in_what_is_derived() -> None:
    outcome = Outcome("diverged", times={"total_seconds": 20.0}, epochs=[made.epoch(0, loss=float("nan"))])
    assert derived(outcome)["final"]["loss"] is None
