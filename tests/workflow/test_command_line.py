"""What a call of Snakemake was asked."""

import pytest
from snakemake.cli import get_argument_parser

from scripts.workflow import command_line


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
def test_dry_run_is_known_by_its_option(word: str, is_dry: bool) -> None:
    assert command_line.is_dry_run(["snakemake", word]) == is_dry


def test_flags_are_those_of_snakemake() -> None:
    short = {name: action.nargs for action in get_argument_parser()._actions for name in action.option_strings}
    flags = {name[1] for name, nargs in short.items() if len(name) == 2 and nargs == 0}
    assert flags - {"n"} == set(command_line.FLAGS)


def test_job_of_a_cluster_knows_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    target = "train:study=s,workload=mnist_mlp,hardware=a.b-c,framework=jax,variant=b128,repeat=1"
    monkeypatch.setattr("sys.argv", ["snakemake", "--target-jobs", target, "--cores", "all"])
    assert command_line.wildcards_of_job()["hardware"] == "a.b-c"
    for words in (["snakemake"], ["snakemake", "--target-jobs"], ["snakemake", "--target-jobs", "all:"]):
        monkeypatch.setattr("sys.argv", words)
        assert command_line.wildcards_of_job() == {}
