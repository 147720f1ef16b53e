"""What a Snakemake that was killed leaves behind."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from scripts.workflow import locks


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    (tmp_path / ".snakemake" / "locks" / "0.input.lock").touch()
    return tmp_path


def test_stale_locks_go_with_a_line(locked: Path, capsys: pytest.CaptureFixture) -> None:
    locks.clear(locked, True)
    assert not list((locked / ".snakemake" / "locks").iterdir())
    assert capsys.readouterr().err == "note: the last call in this folder was killed; going on from what is there\n"


def test_locks_of_one_that_works_stay(locked: Path, capsys: pytest.CaptureFixture) -> None:
    (locked / "snakemake").write_text("import time\nprint('there', flush=True)\ntime.sleep(1800)\n")
    other = subprocess.Popen(
        [sys.executable, "-u", "-B", "-W", "ignore", "snakemake"], cwd=locked, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        other.stdout.readline()
        detached = subprocess.run(
            [sys.executable, "-c", "import sys; from pathlib import Path; from scripts.workflow import locks;"
             "locks.clear(Path(sys.argv[1]), True)", str(locked)],
            cwd=Path(locks.__file__).parents[2], capture_output=True, text=True,
        )  # fmt: skip
    finally:
        other.kill()
        other.wait()
    assert f"another snakemake works in this folder (process {other.pid})" in detached.stderr
    assert list((locked / ".snakemake" / "locks").iterdir())


@pytest.mark.parametrize("is_owner", [True, False])
def test_process_that_hides_its_folder_counts_if_its_user_has_locked(
    locked: Path, monkeypatch: pytest.MonkeyPatch, is_owner: bool
) -> None:
    class Hidden:
        pid, info = 7, {"cmdline": ["snakemake"]}

        def cwd(self) -> str:
            raise psutil.AccessDenied(self.pid)

        def uids(self) -> SimpleNamespace:
            return SimpleNamespace(real=os.getuid() + (not is_owner))

    monkeypatch.setattr(psutil, "process_iter", lambda attributes: [Hidden()])
    assert locks.others(locked) == ([7] if is_owner else [])


@pytest.mark.parametrize(
    ("words", "is_other"),
    [
        (["python", "/usr/bin/snakemake", "--cores", "1"], True),
        (["sudo", "-n", "snakemake", "--cores", "1"], True),
        (["snakemake", "--profile", "profiles/local", "-n"], False),
        (["snakemake", "--target-jobs", "train:study=s"], False),
        (["python", "-n"], False),
    ],
)
def test_dry_run_and_job_of_a_call_are_no_other_call(
    locked: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], is_other: bool
) -> None:
    process = SimpleNamespace(pid=7, info={"cmdline": words}, cwd=lambda: str(locked))
    monkeypatch.setattr(psutil, "process_iter", lambda attributes: [process])
    assert locks.others(locked) == ([7] if is_other else [])


def test_nothing_is_said_without_locks(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    locks.clear(tmp_path, True)
    assert capsys.readouterr().err == ""


def test_locks_of_a_folder_that_machines_share_stay(locked: Path, capsys: pytest.CaptureFixture) -> None:
    locks.clear(locked, False)
    assert "if no call works in it: snakemake --unlock" in capsys.readouterr().err
    assert list((locked / ".snakemake" / "locks").iterdir())
