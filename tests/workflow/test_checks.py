"""What is refused before anything is submitted to a cluster."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.measurement.cell import Cell
from scripts.storage.errors import InputError
from scripts.workflow import checks
from scripts.workflow.plan import Plan

SQUEUE = SimpleNamespace(status_command="squeue", array_jobs=None)


def plan(*machines: str, **settings) -> Plan:
    """Return a plan with one run on each of some machines of a Slurm, each in a partition of its name."""
    made = Plan("s", "s", {"s": {"repeats": 1, "batch_sizes": ["published"]} | settings}, {}, "slurm", [])
    made.catalogue = {name: {"clusters": {"slurm": {"slurm_partition": name}}} for name in machines}
    cells = [Cell("a", name, "jax", 128, 1, 1.0, "synthetic") for name in machines]
    made.cells = {cell.path: cell for cell in cells}
    made.runs = [made.folder(cell, 1) for cell in cells]
    return made


def show(*, cancelling: str = "") -> object:
    """Return what stands for scontrol: one partition, or the whole cluster, may cancel what it preempts."""

    def told(*what: str) -> str:
        mode = "CANCEL" if what[-1] == cancelling else "REQUEUE"
        return f"SlurmctldPort = 6817\nPreemptMode             = {mode}\nPreemptType = x\n"

    return told


def test_a_cluster_that_requeues_is_taken() -> None:
    checks.check_slurm(plan("cpu", "gpu"), SQUEUE, show())


@pytest.mark.parametrize(("place", "named"), [("config", "this Slurm"), ("gpu", "partition gpu")])
def test_what_cancels_is_refused_by_its_name(place: str, named: str) -> None:
    with pytest.raises(InputError, match=rf"{named} has PreemptMode=CANCEL"):
        checks.check_slurm(plan("cpu", "gpu"), SQUEUE, show(cancelling=place))
    if place != "config":
        checks.check_slurm(plan("cpu"), SQUEUE, show(cancelling=place))


def test_sacct_is_refused() -> None:
    with pytest.raises(InputError, match="squeue is needed"):
        checks.check_slurm(plan("cpu"), SimpleNamespace(status_command="sacct", array_jobs=None), show())


@pytest.mark.parametrize("asked", ["all", "train", "collect, train"])
def test_an_array_is_of_one_machine(asked: str) -> None:
    with pytest.raises(InputError, match=r"an array is of one machine.*\(cpu, gpu\)"):
        checks.check_arrays(plan("cpu", "gpu"), asked)
    checks.check_arrays(plan("cpu"), asked)
    checks.check_arrays(plan("cpu", "gpu"), "collect")


def test_an_array_waits_for_no_search() -> None:
    with pytest.raises(InputError, match="batch size `largest`"):
        checks.check_arrays(plan("cpu", repeats=2, batch_sizes=["largest"]), "all")


def test_an_image_that_nobody_has_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "images.yaml").write_text("jax-cpu: registry/jax-cpu@sha256:0\n")
    checks.check_images(["jax-cpu"])
    with pytest.raises(InputError, match=r"there is no jax-gpu torch-gpu: run envs/images\.sh jax-gpu torch-gpu"):
        checks.check_images(["torch-gpu", "jax-cpu", "jax-gpu"])
