import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import mllog

START = 1_600_000_000_000


def event(key: str, seconds: float, value: Any = None, **metadata: Any) -> str:
    made = {"namespace": "", "time_ms": START + round(1000 * seconds), "event_type": "POINT_IN_TIME", "key": key}
    return ":::MLLOG " + json.dumps(made | {"value": value, "metadata": {"file": "train.py", "lineno": 1} | metadata})


def run(
    *middle: str, status: str = "success", stop: float = 100, at: float = 0, benchmark: str = "resnet"
) -> list[str]:
    return [
        event("submission_benchmark", at - 9, benchmark),
        event("init_start", at - 8),
        event("global_batch_size", at - 7, 256.0),
        event("seed", at - 7, 42),
        event("init_stop", at - 1),
        event("run_start", at),
        *middle,
        event("run_stop", at + stop, status=status),
    ]


EPOCHS = [
    event("epoch_start", 0, epoch_num=1),
    event("epoch_stop", 40, epoch_num=1),
    event("eval_accuracy", 45, 0.5, epoch_num=1),
    event("epoch_start", 45, epoch_num=2),
    event("epoch_stop", 70, epoch_num=2),
    event("epoch_start", 70, epoch_num=3),
    event("epoch_stop", 91, epoch_num=3),
    event("eval_accuracy", 95, 0.75, epoch_num=3),
]


def read(
    folder: Path, lines: list[str], framework: dict[str, str] | None = None, workload: str | None = None
) -> Imported:
    path = folder / "dgx" / "resnet" / "result_0.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    given = {"dgx": "torch"} if framework is None else framework
    return mllog.read(folder, Layout({"dgx": "8 cards"}, given, workload))


def faults(imported: Imported) -> list[str]:
    assert len(imported.runs) == 0
    return [str(problem).removeprefix("dgx/resnet/result_0.txt:") for problem in imported.problems]


@pytest.mark.parametrize("prefix", ["", "0: ", "ray-training  | [0] "])
def test_facts_of_a_run(prefix: str, tmp_path: Path) -> None:
    lines = [
        "Beginning trial 1 of 1",
        *(prefix + line for line in run(*EPOCHS)),
        event("train_samples", 101, 1_281_167),
    ]
    imported = read(tmp_path, lines)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "dgx/resnet/result_0",
        "file": "dgx/resnet/result_0.txt",
        "workload": "resnet",
        "hardware": "8 cards",
        "framework": "torch",
        "batch_size": 256,
        "repeat": 1,
        "status": "done",
        "epochs_done": 3,
        "train_seconds": 100.0,
        "first_epoch_seconds": 40.0,
        "median_epoch_seconds": 23.0,
        "train_samples": 1_281_167,
        "val_acc": 0.75,
        "missing_columns": "",
        "started_at": "2020-09-13T12:26:40+00:00",
    }


def test_aborted_run_failed(tmp_path: Path) -> None:
    runs = read(tmp_path, run(status="aborted", stop=7)).runs
    assert runs[["status", "train_seconds"]].values.tolist() == [["failed", 7.0]]
    assert runs[["epochs_done", "val_acc"]].isna().all(axis=None)


def test_epochs_of_blocks(tmp_path: Path) -> None:
    blocks = [event("block_start", 0, first_epoch_num=1, epoch_count=4), event("block_stop", 40, first_epoch_num=1)]
    runs = read(tmp_path, run(*blocks, *blocks, blocks[1], blocks[0])).runs
    assert runs["epochs_done"][0] == 8
    assert runs["first_epoch_seconds"].isna().all()


@pytest.mark.parametrize(
    ("benchmark", "value", "val_acc", "val_loss"),
    [
        ("resnet", 0.759, 0.759, None),
        ("resnet", float("nan"), None, None),
        ("maskrcnn", {"BBOX": 0.377, "SEGM": 0.34}, None, None),
        ("gpt3", 2.69, None, 2.69),
        ("llama2_70b_lora", 0.925, None, 0.925),
        ("rnnt", 0.058, None, None),
        ("gnmt", 24.2, None, None),
        ("transformer", 25.1, None, None),
    ],
)
def test_quality_is_an_accuracy_or_a_loss(
    benchmark: str, value: Any, val_acc: float | None, val_loss: float | None, tmp_path: Path
) -> None:
    lines = run(event("eval_accuracy", 5, value), benchmark=benchmark)
    runs = read(tmp_path, lines).runs.astype(object)
    assert runs[["val_acc", "val_loss"]].where(runs.notna(), None).values.tolist() == [[val_acc, val_loss]]


def test_several_runs_in_a_file(tmp_path: Path) -> None:
    second = run(at=500, stop=50, benchmark="bert")
    runs = read(tmp_path, run() + second + run(at=900, stop=60)).runs
    assert runs[["run", "workload", "repeat", "train_seconds"]].values.tolist() == [
        ["dgx/resnet/result_0#1", "resnet", 1, 100.0],
        ["dgx/resnet/result_0#2", "bert", 1, 50.0],
        ["dgx/resnet/result_0#3", "resnet", 2, 60.0],
    ]


def test_truncated_run_is_refused_and_no_other(tmp_path: Path) -> None:
    imported = read(tmp_path, run() + run(at=500)[:-1])
    assert list(imported.runs["run"]) == ["dgx/resnet/result_0#1"]
    assert [str(problem) for problem in imported.problems] == [
        "dgx/resnet/result_0.txt:13: the run that begins in line 8 has no run_stop"
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["nothing here"], "1: no :::MLLOG line"),
        (run()[:-1], "6: the run that begins in line 1 has no run_stop"),
        (run()[:2], "2: the run that begins in line 1 has no run_start"),
        (
            [*run()[:5], ":::MLLOG {'key': 'run_start'}", *run()[6:]],
            "6: broken JSON: Expecting property name enclosed in double quotes",
        ),
        ([run()[0][:-20]], "1: broken JSON: Unterminated string starting at"),
        ([":::MLLOG [convert-error: 1]"], "1: broken JSON: Expecting value"),
        ([":::MLLOG 7"], "1: an event must be an object"),
        ([':::MLLOG {"key": 7, "time_ms": 1}'], "1: key: must be text"),
        ([':::MLLOG {"key": "run_start"}'], "1: time_ms: None must be milliseconds since 1970"),
        ([':::MLLOG {"key": "run_start", "time_ms": "now"}'], "1: time_ms: 'now' must be milliseconds since 1970"),
        ([':::MLLOG {"key": "run_start", "time_ms": 1e18}'], "1: time_ms: 1e+18 must be milliseconds since 1970"),
        (run(event("run_start", 1)), "7: run_start: a second one before run_stop"),
        ([event("init_start", 0), event("run_stop", 1)], "2: run_stop: without a run_start"),
        ([*run(), event("run_stop", 101)], "8: run_stop: without a run_start"),
        (run(stop=-5), "7: run_stop: lies before run_start"),
        (run(status="unknown"), "7: run_stop: status: 'unknown' must be one of success, aborted, abort, fail"),
        ([*run()[:-1], event("run_stop", 9)], "7: run_stop: status: None must be one of success, aborted, abort, fail"),
        ([event("submission_benchmark", 0, 7), *run()], "1: submission_benchmark: 7 must be text"),
        (run(stop=0), "1: the run that begins in line 1 takes 0 seconds"),
        (run(event("eval_accuracy", 5, 75.9)), " eval_accuracy: 75.9 is no accuracy: from 0 to 1"),
        (
            run(benchmark="a/b"),
            " workload: 'a/b' is not a name: up to 100 letters",
        ),
    ],
)
def test_faults_are_refused_with_their_line(lines: list[str], said: str, tmp_path: Path) -> None:
    (problem,) = faults(read(tmp_path, lines))
    assert problem.startswith(said)


def test_framework_must_be_given(tmp_path: Path) -> None:
    assert faults(read(tmp_path, run(), framework={})) == [" the log names no framework, so the import must"]


def test_workload_may_be_given(tmp_path: Path) -> None:
    assert list(read(tmp_path, run()[1:], workload="resnet").runs["workload"]) == ["resnet"]


def log_of_0_6(*events: str) -> list[str]:
    return [f":::MLL {START / 1000 + at:.3f} {event}" for at, event in enumerate(events)]


def test_log_of_round_0_6(tmp_path: Path) -> None:
    lines = log_of_0_6(
        'submission_benchmark: {"value": "resnet", "metadata": {"lineno": 226, "file": "a.py"}}',
        'global_batch_size: {"value": 1664, "metadata": {}}',
        'run_start: {"value": null, "metadata": {"lineno": 190}}',
        'eval_accuracy: {"value": 0.36, "metadata": {"epoch_num": 4}}',
        """run_stop: {"value": null, "metadata": {'lineno': 53, 'status': 'success'}}""",
    )
    (run_of,) = read(tmp_path, lines).runs.to_dict("records")
    assert (run_of["workload"], run_of["batch_size"], run_of["status"]) == ("resnet", 1664, "done")
    assert (run_of["train_seconds"], run_of["val_acc"]) == (pytest.approx(2), 0.36)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("run_stop", "done"),
        ('run_stop: {"success": true}', "done"),
        ('run_stop: {"success": "true"}', "done"),
        ('run_stop: {"success": false}', "failed"),
    ],
)
def test_log_of_round_0_5(end: str, status: str, tmp_path: Path) -> None:
    at = START // 1000
    lines = [
        f":::MLPv0.5.0 ncf {at}.108 (NeuralCFexample.scala:70) run_start",
        f':::MLPv0.5.0 ncf {at + 300}.592 (NCFOptimizer2.scala:359) eval_size: {{"epoch": 0, "value": 138493000}}',
        f':::MLPv0.5.0 ncf {at + 400}.593 (a (b).scala:363) eval_accuracy: {{"epoch": 0, "value": 0.5348285}}',
        f":::MLPv0.5.0 ncf {at + 500}.108 (NCFOptimizer2.scala:263) {end}",
        f":::MLPv0.5.0 ncf {at + 500}.200 (NCFOptimizer2.scala:263) run_final",
    ]
    (run_of,) = read(tmp_path, lines).runs.to_dict("records")
    assert (run_of["workload"], run_of["status"], run_of["val_acc"]) == ("ncf", status, 0.5348285)
    assert run_of["train_seconds"] == pytest.approx(500)


def test_bytes_beside_the_events_are_passed_over(tmp_path: Path) -> None:
    """37 real logs have a stray byte of a terminal in a line that is no event."""
    read(tmp_path, run())
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    path.write_bytes(b"\xff\xfe bar \0\n" + path.read_bytes())
    imported = mllog.read(tmp_path, Layout({".": "machine"}, {".": "jax"}))
    assert imported.problems == []
    assert len(imported.runs) == 1


def test_benchmark_may_be_named_by_the_folder_alone(tmp_path: Path) -> None:
    lines = [line for line in run() if "submission_benchmark" not in line]
    folder = tmp_path / "machine" / "bert"
    folder.mkdir(parents=True)
    (folder / "result_0.txt").write_text("\n".join(lines))
    imported = mllog.read(tmp_path, Layout({"machine": "machine"}, {"machine": "jax"}))
    assert imported.runs["workload"].to_list() == ["bert"]


def test_garbled_line_loses_the_epochs_and_not_the_run(tmp_path: Path) -> None:
    """Two ranks wrote into one line: start, stop and success are whole, and so is the time."""
    garbled = ':::MLLOG {"namespace": "", "time_ms": 1600000020000, "key": "epoch_stop", "va:::MLLOG {"key": "x"}'
    (row,) = read(tmp_path, run(*EPOCHS[:3], garbled, *EPOCHS[3:])).runs.to_dict("records")
    assert (row["status"], row["train_seconds"]) == ("done", 100.0)
    assert pd.isna(row["epochs_done"]), "one of them may be the one that was lost"
