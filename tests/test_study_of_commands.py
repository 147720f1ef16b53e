"""A study whose workload is a program of somebody's own, from its file to the page."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Project

pytestmark = pytest.mark.slow

#: Descent on a line, in plain Python: each step takes time in proportion to its batch, and every tenth is printed.
LOOP = """
import random, sys
batch_size = int(sys.argv[1].removeprefix("--batch_size="))
dropout = float(sys.argv[2].removeprefix("--dropout="))
w = b = 0.0
step = 0
while True:
    step += 1
    for _ in range(3000 * batch_size):
        x = random.random()
        error = w * x + b - (3 * x + 1)
        w, b = w - 1e-4 * error * x, b - 1e-4 * error
    if step % 10 == 0:
        print(f"iter {step}: loss {error * error:.4f}")
"""
#: The example of docs/run.md at one of its batch sizes, watched for three seconds.
_EXAMPLE = re.search(r"```yaml\n(title:.*?)```", (ROOT / "docs" / "run.md").read_text(), re.DOTALL)
assert _EXAMPLE
STUDY = yaml.safe_load(_EXAMPLE[1].replace("minutes: 1\n", "minutes: 0.05\n")) | {"repeats": 1, "batch_sizes": [8]}

#: One that says why it cannot go on, and one that says nothing and ends well.
FAILS = """
import sys
for step in range(1, 4):
    print(f"iter {step}: loss 1.0")
sys.exit("ValueError: no samples\\nlook at --data")
"""
SILENT = "print(sum(i * i for i in range(10_000_000)) > 0)"


@pytest.fixture
def mine(fresh: Project, tmp_path: Path) -> Project:
    """The project beside a folder with programs and their Python, and a study of one of them."""
    folder = tmp_path / "nanoGPT"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for name, text in (("train", LOOP), ("fails", FAILS), ("silent", SILENT)):
        (folder / f"{name}.py").write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", "*.py")
    (fresh.path / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    return fresh


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def report(mine: Project) -> str:
    done = mine.run("./epd", "report", "mine.yaml", "--config", "trust=all")
    return done.stdout + done.stderr


def to_train(mine: Project) -> list[str]:
    return [job for job in mine.snakemake("-n", study="mine.yaml") if job.startswith("train ")]


def rows(mine: Project, table: str) -> list[dict[str, str]]:
    with (mine.path / "results" / "mine" / f"{table}.csv").open(newline="") as text:
        return list(csv.DictReader(text))


CELLS = [f"gpt-dropout{dropout}/cpu1/own/b8" for dropout in ("0", "0.1")]


def test_the_example_comes_to_dollars_and_is_trained_again_when_it_changes(mine: Project) -> None:
    refused = mine.run("./epd", "report", "mine.yaml", check=False)
    assert refused.returncode != 0
    assert "python train.py --batch_size={batch_size} --dropout=0.1, python ../nano" in refused.stdout + refused.stderr
    assert not list((mine.path / "results" / "mine").glob("gpt*")), "nobody has said that it may run"
    quote = json.loads(mine.run("./epd", "quote", "mine.yaml", "--json").stdout)
    machines = {row["hardware"]: row for row in quote["machines"]}
    assert machines["cpu1"]["unknown"] == 2
    assert machines["cpu1"]["unknown_hours"] == pytest.approx(2 * (0.05 + 6) / 60)
    report(mine)
    runs = rows(mine, "runs")
    assert [run["run"] for run in runs] == [f"{cell}/r1" for cell in CELLS]
    watched = {run["run"]: float(run["observed_seconds"]) for run in runs}
    for run in runs:
        assert run["status"] == "done"
        whole = float(run["published_seconds"])
        share = float(run["observed_samples"]) / float(run["published_samples"])
        assert float(run["published_samples"]) == pytest.approx(1e8, rel=1e-4)
        scaled = whole * share / watched[run["run"]]  # the rate of seconds on a busy machine is not even
        assert 0.2 < scaled < 5, "the whole is what was watched, scaled up"
        record = json.loads((mine.path / "results" / "mine" / run["run"] / "run.json").read_text())
        assert record["observed"]["clock"] == "observed"
        assert record["times"]["total_seconds"] == watched[run["run"]]
        assert record["observed"]["command"][0].endswith("nanoGPT/.venv/bin/python")
        assert record["observed"]["command"][2] == f"--batch_size={run['batch_size']}"
    hourly = {row["price_option"]: float(row["usd_per_hour"]) for row in rows(mine, "prices")}
    seconds = {run["run"]: float(run["published_seconds"]) for run in runs}
    for cost in rows(mine, "costs"):
        paid_seconds = max(seconds[cost["run"]], float(cost["minimum_seconds"]))
        worth = paid_seconds * hourly[cost["price_option"]] / 3600
        assert float(cost["cost_usd"]) == pytest.approx(worth, rel=0.02), "whole seconds are paid"
        assert float(cost["billed_seconds"]) <= max(60.0, watched[cost["run"]] + 1), "of the seconds that it ran"
    page = (mine.path / "results" / "mine" / "report.html").read_text()
    assert "watched from outside: python train.py ..." in page
    assert "Not estimated: was measured without a GPU" in page
    assert "--batch_size" not in page, "an option may be a secret"
    assert "% of its samples, watched from outside for" in page
    for chart in ("relative_time", "relative_cost", "pareto", "dollars"):
        drawn = (mine.path / "results" / "mine" / "charts" / chart).glob("*.svg")
        assert {file.stem for file in drawn} == {"gpt-dropout0", "gpt-dropout0.1"}

    assert to_train(mine) == []
    folder = mine.path.parent / "nanoGPT"
    (folder / "out.csv").write_text("what it made\n")
    (folder / "train.py").touch()
    assert to_train(mine) == [], "nothing of what is tracked is another"
    (folder / "train.py").write_text(f"{LOOP}# better\n")
    assert to_train(mine) == [f"train {cell}" for cell in sorted(CELLS)]
    (folder / "train.py").write_text(LOOP)
    assert to_train(mine) == []
    mine.edit("mine.yaml", "100000000 tokens", "200000000 tokens")
    assert len(to_train(mine)) == 2, "the whole is another"


def test_how_a_program_ends_is_what_its_run_says(mine: Project) -> None:
    commands = [{"name": name, "command": f"python {name}.py", "folder": "../nanoGPT"} for name in ("fails", "silent")]
    study = yaml.safe_load((mine.path / "mine.yaml").read_text()) | {"workloads": commands, "batch_sizes": [1]}
    (mine.path / "mine.yaml").write_text(yaml.safe_dump(study))
    report(mine)
    fails, silent = rows(mine, "runs")
    assert (fails["status"], fails["reason"]) == ("failed", "exit code 1 | ValueError: no samples | look at --data")
    assert fails["train_seconds"] == ""
    assert silent["status"] == "done"
    assert silent["train_seconds"] == silent["total_seconds"] == silent["observed_seconds"]
    assert "nothing but its life is known" in silent["warnings"]
    costs = rows(mine, "costs")
    assert {cost["run"] for cost in costs} == {silent["run"]}
    assert all(float(cost["cost_usd"]) > 0 for cost in costs)


def test_no_kit_and_no_machine_elsewhere_gets_a_program(mine: Project) -> None:
    for words in (("kit", "pack", "mine.yaml"), ("schedule", "add", "mine.yaml", "--every", "1d", "--by", "github")):
        done = mine.run("./epd", *words, "--config", "trust=all", check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 2, said
        assert "workloads: gpt-dropout0, " in said
        assert "Traceback" not in said
