"""What Cloud Scheduler posts, sent to the emulated Batch: a machine that is the trigger, and then the study's."""

import base64
import json
import sys
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from tests.clusters.conftest import IMAGE, Cloud
from tests.conftest import wait_for

pytestmark = pytest.mark.slow

#: What `epd schedule add --by cloud` does but for asking Google: it sends the clone, and makes the request.
MAKE = """
import json
from scripts.workflow.intervals import interval
from scripts.workflow.timers import cloud
from scripts.workflow.scheduling import variables
at = cloud.site("jax")
cloud.send_sources("small", at)
words = ["python", "-m", "scripts.repeat", "small", "--profile", "gce-cpu", "--every", "1d"]
print(json.dumps(cloud.request("small", words, variables("gce-cpu"), interval("1d"), at, 60)))
"""


ACCOUNT = {"SNAKEMAKE_GCEBATCH_SERVICE_ACCOUNT": "trigger@our-project.iam"}


def trigger(cloud: Cloud, request: dict, turn: int) -> str:
    """Do what Cloud Scheduler does: post the body to Batch. Return the log of that machine when it is gone."""
    import grpc
    from google.cloud import batch_v1 as batch
    from google.cloud.batch_v1.services.batch_service.transports import BatchServiceGrpcTransport

    channel = grpc.insecure_channel(cloud.emulator.environment["GCEBATCH_EMULATOR_GRPC"])
    client = batch.BatchServiceClient(transport=BatchServiceGrpcTransport(channel=channel))
    job = batch.Job.from_json(base64.b64decode(request["httpTarget"]["body"]).decode())
    parent = request["httpTarget"]["uri"].split("/v1/")[1].removesuffix("/jobs")
    name = client.create_job(parent=parent, job=job, job_id=f"trigger-{turn}").name
    wait_for(lambda: client.get_job(name=name).status.state.name in ("SUCCEEDED", "FAILED"))
    assert client.get_job(name=name).status.state.name == "SUCCEEDED", cloud.emulator.log(name)[-4000:]
    return cloud.emulator.log(name)


def objects(cloud: Cloud, prefix: str) -> dict[str, str]:
    """Return the objects of the bucket below a prefix: name -> text."""
    place = f"{cloud.variables['STORAGE_EMULATOR_HOST']}"
    with urlopen(f"{place}/storage/v1/b/bucket/o?prefix={quote(prefix, safe='')}") as answer:
        names = [item["name"] for item in json.load(answer).get("items", [])]
    found = {}
    for name in names:
        with urlopen(f"{place}/download/storage/v1/b/bucket/o/{quote(name, safe='')}?alt=media") as answer:
            found[name] = answer.read().decode(errors="replace")
    return found


@pytest.mark.nightly
def test_each_trigger_is_a_machine_that_repeats_the_study_and_keeps_its_history(cloud: Cloud) -> None:
    made = cloud.project.run(sys.executable, "-c", MAKE, **cloud.variables | ACCOUNT)
    request = json.loads(made.stdout)
    # Of Google's network the machines there see what is here.
    cloud.emulator.variables |= cloud.emulator.environment
    assert "small: a repetition starts" in trigger(cloud, request, 1)
    trigger(cloud, request, 2)
    machines = [job.allocation_policy.instances[0].policy.machine_type for job in cloud.emulator.created]
    assert machines == ["n1-standard-1"] * 4, "two triggers, and what each of them trained"
    assert cloud.emulator.created[0].task_groups[0].task_spec.runnables[0].container.image_uri == IMAGE
    assert cloud.emulator.running() == []
    kept = objects(cloud, "epochs/history/small/")
    assert len([path for path in kept if "/history/20" in path and path.endswith("report.html")]) == 1, "the first"
    assert len([path for path in kept if "/results/" in path and path.endswith("report.html")]) == 1, "the second"
    assert not [path for path in kept if path.rpartition("/")[2].startswith("lease")]
    rows = kept["epochs/history/small/history/triggers.csv"].splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == ["started", "done"] * 2
    assert "2 repetitions" in kept["epochs/history/small/history/history.html"]


@pytest.mark.nightly
def test_cost_is_told_before_anybody_is_asked(cloud: Cloud) -> None:
    """Nobody is logged in here: that is said last, in a line, and nothing is sent."""
    words = ["./epd", "schedule", "add", "small", "--profile", "gce-cpu", "--every", "1d", "--by", "cloud"]
    done = cloud.project.run(*words, check=False, NO_GCE_CHECK="true", **cloud.variables | ACCOUNT)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "vm-cpu: 1 run each time" in said, said
    assert said.index("vm-cpu: 1 run each time") < said.index("Cloud Scheduler") < said.index("no login: gcloud auth")
    assert "Traceback" not in said
    assert objects(cloud, "epochs/schedules/") == {}
