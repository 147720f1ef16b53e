import logging

from snakemake_interface_logger_plugins.common import LogEvent

from scripts.workflow.meter import Follower, Meter

#: 0.36 USD an hour by the second, at least a minute of it.
RATES = {"t4": {"usd_per_hour": 0.36, "rule": {"increment_seconds": 1, "minimum_seconds": 60}, "attempts": 6}}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_runs_cost_from_their_submission_to_their_end() -> None:
    clock = Clock()
    meter = Meter(RATES, {"a": 0.1, "b": 0.1, "c": 0.1}, clock=clock)
    assert meter.line() == (
        "0 of 3 runs ended, 0 submitted; at most 0.00 hours and 0.00 USD in this call, of about 0.30 USD"
    )
    meter.begin("a", "t4")
    clock.now = 900.0
    meter.begin("b", "t4")
    clock.now = 1800.0
    meter.end("a")
    assert meter.line() == (
        "1 of 3 runs ended, 1 submitted; at most 0.75 hours and 0.27 USD in this call, of about 0.38 USD"
    ), "0.18 for a, 0.09 of 0.10 for b, and 0.10 for c"


def test_run_that_is_submitted_again_costs_both_times() -> None:
    clock = Clock()
    meter = Meter(RATES, {"a": 0.1}, clock=clock)
    for seconds in (3600.0, 10.0):
        meter.begin("a", "t4")
        clock.now += seconds
        meter.end("a")
    assert "1 of 1 runs ended" in meter.line()
    assert "0.37 USD in this call, of about 0.37 USD" in meter.line(), "an hour, and the least that is billed"


def test_second_measurement_is_counted_too() -> None:
    meter = Meter(RATES, {"a": 0.1})
    meter.begin("a2", "t4")
    assert "0 of 2 runs ended, 1 submitted" in meter.line()


def test_run_that_is_given_up_is_expected_no_longer() -> None:
    meter = Meter(RATES, {"a": 0.1, "b": 0.1}, is_given_up=lambda run: run == "b")
    assert meter.line().startswith("0 of 1 runs ended")
    assert meter.line().endswith("of about 0.10 USD")


def test_machine_without_a_price_has_hours_alone() -> None:
    meter = Meter(RATES, {"a": float("nan")})
    assert meter.line() == "0 of 1 runs ended, 0 submitted; at most 0.00 hours; not all machines have a price"
    meter = Meter(RATES, {"a": 0.1})
    meter.begin("a", "ours")
    assert meter.line().endswith("not all machines have a price")


def test_log_of_snakemake_shows_which_trainings_are_submitted() -> None:
    meter = Meter(RATES, {"mlp": 0.1, "cnn": 0.1})
    follower = Follower(meter, lambda wildcards: wildcards["workload"])

    def log(event: LogEvent, **about) -> None:
        follower.emit(logging.makeLogRecord({"event": event} | about))

    for jobid, workload in enumerate(("mlp", "cnn"), 1):
        wildcards = {"workload": workload, "hardware": "t4"}
        log(LogEvent.JOB_INFO, rule_name="train", jobid=jobid, wildcards=wildcards)
    log(LogEvent.JOB_INFO, rule_name="chart", jobid=3, wildcards={})
    assert "0 of 2 runs ended, 2 submitted" in meter.line()
    log(LogEvent.JOB_FINISHED, job_id=1)
    log(LogEvent.JOB_FINISHED, job_id=3)
    assert meter.ended == {"mlp"}
    log(LogEvent.JOB_ERROR, jobid=2, aux={"external_jobid": "jobs/2"})
    assert "1 of 2 runs ended, 1 failed, 0 submitted" in meter.line(), "what has no record has not ended"


def test_what_a_run_was_seen_to_wait_costs_the_start_of_a_machine_at_most() -> None:
    clock = Clock()
    meter = Meter(RATES, {"a": 0.1, "b": 0.1}, start_seconds=180.0, clock=clock)
    meter.begin("a", "t4")
    clock.now = 3600.0
    meter.wait("a")
    assert "at most 0.05 hours and 0.02 USD in this call" in meter.line()
    clock.now = 5400.0
    assert "at most 0.55 hours and 0.20 USD in this call" in meter.line(), "since then it may run"
    meter.wait("b")
    meter.end("a")
    meter.wait("a")
    assert "1 of 2 runs ended, 0 submitted; at most 0.55 hours and 0.20 USD" in meter.line()


def test_executor_of_google_says_what_waits_and_what_got_no_machine() -> None:
    clock = Clock()
    meter = Meter(RATES, {"a": 0.1, "b": 0.1}, clock=clock)
    follower = Follower(meter, lambda wildcards: wildcards["workload"])
    for jobid, workload in enumerate("ab", 1):
        about = {"rule_name": "train", "jobid": jobid, "wildcards": {"workload": workload, "hardware": "t4"}}
        follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_INFO} | about))
    clock.now = 3600.0
    for about in ({"waited": 1}, {"refused": 2}, {"waited": 7}, {}):
        follower.emit(logging.makeLogRecord(about))
    follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_FINISHED, "job_id": 2}))
    expected = "0 of 2 runs ended, 1 refused, 1 submitted; at most 0.00 hours and 0.00 USD in this call"
    assert meter.line().startswith(expected), "the record of a refusal is no end"


def test_job_that_never_left_the_queue_of_slurm_is_refused() -> None:
    meter = Meter(RATES, {"a": 0.1})
    follower = Follower(meter, lambda wildcards: wildcards["workload"], {"7"}.__contains__)
    about = {"rule_name": "train", "jobid": 1, "wildcards": {"workload": "a", "hardware": "t4"}}
    follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_INFO} | about))
    follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_ERROR, "jobid": 1, "aux": {"external_jobid": "7"}}))
    assert "0 of 1 runs ended, 1 refused, 0 submitted" in meter.line()


def test_run_that_the_cluster_refuses_has_not_ended_and_costs_nothing() -> None:
    clock = Clock()
    meter = Meter(RATES, {"a": 0.1, "b": 0.1}, clock=clock)
    follower = Follower(meter, lambda wildcards: wildcards["workload"])
    about = {"rule_name": "train", "wildcards": {"workload": "a", "hardware": "t4"}}
    follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_INFO, "jobid": 1} | about))
    clock.now = 3600.0
    follower.emit(logging.makeLogRecord({"event": LogEvent.JOB_ERROR, "jobid": 1, "aux": {}}))
    expected = "0 of 2 runs ended, 1 refused, 0 submitted; at most 0.00 hours and 0.00 USD in this call"
    assert meter.line() == f"{expected}, of about 0.20 USD"
