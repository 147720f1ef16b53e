import json
from pathlib import Path
from typing import Any

import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import hf_trainer

HISTORY = [
    {"epoch": 1.0, "loss": 0.9, "step": 100},
    {"epoch": 1.0, "eval_loss": 0.7, "eval_accuracy": 0.71, "eval_runtime": 3.1, "step": 100},
    {"epoch": 2.0, "eval_loss": 0.5, "eval_accuracy": 0.81, "eval_runtime": 3.0, "step": 200},
    {"epoch": 2.0, "train_runtime": 120.5, "train_samples_per_second": 53.1, "train_loss": 0.62, "step": 200},
]


def read(folder: Path, state: Any, name: str = "trainer_state.json") -> Imported:
    (folder / "a100").mkdir(exist_ok=True)
    (folder / "a100" / name).write_text(state if isinstance(state, str) else json.dumps(state))
    return hf_trainer.read(folder, Layout({"a100": "A100"}, workload="bert"))


def test_facts_of_a_training(tmp_path: Path) -> None:
    imported = read(tmp_path, {"train_batch_size": 8, "log_history": HISTORY})
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    told = ("workload", "hardware", "framework", "batch_size", "status", "epochs_done")
    assert [row[key] for key in told] == ["bert", "A100", "torch", 8, "done", 2]
    assert (row["train_seconds"], row["samples_per_second"]) == (120.5, 53.1)
    assert (row["loss"], row["val_loss"], row["val_acc"]) == (0.62, 0.5, 0.81)


def changed(**values: Any) -> dict:
    return {"log_history": [*HISTORY[:-1], HISTORY[-1] | values]}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"log_history": HISTORY[:-1]}, "train_runtime is in no record: the training has not ended"),
        ({"log_history": {}}, "1: log_history: must be a list of records"),
        ([], "1: log_history: must be a list of records"),
        ("{", "1: broken JSON"),
        (changed(train_runtime=-3), "train_runtime: -3 must be seconds, more than 0"),
        (changed(train_runtime="fast"), "train_runtime: 'fast' must be seconds"),
        (changed(epoch=None), "epoch: None must be a number above 0"),
        ({"log_history": [HISTORY[1] | {"eval_accuracy": 81}, HISTORY[-1]]}, "eval_accuracy: 81 is no accuracy"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, state: Any, said: str) -> None:
    imported = read(tmp_path, state)
    assert len(imported.runs) == 0
    assert said in str(imported.problems[0])


def test_other_json_is_refused(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, {"log_history": HISTORY}, "config.json").problems
    assert "the name must be trainer_state.json" in str(problem)


def test_loss_that_is_no_number_is_a_run_that_diverged(tmp_path: Path) -> None:
    state = json.dumps(changed()).replace("0.62", "NaN")
    assert read(tmp_path, state).runs["status"].to_list() == ["diverged"]
