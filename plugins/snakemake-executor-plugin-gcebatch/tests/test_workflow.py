"""Snakemake through the plugin to jobs that really run, and to what goes wrong."""

import re
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import LIMIT_SECONDS, PLAIN, Site
from emulator import Emulator, machines_boot

#: Each job runs until the test lets it end.
WAITING = "echo begun; until [ -e MAY_END ]; do sleep 0.2; done; echo {wildcards.name} > {output}"


def wait_for(condition) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def wait_until_said(site: Site, words: str, times: int) -> None:
    logs = site.folder / ".snakemake" / "log"
    wait_for(lambda: sum(log.read_text().count(words) for log in logs.glob("*.log")) == times)


def machines(emulator: Emulator) -> dict[str, list[str]]:
    """Return machine type and accelerators by the image of what was asked for."""
    found = {}
    for job in emulator.created:
        policy = job.allocation_policy.instances[0].policy
        found[job.name] = [policy.machine_type, *(f"{one.count} {one.type_}" for one in policy.accelerators)]
    return found


def test_jobs_run_on_machines_of_their_own(site: Site) -> None:
    code, said = site.run()
    assert code == 0, said
    assert sorted(machines(site.emulator).values()) == [["n1-standard-4"], ["n1-standard-4", "1 nvidia-tesla-t4"]]
    for job in site.emulator.created:
        assert job.allocation_policy.labels["study"] == "small"
        assert job.allocation_policy.labels["snakemake-rule"] == "make"
        if machines_boot():
            booted = re.search(r"^up ([\d.]+)$", site.emulator.log(job.name), re.MULTILINE)
            assert float(booted[1]) < 60, "the VM has booted for it"
    assert site.emulator.running() == []
    code, said = site.run()
    assert code == 0, said
    assert len(site.emulator.created) == 2, "what is in the bucket is not made again"


@pytest.mark.nightly
def test_the_example_runs(site: Site) -> None:
    shutil.copy(Path(__file__).parents[1] / "example" / "Snakefile", site.folder / "Snakefile")
    code, said = site.run()
    assert code == 0, said
    assert sorted(machines(site.emulator).values()) == [["g2-standard-4"], ["n2-standard-2"]]
    policies = [job.allocation_policy.instances[0] for job in site.emulator.created]
    assert [one.policy.provisioning_model.name for one in policies] == ["SPOT", "SPOT"]
    assert sorted(one.install_gpu_drivers for one in policies) == [False, True]
    assert site.object("joined.txt").startswith("cpu\n")


@pytest.mark.nightly
def test_settings_of_a_call_reach_its_vms(site: Site) -> None:
    settings = {"provisioning-model": "FLEX_START", "boot-disk-type": "pd-ssd", "network": "ours"}
    code, said = site.run(*(word for key, value in settings.items() for word in (f"--gcebatch-{key}", value)))
    assert code == 0, said
    for job in site.emulator.created:
        policy = job.allocation_policy.instances[0].policy
        assert (policy.provisioning_model.name, policy.boot_disk.type_) == ("FLEX_START", "pd-ssd")
        assert job.allocation_policy.network.network_interfaces[0].network == "global/networks/ours"
    code, said = site.run("--gcebatch-provisioning-model", "FLEXIBLE")
    assert code != 0
    assert "--gcebatch-provisioning-model 'FLEXIBLE': one of STANDARD, SPOT, FLEX_START" in said
    assert "Traceback" not in said


def test_failing_job_shows_the_end_of_its_log(site: Site) -> None:
    site.write("echo the model is broken; exit 7")
    code, said = site.run()
    assert code != 0
    assert "failed: exit code 1" in said
    assert "the model is broken" in said
    assert len(site.emulator.created) == 2, "it is not tried again"


@pytest.mark.nightly
def test_preempted_job_is_run_again_on_another_machine(site: Site) -> None:
    first_try = "trap 'echo saved; exit 1' TERM; echo begun; sleep 300 & wait"
    site.write(f"[ $BATCH_TASK_RETRY_ATTEMPT -ge 1 ] || {{{{ {first_try}; }}}}; {PLAIN}")
    process = site.start("--gcebatch-spot")
    wait_for(lambda: sum("begun" in site.emulator.log(name) for name in site.emulator.running()) == 2)
    names = site.emulator.running()
    for name in names:
        site.emulator.preempt(name)
    wait_for(lambda: all("saved" in site.emulator.log(name) for name in names))
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said
    assert "exit code 50001" in said


@pytest.mark.nightly
def test_ctrl_c_deletes_every_machine(site: Site) -> None:
    site.write(WAITING)
    process = site.start()
    wait_for(lambda: len(site.emulator.running()) == 2)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode != 0
    assert sorted(site.emulator.deleted) == sorted(job.name for job in site.emulator.created), said


@pytest.mark.nightly
def test_restarted_snakemake_waits_for_the_jobs_that_run(site: Site) -> None:
    site.write(WAITING)
    process = site.start()
    wait_for(lambda: len(site.emulator.running()) == 2)
    process.kill()
    process.communicate(timeout=LIMIT_SECONDS)
    site.run("--unlock")
    process = site.start("--rerun-incomplete")
    wait_until_said(site, "runs already", 2)
    site.let_jobs_end()
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said
    assert len(site.emulator.created) == 2, "nothing is paid twice"


@pytest.mark.nightly
def test_second_snakemake_elsewhere_waits_for_the_jobs_of_the_first(site: Site) -> None:
    site.write(WAITING)
    first = site.start()
    wait_for(lambda: len(site.emulator.running()) == 2)
    elsewhere = replace(site, folder=shutil.copytree(site.folder, site.folder.with_name("elsewhere")))
    shutil.rmtree(elsewhere.folder / ".snakemake")
    second = elsewhere.start()
    wait_until_said(elsewhere, "runs already", 2)
    site.let_jobs_end()
    # Snakemake 9.27: whoever ends last does not find the archive of the sources, and says so by its exit code.
    said, _ = second.communicate(timeout=LIMIT_SECONDS)
    assert "(100%) done" in said
    said, _ = first.communicate(timeout=LIMIT_SECONDS)
    assert "(100%) done" in said
    assert len(site.emulator.created) == 2


@pytest.mark.nightly
def test_lost_connection_is_waited_for(site: Site) -> None:
    site.write(WAITING)
    process = site.start()
    wait_for(lambda: len(site.emulator.running()) == 2)
    site.emulator.away = True
    site.let_jobs_end()
    wait_for(lambda: site.emulator.turned_away >= 3)
    assert process.poll() is None
    site.emulator.away = False
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said
    assert (len(site.emulator.created), site.emulator.deleted) == (2, [])


@pytest.mark.nightly
def test_lost_connection_delays_what_is_submitted(site: Site) -> None:
    site.emulator.away = True
    process = site.start()
    wait_for(lambda: site.emulator.turned_away >= 3)
    assert process.poll() is None
    assert site.emulator.created == []
    site.emulator.away = False
    said, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, said
    assert (len(site.emulator.created), site.emulator.deleted) == (2, [])


@pytest.mark.nightly
def test_job_that_would_do_something_else_is_deleted_first(site: Site) -> None:
    site.write(WAITING)
    process = site.start()
    wait_for(lambda: len(site.emulator.running()) == 2)
    process.kill()
    process.communicate(timeout=LIMIT_SECONDS)
    site.run("--unlock")
    site.write()
    code, said = site.run("--rerun-incomplete")
    assert code == 0, said
    assert len(site.emulator.deleted) == 2
    assert "in another way: deleted" in said


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 0.0 in region us-central1.", "quota"),
        ("code - CODE_GCE_ZONE_RESOURCE_POOL_EXHAUSTED, description - no resources", "no_capacity"),
    ],
)
def test_what_cannot_be_had_is_said_with_the_alternatives(site: Site, words: str, status: str) -> None:
    site.emulator.refuse["nvidia-tesla-t4"] = words
    site.emulator.zones["nvidia-tesla-t4"] = ["europe-west4-b", "us-central1-a"]
    code, said = site.run("--gcebatch-queue-timeout", "3", "--keep-going")
    assert code != 0
    assert f"{status}: " in said
    assert "other regions: europe-west4" in said
    assert len(site.emulator.deleted) == 1


@pytest.mark.nightly
def test_how_it_ended_can_be_recorded_here(site: Site) -> None:
    site.write("echo ${{HOW_IT_ENDED:-trained}} > {output}")
    site.emulator.refuse["nvidia-tesla-t4"] = "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 0.0"
    code, said = site.run("--gcebatch-record-endings", "HOW_IT_ENDED")
    assert code == 0, said
    ended = site.object("joined.txt")
    assert '"status": "quota"' in ended
    assert "trained" in ended, "the other job had a machine"


@pytest.mark.nightly
def test_worker_that_never_answers_is_ended(site: Site) -> None:
    site.emulator.silent.add("nvidia-tesla-t4")
    site.emulator.minute_seconds = 0.5
    code, said = site.run("--keep-going", "--default-resources", "runtime=10")
    assert code != 0
    assert "timed_out" in said


@pytest.mark.parametrize("missing", ["project", "region"])
def test_missing_setting_is_one_line(site: Site, missing: str) -> None:
    code, said = site.run(f"--gcebatch-{missing}", "")
    assert code != 0
    assert f"--gcebatch-{missing} (or SNAKEMAKE_GCEBATCH_{missing.upper()}) is missing" in said
    assert "Traceback" not in said
