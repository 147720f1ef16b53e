"""How a Google Batch job ended, or why it does not begin, from its status events. Pure."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from google.cloud import batch_v1 as batch

from snakemake_executor_plugin_gcebatch.spec import TIMED_OUT, VM_LOST

#: States in which Batch still works on a job.
ACTIVE = ("STATE_UNSPECIFIED", "QUEUED", "SCHEDULED", "RUNNING")

#: States in which a job may have a VM.
WITH_VM = (*ACTIVE, "DELETION_IN_PROGRESS", "CANCELLATION_IN_PROGRESS")

QUOTA, NO_CAPACITY, PREEMPTED, TIME_LIMIT, LOST, FAILED, DELETED = (
    "quota",
    "no_capacity",
    "preempted",
    "timed_out",
    "lost",
    "failed",
    "deleted",
)

#: What a job says that waits for a quota: when a VM was refused, and before one is asked for.
_QUOTA = re.compile(
    r"CODE_GCE_QUOTA_EXCEEDED|[Qq]uota '?(?P<refused>[\w.-]+)'? exceeded|"
    r"inadequate quotas(?:\s*\[Quota: (?P<delayed>[\w.-]+))?"
)
_LIMIT_NONE = re.compile(r"[Ll]imit: 0(\.0)?\b")
_STOCK_OUT = re.compile(r"ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources|STOCKOUT|stockout")
_TASK_ENDED = re.compile(r"from \w+ to FAILED on zones/(?P<zone>[\w-]+)/instances/(?P<instance>\w+)")
_STATE_CHANGED = re.compile(r"Job state is set from \w+ to \w+ for job \S+$")
_EXIT_CODE = re.compile(r"exit code (\d+)")


@dataclass(frozen=True)
class Lost:
    """A VM that was lost, or on which the command failed: when (ISO 8601), where, by which exit code."""

    at: str | None
    zone: str | None
    instance: str | None
    exit_code: int


@dataclass(frozen=True)
class Ending:
    """Why there is no result: one of the words above, a sentence, and the VMs that were lost on the way.

    `hopeless` is a quota of none: waiting cannot help.
    """

    status: str
    reason: str
    lost: tuple[Lost, ...] = ()
    hopeless: bool = False

    def as_dict(self) -> dict:
        return asdict(self)


def _time(event: batch.StatusEvent) -> str | None:
    moment: datetime | None = event.event_time
    return moment.isoformat() if moment and moment.timestamp() > 0 else None


def lost_vms(events: Sequence[batch.StatusEvent]) -> tuple[Lost, ...]:
    """Return every task failure that the events hold, in their order."""
    found = []
    for event in events:
        code = event.task_execution.exit_code
        if not code and (stated := _EXIT_CODE.search(event.description)):
            code = int(stated[1])
        if code:
            where = _TASK_ENDED.search(event.description)
            found.append(Lost(_time(event), where and where["zone"], where and where["instance"], code))
    return tuple(found)


def failure(state: str, events: Sequence[batch.StatusEvent]) -> Ending:
    """Return how a job ended that is in none of the active states and has not succeeded."""
    lost = lost_vms(events)
    reasons = [event.description for event in events if not _STATE_CHANGED.match(event.description)]
    said = _short(reasons[-1]) if reasons else f"Google Batch says {state}"
    if state != "FAILED":
        return Ending(DELETED, f"the Batch job is {state}", lost)
    code = lost[-1].exit_code if lost else None
    if code == TIMED_OUT:
        return Ending(TIME_LIMIT, "it ran longer than it may", lost)
    if code == VM_LOST[0]:
        return Ending(PREEMPTED, f"preempted {sum(one.exit_code == code for one in lost)} times", lost)
    if code in VM_LOST:
        return Ending(LOST, f"its VM stopped answering (exit code {code})", lost)
    if code is None and (waits := waiting(events)):
        return Ending(waits.status, waits.reason, lost)
    return Ending(FAILED, f"exit code {code}" if code else said, lost)


def waiting(events: Sequence[batch.StatusEvent]) -> Ending | None:
    """Return why a job has no VM yet: quota or stock-out, as the newest event says; None if none says so."""
    for event in reversed(events):
        if match := _QUOTA.search(event.description):
            name = match["refused"] or match["delayed"]
            name = name or ((again := re.search(r"'([\w.-]+)' exceeded", event.description)) and again[1])
            reason = f"quota {name or ''} exceeded: {_short(event.description)}".replace("  ", " ")
            return Ending(QUOTA, reason, hopeless=bool(_LIMIT_NONE.search(event.description)))
        if _STOCK_OUT.search(event.description):
            return Ending(NO_CAPACITY, f"no such VM is free: {_short(event.description)}")
    return None


def _short(text: str, most: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
