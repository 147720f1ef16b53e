"""What a profile refuses before anything is submitted; commands of the cluster are stood in for."""

import subprocess
from pathlib import Path

import pytest

from tests.clusters.conftest import Cloud
from tests.clusters.slurm import MACHINES, STUDY
from tests.conftest import Project

pytestmark = pytest.mark.slow


@pytest.fixture
def site(fresh: Project) -> Project:
    """The project with a study on two partitions."""
    with (fresh.path / "config" / "hardware.yaml").open("a") as catalogue:
        catalogue.write(MACHINES)
    study = STUDY.replace("WORKLOAD", "mnist_mlp").replace("SAMPLES", "0.02").replace("EPOCHS", "2")
    (fresh.path / "config" / "studies" / "small.yaml").write_text(study)
    return fresh


def on_slurm(
    site: Project, plugins: Path, mode: str, *arguments: str, partition: str = "OFF"
) -> subprocess.CompletedProcess:
    """Call the profile where `scontrol` tells a PreemptMode, and another one of the partition `gpu`."""
    command = site.path / "bin" / "scontrol"
    command.parent.mkdir()
    command.write_text(
        f"#!/bin/sh\ncase $3 in gpu) echo '   OverSubscribe=NO PreemptMode={partition}';; cpu) ;; "
        f"*) echo 'PreemptMode             = {mode}';; esac\n"
    )
    command.chmod(0o755)
    return site.run(
        "env", f"PATH={command.parent}:{site.environment()['PATH']}",
        "snakemake", "--profile", "slurm", *arguments, "--config", "study=small",
        check=False, PYTHONPATH=str(plugins / "slurm"),
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["CANCEL", "GANG,CANCEL"])
def test_slurm_that_cancels_what_it_preempts_is_refused(site: Project, plugins: Path, mode: str) -> None:
    done = on_slurm(site, plugins, mode)
    assert done.returncode != 0
    assert f"this Slurm has PreemptMode={mode}" in done.stderr
    assert not (site.path / "results/small").exists()


def test_partition_whose_jobs_are_cancelled_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", partition="CANCEL")
    assert done.returncode != 0
    assert "partition gpu has PreemptMode=CANCEL" in done.stderr


def test_status_command_that_waits_for_ever_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", "--slurm-status-command", "sacct")
    assert done.returncode != 0
    assert "slurm-status-command: squeue is needed" in done.stderr


def test_array_of_unlike_jobs_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", "--slurm-array-jobs", "train")
    assert done.returncode != 0
    assert "an array is of one machine, and this call has several (node-cpu, node-gpu)" in done.stderr


def test_image_that_nobody_has_built_is_named(cloud: Cloud) -> None:
    del cloud.variables["SNAKEMAKE_GCEBATCH_IMAGE"]
    done = cloud.snakemake("gce-cpu", check=False)
    assert done.returncode != 0
    assert "envs/images.yaml: there is no jax-cpu: run envs/images.sh jax-cpu" in done.stderr
    assert cloud.emulator.created == []
