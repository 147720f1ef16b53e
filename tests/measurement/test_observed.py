"""A command that is watched for a study, run as a job of it runs."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scripts.analysis import runs
from scripts.measurement import observed
from scripts.records import stored
from scripts.records.cell import Cell
from tests.conftest import ROOT, wait_for

pytestmark = pytest.mark.slow

CELL = Cell("gpt", "cpu1", "own", 8, 1, 1.0, "own")
COUNTS = """
import itertools, sys
for step in itertools.count(1):
    sum(range(200_000))
    print(f"iter {step}: loss 1.0")
"""


def asked(folder: Path, text: str, **more: Any) -> dict[str, Any]:
    """Return what is asked for of a program that reads `text`."""
    plain = {"words": [sys.executable, "-c", text], "folder": str(folder), "minutes": 0.02, "of": None, "epochs": None}
    return plain | {"per_step": None, "pattern": None} | more


def job(output: Path, command: dict[str, Any], **variables: str) -> subprocess.Popen[str]:
    """Start what a rule starts: with SIGTERM ignored, as its shell leaves it."""
    words = ["--cell", json.dumps(asdict(CELL)), "--repeat", "1", "--command", json.dumps(command)]
    return subprocess.Popen(
        [sys.executable, "-m", "scripts.observe", *words, "--code", "sha256", "--output", str(output)],
        cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    )  # fmt: skip


def row(output: Path) -> dict[str, Any]:
    return runs.rows(f"{CELL.path}/r1", stored.read(output / "run.json"))[0]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / CELL.path / "r1"


def test_what_no_progress_is_read_of_has_a_status_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "plugins" / "epochs-per-dollar"))
    from epochs_per_dollar import measuring

    monkeypatch.setattr(measuring, "_SET_UP_SECONDS", 0.5)
    outcome, seen, is_ended = observed.run(asked(tmp_path, "import time\nwhile True: time.sleep(0.1)"), 1)
    assert (outcome.status, is_ended) == ("unread", False)
    assert "no progress could be read" in str(outcome.reason)
    assert seen
    assert seen["rate"] is None


def test_a_length_that_nothing_says_leaves_a_rate_alone(output: Path, tmp_path: Path) -> None:
    printed = job(output, asked(tmp_path, COUNTS)).communicate()[0]
    run = row(output)
    assert (run["status"], run["train_seconds"], run["train_samples"]) == ("done", None, None), printed
    assert run["samples_per_second"] > 0


def test_what_a_step_goes_through_is_counted(output: Path, tmp_path: Path) -> None:
    job(output, asked(tmp_path, COUNTS, of=1e6, per_step=[12.0, "tokens"])).communicate()
    run, record = row(output), json.loads((output / "run.json").read_text())
    assert run["train_samples"] == 12_000_000
    assert run["samples_per_second"] == pytest.approx(12 * record["observed"]["rate"]["units_per_second"])
    assert run["observed_samples"] == pytest.approx(12 * record["observed"]["rate"]["observed_units"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_ends_the_job_ends_the_program_and_leaves_no_record(output: Path, tmp_path: Path, number: int) -> None:
    command = asked(tmp_path, f"import os\nopen('pid', 'w').write(str(os.getpid()))\n{COUNTS}", minutes=60)
    process = job(output, command)
    assert process.stdout
    assert any(line.startswith("iter") for line in process.stdout)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 4
    assert not output.exists()
    pid = int((tmp_path / "pid").read_text())
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


def test_the_program_sees_the_environment_of_the_person(output: Path, tmp_path: Path) -> None:
    text = "import json, os, sys\njson.dump([dict(os.environ), sys.stdin.read()], open('seen', 'w'))"
    ours = {"EPOCHS_CALLER": "1", "XDG_CACHE_HOME": str(ROOT / ".cache"), "XDG_CONFIG_HOME": str(tmp_path), "MINE": "1"}
    job(output, asked(tmp_path, text), **ours).communicate()
    seen, given = json.loads((tmp_path / "seen").read_text())
    assert given == ""
    assert "EPOCHS_CALLER" not in seen
    assert "XDG_CACHE_HOME" not in seen
    assert (seen["XDG_CONFIG_HOME"], seen["MINE"]) == (str(tmp_path), "1")


def test_a_machine_that_nobody_got_is_recorded(output: Path, tmp_path: Path) -> None:
    ended = json.dumps({"status": "no_capacity", "reason": "none in the region"})
    job(output, asked(tmp_path / "not there", COUNTS), EPOCHS_ENDED=ended).communicate()
    assert (row(output)["status"], row(output)["reason"]) == ("no_capacity", "none in the region")


def test_a_folder_that_is_not_there_is_one_line(output: Path, tmp_path: Path) -> None:
    process = job(output, asked(tmp_path / "gone", COUNTS))
    said = process.communicate()[0]
    assert process.returncode == 2
    assert f"error: folder {tmp_path}/gone: No such file or directory" in said
    assert "Traceback" not in said
