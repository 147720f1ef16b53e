"""What of a call was refused or failed, printed once more at its end: why, what to do, and where the log is."""

import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from snakemake_interface_logger_plugins.common import LogEvent

from scripts.storage.words import printable
from scripts.workflow import remedies

#: Lines of a log that are shown of a kind of failure.
_LINES = 8

#: What executors add that says nothing of this job.
_BOILERPLATE = re.compile(
    r"\n +sbatch call:.*|For further error details see the cluster/cloud log.*|"
    r"Detailed failure reason unavailable.*|SLURM sbatch failed\. The error message was|"
    r"Job submission failed with exception: ",
    re.DOTALL,
)

#: What the Snakemake of a job on a cluster writes into its log around what the job itself says.
_AROUND = re.compile(
    r"^\[[^\n]*\d\]\nError in rule .*?^ +\(command exited with non-zero exit code\)$|"
    r"^(?:Shutting down, this|Exiting because a job|Storing output in|Elapsed time:|Complete log|WorkflowError:$|"
    r"At least one job did not|Trying to restart|Using shell:|Provided |Select jobs|Execute \d+ jobs|\[\w{3} \w{3} )"
    r"[^\n]*$",
    re.DOTALL | re.MULTILINE,
)

#: States in which Slurm took a job's node away: what may be had again.
_TAKEN_AWAY = re.compile(r"SLURM status is: '(?:CANCELLED|NODE_FAIL|BOOT_FAIL|PREEMPTED|REVOKED)'|node failure")

#: What a training says last whose machine is taken from it, see scripts/train.py.
_SAVED = re.compile(r"the same call (?:goes on|trains it again)")

#: How a line begins that says why a program of this project ended.
_ERROR = "error: "


@dataclass(frozen=True)
class Failure:
    """A job without its result: what it was to make, what was said of it, its logs, and whether it had a machine."""

    what: str
    said: str
    lines: tuple[str, ...] = ()
    log: str = ""
    had_machine: bool = True

    @property
    def reason(self) -> str:
        """What it failed for: its own last error, else what the executor says."""
        own = [line for line in self.lines if line.startswith(_ERROR)]
        return own[-1].removeprefix(_ERROR) if own else self.said

    @property
    def remedy(self) -> tuple[str, str] | None:
        """The cause and what to do, if they are known."""
        return next(filter(None, map(remedies.find, (self.reason, self.said, "\n".join(self.lines)))), None)


def _last_lines(files: list[str], since: float) -> tuple[tuple[str, ...], str]:
    """Return the last lines of the first log that was written since, and its path."""
    for file in files:
        path = Path(file)
        try:
            if path.stat().st_mtime < since:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        lines = [line.rstrip() for line in _AROUND.sub("", text).splitlines() if line.strip()]
        if lines:
            return tuple(map(printable, lines[-_LINES:])), file
    return (), ""


class Failures(logging.Handler):
    """Collects from Snakemake's log what fails; `name_of` names a training by its wildcards.

    `found` is the newest failure of each job, by Snakemake's number of it. `reasons` is filled by others with what else
    is known of a job, by the cluster's name of it: why it was ended before it had a machine.
    """

    def __init__(self, name_of: Callable[[Mapping[str, str]], str], clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.found: dict[int, Failure] = {}
        self.reasons: dict[str, str] = {}
        self._name_of, self._clock = name_of, clock
        self._began: dict[int, tuple[str, float]] = {}
        self._trainings: set[int] = set()
        #: Trainings that lost their machine.
        self._taken_away: set[int] = set()

    def emit(self, record: logging.LogRecord) -> None:
        about = vars(record)
        match about.get("event"):
            case LogEvent.JOB_INFO:
                is_training = about["rule_name"] == "train"
                what = self._name_of(about["wildcards"]) if is_training else about["rule_name"]
                self._began[about["jobid"]] = what, self._clock()
                if is_training:
                    self._trainings.add(about["jobid"])
            case LogEvent.JOB_FINISHED:
                # One that has recorded that it was refused stays.
                if about["job_id"] in self.found and self.found[about["job_id"]].had_machine:
                    del self.found[about["job_id"]]
            case LogEvent.JOB_ERROR:
                self._fail(about)
            case None if "refused" in about:  # by the executor for Google Batch, which lets the job record it
                what, _ = self._began.get(about["refused"], (f"job {about['refused']}", 0.0))
                self.found[about["refused"]] = Failure(what, " ".join(record.getMessage().split()), had_machine=False)

    def _fail(self, about: Mapping) -> None:
        jobid = about["jobid"]
        what, since = self._began.get(jobid, (about["rule_name"], 0.0))
        external = about["aux"].get("external_jobid")
        reason = self.reasons.get(str(external), "")
        lines, log = _last_lines(about["log"], since) if external is not None or not about["rule_msg"] else ((), "")
        said = " ".join((reason or _BOILERPLATE.sub("", about["rule_msg"] or "")).strip(" '\n").split())
        self.found[jobid] = Failure(what, printable(said or "it failed"), lines, log, external is not None)
        was_taken = _TAKEN_AWAY.search(about["rule_msg"] or "") or (lines and _SAVED.search(lines[-1]))
        (self._taken_away.add if was_taken and not reason else self._taken_away.discard)(jobid)

    def may_be_tried_again(self, jobid: int) -> bool:
        """Return whether a training has failed for nothing but its machine, which was taken from it; others may be."""
        return jobid in self._taken_away or jobid not in self._trainings

    def lines(self) -> list[str]:
        """Return what the last screen says: a paragraph for each kind of failure."""
        kinds: dict[tuple, list[Failure]] = {}
        for failure in self.found.values():
            kinds.setdefault(failure.remedy or (failure.reason,), []).append(failure)
        said = []
        for remedy, alike in kinds.items():
            first, *others = alike
            said.append(f"NOT DONE: {first.what}{f' and {len(others)} more' * bool(others)}: {first.reason}")
            if len(remedy) == 2:
                said += [f"  why: {remedy[0]}", f"  to do: {remedy[1]}"]
            if first.log:
                said.append(f"  log: {first.log}")
            said += [f"    {line}" for line in first.lines]
        return said

    def print(self) -> None:
        """Print it, if there is anything."""
        for line in self.lines():
            print(line, file=sys.stderr, flush=True)
