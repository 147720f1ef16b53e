import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import any as any_log
from scripts.importers.formats import hf_trainer
from tests.importers.formats.test_console_times import AXOLOTL
from tests.importers.formats.test_tensorboard import event, write

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
    keys = ("workload", "hardware", "framework", "batch_size", "status", "epochs_done")
    assert [row[key] for key in keys] == ["bert", "A100", "torch", 8, "done", 2]
    assert (row["train_seconds"], row["samples_per_second"]) == (120.5, 53.1)
    assert (row["loss"], row["val_loss"], row["val_acc"]) == (0.62, 0.5, 0.81)


def changed(**values: Any) -> dict:
    return {"log_history": [*HISTORY[:-1], HISTORY[-1] | values]}


@pytest.mark.parametrize(
    ("state", "said"),
    [
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


#: As a checkpoint has it: no train_runtime, which is written after the last one.
STATE = {"log_history": HISTORY[:-1], "global_step": 200, "max_steps": 200, "epoch": 2.0, "train_batch_size": 8}


def checkpoints(folder: Path, *steps: int) -> Imported:
    for step in steps:
        (folder / "out" / f"checkpoint-{step}").mkdir(parents=True)
        state = STATE | {"global_step": step}
        (folder / "out" / f"checkpoint-{step}" / "trainer_state.json").write_text(json.dumps(state))
    return hf_trainer.read(folder, Layout({".": "A100"}, workload="bert"))


def test_the_last_checkpoint_is_the_training_and_has_no_time(tmp_path: Path) -> None:
    imported = checkpoints(tmp_path, 100, 200, 50)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert (row["file"], row["epochs_done"], row["val_loss"]) == ("out/checkpoint-200/trainer_state.json", 2, 0.5)
    assert pd.isna(row["train_seconds"])
    assert row["remarks"].startswith("without time: train_runtime is written after the last checkpoint")
    assert "not ended" not in row["remarks"]


def test_a_checkpoint_before_the_end_says_so(tmp_path: Path) -> None:
    (row,) = checkpoints(tmp_path, 150).runs.to_dict("records")
    assert "the checkpoint is of step 150 of 200: what came after it is not in it" in row["remarks"]


def test_a_state_that_was_saved_stands_for_its_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    whole = STATE | {"log_history": HISTORY}
    (tmp_path / "out" / "trainer_state.json").write_text(json.dumps(whole))
    assert checkpoints(tmp_path, 100, 200).runs["train_seconds"].to_list() == [120.5]


def test_events_beside_the_checkpoints_are_their_clock(tmp_path: Path) -> None:
    write(
        tmp_path / "out" / "runs" / "Nov25", event(0), event(60, 100, train__loss=0.5), event(115, 200, train__loss=0.4)
    )
    (row,) = checkpoints(tmp_path, 100, 200).runs.to_dict("records")
    assert (row["train_seconds"], row["seconds_from"]) == (115.0, "the clock of its rows")


def test_a_study_may_say_how_long_it_took(tmp_path: Path) -> None:
    checkpoints(tmp_path, 200)
    imported = hf_trainer.read(tmp_path, Layout({".": "A100"}, workload="bert", seconds={"out": 5400.0}))
    assert imported.runs["train_seconds"].to_list() == [5400.0]


@pytest.mark.parametrize(
    ("console", "seconds", "source"),
    [
        (AXOLOTL, 600.0, "stated: the time in tqdm's bar of debug.log"),
        (AXOLOTL + "{'train_runtime': 603.2, 'epoch': 2.0}\n", 603.2, "stated: train_runtime of debug.log"),
        (AXOLOTL.replace("/100 ", "/90 "), None, None),
    ],
)
def test_the_console_of_as_many_steps_in_its_folder_says_the_time(
    console: str, seconds: float | None, source: str | None, tmp_path: Path
) -> None:
    """Axolotl keeps checkpoints and debug.log in one folder; one of another number of steps is of another run."""
    place = tmp_path / "out" / "checkpoint-100"
    place.mkdir(parents=True)
    state = STATE | {"global_step": 100, "max_steps": 100}
    (place / "trainer_state.json").write_text(json.dumps(state))
    (tmp_path / "out" / "debug.log").write_text(console)
    (row,) = any_log.read(tmp_path, Layout({".": "box"})).runs.fillna({"train_seconds": -1.0}).to_dict("records")
    assert row["train_seconds"] == (seconds or -1.0)
    assert seconds is None or row["seconds_from"] == source
