"""A training whose machine is preempted goes on elsewhere, with the losses of one that was left alone."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from scripts.records import record
from tests.conftest import LIMIT_SECONDS, Project, frameworks_here
from tests.made import read_run

pytestmark = pytest.mark.slow

EPOCHS = 6


def command(framework: str, mode: str, output: Path, *more: str) -> list[str]:
    return [
        "python", "-m", "scripts.train", "--workload", "mnist_mlp", "--hardware", "cpu1", "--framework", framework,
        "--mode", mode, "--samples", "0.1", "--epochs", str(EPOCHS), "--data", "synthetic",
        "--output", str(output), *more,
    ]  # fmt: skip


def losses(output: Path) -> list[float]:
    return [row[name] for row in record.read_epochs(output / "epochs.csv") for name in ("epoch", "loss", "val_loss")]


def interrupt(project: Project, arguments: list[str], after: str, number: signal.Signals) -> int:
    """Start a training, end it by a signal when it has said so much, and return its exit code."""
    process = subprocess.Popen(
        arguments, cwd=project.path, env=project.environment(), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    said = ""
    for line in process.stdout or ():
        said += line
        if after in line:
            process.send_signal(number)
            break
    rest, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert after in said, said + rest
    return process.returncode


@pytest.mark.represented_by("jax-tuned")
@pytest.mark.parametrize("mode", ["stock", "tuned"])
@pytest.mark.parametrize("framework", frameworks_here())
def test_run_that_is_taken_up_again_has_the_losses_of_one_that_was_not(
    trained: Project, tmp_path: Path, framework: str, mode: str
) -> None:
    alone, cut = tmp_path / "alone", tmp_path / "cut"
    trained.run(*command(framework, mode, alone, "--checkpoints", str(tmp_path / "a")))
    kept = ("--checkpoints", str(tmp_path / "b"))
    code = interrupt(trained, command(framework, mode, cut, *kept), f"epoch 2/{EPOCHS}", signal.SIGTERM)
    assert code == 4
    assert not (cut / "run.json").exists(), "it is not at its end"
    trained.run(*command(framework, mode, cut, *kept))
    assert losses(cut) == pytest.approx(losses(alone), rel=1e-4)
    run = read_run(cut / "run.json")
    first, second = run["attempts"]
    assert (first["ended"], second["ended"]) == ("preempted", "done")
    assert first["useful_seconds"] > 0
    assert first["lost_seconds"] > 0, "the start at least"
    assert first["used_seconds"] == pytest.approx(first["useful_seconds"] + first["lost_seconds"])
    assert len(read_run(alone / "run.json")["attempts"]) == 1


@pytest.mark.nightly
def test_machine_that_is_lost_without_notice_costs_what_was_not_saved(trained: Project, tmp_path: Path) -> None:
    kept = ("--checkpoints", str(tmp_path / "kept"))
    cut = tmp_path / "cut"
    interrupt(trained, command("jax", "tuned", cut, *kept), f"epoch 2/{EPOCHS}", signal.SIGKILL)
    trained.run(*command("jax", "tuned", cut, *kept))
    run = read_run(cut / "run.json")
    assert [attempt["ended"] for attempt in run["attempts"]] == ["lost", "done"]
    assert run["final"]["epochs"] == EPOCHS


def test_run_that_takes_too_long_is_ended_and_recorded(trained: Project, tmp_path: Path) -> None:
    done = trained.run(*command("jax", "stock", tmp_path / "long", "--most-minutes", "0.05"), check=False)
    assert done.returncode == 3
    run = read_run(tmp_path / "long" / "run.json")
    assert (run["status"], run["reason"]) == ("timed_out", "took longer than 0.05 minutes")


@pytest.mark.nightly
def test_notice_before_the_training_began_loses_nothing(trained: Project, tmp_path: Path) -> None:
    kept = ("--checkpoints", str(tmp_path / "kept"))
    code = interrupt(trained, command("jax", "tuned", tmp_path / "cut", *kept), "import", signal.SIGTERM)
    assert code == 4
    trained.run(*command("jax", "tuned", tmp_path / "cut", *kept))
    run = read_run(tmp_path / "cut" / "run.json")
    assert [attempt["ended"] for attempt in run["attempts"]] == ["preempted", "done"]
    assert run["attempts"][0]["useful_seconds"] == 0


@pytest.mark.nightly
def test_search_for_the_largest_batch_is_ended_by_a_notice_and_by_its_time(trained: Project, tmp_path: Path) -> None:
    search = command("jax", "tuned", tmp_path / "cut", "--batch-size", "largest")
    kept = ("--checkpoints", str(tmp_path / "kept"))
    assert interrupt(trained, [*search, *kept], "batch size 128", signal.SIGTERM) == 4
    assert trained.run(*search, "--most-minutes", "0.02", check=False).returncode == 3
    run = read_run(tmp_path / "cut" / "run.json")
    assert run["status"] == "timed_out"
    assert [one["status"] for one in run["batch_search"]] == ["timed_out"]


def test_run_that_got_no_machine_is_recorded_as_that(trained: Project, tmp_path: Path) -> None:
    ended = json.dumps({"status": "quota", "reason": "quota NVIDIA_T4_GPUS exceeded", "lost": []})
    arguments = command("jax", "tuned", tmp_path / "none")
    done = trained.run(*arguments, check=False, EPOCHS_ENDED=ended)
    assert done.returncode == 3
    run = read_run(tmp_path / "none" / "run.json")
    assert (run["status"], run["reason"]) == ("quota", "quota NVIDIA_T4_GPUS exceeded")
    assert run["times"]["total_seconds"] == 0
