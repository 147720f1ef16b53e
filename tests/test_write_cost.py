"""`epd import FOLDER --write-cost`: the dollars of a run stand in MLflow's store and W&B's file, where they show."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scripts.epd import _write_cost, _write_wandb
from scripts.epd._write_cost import Done
from scripts.importers import Layout
from scripts.importers._recorder import stores
from scripts.importers.formats import mlflow
from scripts.storage.errors import InputError
from tests.importers.formats.test_mlflow import BEGAN, database, folder
from tests.importers.formats.test_wandb import field
from tests.recorder.test_stores import ACROSS, WANDB

LATEST = """CREATE TABLE latest_metrics (key TEXT, value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,
                                         run_uuid TEXT)"""


def test_a_runs_folder_has_one_metric_more_at_the_runs_end_and_once(tmp_path: Path) -> None:
    cost = folder(tmp_path) / "mlruns" / "1" / "0a1b" / "metrics" / "cost_usd"
    given = {"mlruns/1/0a1b/meta": ("mlruns/1/0a1b/meta.yaml", 0.2766666)}
    assert _write_cost.write(tmp_path, given) == Done(1, [cost])
    assert cost.read_text() == f"{BEGAN + 400_000} 0.276667 0\n"
    assert _write_cost.write(tmp_path, given) == Done(1)


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
    assert _write_cost.write(tmp_path, given) == Done(2, [file])
    assert _write_cost.write(tmp_path, given) == Done(2)
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


@pytest.mark.parametrize(
    "event", ["INSERT ON metrics", "DELETE ON metrics", "INSERT ON latest_metrics", "UPDATE ON runs"]
)
def test_a_database_with_a_trigger_is_refused_before_anything_is_written(tmp_path: Path, event: str) -> None:
    file = database(tmp_path) / "mlflow.db"
    with closing(sqlite3.connect(file)) as known, known:
        known.execute(LATEST)
        known.executescript(f"CREATE TRIGGER mine AFTER {event} BEGIN DELETE FROM params; END")
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"mlflow\.db: \w+ could not be written: 'mine' is a trigger, and no table"):
        _write_cost.write(tmp_path, {"mlflow#1": ("mlflow.db", 0.1)})
    assert file.read_bytes() == before


@pytest.mark.parametrize("file", ["a\\x1b/meta.yaml", "a\\x1b.db", "a\\x1b.wandb"])
def test_no_file_is_made_for_a_name_that_was_escaped(tmp_path: Path, file: str) -> None:
    assert "there is no such file" in _write_cost.write(tmp_path, {"a": (file, 0.1)}).left[0]
    assert list(tmp_path.iterdir()) == []


def test_logs_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("step")
    assert _write_cost.write(tmp_path, {"a": ("a.log", 0.1)}) == Done()


#: The end of a run: its record has only that it is one.
END = field(18, b"")


def wandb_run(place: Path, ended: bool = True) -> Path:
    """A run as wandb 0.31 wrote it offline, its head and three steps; and the record of its end."""
    records, _ = stores.wandb_records(WANDB[7:], 7)
    file = place / "offline-run-1" / "run-w3e44oge.wandb"
    file.parent.mkdir()
    file.write_bytes(stores.wandb_file(WANDB[:7], [*records, *([b"\x08\x11" + END] if ended else [])]))
    return file


def summaries(file: Path) -> list[bytes]:
    return [one for one in stores.wandb_records(file.read_bytes()[7:], 7)[0] if b"cost_usd" in one]


def test_records_are_written_as_wandb_writes_them() -> None:
    """Its own bytes, checksums with them: a record in one piece, and one across the end of a block."""
    assert stores.wandb_file(WANDB[:7], stores.wandb_records(WANDB[7:], 7)[0]) == WANDB
    whole = stores.wandb_records(ACROSS, 32_668)[0]
    assert stores.wandb_file(bytes(32_668), whole)[32_668:] == ACROSS[: len(ACROSS)]


def test_a_run_of_wandb_has_its_dollars_in_its_summary_before_its_end_and_once(tmp_path: Path) -> None:
    file = wandb_run(tmp_path)
    before = file.read_bytes()
    given = {"a": (str(file.relative_to(tmp_path)), 0.2766666)}
    assert _write_cost.write(tmp_path, given) == Done(1, [file])
    after = file.read_bytes()
    assert after.startswith(before[: before.index(b"\x08\x11" + END) - 7]), "what was there before stays as it was"
    records, whole = stores.wandb_records(after[7:], 7)
    assert whole == len(after)
    cost = field(3, field(1, field(1, b"cost_usd") + field(16, b"0.276667")))
    assert [record[2:] for record in records[-2:]] == [cost, END]
    assert records[-1][1] == records[-2][1] + 1, "records are numbered in their order"
    assert _write_cost.write(tmp_path, given) == Done(1)
    assert _write_cost.write(tmp_path, {"a": (given["a"][0], 0.5)}).written == [file]
    assert len(summaries(file)) == 1
    assert b"0.5" in summaries(file)[0]
    _write_cost.write(tmp_path, given)
    assert file.read_bytes() == after


def test_a_summary_that_the_run_wrote_itself_stays(tmp_path: Path) -> None:
    file = wandb_run(tmp_path)
    records, _ = stores.wandb_records(file.read_bytes()[7:], 7)
    theirs = b"\x08\x11" + field(3, field(1, field(1, b"cost_usd") + field(16, b"9"))) + b"\xc2\x0c\x00"
    file.write_bytes(stores.wandb_file(WANDB[:7], [*records[:-1], theirs, records[-1]]))
    _write_wandb.write(file, 0.5)
    _write_wandb.write(file, 0.25)
    assert len(summaries(file)) == 2


def test_files_of_wandb_that_are_not_as_they_are_known_are_left_alone_and_named(tmp_path: Path) -> None:
    file = wandb_run(tmp_path, ended=False)
    whole = wandb_run(tmp_path / "a") if (tmp_path / "a").mkdir() is None else file
    sound = whole.read_bytes()
    for data, why in (
        (file.read_bytes(), "its run has no end yet"),
        (sound[:-3], "it ends within a record, or has other checksums than are known"),
        (sound[:7] + b"\0\0\0\0" + sound[11:], "it ends within a record, or has other checksums than are known"),
        (b":W&B\1\0\0" + b"\xff" * 64, "it is no file of W&B's"),
    ):
        whole.write_bytes(data)
        done = _write_cost.write(tmp_path, {"a": (str(whole.relative_to(tmp_path)), 0.5)})
        assert done == Done(left=[f"a/offline-run-1/run-w3e44oge.wandb: {why}"])
        assert whole.read_bytes() == data
    whole.write_bytes(sound)
    whole.with_name(whole.name + ".synced").touch()
    assert "sends nothing twice" in _write_cost.write(tmp_path, {"a": (str(whole.relative_to(tmp_path)), 0.5)}).left[0]


def test_a_kill_while_a_file_of_wandb_is_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = wandb_run(tmp_path)
    before = file.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("os.replace", lambda *args, **more: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _write_wandb.write(file, 0.5)
    assert file.read_bytes() == before
    assert _write_wandb.write(file, 0.5)


@pytest.mark.parametrize("link", ["mlruns/1/0a1b/metrics", "mlruns/1/0a1b", "mlruns/1/0a1b/meta.yaml"])
def test_nothing_is_written_where_a_link_leads(tmp_path: Path, link: str) -> None:
    place = folder(tmp_path / "theirs") / link
    mine = tmp_path / "mine"
    place.rename(mine)
    place.symlink_to(mine)
    before = {path: path.read_bytes() for path in sorted(mine.rglob("*")) if path.is_file()} | {mine: None}
    done = _write_cost.write(tmp_path / "theirs", {"mlruns/1/0a1b/meta": ("mlruns/1/0a1b/meta.yaml", 0.5)})
    assert (done.runs, done.written, len(done.left)) == (0, [], 1)
    assert {path: path.read_bytes() for path in sorted(mine.rglob("*")) if path.is_file()} | {mine: None} == before


def test_no_database_is_written_to_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    mine = database(tmp_path) / "mlflow.db"
    with closing(sqlite3.connect(mine)) as known, known:
        known.execute(LATEST)
    before = mine.read_bytes()
    (tmp_path / "theirs" / "mlflow.db").symlink_to(mine)
    done = _write_cost.write(tmp_path / "theirs", {"mlflow#1": ("mlflow.db", 0.1)})
    assert done.left == ["mlflow.db: it is a link to a place outside the folder"]
    assert mine.read_bytes() == before


@pytest.mark.parametrize("at", ["soon", ".inf", "9" * 400, "[]", "null"])
def test_a_run_without_a_time_that_can_be_has_its_cost_at_the_beginning(tmp_path: Path, at: str) -> None:
    run = folder(tmp_path) / "mlruns" / "1" / "0a1b"
    (run / "meta.yaml").write_text(f"end_time: {at}\n")
    _write_cost.write(tmp_path, {"mlruns/1/0a1b/meta": ("mlruns/1/0a1b/meta.yaml", 0.5)})
    assert (run / "metrics" / "cost_usd").read_text() == "0 0.5 0\n"
