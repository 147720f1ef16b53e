import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import mlflow

BEGAN = 1_700_000_000_000  # ms

META = """artifact_uri: file:///tmp/mlruns/1/0a1b/artifacts
end_time: {end}
entry_point_name: ''
experiment_id: '1'
lifecycle_stage: {stage}
run_id: 0a1b
run_name: bold-fox-12
run_uuid: 0a1b
source_name: ''
source_type: 4
source_version: ''
start_time: {begin}
status: {status}
tags: []
user_id: root
"""


def folder(place: Path, end: object = BEGAN + 400_000, stage: str = "active", status: int = 3) -> Path:
    """A run of 400 s that logged a loss each 60 s, as mlflow's file store lays it out."""
    run = place / "mlruns" / "1" / "0a1b"
    for kind, name, text in (
        ("metrics", "train_loss", "".join(f"{BEGAN + 60_000 * (n + 1)} {1 / (n + 1)} {n}\n" for n in range(6))),
        ("metrics", "val/accuracy", f"{BEGAN + 370_000} 0.75 5\n"),
        ("metrics", "epoch", "".join(f"{BEGAN + 60_000 * (n + 1)} {n} {n}\n" for n in range(6))),
        ("metrics", "system/gpu_0_utilization_percentage", f"{BEGAN + 9_000} 91.0 0\n"),
        ("metrics", "system/gpu_1_utilization_percentage", f"{BEGAN + 9_000} 92.0 0\n"),
        ("params", "batch_size", "32"),
        ("params", "model_name", "org/resnet50"),
        ("tags", "mlflow.autologging", "pytorch"),
    ):
        file = run / kind / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    end = "null" if end is None else end
    (run / "meta.yaml").write_text(META.format(end=end, stage=stage, begin=BEGAN, status=status))
    (run.parent / "meta.yaml").write_text("experiment_id: '1'\nlifecycle_stage: active\nname: flowers\n")
    return place


def database(place: Path) -> Path:
    """Two runs in the tables that mlflow 2 and 3 write, as far as they are read."""
    with closing(sqlite3.connect(place / "mlflow.db")) as known, known:
        known.executescript(
            """
            CREATE TABLE experiments (experiment_id INTEGER, name TEXT);
            CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT,
                               lifecycle_stage TEXT, experiment_id INTEGER);
            CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT, is_nan BOOLEAN);
            CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);
            CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);
            INSERT INTO experiments VALUES (1, 'flowers');
            """
        )
        for run, seconds, status in (("a", 100, "FINISHED"), ("b", 200, "FAILED")):
            row = (run, run, status, BEGAN, BEGAN + seconds * 1000, "active", 1)
            known.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for step in range(3):
                at = BEGAN + seconds * 250 * (step + 1)
                known.execute("INSERT INTO metrics VALUES ('loss', ?, ?, ?, ?, 0)", (1.0 - step / 4, at, run, step))
    return place


def read(place: Path) -> Imported:
    return mlflow.read(place, Layout({".": "box"}, framework={".": "torch"}))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def test_a_run_lasts_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    expected = {
        "workload": "flowers-resnet50",
        "framework": "torch",
        "batch_size": 32,
        "devices": 2,
        "status": "done",
        "epochs_done": 6,
        "train_seconds": 400.0,
        "seconds_from": "the clock of its rows",
        "loss": 1 / 6,
        "val_acc": 0.75,
    }
    assert facts(read(folder(tmp_path))).items() >= expected.items()


def test_a_run_that_was_never_closed_ends_with_its_last_row(tmp_path: Path) -> None:
    found = facts(read(folder(tmp_path, end=None, status=1)))
    assert (found["train_seconds"], found["remarks"]) == (360.0, "the run was never closed: it has no end")


def test_a_run_that_was_closed_a_day_later_is_paid_to_its_last_row(tmp_path: Path) -> None:
    found = facts(read(folder(tmp_path, end=BEGAN + 86_400_000)))
    assert found["train_seconds"] == pytest.approx(360.0)
    assert "not counted" in str(found["remarks"])


def test_the_framework_is_that_which_mlflow_logged_by_itself(tmp_path: Path) -> None:
    imported = mlflow.read(folder(tmp_path), Layout({".": "box"}))
    assert imported.runs["framework"].to_list() == ["torch"]


@pytest.mark.parametrize(("status", "word"), [(4, "failed"), (5, "killed")])
def test_a_run_that_failed_is_one_that_failed(tmp_path: Path, status: int, word: str) -> None:
    assert facts(read(folder(tmp_path, status=status)))["status"] == word


def test_a_deleted_run_is_refused(tmp_path: Path) -> None:
    (problem,) = read(folder(tmp_path, stage="deleted")).problems
    assert str(problem) == "mlruns/1/0a1b/meta.yaml: the run was deleted"


def test_a_metric_that_is_none_is_named(tmp_path: Path) -> None:
    (folder(tmp_path) / "mlruns/1/0a1b/metrics/train_loss").write_text("soon 1 2\n")
    (problem,) = read(tmp_path).problems
    assert "metrics/train_loss: must be lines of milliseconds, value and step" in str(problem)


def test_runs_of_a_database(tmp_path: Path) -> None:
    imported = read(database(tmp_path))
    assert imported.problems == []
    rows = imported.runs[["run", "workload", "train_seconds", "status", "loss"]].values.tolist()
    assert rows == [["mlflow#1", "flowers", 100.0, "done", 0.5], ["mlflow#2", "flowers", 200.0, "failed", 0.5]]


def test_a_metric_that_became_no_number_is_none(tmp_path: Path) -> None:
    """MLflow keeps it as 0, with `is_nan` beside it."""
    with closing(sqlite3.connect(database(tmp_path) / "mlflow.db")) as known, known:
        known.execute("UPDATE metrics SET value = 0, is_nan = 1 WHERE step = 2")
    imported = read(tmp_path)
    assert imported.runs["loss"].isna().all()


def test_another_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("CREATE TABLE a (b)")
    (problem,) = read(tmp_path).problems
    assert str(problem).startswith("other.db: no database of MLflow: ")


def test_a_view_without_an_end_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(database(tmp_path) / "mlflow.db")) as known, known:
        known.execute("ALTER TABLE runs RENAME TO some")
        known.execute(
            "CREATE VIEW runs AS WITH RECURSIVE t AS (SELECT * FROM some UNION ALL SELECT * FROM t) SELECT * FROM t"
        )
    (problem,) = read(tmp_path).problems
    assert str(problem) == "mlflow.db: no database of MLflow: 'runs' is a view, and no table"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (
            "ALTER TABLE params ADD v INT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL",
            "column 'v' of 'params'",
        ),
        (
            f"ALTER TABLE tags ADD long TEXT DEFAULT '{'x' * 101}'",
            "column 'long' of 'tags' has a default of 103 letters",
        ),
        ("CREATE VIRTUAL TABLE words USING fts4(a)", "'words' is a virtual table"),
    ],
)
def test_what_is_worked_out_as_it_is_read_is_refused(tmp_path: Path, made: str, why: str) -> None:
    with closing(sqlite3.connect(database(tmp_path) / "mlflow.db")) as known, known:
        known.execute(made)
    (problem,) = read(tmp_path).problems
    assert str(problem).startswith(f"mlflow.db: no database of MLflow: {why}")


@pytest.mark.parametrize(
    ("twice", "left", "why"),
    [
        (
            "INSERT INTO runs SELECT * FROM runs LIMIT 1",
            1,
            "run 'a': it, or one of its parameters or tags, is there twice",
        ),
        ("INSERT INTO params VALUES ('lr', '1', 'a'), ('lr', '2', 'a')", 1, "run 'a': it, or one of its parameters"),
        (
            "CREATE TABLE other AS SELECT 1.0 AS experiment_id, name FROM experiments;"
            "INSERT INTO experiments SELECT * FROM other",
            0,
            "experiments: one of them is there twice",
        ),
        ("INSERT INTO experiments SELECT * FROM experiments", 0, "experiments: one of them is there twice"),
    ],
)
def test_what_stands_twice_in_a_database_is_counted_for_nothing(
    tmp_path: Path, twice: str, left: int, why: str
) -> None:
    with closing(sqlite3.connect(database(tmp_path) / "mlflow.db")) as known, known:
        known.executescript(twice)
    imported = read(tmp_path)
    assert len(imported.runs) == left
    assert [str(problem) for problem in imported.problems if why not in str(problem)] == []
    assert imported.problems


def sweep(place: Path) -> Path:
    """Three runs of one experiment with two rates, two of them repeats, and the run that started them."""
    for run, rate, seed in (("r1", "0.1", "1"), ("r2", "0.1", "2"), ("r3", "0.01", "1"), ("top", "", "")):
        folder(place)
        (place / "mlruns/1/0a1b").rename(place / "mlruns/1" / run)
        meta = place / "mlruns/1" / run / "meta.yaml"
        meta.write_text(meta.read_text().replace("0a1b", run))
        if run != "top":
            (place / "mlruns/1" / run / "params" / "lr").write_text(rate)
            (place / "mlruns/1" / run / "params" / "seed").write_text(seed)
            (place / "mlruns/1" / run / "tags" / "mlflow.parentRunId").write_text("top")
    return place


def test_runs_of_a_sweep_are_other_cells_but_for_their_seed(tmp_path: Path) -> None:
    imported = read(sweep(tmp_path))
    rows = imported.runs[["run", "workload", "repeat", "name", "steps_done"]].values.tolist()
    assert rows == [
        ["mlruns/1/r1/meta", "flowers-resnet50+lr_0.1", 1, "bold-fox-12", 6],
        ["mlruns/1/r2/meta", "flowers-resnet50+lr_0.1", 2, "bold-fox-12", 6],
        ["mlruns/1/r3/meta", "flowers-resnet50+lr_0.01", 1, "bold-fox-12", 6],
    ]
    assert [str(problem) for problem in imported.problems] == [
        "mlruns/1/top/meta.yaml: the parent of 3 runs: its time is theirs"
    ]


def test_runs_of_a_sweep_in_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(database(tmp_path) / "mlflow.db")) as known, known:
        known.executemany("INSERT INTO params VALUES ('lr', ?, ?)", [("0.1", "a"), ("0.2", "b")])
    assert read(tmp_path).runs["workload"].to_list() == ["flowers+lr_0.1", "flowers+lr_0.2"]


@pytest.mark.parametrize("value", ["x", None, b"\xff\xfe", float("inf"), -5, "1e400", "\x1b[2J\u202e"])
@pytest.mark.parametrize(
    "place",
    [
        *(f"metrics.{name}" for name in ("key", "value", "timestamp", "step")),
        *(f"runs.{name}" for name in ("name", "status", "start_time", "end_time")),
        *("params.key", "params.value", "tags.key", "tags.value", "experiments.name"),
    ],
)
def test_a_value_of_another_kind_costs_its_own_run_at_most(tmp_path: Path, place: str, value: object) -> None:
    """SQLite lets any column hold any type, whatever its table declares: https://sqlite.org/datatype3.html."""
    folder = database(tmp_path)
    table, column = place.split(".")
    with closing(sqlite3.connect(folder / "mlflow.db")) as known, known:
        for of_words in ("params", "tags"):
            known.execute(f"INSERT INTO {of_words} VALUES ('batch_size', '8', 'a')")
        known.execute(f"CREATE TABLE other AS SELECT * FROM {table}")  # without its types
        known.execute(f"DROP TABLE {table}")
        known.execute(f"ALTER TABLE other RENAME TO {table}")
        known.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = 1", (value,))
    imported = read(folder)
    lost = 2 if place == "experiments.name" and not isinstance(value, str) else 1  # it is the workload of both
    assert len(imported.runs) >= 2 - lost
    assert imported.problems or len(imported.runs) == 2


def with_a_log(place: Path) -> Path:
    """The two runs in a database that is written by way of a log, of which the log has the second's last row."""
    there = database(place) / "mlflow.db"
    made = place / "made.db"
    with closing(sqlite3.connect(there)) as known:
        known.execute("PRAGMA journal_mode=WAL")
    shutil.copyfile(there, made)
    with closing(sqlite3.connect(made)) as known:
        known.execute("INSERT INTO metrics VALUES ('loss', 0.0625, ?, 'b', 3, 0)", (BEGAN + 199_000,))
        known.commit()
        shutil.copyfile(place / "made.db-wal", place / "mlflow.db-wal")
    for file in place.glob("made.db*"):
        file.unlink()
    return there


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("beside", ["", "mlflow.db-shm"])
def test_the_newest_rows_are_in_the_log_of_a_database_and_nothing_is_written_beside_it(
    tmp_path: Path, beside: str
) -> None:
    with_a_log(tmp_path)
    if beside:
        (tmp_path / beside).write_bytes(bytes(32_768))
    before = content(tmp_path)
    found = read(tmp_path)
    assert found.problems == []
    assert list(found.runs["loss"]) == [0.5, 0.0625]
    assert content(tmp_path) == before


def test_nor_is_anything_beside_one_whose_log_is_gone_or_empty(tmp_path: Path) -> None:
    with_a_log(tmp_path)
    for empty in (True, False):
        log = tmp_path / "mlflow.db-wal"
        log.write_bytes(b"") if empty else log.unlink()
        before = content(tmp_path)
        found = read(tmp_path)
        assert found.problems == []
        assert list(found.runs["loss"]) == [0.5, 0.5]
        assert content(tmp_path) == before
