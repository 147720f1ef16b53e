import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.articles.office import box, figures
from scripts.costs.ownership import Machine, usd_per_hour

#: 10 USD a month and 0.1 USD an hour: at 240 hours (10 days) an hour costs 0.14167 USD.
BOX = Machine(acquisition_usd=120, life_months=12, power_watts=1000, usd_per_kwh=0.1)
THROUGHPUT = pd.DataFrame({"workload": ["a", "b"], "batch_size": [16, 16], "estimate": [100.0, 50.0]})


def test_printed_scaling_is_read_long() -> None:
    rows = [
        {"single": "one", "multi": "two", "gpus": 2, "a": [0.9, 0.8], "b": [0.5, 0.4]},
        {"single": "one", "multi": "four", "gpus": 4, "setup": {"b": "C"}, "a": [0.7, 0.6], "b": [0.3, 0.2]},
    ]
    table = box.scaling(rows, [16, 32], ["a", "b"])
    assert table.columns.to_list() == ["single", "multi", "gpus", "workload", "setup", "batch_size", "efficiency"]
    assert table["setup"].to_list() == [""] * 6 + ["C"] * 2
    assert table.values.tolist()[:3] == [
        ["one", "two", 2, "a", "", 16, 0.9],
        ["one", "two", 2, "a", "", 32, 0.8],
        ["one", "two", 2, "b", "", 16, 0.5],
    ]
    mean = box.mean_efficiency(table)
    assert mean[["workload", "batch_size"]].values.tolist() == [["a", 16], ["a", 32], ["b", 16], ["b", 32]]
    assert mean["efficiency"].to_list() == pytest.approx([0.8, 0.7, 0.4, 0.3])


def test_month_of_an_owned_machine_is_shown_in_parts() -> None:
    table = box.breakdown(BOX, 240).set_index("part")
    assert table["usd_per_month"].to_dict() == pytest.approx({"machine": 10, "energy": 24, "both": 34})
    assert table["usd_per_hour"]["both"] == pytest.approx(usd_per_hour(BOX, 240))


def test_estimate_is_cards_times_efficiency_within_the_rounding_of_both() -> None:
    single = pd.DataFrame({"workload": ["a", "a"], "batch_size": [16, 32], "samples_per_second": [100, 200]})
    mean = pd.DataFrame({"workload": ["a"], "batch_size": [32], "efficiency": [0.8]})
    (row,) = box.estimate(single, mean, 4, 0.005, 0.5).to_dict("records")
    assert (row["batch_size"], row["samples_per_second"]) == (32, 200)
    assert row["estimate"] == pytest.approx(640)
    assert row["estimate_low"] == pytest.approx(199.5 * 0.795 * 4)
    assert row["estimate_high"] == pytest.approx(200.5 * 0.805 * 4)


def test_samples_per_usd_at_each_price() -> None:
    table = box.per_usd(THROUGHPUT, {"owned": 1.0, "rented": 3.6})
    assert table[["workload", "price"]].values.tolist() == [
        ["a", "owned"],
        ["b", "owned"],
        ["a", "rented"],
        ["b", "rented"],
    ]
    assert table["samples_per_usd"].to_list() == pytest.approx([360_000, 180_000, 100_000, 50_000])


def test_time_and_cost_to_the_samples_of_a_paper() -> None:
    table = box.to_samples(THROUGHPUT, {"a": 720_000.0, "b": 180_000.0}, {"owned": 1.5, "rented": 3.0})
    assert table[["workload", "samples", "hours", "price", "cost_usd"]].values.tolist() == [
        ["a", 720_000, 2, "owned", 3],
        ["a", 720_000, 2, "rented", 6],
        ["b", 180_000, 1, "owned", 1.5],
        ["b", 180_000, 1, "rented", 3],
    ]


def known(**gains: float) -> pd.DataFrame:
    """Return gains, each reckoned at the owned hour of 10 days of use."""
    at = float(usd_per_hour(BOX, 240))
    return pd.DataFrame(
        [{"against": name, "base": "owned", "gain": value, "at_usd_per_hour": at} for name, value in gains.items()]
    )


def test_gain_goes_with_the_cost_of_the_owned_hour() -> None:
    table = box.gain(BOX, known(cloud=2.0, spot=1.0), [5, 10, 20])
    assert table["against"].to_list() == ["cloud"] * 3 + ["spot"] * 3
    hourly = [10 / 120 + 0.1, 10 / 240 + 0.1, 10 / 480 + 0.1]
    assert table["usd_per_hour"].to_list() == pytest.approx(hourly * 2)
    ratios = [hourly[1] / hour for hour in hourly]
    assert table["gain"].to_list() == pytest.approx([2 * ratio for ratio in ratios] + ratios)
    assert table.loc[table["days"] == 10, "gain"].to_list() == pytest.approx([2, 1])


def test_answer_is_from_which_use_on_owning_costs_less_than_every_rented_machine() -> None:
    """4.25 days are 102 hours, 1.5 are 36; what is printed in two ways counts in both."""
    gains = pd.DataFrame(
        [("cloud", "a cloud", 4.0), ("cloud", "a cloud", 4.26), ("spot", "spot", 1.51)],
        columns=["against", "label", "break_even_days"],
    )
    study = {"machines": {"box": {"own": {"hours_per_month": 240}}}, "office": {"owned": "box"}}
    word, words = figures.answer(study, {"gains": gains})
    assert word == "Yes, from 103 hours of use a month"
    assert "less on it than on each of 2 rented machines; below 36 hours it costs more than on any" in words
    assert "The first to cost more is spot, the last a cloud." in words
    assert "reckons with 240 hours" in words


costs = st.floats(1, 1e5)


@given(costs, st.floats(0, 3000), st.floats(1, 30), st.floats(1.01, 5))
def test_gain_is_one_where_owning_breaks_even(acquisition: float, watts: float, at: float, gain: float) -> None:
    owned = Machine(acquisition_usd=acquisition, life_months=30, power_watts=watts, usd_per_kwh=0.2)
    hourly = float(usd_per_hour(owned, at * 24))
    days = box.break_even_days(owned, hourly * gain)
    assert 0 < days <= at, "a gain above 1 is kept with somewhat less use"
    gains = pd.DataFrame([{"against": "it", "base": "owned", "gain": gain, "at_usd_per_hour": hourly}])
    assert box.gain(owned, gains, [days])["gain"].to_list() == pytest.approx([1])


@given(costs, st.floats(0, 3000), st.floats(0.5, 5))
def test_more_use_gains_more(acquisition: float, watts: float, gain: float) -> None:
    owned = Machine(acquisition_usd=acquisition, life_months=30, power_watts=watts, usd_per_kwh=0.2)
    at = float(usd_per_hour(owned, 240))
    gains = pd.DataFrame([{"against": "it", "base": "owned", "gain": gain, "at_usd_per_hour": at}])
    found = box.gain(owned, gains, [1, 2, 5, 10, 20, 30])["gain"].to_numpy()
    assert (np.diff(found) > -1e-12).all()
    assert found[3] == pytest.approx(gain)
