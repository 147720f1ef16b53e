"""`epd schedule`: what it prints, and what it hands to each timer."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.storage.errors import InputError
from scripts.workflow import scheduling
from scripts.workflow.intervals import interval
from scripts.workflow.timers import github
from tests.conftest import ROOT, Project, copy_project
from tests.workflow.timers.test_cron import STAND_IN


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A clone, and a user's crontab that is a file beside it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "crontab").write_text(STAND_IN.format(table=tmp_path / "table"))
    (programs / "crontab").chmod(0o755)
    return copy_project(tmp_path / "project")


def epd(project: Project, *words: str) -> subprocess.CompletedProcess:
    path = f"{project.path.parent / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        ["./epd", "schedule", *words],
        cwd=project.path, env=project.environment() | {"PATH": path}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_cost_is_printed_first_then_installed_listed_and_removed(project: Project) -> None:
    done = epd(project, "add", "tiny", "--every", "6h", "--by", "cron")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert said.index("cpu1: 4 runs each time") < said.index("cron: 0 */6 * * * cd ")
    # By hand: two of the four runs may take 8 h each, so that every third trigger of 6 h finds room.
    assert "One repetition takes 16.0 h" in said
    assert "41 repetitions a month, at worst 20" in said
    (line,) = (project.path.parent / "table").read_text().splitlines()
    assert "-m scripts.repeat tiny --profile local --every 6h >>" in line
    assert "cron: 0 */6" in epd(project, "list").stdout
    (listed,) = json.loads(epd(project, "list", "--json").stdout)["schedules"]
    assert (listed["by"], listed["says"]) == ("cron", line)
    assert "tiny: removed from cron" in epd(project, "remove", "tiny").stdout
    assert (project.path / "history/tiny/triggers.csv").read_text().splitlines()[1].split(",")[1] == "unscheduled"
    assert (project.path.parent / "table").read_text() == ""
    again = epd(project, "remove", "tiny")
    assert again.returncode == 0
    assert "tiny: is not scheduled: nothing removed" in again.stdout
    assert "nothing is scheduled here" in epd(project, "list").stdout


@pytest.mark.slow
def test_prices_are_scheduled_with_what_they_are_refreshed_from(project: Project) -> None:
    done = epd(project, "add", "--prices", "--every", "1w", "--by", "cron", "--config", "catalogue=/a folder")
    assert done.returncode == 0, done.stderr
    (line,) = (project.path.parent / "table").read_text().splitlines()
    assert "-m scripts.repeat --prices --every 1w --config 'catalogue=/a folder' >>" in line
    assert "_prices: removed from cron" in epd(project, "remove", "--prices").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--every", "1d", "--by", "moon"), "by: 'moon': must be one of cron, systemd, github"),
        (("--every", "", "--by", "cron"), "every: '': must be minutes that divide 60"),
        (("--every", "1d"), "Missing option '--by'"),
        (("tiny", "--prices", "--every", "1d", "--by", "cron"), "--prices: is in place of a study"),
        (
            ("card", "--every", "1d", "--by", "cron"),
            "profile local trains none of its runs: there is nothing to repeat",
        ),
    ],
)
def test_bad_input_is_a_line(project: Project, words: tuple[str, ...], says: str) -> None:
    done = epd(project, "add", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_github_trains_itself() -> None:
    asked = {"name": "tiny", "asked": "tiny", "study": {}, "runs": [{}], "profile": "gce-gpu"}
    with pytest.raises(InputError, match="by: github: with profile gce-gpu: it must be local"):
        scheduling.install(asked, interval("1d"), "github", [])


# GitHub Actions.


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a place that it was cloned from, in which a file stands for what a repetition leaves."""
    origin, path = tmp_path / "origin.git", tmp_path / "clone"
    subprocess.run(["git", "init", "-q", "--bare", origin], check=True)
    subprocess.run(["git", "clone", "-q", origin, path], check=True, capture_output=True)
    (path / ".venv" / "bin").mkdir(parents=True)
    (path / ".venv" / "bin" / "python").write_text(
        '#!/bin/sh\nmkdir -p history/tiny results/tiny\necho "$@" >> history/tiny/called\ndate >> results/tiny/runs\n'
    )
    (path / ".venv" / "bin" / "python").chmod(0o755)
    (path / "Makefile").write_text(
        ".venv/report-jax-tensorflow:\n\ttest '$(FRAMEWORKS)' = 'jax tensorflow'\n\ttouch $@\n"
    )
    (path / ".gitignore").write_text("/.venv/\n/history/\n/results/\n")
    monkeypatch.setattr(github, "ROOT", path)
    return path


def run_steps(clone: Path) -> None:
    """Run the `run:` steps of the workflow as GitHub does, in their order."""
    (file,) = (clone / ".github" / "workflows").glob("*.yml")
    for step in yaml.safe_load(file.read_text())["jobs"]["repeat"]["steps"]:
        if "run" in step:
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=clone, check=True)


def install_github() -> str:
    words = ["tiny", "--profile", "local", "--every", "1d"]
    return github.install("tiny", words, ["tensorflow", "jax"], interval("1d"))


def test_workflow_is_valid_by_the_schema_of_github(clone: Path) -> None:
    install_github()
    (file,) = (clone / ".github" / "workflows").glob("*.yml")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    file.write_text(file.read_text().replace("runs-on", "runs-at"))
    done = subprocess.run([*done.args], capture_output=True, text=True)
    assert done.returncode == 1, "the schema refuses what is none"


def test_values_are_quoted_and_a_training_that_is_late_leaves_time_to_keep_the_history() -> None:
    words = ["tiny", "--config", "catalogue=/a folder; $(date)"]
    job = github.workflow("tiny", words, ["jax"], interval("1d"))["jobs"]["repeat"]
    step = next(step for step in job["steps"] if step.get("name") == "Repeat")
    assert shlex.split(step["run"]) == [".venv/bin/python", "-m", "scripts.repeat", *words]
    assert step["timeout-minutes"] + 30 <= job["timeout-minutes"]


def test_steps_keep_the_history_in_a_branch_from_one_machine_to_the_next(clone: Path, tmp_path: Path) -> None:
    install_github()
    run_steps(clone)
    for folder in ("history", "results"):
        subprocess.run(["rm", "-r", clone / folder], check=True)
    run_steps(clone)
    called = (clone / "history/tiny/called").read_text().splitlines()
    assert called == ["-m scripts.repeat tiny --profile local --every 1d"] * 2
    assert len((clone / "results/tiny/runs").read_text().splitlines()) == 2
    asked = ["git", "--git-dir", tmp_path / "origin.git", "ls-tree", "-r", "--name-only", github.branch("tiny")]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    assert listed == ["history/tiny/called", "results/tiny/runs"]


def test_history_that_cannot_be_fetched_is_not_written_over(clone: Path, tmp_path: Path) -> None:
    install_github()
    run_steps(clone)
    (tmp_path / "origin.git").rename(tmp_path / "away.git")
    with pytest.raises(subprocess.CalledProcessError):
        run_steps(clone)
    (file,) = (clone / ".github" / "workflows").glob("*.yml")
    keep = next(step for step in yaml.safe_load(file.read_text())["jobs"]["repeat"]["steps"] if "if" in step)
    assert "steps.fetch.outcome == 'success'" in keep["if"]


def test_github_is_listed_replaced_removed_and_called_every_5_minutes_at_most(clone: Path) -> None:
    install_github()
    install_github()
    assert len(github.installed()) == 1
    assert github.remove("tiny")
    assert not github.remove("tiny")
    assert github.installed() == []
    with pytest.raises(InputError, match="GitHub Actions calls every 5 minutes at most"):
        github.install("tiny", [], ["jax"], interval("1m"))


def test_machines_that_git_ignores_are_not_sent_to_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "ROOT", tmp_path)
    scheduling.check_committed({"cpu1", "ours"})
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "hardware.local.yaml").write_text("ours: {label: Our machine}\nidle: {label: Another}\n")
    scheduling.check_committed({"cpu1"})
    with pytest.raises(InputError, match=r"by: github: ours: described in config/hardware.local.yaml, which git"):
        scheduling.check_committed({"cpu1", "ours"})


@pytest.mark.parametrize("word", ["studies/${{ secrets.X }}.yaml", "budget_usd=${{github.token}}", "a\nb"])
def test_nothing_is_left_for_github_to_expand(word: str) -> None:
    with pytest.raises(InputError, match="by: github: "):
        github.workflow("tiny", ["tiny", "--config", word], ["jax"], interval("1d"))


@pytest.mark.parametrize("label", ["../x", "/etc/x", "kit", "", "mine.yaml", "a\n"])
def test_what_is_no_study_is_not_unscheduled(label: str) -> None:
    with pytest.raises(InputError, match="is not the name of a study, nor _prices"):
        scheduling.remove(label)


def test_github_gets_no_study_that_git_does_not_know() -> None:
    """GitHub clones what was committed: without the file each of its calls would fail."""
    path = str(ROOT / "config/studies/mine-alone.yaml")
    asked = {"name": "mine-alone", "asked": path, "study": {"workload_files": {}}, "runs": [{}], "profile": "local"}
    with pytest.raises(InputError, match=r"config/studies/mine-alone.yaml: git does not know it"):
        scheduling.install(asked, interval("1d"), "github", [])
