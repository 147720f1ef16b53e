"""What a study will cost is said before it runs, and a budget is kept."""

import subprocess
import sys

import pytest

from scripts.costs import book
from tests.conftest import Project
from tests.test_workflow import MLP_JAX

pytestmark = pytest.mark.slow


def said(project: Project, *arguments: str, check: bool = True) -> str:
    done = project.run("snakemake", *arguments, check=check)
    return " ".join((done.stdout + done.stderr).split())


def test_dry_run_ends_with_a_quote_by_earlier_runs(trained: Project) -> None:
    printed = said(trained, "-n", "-R", f"results/tiny/{MLP_JAX}/r1/run.json", "--config", "study=tiny")
    assert "quote (on-demand)" in printed
    assert "1 by earlier runs" in printed


def test_dry_run_of_what_nobody_has_trained_says_so(fresh: Project) -> None:
    fresh.edit("config/studies/tiny.yaml", "[mnist_mlp, imdb_bidirectional_lstm]", "[mnist_mlp, cifar10_resnet20]")
    printed = fresh.run("snakemake", "-n", "--config", "study=tiny", COLUMNS="200").stderr
    words = " ".join(printed.replace("│", " ").split())
    assert "2 by published runs on as many cores or fewer; 2 unknown, at most 16.0 hours, not in the sums" in words


def test_nothing_that_could_pass_the_budget_is_trained(fresh: Project) -> None:
    """Half an hour of this machine and what comes beside it are 0.0475 x 0.75 USD at worst."""
    fresh.edit("config/studies/tiny.yaml", "scale:", "max_run_minutes: 30\nscale:")
    arguments = ("-n", "--config", "study=tiny", "budget_usd=0.1")
    printed = said(fresh, *arguments)
    assert "0.00 USD is spent, and 2 of 4 runs could exceed it: they are left out" in printed
    names = ("mnist_mlp", "imdb_bidirectional_lstm")
    assert sum(printed.count(f"train {name} on") for name in names) == 2
    none = said(fresh, "-n", "--config", "study=tiny", "budget_usd=0", check=False)
    assert "error: budget_usd: 0: no run is sure to cost less" in none


@pytest.mark.represented_by("budget_usd=little", "study=nowhere", "book=")
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("budget_usd=little", "error: budget_usd: little: must be dollars, 0 or more"),
        ("budget_usd=nan", "error: budget_usd: nan: must be dollars, 0 or more"),
        ("budget_usd=-1", "error: budget_usd: -1: must be dollars, 0 or more"),
        ("budget_usd=1e400", "error: budget_usd: inf: must be dollars, 0 or more"),
        ("budget_usd=", "error: budget_usd: it is empty: must be dollars, 0 or more"),
        ("study=", "error: study '' is unknown: it is one of "),
        ("study=2017", "error: study '2017' is unknown: it is one of "),
        ("study=nowhere/mine.yaml", "error: study 'nowhere/mine.yaml': there is no such file in "),
        ("book=mine.csv", "error: mine.csv:2: rate: '-1' must be a number >= 0"),
    ],
)
def test_what_a_call_cannot_use_is_a_line_before_anything_is_done(fresh: Project, setting: str, message: str) -> None:
    row = "cloud,host,us,on-demand,-1,,,USD,hour,2026-01-02,a list,"
    (fresh.path / "mine.csv").write_text(f"{','.join(book.COLUMNS)}\n{row}\n")
    given = ["study=tiny", setting] if not setting.startswith("study") else [setting]
    done = fresh.run("snakemake", "--profile", "profiles/local", "--config", *given, check=False)
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Using profile")]
    assert len(errors) == 1, errors
    assert errors[0].startswith(message)
    assert not list((fresh.path / "results").glob("*/*/*/*/*/r*"))


@pytest.mark.nightly
def test_machine_of_another_study_can_be_removed(fresh: Project) -> None:
    """The question of the published two-cores is of cpu1 and cpu2."""
    (fresh.path / "config" / "hardware.local.yaml").write_text("cpu2: null\n")
    assert "train mnist_mlp on cpu1" in said(fresh, "-n", "--config", "study=tiny")


def test_dry_run_beside_a_call_at_work_says_so_in_a_note(fresh: Project) -> None:
    (fresh.path / "snakemake").write_text("import time\nprint('there', flush=True)\ntime.sleep(1800)\n")
    other = subprocess.Popen([sys.executable, "snakemake"], cwd=fresh.path, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        other.stdout.readline()
        locks = fresh.path / ".snakemake" / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        (locks / "0.output.lock").write_text("results/tiny/report.html\n")
        done = fresh.run("snakemake", "-n", "--config", "study=tiny")
        refused = fresh.run("snakemake", "--profile", "profiles/local", "--config", "study=tiny", check=False)
    finally:
        other.kill()
        other.wait()
    note = f"note: another snakemake works in this folder (process {other.pid}): what it has not ended is listed here"
    assert note in done.stderr
    assert "cannot be locked" not in done.stdout + done.stderr
    assert refused.returncode != 0
    assert f"error: another snakemake (process {other.pid}) works on the same files: nothing was done" in refused.stderr


def test_status_counts_what_is_done_and_what_is_missing(trained: Project) -> None:
    assert "4 runs of 4 configurations: 4 done" in trained.run("./epd", "status", "tiny").stdout
    trained.edit("config/studies/tiny.yaml", "frameworks: [jax, tensorflow]", "frameworks: [jax, tensorflow, torch]")
    assert "6 runs of 6 configurations: 4 done, 2 missing" in trained.run("./epd", "status", "tiny").stdout


@pytest.mark.nightly
@pytest.mark.parametrize("profile", ["gce-cpu", "gce-gpu"])
def test_first_try_on_google_cloud_stays_below_a_dollar(fresh: Project, profile: str) -> None:
    """`make smoke-gce`: the second call has what the first one cost on its budget."""
    text = said(fresh, "-n", "--executor", "dryrun", "--config", "study=smoke", f"profile={profile}", "budget_usd=0.95")
    assert "quote (on-demand)" in text


@pytest.mark.nightly
def test_quote_of_a_fresh_clone_knows_other_cards_and_fewer_cores(fresh: Project) -> None:
    """On CPUs, convolutions of CIFAR-10 and text generation are in the article of July 2017 only, on 8 vCPUs."""
    articles = "72 by published throughput of as many cores or fewer"
    for profile, bases in (("gce-gpu", ("of another card",)), ("gce-cpu", ("published runs on as many", articles))):
        arguments = ("-n", "--executor", "dryrun", "--config", "study=gce", f"profile={profile}", "data=synthetic")
        text = " ".join(fresh.run("snakemake", *arguments, COLUMNS="200").stderr.split())
        for basis in bases:
            assert basis in text
        assert "by nothing" not in text
        assert "measured once more" in text


@pytest.mark.nightly
def test_what_a_run_did_not_cost_pays_for_the_next_in_the_same_call(fresh: Project) -> None:
    """Each run may cost 0.39 USD and costs less than a cent: under 0.5 they are trained one after the other."""
    asked = ("--profile", "local", "--config", "study=tiny", "workloads=[mnist_mlp]", "budget_usd=0.5")
    printed = said(fresh, *asked)
    assert "1 of 2 runs could exceed it: they are left out" in printed
    assert "budget_usd: 1 runs were left out: looking what is left of it" in printed
    for framework in ("jax", "tensorflow"):
        assert fresh.record(f"mnist_mlp/cpu1/{framework}/b128")["status"] == "done"
    assert "looking what is left" not in said(fresh, *asked)
