import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import rare_json

STATS = ["epoch,elapsed,loss,acc,val_loss,val_acc\r\n", "0,60.5,0.5,0.8,0.4,0.81\r\n", "1,59.5,0.4,0.85,0.45,0.82\r\n"]
REPORT = {"systeminfo": "CPU INFO", "gpuinfo": "GPU INFO", "time": 121.25, "epoch_stats": STATS, "gpu_usage": 77.5}


def read(folder: Path, report: Any, workload: str | None = "tweets") -> Imported:
    text = report if isinstance(report, str) else json.dumps(report, indent=4)
    (folder / "aws-report.json").write_text(text)
    return rare_json.read(folder, Layout({"aws-report": "p2.xlarge"}, workload=workload))


def test_facts_of_a_report(tmp_path: Path) -> None:
    imported = read(tmp_path, REPORT)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "aws-report",
        "file": "aws-report.json",
        "workload": "tweets",
        "hardware": "p2.xlarge",
        "framework": "tensorflow",
        "repeat": 1,
        "status": "done",
        "epochs_done": 2,
        "train_seconds": 121.25,
        "first_epoch_seconds": 60.5,
        "median_epoch_seconds": 59.5,
        "loss": 0.4,
        "acc": 0.85,
        "val_loss": 0.45,
        "val_acc": 0.82,
        "gpu_percent": 77.5,
        "missing_columns": "",
    }


@pytest.mark.parametrize("change", [{"gpu_usage": float("nan")}, {"gpu_usage": None}])
def test_gpu_use_may_be_unknown(change: dict, tmp_path: Path) -> None:
    imported = read(tmp_path, REPORT | change)
    assert imported.problems == []
    assert imported.runs["gpu_percent"].isna().all()


def test_report_without_gpu_use(tmp_path: Path) -> None:
    assert len(read(tmp_path, {key: REPORT[key] for key in ("time", "epoch_stats")}).runs) == 1


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("[]", "1: not a report: must be an object"),
        ('{\n"time": 1,\n', "3: broken JSON: Expecting property name enclosed in double quotes"),
        ("[" * 100_000, "1: broken JSON: maximum recursion depth exceeded"),
        ({"time": 1}, "1: epoch_stats is missing; needed are time, epoch_stats"),
        ({"epoch_stats": STATS}, "1: time is missing; needed are time, epoch_stats"),
        (REPORT | {"time": "3 h"}, "4: time: '3 h' must be seconds, not less than the epochs together, 120"),
        (REPORT | {"time": True}, "4: time: True must be seconds, not less than the epochs together, 120"),
        (REPORT | {"time": 3.62}, "4: time: 3.62 must be seconds, not less than the epochs together, 120"),
        (REPORT | {"time": float("nan")}, "4: time: nan must be seconds, not less than the epochs together, 120"),
        (REPORT | {"epoch_stats": "none"}, "5: epoch_stats: must be a list of the lines of a CSV"),
        (REPORT | {"epoch_stats": [1]}, "5: epoch_stats: must be a list of the lines of a CSV"),
        (REPORT | {"epoch_stats": STATS[:1]}, "5: epoch_stats, line 1: no epoch"),
        (REPORT | {"epoch_stats": [STATS[0], "0,-1,1,1,1,1"]}, "5: epoch_stats, line 2: elapsed: -1.0 must be from 0"),
        (REPORT | {"gpu_usage": 101}, "10: gpu_usage: 101 must be from 0 to 100"),
        (REPORT | {"gpu_usage": "high"}, "10: gpu_usage: 'high' must be from 0 to 100"),
    ],
)
def test_faults_are_refused_with_their_line(report: Any, said: str, tmp_path: Path) -> None:
    imported = read(tmp_path, report)
    assert len(imported.runs) == 0
    (problem,) = imported.problems
    assert str(problem).startswith(f"aws-report.json:{said}")


def test_workload_must_be_given(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, REPORT, workload=None).problems
    assert str(problem) == "aws-report.json: the log names no workload, so the import must"
