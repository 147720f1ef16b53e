from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import tf_cnn

HEADER = """TensorFlow:  1.4
Model:       resnet50
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  64 global
             32.0 per device
Num batches: 100
Num epochs:  0.00
Devices:     ['/gpu:0', '/gpu:1']
Data format: NCHW
Variables:   parameter_server
==========
"""
STEPS = """Generating model
Done warm up
Step\tImg/sec\ttotal_loss
1\timages/sec: 60.0 +/- 0.0 (jitter = 0.0)\t8.5
100\timages/sec: 64.5 +/- 0.1 (jitter = 0.2)\t7.5
"""
TOTAL = f"{'-' * 64}\ntotal images/sec: 64.00\n{'-' * 64}\n"
RUN = HEADER + STEPS + TOTAL


def read(folder: Path, text: str, workload: str | None = None) -> Imported:
    (folder / "gpu2.log").write_bytes(text.encode())
    return tf_cnn.read(folder, Layout({"gpu2": "two cards"}, workload=workload))


@pytest.mark.parametrize(
    "text", [RUN, RUN.replace("\n", "\r\n"), "a line before\n" + RUN + "and after\n", RUN.rstrip()]
)
def test_facts_of_a_run(text: str, tmp_path: Path) -> None:
    imported = read(tmp_path, text)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "gpu2",
        "file": "gpu2.log",
        "workload": "resnet50",
        "hardware": "two cards",
        "framework": "tensorflow",
        "batch_size": 32,
        "repeat": 1,
        "status": "done",
        "train_seconds": 100.0,
        "samples_per_second": 64.0,
        "loss": 7.5,
        "missing_columns": "",
    }


def test_steps_alone_need_a_workload(tmp_path: Path) -> None:
    runs = read(tmp_path, STEPS + TOTAL, "resnet50").runs
    assert runs[["workload", "samples_per_second"]].values.tolist() == [["resnet50", 64.0]]
    assert runs[["batch_size", "train_seconds"]].isna().all(axis=None)
    (problem,) = read(tmp_path, STEPS + TOTAL).problems
    assert str(problem) == "gpu2.log: the log names no workload, so the import must"


def test_accuracy_may_be_printed(tmp_path: Path) -> None:
    text = RUN.replace("\t8.5", "\t8.5\t0.001\t0.005").replace("\t7.5", "\t7.5\t0.25\t0.5")
    assert read(tmp_path, text).runs[["loss", "acc"]].values.tolist() == [[7.5, 0.25]]


def test_loss_that_is_no_number_is_a_run_that_diverged(tmp_path: Path) -> None:
    runs = read(tmp_path, RUN.replace("\t7.5", "\tnan")).runs
    assert runs["status"][0] == "diverged"
    assert runs["loss"].isna().all()


def test_several_runs_in_a_file(tmp_path: Path) -> None:
    runs = read(tmp_path, RUN + RUN.replace("resnet50", "vgg16") + RUN).runs
    assert runs[["run", "workload", "repeat"]].values.tolist() == [
        ["gpu2#1", "resnet50", 1],
        ["gpu2#2", "vgg16", 1],
        ["gpu2#3", "resnet50", 2],
    ]


@pytest.mark.parametrize(
    ("text", "lines", "runs"),
    [
        (HEADER + STEPS, (18, 2), []),
        (HEADER, (13, 2), []),
        (STEPS, (5, 3), []),
        (HEADER + STEPS + RUN, (20, 2), ["gpu2#2"]),
        (RUN + HEADER + STEPS, (39, 23), ["gpu2#1"]),
        (HEADER + STEPS + STEPS + TOTAL, (21, 2), ["gpu2#2"]),
    ],
)
def test_truncated_run_is_refused_and_no_other(
    text: str, lines: tuple[int, int], runs: list[str], tmp_path: Path
) -> None:
    imported = read(tmp_path, text, "resnet50")
    (problem,) = imported.problems
    assert str(problem) == f"gpu2.log:{lines[0]}: the run that begins in line {lines[1]} has no 'total images/sec'"
    assert list(imported.runs["run"]) == runs


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sec: 64.00", "sec: fast", "20: total images/sec: 'fast' must be a number above 0"),
        ("sec: 64.00", "sec: 0.00", "20: total images/sec: '0.00' must be a number above 0"),
        ("sec: 64.00", "sec: -1", "20: total images/sec: '-1' must be a number above 0"),
        ("sec: 64.00", "sec: nan", "20: total images/sec: 'nan' must be a number above 0"),
        ("sec: 64.00", "sec:", "20: total images/sec: '' must be a number above 0"),
        ("32.0 per", "32.5 per", "7: per device: '32.5' is not a count"),
        ("64 global", "-64 global", "6: global: '-64' is not a count"),
        ("batches: 100", "batches: all", "8: Num batches: 'all' is not a count"),
        ("training", "evaluation", "4: Mode: 'evaluation' is no training"),
        ("training", "forward-only", "4: Mode: 'forward-only' is no training"),
        ("\t7.5", "\tlow", "18: step 100: must give images/sec, jitter and a loss"),
        ("64.5 +/- 0.1 (jitter = 0.2)\t7.5", "64.", "18: step 100: must give images/sec, jitter and a loss"),
        ("\n100\t", "\n1\t", "18: step 1 after step 1: lines of several workers, or of several runs"),
    ],
)
def test_faults_are_refused_with_their_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in RUN
    imported = read(tmp_path, RUN.replace(old, new))
    assert len(imported.runs) == 0
    assert [str(problem) for problem in imported.problems] == [f"gpu2.log:{said}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello\n", "1: no run of tf_cnn_benchmarks: no 'Model:', no step, no 'total images/sec'"),
        ("\n" + TOTAL, "3: 'total images/sec' without a run before it"),
    ],
)
def test_file_without_a_run_is_refused(text: str, said: str, tmp_path: Path) -> None:
    assert [str(problem) for problem in read(tmp_path, text, "resnet50").problems] == [f"gpu2.log:{said}"]
