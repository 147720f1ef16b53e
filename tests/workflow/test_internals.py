"""What is used of Snakemake beside its documents, and what is said when it is gone."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.persistence import PersistenceBase

from scripts.workflow import internals, pods


@pytest.mark.parametrize(
    "use",
    [
        internals.free_cores,
        internals.storage_prefix,
        lambda workflow: internals.store_only(workflow, ("runs/",)),
        internals.jobs_to_run,
        internals.limit_no_rate,
        internals.end_when_asked,
        lambda dag: internals.let_ancient_input_trigger_nothing(dag, dag),
        lambda workflow: internals.follow(workflow, None),
        lambda workflow: internals.retry_only(workflow, bool),
        lambda workflow: internals.submit_once(workflow, max, max, max),
        pods.check_first,
        lambda workflow: pods.steer(workflow, max),
        lambda workflow: internals.send(workflow, []),
    ],
)
def test_what_is_gone_is_one_line_that_says_what_to_do(use) -> None:
    with pytest.raises(
        WorkflowError, match=r"^Snakemake \S+ has no SimpleNamespace\.\w+, by which .*envs/workflow.lock$"
    ):
        use(SimpleNamespace())


@pytest.mark.parametrize(
    "use",
    [
        internals.take_parameters_as_they_are,
        internals.show_jobs,
        internals.leave_storage,
        lambda workflow: internals.send_none_of(workflow, ("docs/",)),
    ],
)
def test_nicety_that_is_gone_is_left_out(use) -> None:
    nothing = SimpleNamespace()
    use(nothing)
    assert nothing == SimpleNamespace()


def test_sources_are_sent_whole_where_they_cannot_be_chosen() -> None:
    sent: list[str] = []
    workflow = SimpleNamespace(dag=SimpleNamespace(), write_source_archive=sent.append)
    internals.send_none_of(workflow, ("docs/",))
    workflow.write_source_archive("archive")
    assert sent == ["archive"]


def test_only_what_may_be_tried_again_is() -> None:
    failed: list[SimpleNamespace] = []
    scheduler = SimpleNamespace(error_callback=failed.append)
    internals.retry_only(SimpleNamespace(scheduler=scheduler), {1}.__contains__)
    for jobid in (1, 2):
        scheduler.error_callback(SimpleNamespace(jobid=jobid, attempt=1, restart_times=2))
    assert [job.restart_times > job.attempt - 1 for job in failed] == [True, False], "as Snakemake asks"


def slurm(find, calls: list) -> SimpleNamespace:
    """Return what stands for a workflow on Slurm, whose executor notes what it does."""
    executor = SimpleNamespace(
        array_jobs=set(),
        run_uuid="call-2",
        run_job=lambda job: calls.append(("submitted", executor.format_job_exec(job))),
        report_job_submission=lambda info: calls.append(("waited for", info.external_jobid)),
        report_job_success=lambda info: calls.append(("done", info.job)),
        cancel_jobs=lambda active: calls.append(("ended", [info.external_jobid for info in active])),
        format_job_exec=lambda job: f"train {job}",
        _report_job_submission_threadsafe=lambda info: executor.report_job_submission(info),
        _report_job_error_threadsafe=lambda info, msg: calls.append(("failed", msg)),
    )
    workflow = SimpleNamespace(scheduler=SimpleNamespace(_executor=executor, running={"b"}))
    internals.submit_once(
        workflow, find, lambda job, name: calls.append(("sent", name)), lambda job, words: f": marked; {words}"
    )
    return SimpleNamespace(executor=executor)


def test_job_is_submitted_waited_for_or_done() -> None:
    calls: list[tuple[str, str]] = []
    found = {"a": None, "b": internals.Taken("7", Path("7.log")), "c": internals.Taken()}
    made = slurm(lambda job, name: found[job], calls)
    for job in (*found, "unknown"):
        made.executor.run_job(job)
    assert calls == [
        ("submitted", ": marked; train a"),
        ("sent", "7"),
        ("waited for", "7"),
        ("done", "c"),
        ("failed", "whether it runs already is not known: KeyError('unknown')"),
    ]
    made.executor.report_job_submission(SimpleNamespace(job="ended before", external_jobid="8"))
    made.executor.cancel_jobs([])
    assert calls[-1] == ("ended", ["7"]), "also while the executor's own list is empty"


def test_only_some_paths_go_into_the_bucket() -> None:
    modifier = SimpleNamespace(apply_default_storage=lambda path: f"gs://b/{path}")
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(path_modifier=modifier),
        pathvars=SimpleNamespace(apply=lambda path: path.replace("<trained>", "runs")),
    )
    internals.store_only(workflow, ("runs/", "data/"))
    assert [modifier.apply_default_storage(path) for path in ("<trained>/x", "data/a.npz", "scripts/a.py")] == [
        "gs://b/<trained>/x",
        "gs://b/data/a.npz",
        "scripts/a.py",
    ]


def test_jobs_on_this_machine_have_no_limit_a_second_and_others_keep_it() -> None:
    for local, limiter in ((True, None), (False, "limiter")):
        workflow = SimpleNamespace(local_exec=local, scheduler=SimpleNamespace(job_rate_limiter="limiter"))
        internals.limit_no_rate(workflow)
        assert workflow.scheduler.job_rate_limiter == limiter


@pytest.fixture
def handler() -> Iterator[None]:
    """What SIGTERM does is as before after a test."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("handler")
def test_call_that_is_asked_to_end_while_it_holds_its_lock_ends() -> None:
    lock, asked = Lock(), Event()

    def exit_gracefully(*_: object) -> None:
        with lock:
            asked.set()

    scheduler = SimpleNamespace(exit_gracefully=exit_gracefully)
    internals.end_when_asked(SimpleNamespace(local_exec=True, scheduler=scheduler))
    with lock:
        os.kill(os.getpid(), signal.SIGTERM)
        assert not asked.wait(0.2)
    assert asked.wait(10)


def test_parameters_are_kept_as_snakemake_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [None, 1, 2.5, "a 'b'", ["--option", 3], {"a": (1, 2)}, {"set"}, Path("a")]
    kept = type("Kept", (PersistenceBase,), {})
    kept.__abstractmethods__ = frozenset()
    persistence = kept.__new__(kept)
    before = [persistence._serialize_param(value) for value in values]
    # So that it is as before after the test.
    monkeypatch.setattr(PersistenceBase, "_serialize_param", vars(PersistenceBase)["_serialize_param"])
    internals.take_parameters_as_they_are(PersistenceBase)
    assert [persistence._serialize_param(value) for value in values] == before


def test_ancient_input_that_is_gone_counts_as_there_only_while_jobs_are_chosen() -> None:
    class Dag:
        def __init__(self, files: list) -> None:
            self.jobs = files
            inventory = SimpleNamespace(mtime_inventory=self.look)
            self.workflow = SimpleNamespace(iocache=inventory, is_main_process=True)

        async def look(self, files: list) -> None:
            self.seen = [await file.exists() for file in files]

        async def update_needrun(self) -> None:
            self.there = [await file.exists() for file in self.jobs]

    class File:
        def __init__(self, is_ancient: bool) -> None:
            self.is_ancient = is_ancient

        async def exists(self) -> bool:
            return False

    internals.let_ancient_input_trigger_nothing(Dag, File)
    dag = Dag([File(is_ancient=True), File(is_ancient=False)])
    asyncio.run(dag.update_needrun(create_inventory=True))
    assert dag.seen == [False, False]
    assert dag.there == [True, False]
    assert not asyncio.run(dag.jobs[0].exists())


def test_pages_and_documents_are_not_sent() -> None:
    workflow = SimpleNamespace(dag=SimpleNamespace(get_sources=lambda: {"Snakefile", "docs/a.md", "scripts/docs/b.py"}))
    workflow.write_source_archive = lambda path: sent.extend(workflow.dag.get_sources())
    sent: list[str] = []
    internals.send_none_of(workflow, ("docs/", "tests/"))
    workflow.write_source_archive("archive")
    assert sorted(sent) == ["Snakefile", "scripts/docs/b.py"]


def test_a_disk_on_which_nothing_can_be_locked_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    class Full:
        lock_warn_only = None

        @contextmanager
        def lock(self) -> Iterator[None]:
            raise OSError(28, "No space left on device")
            yield

    internals.refuse_locked(Full, lambda: "another one")
    with pytest.raises(OSError, match="No space left"), Full().lock():
        pass
    assert capsys.readouterr().err == "error: .snakemake/locks: No space left on device\n"
