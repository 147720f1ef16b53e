from dataclasses import replace

from scripts.analysis import audit
from scripts.estimate import classic
from scripts.importers import facts
from scripts.pages import ask, first, report
from scripts.pages.answers import context
from scripts.storage.tables import records
from scripts.studies import definition
from tests.conftest import ROOT
from tests.made import CATALOGUE, STUDY, inputs, run, runs
from tests.reading import Read

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
    assert found["not_counted"] == ["MNIST · MLP on 4 vCPUs"]


def test_what_quotes_leave_out_is_ranked_nowhere_and_the_ranking_says_so() -> None:
    """Of four cards each 3 times as fast as one alone: without a finding of the audit, too."""
    rates = [("cpu1", 1, 100.0), ("gpu", 1, 90.0), ("cpu1-x4", 4, 1200.0)]
    rows = [
        run(train_seconds=None, hardware=name, devices=count, samples_per_second=rate) for name, count, rate in rates
    ]
    machines = CATALOGUE | {"cpu1-x4": CATALOGUE["cpu4"] | {"label": "4 cards"}, "gpu": CATALOGUE["cpu4"]}
    given = inputs(STUDY | {"import": {"format": "tf_cnn"}}, runs(*rows), machines)
    (panel,) = first.context(given)["panels"]
    assert "4 cards" not in {bar["name"] for bar in panel["bars"]}
    said = (
        "Left out of this ranking: 1 machine (4 cards). Each of their cards is printed as more than 1.1 times as fast"
    )
    assert panel["left_out"].startswith(f"{said} as one alone, in 1 row more than 2 times")
    assert ask.context(given)["ask"]["workloads"]["mnist_mlp"]["left_out"] == panel["left_out"]
    rows_of_cells = Read(report.page(given)).rows["cells"]
    assert [row[1] for row in rows_of_cells if any("not ranked" in cell for cell in row)] == ["4 cards · 4 devices"]


def test_lambdas_page_ranks_no_row_that_quotes_leave_out() -> None:
    path = ROOT / "reports" / "published" / "facts" / "lambda-gpus.csv"
    _, study = definition.read("lambda-gpus", {})
    found = audit.findings(facts.read(path), study["import"]["unlike"], {}, definition.cards(study["machines"]))
    beyond = {(one["workload"], one["hardware"]) for one in records(found) if one["kind"] == audit.BEYOND_PERFECT}
    slips = classic.slips(records(facts.read(path)))
    assert len(slips) == 28
    assert {(row["workload"], row["hardware"]) for row in slips} <= beyond


def test_name_of_a_machine_tells_its_cards_once() -> None:
    machines = {"two": {"label": "2 × V100", "gpus": {"model": "V100", "count": 2}}}
    given = replace(inputs(STUDY, runs(run())), machines=machines)
    cell = {"workload": "mnist_mlp", "hardware": "two", "framework": "torch", "batch_size": None, "devices": 2}
    assert given.name_of(cell) == "2 × V100"
    assert given.name_of(cell | {"devices": 4}) == "2 × V100 · 4 devices"


def test_study_without_runs_has_no_best() -> None:
    assert context(inputs(STUDY, runs()))["fastest"] == {}
