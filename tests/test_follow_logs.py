"""`epd import FOLDER --follow`: a folder that grows is read again, and Ctrl-C ends it in one line."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.epd._follow import follow
from tests.conftest import Project
from tests.importers.formats.test_mlflow import folder as mlflow_folder
from tests.importers.formats.test_nanogpt import MODDED


class Steps:
    """Does something to a folder at each wait, then ends as Ctrl-C does."""

    def __init__(self, *steps) -> None:
        self._steps = list(steps)

    def __call__(self) -> None:
        if not self._steps:
            raise KeyboardInterrupt
        self._steps.pop(0)()


def test_a_new_a_longer_and_a_lost_file_are_read_again_and_nothing_else(tmp_path: Path) -> None:
    log, changes = tmp_path / "a.log", []

    def write() -> None:
        log.write_text(log.read_text() + "step:101/200 train_time:1ms\n")

    def unlike() -> None:
        (tmp_path / "model.pt").write_text("weights")

    log.write_text(MODDED)
    steps = Steps(lambda: None, write, unlike, lambda: (tmp_path / "b.log").write_text("x"), log.unlink)
    follow(tmp_path, lambda changed: changes.append(changed) or (), steps)
    assert changes == [1, 1, 1, 1]


def test_what_failed_is_tried_once_more_and_then_with_the_next_change(tmp_path: Path) -> None:
    """A database may be locked between its table and its page."""
    (tmp_path / "a.log").write_text(MODDED)
    calls: list[int] = []
    steps = Steps(lambda: None, lambda: None, lambda: (tmp_path / "b.log").write_text("x"), lambda: None)
    follow(tmp_path, lambda changed: calls.append(changed), steps)
    assert calls == [1, 1, 1, 1]


def test_an_empty_folder_is_waited_for(tmp_path: Path) -> None:
    changes: list[int] = []
    follow(tmp_path, lambda changed: changes.append(changed) or (), Steps(lambda: (tmp_path / "a.log").write_text("x")))
    assert changes == [1]


def test_a_metric_of_a_run_of_mlflow_that_grows_is_a_change_and_its_own_cost_is_none(tmp_path: Path) -> None:
    mlflow_folder(tmp_path)
    metrics, changes = tmp_path / "mlruns/1/0a1b/metrics", []

    def grow() -> None:
        (metrics / "train_loss").write_text("1700000000000 0.5 7\n")

    def cost() -> None:
        (metrics / "cost_usd").write_text("1700000000000 0.5 0\n")

    follow(tmp_path, lambda changed: changes.append(changed) or (), Steps(grow, cost))
    assert len(changes) == 2
    assert changes[1] == 1


@pytest.mark.slow
def test_a_log_that_comes_later_is_on_the_page_and_ctrl_c_ends_in_a_line(fresh: Project, tmp_path: Path) -> None:
    logs = tmp_path / "vision" / "logs"
    logs.mkdir(parents=True)
    (logs / "first.log").write_text(MODDED)
    asked = ("--machine", "h100", "--price", "2.49", "--follow")
    command = [sys.executable, "-m", "scripts.epd", "import", str(logs), *asked]
    with subprocess.Popen(
        command, cwd=fresh.path, env=fresh.environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout
        lines = iter(running.stdout.readline, "")
        assert any(line.startswith("waiting for more") for line in lines)
        (tmp_path / "second.log").write_text(MODDED.replace("22500ms", "30000ms"))
        (tmp_path / "second.log").rename(logs / "second.log")  # whole at once: a part of it would be read first
        assert any(line.startswith("waiting for more") for line in lines)
        os.killpg(running.pid, signal.SIGINT)
        ended = list(lines)
    assert running.returncode == 0
    page = fresh.path / "results" / "vision_logs" / "report.html"
    assert ended == [f"ended by Ctrl-C; the last page stays: {page}\n"]
    assert "second" in page.read_text()
