"""What is used of Snakemake beside its documents, and what is said when it is gone."""

from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.exceptions import WorkflowError

from scripts.workflow import internals


@pytest.mark.parametrize(
    "use",
    [
        internals.free_cores,
        internals.storage_prefix,
        lambda workflow: internals.store_only(workflow, ("runs/",)),
        internals.jobs_to_run,
        internals.limit_no_rate,
        lambda workflow: internals.send(workflow, []),
    ],
)
def test_what_is_gone_is_one_line_that_says_what_to_do(use) -> None:
    with pytest.raises(
        WorkflowError, match=r"^Snakemake \S+ has no SimpleNamespace\.\w+, by which .*envs/workflow.lock$"
    ):
        use(SimpleNamespace())


def test_only_some_paths_go_into_the_bucket() -> None:
    modifier = SimpleNamespace(apply_default_storage=lambda path: f"gs://b/{path}")
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(path_modifier=modifier),
        pathvars=SimpleNamespace(apply=lambda path: path.replace("<trained>", "runs")),
    )
    internals.store_only(workflow, ("runs/", "data/"))
    assert [modifier.apply_default_storage(path) for path in ("<trained>/x", "data/a.npz", "scripts/a.py")] == [
        "gs://b/<trained>/x",
        "gs://b/data/a.npz",
        "scripts/a.py",
    ]


def test_jobs_on_this_machine_have_no_limit_a_second_and_others_keep_it() -> None:
    for local, limiter in ((True, None), (False, "limiter")):
        workflow = SimpleNamespace(local_exec=local, scheduler=SimpleNamespace(job_rate_limiter="limiter"))
        internals.limit_no_rate(workflow)
        assert workflow.scheduler.job_rate_limiter == limiter


@pytest.mark.parametrize(
    ("word", "is_dry"),
    [
        ("-n", True),
        ("-npF", True),
        ("-pn", True),
        ("-nRtrain", True),
        ("--dry-run", True),
        ("-Rtrain", False),
        ("-Utrain", False),
        ("-pRtrain", False),
        ("-ssn", False),
        ("--notemp", False),
    ],
)
def test_dry_run_is_known_by_its_option(monkeypatch: pytest.MonkeyPatch, word: str, is_dry: bool) -> None:
    monkeypatch.setattr("sys.argv", ["snakemake", word])
    assert internals.is_dry_run() == is_dry


def test_flags_are_those_of_snakemake() -> None:
    short = {name: action.nargs for action in get_argument_parser()._actions for name in action.option_strings}
    flags = {name[1] for name, nargs in short.items() if len(name) == 2 and nargs == 0}
    assert flags - {"n"} == set(internals.FLAGS)


def test_job_of_a_cluster_knows_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    target = "train:study=s,workload=mnist_mlp,hardware=a.b-c,framework=jax,variant=b128,repeat=1"
    monkeypatch.setattr("sys.argv", ["snakemake", "--target-jobs", target, "--cores", "all"])
    assert internals.wildcards_of_job()["hardware"] == "a.b-c"
    for words in (["snakemake"], ["snakemake", "--target-jobs"], ["snakemake", "--target-jobs", "all:"]):
        monkeypatch.setattr("sys.argv", words)
        assert internals.wildcards_of_job() == {}
