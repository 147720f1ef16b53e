from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scripts.costs import ownership
from scripts.costs.ownership import Machine

#: The box of "cloud vs office" (2018), used 10 days a month.
OFFICE = Machine(acquisition_usd=6500, life_months=30, power_watts=1000, usd_per_kwh=0.20)

machines = st.builds(
    lambda residual, **figures: Machine(**figures, residual_usd=residual * figures["acquisition_usd"]),
    residual=st.floats(0, 1),
    acquisition_usd=st.floats(0, 1e6),
    life_months=st.floats(1, 120),
    power_watts=st.floats(0, 1e4),
    usd_per_kwh=st.floats(0, 1),
    maintenance_usd_per_month=st.floats(0, 1e3),
)


def usd_per_month(machine: Machine, hours: Any) -> Any:
    return machine.fixed_usd_per_month + hours * machine.energy_usd_per_hour


def test_office_box_costs_what_its_published_figures_give() -> None:
    """Its table: 216.67 and 48.00 USD a month for 240 hours; its text says about 1.30 an hour."""
    assert usd_per_month(OFFICE, 0) == pytest.approx(216.67, abs=5e-3)
    assert usd_per_month(OFFICE, 240) == pytest.approx(264.67, abs=5e-3)
    assert ownership.usd_per_hour(OFFICE, 240) == pytest.approx(1.1028, abs=5e-5)


@pytest.mark.parametrize(
    ("machine", "hours", "expected"),
    [
        (Machine(7300, 10, 0, 0.2), 730, 1.0),
        (Machine(7300, 10, 500, 0.2), 730, 1.1),
        (Machine(7300, 10, 500, 0.2, maintenance_usd_per_month=73), 730, 1.2),
        (Machine(7300, 10, 500, 0.2, maintenance_usd_per_month=73, residual_usd=1460), 730, 1.0),
        (Machine(0, 10, 500, 0.2), 0.001, 0.1),
        (OFFICE, 0, inf),
        (OFFICE, nan, nan),
    ],
)
def test_hour_of_an_owned_machine(machine: Machine, hours: float, expected: float) -> None:
    assert ownership.usd_per_hour(machine, hours) == pytest.approx(expected, nan_ok=True)


def test_hours_may_be_a_column() -> None:
    hours = pd.Series([24.0, 240.0], index=["1 day", "10 days"])
    assert ownership.usd_per_hour(OFFICE, hours).round(4).to_dict() == {"1 day": 9.2278, "10 days": 1.1028}
    assert usd_per_month(OFFICE, np.array([0.0, 10.0])) == pytest.approx([216.6667, 218.6667])


@pytest.mark.parametrize(
    ("machine", "rented", "expected"),
    [
        (OFFICE, 1.1027777777777779, 240),
        (OFFICE, 0.9, 309.5238),
        (OFFICE, 0.22, 10833.33),  # more hours than any month has
        (OFFICE, 0.2, inf),
        (OFFICE, 0.1, inf),
        (OFFICE, 0.0, inf),
        (OFFICE, nan, nan),
        (Machine(0, 30, 1000, 0.2), 0.3, 0),
        (Machine(0, 30, 1000, 0.2), 0.2, inf),
        (Machine(0, 30, 0, 0), 0.0, inf),
    ],
)
def test_owning_pays_from_so_many_hours(machine: Machine, rented: float, expected: float) -> None:
    hours = ownership.break_even_hours_per_month(machine, rented)
    assert hours == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_rents_may_be_a_column() -> None:
    hours = ownership.break_even_hours_per_month(OFFICE, pd.Series([0.9, 0.2], index=["k80", "cpu"]))
    assert hours.to_dict() == {"k80": pytest.approx(309.5238), "cpu": inf}


@pytest.mark.parametrize(
    ("figures", "named"),
    [
        ({"acquisition_usd": -1}, "acquisition_usd is -1"),
        ({"acquisition_usd": nan}, "acquisition_usd is nan"),
        ({"life_months": 0}, "life_months is 0"),
        ({"life_months": -3}, "life_months is -3"),
        ({"power_watts": -1}, "power_watts is -1"),
        ({"usd_per_kwh": -1}, "usd_per_kwh is -1"),
        ({"maintenance_usd_per_month": -1}, "maintenance_usd_per_month is -1"),
        ({"residual_usd": -1}, "residual_usd is -1"),
        ({"residual_usd": 6501}, r"residual_usd is 6501; at most acquisition_usd \(6500\)"),
    ],
)
def test_machines_that_cannot_be_are_refused(figures: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Machine(**{"acquisition_usd": 6500, "life_months": 30, "power_watts": 1000, "usd_per_kwh": 0.2} | figures)


@given(machines, st.floats(1, 700), st.floats(1, 700))
def test_use_makes_the_hour_cheaper_and_the_month_dearer(machine: Machine, hours: float, more: float) -> None:
    assert ownership.usd_per_hour(machine, hours + more) <= ownership.usd_per_hour(machine, hours)
    assert usd_per_month(machine, hours + more) >= usd_per_month(machine, hours)
    by_hour = ownership.usd_per_hour(machine, hours) * hours
    assert by_hour == pytest.approx(usd_per_month(machine, hours))


@given(machines, st.floats(0.01, 100))
def test_owning_is_cheaper_above_the_break_even_and_dearer_below(machine: Machine, rented: float) -> None:
    hours = ownership.break_even_hours_per_month(machine, rented)
    if hours == inf:
        assert usd_per_month(machine, 1e4) >= rented * 1e4
    else:
        assume(1e-3 < hours < 1e9)
        assert usd_per_month(machine, hours) == pytest.approx(rented * hours)
        assert usd_per_month(machine, hours * 1.1) < rented * hours * 1.1
        assert usd_per_month(machine, hours * 0.9) > rented * hours * 0.9
