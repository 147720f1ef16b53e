"""What re-runs when, counted by the jobs that Snakemake ran."""

import os
import signal
import subprocess
import time

import psutil
import pytest

from tests.conftest import Project

pytestmark = pytest.mark.slow

MLP_JAX = "mnist_mlp/cpu1/jax/b128"
MLP_TENSORFLOW = "mnist_mlp/cpu1/tensorflow/b128"
FASTTEXT_JAX = "imdb_fasttext/cpu1/jax/b32"
FASTTEXT_TENSORFLOW = "imdb_fasttext/cpu1/tensorflow/b32"
ALL = [MLP_JAX, MLP_TENSORFLOW, FASTTEXT_JAX, FASTTEXT_TENSORFLOW]

DRAW = ["draw learning", "draw relative_cost", "draw relative_time"]


def trainings(jobs: list[str]) -> list[str]:
    return [job.removeprefix("train ") for job in jobs if job.startswith("train ")]


def others(jobs: list[str]) -> list[str]:
    return [job for job in jobs if not job.startswith("train ")]


def test_complete_study_runs_nothing(trained: Project) -> None:
    assert trained.snakemake() == []


def test_dry_run_lists_the_cells(fresh: Project) -> None:
    assert trainings(fresh.snakemake("-n")) == sorted(ALL)


def test_one_run_record_trains_that_cell_alone(fresh: Project) -> None:
    jobs = fresh.snakemake(f"results/tiny/{MLP_JAX}/r1/run.json")
    assert trainings(jobs) == [MLP_JAX]
    assert others(jobs) == ["data set mnist (synthetic)"]


def test_forced_cell_remakes_what_follows_from_it(trained: Project) -> None:
    jobs = trained.snakemake("-R", f"results/tiny/{MLP_JAX}/r1/run.json")
    assert trainings(jobs) == [MLP_JAX]
    assert others(jobs) == ["collect the runs", *DRAW, "price the runs", "write the report"]


@pytest.mark.parametrize(
    ("old", "new", "cells"),
    [
        ("[mnist_mlp, imdb_fasttext]", "[mnist_mlp, imdb_fasttext, lstm_text_generation]",
         ["lstm_text_generation/cpu1/jax/b128", "lstm_text_generation/cpu1/tensorflow/b128"]),
        ("hardware: [cpu1]", "hardware: [cpu1, mine]",
         ["imdb_fasttext/mine/jax/b32", "imdb_fasttext/mine/tensorflow/b32",
          "mnist_mlp/mine/jax/b128", "mnist_mlp/mine/tensorflow/b128"]),
        ("scale:", "batch_sizes: [published, 64]\nscale:",
         ["imdb_fasttext/cpu1/jax/b64", "imdb_fasttext/cpu1/tensorflow/b64",
          "mnist_mlp/cpu1/jax/b64", "mnist_mlp/cpu1/tensorflow/b64"]),
    ],
    ids=["workload", "machine", "batch size"],
)  # fmt: skip
def test_addition_to_the_grid_trains_the_new_cells(trained: Project, old: str, new: str, cells: list[str]) -> None:
    trained.edit("config/hardware.yaml", "cpu1:\n", "mine: {label: Mine, machine: {cores: 1}}\ncpu1:\n")
    trained.edit("config/studies/tiny.yaml", old, new)
    assert trainings(trained.snakemake()) == cells


def test_added_framework_trains_the_new_cells(fresh: Project) -> None:
    fresh.edit("config/studies/tiny.yaml", "workloads: [mnist_mlp, imdb_fasttext]", "workloads: [mnist_mlp]")
    fresh.edit("config/studies/tiny.yaml", "frameworks: [jax, tensorflow]", "frameworks: [tensorflow]")
    assert trainings(fresh.snakemake()) == [MLP_TENSORFLOW]
    fresh.edit("config/studies/tiny.yaml", "frameworks: [tensorflow]", "frameworks: [jax, tensorflow]")
    assert trainings(fresh.snakemake()) == [MLP_JAX]


@pytest.mark.parametrize(
    ("file", "old", "new", "cells", "follows"),
    [
        ("config/hardware.yaml", "usd_per_hour: 0.0475", "usd_per_hour: 0.05", [],
         [*DRAW, "price the runs", "write the report"]),
        ("config/studies/tiny.yaml", "title: Tiny", "title: Small", [], [*DRAW, "write the report"]),
        ("scripts/charts/relative_time.py", 'TITLE = "Relative time', 'TITLE = "Time', [],
         ["draw relative_time", "write the report"]),
        ("reports/report.html.j2", "In short", "In brief", [], ["write the report"]),
        ("scripts/workloads/mnist_mlp.py", "layers.Dropout(0.2)", "layers.Dropout(0.1)",
         [MLP_JAX, MLP_TENSORFLOW], None),
        ("scripts/frameworks/jax.py", '"NPROC": str(cores),', '"NPROC": f"{cores}",', [FASTTEXT_JAX, MLP_JAX], None),
        ("envs/jax.lock", "jax==0.10.2", "jax==0.10.2 ", [FASTTEXT_JAX, MLP_JAX], None),
    ],
    ids=["price", "title", "chart", "page", "workload", "framework", "lock"],
)  # fmt: skip
def test_edit_reruns_what_it_touches(
    trained: Project, file: str, old: str, new: str, cells: list[str], follows: list[str] | None
) -> None:
    trained.edit(file, old, new)
    jobs = trained.snakemake()
    assert trainings(jobs) == cells
    if follows is None:
        follows = ["collect the runs", *DRAW, "price the runs", "write the report"]
    assert others(jobs) == follows


def test_touched_file_trains_nothing(trained: Project) -> None:
    (trained.path / "scripts/workloads/mnist_mlp.py").touch()
    assert trainings(trained.snakemake()) == []


def test_interrupted_study_leaves_nothing_half_written_and_goes_on(fresh: Project) -> None:
    folder = fresh.path / "results" / "tiny" / MLP_JAX / "r1"
    command = ["snakemake", "--cores", "all", "--config", "study=tiny"]
    workflow = subprocess.Popen(
        command, cwd=fresh.path, env=fresh.environment(), start_new_session=True, preexec_fn=interruptible,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_for(lambda: any("train.log" in str(path) for path in (fresh.path / "results").rglob("*.log")))
    os.killpg(workflow.pid, signal.SIGINT)
    workflow.communicate(timeout=120)
    assert workflow.returncode != 0
    left = [path.name for path in (fresh.path / "results").rglob("*") if path.is_file()]
    assert {name for name in left if not name.endswith(".log")} == set()
    assert sorted(trainings(fresh.snakemake())) == sorted(ALL)
    assert (folder / "run.json").is_file()


def test_killed_training_is_a_result(trained: Project) -> None:
    command = ["snakemake", "--cores", "all", "-R", f"results/tiny/{MLP_JAX}/r1/run.json", "--config", "study=tiny"]
    workflow = subprocess.Popen(
        command, cwd=trained.path, env=trained.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_for(lambda: spawned(workflow.pid))
    spawned(workflow.pid)[0].kill()
    output, _ = workflow.communicate(timeout=300)
    assert workflow.returncode == 0, output
    assert trained.record(MLP_JAX)["status"] == "killed"
    page = (trained.path / "results" / "tiny" / "report.html").read_text()
    assert "1 of 4 runs did not end as done" in page
    assert "ended by SIGKILL" in page


def interruptible() -> None:
    """Undo what a shell does to the jobs it puts into the background: they would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def spawned(pid: int) -> list[psutil.Process]:
    """Return the training processes below `pid`: those that Python's multiprocessing spawned."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


def wait_for(condition, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
