from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import nanogpt

#: Of the shape of a record's log: the program's text, nvidia-smi, and its lines.
MODDED = """import torch
print0(f"step:{step}/{args.num_iterations} val_loss:{val_loss:.4f} train_time:{training_time_ms:.0f}ms")
====================================================================================================
Running pytorch 2.6.0 compiled for CUDA 12.4
nvidia-smi:
+-----------------------------------------------------------------------------------------+
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   37C    P0            114W /  700W |    7713MiB /  81559MiB |      0%      Default |
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
+-----------------------------------------------------------------------------------------+
step:0/100 val_loss:10.8258 train_time:0ms step_avg:nanms
step:1/100 train_loss:10.5 train_time:120ms step_avg:120.00ms
step:50/100 val_loss:4.5001 train_time:9000ms step_avg:225.00ms
step:100/100 val_loss:3.2797 train_time:22500ms step_avg:225.00ms
peak memory consumption: 31626 MiB
"""

#: Every tenth step is printed; the first compiles, and each fiftieth evaluates.
PLAIN = """tokens per iteration will be: 491,520
step 0: train loss 10.9, val loss 10.8
iter 0: loss 10.9011, time 30000.00ms, mfu -100.00%
iter 10: loss 8.1, time 200.00ms, mfu 30.12%
iter 20: loss 7.2, time 200.00ms, mfu 30.12%
iter 30: loss 6.9, time 200.00ms, mfu 30.12%
step 40: train loss 6.5, val loss 6.6
iter 40: loss 6.5, time 5200.00ms, mfu 30.12%
"""


def read(folder: Path, text: str, name: str = "a.log") -> Imported:
    (folder / name).write_text(text)
    return nanogpt.read(folder, Layout({".": "box"}, workload="gpt"))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def test_train_time_of_the_last_line_is_the_time_and_the_cards_are_those_of_nvidia_smi(tmp_path: Path) -> None:
    expected = {
        "train_seconds": 22.5,
        "seconds_from": "stated: train_time",
        "cards": "2 x NVIDIA H100 80GB HBM3",
        "devices": 2,
        "loss": 10.5,
        "val_loss": 3.2797,
        "status": "done",
        "framework": "torch",
    }
    assert facts(read(tmp_path, MODDED)).items() >= expected.items()


def test_a_log_that_ends_early_says_so(tmp_path: Path) -> None:
    found = facts(read(tmp_path, MODDED.partition("step:100/100")[0]))
    assert (found["train_seconds"], found["remarks"]) == (9.0, "ends at step 50 of 100")


def test_steps_between_printed_ones_are_taken_at_their_pace(tmp_path: Path) -> None:
    """41 steps: 30 s, 3 x 0.2 s and 5.2 s were printed, 36 more at 0.2 s."""
    found = facts(read(tmp_path, PLAIN))
    assert found["train_seconds"] == pytest.approx(30 + 3 * 0.2 + 5.2 + 36 * 0.2)
    assert found["seconds_from"] == "the time of a step x steps"
    assert (found["loss"], found["val_loss"]) == (6.5, 6.6)


def test_a_loss_that_is_no_number_is_a_run_that_diverged(tmp_path: Path) -> None:
    assert facts(read(tmp_path, PLAIN.replace("6.9", "nan")))["status"] == "diverged"


def test_other_texts_are_refused_with_what_is_read(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, "epoch 1: loss 0.5\n").problems
    assert "no line of nanoGPT ('iter 10: loss 3.2, time 245.31ms')" in str(problem)


def test_llm_c_has_losses_and_no_time(tmp_path: Path) -> None:
    found = facts(
        read(tmp_path, "s:0 tel:10.9\ns:1 trl:10.5 lr:0.0001 norm:0.23\ns:2 trl:9.5 lr:0.0001 norm:0.22\ns:2 tel:9.6\n")
    )
    expected = {"loss": 9.5, "val_loss": 9.6, "steps_done": 2, "best": 9.6}
    assert found.items() >= expected.items()
    assert found["remarks"] == "without time: llm.c's main.log has no time: give seconds"
    assert nanogpt.looks(PurePosixPath("main.log"), "s:1 trl:10.5 lr:0.0001 norm:0.23\n")
