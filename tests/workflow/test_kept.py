"""The history of triggers whose machines go: one machine after the other, over one folder that stays."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.local import LocalFileSystem

from scripts.storage.errors import InputError
from scripts.workflow.kept import Kept
from scripts.workflow.repetitions import RESUMED, STARTED, History, folder_name
from tests.workflow.test_repetitions import ENDED, LATER, NOW, complete


def machine(path: Path, name: str) -> History:
    return History("tiny", path / name)


def test_nothing_is_kept_without_a_place(tmp_path: Path) -> None:
    with Kept("", machine(tmp_path, "a")).held(1) as held:
        assert held
    assert list(tmp_path.iterdir()) == []


def test_next_machine_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    one, two, three = (machine(tmp_path, name) for name in "abc")
    place = f"file://{tmp_path}/kept"
    with Kept(place, one).held(10) as held:
        assert held
        assert one.begin(NOW)[0] == STARTED
        complete(one)
        one.end()
        one.record("done", NOW, "1d", 1, 0)
    with Kept(place, two).held(10):
        assert two.is_complete()
        assert two.begin(LATER) == (STARTED, folder_name(LATER))
        two.results.mkdir(parents=True)
        (two.results / "half").touch()
    with Kept(place, three).held(10):
        assert three.begin(LATER + timedelta(days=1)) == (RESUMED, folder_name(LATER))
        assert [path.name for path in three.results.iterdir()] == ["half"], "and nothing of the one before"
        assert [path.name for path in three.repetitions()] == [ENDED]
        assert [row["what"] for _, row in three.triggers()] == ["done"]


def test_second_machine_is_turned_away_and_that_is_recorded(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/kept"
    with Kept(place, machine(tmp_path, "a")).held(10), Kept(place, machine(tmp_path, "b")).held(10, "6h") as held:
        assert not held
    third = machine(tmp_path, "c")
    with Kept(place, third).held(10) as held:
        assert held
        assert [(row["what"], row["every"]) for _, row in third.triggers()] == [("overlapped", "6h")]
    fourth = machine(tmp_path, "d")
    with Kept(place, fourth).held(10):
        assert len(fourth.triggers()) == 1, "told once"


def leases(path: Path) -> list[str]:
    return sorted(file.name for file in (path / "kept" / "tiny").glob("lease*"))


def leave_lease(path: Path, name: str) -> None:
    """Leave the lease of a machine that is gone."""
    (path / "kept" / "tiny").mkdir(parents=True)
    until = datetime.now(UTC) - timedelta(seconds=1)
    (path / "kept" / "tiny" / name).write_text(json.dumps({"until": until.isoformat()}))


@pytest.mark.parametrize(("left", "taken"), [("lease.json", "lease-1.json"), ("lease-9.json", "lease-10.json")])
def test_lease_of_a_machine_that_is_gone_is_taken(tmp_path: Path, left: str, taken: str) -> None:
    leave_lease(tmp_path, left)
    with Kept(f"file://{tmp_path}/kept", machine(tmp_path, "a")).held(10) as held:
        assert held
        assert leases(tmp_path) == [taken]
    assert leases(tmp_path) == []


def test_of_two_that_find_a_lease_run_out_one_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_lease(tmp_path, "lease.json")
    first, second = (Kept(f"file://{tmp_path}/kept", machine(tmp_path, name)) for name in "ab")
    create = Kept._create
    with ExitStack() as stack:
        was_faster = []

        def after_the_first(kept: Kept, path: str, content: bytes) -> None:
            """Let the first machine take the lease after the second has read the old one."""
            monkeypatch.setattr(Kept, "_create", create)
            was_faster.append(stack.enter_context(first.held(10)))
            create(kept, path, content)

        monkeypatch.setattr(Kept, "_create", after_the_first)
        with second.held(10) as held:
            assert (was_faster, held) == ([True], False)
        assert leases(tmp_path) == ["lease-1.json"]
    assert leases(tmp_path) == []


@pytest.mark.parametrize("other", [None, "of another machine"])
def test_only_the_own_lease_is_removed(tmp_path: Path, other: str | None) -> None:
    lease = tmp_path / "kept" / "tiny" / "lease-1.json"
    with Kept(f"file://{tmp_path}/kept", machine(tmp_path, "a")).held(10):
        lease.unlink()
        if other:
            lease.write_text(other)
    assert leases(tmp_path) == (["lease-1.json"] if other else [])


@pytest.mark.parametrize(
    "left", ["", "{", "[]", '{"until": 1}', '{"until": "soon"}', '{"until": "2026-01-01"}', "\xff"]
)
def test_a_lease_that_cannot_be_read_holds_as_long_as_a_machine_may_take(tmp_path: Path, left: str) -> None:
    """As its machine has made it, and may not have written it yet."""
    (tmp_path / "kept" / "tiny").mkdir(parents=True)
    lease = tmp_path / "kept" / "tiny" / "lease-1.json"
    lease.write_bytes(left.encode("latin-1"))
    place = f"file://{tmp_path}/kept"
    is_over = "2026-01-01" in left
    with Kept(place, machine(tmp_path, "a")).held(10) as held:
        assert held == is_over
    if not is_over:
        os.utime(lease, (1, 1))
    with Kept(place, machine(tmp_path, "b")).held(10) as held:
        assert held


@pytest.mark.parametrize("taken", ["{", '{"every": 1}', "[]"])
def test_a_note_that_cannot_be_read_is_recorded_without_its_interval(tmp_path: Path, taken: str) -> None:
    notes = tmp_path / "kept" / "tiny" / "overlapped"
    notes.mkdir(parents=True)
    (notes / "2026-11-23T101112.000001Z").write_text(taken)
    (notes / "something else").write_text("")
    history = machine(tmp_path, "a")
    with Kept(f"file://{tmp_path}/kept", history).held(10):
        assert [(row["at"], row["every"]) for _, row in history.triggers()] == [("2026-11-23T10:11:12Z", "")]
    assert [path.name for path in notes.iterdir()] == ["something else"]


def test_of_what_is_kept_only_what_a_machine_keeps_is_fetched(tmp_path: Path) -> None:
    there = tmp_path / "kept" / "tiny" / "history"
    for name in ("current.json", "stranger.txt", ".lock", f"{ENDED}/runs.parquet", "2026-01-03T030545Z/report.html"):
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_text('{"id": "", "ended": true}')
    history = machine(tmp_path, "a")
    with Kept(f"file://{tmp_path}/kept", history).held(10):
        found = {str(path.relative_to(history.folder)) for path in history.folder.rglob("*") if path.is_file()}
    assert found == {"current.json", "2026-01-03T030545Z/report.html"}, "no stranger, and no repetition that is cut"


def test_bad_place_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--keep: 'nowhere://x'"):
        Kept("nowhere://x", machine(tmp_path, "a"))


class Killed(BaseException):
    """The machine is gone."""


class Dying(LocalFileSystem):
    """The place of a machine that is killed at its `last` step: what it asks for then, and later, is not done."""

    cachable = False
    left = 0

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed


def _dying(name: str) -> Callable[..., Any]:
    def method(self: Dying, *args: Any, **options: Any) -> Any:
        self.step()
        return getattr(LocalFileSystem, name)(self, *args, **options)

    return method


for _name in ("ls", "find", "exists", "cat_file", "get_file", "rm_file", "rm", "makedirs", "modified"):
    setattr(Dying, _name, _dying(_name))


def trigger(kept: Kept, history: History, now: datetime, **values: Any) -> None:
    """Run one repetition whose last run ends 100 s after `now`."""
    with kept.held(0.0, "1d") as held:
        assert held
        what, _ = history.begin(now)
        history.record(what, now, "1d")
        kept.store()
        complete(history, started_at=now.isoformat(), **values)
        history.end()
        history.record("done", now, "1d", 1, 0)


@pytest.mark.slow
def test_killed_at_any_step_the_next_goes_on_and_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request to the kept place is a step, and each file that is put."""
    put, create = Kept._put_file, Kept._create

    def step(kept: Kept) -> None:
        if isinstance(kept._files, Dying):
            kept._files.step()

    monkeypatch.setattr(Kept, "_put_file", lambda kept, *given: (step(kept), put(kept, *given)))
    monkeypatch.setattr(Kept, "_create", lambda kept, *given: (step(kept), create(kept, *given)))
    days = [NOW + timedelta(days=day) for day in range(4)]
    ends = [folder_name(day + timedelta(seconds=100)) for day in days]
    was_killed, steps, found = True, 0, []
    while was_killed:
        place = tmp_path / str(steps) / "kept"
        machines = [machine(place.parent, f"m{number}") for number in range(4)]
        kept = [Kept(f"file://{place}", history) for history in machines]
        trigger(kept[0], machines[0], days[0])
        (place / "tiny" / "overlapped").mkdir(parents=True)
        (place / "tiny" / "overlapped" / "2026-11-23T101112.000001Z").write_text('{"every": "6h"}')
        kept[1]._files = Dying()
        kept[1]._files.left = steps
        was_killed = False
        try:
            trigger(kept[1], machines[1], days[1], seed=8)
        except Killed:
            was_killed = True
        for number in (2, 3):
            trigger(kept[number], machines[number], days[number], seed=8 + number)
        found = [path.name for path in machines[3].repetitions()]
        mine = [ends[1]] if ends[1] in found else []
        assert found == [ends[0], *mine, ends[2], "tiny"], f"killed at step {steps}"
        whats = [row["what"] for _, row in machines[3].triggers()]
        assert whats.count("overlapped") == 1, f"killed at step {steps}: {whats}"
        # The killed one may not have said that it was done.
        assert whats.count("done") in ({3, 4} if was_killed else {4}), f"killed at step {steps}: {whats}"
        steps += 1
    assert ends[1] in found
    assert steps > 30
