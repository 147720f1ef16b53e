"""`epd import mlruns --write-cost`: the dollars of a run stand among its metrics, where MLflow shows them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scripts.epd import _write_cost
from scripts.importers import Layout
from scripts.importers.formats import mlflow
from scripts.storage.errors import InputError
from tests.importers.formats.test_mlflow import BEGAN, database, folder

LATEST = """CREATE TABLE latest_metrics (key TEXT, value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,
                                         run_uuid TEXT)"""


def test_a_runs_folder_has_one_metric_more_at_the_runs_end_and_once(tmp_path: Path) -> None:
    cost = folder(tmp_path) / "mlruns" / "1" / "0a1b" / "metrics" / "cost_usd"
    given = {"mlruns/1/0a1b/meta": ("mlruns/1/0a1b/meta.yaml", 0.2766666)}
    assert _write_cost.write(tmp_path, given) == (1, [cost])
    assert cost.read_text() == f"{BEGAN + 400_000} 0.276667 0\n"
    assert _write_cost.write(tmp_path, given) == (1, [])


def test_it_is_no_metric_of_the_training(tmp_path: Path) -> None:
    place = folder(tmp_path)
    before = mlflow.read(place, Layout({".": "box"})).runs
    _write_cost.write(tmp_path, {"mlruns/1/0a1b/meta": ("mlruns/1/0a1b/meta.yaml", 0.5)})
    assert mlflow.read(place, Layout({".": "box"})).runs.equals(before)


def test_a_database_has_it_in_both_tables_of_metrics(tmp_path: Path) -> None:
    file = database(tmp_path) / "mlflow.db"
    with closing(sqlite3.connect(file)) as known, known:
        known.execute(LATEST)
    given = {"mlflow#1": ("mlflow.db", 0.1), "mlflow#2": ("mlflow.db", 0.25)}
    assert _write_cost.write(tmp_path, given) == (2, [file])
    assert _write_cost.write(tmp_path, given) == (2, [])
    _write_cost.write(tmp_path, {"mlflow#2": ("mlflow.db", 0.5)})
    with closing(sqlite3.connect(file)) as known:
        for table in ("metrics", "latest_metrics"):
            rows = known.execute(f"SELECT run_uuid, value FROM {table} WHERE key = 'cost_usd' ORDER BY run_uuid")
            assert rows.fetchall() == [("a", 0.1), ("b", 0.5)]


def test_a_database_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    database(tmp_path)
    with pytest.raises(InputError, match=r"mlflow\.db: cost_usd could not be written: no such table: latest_metrics"):
        _write_cost.write(tmp_path, {"mlflow#1": ("mlflow.db", 0.1)})
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as known:
        assert known.execute("SELECT count(*) FROM metrics WHERE key = 'cost_usd'").fetchone() == (0,), "all or none"


def test_logs_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("step")
    assert _write_cost.write(tmp_path, {"a": ("a.log", 0.1)}) == (0, [])
