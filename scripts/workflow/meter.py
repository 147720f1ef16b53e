"""Print, while runs train on a cluster, what their machines have cost so far and what is to come."""

import atexit
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from snakemake_interface_logger_plugins.common import LogEvent

from scripts.costs.billing import SECONDS_PER_HOUR, Rule
from scripts.costs.budget import Rate

#: Between two lines, and how often a cluster is asked meanwhile what waits.
SECONDS, LOOKS = 60.0, 4


@dataclass
class Meter:
    """Counts the time of machines: from the submission of their jobs, less what these were seen to wait for a machine.

    A job waits until its cluster says that it runs; of that wait the start of a machine is counted, which is billed
    before anything runs on it. So it is the most that they cost.

    Args:
        rates: of machines, as `Quotes.rates` returns them.
        expected_usd: of each run that is to be trained; NaN without a price.
        is_given_up: says whether a run is not to be trained after all.
        start_seconds: that a machine takes to start at most, 0 where it is up already.
        clock: returns seconds.
    """

    rates: Mapping[str, Mapping]
    expected_usd: Mapping[str, float]
    is_given_up: Callable[[str], bool] = lambda run: False
    start_seconds: float = 0.0
    clock: Callable[[], float] = time.monotonic
    ended: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _since: dict[str, float] = field(default_factory=dict)
    _seconds: dict[str, list[float]] = field(default_factory=dict)
    _hardware: dict[str, str] = field(default_factory=dict)

    def begin(self, run: str, hardware: str) -> None:
        """Note that a run was submitted, once more if it was before."""
        with self._guard:
            self._hardware[run] = hardware
            self._since[run] = self.clock()
            for others in (self.ended, self.failed, self.refused):
                others.discard(run)

    def wait(self, run: str) -> None:
        """Note that a run has had no machine until now, but for one that may be starting."""
        with self._guard:
            if run in self._since:
                self._since[run] = max(self._since[run], self.clock() - self.start_seconds)

    def end(self, run: str) -> None:
        """Note that a run has its record."""
        self._leave(run, self.ended)

    def fail(self, run: str) -> None:
        """Note that a run had a machine, and has no record."""
        self._leave(run, self.failed)

    def _leave(self, run: str, among: set[str]) -> None:
        with self._guard:
            self._seconds.setdefault(run, []).append(self.clock() - self._since.pop(run))
            among.add(run)

    def refuse(self, run: str) -> None:
        """Note that a run got no machine: it has cost nothing, and has not ended."""
        with self._guard:
            self._since.pop(run)
            self.refused.add(run)

    def _spans(self, run: str) -> list[float]:
        """Return the seconds of each machine that a run has had."""
        at_work = [self.clock() - self._since[run]] if run in self._since else []
        return self._seconds.get(run, []) + at_work

    def _usd(self, run: str) -> float:
        """Return what a run has cost; NaN on a machine without a price."""
        if run not in self._hardware:
            return 0.0
        entry = self.rates.get(self._hardware[run])
        if entry is None:
            return float("nan")
        rate = Rate(entry["usd_per_hour"], Rule(**entry["rule"]))
        return sum(rate.usd(seconds) for seconds in self._spans(run))

    def line(self) -> str:
        """Return one line: how many runs ended and are submitted, hours and USD at most, USD expected in all."""
        with self._guard:
            return self._line()

    def _line(self) -> str:
        hours = sum(sum(self._spans(run)) for run in self._hardware) / SECONDS_PER_HOUR
        wanted = {
            run: usd for run, usd in self.expected_usd.items() if run in self._hardware or not self.is_given_up(run)
        }
        runs = len(wanted.keys() | self._hardware.keys())
        said = f"{len(self.ended)} of {runs} runs ended"
        for what, among in (("failed", self.failed), ("refused", self.refused)):
            said += f", {len(among)} {what}" * bool(among)
        said += f", {len(self._since)} submitted"
        said += f"; at most {hours:.2f} hours"
        so_far = sum(self._usd(run) for run in self._hardware)
        left = {run: usd for run, usd in wanted.items() if run not in self.ended}
        in_all = so_far + sum(max(usd - self._usd(run), 0.0) if usd == usd else usd for run, usd in left.items())
        if in_all != in_all:
            return f"{said}; not all machines have a price"
        return f"{said} and {so_far:.2f} USD in this call, of about {in_all:.2f} USD"


class Follower(logging.Handler):
    """Reports to a meter from Snakemake's log which trainings are submitted and end.

    `name` names a run by its wildcards; `is_refused(job)` whether the cluster has named a reason for which a job, by
    the cluster's name of it, never got a machine.
    """

    def __init__(
        self,
        meter: Meter,
        name: Callable[[Mapping[str, str]], str],
        is_refused: Callable[[str], bool] = lambda job: False,
    ) -> None:
        super().__init__()
        self._meter, self._name, self._is_refused = meter, name, is_refused
        self._runs: dict[int, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        about = vars(record)
        match about.get("event"):
            case LogEvent.JOB_INFO if about["rule_name"] == "train":
                run = self._runs[about["jobid"]] = self._name(about["wildcards"])
                self._meter.begin(run, about["wildcards"]["hardware"])
            case LogEvent.JOB_FINISHED if about["job_id"] in self._runs:
                self._meter.end(self._runs.pop(about["job_id"]))
            case LogEvent.JOB_ERROR if about["jobid"] in self._runs:
                run, job = self._runs.pop(about["jobid"]), about["aux"].get("external_jobid")
                had_machine = job is not None and not self._is_refused(str(job))
                (self._meter.fail if had_machine else self._meter.refuse)(run)
            # What the executor for Google Batch says of a job by Snakemake's number of it.
            case None if about.get("waited") in self._runs:
                self._meter.wait(self._runs[about["waited"]])
            case None if about.get("refused") in self._runs:
                self._meter.refuse(self._runs.pop(about["refused"]))


def print_every_minute(meter: Meter, look: Callable[[], None] = lambda: None) -> None:
    """Print the meter's line every minute for as long as this process lives, and at its end; `look` more often."""

    def say() -> None:
        print(meter.line(), file=sys.stderr, flush=True)

    def repeat() -> None:
        while True:
            for _ in range(LOOKS):
                time.sleep(SECONDS / LOOKS)
                look()
            say()

    atexit.register(say)
    threading.Thread(target=repeat, daemon=True).start()
