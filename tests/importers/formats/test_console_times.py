"""Consoles of other programs whose lines state times: their shapes, and the seconds worked out by hand."""
# ruff: noqa: E501, programs print longer lines

from pathlib import Path

import pytest

from scripts.importers import Layout
from scripts.importers.formats import any as any_log
from tests.importers.formats.test_console import facts, read


def imagenet(begin: int) -> str:
    """PyTorch's ImageNet example: two epochs of 25 steps, 0.3 s each in the mean, and evaluations of 5 steps of 0.1 s."""
    return "".join(
        "".join(
            f"Epoch: [{epoch}][{step:2d}/25]\tTime  0.250 ( 0.300)\tData  0.010 ( 0.012)\tLoss 6.9e+00 (6.9e+00)\tAcc@1   1.00 (  0.90)\n"
            for step in range(begin, 25, 10)
        )
        + f"Test: [{begin}/5]\tTime  0.090 ( 0.200)\tLoss 5.0e+00 (5.1e+00)\n"
        + f"Test: [{4 + begin}/5]\tTime  0.090 ( 0.100)\tLoss 5.0e+00 (5.1e+00)\n *   Acc@1 2.000 Acc@5 7.000\n"
        for epoch in range(2)
    )


#: timm: the means stand after a rate; the last line of an epoch is its step 50 of 51.
TIMM = "".join(
    f"Train: {epoch} [{step:4d}/51 ( {step * 2:2d}%)]  Loss: 6.9 (6.95)  Time: 0.300s,  853.33/s  (0.320s,  800.00/s)  LR: 1.0e-06  Data: 0.010 (0.012)\n"
    for epoch in range(2)
    for step in (0, 25, 50)
)

#: llm.c and MaxText print the time of each step.
LLM_C = "".join(
    f"step {step:4d}/100 | loss {9 - step / 50:.6f} (+nanz)| norm 15.0 (+nanz)| lr 1e-05 | 455.00 ms | 53.4% bf16 MFU | 1152000 tok/s\n"
    for step in range(1, 101)
)
MAXTEXT = "".join(
    f"completed step: {step}, seconds: 0.500, TFLOP/s/device: 236.448, Tokens/s/device: 9423.869, total_weights: 30708, loss: 9.5\n"
    for step in range(20)
)


def mmengine(clock: str) -> str:
    """mmengine: two epochs of a hundred steps of half a second, a line for each fifty; ten steps of 0.2 s between."""
    lines = []
    for epoch, half, at in ((1, 50, "00:25"), (1, 100, "00:50"), (2, 50, "01:17"), (2, 100, "01:42")):
        lines.append(
            f"{clock.format(at)}Epoch(train)  [{epoch}][{half:3d}/100]  lr: 1.0e-02  eta: 0:01:00  time: 0.5000  data_time: 0.0100  memory: 5000  loss: 2.1"
        )
        if half == 100:
            second = f"{at[:3]}{int(at[3:]) + 2}"
            lines.append(
                f"{clock.format(second)}Epoch(val) [{epoch}][10/10]    accuracy/top1: 80.0  data_time: 0.1  time: 0.2000"
            )
    return "\n".join(lines) + "\n"


#: torchtitan: a line of its start, then one each ten seconds, and one of its end.
TITAN = "[rank0]:2026-11-25 12:00:00,000 - root - INFO - Starting job: Llama 3 8B training\n" + "".join(
    f"[rank0]:2026-11-25 12:{(100 + 10 * line) // 60:02d}:{(100 + 10 * line) % 60:02d},000 - root - INFO - \x1b[31mstep: {line * 10}  \x1b[32mloss:  7.1234  \x1b[34mtps: 4,000\x1b[39m\n"
    for line in range(1, 60)
)
TITAN += "[rank0]:2026-11-25 12:15:20,000 - root - INFO - Training completed\n"

DETECTRON = """[12/31 23:59:30 d2.engine.train_loop]: Starting training from iteration 0
[12/31 23:59:50 d2.utils.events]:  eta: 0:00:20  iter: 19  total_loss: 5.922  time: 0.8241  data_time: 0.8461  lr: 3.9962e-05  max_mem: 1966M
[01/01 00:00:10 d2.utils.events]:  eta: 0:00:00  iter: 39  total_loss: 2.457  time: 0.8217  data_time: 0.7038  lr: 7.9922e-05  max_mem: 1966M
"""

#: Swin: two counts in brackets, the clock of another form, and the whole at the end.
SWIN = "".join(
    f"Train: [{epoch}/2][{step}/40]\teta 0:00:20 lr 0.000001\ttime 0.6000 (0.5000)\tloss 6.9 (6.9)\tmem 9000MB\n"
    for epoch in range(2)
    for step in range(0, 40, 10)
)

#: DeiT: the seconds of epochs and of evaluations, in hours; without the line of its end, as of a run that was killed.
DEIT = "".join(
    f"Epoch: [{epoch}]  [{step:2d}/50]  eta: 0:00:10  lr: 0.000002  loss: 6.9 (6.95)  time: 0.4800  data: 0.01  max mem: 9000\n"
    for epoch in range(2)
    for step in (0, 20, 40, 49)
)
for _epoch in range(2):
    DEIT += f"Epoch: [{_epoch}] Total time: 0:00:24 (0.4800 s / it)\nTest: Total time: 0:00:05 (0.5 s / it)\n"

#: fairseq: seconds since the beginning, and the whole at its end.
FAIRSEQ = "".join(
    f"| epoch {epoch:03d} | loss 8.4 | ppl 340.9 | wps 10476 | ups 6 | num_updates {epoch * 100} | lr 0.1 | wall {epoch * 1010} | train_wall {epoch * 1000}\n"
    f"| epoch {epoch:03d} | valid on 'valid' subset | loss 7.6 | ppl 193.9 | num_updates {epoch * 100}\n"
    for epoch in range(1, 4)
)

#: stable-baselines3: a table each 2,048 steps.
SB3 = "".join(
    f"| time/ | |\n|    fps | 56 |\n|    time_elapsed   | {n * 36} |\n|    total_timesteps   | {n * 2048} |\n|    loss   | 0.0353 |\n"
    for n in range(1, 6)
)

#: open_clip counts samples, and its rate is of all cards.
OPEN_CLIP = "".join(
    f"2026-03-01,10:{n // 10:02d}:{n % 10 * 6:02d} | INFO | Train Epoch: 0 [{n * 16384:7d}/163840 ({n}0%)] Data (t): 0.029 Batch (t): 6.000, 2730.667/s, 341.333/s/gpu LR: 0.000001 Loss: 9.7 (9.7)\n"
    for n in range(1, 11)
)

#: Axolotl: a clock while it loads, a bar and dictionaries while it trains.
AXOLOTL = "[2026-03-01 10:00:00,123] [INFO] [axolotl.utils.data:200] [PID:123] [RANK:0] Loading prepared dataset\n"
AXOLOTL += "[2026-03-01 10:00:40,123] [INFO] [axolotl.train.train:178] [PID:123] [RANK:0] Starting trainer...\n"
AXOLOTL += "".join(
    f"\r {n * 10:3d}%|{'█' * n}{' ' * (10 - n)}| {n * 10}/100 [{n:02d}:00<{10 - n:02d}:00,  6.00s/it]\n"
    f"\r          \r{{'loss': {2 - n / 10:.4f}, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': {n / 5:.2f}}}\n"
    for n in range(1, 11)
)

STEP, EPOCH = "the time of a step x steps", "stated: the seconds of each epoch"
CLOCK = "the clock of its lines, from the first to the last"


@pytest.mark.parametrize(
    ("text", "seconds", "source", "steps"),
    [
        (imagenet(0), 2 * (25 * 0.3 + 5 * 0.1), STEP, 50),
        (imagenet(1), 2 * (25 * 0.3 + 5 * 0.1), STEP, 50),
        (TIMM, 2 * 51 * 0.32, STEP, 102),
        (LLM_C, 45.5, STEP, 100),
        (MAXTEXT, 10.0, STEP, 20),
        (mmengine(""), 2 * (100 * 0.5 + 10 * 0.2), STEP, 200),
        (mmengine("11/25 12:{} - mmengine - INFO - "), 79 + 25, CLOCK, 200),
        (mmengine("2026/11/25 12:{} - mmengine - INFO - "), 79 + 25, CLOCK, 200),
        (TITAN, 920.0, CLOCK, 590),
        (DETECTRON, 40.0, CLOCK, 39),
        (SWIN, 2 * 40 * 0.5, STEP, 80),
        (SWIN + "Training time 1 day, 0:00:45\n", 86_445.0, "stated: training time", 80),
        ("".join(f"Epoch {n}/20 - loss: 0.5 - val_loss: 0.6 - 61.0s\n" for n in range(1, 21)), 1220.0, EPOCH, None),
        ("".join(f"Epoch {n}/20 - 61s 20ms/step - loss: 0.5\n" for n in range(1, 21)), 1220.0, EPOCH, None),
        ("".join(f"EPOCH {n} loss 0.5 training takes 0:10:30\n" for n in range(3)), 1890.0, EPOCH, None),
        (DEIT, 2 * (24 + 5), EPOCH, 100),
        (DEIT + "Training time 0:01:10\n", 70.0, "stated: training time", 100),
        (FAIRSEQ, 3030.0, "stated: wall", 300),
        (FAIRSEQ + "| done training in 3041.5 seconds\n", 3041.5, "stated: done training in", 300),
        (SB3, 180.0, "stated: time_elapsed", 10_240),
        (OPEN_CLIP, 60.0, CLOCK, None),
        (OPEN_CLIP.replace("2026-03-01,10:", "-"), 60.0, "samples / samples per second", None),
        (AXOLOTL, 600.0, "stated: the time in tqdm's bar", 100),
        (AXOLOTL + "{'train_runtime': 603.2, 'epoch': 2.0}\n", 603.2, "stated: train_runtime", 100),
        (
            "".join(
                f"Epoch 1 | iter {n:2d} step {n // 2} | loss train: 9.9, val: n/a | iter time: 100.00 ms\n"
                for n in range(1, 33)
            ),
            3.2,
            STEP,
            32,
        ),
        (
            "".join(
                f"Training epoch 0, iteration {n}/249 | lr: 1.9e-06 | global_batch_size: 8 | global_step: {n} | reduced_train_loss: 1.3 | train_step_timing in s: 2.500\n"
                for n in range(250)
            ),
            625.0,
            STEP,
            250,
        ),
        ("".join(f"Epoch {n}/3\nTrain Loss: 0.5\nEpoch time: 12.5 s\n" for n in (1, 2, 3)), 37.5, EPOCH, None),
        ("".join(f"[Epoch {n}] loss=0.5 ({n * 30}s elapsed)\n" for n in (1, 2, 3)), 90.0, EPOCH, None),
        ("".join(f"| epoch   {n} | loss  -1.08 | time 0:02:3{n}\n" for n in range(1, 6)), 765.0, EPOCH, None),
        (
            "".join(f"Epoch {n} loss 0.5 took 50.5s\nEpoch {n} val loss 0.6 took 9.5s\n" for n in range(3)),
            180.0,
            EPOCH,
            None,
        ),
        (
            "".join(f"Epoch {n} | loss 0.5 | time {n * 60}.0s\n" for n in range(1, 6)),
            300.0,
            EPOCH,
            None,
        ),
        ("".join(f"step {n * 10} loss 0.5 elapsed 0:0{n}:00\n" for n in range(1, 6)), 300.0, "stated: elapsed", 50),
        ("".join(f"step {n * 10} loss 0.5 2.5 it/s\n" for n in range(1, 6)), 20.0, STEP, 50),
        ("".join(f"10:0{n}:00 Epoch {n + 1}/5\n10:0{n}:59 loss 0.5\n" for n in range(5)), 299.0, CLOCK, None),
        ("".join(f"[03/01/26 10:0{n}:00] INFO     step {n * 10}/50 loss=1.0\n" for n in range(1, 6)), 300.0, CLOCK, 50),
        (
            "".join(
                f'[03/01 10:00:{n * 5:02d}][INFO] json_stats: {{"dt": 0.5, "epoch": "1/2", "iter": "{n * 10}/100", "loss": 3.2}}\n'
                for n in range(1, 11)
            ),
            50.0,
            CLOCK,
            100,
        ),
        ("".join(f"step {n * 10} loss 0.5 ms/step: 250\n" for n in range(1, 6)), 12.5, STEP, 50),
        ("".join(f"step {n * 10} loss 0.5 steps_per_sec=2.5\n" for n in range(1, 6)), 20.0, STEP, 50),
        ("".join(f"step {n * 10} loss 0.5 time: 23:5{n + 4}:00\n" for n in range(1, 6)), 300.0, CLOCK, 50),
        ("".join(f"epoch {n} loss 0.5 time {1.7e9 + n * 60:.1f}\n" for n in range(1, 6)), 300.0, CLOCK, None),
        (
            "step 10 loss 0.5 time: 23:58:00\nstep 20 loss 0.5 time: 23:59:00\nstep 30 loss 0.5 time: 00:00:00\n"
            + "".join(f"step {n * 10 + 30} loss 0.5 time: 00:{n:02d}:00\n" for n in range(1, 20)),
            22 * 60.0,
            CLOCK,
            220,
        ),
        (
            "global batch size 64\n" + "".join(f"step {n} loss 0.5 128.0 images/s\n" for n in range(1, 6)),
            2.5,
            "samples / samples per second",
            5,
        ),
        (
            "".join(f"Train Epoch: 1 [{n}/60000 ({n // 600}%)] Loss: 0.5 600/s\n" for n in range(6000, 60001, 6000)),
            100.0,
            "samples / samples per second",
            None,
        ),
    ],
)
def test_times_that_lines_state(text: str, seconds: float, source: str, steps: int | None, tmp_path: Path) -> None:
    found = facts(read(tmp_path, text))
    assert (found["train_seconds"], found["seconds_from"]) == (pytest.approx(seconds), source)
    assert found.get("steps_done") == steps


def test_a_time_that_does_not_say_of_what_it_is_read_as_that_of_a_step_and_it_says_so(tmp_path: Path) -> None:
    text = "".join(f"step {n * 10} | loss 0.5 | time 0.25\n" for n in range(1, 5))
    found = facts(read(tmp_path, text))
    assert (found["train_seconds"], found["remarks"]) == (10.0, "'time' is read as the time of one step")


def test_evaluations_and_a_long_start_are_said(tmp_path: Path) -> None:
    assert facts(read(tmp_path, imagenet(0)))["remarks"] == "evaluations: 1.00 s, counted"
    assert str(facts(read(tmp_path, TITAN))["remarks"]).startswith("the start, 100 s: counted")


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        (imagenet(0), "torch"),
        (mmengine("11/25 12:{} - mmengine - INFO - "), "torch"),
        (DETECTRON, "torch"),
        (MAXTEXT, "jax"),
    ],
)
def test_programs_of_one_framework_are_known_by_their_words(text: str, framework: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(text)
    (row,) = any_log.read(tmp_path, Layout({".": "box"})).runs.to_dict("records")
    assert row["framework"] == framework


def test_a_clock_of_the_start_alone_is_no_time_of_the_training(tmp_path: Path) -> None:
    text = "2026-03-01 10:00:00 loading\n2026-03-01 10:00:40 starting\nstep 1 loss 0.5\nstep 2 loss 0.4\n"
    assert "train_seconds" not in facts(read(tmp_path, text))
    assert facts(read(tmp_path, text + "2026-03-01 10:05:00 done\n"))["train_seconds"] == 300.0


def test_numbers_in_names_of_metrics_are_no_accuracies(tmp_path: Path) -> None:
    found = facts(read(tmp_path, DEIT.replace("max mem", "acc1: 90.0 (90.0) Acc@5 99.0 max mem")))
    assert "acc" not in found
    assert "val_acc" not in found


def test_a_clock_that_contradicts_what_is_stated_is_said(tmp_path: Path) -> None:
    text = TITAN + "{'train_runtime': '60.0', 'epoch': '1'}\n"
    assert "by its clock it ran 15.3 min" in str(facts(read(tmp_path, text))["remarks"])


def test_times_that_are_none_of_a_step_are_passed_over(tmp_path: Path) -> None:
    text = "".join(f"step {n} loss 0.5 data_time: 0.25 load time: 0.5 eta: 0:01:00 30ms ago\n" for n in range(1, 5))
    assert str(facts(read(tmp_path, text))["remarks"]).startswith("without time: its lines have no clock")
