"""Runs a training in a fresh process and watches it to its end, however it ends."""

import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from time import perf_counter
from typing import Any

from scripts.measurement import telemetry, worker


@dataclass
class Outcome:
    """What is known of a run: how it ended, its times (s), its epochs, what the machine did meanwhile.

    `clock` is the reading at which the timed region began, None if it never did.
    """

    status: str = "killed"
    reason: str | None = None
    times: dict[str, float] = field(default_factory=dict)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    samples: list[telemetry.Sample] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    clock: float | None = None


class Terminated(Exception):
    """SIGTERM reached the watcher."""


def _terminate(number: int, frame: object) -> None:
    raise Terminated


def _kernel_kills() -> int:
    """Count the processes that Linux has killed for want of memory since it booted."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


def run(job: worker.Job, progress: Callable[[str], None], memory_limit_mib: float | None = None) -> Outcome:
    """Train `job` in a fresh process; `progress` gets a line per stage and epoch.

    A training that fails, is killed, runs out of memory or takes more than `memory_limit_mib` is an Outcome with
    that status. KeyboardInterrupt ends the training and goes on to the caller.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    kernel_kills = _kernel_kills()
    outcome = Outcome()
    start = perf_counter()
    process = context.Process(target=worker.train, args=(job, sender))
    handler = signal.signal(signal.SIGTERM, _terminate)
    try:
        process.start()
        sender.close()
        _follow(process, receiver, outcome, job, progress, memory_limit_mib)
    except Terminated:
        outcome.reason = "terminated by SIGTERM"
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
    return outcome


def _follow(
    process,
    receiver,
    outcome: Outcome,
    job: worker.Job,
    progress: Callable[[str], None],
    memory_limit_mib: float | None,
) -> None:
    """Take messages and samples until the training process has ended."""
    sampler = telemetry.Sampler(process.pid, job.gpus)
    stage = "start"
    next_sample = perf_counter()
    while True:
        pending = wait([receiver, process.sentinel], timeout=max(0.0, next_sample - perf_counter()))
        if receiver in pending:
            try:
                message = receiver.recv()
            except EOFError:
                return
            match message:
                case ("stage", name):
                    stage = name
                    progress(name)
                case ("time", name, seconds):
                    outcome.times[name] = seconds
                case ("clock", reading):
                    outcome.clock = reading
                case ("epoch", row):
                    outcome.epochs.append(row)
                    progress(_epoch_line(row, job.cell.epochs))
                case ("facts", facts):
                    outcome.facts |= facts
                case ("end", status, reason):
                    outcome.status, outcome.reason = status, reason
                    stage = "end"
        elif process.sentinel in pending:
            return
        if perf_counter() >= next_sample:
            next_sample += telemetry.INTERVAL_SECONDS
            sample = sampler.sample(stage)
            if sample is None:
                continue
            outcome.samples.append(sample)
            if memory_limit_mib and sample.memory_mib > memory_limit_mib:
                outcome.status, outcome.reason = "out_of_memory", f"took more than {memory_limit_mib:.0f} MiB"
                return


def _epoch_line(row: dict[str, Any], epochs: int) -> str:
    values = [f"{name} {row[name]:.4f}" for name in ("loss", "acc", "val_loss", "val_acc") if row[name] is not None]
    return f"epoch {row['epoch'] + 1}/{epochs}: {row['elapsed']:.1f} s, {', '.join(values)}"
