"""`epd stop` on one machine; tests/clusters has it on what stands for the clusters."""

import pytest

from scripts.storage.errors import InputError
from scripts.studies import definition
from scripts.workflow import stopping
from scripts.workflow.running import Running
from tests.conftest import Project


@pytest.mark.slow
def test_study_of_which_nothing_runs_says_so(fresh: Project) -> None:
    done = fresh.run("./epd", "stop", "tiny")
    assert done.stdout == "study tiny: no job runs or waits on this machine\n"
    done = fresh.run("./epd", "stop", "gce", check=False)
    assert (done.returncode, done.stdout) == (2, ""), "none of its machines is here"
    assert "study gce: hardware: none is reached by profile 'local'" in done.stderr


def test_what_was_ended_and_what_was_not_is_a_line_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise InputError("no permission")

    found = [Running("a/b", "7", "RUNNING", lambda: None), Running("c/d", "8", "PENDING", refuse)]
    monkeypatch.setattr(stopping.running, "on_slurm", lambda folder, study: found)
    assert not stopping.stop("small", "slurm", None)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == ["NOT ENDED: c/d (8, PENDING): no permission", "ended: a/b (7, RUNNING)"]


def test_job_that_was_ended_a_moment_ago_is_not_ended_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [Running("a/b", "7", "COMPLETING", lambda: None)]
    monkeypatch.setattr(stopping.running, "on_slurm", lambda folder, study: found)
    assert stopping.stop("small", "slurm", None)
    assert "study small: no job runs or waits on this Slurm" in capsys.readouterr().out


def test_profile_whose_jobs_are_not_known_is_said() -> None:
    with pytest.raises(InputError, match="profile 'k8s': its jobs are not known here"):
        stopping.stop("small", "k8s", None)


def test_profiles_that_train_its_other_machines_are_known() -> None:
    name, settings = definition.read("gce", {})
    assert stopping.other_profiles(name, settings, "gce-gpu") == ["gce-cpu"]
    assert stopping.other_profiles(name, settings, "gce-cpu") == ["gce-gpu"]
