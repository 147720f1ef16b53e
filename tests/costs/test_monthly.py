"""A month of a scheduled study, small enough to check by hand."""

from math import isnan

import pytest

from scripts.costs import billing, budget, monthly
from scripts.costs.terms import Terms
from tests.made import TERMS, offer, price_book

RATE = budget.Rate(3.6, billing.Rule(1, 60), 1)
HOUR = billing.SECONDS_PER_HOUR


def priced(*seconds: float, hardware: str = "vm") -> list[budget.Priced]:
    """Return runs that are expected to take so long, and at most an hour."""
    wanted = [
        budget.Wanted(f"r{i}", "mnist_mlp", hardware, "jax", 128, "stock", "float32", 1, 2, 1e6, HOUR)
        for i in range(len(seconds))
    ]
    expected = [budget.Expected(value, budget.EARLIER) for value in seconds]
    return budget.price(wanted, expected, {"vm": RATE})


def test_starts_a_month_are_those_of_the_interval_unless_one_takes_longer() -> None:
    assert monthly.starts(HOUR, 60) == 730
    assert monthly.starts(HOUR, HOUR) == 730
    assert monthly.starts(HOUR, 2.5 * HOUR) == pytest.approx(730 / 3)


def test_repetition_takes_its_longest_run_or_its_share() -> None:
    found = monthly.length(priced(100, 200, 300), at_once=1, boot_seconds=0.0)
    assert found == monthly.Length(660.0, 3 * HOUR + 60)
    found = monthly.length(priced(100, 200, 300), at_once=20, boot_seconds=180.0)
    assert found == monthly.Length(780.0, HOUR + budget.MARGIN_SECONDS + 300)


def test_rented_machines_are_billed_start_by_start_with_their_boot() -> None:
    """At 0.001 USD a second: 100 + 180 s; and 10 s without a boot are a minute."""
    (part,) = monthly.rented(priced(100), {"vm": RATE}, (10, 5), 180.0)
    assert part.usd == pytest.approx(10 * 0.28)
    assert part.worst_usd == pytest.approx(5 * (3.6 + 0.9))
    assert (part.hours, part.worst_hours) == (pytest.approx(2800 / 3600), 5 * 1.25)
    (least,) = monthly.rented(priced(10), {"vm": RATE}, (10, 5), 0.0)
    assert least.usd == pytest.approx(10 * 0.06)


def test_machine_without_a_price_has_no_sum() -> None:
    (part,) = monthly.rented(priced(100, hardware="gpu"), {"vm": RATE}, (10, 5), 0.0)
    assert isnan(part.usd)
    assert isnan(part.worst_usd)


def test_own_machine_costs_hours_of_its_use() -> None:
    own = {"acquisition_usd": 4800, "life_months": 48, "power_watts": 0, "usd_per_kwh": 0.2, "hours_per_month": 100}
    (part,) = monthly.owned(priced(HOUR, HOUR), {"vm": {"own": own}}, (30, 30))
    assert (part.hours, part.usd) == (60, 60), "a dollar an hour: 100 USD a month over 100 hours"
    (part,) = monthly.owned(priced(HOUR), {"vm": {}}, (30, 30))
    assert part.hours == 30
    assert isnan(part.usd)


def test_disks_and_fees() -> None:
    machines = monthly.rented(priced(HOUR), {"vm": RATE}, (1, 1), 0.0)
    assert monthly.disks(machines, 0.001, "2026").usd == pytest.approx(monthly.BOOT_DISK_GB * 0.001)
    rows = price_book(offer("job", 0.1, provider="gce", purchase="fee", per="month"))
    found = monthly.fee(rows, TERMS_OF_GCE, "job", 2, "two jobs")
    assert found is not None
    assert (found.usd, found.worst_usd) == (pytest.approx(0.2), pytest.approx(0.2))
    assert monthly.fee(rows, TERMS_OF_GCE, "nothing", 1, "") is None


TERMS_OF_GCE = Terms([rule | {"provider": "gce"} for rule in TERMS.rules], TERMS.currencies)
