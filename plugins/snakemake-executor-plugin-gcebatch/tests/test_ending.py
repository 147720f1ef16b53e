import pytest
from google.cloud import batch_v1 as batch
from snakemake_executor_plugin_gcebatch import ending

QUOTA = (
    "Job state is set from QUEUED to SCHEDULED. VM in Managed Instance Group meets error: Batch Error: code - "
    "CODE_GCE_QUOTA_EXCEEDED, description - error count is 4, latest message example: Instance 'x-1' creation failed: "
    "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0 in region us-central1."
)
NO_GPUS = QUOTA.replace("NVIDIA_T4_GPUS", "GPUS_ALL_REGIONS").replace("1.0 in region us-central1", "0.0 globally")
DELAYED = (
    "Quota checking process decides to delay scheduling for the job x-1 due to inadequate quotas "
    "[Quota: NVIDIA_T4_GPUS, limit: 0, usage: 0, wanted: 1.]."
)
STOCK_OUT = (
    "VM in Managed Instance Group meets error: Batch Error: code - CODE_GCE_ZONE_RESOURCE_POOL_EXHAUSTED, "
    "description - The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the "
    "request."
)


def event(words: str, exit_code: int = 0) -> batch.StatusEvent:
    made = batch.StatusEvent(description=words)
    if exit_code:
        made.task_execution = batch.TaskExecution(exit_code=exit_code)
    return made


def failed(code: int) -> batch.StatusEvent:
    where = "zones/us-central1-b/instances/4711"
    return event(f"Task state is updated from RUNNING to FAILED on {where} with exit code {code}.", code)


@pytest.mark.parametrize(
    ("words", "status", "hopeless"),
    [
        (QUOTA, "quota", False),
        (NO_GPUS, "quota", True),
        (DELAYED, "quota", True),
        (DELAYED.replace("limit: 0", "limit: 4"), "quota", False),
        (STOCK_OUT, "no_capacity", False),
    ],
)
def test_what_a_job_waits_for_is_named(words: str, status: str, hopeless: bool) -> None:
    found = ending.waiting([event("queued"), event(words), event("still SCHEDULED")])
    assert found is not None
    assert (found.status, found.hopeless) == (status, hopeless)


def test_quota_is_named() -> None:
    assert ending.waiting([event(QUOTA)]).reason.startswith("quota NVIDIA_T4_GPUS exceeded: Job state")
    assert ending.waiting([event(DELAYED)]).reason.startswith("quota NVIDIA_T4_GPUS exceeded: Quota checking")


def test_job_that_just_waits_has_no_reason() -> None:
    assert ending.waiting([event("Job state is set from QUEUED to SCHEDULED")]) is None


@pytest.mark.parametrize(
    ("codes", "status", "reason"),
    [
        ([1], "failed", "exit code 1"),
        ([50001], "preempted", "preempted 1 times"),
        ([50001, 50001, 1], "failed", "exit code 1"),
        ([50002, 50001], "preempted", "preempted 1 times"),
        ([50002], "lost", "exit code 50002"),
        ([50004], "lost", "exit code 50004"),
        ([50005], "timed_out", "longer than it may"),
    ],
)
def test_exit_codes_say_how_it_ended(codes: list[int], status: str, reason: str) -> None:
    found = ending.failure("FAILED", [failed(code) for code in codes])
    assert found.status == status
    assert reason in found.reason
    assert [(one.zone, one.instance, one.exit_code) for one in found.lost] == [
        ("us-central1-b", "4711", code) for code in codes
    ]


def test_exit_code_is_read_from_the_words_where_it_has_no_field_of_its_own() -> None:
    (lost,) = ending.lost_vms([event("Task state is updated from RUNNING to FAILED with exit code 50001.")])
    assert (lost.exit_code, lost.zone) == (50001, None)


@pytest.mark.parametrize("state", ["CANCELLED", "DELETION_IN_PROGRESS"])
def test_job_that_somebody_ended_is_deleted(state: str) -> None:
    assert ending.failure(state, []).status == "deleted"


def test_failure_before_any_vm_says_why() -> None:
    assert ending.failure("FAILED", [event(STOCK_OUT)]).status == "no_capacity"


@pytest.mark.parametrize(
    ("why", "code", "status"),
    [
        ("Spot Preemption", 50001, ending.PREEMPTED),
        ("Batch no longer receives VM updates", 50002, ending.LOST),
        ("VM is rebooted during task execution", 50003, ending.LOST),
        ("tasks cannot be canceled", 50004, ending.LOST),
        ("task runs over the maximum runtime", 50005, ending.TIME_LIMIT),
        ("VM is recreated during task execution", 50006, ending.LOST),
    ],
)
def test_codes_that_batch_keeps_for_itself_in_the_words_of_its_documents(why: str, code: int, status: str) -> None:
    """Of its page on troubleshooting, as of 8 April 2026; the state before is not always RUNNING."""
    where = "zones/us-central1-a/instances/123"
    failed = event(f"Task state is updated from ASSIGNED to FAILED on {where} due to {why} with exit code {code}.")
    ended = ending.failure("FAILED", [failed])
    assert ended.status == status
    assert [(lost.zone, lost.instance, lost.exit_code) for lost in ended.lost] == [("us-central1-a", "123", code)]
