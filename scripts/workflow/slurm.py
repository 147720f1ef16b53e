"""A call's own jobs on a Slurm: those that a killed call has left are waited for, those that wait in vain are ended."""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.storage.errors import InputError
from scripts.workflow import remedies, running

#: Reasons of a job that waits which no waiting mends: https://slurm.schedmd.com/job_reason_codes.html, or, of some, the
#: sentences that squeue prints in their place.
_HOPELESS = (
    "can't use this partition",
    "not permitted to use this partition",
    "AccountNotAllowed",
    "InvalidAccount",
    "InvalidQOS",
    "QOSNotAllowed",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "PartitionConfig",
    "BadConstraints",
    "JobHeldUser",
    "JobHeldAdmin",
    "AssocMaxWallDurationPerJobLimit",
    "QOSMaxWallDurationPerJobLimit",
    "launch failed requeued held",
)

#: Reasons that an administrator may mend soon: a job waits for that so long (s).
_MAY_BE_MENDED = ("DOWN, DRAINED", "ReqNodeNotAvail", "NodeDown", "PartitionDown", "PartitionInactive")
PATIENCE_SECONDS = 1800.0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def mark(parameters: Any) -> str:
    """Return what a training's job carries in its command: the same for the same run, trained by the same code."""
    what = json.dumps([list(parameters.arguments), str(parameters.claims), str(parameters.code)])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


@dataclass
class Queue:
    """The trainings of a call on a Slurm.

    Args:
        reasons: filled with why jobs were ended, by Slurm's names of them.
        waits: called for each run that has no node yet.
        say: prints a line.
    """

    reasons: MutableMapping[str, str]
    waits: Callable[[str], None]
    say: Callable[[str], None] = _say
    ask: Callable[..., str] = running.say
    clock: Callable[[], float] = time.monotonic
    #: Run by Slurm's name of its job.
    runs: dict[str, str] = field(default_factory=dict)
    _named: dict[str, float] = field(default_factory=dict)
    _began: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Print what waits; name a reason that keeps a job from its node, and end the job where that is in vain."""
        try:
            listed = self.ask("squeue", "--me", "--noheader", "--format=%i|%T|%r")
        except (InputError, subprocess.SubprocessError):
            return  # a controller that is away may be back in a minute
        for line in listed.splitlines():
            job, state, reason = line.split("|", 2)
            if job not in self.runs:
                continue
            if state != "PENDING":
                self._began.add(job)
                continue
            if job not in self._began:  # what was requeued has had a node, which it is charged for
                self.waits(self.runs[job])
            self._judge(job, reason.strip())

    def _judge(self, job: str, reason: str) -> None:
        is_hopeless = any(one in reason for one in _HOPELESS)
        if not is_hopeless and not any(one in reason for one in _MAY_BE_MENDED):
            self._named.pop(job, None)
            return
        words, is_new = f"Slurm job {job} waits: {reason}", job not in self._named
        since = self._named.setdefault(job, self.clock())
        if is_new:
            known = remedies.find(reason)
            self.say(f"{self.runs[job]}: {words}{f': {known[0]}; {known[1]}' if known else ''}")
        if is_hopeless or self.clock() - since > PATIENCE_SECONDS:
            self.reasons[job] = words
            try:
                self.ask("scancel", job)
            except InputError:
                del self.reasons[job]  # it has ended meanwhile, or will be looked at again


@dataclass(frozen=True)
class Left:
    """The jobs that earlier calls in a folder have left, by their runs; `ask` asks Slurm."""

    jobs: Mapping[str, running.Running]
    ask: Callable[..., str] = running.say
    say: Callable[[str], None] = _say

    @classmethod
    def of(cls, folder: Path, study: str) -> "Left":
        """Return those of a study; tasks of arrays are not among them."""
        found = {f"results/{study}/{one.run}": one for one in running.on_slurm(folder, study) if one.name.isdecimal()}
        return cls(found)

    def take(self, run: str, marked: str, name: str) -> tuple[str, Path] | None:
        """Return Slurm's name of the job that trains a run already, and its log; None where it is to be submitted.

        It gets the name of this call's jobs, by which the executor asks for them. One that trains it in another way is
        ended: it would write over what is to come.
        """
        job = self.jobs.get(run)
        if job is None:
            return None
        try:
            if job.mark != marked:
                self.say(f"{run}: Slurm job {job.name} trains it in another way: ended")
                job.end()
                return None
            self.ask("scontrol", "update", f"JobId={job.name}", f"JobName={name}")
            shown = self.ask("scontrol", "show", "job", job.name)
        except InputError:
            return None  # it has ended meanwhile
        self.say(f"{run}: Slurm job {job.name} runs already: it is waited for, and nothing is submitted")
        log = next((word.partition("=")[2] for word in shown.split() if word.startswith("StdOut=")), "")
        return job.name, Path(log)
