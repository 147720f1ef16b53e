"""What a person sees of a training ends no run, whatever the training prints."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.workflow import progress
from tests.conftest import LIMIT_SECONDS, ROOT

HOSTILE = [
    *(b"[/INST]", b"[/job:localhost/replica:0]", b"[bold", b"\\", b"\xff\xfe\x00"),
    *(b"{curly} %s", b"\x1b[2J", b"x" * 9999),
]


@pytest.mark.parametrize("line", HOSTILE, ids=repr)
@pytest.mark.parametrize("counted", [True, False])
def test_any_text_of_a_training_is_shown_or_passed_over(tmp_path: Path, line: bytes, counted: bool) -> None:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    environment |= {"EPOCHS_TRAININGS": "1", "EPOCHS_STARTED": "0"} if counted else {}
    done = subprocess.run(
        [sys.executable, "-m", "scripts.workflow.progress", str(tmp_path), "a/cell"],
        input=b"starts\n" + line + b"\ndone in 3 s\n", capture_output=True, env=environment, cwd=ROOT,
        timeout=LIMIT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert b"done in 3 s" in done.stdout + done.stderr


def test_trainings_are_counted_without_reading_records(tmp_path: Path) -> None:
    started = time.time() - 10
    assert [progress.ended(tmp_path, started, one_more=more) for more in (False, True, True, False)] == [0, 1, 2, 2]
    assert progress.ended(tmp_path, time.time() + 10, one_more=True) == 1, "another call"


@pytest.mark.parametrize(
    ("done", "total", "said"),
    [(0, 10, ""), (2, 10, ", about 40 s left"), (1, 100, ", about 16 min left"), (10, 10, "")],
)
def test_rest_is_worked_out_from_what_has_ended(done: int, total: int, said: str) -> None:
    assert progress.left(done, total, 10.0) == said


@pytest.mark.parametrize("counted", [True, False])
def test_terminal_obeys_nothing_that_a_training_prints(tmp_path: Path, counted: bool) -> None:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    environment |= {"EPOCHS_TRAININGS": "1", "EPOCHS_STARTED": "0"} if counted else {}
    done = subprocess.run(
        [sys.executable, "-m", "scripts.workflow.progress", str(tmp_path), "a/cell"],
        input=b"error: \x1b]0;title\x07 \xe2\x80\xae turned\n", env=environment, cwd=tmp_path, capture_output=True,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert b"title" in said
    assert not {b"\x1b", b"\x07", b"\xe2\x80\xae"} & {
        each for each in (b"\x1b", b"\x07", b"\xe2\x80\xae") if each in said
    }
