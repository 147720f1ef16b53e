"""Where a run is, and its attempts, outlive the machine."""

import resource
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from scripts.measurement import checkpoint
from scripts.measurement.checkpoint import Attempts, Keeper, Place, Preempted, State
from scripts.storage import schemas
from scripts.storage.errors import InputError
from tests.made import record

STATE = State(
    epoch=2,
    steps=7,
    arrays=[np.arange(6, dtype=np.float32).reshape(2, 3), np.array(3, np.int64), np.zeros(0)],
    seconds={"elapsed": 1.5},
    rows=[{"epoch": 0, "elapsed": 9.0, "loss": 0.5, "val_acc": None}],
)


@pytest.fixture(params=["folder", "memory://bucket/run"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """A folder that is not there yet, and an object store."""
    made = Place(str(tmp_path / "new" / "run") if request.param == "folder" else request.param, "cell", "seed")
    made.clear()
    return made


def test_state_comes_back_as_it_was(place: Place) -> None:
    assert place.load() is None
    place.save(STATE)
    loaded = place.load()
    assert (loaded.epoch, loaded.steps, loaded.seconds, loaded.rows) == (2, 7, {"elapsed": 1.5}, STATE.rows)
    for before, after in zip(STATE.arrays, loaded.arrays, strict=True):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)


def test_state_of_another_run_is_not_taken(tmp_path: Path) -> None:
    Place(str(tmp_path), "cell", "seed 1").save(STATE)
    assert Place(str(tmp_path), "cell", "seed 2").load() is None
    assert Place(str(tmp_path), "cell", "seed 1").load() is not None


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    place = Place(str(tmp_path), "cell")
    place.save(STATE)
    place.write_attempts([])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["attempts.json", "state.npz"]


def test_keeper_saves_at_once_when_asked_and_ends(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, saved = [], []
    keeper = Keeper(place, lambda: bool(asked), saved.append)
    assert not keeper.is_due()
    asked.append(15)
    assert keeper.is_due()
    with pytest.raises(Preempted):
        keeper.keep(lambda: STATE)
    assert saved == [10.5]
    assert Keeper(place, lambda: False, saved.append).saved.steps == 7


def test_keeper_saves_less_often_the_longer_it_takes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(checkpoint, "monotonic", lambda: clock[0])
    monkeypatch.setattr(checkpoint, "perf_counter", lambda: clock[0])
    keeper = Keeper(place, lambda: False, lambda seconds: None)
    monkeypatch.setattr(place, "save", lambda state: clock.__setitem__(0, clock[0] + 2.0))
    clock[0] = 30.0
    assert keeper.is_due()
    keeper.keep(lambda: STATE)
    assert keeper.saving_seconds == 2.0
    clock[0] += 99.0
    assert not keeper.is_due()
    clock[0] += 1.0
    assert keeper.is_due(), "50 times two seconds"


def test_checkpoint_that_cannot_be_written_ends_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def refuse(state: State) -> None:
        raise OSError("the bucket is away")

    monkeypatch.setattr(place, "save", refuse)
    keeper = Keeper(place, lambda: False, lambda seconds: None)
    keeper.keep(lambda: STATE)
    assert "checkpoint not written: the bucket is away" in capsys.readouterr().out


def test_damaged_checkpoint_is_none(tmp_path: Path) -> None:
    place = Place(str(tmp_path), "cell")
    place.save(STATE)
    file = tmp_path / "state.npz"
    file.write_bytes(file.read_bytes()[:100])
    assert place.load() is None


def minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every reading of the calendar be a minute later, and every one of the other clock two minutes."""
    minute = iter(f"2026-01-02T00:{number:02d}:00+00:00" for number in range(60))
    booted = iter(range(0, 10_000, 120))
    monkeypatch.setattr(checkpoint, "now", lambda: next(minute))
    monkeypatch.setattr(checkpoint, "boot_seconds", lambda: float(next(booted)))


def test_attempts_say_what_each_was_good_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    minutes(monkeypatch)
    first = Attempts(place, "vm-1")  # minutes 0, 1
    first.alive(60.0)  # 2
    second = Attempts(place, "vm-2")  # 3, 4: the first never said how it ended
    second.end("preempted")  # 5
    third = Attempts(place, "vm-3")  # 6, 7
    ended = third.to_json("done", trained_seconds=150.0)  # 8
    assert [(one["ended"], one["machine"]) for one in ended] == [
        ("lost", "vm-1"),
        ("preempted", "vm-2"),
        ("done", "vm-3"),
    ]
    assert [one["used_seconds"] for one in ended] == [120, 120, 120]
    assert [one["useful_seconds"] for one in ended] == [60, 0, 90]
    assert [one["lost_seconds"] for one in ended] == [60, 120, 30]
    assert third.used_seconds() == 240
    assert [one["ended"] for one in checkpoint.previous(place)] == ["lost", "preempted", "lost"]


def test_attempts_keep_what_a_cluster_records_of_their_machines(place: Place) -> None:
    Attempts(place, "vm-1", {"boot_seconds": 90.0, "wait_seconds": 30.0})
    ended = Attempts(place, "vm-2", {"wait_seconds": 2.0}).to_json("done", trained_seconds=0.0)
    before = [{name: one[name] for name in ("boot_seconds", "wait_seconds") if name in one} for one in ended]
    assert before == [{"boot_seconds": 90.0, "wait_seconds": 30.0}, {"wait_seconds": 2.0}]
    schemas.validate(record(attempts=ended), "run", "run.json")


def test_what_other_code_saved_is_of_no_use(tmp_path: Path) -> None:
    Attempts(Place(str(tmp_path), "old"), "vm-1").alive(60.0)
    ended = Attempts(Place(str(tmp_path), "new"), "vm-2").to_json("done", trained_seconds=0.0)
    assert ended[1]["useful_seconds"] == 0.0


def test_run_after_one_that_ended_is_another_one(place: Place) -> None:
    Attempts(place, "vm-1").end("done")
    place.save(STATE)
    (only,) = Attempts(place, "vm-2").to_json("done", 5.0)
    assert only["machine"] == "vm-2"
    assert place.load() is None, "it begins anew"


@pytest.mark.parametrize("hours", [-24, 24])
def test_date_that_is_set_meanwhile_bills_nothing(place: Place, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    attempts = Attempts(place, "vm-1")
    later = datetime.now(UTC) + timedelta(hours=hours)
    monkeypatch.setattr(checkpoint, "now", lambda: later.isoformat(timespec="milliseconds"))
    (only,) = attempts.to_json("done", 5.0)
    assert 0 < only["used_seconds"] < 5


def test_attempt_that_was_noted_before_there_was_this_clock_counts_by_the_date(place: Place) -> None:
    old = {"started_at": "2026-01-02T00:00:00+00:00", "seen_at": "2026-01-02T00:02:00+00:00", "machine": "vm-0"}
    place.write_attempts(
        [old | {"saved_seconds": 0.0, "kept_seconds": 60.0, "identity": place.identity, "ended": "lost"}]
    )
    assert Attempts(place, "vm-1").used_seconds() == 120


@pytest.mark.parametrize("content", [b"{", b"[1]", b'[{"started_at": "x"}]', b"7", b"\xff"])
def test_damaged_attempts_are_said_and_left(tmp_path: Path, capsys: pytest.CaptureFixture, content: bytes) -> None:
    (tmp_path / "attempts.json").write_bytes(content)
    place = Place(str(tmp_path), "cell")
    (only,) = Attempts(place, "vm-2").to_json("done", 5.0)
    assert only["machine"] == "vm-2"
    assert "attempts.json is damaged" in capsys.readouterr().out


def test_place_that_nothing_knows_or_can_write_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="checkpoints: gopher://x: "):
        Place("gopher://x", "cell")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="checkpoints: nothing can be written: "):
        Attempts(Place(str(tmp_path / "file" / "run"), "cell"), "vm-1")


def test_checkpoint_that_finds_the_disk_full_leaves_the_last_one_and_no_half(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "kept"), "a cell")
    place.save(State(0, 1, [np.zeros(10)]))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(InputError, match="File too large"):
            place.save(State(0, 2, [np.zeros(10_000)]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["state.npz"]
    saved = place.load()
    assert saved is not None
    assert saved.steps == 1
