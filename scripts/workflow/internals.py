"""What this project uses of Snakemake that is not in its documents: each in one place, with what to do when it is gone.

Without what `need` returns something would be wrong: a call is refused. A `nicety` is left out in silence. Which hooks
would replace them is in docs/snakemake.md. Tried with Snakemake 9.27, which envs/workflow.lock pins.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from threading import Thread
from typing import Any

from snakemake.exceptions import WorkflowError

_STDERR = 2


def need(thing: Any, name: str, why: str) -> Any:
    """Return a private attribute. Raises WorkflowError in one line where this Snakemake lacks it."""
    if not hasattr(thing, name):
        from snakemake import __version__

        raise WorkflowError(
            f"Snakemake {__version__} has no {type(thing).__name__}.{name}, by which {why}: install the one of "
            "envs/workflow.lock"
        )
    return getattr(thing, name)


def nicety(use: Callable[..., None]) -> Callable[..., None]:
    """Leave Snakemake as it is where it has not what `use` takes: a call is slower then, or says less."""

    @wraps(use)
    def tried(*given: Any) -> None:
        with suppress(AttributeError):
            use(*given)

    return tried


def free_cores(workflow: Any) -> None:
    """Let the cores of this machine limit no job: of a cluster's machines each has its own."""
    why = "a cluster's jobs are not held to the cores of this machine"
    need(workflow, "resource_settings", why).cores = None
    need(workflow, "global_resources", why)["_cores"] = None


def storage_prefix(workflow: Any) -> str | None:
    """Return the bucket that runs go through, None on a shared file system."""
    settings = need(workflow, "storage_settings", "the bucket of a profile is known")
    if not settings or not settings.default_storage_provider:
        return None
    return str(settings.default_storage_prefix)


def send(workflow: Any, files: Iterable[str]) -> None:
    """Let files that git does not know go to the machines that train, with those that it knows."""
    need(workflow, "configfiles", "a person's own settings reach the machines that train").extend(files)


@nicety
def send_none_of(workflow: Any, prefixes: tuple[str, ...]) -> None:
    """Keep what lies below `prefixes` from the machines that train: Snakemake sends all that git knows, compressed."""
    write: Callable[[Any], None] = workflow.write_source_archive

    @nicety
    def narrow(dag: Any) -> None:
        sources: Callable[[], Iterable[str]] = dag.get_sources
        dag.get_sources = lambda: {file for file in sources() if not file.startswith(prefixes)}

    def write_needed(path: Any) -> None:
        narrow(workflow.dag)
        write(path)

    workflow.write_source_archive = write_needed


@nicety
def leave_storage(workflow: Any) -> None:
    """Take all files for local ones: a dry run then needs neither account nor network."""
    workflow.modifier.path_modifier.apply_default_storage = lambda path: path


def store_only(workflow: Any, prefixes: tuple[str, ...]) -> None:
    """Keep in the bucket what lies below `prefixes`: code is sent, and what is made of the runs stays here."""
    why = "code and tables stay out of the bucket"
    modifier = need(need(workflow, "modifier", why), "path_modifier", why)
    apply: Callable[[Any], Any] = need(modifier, "apply_default_storage", why)
    pathvars = need(workflow, "pathvars", why)

    def store(path: Any) -> Any:
        return apply(path) if pathvars.apply(str(path)).startswith(prefixes) else path

    modifier.apply_default_storage = store


@nicety
def show_jobs(workflow: Any) -> None:
    """Let a dry run show the table of its jobs, which `quiet: progress` of a profile hides (Snakemake 9.27)."""
    from snakemake.settings.enums import Quietness

    for handler in workflow.logger_manager.logger.handlers:
        for one in handler.filters:
            if quiet := getattr(one, "quiet", None):
                one.quiet = frozenset(quiet) - {Quietness.PROGRESS}


def jobs_to_run(workflow: Any) -> list[Any]:
    """Return the jobs that this call runs, those that have ended too."""
    dag = need(workflow, "dag", "the runs of a call are counted")
    return list(need(dag, "needrun_jobs", "the runs of a call are counted")(exclude_finished=False))


def limit_no_rate(workflow: Any) -> None:
    """Take the limit of jobs a second off jobs on this machine.

    With it, which is on by default, each job that ends starts one more timer that goes through all ready jobs every
    second (Snakemake 9.27): after a hundred runs that took 40 % of a core from the timed ones.
    """
    why = "waiting jobs take no time from those that are measured"
    if need(workflow, "local_exec", why):
        scheduler = need(workflow, "scheduler", why)
        need(scheduler, "job_rate_limiter", why)
        scheduler.job_rate_limiter = None


def end_when_asked(workflow: Any) -> None:
    """Let SIGTERM end a call at any moment, and say what to do then, as after Ctrl-C.

    Snakemake's handler waits for a lock that the main thread, in which it runs, may hold (Snakemake 9.27): a call that
    was asked to end while a job ended hung for ever. In a thread of its own it waits until the lock is free. It also
    waits for the jobs that it has submitted, which may be for ever: a cluster's are ended with it, as by Ctrl-C.
    """
    is_local = need(workflow, "local_exec", "a call ends when asked to")
    why = "a call ends when asked to"
    end = need(need(workflow, "scheduler", why), "exit_gracefully", why)

    def on_signal(number: int, frame: Any) -> None:
        # Not by `print`, which the signal may have interrupted, and which cannot be called within itself.
        with suppress(OSError):  # a terminal that is gone
            os.write(_STDERR, b"interrupted: the same command goes on from what is there\n")
        if number == signal.SIGINT or not is_local:
            signal.default_int_handler(number, frame)
        Thread(target=end, daemon=True).start()

    signal.signal(signal.SIGTERM, on_signal)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_signal)


@nicety
def take_parameters_as_they_are(persistence: Any) -> None:
    """Keep Snakemake from loading pandas, a third of a second, to see that no parameter of a job is one of its tables.

    `persistence` is `snakemake.persistence.PersistenceBase`.
    """
    persistence._serialize_param = persistence._serialize_param_builtin


def let_ancient_input_trigger_nothing(dag: Any, file: Any) -> None:
    """Let no job run again because an `ancient` input, which was gone, is made anew for another job.

    Snakemake 9.27 leaves alone only the readers of ancient inputs that are there: one cell by force, where the data
    had been deleted, trained all that had ever read them. `dag` is `snakemake.dag.DAG`, `file` `snakemake.io._IOFile`.
    """
    why = "data that are fetched again train nothing again"
    update = need(dag, "update_needrun", why)
    exists = need(file, "exists", why)
    is_deciding = ContextVar("is_deciding", default=False)

    async def update_needrun(self: Any, create_inventory: bool = False) -> None:
        if create_inventory and self.workflow.is_main_process:  # of the files that are there, by `exists` as it is
            await need(self.workflow.iocache, "mtime_inventory", why)(self.jobs)
        token = is_deciding.set(True)
        try:
            await update(self)
        finally:
            is_deciding.reset(token)

    async def exists_or_is_ancient(self: Any) -> bool:
        return (is_deciding.get() and self.is_ancient) or await exists(self)

    dag.update_needrun = update_needrun
    file.exists = exists_or_is_ancient


def refuse_locked(
    persistence: Any, why_locked: Callable[[], str], held: Callable[[], AbstractContextManager[None]] = nullcontext
) -> None:
    """Print a line where files cannot be locked, or another call has: the profiles keep Snakemake's off the screen.

    `held` is entered while this call has locked them. A dry run locks nothing and needs no warning. `persistence` is
    `snakemake.persistence.PersistenceBase`.
    """
    why = "a call that is refused says so"
    lock: Callable[[Any], AbstractContextManager[None]] = need(persistence, "lock", why)
    need(persistence, "lock_warn_only", why)

    @contextmanager
    def lock_or_say(self: Any) -> Iterator[None]:
        from snakemake.exceptions import LockException

        try:
            with lock(self), held():
                yield
        except LockException:
            print(why_locked(), file=sys.stderr)
            raise
        except OSError as error:  # a full disk's, before any job could say so
            print(f"error: {error.filename or '.snakemake/locks'}: {error.strerror or error}", file=sys.stderr)
            raise

    persistence.lock = lock_or_say
    persistence.lock_warn_only = lambda _: nullcontext()


def retry_only(workflow: Any, may_be_tried_again: Callable[[int], bool]) -> None:
    """Try only such jobs again as `may_be_tried_again` says of their numbers: `retries` counts all errors alike."""
    why = "what was refused is not tried again"
    scheduler = need(workflow, "scheduler", why)
    failed: Callable[[Any], None] = need(scheduler, "error_callback", why)

    def on_error(job: Any) -> None:
        if not may_be_tried_again(need(job, "jobid", why)):
            job.attempt = need(job, "restart_times", why) + 1
        failed(job)

    scheduler.error_callback = on_error


@dataclass(frozen=True)
class Taken:
    """A job that is not to be submitted: its result is there, or one of this name (and log) runs on the cluster."""

    external_jobid: str | None = None
    log: Path | None = None


def submit_once(
    workflow: Any,
    find: Callable[[Any, str], Taken | None],
    sent: Callable[[Any, str], None],
    command_of: Callable[[Any, str], str],
) -> None:
    """Ask `find(job, name of this call's jobs)` before a job is submitted to Slurm (plugin 2.8.0, arrays apart).

    `sent(job, Slurm's name of it)` is called for each that was, `command_of(job, command)` returns what it runs.
    """
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo  # type: ignore[import-untyped]

    why = "a job that runs already is not submitted again"
    scheduler = need(workflow, "scheduler", why)
    executor = need(scheduler, "_executor", why)
    if need(executor, "array_jobs", why):
        return
    name = need(executor, "run_uuid", why)
    submit, report_submission, written = executor.run_job, executor.report_job_submission, executor.format_job_exec
    report_taken = need(executor, "_report_job_submission_threadsafe", why)
    lost = need(executor, "_report_job_error_threadsafe", why)

    def run_job(job: Any) -> None:
        try:
            taken = find(job, name)
        except Exception as error:  # in a thread of the executor, which would lose it
            lost(SubmittedJobInfo(job), f"whether it runs already is not known: {error!r}")
            return
        if taken is None:
            submit(job)
        elif taken.external_jobid is None:
            executor.report_job_success(SubmittedJobInfo(job))
        else:
            report_taken(SubmittedJobInfo(job, taken.external_jobid, {"slurm_logfile": taken.log}))

    submitted: list[Any] = []

    def report(info: Any, **options: Any) -> None:
        submitted.append(info)
        sent(info.job, str(info.external_jobid))
        report_submission(info, **options)

    end = executor.cancel_jobs

    def cancel(active: list[Any]) -> None:
        # The executor's own list is empty while it asks for the states of its jobs: Ctrl-C would leave them.
        end([info for info in submitted if info.job in scheduler.running])

    executor.run_job, executor.report_job_submission, executor.cancel_jobs = run_job, report, cancel
    executor.format_job_exec = lambda job: command_of(job, written(job))


def is_left_incomplete(workflow: Any, job: Any) -> bool:
    """Return whether a job runs again for nothing but that its call did not see it end."""
    reason = need(need(workflow, "dag", "a run is known"), "reason", "a run is known")(job)
    others = ("forced", "missing_output", "updated_input", "updated_input_run", "code_changed", "input_changed")
    return bool(reason.incomplete_output) and not any(getattr(reason, other, None) for other in others)


def follow(workflow: Any, handler: Any) -> None:
    """Let a handler see the records of Snakemake's log, with those of jobs that end.

    With `quiet: progress` Snakemake makes none of these (9.27); what is made, its filter keeps off the screen.
    """
    from snakemake import logging

    why = "the money of a call is counted"
    scheduler = need(workflow, "scheduler", why)
    need(scheduler, "print_progress", why)
    scheduler.print_progress = True
    need(logging, "logger", why).addHandler(handler)
