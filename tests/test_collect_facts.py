import sys
from pathlib import Path

import pandas as pd
import pytest

from scripts import collect_facts, importers
from scripts.importers import facts
from scripts.storage import tables
from scripts.studies import definition

FACTS = definition.ROOT / "reports" / "published" / "facts" / "gpus-2017.csv"


def collected(monkeypatch: pytest.MonkeyPatch, folder: Path, *given: Path) -> dict[str, pd.DataFrame]:
    """Run the command in this process; return the tables it wrote."""
    paths = {name: folder / f"{name}.parquet" for name in ("runs", "epochs", "attempts")}
    written = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
    monkeypatch.setattr(sys, "argv", ["collect_facts", *map(str, given), *written])
    assert collect_facts.main() == 0
    return {name: tables.read(path) for name, path in paths.items()}


def test_facts_become_runs_and_what_no_log_records_stays_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = collected(monkeypatch, tmp_path, FACTS)
    runs, table = found["runs"], facts.read(FACTS)
    assert len(runs) == 39
    assert runs.columns.to_list() == list(tables.columns("runs"))
    for column in ("run", "workload", "hardware", "framework", "train_seconds", "status", "epochs_done", "val_acc"):
        pd.testing.assert_series_equal(runs[column], table[column])
    assert runs["epochs"].to_list() == runs["epochs_done"].to_list(), "a published run did what it was asked for"
    for column in ("seed", "first_step_seconds", "total_seconds", "data", "packages", "batch_size"):
        assert runs[column].isna().all(), column
    assert (len(found["epochs"]), len(found["attempts"])) == (0, 0), "facts keep totals"


def test_epochs_of_logs_stand_under_the_cell_of_their_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = "k80/mnist_mlp_cntk"
    epochs = pd.DataFrame([{"run": run, "epoch": epoch, "elapsed": 2.5, "val_acc": 0.9} for epoch in (0, 1)])
    epochs.reindex(columns=list(importers.EPOCHS)).astype(importers.EPOCHS).to_parquet(tmp_path / "log.parquet")
    found = collected(monkeypatch, tmp_path, FACTS, Path("--log-epochs"), tmp_path / "log.parquet")["epochs"]
    assert found["epoch"].to_list() == [0, 1]
    assert found["elapsed"].to_list() == [2.5, 2.5]
    cell = ["run", "workload", "hardware", "framework"]
    assert found[cell].drop_duplicates().values.tolist() == [[run, "mnist_mlp", "k80", "cntk"]]


def test_throughput_that_no_log_records_is_all_samples_over_the_time() -> None:
    given = {"run": "a", "train_samples": 100, "epochs_done": 4, "train_seconds": 20.0}
    table = pd.DataFrame([dict.fromkeys(importers.COLUMNS) | given]).astype(importers.COLUMNS)
    assert facts.runs_of(table)["samples_per_second"].to_list() == [20.0]
    table = table.assign(samples_per_second=33.0)
    assert facts.runs_of(table)["samples_per_second"].to_list() == [33.0], "unless the log records it"


def test_study_without_logs_has_empty_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, table in collected(monkeypatch, tmp_path).items():
        assert len(table) == 0
        assert table.columns.to_list() == list(tables.columns(name))
    assert (tmp_path / "runs.csv").read_text() == ",".join(tables.columns("runs")) + "\n"


@pytest.mark.parametrize("column", ["samples_per_second", "gpu_percent", "started_at", "train_samples", "batch_size"])
def test_every_fact_that_runs_have_too_is_taken_over(column: str) -> None:
    value = "2017-07-01T00:00:00+00:00" if column == "started_at" else 7
    row = dict.fromkeys(importers.COLUMNS) | {"run": "a", column: value}
    table = pd.DataFrame([row]).astype(importers.COLUMNS)
    assert tables.conform(facts.runs_of(table), "runs")[column].to_list() == [value]
