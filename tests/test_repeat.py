"""`python -m scripts.repeat` with what stands for Snakemake; one real repetition at the end."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.storage import tables
from scripts.workflow.repetitions import WHOLE
from tests.conftest import LIMIT_SECONDS, Project, copy_project, wait_for
from tests.made import costs, run, runs
from tests.reading import Read

pytestmark = pytest.mark.slow

#: Stands for Snakemake: notes how it was called, makes a study or leaves half of one, waits, fails.
STAND_IN = """
import json, os, signal, shutil, sys, time
from pathlib import Path
with open("calls.jsonl", "a") as file:
    file.write(json.dumps({"words": sys.argv[1:], "path": os.environ["PATH"]}) + "\\n")
how = Path("how").read_text() if Path("how").exists() else "done"
def on_signal(number, frame):
    Path("signalled").write_text(str(number))
    sys.exit(1)
signal.signal(signal.SIGINT, on_signal)
Path("results/tiny").mkdir(parents=True, exist_ok=True)
if how == "wait":
    Path("waiting").touch()
    time.sleep(1800)  # it is ended by a signal
if how == "done":
    shutil.copytree("made", "results/tiny", dirs_exist_ok=True)
sys.exit(how == "fail")
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A clone whose Snakemake is `STAND_IN`, and what a repetition of one run leaves."""
    made = copy_project(tmp_path / "project")
    (made.path / "snakemake.py").write_text(STAND_IN)
    repetition(made, "2026-01-02T03:04:05+00:00")
    return made


def repetition(project: Project, began: str) -> None:
    folder = project.path / "made"
    folder.mkdir(exist_ok=True)
    for name in WHOLE:
        (folder / name).touch()
    frame = runs(run(total_seconds=100.0, started_at=began))
    nothing = runs().reindex(columns=list(tables.columns("attempts")))
    for name, table in {"runs": frame, "costs": costs(frame), "attempts": nothing}.items():
        tables.write(table, name, folder / f"{name}.parquet")


def how(project: Project, word: str) -> None:
    (project.path / "how").write_text(word)


def repeat(project: Project, *words: str, **variables: str) -> subprocess.CompletedProcess:
    return project.run(sys.executable, "-m", "scripts.repeat", *(words or ("tiny",)), check=False, **variables)


def rows(project: Project, name: str = "tiny") -> list[dict]:
    with (project.path / "history" / name / "triggers.csv").open() as file:
        return list(csv.DictReader(file))


def whats(project: Project) -> list[str]:
    return [row["what"] for row in rows(project)]


def kept(project: Project) -> list[str]:
    return sorted(path.name for path in (project.path / "history" / "tiny").glob("*Z"))


def test_each_repetition_keeps_its_runs(project: Project) -> None:
    done = repeat(project, "tiny", "--every", "1d")
    assert done.returncode == 0, done.stderr
    assert kept(project) == []
    repetition(project, "2026-01-03T03:04:05+00:00")
    assert repeat(project).returncode == 0
    repetition(project, "2026-01-04T03:04:05+00:00")
    assert repeat(project).returncode == 0
    assert kept(project) == ["2026-01-02T030545Z", "2026-01-03T030545Z"]
    assert whats(project) == ["started", "done"] * 3
    assert [row["every"] for row in rows(project)] == ["1d", "1d", "", "", "", ""]
    html = (project.path / "history/tiny/history.html").read_text()
    assert "<b>study</b>" not in html, "what a study says is no markup"
    page = Read(html)
    assert "3 repetitions; no marked change of time" in page.text
    assert {row[0] for row in page.rows["repetitions"][1:]} >= {"2026-01-02T030545Z", "2026-01-04T030545Z"}


def test_failed_repetition_stays_and_the_next_resumes_it(project: Project) -> None:
    how(project, "fail")
    done = repeat(project)
    assert done.returncode == 1
    assert "failed after" in done.stderr
    assert "the next trigger resumes it" in done.stderr
    (project.path / "results/tiny/half").touch()
    how(project, "done")
    done = repeat(project)
    assert "the repetition before was interrupted: it is resumed" in done.stdout
    assert whats(project) == ["started", "failed", "resumed", "done"]
    assert (project.path / "results/tiny/half").exists()
    assert kept(project) == []


@pytest.mark.nightly
def test_report_that_was_not_made_is_a_failure(project: Project) -> None:
    how(project, "nothing")
    assert repeat(project).returncode == 1
    assert rows(project)[-1]["exit_code"] == "1"


@pytest.mark.nightly
def test_repetition_that_cannot_be_read_is_left_out_and_said(project: Project) -> None:
    assert "has no history: `python -m scripts.repeat tiny` begins one" in history(project).stderr
    repeat(project)
    repetition(project, "2026-01-03T03:04:05+00:00")
    repeat(project)
    (old,) = kept(project)
    (project.path / "history/tiny" / old / "runs.parquet").write_text("torn")
    assert history(project).returncode == 0
    page = Read((project.path / "history/tiny/history.html").read_text())
    assert "1 repetition;" in page.text
    assert "Left out." in page.text
    assert f"{old}/runs.parquet: not a table" in page.text


def history(project: Project) -> subprocess.CompletedProcess:
    return project.run("./epd", "history", "tiny", check=False)


def start(project: Project) -> subprocess.Popen:
    how(project, "wait")
    process = subprocess.Popen(
        [sys.executable, "-m", "scripts.repeat", "tiny"],
        cwd=project.path, env=project.environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    wait_for(lambda: (project.path / "waiting").exists(), process)
    return process


@pytest.mark.represented_by("15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_second_trigger_overlaps_and_signals_are_passed_on(project: Project, number: signal.Signals) -> None:
    process = start(project)
    second = repeat(project)
    assert second.returncode == 3
    assert second.stderr.count("\n") == 1
    assert second.stderr.startswith("overlapped: tiny is at work already")
    process.send_signal(number)
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 1
    assert (project.path / "signalled").read_text() == str(int(signal.SIGINT)), "as Ctrl-C"
    assert whats(project) == ["started", "overlapped", "failed"]
    assert len((project.path / "calls.jsonl").read_text().splitlines()) == 1


def test_trigger_that_is_killed_leaves_its_snakemake_the_lock(project: Project) -> None:
    process = start(project)
    process.kill()
    process.wait()
    assert repeat(project).returncode == 3
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words, folder = file.read_bytes().split(b"\0"), os.readlink(file.parent / "cwd")
        except OSError:
            continue
        if folder == str(project.path) and b"snakemake" in words:
            os.kill(int(file.parent.name), signal.SIGKILL)
    how(project, "done")
    wait_for(lambda: repeat(project).returncode != 3)
    assert whats(project)[-1] == "done"
    assert "no end is recorded: it was killed" in Read((project.path / "history/tiny/history.html").read_text()).text


@pytest.mark.nightly
def test_snakemake_by_hand_is_not_disturbed(project: Project) -> None:
    """Its locks name the study; without it they are those of one that was killed."""
    locks = project.path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("results/tiny/mnist_mlp/cpu1/jax/b128/r1/run.json\n")
    how(project, "wait")
    by_hand = subprocess.Popen([sys.executable, "-m", "snakemake"], cwd=project.path, env=project.environment())
    try:
        wait_for(lambda: (project.path / "waiting").exists(), by_hand)
        assert repeat(project).returncode == 3
        assert whats(project) == ["overlapped"]
    finally:
        by_hand.kill()
        by_hand.wait()
    how(project, "done")
    assert repeat(project).returncode == 0


@pytest.mark.nightly
def test_own_programs_are_found_without_a_path(project: Project) -> None:
    """Cron gives /usr/bin:/bin only."""
    repeat(project, PATH="/usr/bin:/bin")
    (call,) = (project.path / "calls.jsonl").read_text().splitlines()
    assert f'"path": "{Path(sys.executable).parent}:' in call
    assert '"--profile", "profiles/local", "--config", "study=tiny"' in call


@pytest.mark.nightly
def test_repetitions_on_a_cluster_have_places_of_their_own_in_the_bucket(project: Project) -> None:
    for _ in range(2):
        assert repeat(project, "tiny", "--profile", "gce-cpu", EPOCHS_BUCKET="bucket/epochs").returncode == 0
        repetition(project, "2026-01-03T03:04:05+00:00")
        time.sleep(1)
    calls = (project.path / "calls.jsonl").read_text()
    places = {word for word in calls.split('"') if word.startswith("gs://bucket/epochs/repetitions/tiny/2")}
    assert len(places) == 2
    done = repeat(project, "tiny", "--profile", "gce-cpu", EPOCHS_BUCKET="")
    assert done.returncode == 2
    assert "EPOCHS_BUCKET is not set" in done.stderr
    assert rows(project)[-1]["what"] == "failed"
    assert len(kept(project)) == 1, "nothing was moved"


@pytest.mark.represented_by("words0", "words5")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["two-cores"], "study two-cores: shows runs of others, and trains none: there is nothing to repeat"),
        (["gpus-2017"], "study gpus-2017: shows runs of others"),
        (["nowhere"], "study 'nowhere' is unknown"),
        (["tiny", "--profile", "moon"], "--profile: 'moon' is unknown: it is one of default, gce-cpu"),
        (["tiny", "--every", "7m"], "every: '7m': must be minutes that divide 60"),
        (["tiny", "--prices"], "a study, or --prices, must be given"),
    ],
)
def test_bad_input_is_a_line(project: Project, words: list[str], says: str) -> None:
    done = repeat(project, *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project.path / "history").exists()


@pytest.mark.nightly
def test_refreshed_prices_are_recorded(project: Project) -> None:
    done = repeat(project, "--prices", "--config", "catalogue=a folder")
    assert done.returncode == 0
    assert [row["what"] for row in rows(project, "_prices")] == ["started", "done"]
    assert len(list((project.path / "history/_prices").glob("*Z.txt"))) == 1
    assert (
        '"refresh_prices", "--quiet", "all", "--config", "catalogue=a folder"'
        in (project.path / "calls.jsonl").read_text()
    )


@pytest.mark.nightly
def test_study_that_was_trained_is_trained_anew(trained: Project) -> None:
    before = trained.record("mnist_mlp/cpu1/jax/b128")
    one = ["--config", "workloads=[mnist_mlp]", "frameworks=[jax]"]
    done = repeat(trained, "tiny", *one)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    after = trained.record("mnist_mlp/cpu1/jax/b128")
    assert after["provenance"]["started_at"] > before["provenance"]["started_at"]
    (old,) = kept(trained)
    assert (trained.path / "history/tiny" / old / "imdb_bidirectional_lstm/cpu1/tensorflow/b32/r1/run.json").is_file()
    page = Read((trained.path / "history/tiny/history.html").read_text())
    assert "2 repetitions" in page.text
    for state in (f"tiny@{old}", f"history/tiny/{old}"):
        compared = trained.run("./epd", "compare", state, "tiny", check=False)
        assert "1 configuration compared" in compared.stdout + compared.stderr
