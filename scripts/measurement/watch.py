"""Runs a training in a fresh process and watches it to its end, however it ends."""

import multiprocessing
import signal
from collections.abc import Callable
from contextlib import nullcontext
from math import inf
from multiprocessing.connection import wait
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil

from scripts.measurement import telemetry, worker
from scripts.measurement.checkpoint import boot_seconds
from scripts.measurement.outcome import Outcome
from scripts.storage import environment

#: What a training has to save itself after SIGTERM: less than the 30 s of Google's notice.
GRACE_SECONDS = 20.0

#: Less is the difference of two readings.
_SLEPT_SECONDS = 0.1

#: Seconds between signs of life: what is not known of the end of an attempt without notice.
SIGN_SECONDS = 60.0


class Notices(list[int]):
    """What said that this process is to end: signals, or that the process `caller` has gone (0: nobody is asked)."""

    def __init__(self, caller: int = 0) -> None:
        super().__init__()
        self._caller = caller

    def take(self, number: int, frame: object) -> None:
        self.append(number)

    def have_come(self) -> bool:
        """Return whether it is to end; asked twice a second."""
        if self._caller and not self and not psutil.pid_exists(self._caller):
            self.append(signal.SIGHUP)
        return bool(self)


def _kernel_kills() -> int:
    """Count the processes that Linux has killed for want of memory since it booted."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


def run(
    job: worker.Job,
    progress: Callable[[str], None],
    memory_limit_mib: float | None = None,
    limit_seconds: float = inf,
    alive: Callable[[float | None], None] = lambda kept_seconds: None,
    notices: Notices | None = None,
) -> Outcome:
    """Train `job` in a fresh process; `progress` gets a line per stage and epoch, `alive` a call a minute and for
    each checkpoint.

    SIGTERM, now or among the `notices` that came before, ends the training; one that has a place for checkpoints is
    saved first, and its status is `preempted`, with all its checkpoint holds.
    A training that fails, is killed, runs out of memory, takes more than `memory_limit_mib` or longer than
    `limit_seconds` is an Outcome with that status. KeyboardInterrupt ends the training and goes on to the caller.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    kernel_kills = _kernel_kills()
    outcome = Outcome()
    start, booted = perf_counter(), boot_seconds()
    process = context.Process(target=worker.train, args=(job, sender))
    notices = Notices() if notices is None else notices
    handler = signal.signal(signal.SIGTERM, notices.take)
    follower = _Follower(process, receiver, outcome, job, progress, memory_limit_mib, alive)
    try:
        # A file of a person's own may need variables of its own.
        with nullcontext() if job.workload_file else environment.of_training():
            process.start()
        sender.close()
        follower.follow(start + limit_seconds, notices.have_come)
        if notices:
            if job.checkpoints:
                process.terminate()
                follower.follow(perf_counter() + GRACE_SECONDS, lambda: False)
                # Without a word from it, what was saved before stands.
                outcome.status = outcome.status if outcome.status in ("done", "diverged") else "preempted"
            if outcome.status in ("killed", "preempted") and outcome.reason is None:
                outcome.reason = f"terminated by {signal.Signals(notices[0]).name}"
        elif follower.is_late and outcome.status == "killed":
            outcome.status, outcome.reason = "timed_out", "took longer than it may"
    finally:
        signal.signal(signal.SIGTERM, handler)
        if process.is_alive():
            process.kill()
        process.join()
    if outcome.status == "killed" and outcome.reason is None:
        if _kernel_kills() > kernel_kills:
            outcome.status, outcome.reason = "out_of_memory", "killed by Linux for want of memory"
        else:
            number = -(process.exitcode or 0)
            name = signal.Signals(number).name if number > 0 else f"exit code {process.exitcode}"
            outcome.reason = f"the training process ended by {name}"
    outcome.times["total_seconds"] = perf_counter() - start
    # The clock of the times stands still while a machine sleeps, and what is billed does not.
    slept = boot_seconds() - booted - outcome.times["total_seconds"]
    outcome.times["slept_seconds"] = slept if slept > _SLEPT_SECONDS else 0.0
    if follower.ended is not None:
        outcome.times["exit_seconds"] = perf_counter() - follower.ended
    return outcome


def _next(due: float, interval: float) -> float:
    """Return when it is due again: what a stall has missed is not caught up in a burst."""
    return due + interval * (1 + max(0.0, perf_counter() - due) // interval)


class _Follower:
    """Takes messages and samples of a training process."""

    def __init__(
        self,
        process,
        receiver,
        outcome: Outcome,
        job: worker.Job,
        progress: Callable[[str], None],
        memory_limit_mib: float | None,
        alive: Callable[[float | None], None],
    ) -> None:
        self._process, self._receiver, self._outcome, self._job = process, receiver, outcome, job
        self._progress, self._memory_limit_mib, self._alive = progress, memory_limit_mib, alive
        self._stage = "start"
        self._sampler: telemetry.Sampler | None = None
        self._start = self._next_sample = self._next_sign = perf_counter()
        self.ended: float | None = None
        self.is_late = False

    def follow(self, until: float, is_ended: Callable[[], bool]) -> None:
        """Return when the training process has ended, the clock shows `until`, or `is_ended` says so."""
        self._sampler = self._sampler or telemetry.Sampler(self._process.pid, self._job.gpus)
        outcome = self._outcome
        while not is_ended():
            if perf_counter() >= until:
                self.is_late = True
                return
            timeout = max(0.0, min(until, self._next_sample) - perf_counter())
            pending = wait([self._receiver, self._process.sentinel], timeout=timeout)
            if self._receiver in pending:
                try:
                    self._take(self._receiver.recv())
                except EOFError:
                    return
            elif self._process.sentinel in pending:
                return
            if perf_counter() >= self._next_sign:
                self._next_sign = _next(self._next_sign, SIGN_SECONDS)
                self._alive(None)
            if perf_counter() >= self._next_sample:
                self._next_sample = _next(self._next_sample, telemetry.INTERVAL_SECONDS)
                sample = self._sampler.sample(self._stage)
                if sample is None:
                    continue
                outcome.samples.append(sample)
                if self._memory_limit_mib and sample.memory_mib > self._memory_limit_mib:
                    outcome.status, outcome.reason = "out_of_memory", f"took more than {self._memory_limit_mib:.0f} MiB"
                    return

    def _take(self, message: tuple[Any, ...]) -> None:
        outcome = self._outcome
        match message:
            case ("stage", name):
                outcome.times.setdefault("spawn_seconds", perf_counter() - self._start)
                self._stage = name
                self._progress(name)
            case ("time", name, seconds):
                outcome.times[name] = seconds
            case ("clock", reading):
                outcome.clock = reading
            case ("epoch", row):
                outcome.epochs.append(row)
                self._progress(_epoch_line(row, self._job.cell.epochs))
            case ("facts", facts):
                outcome.facts |= facts
            case ("saved", seconds):
                self._alive(seconds)
            case ("end", status, reason):
                outcome.status, outcome.reason = status, reason
                self._stage, self.ended = "end", perf_counter()


def _epoch_line(row: dict[str, Any], epochs: int) -> str:
    values = [f"{name} {row[name]:.4f}" for name in ("loss", "acc", "val_loss", "val_acc") if row[name] is not None]
    return f"epoch {row['epoch'] + 1}/{epochs}: {row['elapsed']:.1f} s, {', '.join(values)}"
