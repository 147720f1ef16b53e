"""Lines as programs of the field print them, copied from their output or from their documentation."""
# ruff: noqa: E501, programs print longer lines

import re

import pytest
from epochs_per_dollar import lines
from epochs_per_dollar.tables import Table

#: What was printed, and what it says: (done, total, unit, epoch).
PRINTED = {
    "tqdm": ("  3%|▎         | 30/1000 [00:03<01:37, 10.00it/s]", (30, 1000, "step", None)),
    "tqdm of an epoch": (
        "Epoch 3:  12%|█▏        | 120/1000 [00:12<01:28, 10.0it/s, loss=2.3, v_num=0]",
        (120, 1000, "step", 3),
    ),
    "tqdm, slow": ("Training: 5%|▌   | 5/100 [01:00<19:00, 12.0s/it]", (5, 100, "step", None)),
    "tqdm without a total": ("120it [00:12, 10.0it/s]", (120, None, "step", None)),
    "tqdm of scaled samples": ("train: 50%|█████     | 1.50k/3.00k [00:10<00:10, 150samples/s]", (1500, 3000, "sample", None)),
    "Lightning by rich": (
        "Epoch 4/11 \x1b[35m━━━━━━━━━━━━━\x1b[0m\x1b[90m╺\x1b[0m\x1b[90m━━━\x1b[0m 540/625 \x1b[2m0:00:03 • 0:00:01\x1b[0m 175.72it/s loss: 1.557",
        (540, 625, "step", 4),
    ),
    "Keras 3": (
        "\x1b[1m 42/338\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━━━━━━━━━━━━━━━━━\x1b[0m \x1b[1m1:48\x1b[0m 366ms/step - accuracy: 0.1034 - loss: 2.4108",
        (42, 338, "step", None),
    ),
    "DeepSpeed": (
        "[2023-05-12 10:01:00,001] [INFO] [timer.py:199:stop] epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=16.0, CurrSamplesPerSec=16.1",
        (10, None, "step", None),
    ),
    "Transformers 5": ("{'loss': '6.134', 'grad_norm': '0.8353', 'epoch': '0.32'}", (0.32, None, "epoch", 0.32)),
    "LLaMA-Factory": ('{"current_steps": 5, "total_steps": 100, "loss": 1.2, "epoch": 0.05}', (5, 100, "step", 0.05)),
    "Keras 2": (" 59/1875 [..............................] - ETA: 3s - loss: 1.1337", (59, 1875, "step", None)),
    "Keras, a line an epoch": ("1875/1875 - 5s - 3ms/step - accuracy: 0.91 - loss: 0.3", (1875, 1875, "step", None)),
    "PyTorch's MNIST": ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.134", (640, 60000, "unit", 1)),
    "PyTorch's ImageNet": (
        "Epoch: [0][  10/5005]\tTime  0.523 ( 1.20)\tData  0.001\tLoss 6.98e+00",
        (10, 5005, "unit", 0),
    ),
    "timm": ("Train: 3 [  50/1251 (  4%)]  Loss: 6.9 (6.95)  Time: 0.300s,  853.33/s", (50, 1251, "unit", 3)),
    "Swin": ("[2021-04-09 10:00:00 swin] (main.py 200): INFO Train: [2/300][120/1251]\teta 5:00:00 time 2.5 (2.5)", (120, 1251, "unit", 2)),
    "mmengine": ("11/25 12:00:00 - mmengine - INFO - Epoch(train)  [1][ 50/7330]  lr: 1.9e-03  eta: 0:10:00", (50, 7330, "unit", 1)),
    "Detectron2": ("[12/31 23:59:50 d2.utils.events]:  eta: 0:00:20  iter: 19  total_loss: 5.9", (19, None, "step", None)),
    "rich's logging": ("[03/01/26 10:01:00] INFO     step 10/50 loss=1.0", (10, 50, "step", None)),
    "SlowFast": ('[03/01 10:00:05][INFO] json_stats: {"dt": 0.5, "epoch": "1/2", "iter": "10/100"}', (10, 100, "step", None)),
    "nanoGPT": ("iter 140: loss 4.0165, time 1357.68ms, mfu 1.00%", (140, None, "step", None)),
    "nanoGPT, evaluated": ("step 250: train loss 2.4633, val loss 2.4700", (250, None, "step", None)),
    "modded-nanoGPT": ("step:6200/6200 val_loss:3.2791 train_time:179451ms step_avg:28.9ms", (6200, 6200, "step", None)),
    "Megatron": (
        " iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 310.2 |",
        (100, 500000, "step", None),
    ),
    "XGBoost": ("[12]\ttrain-logloss:0.31", (12, None, "round", None)),
    "LightGBM": ("[12]\tvalid_0's l2: 0.203", (12, None, "round", None)),
    "CatBoost": ("12:\tlearn: 0.5204\ttotal: 1.2s\tremaining: 5s", (12, None, "round", None)),
    "scikit-learn": ("Iteration 41, loss = 0.29037878", (41, None, "step", None)),
    "JSON": ('{"step": 120, "loss": 2.1, "max_steps": 5000}', (120, 5000, "step", None)),
    "Transformers' dictionary": ("{'loss': 6.134, 'grad_norm': 0.83, 'learning_rate': 4.8e-05, 'epoch': 0.32}", (0.32, None, "epoch", 0.32)),
    "Flax's example": ("I1124 12:00:00.1 140 train.py:149] epoch:  7, train_loss: 0.05, train_accuracy: 98.7", (7, None, "epoch", 7)),
    "an own sentence": ("pass 35/300 score 0.989", (35, 300, "unit", None)),
    "a time, a level and short names": ("[2026-11-25 01:00:00] INFO train: epoch=3 it=120/900 loss=0.3 lr=1e-4 eta=0:12:00", (120, 900, "step", 3)),
    "fairseq": ("2026-11-25 01:05:33 | INFO | train_inner | epoch 001:    100 / 1101 loss=2.3, wps=1000, num_updates=100, lr=0.1", (100, None, "step", 1)),
    "fairseq, its count": ("2026-11-25 01:05:33 | INFO | train_inner | epoch 001:    100 / 1101 loss=2.3, wps=1000", (100, 1101, "unit", 1)),
    "JSON, nested": ('{"ts": 1.5, "metrics": {"loss": 2.1}, "progress": {"global_step": 10, "max_steps": 5000}}', (10, 5000, "step", None)),
    "YOLO": ("      1/20      2.1G      1.2      0.9:   6%|▌         | 12/200 [00:01<00:18, 10.1it/s]", (12, 200, "step", 1)),
    "short thousands": ("train 0.1k/50k loss 2.3", (100, 50_000, "unit", None)),
    "thousands in brackets": ("[1.2k/50K] loss 2.3", (1200, 50_000, "unit", None)),
    "stable-baselines3": ("|    total_timesteps      | 4096        |", (4096, None, "step", None)),
    "Ray Tune, a trial": (
        "Trial train_mnist_55a9b_00000 finished iteration 3 at 2023-02-08 10:00:00. Total running time: 10s.",
        (3, None, "iteration", None),
    ),
    "Ray Tune, trials": ("Number of trials: 10/10 (3 PENDING, 1 RUNNING, 6 TERMINATED)", (6, 10, "trial", None)),
    "Ray Tune 2, trials": ("Trial status: 7 TERMINATED | 2 RUNNING | 1 PENDING", (7, 10, "trial", None)),
    "what is left": ("50 more steps to go", (50, None, "step", None)),
    "what is left, after": ("steps left: 4,990", (4990, None, "step", None)),
    "what is left, bare": ("480 to go, loss 2.1", (480, None, "step", None)),
    "rich, its own columns": ("Training... \x1b[35m━━━━━━━━━━━━━\x1b[0m\x1b[90m╺━━━━━━━\x1b[0m  34% 0:00:12", (34, 100, "percent", None)),
    "click": ("Training  [############------------------------]   34%  00:00:10", (34, 100, "percent", None)),
    "a bar of an epoch in percent": ("Epoch 3 [=======>      ] 34%", (34, 100, "percent", 3)),
    "percent in words": ("[INFO] Progress: 34.5% loss=0.3", (34.5, 100, "percent", None)),
    "alive-progress": ("Training |█████████▌      | ▃▅▇ 170/500 [34%] in 5s (34.1/s, eta: 9s)", (170, 500, "unit", None)),
    "progressbar2": (" 34% (170 of 500) |######      | Elapsed Time: 0:00:03 ETA:   0:00:06", (170, 500, "unit", None)),
    "a bar of epochs": ("Epochs:  20%|██        | 2/10 [00:10<00:40, 5.0s/it]", (2, 10, "step", None)),
    "OpenAI's baselines": ("| misc/total_timesteps    | 6144        |", (6144, None, "step", None)),
    "baselines' DQN": ("| steps                   | 19899   |", (19899, None, "step", None)),
    "detectron2": (
        "\x1b[32m[11/25 14:00:00 d2.utils.events]: \x1b[0m eta: 0:10:00  iter: 19  total_loss: 1.2  time: 0.0201  lr: 0.00025  max_mem: 2143M",
        (19, None, "step", None),
    ),
    "MMEngine": (
        "11/25 14:00:00 - mmengine - INFO - Epoch(train)   [3][ 50/200]  base_lr: 1.0000e-03  eta: 0:01:00  time: 0.0201  loss: 2.1",
        (50, 200, "unit", 3),
    ),
    "Composer": ("[batch=20/100]:", (20, 100, "step", None)),
    "fairseq, older": ("| epoch 001 |    100 / 500 loss=9.8, ppl=300.1, wps=4021, num_updates=100, lr=0.0001", (100, None, "step", 1)),
    "tqdm of an own form": ("train:  34%|███▍      | 170/500", (170, 500, "step", None)),
    "ProgressMeter.jl": ("Progress:  34%|██████████████▎           |  ETA: 0:00:12", (34, 100, "percent", None)),
    "torchtune": ("1|120|Loss: 1.2345:  12%|█▏        | 120/1000 [00:12<01:28, 10.0it/s]", (120, 1000, "step", None)),
    "NeMo": (
        "Epoch 0: :  12%|█▏        | 12/100 [00:12<01:28, v_num=1-2, reduced_train_loss=2.3, global_step=11.0]",
        (12, 100, "step", 0),
    ),
    "MaxText": ("completed step: 12, seconds: 1.234, TFLOP/s/device: 100.1, Tokens/s/device: 1000.1, total_weights: 123, loss: 10.1", (12, None, "step", None)),
    "LitGPT": ("Epoch 1 | iter 120 step 30 | loss train: 1.2, val: n/a | iter time: 100.1 ms (step) remaining time: 0:10:00", (120, None, "step", 1)),
    "torchtitan": ("\x1b[36m[titan] 2026-11-25 14:00:00,1 - root - INFO - step: 10  loss: 10.1  memory: 50.1GiB(60.2%)  tps: 1,000  mfu: 10.1%\x1b[0m", (10, None, "step", None)),
    "OpenCLIP": ("2026-11-25,14:00:00 | INFO | Train Epoch: 0 [   64000/10968539 (1%)] Data (t): 0.1 Batch (t): 0.2, 100/s", (64_000, 10_968_539, "unit", 0)),
    "JSON after a time": ('2026-11-25 14:00:00 INFO {"step": 120, "loss": 2.1, "max_steps": 5000}', (120, 5000, "step", None)),
    "JSON after a logger": ('INFO:root:{"step": 120, "loss": 2.1}', (120, None, "step", None)),
    "episodes": ("Episode 120 reward: 21.3 epsilon: 0.1", (120, None, "episode", None)),
    "rounds of clients": ("[ROUND 12/100] loss 0.3", (12, 100, "round", None)),
    "thousands": ("step 1,250 of 10,000 done", (1250, 10000, "step", None)),
    "thousands without a word": ("trained on 12,040 of 50,000 samples, loss 2.3", (12_040, 50_000, "unit", None)),
    "thousands in brackets, with commas": ("train [12,800/50,000] loss 2.3", (12_800, 50_000, "unit", None)),
    "YOLO of today": (
        "\x1b[K      3/40         0G      1.341      2.345      1.456         12        640: 42% ━━━━━─────── 25/60 20.1it/s 1.2s<1.7s",
        (25, 60, "step", 3),
    ),
    "tqdm, logged": ("2026-11-25T14:00:00 - 0 - INFO :: Progress on:train 1.20kit/4.00kit rate:20.0it/s remaining:02:20 elapsed:01:00 postfix:loss=2.3", (1200, 4000, "step", None)),
    "tqdm, with the epoch behind": ("Steps:  12%|█▏  | 120/1000 [00:12<01:28, 10.0it/s, epoch=2, loss=0.1]", (120, 1000, "step", None)),
    "PyTorch's first tutorial": ("[2,  4000] loss: 1.843", (4000, None, "step", 2)),
    "Marian": ("[2026-11-25 14:00:00] Ep. 1 : Up. 1,200 : Sen. 64,000 : Cost 8.1 : Time 12.3s : 5200.12 words/s", (1200, None, "step", None)),
    "Darknet": (" 120: 12.312000, 13.100000 avg loss, 0.000100 rate, 0.500000 seconds, 7680 images, 2.1 hours left", (120, None, "step", None)),
    "ESPnet": ("[host] 2026-11-25 14:00:00,123 (trainer:732) INFO: 2epoch:train:51-100batch: iter_time=1.2e-04, loss=99.1", (100, None, "step", None)),
    "a count before its word": ("2026-11-25 14:00:00 train | 0.123 | 1200it | 20.0 it/s", (1200, None, "step", None)),
    "gensim": ("2026-11-25 14:00:00,123 : INFO : EPOCH 3 - PROGRESS: at 12.34% examples, 400000 words/s, in_qsize 5", (12.34, 100, "percent", 3)),
    "Chainer": ("     total [#########.........................................] 19.00%", (19, 100, "percent", None)),
    "a percent behind an epoch": ("Epoch 3/4 [ 34%] loss=2.3", (34, 100, "percent", 3)),
    "Optuna": ("[I 2026-11-25 14:00:00,123] Trial 12 finished with value: 0.1 and parameters: {'lr': 0.1}. Best is trial 3 with value: 0.1.", (12, None, "trial", None)),
    "a size before the count": ("lr 0.001 batch 32 step 120 loss 2.3", (120, None, "step", None)),
    "a total behind a count without": ("step 120 (batch 20/100) loss 2.3", (20, 100, "step", None)),
    "PaddleClas": ("[2026/11/25 14:00:00] ppcls INFO: [Train][Epoch 3/20][Iter: 10/100]lr(LinearWarmup): 0.001, CELoss: 4.6, ips: 640.1 samples/s, eta: 0:01:00", (10, 100, "step", 3)),
    "PaddleOCR": ("[2026/11/25 14:00:00] ppocr INFO: epoch: [3/20], global_step: 110, lr: 0.0001, acc: 0.1, avg_batch_cost: 0.05 s", (110, None, "step", 3)),
    "nanochat, the epoch behind": ("step 00120/02000 (6.00%) | loss: 10.1 | dt: 50.12ms | tok/sec: 1,023,456 | epoch: 1 | total time: 0.10m | eta: 1.6m", (120, 2000, "step", None)),
    "fairseq's JSON": ('{"epoch": 2, "update": 1.325, "loss": "9.1", "num_updates": "530", "lr": "0.0001"}', (530, None, "step", 2)),
    "Unsloth's head": ("   \\\\   /|    Num examples = 10,000 | Num Epochs = 3 | Total steps = 3,000", (3, 3, "epoch", None)),
    "samples that were seen": ("[2026-11-25 14:00:00] seen 1600 samples | loss 2.1 | 6.7% done", (1600, None, "sample", None)),
    "RSL-RL": ("\x1b[1m            Learning iteration 12/300             \x1b[0m", (12, 300, "step", None)),
}  # fmt: skip

#: What says nothing about how far a training is.
OTHER = (
    "| time/                   |             |",
    "|    fps                  | 1024        |",
    "Downloading data: 100%|██████████| 26.4M/26.4M [00:01<00:00, 20.1MB/s]",
    "Loading checkpoint from /data/runs/2026/11/24/model.pt",
    "Number of parameters: 124,439,808",
    "   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 34% 26.4/77.4 MB 20.1 MB/s eta 0:00:03",
    "34%[======>             ] 12.3M  2.1MB/s    eta 3s",
    "accuracy 34%, of which 12% are new",
    "Time left: 10:12",
    "Speed: 20.0 it/s, 20 steps/s, 3 steps per second",
    "epoch with an accuracy of (34%)",
    "finished with an accuracy of 34%",
    "2026-11-24 12:00:00,123 INFO starting",
    "{'not': 'closed'",
    "[rank0]: Traceback (most recent call last):",
    "",
)


@pytest.mark.parametrize("kind", PRINTED)
def test_progress_is_read_off_what_is_printed(kind: str) -> None:
    line, (done, total, unit, epoch) = PRINTED[kind]
    (tick,) = [tick for tick in lines.read(line) if tick.unit == unit]
    assert (tick.done, tick.total, tick.epoch) == (done, total, epoch)


@pytest.mark.parametrize("count", ["3.0.0/10", "./.", "3/", f"{'9' * 400}/9", "²/3"])
def test_bars_of_no_number_are_no_steps(count: str) -> None:
    assert {tick.unit for tick in lines.read(f"  3%|▎  | {count} [00:03<01:37, 10.00it/s]") if tick.done < 1e15} <= {
        "percent"
    }


@pytest.mark.parametrize("line", OTHER)
def test_what_is_no_progress_is_none(line: str) -> None:
    assert lines.read(line) == []


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (PRINTED["tqdm"][0], 97),
        (PRINTED["tqdm, slow"][0], 1140),
        (PRINTED["Keras 2"][0], 3),
        (PRINTED["CatBoost"][0], 5),
        (PRINTED["a time, a level and short names"][0], 720),
        ("step 5/100 ETA: 1 day, 2:00:00", 93_600),
        ("step 5/100 | remaining 1h 2m 3s", 3723),
        (PRINTED["LitGPT"][0], 600),
        (PRINTED["detectron2"][0], 600),
        ("step 5/100 | eta 2.5 hours", 9000),
        (PRINTED["nanoGPT"][0], None),
        ("step 5/100 beta: 0.9", None),
        ("Progress: 12.3% words/sec/thread: 123 lr: 0.1 avg.loss: 2.3 ETA:   1h 2m 3s", 3723),
        ("Progress: 12.3% words/sec/thread: 123 lr: 0.1 avg.loss: 2.3 ETA:   1h 2m33s", 3753),
        ("Progress: 12.3%  words/sec/thread: 123  lr: 0.1  loss: 2.3  eta: 1h3m ", 3780),
        (f"step 5/100 eta: {'9' * 400} days", None),
        (PRINTED["Darknet"][0], 7560),
        ("step 5/100, 1h 2m left", 3720),
        ("step 5/100, 3 left to do in 5 s", None),
    ],
)
def test_what_a_program_says_is_left_is_read(line: str, seconds: float | None) -> None:
    left = lines.read(line)[0].eta
    assert (left and left.seconds) == seconds


@pytest.mark.parametrize(
    ("text", "unit"),
    [("0:01:37", 1), ("1 day, 2:00:00", 1), ("12s", 1), ("1h 3m", 60), ("2 days", 86_400), ("1.6m", 0)],
)
def test_what_is_left_is_known_as_far_as_it_is_printed(text: str, unit: float) -> None:
    assert lines.read(f"step 5/100 eta: {text}")[0].eta.unit == unit


@pytest.mark.parametrize(
    ("line", "each"),
    [
        (PRINTED["fairseq"][0], 1101),
        (PRINTED["fairseq, older"][0], 500),
        (PRINTED["fairseq's JSON"][0], 400),
        ('{"step": 130, "epoch": 0.325}', 400),
        ('{"step": 130, "epoch": 0.3}', None),  # of one digit, which may be a third off
        ('{"step": 130, "epoch": 3}', None),
        ("epoch 2 step 50 loss 0.3 acc 34/64", None),
        (PRINTED["PaddleOCR"][0], None),
    ],
)
def test_a_count_that_goes_on_says_how_long_an_epoch_is(line: str, each: float | None) -> None:
    (tick,) = [tick for tick in lines.read(line) if tick.unit == "step"]
    assert tick.each_epoch == (each and pytest.approx(each))


def test_a_bar_is_no_part_of_the_name_of_its_series() -> None:
    """Else each width of it were another series."""
    assert len({lines.read(f"Training |{'█' * n}{' ' * (9 - n)}| ▅ {n}/9 [{n}%]")[0].series for n in range(10)}) == 1
    assert len({lines.read(f"Fit [{'#' * n}{'-' * (9 - n)}] {n}%")[0].series for n in range(10)}) == 1


#: Tables as programs print them: heading and rows, and what the rows count.
TABLES = {
    "fastai": (
        "epoch     train_loss  valid_loss  accuracy  time    \n"
        "0         1.105678    0.812345    0.712000  00:05     \n"
        "1         0.905678    0.712345    0.752000  00:05     ",
        "epoch", [0, 1],
    ),
    "skorch": (
        "  epoch    train_loss    valid_acc    valid_loss     dur\n"
        "-------  ------------  -----------  ------------  ------\n"
        "      1        \x1b[36m0.6868\x1b[0m       \x1b[32m0.6000\x1b[0m        \x1b[35m0.6740\x1b[0m  0.0452\n"
        "      2        0.6706       0.6500        0.6500  0.0411",
        "epoch", [1, 2],
    ),
    "spaCy": (
        "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE \n"
        "---  ------  ------------  --------  ------  ------  ------  ------\n"
        "  0       0          0.00     39.50    0.00    0.00    0.00    0.00\n"
        "  0     200         12.41   2281.50   55.11   56.02   54.23    0.55",
        "step", [0, 200],
    ),
    "scikit-learn's boosting": (
        "      Iter       Train Loss   Remaining Time \n"
        "         1           1.2613            2.70s\n"
        "         2           1.1715            2.64s",
        "step", [1, 2],
    ),
    "a search": (
        "|   iter    |  target   |     x     |\n"
        "-------------------------------------\n"
        "| 1         | -7.135    | 2.834     |\n"
        "| 2         | -7.78     | 2.0       |",
        "step", [1, 2],
    ),
    "CSV": ("epoch,step,loss,lr\n0,20,0.9,0.001\n0,40,0.8,0.001", "step", [20, 40]),
    "DeepXDE": (
        "Step      Train loss              Test loss               Test metric\n"
        "0         [1.00e+00, 2.00e-01]    [1.00e+00, 2.00e-01]    []  \n"
        "1000      [1.00e-01, 2.00e-02]    [1.00e-01, 2.00e-02]    []  ",
        "step", [0, 1000],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_rows_of_a_table_count_by_its_heading(kind: str) -> None:
    text, unit, counts = TABLES[kind]
    table = Table()
    assert [lines.read(line) for line in text.splitlines()] == [[]] * len(text.splitlines())
    found = [tick for line in text.splitlines() if (tick := table.read(line))]
    assert [(tick.unit, tick.done) for tick in found] == [(unit, count) for count in counts]


def test_numbers_without_a_heading_are_no_table() -> None:
    table = Table()
    assert [
        table.read(line)
        for line in ("3 4 5", "name  kind  parameters", "1 2 3", "epoch is done", "2 of 3 left", "E # LOSS", "1 ² 3")
    ] == [None] * 7


def test_trials_are_series_of_their_own() -> None:
    first, second = (lines.read(f"Trial train_{name}_00000 finished iteration 1 at")[0].series for name in "ab")
    assert first != second


def test_header_of_an_epoch_counts_epochs() -> None:
    (tick,) = lines.read("Epoch 3/10")
    assert (tick.unit, tick.done, tick.total) == ("epoch", 3, 10)


def test_a_line_may_count_steps_and_epochs() -> None:
    assert {tick.unit for tick in lines.read("epoch 2 step 50 loss 0.3")} == {"epoch", "step"}


def test_two_kinds_of_line_are_two_series() -> None:
    """nanoGPT counts in `iter`, and says in `step` when it has evaluated."""
    (trained,), (evaluated,) = (lines.read(PRINTED[kind][0]) for kind in ("nanoGPT", "nanoGPT, evaluated"))
    assert trained.series != evaluated.series


def test_evaluation_is_known_by_its_name() -> None:
    assert lines.ASIDE.search("Validation DataLoader #")
    assert not lines.ASIDE.search("Epoch #")


def test_own_pattern_is_the_only_one() -> None:
    pattern = re.compile(r"done (?P<count>\d+) from (?P<total>\d+)")
    (tick,) = lines.read("step 7, done 30 from 90", pattern)
    assert (tick.done, tick.total) == (30, 90)
    assert lines.read("step 7", pattern) == []


def test_endless_line_is_cut() -> None:
    assert lines.read("x" * 10_000_000 + " step 5") == []


@pytest.mark.parametrize(
    "line",
    ['{"step": 0.5}', '{"step": 1e400}', '{"step": -1}', '{"step": true}', '{"step": "a"}', "{" * 500 + "}" * 500],
)
def test_odd_json_is_no_progress(line: str) -> None:
    assert lines.read(line) == []


def test_a_series_is_named_without_the_time_and_level_of_its_lines() -> None:
    tick = lines.read("[2026-11-25 01:00:00] INFO train: epoch=3 it=120/900 loss=0.3")[0]
    assert tick.series.startswith("train:")


def test_of_a_flood_each_of_some_readings_is_seen_by_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 readings of 200 kB in one second, each of which ends with a step, the first and eight more."""
    from epochs_per_dollar import streams

    monkeypatch.setattr(streams.time, "monotonic", lambda: 5.0)
    chunks = iter([(f"tensor {'0.1 ' * 20}\n" * 2000 + f"step {number}\n").encode() for number in range(40)])
    monkeypatch.setattr(streams.os, "read", lambda source, count: next(chunks))
    monkeypatch.setattr(streams, "_write", lambda target, chunk: None)
    seen: list[str] = []
    with open("/dev/null") as nothing:
        stream = streams.Stream(nothing.fileno(), 1, lambda now, line: seen.append(line), 1 << 20)
        for _ in range(40):
            stream.pass_on()
    assert [line for line in seen if line.startswith("step")] == [f"step {number}" for number in range(9)]
    assert {line for line in seen if not line.startswith("step")} == {f"tensor {'0.1 ' * 20}"}, "none is cut"
