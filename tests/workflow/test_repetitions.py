"""What a trigger finds on disk, wherever the one before was killed."""

import multiprocessing
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.workflow.repetitions import (
    DONE,
    OVERLAPPED,
    RESUMED,
    STARTED,
    WHOLE,
    History,
    folder_name,
    folder_time,
    last_end,
)
from tests.made import run, runs

NOW = datetime(2026, 11, 23, 2, 10, 15, tzinfo=UTC)
LATER = datetime(2026, 11, 24, 2, 10, 15, tzinfo=UTC)

#: When the last run of `complete` ended: 100 s after it began.
ENDED = "2026-01-02T030545Z"


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History("tiny", tmp_path)


def complete(history: History, **values) -> None:
    """Write what a repetition that came to its end has."""
    history.results.mkdir(parents=True, exist_ok=True)
    for name in WHOLE:
        (history.results / name).touch()
    frame = runs(run(total_seconds=40.0), run(repeat=2, total_seconds=100.0, **values))
    tables.write(frame, "runs", history.results / "runs.parquet")


def test_study_that_was_never_run_starts(history: History) -> None:
    assert history.begin(NOW) == (STARTED, folder_name(NOW))
    assert history.repetitions() == []


def test_complete_repetition_is_moved_aside_by_the_end_of_its_last_run(history: History) -> None:
    complete(history)
    assert history.begin(NOW) == (STARTED, folder_name(NOW))
    assert not history.results.exists()
    assert [path.name for path in history.repetitions()] == [ENDED]
    assert last_end(history.folder / ENDED) == folder_time(ENDED)
    assert (history.folder / ENDED / "report.html").is_file()


def test_interrupted_repetition_is_resumed_under_its_id(history: History) -> None:
    assert history.begin(NOW)[0] == STARTED
    history.results.mkdir(parents=True)
    assert history.begin(LATER) == (RESUMED, folder_name(NOW))
    assert history.begin(LATER) == (RESUMED, folder_name(NOW)), "as often as it takes"


def test_runs_that_were_asked_for_by_hand_are_resumed_where_they_lie(history: History) -> None:
    history.results.mkdir(parents=True)
    assert history.begin(NOW) == (RESUMED, "")
    assert history.begin(LATER) == (RESUMED, "")


def test_killed_before_anything_was_trained_its_id_is_kept(history: History) -> None:
    complete(history)
    history.begin(NOW)
    assert history.begin(LATER) == (RESUMED, folder_name(NOW))


def test_killed_between_id_and_move_the_next_takes_a_new_id(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    complete(history)
    with monkeypatch.context() as killed:
        killed.setattr(History, "_move_aside", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            history.begin(NOW)
    assert history.begin(LATER) == (STARTED, folder_name(LATER))
    assert [path.name for path in history.repetitions()] == [ENDED]


def test_id_of_one_that_ended_is_not_used_again_when_its_results_are_deleted(history: History) -> None:
    history.begin(NOW)
    history.end()
    assert history.begin(LATER) == (STARTED, folder_name(LATER))


def test_two_of_one_end_are_refused_and_nothing_is_lost(history: History) -> None:
    complete(history)
    history.begin(NOW)
    complete(history, seed=8)
    with pytest.raises(InputError, match=f"{ENDED}: is there already"):
        history.begin(LATER)
    assert history.is_complete()


def test_repetition_whose_runs_never_began_is_named_by_its_tables(history: History) -> None:
    complete(history)
    frame = runs(run(started_at=None, total_seconds=None))
    tables.write(frame, "runs", history.results / "runs.parquet")
    assert abs((last_end(history.results) - datetime.now(UTC)).total_seconds()) < 60


def test_second_trigger_finds_the_lock_held_and_the_next_does_not(history: History) -> None:
    with history.locked() as first:
        assert first is not None
        with history.locked() as second:
            assert second is None
    with history.locked() as third:
        assert third is not None


def _record(root: Path, turn: int) -> None:
    for _ in range(10):
        History("tiny", root).record(OVERLAPPED, NOW, f"{turn}m")


def test_triggers_that_record_at_once_lose_no_row(history: History) -> None:
    turns = [multiprocessing.Process(target=_record, args=(history.root, turn)) for turn in (1, 2, 3, 4)]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    rows = [row for _, row in history.triggers()]
    assert sorted(row["every"] for row in rows) == sorted(f"{turn}m" for turn in (1, 2, 3, 4) for _ in range(10))


def test_row_of_a_trigger_that_ended(history: History) -> None:
    history.record(DONE, NOW, "1d", 61.7, 0)
    (row,) = [row for _, row in history.triggers()]
    assert row == {"at": "2026-11-23T02:10:15Z", "what": "done", "seconds": "62", "exit_code": "0", "every": "1d"}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "1", '"a"', "{}", '{"id": "", "ended": false, "id": "2026-11-23T021015Z"}'),
        *('{"id": "x"}', '{"id": "", "ended": 0}', '{"id": null, "ended": false}', '{"id": 1, "ended": false}'),
        *('{"id": "../../x", "ended": false}', '{"id": "2026-11-23T021015Z\\n", "ended": false}', "[" * 100_000),
        '{"id": "", "ended": false, "more": 1}',
    ],
)
def test_broken_record_is_a_line(history: History, text: str) -> None:
    history.begin(NOW)
    (history.folder / "current.json").write_text(text)
    with pytest.raises(InputError, match=rf"^{history.folder}/current\.json: "):
        history.begin(LATER)


def test_a_record_that_is_no_file_or_no_text_is_a_line(history: History) -> None:
    history.folder.mkdir(parents=True)
    path = history.folder / "current.json"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        history.begin(LATER)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is not a file"):
        history.begin(LATER)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("yesterday,done,1,0,1d", "at: 'yesterday' is not a time"),
        ("2026-13-45T00:00:00Z,done,1,0,1d", "at: .* is not a time"),
        ("2026-11-23T02:10:15Z,slept,1,0,1d", "what: 'slept' is not one of started, resumed"),
        ("2026-11-23T02:10:15Z,done,soon,0,1d", "seconds: 'soon' is not a whole number"),
        ("2026-11-23T02:10:15Z,done,1,ok,1d", "exit_code: 'ok' is not a whole number"),
        ("2026-11-23T02:10:15Z,done,1,0,0m", "every: '0m': must be"),
        ("2026-11-23T02:10:15Z,done,1,0,99999999999d", "every: .*: must be"),
        ("2026-11-23T02:10:15Z,done,1,0", "this row does not have 5 values"),
    ],
)
def test_a_trigger_that_none_recorded_is_a_line(history: History, row: str, message: str) -> None:
    history.record(DONE, NOW, "1d", 1, 0)
    with (history.folder / "triggers.csv").open("a") as file:
        file.write(f"{row}\n")
    with pytest.raises(InputError, match=rf"triggers\.csv:3: {message}"):
        history.triggers()
