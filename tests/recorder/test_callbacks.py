"""Callbacks of frameworks, in small trainings that print nothing of their progress.

`RECORDER_PYTHON` names a Python with the frameworks; without it those that the tests' own lacks are left out.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.recorder.test_command import Recorder

pytestmark = pytest.mark.slow

PYTHON = os.environ.get("RECORDER_PYTHON", sys.executable)

#: Each trains 60 steps, and prints the last cost that is logged as its last line.
PROGRAMS = {
    "keras": """
        import keras, numpy as np
        import epochs_per_dollar as epd
        model = keras.Sequential([keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        x, y = np.random.rand(240, 4), np.random.rand(240, 2)
        done = model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[epd.callbacks.keras()])
        print(done.history["cost_usd"][-1])
    """,
    "transformers": """
        import tempfile, torch
        from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
        import epochs_per_dollar as epd
        tokens = torch.randint(0, 50, (480, 8))
        rows = [{"input_ids": row, "labels": row} for row in tokens]
        asked = TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=60, logging_steps=20, report_to=[],
            use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="steps", log_level="error")
        model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=8, n_embd=8, n_layer=1, n_head=1))
        trainer = Trainer(model=model, args=asked, train_dataset=rows, callbacks=[epd.callbacks.transformers()])
        trainer.train()
        print([row["cost_usd"] for row in trainer.state.log_history if "loss" in row][-1])
    """,
    "lightning": """
        import tempfile, torch, lightning
        from lightning.pytorch.loggers import CSVLogger
        import epochs_per_dollar as epd
        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = torch.nn.Linear(4, 2)
            def training_step(self, batch, number):
                return self.net(batch[0]).pow(2).mean()
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(240, 4)), batch_size=8)
        place = tempfile.mkdtemp()
        trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=CSVLogger(place), log_every_n_steps=1,
            enable_checkpointing=False, enable_progress_bar=False, callbacks=[epd.callbacks.lightning()])
        trainer.fit(Model(), loader)
        print(float(trainer.logged_metrics["cost_usd"]))
    """,
    "xgboost": """
        import numpy as np, xgboost
        import epochs_per_dollar as epd
        data = xgboost.DMatrix(np.random.rand(200, 4), np.random.randint(0, 2, 200))
        made = xgboost.train({"nthread": 1}, data, 60, evals=[(data, "train")], verbose_eval=False,
            callbacks=[epd.callbacks.xgboost(rounds=60)])
        print(made.attr("cost_usd"))
    """,
}


@cache
def has(module: str) -> bool:
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


@pytest.mark.parametrize("framework", PROGRAMS)
def test_callback_says_how_far_it_is_and_what_it_costs(tmp_path: Path, framework: str) -> None:
    if not has(framework):
        pytest.skip(f"{framework} is not installed")
    recorder = Recorder(tmp_path)
    command = recorder.program(PROGRAMS[framework])
    done = recorder.run("--usd-per-hour", "3600", "--", PYTHON, *command[1:])
    assert done.returncode == 0, done.stderr
    assert "read watch() in its loop" in done.stderr
    record = recorder.record()
    assert record["progress"]["points"][-1][1] == 60
    assert record["whole"]["units"] == 60
    # 3,600 USD an hour are a dollar a second, from the start of the process on.
    assert record["progress"]["points"][0][0] <= float(done.stdout.splitlines()[-1]) <= record["seconds"]
    assert json.dumps(record).count("cost_usd") == 0


@pytest.mark.parametrize("framework", PROGRAMS)
def test_callback_alone_is_a_callback(tmp_path: Path, framework: str) -> None:
    """Without a recorder and without a price it trains, and logs no cost."""
    if not has(framework):
        pytest.skip(f"{framework} is not installed")
    recorder = Recorder(tmp_path)
    text = PROGRAMS[framework]
    last = text.rstrip().splitlines()[-1]
    command = recorder.program(text.replace(last, "        print('trained')"))
    done = subprocess.run(
        [PYTHON, *command[1:]], cwd=recorder.folder, env=recorder.environment, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "trained", done.stderr
