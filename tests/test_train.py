"""One cell without Snakemake: what is recorded when it trains, fails, is killed or asked for nonsense."""

import csv
import os
import signal
import subprocess
import time
from itertools import cycle
from pathlib import Path

import pytest

from scripts import workloads
from scripts.records import about, record
from tests.conftest import CORES, LIMIT_SECONDS, Project, frameworks_here, wait_for
from tests.made import read_run
from tests.test_workflow import OWN_NET, interruptible, spawned

pytestmark = pytest.mark.slow


def train(
    project: Project, *arguments: str, workload: str = "mnist_mlp", framework: str = "jax", **variables: str
) -> subprocess.CompletedProcess:
    """Train on synthetic data at a small scale and return the finished command."""
    return project.run(
        "python", "scripts/train.py", "--workload", workload, "--framework", framework, "--hardware", "cpu1",
        "--output", "out", "--data", "synthetic", "--samples", "0.02", "--epochs", "2", *arguments, check=False,
        cores=2 if "cpu2" in arguments else 1, **variables,
    )  # fmt: skip


def need(framework: str) -> None:
    if framework not in frameworks_here():
        pytest.skip(f"{framework} is not installed: make test FRAMEWORKS='tensorflow jax torch'")


def written(project: Project) -> dict:
    return read_run(project.path / "out" / "run.json")


FRAMEWORKS = ("tensorflow", "jax", "torch")

#: Workloads that compile for long or have large images: at which size they are tried, and on which framework alone.
LARGE = {
    "twitter_bidirectional_lstm": ("jax", ["--samples", "0.0002"]),
    "cifar10_resnet20": ("torch", ["--samples", "0.006"]),
    "nietzsche_gpt": ("torch", ["--samples", "0.003", "--batch-size", "4"]),
    "resnet50": ("tensorflow", ["--samples", "0.001", "--batch-size", "2"]),
    "vgg16": ("torch", ["--samples", "0.001", "--batch-size", "2"]),
    "inception_v3": ("torch", ["--samples", "0.001", "--batch-size", "2"]),
}


SMALL = [name for name in about.workloads() if name not in LARGE]


def test_every_workload_is_tried() -> None:
    assert set(LARGE) < set(about.workloads())


@pytest.mark.represented_by("imdb_bidirectional_lstm-jax", "mnist_mlp-torch")
@pytest.mark.parametrize(
    ("workload", "framework", "size"),
    [
        # On every framework each of them is trained in tests/frameworks.
        *((name, framework, []) for name, framework in zip(SMALL, cycle(frameworks_here()), strict=False)),
        *((name, framework, size) for name, (framework, size) in LARGE.items()),
    ],
)
def test_every_workload_trains(tiny_study: Project, tmp_path: Path, workload: str, framework: str, size: list[str]):
    need(framework)
    done = train(tiny_study, "--output", str(tmp_path), *size, workload=workload, framework=framework)
    assert done.returncode == 0, done.stdout + done.stderr
    run = read_run(tmp_path / "run.json")
    assert run["status"] == "done"
    assert run["data"]["kind"] == "synthetic"
    assert run["provenance"]["cores"] == run["provenance"]["cores"][:1], "held to one core"
    assert framework in run["provenance"]["packages"]
    assert run["samples_per_second"] > 0
    assert run["times"]["train_seconds"] == pytest.approx(
        sum(run["times"][f"{name}_seconds"] for name in ("first_step", "training", "validation"))
    )
    parts = ("spawn", "import", "data", "build", "train", "exit")
    named = sum(run["times"][f"{name}_seconds"] for name in parts)
    # Unnamed are .3 s on an idle machine; beside other tests a process may wait for its core between two stages.
    assert run["times"]["total_seconds"] - named < 0.25 * run["times"]["total_seconds"] + 0.5, "every second has a name"
    first, last = record.read_epochs(tmp_path / "epochs.csv")
    if getattr(workloads.workload(workload), "LEARNABLE", True):
        assert last["loss"] < first["loss"], "synthetic data can be learned"
    assert sum(row["elapsed"] for row in (first, last)) == pytest.approx(run["times"]["train_seconds"])
    header = (tmp_path / "epochs.csv").read_text().splitlines()[0]
    assert header.startswith("epoch,elapsed,loss,acc,val_loss,val_acc,")
    stages = {row["stage"] for row in csv.DictReader((tmp_path / "telemetry.csv").open())}
    assert {"import", "train"} & stages


def test_variables_that_would_change_a_training_do_not_reach_it(tiny_study: Project, tmp_path: Path) -> None:
    """Keras ends an epoch after one step, and a training after one epoch, where these say so."""
    done = train(tiny_study, "--output", str(tmp_path), KERAS_MAX_EPOCHS="1", KERAS_MAX_STEPS_PER_EPOCH="1")
    assert "not passed on to the training: " in done.stdout
    assert "KERAS_MAX_EPOCHS, KERAS_MAX_STEPS_PER_EPOCH" in done.stdout
    run = read_run(tmp_path / "run.json")
    assert run["final"]["epochs"] == run["cell"]["epochs"] > 1
    assert run["timed_samples"] > run["batch_size"]


@pytest.mark.represented_by("jax")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_tuned_training_is_recorded_and_ends_at_its_target(tiny_study: Project, tmp_path: Path, framework: str) -> None:
    need(framework)
    options = ("--mode", "tuned", "--samples", "0.3", "--target", "0.3", "--output", str(tmp_path))
    assert train(tiny_study, *options, framework=framework).returncode == 0
    run = read_run(tmp_path / "run.json")
    assert run["settings"]["loop"] != "model.fit"
    (only,) = record.read_epochs(tmp_path / "epochs.csv")
    assert only["val_acc"] >= 0.3, "one epoch of two was enough"
    assert only["warmup_samples"] == 19 * 128
    assert run["timed_samples"] == run["train_samples"] - 20 * 128
    assert 0 < only["warmup_seconds"] < only["training_seconds"]


@pytest.mark.represented_by("jax-tuned")
@pytest.mark.parametrize("mode", ["stock", "tuned"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_two_devices_share_a_step(tiny_study: Project, tmp_path: Path, framework: str, mode: str) -> None:
    """Virtual ones: both are this machine's CPU."""
    need(framework)
    if len(CORES) < 2:
        pytest.skip("this machine has one core: there is nothing to split")
    options = ("--hardware", "cpu2", "--devices", "2", "--mode", mode, "--output", str(tmp_path))
    done = train(tiny_study, *options, framework=framework)
    assert done.returncode == 0, done.stdout + done.stderr
    run = read_run(tmp_path / "run.json")
    assert (run["batch_size"], run["cell"]["devices"]) == (128, 2)
    assert run["train_samples"] % 256 == 0, "whole batches of both"
    assert run["final"]["loss"] > 0


@pytest.mark.nightly
def test_mixed_precision_is_another_training(tiny_study: Project, tmp_path: Path) -> None:
    losses = []
    for precision in ("float32", "bfloat16"):
        options = ("--precision", precision, "--seed", "7", "--output", str(tmp_path / precision))
        assert train(tiny_study, *options).returncode == 0
        losses.append(read_run(tmp_path / precision / "run.json")["final"]["loss"])
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)


@pytest.mark.nightly
def test_largest_batch_is_searched_once_and_recorded(tiny_study: Project, tmp_path: Path) -> None:
    """All 96 samples of a net of one's own fit any machine: the search ends at their number."""
    (tmp_path / "my_net.py").write_text(OWN_NET)
    options = ("--batch-size", "largest", "--samples", "0.3", "--output")
    done = train(tiny_study, *options, str(tmp_path / "r1"), workload=str(tmp_path / "my_net.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    run = read_run(tmp_path / "r1" / "run.json")
    assert [(one["batch_size"], one["status"]) for one in run["batch_search"]] == [
        (16, "done"), (32, "done"), (64, "done"), (128, "failed"),
    ]  # fmt: skip
    assert "batch size 128: there are 96 samples" in done.stdout
    assert (run["cell"]["batch_size"], run["batch_size"]) == ("largest", 64)
    again = ("--searched", str(tmp_path / "r1" / "run.json"), "--repeat", "2")
    done = train(tiny_study, *options, str(tmp_path / "r2"), *again, workload=str(tmp_path / "my_net.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "batch size" not in done.stdout
    second = read_run(tmp_path / "r2" / "run.json")
    assert (second["batch_size"], second["batch_search"]) == (64, run["batch_search"])


def test_a_net_of_ones_own_is_trained_with_what_lies_beside_it(tiny_study: Project, tmp_path: Path) -> None:
    first, *_ = frameworks_here()
    (tmp_path / "own_size.py").write_text("NUMBERS = 320\n")
    path = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent))\nimport own_size\n"
    (tmp_path / "my_net.py").write_text(
        OWN_NET.replace("import numpy", f"{path}import numpy", 1).replace("320", "own_size.NUMBERS")
    )
    own = {"workload": str(tmp_path / "my_net.py"), "framework": first}
    done = train(tiny_study, "--samples", "0.5", "--output", str(tmp_path / "out"), **own)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_run(tmp_path / "out" / "run.json")["train_samples"] == 160


#: Python runs it as the first thing of every interpreter.
STAMP = "import os, time\nprint(time.time(), file=open(os.environ['EPOCHS_TEST_STAMPS'], 'a'))\n"


def test_what_this_machine_cannot_do_is_recorded_and_how_long_it_took(tiny_study: Project, tmp_path: Path) -> None:
    """By another clock: from the first line of the interpreter to the last file before the record, and never longer."""
    (tmp_path / "sitecustomize.py").write_text(STAMP)
    variables = {"PYTHONPATH": str(tmp_path), "EPOCHS_TEST_STAMPS": str(tmp_path / "stamps")}
    before = time.time()
    done = train(tiny_study, "--mode", "plain_lstm", "--output", str(tmp_path), **variables)
    after = time.time()
    assert done.returncode == 3
    run = read_run(tmp_path / "run.json")
    assert "mode plain_lstm: cuDNN is on a GPU only" in run["reason"]
    began = float((tmp_path / "stamps").read_text().splitlines()[0])
    written = (tmp_path / "telemetry.csv").stat().st_mtime
    # The kernel gives the start of a process to a hundredth of a second.
    assert written - began - 0.02 <= run["times"]["total_seconds"] <= after - before + 0.02
    named = ("launch", "spawn", "import", "data", "exit", "write")
    assert sum(run["times"][f"{name}_seconds"] for name in named) <= run["times"]["total_seconds"]


@pytest.mark.nightly
def test_frameworks_get_the_same_samples(tiny_study: Project, tmp_path: Path) -> None:
    counts = set()
    for framework in frameworks_here():
        assert train(tiny_study, "--output", str(tmp_path / framework), framework=framework).returncode == 0
        run = read_run(tmp_path / framework / "run.json")
        counts.add((run["train_samples"], run["validation_samples"], run["parameters"]))
    assert len(counts) == 1


def test_same_seed_same_losses(tiny_study: Project, tmp_path: Path) -> None:
    losses = []
    for name in ("a", "b"):
        assert train(tiny_study, "--output", str(tmp_path / name), "--seed", "7").returncode == 0
        losses.append([row["loss"] for row in record.read_epochs(tmp_path / name / "epochs.csv")])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


FAULTY = '''
"""A workload that fails."""
import numpy as np
from scripts.workloads import mnist_mlp
from scripts.workloads.mnist_mlp import prepare

DATASET, BATCH_SIZE, EPOCHS, REFERENCE = "mnist", 128, 20, None

def build(split):
    {body}
'''


@pytest.mark.represented_by("np.ones", "body2", "import os")
@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("np.ones(2**50)", "out_of_memory", "Unable to allocate"),
        ("raise RuntimeError('broken\\nmodel')", "failed", "RuntimeError: broken model"),
        (
            "import keras; m = mnist_mlp.build(split); "
            "m.compile(keras.optimizers.SGD(1e30), 'sparse_categorical_crossentropy', metrics=['acc']); return m",
            "diverged",
            "the loss is not a finite number",
        ),
        ("import os; os._exit(7)", "killed", "exit code 7"),
    ],
)
def test_failure_is_recorded(trained: Project, body: str, status: str, reason: str) -> None:
    (trained.path / "scripts/workloads/faulty.py").write_text(FAULTY.format(body=body))
    done = train(trained, workload="faulty")
    assert done.returncode == 3, done.stdout + done.stderr
    run = written(trained)
    assert run["status"] == status
    assert reason in run["reason"]
    assert "\n" not in run["reason"]


def started(project: Project) -> subprocess.Popen:
    command = ["python", "scripts/train.py", "--workload", "mnist_mlp", "--framework", "jax", "--hardware", "cpu1"]
    process = subprocess.Popen(
        [*command, "--output", "out", "--data", "synthetic"],
        cwd=project.path, env=project.environment(), text=True, start_new_session=True, preexec_fn=interruptible,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    for line in process.stdout or []:
        if line.startswith("epoch 1"):
            return process
    raise AssertionError("ended before its first epoch")


def test_killed_run_keeps_its_epochs(trained: Project) -> None:
    process = started(trained)
    spawned(process.pid)[0].kill()
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 3
    run = written(trained)
    assert run["status"] == "killed"
    assert "SIGKILL" in run["reason"]
    assert run["final"]["epochs"] >= 1
    assert len(record.read_epochs(trained.path / "out" / "epochs.csv")) == run["final"]["epochs"]


@pytest.mark.nightly
def test_run_that_somebody_ends_is_no_result(trained: Project) -> None:
    """SIGTERM to all processes, as when a session ends."""
    process = started(trained)
    os.killpg(process.pid, signal.SIGTERM)
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 4, said
    assert "the same call trains it again" in said
    assert not (trained.path / "out" / "run.json").exists()


def test_interrupted_run_writes_nothing(trained: Project) -> None:
    process = started(trained)
    training = spawned(process.pid)[0]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130
    assert not (trained.path / "out").exists()
    wait_for(lambda: not training.is_running())


def test_training_dies_with_its_watcher(trained: Project) -> None:
    process = started(trained)
    training = spawned(process.pid)[0]
    process.kill()
    process.communicate(timeout=LIMIT_SECONDS)
    wait_for(lambda: not training.is_running())


@pytest.mark.represented_by("arguments0", "arguments6")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hardware", "cray"], "error: hardware 'cray' is unknown: it is one of cpu1, cpu2, cpu2-again, cpu4, cpu8"),
        (["--batch-size", "0"], "argument --batch-size: 0 is below 1"),
        (["--batch-size", "big"], "argument --batch-size: invalid"),
        (["--workload", "gpt9"], "error: --workload: 'gpt9' is unknown: it is one of cifar10_cnn"),
        (["--framework", "caffe"], "argument --framework: invalid choice: 'caffe'"),
        (["--samples", "2"], "argument --samples: 2.0 is not above 0 and at most 1"),
        (["--data", "real", "--data-dir", "bad"], "train-images-idx3-ubyte.gz: md5 is "),
    ],
)
def test_bad_input_is_one_line(trained: Project, arguments: list[str], message: str) -> None:
    (trained.path / "bad").mkdir()
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (trained.path / "bad" / f"{name}-ubyte.gz").write_bytes(b"corrupt")
    done = train(trained, *arguments)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (trained.path / "out").exists()


def test_machine_that_is_not_the_one_claimed(trained: Project) -> None:
    trained.edit("config/hardware.yaml", "machine: {cores: 1}", "machine: {cores: 4096}")
    done = train(trained)
    assert done.returncode == 2
    assert "hardware cpu1: claims 4096 cores, this machine has" in done.stderr.splitlines()[-1]
