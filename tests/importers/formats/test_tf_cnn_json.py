import json
from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import tf_cnn_json

RUN = {
    "model_name": "resnet50",
    "dataset": {"name": "imagenet (synthetic)"},
    "run_date": "2018-05-01T10:00:00.000000Z",
    "run_parameters": [
        {"name": "batch_size", "long_value": 64},
        {"name": "batch_size_per_device", "float_value": 32.0},
        {"name": "devices", "string_value": "['/gpu:0', '/gpu:1']"},
        {"name": "mode", "string_value": "training"},
    ],
}
METRICS = [
    {"name": "current_examples_per_sec", "value": 60.0, "global_step": 1},
    {"name": "average_examples_per_sec", "value": 64.0, "global_step": 100},
]


def read(folder: Path, run: object = RUN, metrics: list[object] = METRICS) -> Imported:
    place = folder / "k80" / "fp16"
    place.mkdir(parents=True)
    if run is not None:
        (place / "benchmark_run.log").write_text(json.dumps(run) + "\n")
    (place / "metric.log").write_text("".join(json.dumps(metric) + "\n" for metric in metrics))
    return tf_cnn_json.read(folder, Layout({"k80": "k80"}))


def test_facts_of_a_run(tmp_path: Path) -> None:
    imported = read(tmp_path)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "k80/fp16/metric",
        "file": "k80/fp16/metric.log",
        "workload": "resnet50",
        "hardware": "k80",
        "framework": "tensorflow",
        "batch_size": 32,
        "devices": 2,
        "precision": "float16",
        "repeat": 1,
        "status": "done",
        "samples_per_second": 64.0,
        "missing_columns": "",
        "started_at": "2018-05-01T10:00:00.000000Z",
    }


def test_run_whose_parameters_were_written_over_is_refused(tmp_path: Path) -> None:
    imported = read(tmp_path, metrics=[METRICS[1] | {"value": 5.0}, *METRICS])
    assert imported.runs["samples_per_second"].to_list() == [64.0]
    (problem,) = imported.problems
    assert str(problem).startswith(
        "k80/fp16/metric.log:1: benchmark_run.log names the parameters of the last run alone"
    )


@pytest.mark.parametrize(
    ("run", "metrics", "said"),
    [
        (None, METRICS, "k80/fp16/metric.log: the log names no workload, so the import must"),
        (RUN, METRICS[:1], "k80/fp16/metric.log: no run has ended: no metric average_examples_per_sec"),
        (
            RUN,
            [METRICS[1] | {"value": 0}],
            "k80/fp16/metric.log:1: value: 0 must be samples a second, more than 0",
        ),
        (
            RUN | {"run_parameters": [{"name": "mode", "string_value": "forward-only"}]},
            METRICS,
            "k80/fp16/metric.log: benchmark_run.log: mode: 'forward-only' is no training",
        ),
        (RUN | {"run_parameters": 5}, METRICS, "k80/fp16/metric.log: benchmark_run.log beside it must be an object"),
    ],
)
def test_faults_are_refused_with_their_line(run: object, metrics: list[object], said: str, tmp_path: Path) -> None:
    imported = read(tmp_path, run, metrics)
    assert len(imported.runs) == 0
    (problem,) = imported.problems
    assert str(problem).startswith(said)
