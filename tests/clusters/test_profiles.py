"""What a profile refuses before anything is submitted; commands of the cluster are stood in for."""

import re
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
    (fresh.path / "config" / "hardware.local.yaml").write_text(MACHINES)
    study = STUDY.replace("WORKLOAD", "mnist_mlp").replace("SAMPLES", "0.02").replace("EPOCHS", "2")
    (fresh.path / "config" / "studies" / "small.yaml").write_text(study)
    return fresh


def on_slurm(
    site: Project, plugins: Path, mode: str, *arguments: str, partition: str = "OFF"
) -> subprocess.CompletedProcess:
    """Call the profile where `scontrol` prints a PreemptMode, and another one of the partition `gpu`."""
    command = site.path / "bin" / "scontrol"
    command.parent.mkdir()
    command.write_text(
        f"#!/bin/sh\ncase $3 in gpu) echo '   OverSubscribe=NO PreemptMode={partition}';; cpu) ;; "
        f"*) echo 'PreemptMode             = {mode}';; esac\n"
    )
    command.chmod(0o755)
    # The plugin looks for `squeue` where there is a `sinfo`.
    for name, printed in (("sinfo", "cpu; echo gpu"), ("squeue", "slurm 22.05.8")):
        command.with_name(name).write_text(f"#!/bin/sh\necho {printed}\n")
        command.with_name(name).chmod(0o755)
    return site.run(
        "env", f"PATH={command.parent}:{site.environment()['PATH']}",
        "snakemake", "--profile", "slurm", *arguments, "--config", "study=small",
        check=False, PYTHONPATH=str(plugins / "slurm"),
    )  # fmt: skip


@pytest.mark.represented_by("CANCEL")
@pytest.mark.parametrize("mode", ["CANCEL", "GANG,CANCEL"])
def test_slurm_that_cancels_what_it_preempts_is_refused(site: Project, plugins: Path, mode: str) -> None:
    done = on_slurm(site, plugins, mode)
    assert done.returncode != 0
    assert f"this Slurm has PreemptMode={mode}" in done.stderr
    assert not (site.path / "results/small").exists()


@pytest.mark.nightly
def test_partition_whose_jobs_are_cancelled_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", partition="CANCEL")
    assert done.returncode != 0
    assert "partition gpu has PreemptMode=CANCEL" in done.stderr


def test_status_command_that_waits_for_ever_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", "--slurm-status-command", "sacct")
    assert done.returncode != 0
    assert "slurm-status-command: squeue is needed" in done.stderr


@pytest.mark.nightly
def test_array_of_unlike_jobs_is_refused(site: Project, plugins: Path) -> None:
    done = on_slurm(site, plugins, "REQUEUE", "--slurm-array-jobs", "train")
    assert done.returncode != 0
    assert "an array is of one machine, and this call has several (node-cpu, node-gpu)" in done.stderr


@pytest.mark.nightly
def test_image_that_nobody_has_built_is_named(cloud: Cloud) -> None:
    del cloud.variables["SNAKEMAKE_GCEBATCH_CONTAINER"]
    done = cloud.snakemake("gce-cpu", check=False)
    assert done.returncode != 0
    assert "envs/images.yaml: there is no jax-cpu: run envs/images.sh jax-cpu" in done.stderr
    assert cloud.emulator.created == []


def on_google(
    fresh: Project, plugins: Path, tmp_path: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess:
    """Call a Google profile with an empty home and without an account."""
    home = str(tmp_path / "home")
    empty = {"HOME": home, "CLOUDSDK_CONFIG": home, "PYTHONPATH": str(plugins / "gce")}
    return fresh.run("snakemake", "--profile", "gce-gpu", *arguments, check=False, **empty | variables)


def test_quote_of_google_needs_no_account_and_ends_with_what_is_still_to_be_set(
    fresh: Project, plugins: Path, tmp_path: Path
) -> None:
    done = on_google(fresh, plugins, tmp_path, "-n")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert "quote (" in done.stderr
    assert re.search(r"^train +[1-9]", done.stdout, re.MULTILINE), "the table of its jobs"
    last = [line for line in done.stderr.splitlines() if line.startswith("still to be set: ")]
    words = (
        "SNAKEMAKE_GCEBATCH_PROJECT",
        "SNAKEMAKE_GCEBATCH_REGION",
        "EPOCHS_BUCKET",
        "gcloud auth",
        "envs/images.sh",
    )
    assert all(word in line for word, line in zip(words, last, strict=True)), last


def test_call_of_google_without_an_account_is_one_line(fresh: Project, plugins: Path, tmp_path: Path) -> None:
    done = on_google(fresh, plugins, tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "error: still to be set: SNAKEMAKE_GCEBATCH_PROJECT" in done.stderr


@pytest.mark.nightly
def test_prices_of_another_region_are_said(fresh: Project, plugins: Path, tmp_path: Path) -> None:
    variables = {"SNAKEMAKE_GCEBATCH_PROJECT": "p", "SNAKEMAKE_GCEBATCH_REGION": "europe-west4"}
    done = on_google(fresh, plugins, tmp_path, "-n", **variables)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "warning: jobs run in europe-west4, and config/hardware.yaml prices gce-" in done.stderr
