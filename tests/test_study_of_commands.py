"""A study whose workload is a program of somebody's own, from its file to the page."""

import csv
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import Project

pytestmark = pytest.mark.slow

#: Descent on a line, in plain Python: each step takes time in proportion to its batch, and every tenth is printed.
LOOP = """
import random, sys
batch_size = int(sys.argv[1].partition("=")[2])
w = b = 0.0
step = 0
while True:
    step += 1
    for _ in range(500 * batch_size):
        x = random.random()
        error = w * x + b - (3 * x + 1)
        w, b = w - 1e-4 * error * x, b - 1e-4 * error
    if step % 10 == 0:
        print(f"iter {step}: loss {error * error:.4f}")
"""
STUDY = """
title: My loop
workloads:
  - name: line
    command: "python loop.py --batch_size={{batch_size}}"
    folder: {folder}
    of: 100000 images
    per_step: "{{batch_size}} images"
    minutes: 0.05
hardware: [cpu1]
batch_sizes: [1, 4]
base: {{hardware: cpu1}}
"""


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
    """The project beside a folder with a program, and a study of it."""
    (tmp_path / "mine").mkdir()
    for name, text in (("loop", LOOP), ("fails", FAILS), ("silent", SILENT)):
        (tmp_path / "mine" / f"{name}.py").write_text(text)
    git(tmp_path / "mine", "init", "-q")
    git(tmp_path / "mine", "add", ".")
    (fresh.path / "mine.yaml").write_text(STUDY.format(folder="../mine"))
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


def test_two_batch_sizes_of_a_program_come_to_dollars(mine: Project) -> None:
    refused = mine.run("./epd", "report", "mine.yaml", check=False)
    assert refused.returncode != 0
    assert "python loop.py --batch_size={batch_size}, in ../mine: read it" in refused.stdout + refused.stderr
    assert not (mine.path / "results" / "mine" / "line").exists(), "nobody has said that it may run"
    quote = json.loads(mine.run("./epd", "quote", "mine.yaml", "--json").stdout)
    machines = {row["hardware"]: row for row in quote["machines"]}
    assert machines["cpu1"]["unknown"] == 2
    assert machines["cpu1"]["unknown_hours"] == pytest.approx(2 * (0.05 + 6) / 60)
    report(mine)
    runs = rows(mine, "runs")
    assert [run["run"] for run in runs] == ["line/cpu1/own/b1/r1", "line/cpu1/own/b4/r1"]
    for run in runs:
        assert run["status"] == "done"
        watched, whole = float(run["observed_seconds"]), float(run["published_seconds"])
        share = float(run["observed_samples"]) / float(run["published_samples"])
        assert float(run["published_samples"]) == 100_000
        assert watched == pytest.approx(whole * share, rel=0.3), "the whole is what was watched, scaled up"
        record = json.loads((mine.path / "results" / "mine" / run["run"] / "run.json").read_text())
        assert record["observed"]["clock"] == "observed"
        assert record["times"]["total_seconds"] == watched
        assert record["observed"]["command"][-1] == f"--batch_size={run['batch_size']}"
    hourly = {row["price_option"]: float(row["usd_per_hour"]) for row in rows(mine, "prices")}
    for cost in rows(mine, "costs"):
        run = next(run for run in runs if run["run"] == cost["run"])
        least = max(60.0, float(run["published_seconds"])) if cost["price_option"] != "owned" else 0.0
        assert float(cost["cost_usd"]) >= least * hourly[cost["price_option"]] / 3600 * 0.999
    page = (mine.path / "results" / "mine" / "report.html").read_text()
    assert "own program" in page
    assert "python loop.py --batch_size={batch_size}" in page
    drawn = {file.parent.name for file in (mine.path / "results" / "mine" / "charts").glob("*/line.svg")}
    assert {"relative_time", "relative_cost", "pareto", "dollars"} <= drawn
    assert to_train(mine) == []
    folder = mine.path.parent / "mine"
    (folder / "out.csv").write_text("what it made\n")
    (folder / "loop.py").touch()
    assert to_train(mine) == [], "nothing of what is tracked is another"
    (folder / "loop.py").write_text(f"{LOOP}# better\n")
    assert to_train(mine) == ["train line/cpu1/own/b1", "train line/cpu1/own/b4"]
    mine.edit("mine.yaml", "of: 100000 images", "of: 200000 images")
    (folder / "loop.py").write_text(LOOP)
    assert len(to_train(mine)) == 2, "the whole is another"


def test_how_a_program_ends_is_what_its_run_says(mine: Project) -> None:
    commands = [{"name": name, "command": f"python {name}.py", "folder": "../mine"} for name in ("fails", "silent")]
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
        assert "workloads: line: " in said
        assert "Traceback" not in said
