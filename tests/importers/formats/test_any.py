"""Logs of several kinds in one folder, each read as what it looks like."""

import json
import os
from pathlib import Path, PurePosixPath

import pytest

from scripts import importers
from scripts.importers import Layout, naming
from scripts.importers.formats import any as any_log
from tests.importers.formats.test_epochs_csv import KERAS
from tests.importers.formats.test_mlflow import folder as mlflow_folder
from tests.importers.formats.test_mllog import EPOCHS
from tests.importers.formats.test_mllog import run as mlperf_run
from tests.importers.formats.test_nanogpt import MODDED
from tests.importers.formats.test_tensorboard import event, write
from tests.importers.formats.test_ultralytics import NEW


def mixed(place: Path) -> Path:
    mlflow_folder(place / "tracked")
    write(place / "tb" / "mlp", event(0), event(40, 10, train__loss=0.5))
    for name, text in {
        "yolo/runs/detect/train/results.csv": NEW,
        "speed/record.log": MODDED,
        "keras/training_log.csv": KERAS,
        "bert/checkpoint-10/trainer_state.json": json.dumps(
            {"log_history": [{"loss": 0.5, "step": 10}], "global_step": 10, "max_steps": 10, "epoch": 1.0}
        ),
        "lit/lightning_logs/version_0/metrics.csv": "epoch,step,train_loss,elapsed\n0,9,0.5,12.5\n1,19,0.25,10\n",
        "prices.csv": "date,close\n2026-01-01,5\n",
        "readme.txt": "nothing",
        ".hidden/training_log.csv": KERAS,
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def test_each_file_is_read_as_what_it_looks_like(tmp_path: Path) -> None:
    kinds, _ = any_log.look(mixed(tmp_path), Layout({".": "box"}))
    assert {str(name): kind for name, kind in kinds.items()} == {
        "bert/checkpoint-10/trainer_state.json": "hf_trainer",
        "keras/training_log.csv": "epochs_csv",
        "lit/lightning_logs/version_0/metrics.csv": "lightning_csv",
        "prices.csv": None,
        "readme.txt": None,
        "speed/record.log": "nanogpt",
        "tb/mlp/events.out.tfevents.1700000000.box.1.0": "tensorboard",
        "tracked/mlruns/1/0a1b/meta.yaml": "mlflow",
        "yolo/runs/detect/train/results.csv": "ultralytics",
    }


def test_runs_are_called_after_their_folders_where_no_log_names_them(tmp_path: Path) -> None:
    imported = any_log.read(mixed(tmp_path), Layout({".": "box"}))
    assert imported.problems == []
    runs = imported.runs.assign(train_seconds=imported.runs["train_seconds"].fillna(0))
    rows = runs[["workload", "framework", "train_seconds"]].values.tolist()
    assert rows == [
        ["bert", "torch", 0],
        ["keras", "own", 0],
        ["lit", "torch", 22.5],
        ["speed-record", "torch", 22.5],
        ["tb-mlp", "own", 40.0],
        ["flowers-resnet50", "torch", 400.0],
        ["yolo", "torch", 260.5],
    ]


def test_the_import_may_name_them_all(tmp_path: Path) -> None:
    imported = any_log.read(mixed(tmp_path), Layout({".": "box"}, {".": "jax"}, workload="mine"))
    assert set(imported.runs["framework"]) == {"jax"}
    assert set(imported.runs["workload"]) == {"mine", "flowers-resnet50"}, "what a log names counts"


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("bert/lightning_logs/version_3/metrics.csv", "bert"),
        ("runs/detect/train4/results.csv", "training"),
        ("a b/c/training_log.csv", "a_b-c"),
        ("training_log.csv", "training"),
        ("wandb/offline-run-20261125_025356-w3e44oge/run-w3e44oge.wandb", "training"),
    ],
)
def test_names_after_folders(name: str, called: str) -> None:
    assert naming.workload_of(PurePosixPath(name)) == called


def test_every_kind_that_is_looked_for_is_a_format() -> None:
    assert set(any_log.ORDER) <= set(importers.names()) - {"any"}


def test_logs_of_mlperf_are_read_among_others(tmp_path: Path) -> None:
    (tmp_path / "dgx" / "resnet").mkdir(parents=True)
    (tmp_path / "dgx" / "resnet" / "result_0.txt").write_text("\n".join(mlperf_run(*EPOCHS)) + "\n")
    imported = any_log.read(mixed(tmp_path), Layout({".": "box"}))
    assert imported.problems == []
    (run,) = imported.runs[imported.runs["read_as"] == "mllog"].to_dict("records")
    assert (run["file"], run["workload"], run["train_seconds"]) == ("dgx/resnet/result_0.txt", "resnet", 100.0)


def test_files_of_a_run_of_mlflow_and_weights_are_not_looked_at(tmp_path: Path) -> None:
    (mixed(tmp_path) / "yolo" / "last.pt").write_bytes(b"weights")
    names = {path.name for path in any_log.candidates(tmp_path)}
    assert names.isdisjoint({"last.pt", "train_loss", "batch_size", "mlflow.autologging"})
    assert "train_loss" in {path.name for path in any_log.candidates(tmp_path, all_of_runs=True)}


#: Files beside a log that are read for its settings, below the folder of `mixed`.
BESIDE = ("yolo/runs/detect/train/args.yaml", "tracked/mlruns/1/meta.yaml", "bert/train_results.json")


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b"x: 2026-13-99", b"x: " + b"9" * 5000, None]
)
def test_what_lies_beside_a_log_and_cannot_be_read_costs_no_run(tmp_path: Path, content: bytes | None) -> None:
    """A pipe would be waited for, for ever."""
    folder = mixed(tmp_path / "logs")
    runs = any_log.look(folder, Layout({".": "box"}))[1].runs["file"].nunique()
    for name in BESIDE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        if content is None:
            os.mkfifo(folder / name)
        else:
            (folder / name).write_bytes(content)
    assert any_log.look(folder, Layout({".": "box"}))[1].runs["file"].nunique() == runs
