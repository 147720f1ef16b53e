"""What a call of a kit takes for trained already."""

import json
from pathlib import Path

import pytest

from scripts.kit import records, session
from scripts.kit.queue import Run
from scripts.kit.session import Session
from scripts.records.cell import Cell
from tests.kit.test_records import ABOUT, ENTRY

RUNS = [Run(Cell("mnist_mlp", "h100", "jax", 128, 20, 1.0, "real"), repeat) for repeat in (1, 2)]


@pytest.mark.parametrize("retry", [False, True])
def test_what_a_kill_kept_from_being_packed_is_packed_but_what_failed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retry: bool
) -> None:
    monkeypatch.setattr(session, "ROOT", tmp_path)
    for run, status in zip(RUNS, ("done", "killed"), strict=True):
        folder = tmp_path / "results" / "borrowed" / run.path
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"status": status, "times": {"total_seconds": 9.0}}))
    archive, about = tmp_path / "records.zip", ABOUT | {"study": "borrowed"}
    records.add(archive, {records.ABOUT: json.dumps(about).encode(), records.MACHINE: ENTRY})
    call = Session(about, archive, "h100", 0.0, RUNS, retry)
    call.restore()
    assert call.packed == {RUNS[0].path: "done"} | ({} if retry else {RUNS[1].path: "killed"})
    assert call.pending() == (RUNS[1:] if retry else [])


def test_run_whose_time_was_over_keeps_its_epochs_and_is_trained_again_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "ROOT", tmp_path)
    archive, about = tmp_path / "records.zip", ABOUT | {"study": "borrowed"}
    records.add(archive, {records.ABOUT: json.dumps(about).encode(), records.MACHINE: ENTRY})
    folder = tmp_path / "results" / "borrowed" / RUNS[0].path
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"status": "timed_out", "times": {"total_seconds": 97.0}}))
    (folder / "epochs.csv").write_text("epoch,elapsed\n1,9\n")
    call = Session(about, archive, "h100", 0.0, RUNS)
    call.pack(RUNS[0])
    assert call.pending() == RUNS[1:], "not twice in one call"
    found, _ = records.read(archive)
    assert found[RUNS[0].path]["epochs.csv"] == b"epoch,elapsed\n1,9\n"
    later = Session(about, archive, "h100", 0.0, RUNS)
    monkeypatch.setattr(
        later, "_take", lambda path, files, run: later.lasted.update({run: session._lasted(files) or 0})
    )
    later.restore()
    assert later.pending() == RUNS
    assert later.lasted == {RUNS[0]: 145.5}, "half as much again"
