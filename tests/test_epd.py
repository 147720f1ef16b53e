"""The command as a person and a shell call it; what each sub-command does is tested with what it calls."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.epd import __main__ as epd
from scripts.storage import errors
from scripts.studies import definition
from scripts.workflow import asked, command_line
from tests.conftest import ROOT, Project, copy_project, made_once

#: What starts at once imports none of these.
HEAVY = {"pandas", "numpy", "scipy", "plotnine", "snakemake", "rich", "yaml", "jsonschema"}


def shell(*words: str, cwd: Path = ROOT, program: Path = ROOT / "epd", **variables: str) -> subprocess.CompletedProcess:
    """Run the command in a process of its own, as a shell does."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [program, *words], cwd=cwd, env=os.environ | {"PATH": path} | variables, capture_output=True, text=True
    )


def call(*words: str) -> subprocess.CompletedProcess:
    """Run the command in this process, which has imported what it needs: a second less a call."""
    out, err = io.StringIO(), io.StringIO()

    def no_other(*command: object) -> None:
        raise AssertionError(f"would become {command}")

    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["epd", *words])
        patch.setattr(os, "execv", no_other)
        patch.setattr(epd._call, "MORE", [])
        with pytest.raises(SystemExit) as ended:
            errors.run(epd.main)
    return subprocess.CompletedProcess(words, ended.value.code, out.getvalue(), err.getvalue())


def imported(words: list[str]) -> set[str]:
    """Return the packages that a process has imported after a call."""
    code = f"""
import sys
from scripts.epd import __main__ as epd
sys.argv = ["epd", *{words!r}]
epd.main()
print(",".join({{name.split(".")[0] for name in sys.modules}}), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split(","))


def test_help_imports_nothing_that_takes_time() -> None:
    assert imported(["--help"]) & HEAVY == set()
    assert imported(["compare", "--help"]) & HEAVY == set()


def test_every_sub_command_has_help_with_an_example() -> None:
    groups = {"kit": ("pack", "take"), "prices": ("show", "card", "refresh"), "schedule": ("add", "list", "remove")}
    names = [(name, *more) for name in epd.commands() for more in ([(one,) for one in groups.get(name, ())] or [()])]
    asked_for = [
        "report",
        "quote",
        "status",
        "stop",
        "compare",
        "history",
        "summary",
        "schedule",
        "import",
        "prices",
        "estimate",
        "kit",
        "document",
    ]
    assert set(asked_for) <= set(epd.commands())
    shown = epd.application()
    for words in names:
        text = help_of(shown, words)
        assert f"./epd {' '.join(words)}" in text, words
        assert "Usage: epd" in text


def help_of(app, words: tuple[str, ...]) -> str:
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [*words, "--help"], prog_name="epd").stdout


@pytest.mark.slow
def test_a_sub_command_is_one_file(stood_in: Project) -> None:
    assert "greet     Say hello." in stood_in.run("./epd", "--help").stdout
    done = stood_in.run("./epd", "greet", "you", check=False)
    assert (done.returncode, done.stdout) == (1, "hello you\n")


def test_without_a_word_it_shows_its_help() -> None:
    assert shell().stdout == shell("--help").stdout


def test_command_is_found_from_another_folder_and_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "scripts" / "epd").mkdir(parents=True)  # it must not be taken for ours
    (tmp_path / "link").symlink_to(ROOT / "epd")
    for program in (ROOT / "epd", tmp_path / "link"):
        done = shell("--help", cwd=tmp_path, program=program)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage: epd [OPTIONS] COMMAND" in done.stdout


def test_python_without_the_packages_says_what_sets_them_up(tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    for name in ("epd", "scripts"):
        (tmp_path / "clone" / name).symlink_to(ROOT / name)
    (tmp_path / "bin").mkdir()
    bare = f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n'
    (tmp_path / "bin" / "python3").write_text(bare)
    (tmp_path / "bin" / "python3").chmod(0o755)
    shutil.copy(ROOT / "epd", tmp_path / "bin" / "epd")  # beside no .venv
    (tmp_path / "bin" / "scripts").symlink_to(ROOT / "scripts")
    done = shell("status", program=tmp_path / "bin" / "epd", PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert done.returncode == 1
    assert done.stderr.endswith("has no typer: `make report` sets up .venv with all that is needed\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["stauts"], "No such command 'stauts'. Did you mean 'status'?"),
        (["status", "locl"], "study 'locl' is unknown: it is one of batch-size, "),
        (["report", "locl"], "study 'locl' is unknown: it is one of batch-size, "),
        (["report", "nowhere.yaml"], "nowhere.yaml': there is no such file"),
        (["report", "--profile", "slrum"], "--profile: 'slrum' is unknown: did you mean slurm? it is one of gce-cpu, "),
        (["status", "--profile", "slrum"], "--profile: 'slrum' is unknown: did you mean slurm? it is one of gce-cpu, "),
        (["compare", "two-cores"], "Missing argument 'NEW'. (epd compare --help)"),
        (["schedule"], "Missing command. (epd schedule --help)"),
        (["kit", "tke"], "No such command 'tke'. Did you mean 'take'? (epd kit --help)"),
        (["status", "--config", "repeats"], "--config: 'repeats': must be KEY=VALUE"),
        (["status", "--config", "old=x"], "--config: 'old' is unknown: it is one of study, "),
        (["report", "--", "--config", "repeats=2"], "--: name what is for --config before it"),
        (["status", "--", "-n"], "--: what follows is for Snakemake, and epd status does not call it"),
        (["prices", "show", "cpu0"], "prices show: 'cpu0' is unknown: did you mean cpu"),
        (["prices", "card", "H9"], "prices card: 'H9' is unknown: it is one of A10, "),
        (["prices"], "Missing command. (epd prices --help)"),
        (["prices", "--check", "card"], "prices: --check stands alone, without card"),
        (
            ["prices", "card", "--offers", "--chart", "a.png"],
            "prices card: --chart draws the history: not with --offers",
        ),
        (["prices", "card", "--chart", "a.png"], "cards have a cloud's price, on-demand: must be 1 to 4"),
        (["prices", "card", "--chart", "a.jpg"], "prices card: --chart: 'a.jpg': must end with .png or .svg"),
        (["prices", "card", "B200", "--chart", "nowhere/a.png"], "prices card: --chart: nowhere: no such folder"),
        (["compare", "two-cores@cpu1", "two-cores@cpu2", "--output", "nowhere/a.html"], "--output: nowhere: no such"),
        (["compare", "two-cores@cpu1", "two-cores@cpu2", "--output", ""], "--output: '' is a folder: name a file"),
        (["compare", "two-cores@cpu1", "two-cores@cpu2", "--output", "scripts"], "--output: 'scripts' is a folder"),
        (["compare", "two-cores@cpu1", "two-cores@cpu2", "--output", "a.json"], "--output: 'a.json' names the page"),
        (["estimate", "--model", "Llama 3 8B", "--tokens", "２e9"], "--tokens: '２e9' is no number"),
        (["quote", "--config", "repeats=１"], "--config: repeats: '１': a number is written in the digits 0 to 9"),
        (["quote", "--config", "batch_sizes=[64,１２８]"], "--config: batch_sizes: '１２８': a number is written in"),
        (["prices", "refresh", "--as-of", "yesterday"], "--as-of: 'yesterday' is not a date (YYYY-MM-DD, "),
        (["prices", "refresh", "--as-of", "2026-05,gec=2026-05"], "--as-of: 'gec' is unknown: it is one of gce, aws, "),
        (["prices", "refresh", "--catalogue", "/none", "--as-of", "2026-05"], "--catalogue: /none: no such folder"),
        (["prices", "refresh", "--gpuhunt", "/none"], "--gpuhunt: /none: no such folder"),
        (["quote", "--jsn"], "No such option: --jsn"),
    ],
)
def test_bad_input_is_a_line_and_code_2(words: list[str], says: str) -> None:
    done = call(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_shell_gets_the_same_line_and_code() -> None:
    for words in (["stauts"], ["prices", "show", "gb200"], ["prices", "show", "gce-t4x1", "--json"]):
        alone, here = shell(*words), call(*words)
        assert (alone.returncode, alone.stdout, alone.stderr) == (here.returncode, here.stdout, here.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["prices", "show", "H100"],
            "no price: h100 is not offered under on-demand, spot, owned; what its card costs: epd prices card "
            "'H100 80GB HBM3'",
        ),
        (
            ["prices", "card", "gb200", "--purchase", "spot"],
            "prices card: GB200: no price of a cloud, spot; the books have on-demand 10.5 USD a card-hour at coreweave "
            "(2026-09-20)",
        ),
        (["prices", "card", "RTX 3090"], "prices card: RTX 3090: no price of a cloud, on-demand; the books have "),
    ],
)
def test_what_has_no_price_is_a_line_and_code_1(words: list[str], says: str) -> None:
    done = call(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(says)
    assert len(done.stderr.splitlines()) == 1
    with_json = call(*words, "--json")
    assert (with_json.returncode, json.loads(with_json.stdout)) == (1, [])


def test_cards_with_a_price_stand_beside_those_without() -> None:
    done = call("prices", "card", "B200", "GB200", "--purchase", "spot", "--json")
    assert done.returncode == 0
    assert {day["card"] for day in json.loads(done.stdout)} == {"B200"}
    assert done.stderr.startswith("prices card: GB200: no price of a cloud, spot; ")


@pytest.fixture
def stood_in() -> Project:
    """A clone whose Snakemake says its words and ends with 3, and which can greet; no test changes it."""

    def make(path: Path) -> None:
        copy_project(path)
        (path / "snakemake.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(3)\n")
        (path / "scripts/epd/greet.py").write_text(
            '"""Say hello."""\n\n\ndef command(name: str) -> int:\n    print(f"hello {name}")\n    return 1\n'
        )

    return Project(made_once("epd-stood-in", make))


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (["report"], ["--profile", "profiles/local"]),
        (["report", "tiny", "-C", "repeats=2", "--", "-n"],
         ["--profile", "profiles/local", "-n", "--config", "study=tiny", "repeats=2"]),
        (["report", "-p", "slurm"], ["--profile", "profiles/slurm"]),
        (["import", "gpus-2017", "--logs-dir", "/l"],
         ["--profile", "profiles/local", "results/gpus-2017/facts.csv", "--config", "study=gpus-2017", "logs_dir=/l"]),
        (["kit", "pack", "card", "--python", "3.11"],
         ["--profile", "profiles/local", "kit", "--config", "study=card", "kit_python=3.11"]),
        (["prices", "refresh", "--catalogue", "config", "--as-of", "2026-05"],
         ["--profile", "profiles/local", "refresh_prices", "--config", "catalogue=config", "catalogue_as_of=2026-05"]),
    ],
)  # fmt: skip
def test_call_of_snakemake_is_said_made_and_ended_as_it_ends(
    stood_in: Project, words: list[str], called: list[str]
) -> None:
    done = stood_in.run("./epd", *words, check=False)
    assert done.returncode == 3
    assert done.stdout == f"{called}\n"
    (said,) = done.stderr.splitlines()
    assert said.split()[:4] == ["$", "snakemake", *called[:2]]


def test_study_and_folder_of_a_person_elsewhere_are_theirs(stood_in: Project, tmp_path: Path) -> None:
    shutil.copy(stood_in.path / "config/studies/tiny.yaml", tmp_path / "mine.yaml")
    environment = stood_in.environment()
    done = subprocess.run(
        [stood_in.path / "epd", "report", "mine.yaml"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert f"'study={tmp_path}/mine.yaml'" in done.stdout


def test_config_is_that_of_the_profile_and_of_the_command_line() -> None:
    assert asked.config("slurm")["study"] == "slurm"
    assert asked.config("slurm")["checkpoints"] == "results/checkpoints"
    found = asked.config("gce-gpu", ["frameworks=[jax]", "repeats=2", "trust=on"], "smoke")
    assert (found["study"], found["profile"], found["trust"]) == ("smoke", "gce-gpu", "on")
    _, settings = definition.read("smoke", found)
    assert (settings["frameworks"], settings["repeats"]) == (["jax"], 2)


def test_profile_for_google_batch_says_what_is_to_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EPOCHS_BUCKET", "SNAKEMAKE_GCEBATCH_PROJECT", "SNAKEMAKE_GCEBATCH_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert asked.bucket("local") is None
    with pytest.raises(ValueError, match=r"still to be set: SNAKEMAKE_GCEBATCH_PROJECT, .*REGION, EPOCHS_BUCKET"):
        asked.bucket("gce-gpu")
    monkeypatch.setenv("EPOCHS_BUCKET", "bucket/epochs")
    monkeypatch.setenv("SNAKEMAKE_GCEBATCH_PROJECT", "ours")
    monkeypatch.setenv("SNAKEMAKE_GCEBATCH_REGION", "us-central1")
    found = asked.bucket("gce-gpu")
    assert found is not None
    assert (found.project, found.region, found.prefix) == ("ours", "us-central1", "gs://bucket/epochs")


@pytest.mark.slow
def test_what_went_from_snakemake_says_the_new_call(fresh: Project) -> None:
    (fresh.path / "config/studies/local.yaml").unlink()  # no study is read for it
    for old, new in command_line.MOVED.items():
        assert command_line.moved(["snakemake", old]).startswith(f"snakemake {old}: is now ./epd {new}; ")
    for old, new in list(command_line.MOVED.items())[:2]:
        done = fresh.run("snakemake", old, "--config", "old=a", check=False)
        assert done.returncode == 1
        assert f"error: snakemake {old}: is now ./epd {new}; " in done.stderr
    assert command_line.moved(["snakemake", "summary", "--config", "study=status"]) == ""


@pytest.mark.slow
def test_quote_is_a_table_or_json_and_a_budget_that_refuses_it_is_code_1(fresh: Project) -> None:
    table = fresh.run("./epd", "quote", "tiny")
    assert "quote (on-demand)" in table.stdout
    assert (
        table.stderr.splitlines()[0] == "$ snakemake --profile profiles/local --dry-run --quiet all --config study=tiny"
    )
    found = json.loads(fresh.run("./epd", "quote", "tiny", "--json").stdout)
    assert (found["study"], found["refused"]) == ("tiny", "")
    assert [(row["hardware"], row["runs"]) for row in found["machines"]] == [("cpu1", 4), ("all", 4)]
    assert not (fresh.path / "results/tiny/report.html").exists()
    poor = fresh.run("./epd", "quote", "tiny", "--json", "--config", "budget_usd=0", check=False)
    assert poor.returncode == 1
    assert "budget_usd: 0: " in poor.stderr


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_dry_run_that_made_no_quote_is_a_fault(monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    """Snakemake ends with 0 whatever fails at its end."""
    monkeypatch.setattr(epd._call, "run_quietly", lambda *words, **variables: 0)
    done = call("quote", "local", *more)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: no quote could be made: what is printed above says why\n"


@pytest.mark.slow
def test_study_that_is_trained_has_a_status_a_quote_and_a_summary(trained: Project) -> None:
    status = json.loads(trained.run("./epd", "status", "tiny", "--json").stdout)
    assert {json.dumps(cell["states"]) for cell in status["cells"]} == {'{"done": 1}'}
    assert all(cell["usd"] > 0 for cell in status["cells"])
    assert trained.run("./epd", "quote", "tiny").stdout == "nothing is to be trained\n"
    summary = trained.run("./epd", "summary", "tiny")
    assert summary.stdout.startswith("### Tiny ")
    assert summary.stdout == (trained.path / "results/tiny/summary.md").read_text()


@pytest.mark.slow
def test_comparison_is_json_alone_on_standard_output(tmp_path: Path) -> None:
    done = shell("compare", "two-cores@cpu1", "two-cores@cpu2", "--json", "--output", str(tmp_path / "page.html"))
    assert done.returncode == 1, "two cores are dearer"
    assert json.loads(done.stdout) == json.loads((tmp_path / "page.json").read_text())
    assert "two-cores@cpu2 against two-cores@cpu1: " in done.stderr


def test_prices_are_those_of_the_books() -> None:
    rows = json.loads(call("prices", "show", "gce-t4x1", "--json").stdout)
    assert {row["hardware"] for row in rows} == {"gce-t4x1"}
    spot, on_demand = (next(r for r in rows if r["price_option"] == name) for name in ("spot", "on-demand"))
    assert 0 < spot["usd_per_hour"] < on_demand["usd_per_hour"]


def test_history_of_a_card_is_that_of_all_books() -> None:
    (day,) = json.loads(call("prices", "card", "gb200", "--json").stdout)
    assert day == {
        "card": "GB200",
        "as_of": "2026-09-20",
        "lowest_usd_per_hour": 10.5,
        "lowest_provider": "coreweave",
        "highest_usd_per_hour": 10.5,
        "highest_provider": "coreweave",
        "median_usd_per_hour": 10.5,
        "offers": 1,
        "market_usd_per_hour": None,
        "market_provider": None,
        "new": {"coreweave": 10.5},
    }


#: Types words and a tab, and prints what bash makes of them.
COMPLETE = """
source "$HOME/.bash_completions/epd.sh"
complete -p epd >&2
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_epd_completion {program}
printf '%s\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.slow
def test_bash_completes_commands_studies_and_profiles(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-c", f"{ROOT}/epd --install-completion; exit $?"],  # its parent is bash, as in a terminal
        env=os.environ | {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "bash completion installed" in done.stdout + done.stderr
    assert ".bash_completions/epd.sh" in (tmp_path / ".bashrc").read_text()
    expected = {
        "epd st": ["status", "stop"],
        "epd report tw": ["tweets", "two-cores"],
        "epd status --profile gce": ["gce-cpu", "gce-gpu"],
        "epd schedule r": ["remove"],
    }
    for words, found in expected.items():
        script = COMPLETE.format(words=words, program=ROOT / "epd")
        environment = os.environ | {
            "HOME": str(tmp_path),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        done = subprocess.run([bash, "-c", script], env=environment, capture_output=True, text=True)
        assert done.stdout.split() == found, done.stderr


@pytest.mark.parametrize(
    "words", [["report", "two-cores"], ["quote", "local"], ["summary", "local"], ["kit", "pack", "smoke"]]
)
def test_a_clone_that_may_only_be_read_is_a_line(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    done = call(*words)
    assert (done.returncode, done.stdout) == (2, "")
    *said, last = done.stderr.splitlines()
    assert last.startswith(f"error: {ROOT / '.snakemake'}: cannot be written: ")
    assert len(said) <= 1
