"""What a call of Snakemake was asked."""

import pytest
from snakemake.cli import get_argument_parser

from scripts.storage.errors import InputError
from scripts.workflow import asked, command_line
from tests.conftest import Project


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


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("repeats=１", "repeats: '１'"),
        ("batch_sizes=[64,１２８]", "batch_sizes: '１２８'"),
        ("scale={samples: ٠.5}", "scale: '٠.5'"),
        ("budget_usd=１e3", "budget_usd: '１e3'"),
        ("repeats=1", ""),
        ("workloads=[/日本/net２.py]", ""),
    ],
)
def test_a_number_in_digits_of_another_script_is_found(word: str, said: str) -> None:
    """Python's int() and float() take every digit of Unicode (https://docs.python.org/3/library/functions.html#int)."""
    found = command_line.foreign(["snakemake", "--config", "study=smoke", word])
    assert found == (f"--config: {said}: a number is written in the digits 0 to 9" if said else "")
    if said:
        with pytest.raises(InputError, match="a number is written in the digits 0 to 9"):
            asked.given([word])


@pytest.mark.slow
def test_snakemake_refuses_them(fresh: Project) -> None:
    refused = fresh.run("snakemake", "-n", "--config", "study=smoke", "repeats=１", check=False)
    assert refused.returncode == 1
    assert "error: --config: repeats: '１': a number is written in the digits 0 to 9" in refused.stderr
