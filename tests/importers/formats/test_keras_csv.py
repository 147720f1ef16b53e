import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.importers import EPOCHS, Imported, Layout, _epochs
from scripts.importers.formats import keras_csv
from tests.conftest import ROOT, frameworks_here

HEADER = "epoch,elapsed,loss,acc,val_loss,val_acc"
LOG = [HEADER, "0,9,0.9,0.5,0.8,0.6", "1,2,0.7,0.6,0.6,0.7", "2,4,0.5,0.7,0.5,0.75", "3,3,0.4,0.8,0.45,0.8"]


def read(folder: Path, lines: list[str], name: str = "mnist_mlp_tensorflow.csv", end: str = "\r\n") -> Imported:
    path = folder / "k80" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())
    return keras_csv.read(folder, Layout({"k80": "K80"}))


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r\n\r\n"])
def test_facts_of_a_log(end: str, tmp_path: Path) -> None:
    imported = read(tmp_path, LOG, end=end)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "k80/mnist_mlp_tensorflow",
        "file": "k80/mnist_mlp_tensorflow.csv",
        "workload": "mnist_mlp",
        "hardware": "K80",
        "framework": "tensorflow",
        "repeat": 1,
        "status": "done",
        "epochs_done": 4,
        "train_seconds": 18.0,
        "first_epoch_seconds": 9.0,
        "median_epoch_seconds": 3.0,
        "loss": 0.4,
        "acc": 0.8,
        "val_loss": 0.45,
        "val_acc": 0.8,
        "missing_columns": "",
    }


def test_epochs_of_a_log_are_kept_under_its_run(tmp_path: Path) -> None:
    read(tmp_path, ["epoch,elapsed,loss", "0,1.5,nan"], name="mnist_cnn_tensorflow.csv")
    epochs = read(tmp_path, LOG).epochs
    assert epochs.columns.to_list() == list(EPOCHS)
    assert epochs["run"].to_list() == ["k80/mnist_cnn_tensorflow"] + ["k80/mnist_mlp_tensorflow"] * 4
    assert epochs["elapsed"].to_list() == [1.5, 9.0, 2.0, 4.0, 3.0]
    assert epochs["val_acc"].to_list()[1:] == [0.6, 0.7, 0.75, 0.8]
    assert epochs[["loss", "acc"]].iloc[0].isna().all(), "what is no number, and what is not there"


def test_one_epoch_has_no_later_ones(tmp_path: Path) -> None:
    (row,) = read(tmp_path, LOG[:2]).runs.to_dict("records")
    assert (row["epochs_done"], row["first_epoch_seconds"]) == (1, 9.0)
    assert pd.isna(row["median_epoch_seconds"])


@pytest.mark.parametrize(
    ("lines", "missing", "acc"),
    [
        (["epoch,elapsed,loss", "0,1,0.5"], "acc,val_loss,val_acc", None),
        ([HEADER, "0,1,0.5,,,", "1,1,0.5,,,"], "acc,val_loss,val_acc", None),
        ([HEADER, "0,1,0.5,0.7,,", "1,1,0.5,,,"], "val_loss,val_acc", None),
        ([HEADER, "0,1,0.5,0.7,,", "1,1,0.5,0.9,,"], "val_loss,val_acc", 0.9),
        (["epoch,elapsed,loss,acc,val_loss,val_acc,samples", "0,1,0.5,0.7,1,0.5,many"], "", 0.7),
    ],
)
def test_columns_may_be_missing_or_more(lines: list[str], missing: str, acc: float | None, tmp_path: Path) -> None:
    (row,) = read(tmp_path, lines).runs.to_dict("records")
    assert row["missing_columns"] == missing
    assert row["acc"] == acc if acc else pd.isna(row["acc"])


@pytest.mark.parametrize(
    ("line", "status", "loss"),
    [
        ("1,2,nan,0.1,0.6,0.1", "diverged", None),
        ("1,2,inf,0.1,0.6,0.1", "diverged", None),
        ("1,2,1e999,0.1,0.6,0.1", "diverged", None),
        ("1,2,0.5,0.1,NaN,0.1", "diverged", 0.5),
        ("1,2,0.5,nan,0.6,0.1", "done", 0.5),
    ],
)
def test_loss_that_is_no_number_is_a_run_that_diverged(
    line: str, status: str, loss: float | None, tmp_path: Path
) -> None:
    imported = read(tmp_path, [HEADER, "0,9,0.9,0.5,0.8,0.6", line])
    (row,) = imported.runs.to_dict("records")
    assert (row["status"], row["train_seconds"]) == (status, 11.0)
    assert row["loss"] == loss if loss else pd.isna(row["loss"])


def test_diverged_once_is_diverged(tmp_path: Path) -> None:
    runs = read(tmp_path, [HEADER, "0,9,nan,0.5,0.8,0.6", "1,2,0.5,0.1,0.6,0.1"]).runs
    assert (runs["status"][0], runs["loss"][0]) == ("diverged", 0.5)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["elapsed,loss", "1,1"], "1: column epoch is missing; needed are epoch, elapsed, loss"),
        (["epoch,elapsed", "0,1"], "1: column loss is missing; needed are epoch, elapsed, loss"),
        (["epoch,elapsed,acc", "0,1,1"], "1: column loss is missing; needed are epoch, elapsed, loss"),
        (["epoch,elapsed,loss,loss", "0,1,1,1"], "1: column loss is given twice"),
        ([HEADER], "1: no epoch"),
        ([HEADER, "0,9,0.9,72,0.8,0.6"], "2: acc: 72 is no accuracy: from 0 to 1"),
        ([HEADER, "0,9,0.9,0.5,0.8,-0.72"], "2: val_acc: -0.72 is no accuracy: from 0 to 1"),
        ([HEADER, "0,fast,1,1,1,1"], "2: elapsed: 'fast' is not a number"),
        ([HEADER, "0,1_0,1,1,1,1"], "2: elapsed: '1_0' is not a number"),
        ([HEADER, "0,,1,1,1,1"], "2: elapsed: '' is not a number"),
        ([HEADER, "0,1,,1,1,1"], "2: loss: '' is not a number"),
        ([HEADER, "0,1,1,n/a,1,1"], "2: acc: 'n/a' is not a number"),
        ([HEADER, "0,1,1,1,1,1", "1,-2,1,1,1,1"], "3: elapsed: -2.0 must be from 0 to 1e+09 seconds"),
        ([HEADER, "0,nan,1,1,1,1"], "2: elapsed: nan must be from 0 to 1e+09 seconds"),
        ([HEADER, "0,inf,1,1,1,1"], "2: elapsed: inf must be from 0 to 1e+09 seconds"),
        ([HEADER, "0,0,1,1,1,1", "1,0,1,1,1,1"], "3: elapsed: the epochs together take 0 seconds"),
        ([HEADER, "1,1,1,1,1,1"], "2: epoch: 1 must be 0; epochs count from 0, each once, in order"),
        ([HEADER, "0,1,1,1,1,1", "0,1,1,1,1,1"], "3: epoch: 0 must be 1; epochs count from 0, each once, in order"),
        ([HEADER, "0,1,1,1,1,1", "2,1,1,1,1,1"], "3: epoch: 2 must be 1; epochs count from 0, each once, in order"),
        ([HEADER, "0,1,1,1,1,1", "1,1,1"], "3: 3 cells, but the header has 6"),
        ([HEADER, "0,1,1,1,1,1,1"], "2: 7 cells, but the header has 6"),
        (["<html><body>404</body></html>"], "1: column epoch is missing; needed are epoch, elapsed, loss"),
        ([HEADER, "0," + "9" * 200_000 + ",1,1,1,1"], "2: not CSV: field larger than field limit (131072)"),
    ],
)
def test_faults_are_refused_with_their_line(lines: list[str], said: str, tmp_path: Path) -> None:
    imported = read(tmp_path, lines)
    assert len(imported.runs) == 0
    assert [str(problem) for problem in imported.problems] == [f"k80/mnist_mlp_tensorflow.csv:{said}"]


@pytest.mark.parametrize("name", ["mnist_mlp.csv", "tensorflow.csv", "_tensorflow.csv", "mnist_mlp_Tensorflow.csv"])
def test_name_must_hold_workload_and_framework(name: str, tmp_path: Path) -> None:
    (problem,) = read(tmp_path, LOG, name).problems
    assert str(problem).startswith(f"k80/{name}: the name must be <workload>_<framework>.csv, the framework one of ")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30).filter(any))
def test_time_to_train_is_the_sum_of_its_epochs(seconds: list[float]) -> None:
    rows = "".join(f"{epoch},{elapsed!r},1\n" for epoch, elapsed in enumerate(seconds))
    facts = _epochs.parse("epoch,elapsed,loss\n" + rows)
    assert facts["train_seconds"] == pytest.approx(sum(seconds), rel=1e-12)
    assert facts["first_epoch_seconds"] == seconds[0]
    if len(seconds) > 1:
        assert min(seconds[1:]) <= facts["median_epoch_seconds"] <= max(seconds[1:])


def test_log_that_was_copied_beside_itself_counts_once(tmp_path: Path) -> None:
    read(tmp_path, LOG)
    (tmp_path / "p100").mkdir()
    for name in ("k80/copy/mnist_mlp_tensorflow.csv", "p100/mnist_mlp_tensorflow.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((tmp_path / "k80/mnist_mlp_tensorflow.csv").read_bytes())
    imported = keras_csv.read(tmp_path, Layout({"k80": "K80", "p100": "P100"}))
    assert imported.runs["hardware"].to_list() == ["K80", "P100"], "of another machine it is for the audit to say"
    (problem,) = imported.problems
    assert "the same bytes as k80/copy/mnist_mlp_tensorflow.csv: counted once" in str(problem)


def test_accuracy_may_be_called_as_keras_does_today(tmp_path: Path) -> None:
    (row,) = read(tmp_path, [HEADER.replace("acc", "accuracy"), *LOG[1:]]).runs.to_dict("records")
    assert (row["acc"], row["val_acc"], row["missing_columns"]) == (0.8, 0.8, "")


def test_log_of_keras_without_times_is_imported_and_says_what_adds_them(tmp_path: Path) -> None:
    imported = read(tmp_path, ["epoch,accuracy,loss", "0,0.5,0.9", "1,0.6,0.7"])
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert (row["workload"], row["framework"], row["epochs_done"]) == ("mnist_mlp", "tensorflow", 2)
    assert pd.isna(row["train_seconds"])
    assert "without time: Keras's CSVLogger has no column elapsed" in row["remarks"]
    assert "the callback of docs/importing.md adds it" in row["remarks"]


@pytest.mark.slow
def test_callback_of_the_docs_makes_a_log_that_is_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(class Elapsed.*?)```", (ROOT / "docs/importing.md").read_text(), re.DOTALL)
    made = "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
    begin = "import time\nimport numpy as np\nimport keras\nx = y = np.ones((64, 4), 'float32')\n"
    (tmp_path / "k80").mkdir()
    environment = os.environ | {"KERAS_BACKEND": frameworks_here()[0], "CUDA_VISIBLE_DEVICES": "-1"}
    subprocess.run([sys.executable, "-c", begin + made + block], cwd=tmp_path / "k80", env=environment, check=True)
    (row,) = keras_csv.read(tmp_path, Layout({"k80": "K80"})).runs.to_dict("records")
    assert row["epochs_done"] == 2
    assert row["train_seconds"] > 0
