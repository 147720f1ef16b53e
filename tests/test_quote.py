"""What a study will cost is told before it runs, and a budget is kept."""

import pytest

from tests.conftest import Project
from tests.test_workflow import MLP_JAX

pytestmark = pytest.mark.slow


def said(project: Project, *arguments: str, check: bool = True) -> str:
    done = project.run("snakemake", *arguments, check=check)
    return " ".join((done.stdout + done.stderr).split())


def test_dry_run_ends_with_a_quote_by_earlier_runs(trained: Project) -> None:
    told = said(trained, "-n", "-R", f"results/tiny/{MLP_JAX}/r1/run.json", "--config", "study=tiny")
    assert "quote (on-demand)" in told
    assert "1 by earlier runs" in told


def test_dry_run_of_what_nobody_has_trained_says_so(fresh: Project) -> None:
    fresh.edit("config/studies/tiny.yaml", "[mnist_mlp, imdb_fasttext]", "[mnist_mlp, cifar10_resnet20]")
    told = fresh.run("snakemake", "-n", "--config", "study=tiny", COLUMNS="200").stderr
    assert "2 by published runs on as many cores or fewer; 2 by nothing: the most it may take" in told


def test_nothing_that_could_pass_the_budget_is_trained(fresh: Project) -> None:
    """Half an hour of this machine and what comes beside it are 0.0475 x 0.75 USD at worst."""
    fresh.edit("config/studies/tiny.yaml", "scale:", "max_run_minutes: 30\nscale:")
    arguments = ("-n", "--config", "study=tiny", "budget_usd=0.1")
    done = fresh.run("snakemake", *arguments)
    assert "0.00 USD are spent, and 2 of 4 runs could pass it: they are left out" in done.stderr
    assert (
        said(fresh, *arguments).count("train mnist_mlp on") + said(fresh, *arguments).count("train imdb_fasttext on")
        == 2
    )
    for budget in ("0.01", "0"):
        none = said(fresh, "-n", "--config", "study=tiny", f"budget_usd={budget}", check=False)
        assert f"error: budget_usd: {budget}: no run is sure to cost less" in none
    wrong = said(fresh, "-n", "--config", "study=tiny", "budget_usd=little", check=False)
    assert "error: budget_usd: 'little' is not a number of dollars" in wrong


def test_status_counts_what_is_done_and_what_is_missing(trained: Project) -> None:
    assert "4 runs of 4 cells: 4 done" in said(trained, "status", "--config", "study=tiny")
    trained.edit("config/studies/tiny.yaml", "frameworks: [jax, tensorflow]", "frameworks: [jax, tensorflow, torch]")
    assert "6 runs of 6 cells: 4 done, 2 missing" in said(trained, "status", "--config", "study=tiny")


@pytest.mark.parametrize("profile", ["gce-cpu", "gce-gpu"])
def test_first_try_on_google_cloud_stays_below_a_dollar(fresh: Project, profile: str) -> None:
    """`make smoke-gce`: the second call has what the first one cost on its budget."""
    told = said(fresh, "-n", "--executor", "dryrun", "--config", "study=smoke", f"profile={profile}", "budget_usd=0.95")
    assert "quote (on-demand)" in told


def test_quote_of_a_fresh_clone_knows_other_cards_and_fewer_cores(fresh: Project) -> None:
    """On CPUs, convolutions of CIFAR-10 and text generation are in the article of July 2017 only, on 8 vCPUs."""
    articles = "72 by published throughput of as many cores or fewer"
    for profile, bases in (("gce-gpu", ("of another card",)), ("gce-cpu", ("published runs on as many", articles))):
        arguments = ("-n", "--executor", "dryrun", "--config", "study=gce", f"profile={profile}", "data=synthetic")
        told = " ".join(fresh.run("snakemake", *arguments, COLUMNS="200").stderr.split())
        for basis in bases:
            assert basis in told
        assert "by nothing" not in told
        assert "measured once more" in told
