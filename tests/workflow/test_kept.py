"""The history of triggers whose machines go: one machine after the other, over one folder that stays."""

import json
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

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
    created = type(first._files).pipe_file
    with ExitStack() as stack:
        was_faster = []

        def pipe_file(files: Any, path: str, *args: Any, **options: Any) -> None:
            """Let the first machine take the lease after the second has read the old one."""
            monkeypatch.setattr(type(files), "pipe_file", created)
            was_faster.append(stack.enter_context(first.held(10)))
            created(files, path, *args, **options)

        monkeypatch.setattr(type(first._files), "pipe_file", pipe_file)
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


def test_bad_place_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--keep: 'nowhere://x'"):
        Kept("nowhere://x", machine(tmp_path, "a"))
