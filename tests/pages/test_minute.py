"""What a reader asks first is answered at the head of a page, a line each."""

from dataclasses import replace

import pytest

from scripts.pages import first, report
from scripts.pages.inputs import Inputs
from tests.made import STUDY, inputs, offer, price_book, run, runs
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


@pytest.mark.slow
def test_each_question_has_its_line_in_the_order_of_the_page() -> None:
    page = made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 300.0))
    assert list(minute(page)) == HEADS
    text = Read(report.page(page)).text
    places = [text.find(f" {head} ") for head in HEADS]
    assert places[0] > -1
    assert places == sorted(places)


def test_what_is_clear_is_said_and_what_is_not_has_its_reason() -> None:
    """Six runs a thousandth apart, billed 101 s: a third of the time is clear, a per cent is not."""
    clear = minute(made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 300.0)))
    assert clear["Cheapest"].startswith("MNIST · MLP: JAX · 1 vCPU, 1.01 USD per 1,000 trainings: clearly the lowest.")
    assert clear["How sure"].startswith("Configuration clear in 1 of 1 workload.")
    close = minute(made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 101.5), ("cpu4", "jax", 900.0)))
    assert "the machine is clear (1 vCPU), the software is open." in close["Cheapest"]
    assert "machine alone in 1" in close["How sure"]
    few = minute(made(1, ("cpu1", "jax", 100.0), ("cpu4", "jax", 30.0)))
    assert "too few runs in 1." in few["How sure"]
    assert "What would settle it: 4 runs or more of each.\n\nAt most 1 such page in 20 " in few["How sure"]


def test_unlike_things_stand_beside_how_sure_the_answer_is_and_of_many_words_the_rest_is_counted() -> None:
    page = made(6, ("cpu1", "jax", 100.0), ("cpu1", "torch", 300.0))
    assert "Unlike things" not in minute(page)["How sure"]
    for others, more in (([], "."), (["word " * 40, "and"], ". And 2 more: [the audit](#audit).")):
        found = [{"kind": "unlike things", "message": text} for text in ("spot beside on demand", *others)]
        said = minute(replace(page, findings=[*found, {"kind": "single runs", "message": "one"}]))["How sure"]
        assert f"\nUnlike things are compared: spot beside on demand{more}\n\n" in said


@pytest.mark.parametrize("machine", ["cpu1", "cpu4"])
def test_where_all_runs_are_of_one_machine_no_price_is_said_to_change_it(machine: str) -> None:
    page = made(6, (machine, "jax", 100.0), (machine, "torch", 300.0))
    assert minute(page)["Price at which another wins"].startswith("No price changes it")


def test_workloads_of_one_machine_alone_say_so_and_all_are_in_one_unit() -> None:
    """A second and 100 h: 0.00061 and 3.6 USD, so both are shown for a thousand; the long one ran on one vCPU alone."""
    ran = (("mnist_mlp", "cpu1", 1.0), ("mnist_mlp", "cpu4", 1.0), ("mnist_cnn", "cpu1", 360_000.0))
    rows = [
        run(workload=workload, hardware=name, framework=framework, repeat=i, train_seconds=seconds)
        for workload, name, seconds in ran
        for framework in ("jax", "torch")
        for i in range(4)
    ]  # fmt: skip
    asks = {"question": {"asks": "Do four pay?", "hardware": "cpu4", "than": "cpu1"}}
    page = inputs(STUDY | asks, runs(*rows))
    found = first.context(page)
    lines = dict(found["minute"])["Cheapest"].splitlines()
    assert lines[0].startswith("MNIST · MLP: ")
    assert lines[1].startswith("MNIST · CNN (run on 1 vCPU only): ")
    assert all("USD per 1,000 trainings" in line for line in lines[:2])
    assert found["answer"]["word"].endswith(", in the 1 of 2 workloads run on both")
    data = report.context(page)["ask"]["workloads"]
    assert {about["times"] for about in data.values()} == {1000}, "the form's own unit"


def test_equal_bills_of_the_least_that_is_billed_are_a_tie() -> None:
    """By the terms of 2019 a minute is billed at least: of 1,000 of 10 s at 0.036 USD an hour 0.6, in a row 0.1."""
    rows = [run(framework=name, repeat=i, train_seconds=seconds, total_seconds=seconds + 1)
            for name, seconds in (("jax", 10.0), ("torch", 20.0)) for i in range(4)]  # fmt: skip
    book = price_book(offer("1-core", 0.036, as_of="2019"))
    study = STUDY | {"prices": {"now": {"purchase": "on-demand"}}, "price": "now"}
    for in_a_row, words in (
        (False, "0.600 {per}, one by one, as 60.0 s are billed at least (in a row on one machine 0.100){end}"),
        (True, "0.100 {per}, in a row on one machine (one by one 0.600, as 60.0 s are billed at least){end}"),
    ):
        study["prices"] = {"now": {"purchase": "on-demand", "in_a_row": in_a_row}}
        said = minute(inputs(study, runs(*rows), rows=book))
        end = ": 2 cost the same." if not in_a_row else ": clearly the lowest."
        assert words.format(per="USD per 1,000 trainings", end=end) in said["Cheapest"]
        assert (
            f"1,000 trainings of MNIST · MLP on JAX · 1 vCPU: {words.format(per='USD', end='.')}"
            in said["For N samples"]
        )


def test_lowest_machine_has_its_price_first_and_another_way_to_buy_is_named() -> None:
    """100 s at 1 and 300 s at 2 USD/h: the one is lowest up to 6, the other at a third as low; half of it by spot."""
    book = price_book(offer("1-core", 1.0), offer("4-core", 2.0), offer("1-core", 0.5, purchase="spot"))
    ways = {name: {"purchase": name} for name in ("on-demand", "spot")}
    rows = [run(hardware=name, repeat=i, train_seconds=seconds)
            for name, seconds in (("cpu1", 100.0), ("cpu4", 300.0)) for i in range(4)]  # fmt: skip
    asked = dict(
        first.context(inputs(STUDY | {"prices": ways, "price": "on-demand"}, runs(*rows), rows=book))["minute"]
    )
    price = asked["Price at which another wins"]
    takes = "MNIST · MLP, by medians: 4 vCPUs takes over at 0.333 USD an hour (now 2.00), or if 1 vCPU rises to 6.00 "
    assert price == f"{takes}(now 1.00)."
    answer, _, more = asked["Cheapest"].partition("\n\n")
    assert more.startswith(
        "Lower at other prices, below: spot (2026-01-02) in 1 of 1, up to 50 % less. No interruption"
    )
    assert more.endswith("of spot machines is counted.")
    assert "\nPriced: 1 vCPU as 1-core (cloud); measured on Some CPU" in answer, "which type it is of"


def test_a_study_without_a_ranking_asks_nothing() -> None:
    assert first.context(inputs(STUDY, runs(run())))["minute"] == []


def priced_since(as_of: str, in_a_row: bool = True) -> Inputs:
    """Return the page of two machines priced on a day, and by a newer list."""
    old = [offer(item, rate, as_of=as_of) for item, rate in (("1-core", 1.0), ("4-core", 2.0))]
    new = [offer(item, rate, as_of="2026-05-20", purchase="spot") for item, rate in (("1-core", 0.5), ("4-core", 0.7))]
    prices = {"then": {"purchase": "on-demand", "in_a_row": in_a_row}, "today": {"purchase": "spot"}}
    rows = [run(hardware=name, repeat=i, train_seconds=seconds, published_samples=None, train_samples=None)
            for name, seconds in (("cpu1", 100.0), ("cpu4", 300.0)) for i in range(4)]  # fmt: skip
    study = STUDY | {"prices": prices, "price": "then", "question": {"asks": "?", "hardware": "cpu4", "than": "cpu1"}}
    return inputs(study, runs(*rows), rows=price_book(*old, *new))


@pytest.mark.parametrize(
    ("as_of", "since"),
    [("2017-07", "July 2017:"), ("2017", "2017:"), ("2025-05-19", "May 2025:"), ("2025-05-20", "now")],
)
def test_only_a_price_of_within_a_year_of_the_newest_is_one_of_now(as_of: str, since: str) -> None:
    price = minute(priced_since(as_of))["Price at which another wins"]
    takes = f"4 vCPUs takes over at 0.333 USD an hour ({since} 2.00), or if 1 vCPU rises to 6.00 ({since} 1.00)."
    assert takes in price
    # At 0.5 and 0.7 USD an hour, which are of now: 100 x 0.5 / 300 = 0.167, and 300 x 0.7 / 100 = 2.1.
    today = "May 2026, cloud spot: MNIST · MLP, by medians: 4 vCPUs takes over at 0.167 USD an hour (now 0.700)"
    assert (today in price) == (since != "now")
    assert f"Against 1 vCPU, over the one pair: 4 vCPUs costs no more at 0.333 USD an hour ({since} " in price


def test_prices_of_today_are_called_by_their_months_and_whose_they_are() -> None:
    page = priced_since("2017-07")
    assert page.option_labels == {"then": "then", "today": "prices of May 2026, cloud spot"}
    assert "2017" in report.page(page)


def test_where_no_samples_are_recorded_trainings_are_counted() -> None:
    assert minute(priced_since("2019"))["For N trainings"].startswith(
        "1,000 trainings of MNIST · MLP on 1 vCPU: 13.9 USD at prices of May 2026, cloud spot.\n27.8 USD at then.\n\n"
        "No samples are recorded: N trainings cost in proportion to N, in the same order"
    )
    assert "each is billed at least 60.0 s." in minute(priced_since("2019", in_a_row=False))["For N trainings"]
