"""Whether the call that has locked a folder still lives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scripts.workflow import lease, locks

#: What a call on another machine has written.
ELSEWHERE = {"machine": "node7 0123", "process": 1, "began": 1.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    (tmp_path / ".snakemake" / "locks" / "0.input.lock").touch()
    return tmp_path


def write(folder: Path, **about: object) -> None:
    lease.path(folder).write_text(json.dumps(ELSEWHERE | {"beat": 1} | about))


def test_lease_is_there_while_a_call_works_and_counts_up(folder: Path) -> None:
    with lease.held(folder, beat_seconds=0.01):
        first = json.loads(lease.path(folder).read_text())["beat"]
        while json.loads(lease.path(folder).read_text())["beat"] == first:
            pass
        assert lease.holder(folder).startswith(f"process {os.getpid()} on ")
        assert not lease.is_dead(folder)
    assert not lease.path(folder).exists()
    assert not lease.is_dead(folder), "there is none"


@pytest.mark.parametrize("reused", [False, True])
def test_call_of_this_machine_is_dead_when_its_process_is_gone_or_another_s(folder: Path, reused: bool) -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    about = {"process": os.getpid() if reused else process.pid, "began": psutil.Process().create_time() - 3600}
    write(folder, machine=lease._this_machine(), **about)
    assert lease.is_dead(folder)


def test_call_of_another_machine_is_watched(folder: Path) -> None:
    write(folder)
    waited: list[float] = []
    assert lease.is_dead(folder, waited.append)
    assert waited == [lease.BEAT_SECONDS] * lease.MISSED
    assert not lease.is_dead(folder, lambda seconds: write(folder, beat=2))


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"machine": "", "process": 1, "began": 1, "beat": 1}',
            '{"machine": "x", "process": "1", "began": 1, "beat": 1}',
        ),
        *(
            '{"machine": 3, "process": 1, "began": 1, "beat": 1}',
            '{"machine": "x", "process": 1, "began": "1", "beat": 1}',
        ),
        *("[" * 200_000, "3", "[]", "", "{}"),
    ],
    ids=lambda text: text[:30],
)
def test_what_no_call_has_written_is_no_lease(folder: Path, text: str) -> None:
    lease.path(folder).write_text(text)
    assert lease.holder(folder) == ""
    assert not lease.is_dead(folder)


def test_machine_of_a_lease_is_printed_as_a_terminal_shows_it(folder: Path) -> None:
    write(folder, machine="\x1b[2Jnode7 0123")
    assert "\x1b" not in lease.holder(folder)
    assert "node7" in lease.holder(folder)


@pytest.mark.parametrize("process", [-1, 0, 2**40, 10**30])
def test_process_that_cannot_be_is_dead(folder: Path, process: int) -> None:
    write(folder, machine=lease._this_machine(), process=process)
    assert lease.is_dead(folder)


def test_one_of_several_takes_a_dead_lease_away(folder: Path) -> None:
    write(folder)
    assert [lease.take_away(folder), lease.take_away(folder)] == [True, False]
    assert [file.name for file in (folder / ".snakemake").iterdir()] == ["locks"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null"])
def test_what_is_no_lease_takes_nothing_away(folder: Path, content: str) -> None:
    lease.path(folder).write_text(content)
    assert not lease.is_dead(folder)
    assert lease.holder(folder) == ""


def test_locks_of_a_dead_call_of_a_shared_folder_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    write(folder)
    monkeypatch.setattr(lease.is_dead, "__defaults__", (lambda seconds: None,))
    locks.clear(folder, False)
    assert not list((folder / ".snakemake" / "locks").iterdir())
    said = capsys.readouterr().err
    assert "locked by process 1 on node7: looking whether that call lives" in said
    assert "the last call in this folder was killed; going on from what is there" in said


def test_locks_of_a_call_that_lives_elsewhere_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder)
    monkeypatch.setattr(lease.is_dead, "__defaults__", (lambda seconds: write(folder, beat=2),))
    locks.clear(folder, False)
    assert list((folder / ".snakemake" / "locks").iterdir())
    assert "another snakemake, process 1 on node7, works on the same files" in locks.refusal(folder)
