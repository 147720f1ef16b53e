"""`snakemake stop_all` on one machine; tests/clusters has it on what stands for the clusters."""

import sys

import pytest

from scripts import stop_all
from scripts.storage.errors import InputError
from scripts.workflow.running import Running
from tests.conftest import Project


@pytest.mark.slow
def test_study_of_which_nothing_runs_says_so(fresh: Project) -> None:
    done = fresh.run("snakemake", "stop_all", "--config", "study=tiny")
    assert "study tiny: no job runs or waits on this machine" in done.stdout
    done = fresh.run("snakemake", "stop_all", "--config", "study=gce", check=False)
    assert done.returncode != 0, "none of its machines is here"


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["stop_all", *words])
    return stop_all.main()


def test_what_was_ended_and_what_was_not_is_a_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise InputError("no permission")

    found = [Running("a/b", "7", "RUNNING", lambda: None), Running("c/d", "8", "PENDING", refuse)]
    monkeypatch.setattr(stop_all.running, "on_slurm", lambda folder, study: found)
    assert call(monkeypatch, "small", "--profile", "slurm", "--others", "local") == 1
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[:2]) == ["NOT ENDED: c/d (8, PENDING): no permission", "ended: a/b (7, RUNNING)"]
    assert lines[2:] == ["jobs of small on its other machines: the same call with --profile local"]


def test_job_that_was_ended_a_moment_ago_is_not_ended_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [Running("a/b", "7", "COMPLETING", lambda: None)]
    monkeypatch.setattr(stop_all.running, "on_slurm", lambda folder, study: found)
    assert call(monkeypatch, "small", "--profile", "slurm") == 0
    assert "study small: no job runs or waits on this Slurm" in capsys.readouterr().out


def test_profile_whose_jobs_are_not_known_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="profile 'k8s': its jobs are not known here"):
        call(monkeypatch, "small", "--profile", "k8s")
