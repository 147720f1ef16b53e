"""Console lines of several programs: their shapes as the programs print them, the times worked out by hand."""
# ruff: noqa: E501, programs print longer lines

from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import console

#: Megatron-LM (training.py): a line each ten iterations of a second, and five seconds of evaluation.
MEGATRON = """using world size: 16, data-parallel size: 8, context-parallel size: 1
  global_batch_size ............................... 512
  micro_batch_size ................................ 4
 [2024-05-01 10:00:10] iteration       10/      40 | consumed samples:         5120 | elapsed time per iteration (ms): 1000.0 | throughput per GPU (TFLOP/s/GPU): 401.1 | learning rate: 1.000000E-05 | global batch size:   512 | lm loss: 1.080000E+01 | loss scale: 1.0 | grad norm: 12.300 | number of skipped iterations:   0 | number of nan iterations:   0 |
 [2024-05-01 10:00:20] iteration       20/      40 | consumed samples:        10240 | elapsed time per iteration (ms): 1000.0 | throughput per GPU (TFLOP/s/GPU): 401.1 | learning rate: 1.000000E-05 | global batch size:   512 | lm loss: 8.500000E+00 | loss scale: 1.0 | grad norm: 12.300 | number of skipped iterations:   0 | number of nan iterations:   0 |
 validation loss at iteration 20 | lm loss value: 8.700000E+00 | lm loss PPL: 6.002912E+03 |
 [2024-05-01 10:00:35] iteration       30/      40 | consumed samples:        15360 | elapsed time per iteration (ms): 1000.0 | throughput per GPU (TFLOP/s/GPU): 401.1 | learning rate: 1.000000E-05 | global batch size:   512 | lm loss: 7.200000E+00 | loss scale: 1.0 | grad norm: 12.300 | number of skipped iterations:   0 | number of nan iterations:   0 |
 [2024-05-01 10:00:45] iteration       40/      40 | consumed samples:        20480 | elapsed time per iteration (ms): 1000.0 | throughput per GPU (TFLOP/s/GPU): 401.1 | learning rate: 1.000000E-05 | global batch size:   512 | lm loss: 6.100000E+00 | loss scale: 1.0 | grad norm: 12.300 | number of skipped iterations:   0 | number of nan iterations:   0 |
"""

#: DeepSpeed (engine.py, timer.py): its steps have a clock, its rates do not count the first steps.
DEEPSPEED = """[2023-05-12 10:00:00,100] [INFO] [config.py:964:print]   train_batch_size ............. 32
[2023-05-12 10:00:00,100] [INFO] [config.py:964:print]   train_micro_batch_size_per_gpu  4
[2023-05-12 10:00:00,100] [INFO] [config.py:964:print]   world_size ................... 8
[2023-05-12 10:01:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]
[2023-05-12 10:01:00,001] [INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=16.0, CurrSamplesPerSec=16.1, MemAllocated=4.34GB, MaxMemAllocated=10.2GB
[2023-05-12 10:01:20,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]
[2023-05-12 10:01:20,001] [INFO] [timer.py:199:stop] epoch=0/micro_step=20/global_step=20, RunningAvgSamplesPerSec=16.0, CurrSamplesPerSec=16.1, MemAllocated=4.34GB, MaxMemAllocated=10.2GB
"""

#: Its pipeline engine, without a clock: the mean of the last steps.
PIPELINE = """steps: 10 loss: 5.8123 iter time (s): 0.500 samples/sec: 64.000
steps: 20 loss: 4.1000 iter time (s): 0.300 samples/sec: 106.667
"""

#: torchtune's DiskLogger, without any time.
TORCHTUNE = """Step 1 | loss:1.6012 lr:2e-05 tokens_per_second_per_gpu:812.4 peak_memory_active:14.2 peak_memory_alloc:14.2
Step 2 | loss:1.4023 lr:2e-05 tokens_per_second_per_gpu:835.1 peak_memory_active:14.2 peak_memory_alloc:14.2
"""

#: torchtune's console: two epochs of a bar that rewrites its line.
BAR = (
    "1|24|Loss: 1.2: 96%|█████████▌| 24/25 [01:58<00:04,  4.8s/it]\r1|25|Loss: 1.1: 100%|██████████| 25/25 [02:01<00:00,  4.8s/it]\n"
    "2|49|Loss: 0.9: 96%|█████████▌| 24/25 [01:50<00:04,  4.8s/it]\r2|50|Loss: 0.8: 100%|██████████| 25/25 [01:59<00:00,  4.8s/it]\n"
)

#: Transformers 5 quotes its numbers; Transformers 4 did not.
TRAINER = """{'loss': '6.134', 'grad_norm': '0.8353', 'learning_rate': '4.803e-05', 'epoch': '0.5'}
{'eval_loss': '5.9', 'eval_runtime': '1.5', 'eval_samples_per_second': '100.1', 'epoch': '1'}
{'loss': '5.134', 'grad_norm': '0.8353', 'learning_rate': '1.803e-05', 'epoch': '2'}
{'train_runtime': '105.2', 'train_samples_per_second': '19.1', 'train_steps_per_second': '2.4', 'train_loss': '5.6', 'epoch': '2'}
"""

#: Keras in a file: the last line of an epoch has its validation; `evaluate` after it is no epoch.
KERAS = """Epoch 1/2
938/938 - 31s - 33ms/step - accuracy: 0.9010 - loss: 0.3400 - val_accuracy: 0.9500 - val_loss: 0.1700
Epoch 2/2
938/938 - 28s - 30ms/step - accuracy: 0.9610 - loss: 0.1400 - val_accuracy: 0.9600 - val_loss: 0.1300
313/313 - 1s - 2ms/step - accuracy: 0.9600 - loss: 0.1300
"""

#: A loop of one's own, with the clock of Python's logging.
OWN = """2026-01-05 23:59:00,000 INFO epoch 1/2 step 100/200 loss 0.9
2026-01-06 00:00:00,500 INFO epoch 1/2 step 200/200 loss 0.7
2026-01-06 00:00:10,500 INFO epoch 1/2 validation loss 0.8 accuracy 0.7
"""


def read(folder: Path, text: str, name: str = "a.log") -> Imported:
    (folder / name).write_text(text)
    return console.read(folder, Layout({".": "box"}, {".": "torch"}, workload="gpt"))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


@pytest.mark.parametrize("text", [MEGATRON, DEEPSPEED, PIPELINE, TORCHTUNE, BAR, TRAINER, KERAS, OWN])
def test_they_are_known_by_their_lines(text: str) -> None:
    assert console.looks(PurePosixPath("slurm-1.out"), text)


@pytest.mark.parametrize(
    "text",
    [
        "Collecting torch\n  Downloading torch-2.1.whl (670 MB)\n100%|███| 670/670 [00:10<00:00, 67MB/s]\n",
        "Finished job 3.\n5 of 7 steps (71%) done\n6 of 7 steps (86%) done\n",
        "# How to train\nA step of 3 has a loss of 0.5.\n",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert not console.looks(PurePosixPath("a.log"), text)


def test_megatron_is_timed_by_its_clock_with_what_lies_between(tmp_path: Path) -> None:
    """35 s from the first line to the last, its five seconds of evaluation with them, and ten iterations before."""
    expected = {
        "train_seconds": 45.0,
        "seconds_from": "the clock of its lines, from the first to the last",
        "steps_done": 40,
        "loss": 6.1,
        "val_loss": 8.7,
        "best": 8.7,
        "best_of": "validation loss",
        "devices": 16,
        "batch_size": 4,
    }
    assert facts(read(tmp_path, MEGATRON)).items() >= expected.items()


def test_megatron_that_says_when_it_began_is_timed_from_there(tmp_path: Path) -> None:
    text = MEGATRON.replace(" [2024", "[before the start of training step] datetime: 2024-05-01 09:59:40 \n [2024", 1)
    assert facts(read(tmp_path, text))["train_seconds"] == 65.0


def test_megatron_without_a_clock_is_timed_by_the_mean_of_its_iterations(tmp_path: Path) -> None:
    plain = "\n".join(line.partition("] ")[2] if line.startswith(" [2024") else line for line in MEGATRON.split("\n"))
    found = facts(read(tmp_path, plain))
    assert (found["train_seconds"], found["seconds_from"]) == (40.0, "the time of a step x steps")


def test_deepspeed_is_timed_by_its_clock(tmp_path: Path) -> None:
    """From 10:00:00.1, when its settings were printed, to 10:01:20.001: its start of a minute counts."""
    found = facts(read(tmp_path, DEEPSPEED))
    assert found["train_seconds"] == pytest.approx(79.901)
    assert (found["steps_done"], found["devices"], found["batch_size"]) == (20, 8, 4)
    assert "epochs_done" not in found, "it says epoch=0 of every step"


def test_deepspeed_without_a_clock_is_timed_by_its_rate(tmp_path: Path) -> None:
    plain = "\n".join(line.partition("] ")[2] if line.startswith("[2023") else line for line in DEEPSPEED.split("\n"))
    found = facts(read(tmp_path, plain))
    assert (found["train_seconds"], found["seconds_from"]) == (20 * 32 / 16, "samples / samples per second")


def test_deepspeeds_pipeline_is_timed_by_the_mean_of_its_steps(tmp_path: Path) -> None:
    found = facts(read(tmp_path, PIPELINE))
    assert (found["train_seconds"], found["loss"]) == (pytest.approx(10 * 0.5 + 10 * 0.3), 4.1)


def test_a_step_that_says_its_time_is_timed_by_it(tmp_path: Path) -> None:
    text = "".join(
        f"step {n:4d} | loss: {9 - n:.6f} | lr 6e-04 | dt: 250.00ms | tok/sec: 8192.0\n" for n in range(1, 5)
    )
    found = facts(read(tmp_path, text))
    assert (found["train_seconds"], found["loss"]) == (1.0, 5.0)


def test_torchtunes_file_has_no_time_and_its_bar_has(tmp_path: Path) -> None:
    silent = facts(read(tmp_path, TORCHTUNE))
    assert (silent["steps_done"], silent["loss"], silent["framework"]) == (2, 1.4023, "torch")
    assert "train_seconds" not in silent
    assert str(silent["remarks"]).startswith(
        "without time: its lines have no clock, no bar, no time of a step or an epoch and no rate"
    )
    found = facts(read(tmp_path, BAR))
    assert (found["train_seconds"], found["loss"]) == (121.0 + 119.0, 0.8)


def test_a_study_may_give_the_seconds(tmp_path: Path) -> None:
    (tmp_path / "log_1.txt").write_text(TORCHTUNE)
    imported = console.read(tmp_path, Layout({".": "box"}, workload="llama", seconds={"log_1": 90.0}))
    assert facts(imported)["train_seconds"] == 90.0


@pytest.mark.parametrize(
    "text", [TRAINER, TRAINER.replace("'", '"').replace('": "', '": ').replace('",', ",").replace('"}', "}")]
)
def test_hugging_faces_lines_state_their_time(tmp_path: Path, text: str) -> None:
    expected = {"train_seconds": 105.2, "seconds_from": "stated: train_runtime", "epochs_done": 2, "val_loss": 5.9}
    assert facts(read(tmp_path, text)).items() >= expected.items()


def test_kerass_lines_state_the_seconds_of_each_epoch(tmp_path: Path) -> None:
    known = {"train_seconds": 59.0, "epochs_done": 2, "val_acc": 0.96, "best": 0.96, "best_of": "validation accuracy"}
    assert facts(read(tmp_path, KERAS)).items() >= known.items()


def test_a_loop_of_ones_own_is_timed_by_its_clock(tmp_path: Path) -> None:
    """70.5 s of clock over midnight, and the first hundred steps at 60.5 s for a hundred."""
    found = facts(read(tmp_path, OWN))
    assert found["train_seconds"] == pytest.approx(70.5 + 60.5)
    assert (found["loss"], found["val_loss"], found["val_acc"]) == (0.7, 0.8, 0.7)


def test_a_log_without_steps_is_refused_with_what_is_read(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, "hello\n").problems
    assert "no line names a step or an epoch: 'step 10', 'Epoch 3/20'" in str(problem)


def test_a_console_beside_a_fuller_log_of_the_training_is_no_second_run(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_text("{}")
    imported = read(tmp_path, TRAINER)
    assert imported.runs.empty
    assert imported.problems == []


def test_trainings_of_one_console_are_added_up_and_it_says_so(tmp_path: Path) -> None:
    found = facts(read(tmp_path, TRAINER + TRAINER))
    assert (found["train_seconds"], found["remarks"]) == (210.4, "holds 2 trainings: their times are added up")
