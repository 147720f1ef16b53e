"""What a reader asks first is answered at the head of a page, a line each."""

import pytest

from scripts.pages import first, report
from scripts.pages.inputs import Inputs
from tests.made import STUDY, inputs, run, runs
from tests.reading import Read

HEADS = ["Cheapest", "How sure", "Price at which another wins", "For N samples"]


def made(count: int, *machines: tuple[str, str, float], **about) -> Inputs:
    """Return the page of a study with so many runs of each machine and framework, by their seconds."""
    rows = [
        run(hardware=name, framework=framework, repeat=i, train_seconds=seconds * (1 + i / 1000))
        for name, framework, seconds in machines
        for i in range(count)
    ]
    return inputs(STUDY | about, runs(*rows))


def minute(page: Inputs) -> dict[str, str]:
    found: dict[str, str] = dict(first.context(page)["minute"])
    return found


def test_each_question_has_its_line_in_the_order_of_the_page() -> None:
    page = made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 300.0))
    assert list(minute(page)) == HEADS
    text = Read(report.page(page)).text
    places = [text.find(f" {head} ") for head in HEADS]
    assert places[0] > -1
    assert places == sorted(places)


def test_what_is_clear_is_said_and_what_is_not_has_its_reason() -> None:
    """Six runs a thousandth apart, billed 101 s: a third of the time is clear, half a per cent is not."""
    clear = minute(made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 300.0)))
    assert clear["Cheapest"].startswith("MNIST · MLP: JAX · 1 vCPU, 1.01 USD per 1,000 trainings: clearly.")
    assert clear["How sure"].startswith("Configuration clear in 1 of 1 workload.")
    close = minute(made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 100.5), ("cpu4", "jax", 900.0)))
    assert close["Cheapest"].endswith("the machine is clear (1 vCPU), the software is open.")
    assert "machine alone in 1" in close["How sure"]
    few = minute(made(1, ("cpu1", "jax", 100.0), ("cpu4", "jax", 30.0)))
    assert "too few runs in 1." in few["How sure"]
    assert few["How sure"].endswith("What would settle it: 4 runs or more of each.")


@pytest.mark.parametrize("machine", ["cpu1", "cpu4"])
def test_where_all_runs_are_of_one_machine_no_price_is_said_to_change_it(machine: str) -> None:
    page = made(6, (machine, "jax", 100.0), (machine, "torch", 300.0))
    assert minute(page)["Price at which another wins"].startswith("No price changes it")


def test_a_study_without_a_ranking_asks_nothing() -> None:
    assert first.context(inputs(STUDY, runs(run())))["minute"] == []
