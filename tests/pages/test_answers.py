from dataclasses import replace

from scripts.pages.answers import context
from tests.made import STUDY, inputs, run, runs

RATES = [
    run(train_seconds=None, samples_per_second=100.0),
    run(train_seconds=None, samples_per_second=500.0, hardware="cpu4"),
]
BEYOND = {"kind": "above linear scaling", "workload": "mnist_mlp", "hardware": "cpu4", "framework": "tensorflow"}


def test_where_no_log_tells_a_time_the_fastest_has_the_highest_rate() -> None:
    found = context(inputs(STUDY | {"import": {"format": "tf_cnn"}}, runs(*RATES)))
    best = found["fastest"]["mnist_mlp"]
    assert (best["hardware"], best[found["seconds"]]) == ("cpu4", 2000.0)
    assert found["seconds_unit"] == "s per million samples"
    timed = context(inputs(STUDY, runs(run(), *RATES[1:])))
    assert (timed["seconds"], timed["fastest"]["mnist_mlp"]["hardware"]) == ("train_seconds", "cpu1")


def test_machine_that_does_more_than_its_cards_can_is_the_best_of_nothing() -> None:
    given = inputs(STUDY | {"import": {"format": "tf_cnn"}}, runs(*RATES), findings=[BEYOND])
    found = context(given)
    assert found["fastest"]["mnist_mlp"]["hardware"] == found["cheapest"]["mnist_mlp"]["hardware"] == "cpu1"
    assert found["not_counted"] == ["mnist_mlp on 4 vCPUs"]


def test_name_of_a_machine_tells_its_cards_once() -> None:
    machines = {"two": {"label": "2 × V100", "gpus": {"model": "V100", "count": 2}}}
    given = replace(inputs(STUDY, runs(run())), machines=machines)
    cell = {"workload": "mnist_mlp", "hardware": "two", "framework": "torch", "batch_size": None, "devices": 2}
    assert given.name_of(cell) == "2 × V100"
    assert given.name_of(cell | {"devices": 4}) == "2 × V100 · 4 devices"


def test_study_without_runs_has_no_best() -> None:
    assert context(inputs(STUDY, runs()))["fastest"] == {}
