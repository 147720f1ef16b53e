"""A study whose workload is a program of somebody's own, from its file to the page."""

import csv
import json
from pathlib import Path

import pytest

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


@pytest.fixture
def mine(fresh: Project, tmp_path: Path) -> Project:
    """The project beside a folder with a program, and a study of it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "loop.py").write_text(LOOP)
    (fresh.path / "mine.yaml").write_text(STUDY.format(folder="../mine"))
    return fresh


def report(mine: Project, *words: str) -> str:
    done = mine.run("./epd", "report", "mine.yaml", "--config", "trust=all", *words)
    return done.stdout + done.stderr


def rows(mine: Project, table: str) -> list[dict[str, str]]:
    with (mine.path / "results" / "mine" / f"{table}.csv").open(newline="") as text:
        return list(csv.DictReader(text))


def test_two_batch_sizes_of_a_program_come_to_dollars(mine: Project) -> None:
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
