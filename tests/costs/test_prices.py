from math import exp, inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import hourly
from scripts.costs import prices as pricing
from scripts.storage import tables
from scripts.storage.errors import InputError
from tests.made import BOOK, CATALOGUE, FAILED, OPTIONS, TERMS, costs, offer, price_book, prices, run, runs

#: The box of "cloud vs office" (2018).
OFFICE = {
    "acquisition_usd": 6500,
    "life_months": 30,
    "power_watts": 1000,
    "usd_per_kwh": 0.20,
    "hours_per_month": 240,
    "as_of": "2018",
    "source": "an article",
}
ON_DEMAND = {"on-demand": OPTIONS["on-demand"]}
IN_A_ROW = {"on-demand": OPTIONS["on-demand"] | {"in_a_row": True}}
SPOT = {"spot": {"purchase": "spot"}}
PREEMPTION = {"preemptions_per_hour": 0.5, "checkpoint_seconds": 1800, "restart_seconds": 120, "source": "a guess"}

some = st.floats(0.01, 1e6)


def priced(machine: dict, option: dict, *rows: dict) -> dict | None:
    """Return the price of one machine under one option, None if it has none."""
    table = prices({"box": machine}, {"option": option}, price_book(*rows))
    return table.to_dict("records")[0] if len(table) else None


def usd_per_hour(rent: dict, option: dict, *rows: dict) -> float:
    """Return the hourly price of what `rent` names of the provider `cloud`."""
    return priced({"rent": {"provider": "cloud", "items": {"host": 1}} | rent}, option, *rows)["usd_per_hour"]


# Prices of machines


def test_price_table_has_a_row_per_machine_and_option_it_is_offered_under() -> None:
    table = prices(CATALOGUE | {"office": {"own": OFFICE}})
    assert table.columns.to_list() == list(tables.columns("prices")) == hourly.COLUMNS
    assert table[["hardware", "price_option", "provider", "purchase", "usd_per_hour"]].values.tolist() == [
        ["cpu1", "on-demand", "cloud", "on-demand", 0.036],
        ["cpu4", "on-demand", "cloud", "on-demand", 0.144],
        ["cpu1", "spot", "cloud", "spot", 0.018],
        ["office", "owned", "own", "owned", pytest.approx(1.1028, abs=5e-5)],
    ]
    assert table["price_as_of"].to_list() == ["2026-01-02"] * 3 + ["2018"]
    assert table["price_source"].to_list() == ["a price list"] * 3 + ["an article; 240 hours of use a month"]
    assert table["increment_seconds"].to_list() == [1, 1, 1, 1]
    assert table["minimum_seconds"].to_list() == [0, 0, 0, 0]


def test_machines_without_a_price_make_an_empty_table() -> None:
    table = prices({"cpu1": {"label": "1 vCPU"}})
    assert len(table) == 0
    assert table.columns.to_list() == list(tables.columns("prices"))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 1.1028),
        ({"power_watts": 0}, 0.9028),
        ({"acquisition_usd": 0}, 0.20),
        ({"residual_usd": 6500}, 0.20),
        ({"maintenance_usd_per_month": 24}, 1.2028),
        ({"hours_per_month": 480}, 0.6514),
    ],
)
def test_owned_hour_is_the_box_over_its_use_and_its_energy(changed: dict, expected: float) -> None:
    price = priced({"own": OFFICE | changed}, {"purchase": "owned"})
    assert price["usd_per_hour"] == pytest.approx(expected, abs=5e-5)
    assert price["usd_per_hour_low"] == price["usd_per_hour_high"] == price["usd_per_hour"]


def test_owned_machine_may_say_what_was_inferred() -> None:
    assert priced({"own": OFFICE | {"inferred": "power"}}, {"purchase": "owned"})["price_inferred"] == "power"


def test_owned_machine_that_cannot_be_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^box: own: residual_usd is 7000; at most acquisition_usd \(6500\)"):
        priced({"own": OFFICE | {"residual_usd": 7000}}, {"purchase": "owned"})


def test_rented_machine_is_not_owned_and_owned_one_not_rented() -> None:
    rented = {"rent": {"provider": "cloud", "items": {"1-core": 1}}}
    assert priced(rented, {"purchase": "owned"}) is None
    assert priced({"own": OFFICE}, {"purchase": "on-demand"}) is None


def test_option_that_does_not_say_buys_as_the_machine_does() -> None:
    rows = [offer("host", 1.0), offer("host", 0.4, purchase="spot")]
    assert usd_per_hour({}, {}, *rows) == 1.0
    assert usd_per_hour({"purchase": "spot"}, {}, *rows) == 0.4
    assert usd_per_hour({"purchase": "spot"}, {"purchase": "on-demand"}, *rows) == 1.0


def test_host_accelerators_region_and_premium_are_those_of_the_machine() -> None:
    rows = [
        offer("host", 0.5, region="us"),
        offer("host", 0.6, region="eu"),
        offer("card", 2.0, region="us"),
        offer("new-cpu", 0.1, purchase="premium", per="share"),
    ]
    rent = {"items": {"host": 1, "card": 4}, "region": "us", "premium": "new-cpu"}
    assert usd_per_hour(rent, {}, *rows) == pytest.approx(0.55 + 8)
    with pytest.raises(InputError, match="region: must be given"):
        usd_per_hour(rent | {"region": ""}, {}, *rows)


def test_instead_replaces_the_machine_in_one_option() -> None:
    rows = [offer("host", 1.0), offer("newer", 0.4), offer("newer", 0.1, purchase="spot")]
    instead = {"box": {"provider": "cloud", "items": {"newer": 2}}}
    assert usd_per_hour({}, {"instead": instead}, *rows) == 0.8
    assert usd_per_hour({}, {"instead": {"box": instead["box"] | {"purchase": "spot"}}}, *rows) == 0.2
    assert usd_per_hour({}, {"instead": {"another": instead["box"]}}, *rows) == 1.0
    assert priced({"label": "has no rent"}, {"instead": instead}, *rows)["usd_per_hour"] == 0.8


@pytest.mark.parametrize(
    ("as_of", "message"),
    [
        ("2999-01-01", "box: own: as_of: 2999-01-01 is in the future"),
        ("2026-13-21", "box: own: as_of: .* is not a date"),
    ],
)
def test_date_of_an_own_machine_is_one(as_of: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        priced({"own": OFFICE | {"as_of": as_of}}, {"purchase": "owned"})


def test_every_option_has_its_own_book() -> None:
    books = {"then": price_book(offer("1-core", 1.0)), "now": price_book(offer("1-core", 0.5))}
    options = {name: {"purchase": "on-demand", "book": name} for name in books}
    rows = hourly.price_rows(CATALOGUE, options, lambda option: books[option["book"]], TERMS)
    assert [(row["price_option"], row["usd_per_hour"]) for row in rows] == [("then", 1.0), ("now", 0.5)]


def test_discount_is_taken_off_and_named() -> None:
    option = {"discount": {"share": 0.37, "source": "a contract"}}
    row = offer("host", 1.0, rate_low=0.5, rate_high=2.0)
    price = priced({"rent": {"provider": "cloud", "items": {"host": 1}}}, option, row)
    bounds = [price[f"usd_per_hour{bound}"] for bound in ("_low", "", "_high")]
    assert bounds == pytest.approx([0.315, 0.63, 1.26])
    assert price["price_source"] == "a price list; 37% off: a contract"


@pytest.mark.parametrize(
    ("items", "hours", "usd"),
    [
        ({"n1-host": 1}, 730, 0.7),
        ({"n2-host": 1}, 730, 0.8002),
        ({"n1-host": 1}, 365, 0.9),
        ({"n1-host": 1}, 73, 1.0),
        ({"a2-host": 1}, 730, 1.0),
        ({"n1-host": 1, "a100": 2}, 730, 0.7 + 2.0),
    ],
)
def test_sustained_use_lowers_what_it_applies_to(items: dict, hours: float, usd: float) -> None:
    rows = [offer(name, 1.0) for name in ("n1-host", "n2-host", "a2-host", "a100")]
    option = {"sustained_use": True, "hours_per_month": hours}
    price = priced({"rent": {"provider": "cloud", "items": items}}, option, *rows)
    assert price["usd_per_hour"] == pytest.approx(usd)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({}, 0.1 + 0.2),
        ({"hours_per_month": 365}, 0.2 + 0.4),
        ({"months": 4}, 0.1 + 0.05),
        ({"months": 4, "hours_per_month": 365}, 0.2 + 0.1),
    ],
)
def test_month_and_setup_are_prorated_to_the_hours_used(option: dict, expected: float) -> None:
    rows = [
        offer("host", 73.0, purchase="month", per="month"),
        offer("host", 146.0, purchase="setup", per="once"),
    ]
    assert usd_per_hour({"purchase": "month"}, option, *rows) == pytest.approx(expected)


SAVES: dict[str, dict] = {"quick": {}, "slow": {"save_seconds": 10}}


def test_assumed_preemption_is_part_of_the_option() -> None:
    keys = ["preemptions_per_hour", "checkpoint_seconds", "restart_seconds", "save_seconds"]
    table = prices(options=SPOT | {"risky": {"purchase": "spot", "preemption": PREEMPTION}})
    assert table[keys].values.tolist() == [[0, inf, 0, 0], [0.5, 1800, 120, 0]]


def test_checkpoints_come_at_the_best_interval_where_none_is_given() -> None:
    about = {key: value for key, value in PREEMPTION.items() if key != "checkpoint_seconds"}
    options = {name: {"purchase": "spot", "preemption": about | more} for name, more in SAVES.items()}
    table = prices(options=options).set_index("price_option")["checkpoint_seconds"]
    assert table["quick"] == inf, "saving in no time has no best interval: none is made"
    assert table["slow"] == pytest.approx((2 * 10 * 7200) ** 0.5), "Young's"


# What runs cost


def test_training_costs_its_time_at_each_option() -> None:
    table = costs(runs(run(), run(hardware="cpu4", train_seconds=50.0, epochs_done=10)))
    assert table[["run", "price_option"]].to_numpy().tolist() == [
        ["mnist_mlp/cpu1/tensorflow/b128/r1", "on-demand"],
        ["mnist_mlp/cpu1/tensorflow/b128/r1", "spot"],
        ["mnist_mlp/cpu4/tensorflow/b128/r1", "on-demand"],
    ]
    assert table["used_seconds"].to_list() == table["useful_seconds"].to_list() == [100, 100, 50]
    for column in ("cost_usd", "cost_usd_low", "cost_usd_high", "billed_usd"):
        assert table[column].to_list() == pytest.approx([0.001, 0.0005, 0.002])
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.001, 0.0005, 0.004], rel=5e-4)
    assert table["samples_per_usd"].to_list() == pytest.approx([1e9, 2e9, 2.5e8], rel=5e-4)


@pytest.mark.parametrize("row", [run(**FAILED), run(status="diverged"), run(hardware="gpu"), run(hardware="sold")])
def test_no_cost_without_a_finished_run_or_a_price(row: dict) -> None:
    assert len(costs(runs(row))) == 0
    assert costs(runs(row, run(hardware="cpu4")))["hardware"].to_list() == ["cpu4"]


def test_no_cost_without_time_and_throughput() -> None:
    assert len(costs(runs(run(train_seconds=None, samples_per_second=None)))) == 0


def test_catalogue_without_prices_prices_nothing() -> None:
    assert len(costs(runs(run()), {"cpu1": {"label": "1 vCPU"}})) == 0
    assert costs(runs()).columns.to_list() == list(tables.columns("costs"))


def test_bill_is_that_of_the_whole_process_rounded_by_the_rule() -> None:
    old = price_book(offer("1-core", 0.036, as_of="2019-01-01"))
    rows = runs(
        run(train_seconds=10.0, total_seconds=40.2),
        run(repeat=2, train_seconds=100.0, total_seconds=130.2),
        run(repeat=3, train_seconds=100.0),
    )
    table = costs(rows, options=ON_DEMAND, rows=old)
    assert table["minimum_seconds"].to_list() == [60, 60, 60]
    assert table["billed_seconds"].to_list() == [60, 131, 100]
    assert table["billed_usd"].to_list() == pytest.approx([0.0006, 0.00131, 0.001])
    assert table["cost_usd"].to_list() == pytest.approx([0.0006, 0.001, 0.001]), "of a log the time to train"


def test_range_of_the_price_goes_through_to_the_cost() -> None:
    rows = price_book(offer("1-core", 0.036, rate_low=0.018, rate_high=0.072))
    table = costs(runs(run()), options=ON_DEMAND, rows=rows)
    assert table[["cost_usd_low", "cost_usd", "cost_usd_high"]].iloc[0].to_list() == pytest.approx(
        [0.0005, 0.001, 0.002]
    )


def test_cost_is_that_of_a_training_of_the_published_length() -> None:
    """20 s are done once, 100 s train a tenth of the samples at 10,000/s: 1,020 s for all of them."""
    short = {"total_seconds": 120.0, "published_samples": 1e7, "published_seconds": 1020.0}
    table = costs(runs(run(**short), run(repeat=2)), options=ON_DEMAND)
    assert table["useful_seconds"].to_list() == [1020, 100]
    assert table["cost_usd"].to_list() == pytest.approx([0.0102, 0.001])
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.00102, 0.001])
    assert table["billed_seconds"].to_list()[0] == 120, "the bill is that of the run as it was"


def test_published_run_may_lack_its_batch_size() -> None:
    table = costs(runs(run(batch_size=None, first_step_seconds=None)), options=ON_DEMAND)
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.001])


def test_throughput_alone_has_a_cost_per_sample_but_no_bill() -> None:
    table = costs(runs(run(train_seconds=None, samples_per_second=1_000.0)), options=ON_DEMAND)
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.01])
    assert table["samples_per_usd"].to_list() == pytest.approx([1e8])
    for column in ("useful_seconds", "used_seconds", "billed_seconds", "cost_usd", "billed_usd"):
        assert table[column].isna().all(), column


def test_time_and_throughput_without_a_count_of_samples() -> None:
    table = costs(runs(run(train_samples=None, samples_per_second=1_000.0)), options=ON_DEMAND)
    assert table["cost_usd"].to_list() == pytest.approx([0.001])
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.01])
    neither = costs(runs(run(train_samples=None, samples_per_second=None)), options=ON_DEMAND)
    assert neither["cost_usd"].to_list() == pytest.approx([0.001])
    assert neither["usd_per_million_samples"].isna().all()


def test_free_machine_costs_nothing_and_has_no_samples_per_dollar() -> None:
    table = costs(runs(run()), options=ON_DEMAND, rows=price_book(offer("1-core", 0.0)))
    assert table[["cost_usd", "billed_usd", "usd_per_million_samples"]].iloc[0].to_list() == [0, 0, 0]
    assert table["samples_per_usd"].isna().all()


def test_expected_preemptions_lengthen_the_run() -> None:
    risky = {"risky": {"purchase": "spot", "preemption": PREEMPTION | {"checkpoint_seconds": 1e9}}}
    table = costs(runs(run(train_seconds=3600.0, total_seconds=3630.0)), options=risky)
    mean = 7200
    used = mean * exp(120 / mean) * (exp(3600 / mean) - 1)
    assert table["useful_seconds"].to_list() == [3600]
    assert table["used_seconds"].to_list() == pytest.approx([used])
    assert table["cost_usd"].to_list() == pytest.approx([np.ceil(used) * 0.018 / 3600])
    assert table["billed_seconds"][0] == np.ceil(used + 30)
    assert table["usd_per_million_samples"][0] > 1.1 * 3600 * 0.018 / 3600


def attempts(*rows: tuple[str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["run", "used_seconds"])


def with_attempts(frame: pd.DataFrame, *rows: tuple[str, float]) -> pd.DataFrame:
    table = prices(options=ON_DEMAND, rows=price_book(offer("1-core", 0.036, as_of="2019-01-01")))
    return tables.conform(pricing.price_runs(frame, table, attempts(*rows)), "costs")


def test_recorded_attempts_are_billed_each_for_itself() -> None:
    frame = runs(run(total_seconds=130.0), run(repeat=2))
    first, second = frame["run"]
    table = with_attempts(frame, (first, 30.0), (first, 90.5), ("another", 1.0))
    assert table["run"].to_list() == [first, second]
    assert table["useful_seconds"].to_list() == [100, 100]
    assert table["used_seconds"].to_list() == [120.5, 100], "without a record: one attempt"
    assert table["billed_seconds"].to_list() == [60 + 91, 100]
    assert table["cost_usd"].to_list() == pytest.approx([0.00151, 0.001])
    assert table["billed_usd"].to_list() == pytest.approx([0.00151, 0.001])


def test_what_machines_take_to_begin_is_billed_with_each_attempt() -> None:
    frame = runs(run(total_seconds=130.0))
    tries = attempts((frame["run"][0], 70.0), (frame["run"][0], 90.0)).assign(
        boot_seconds=[45.0, 50.0], wait_seconds=[5.0, 0.5]
    )
    table = prices(options=ON_DEMAND, rows=price_book(offer("1-core", 0.036, as_of="2019-01-01")))
    (priced,) = pricing.price_runs(frame, table, tries).to_dict("records")
    assert (priced["used_seconds"], priced["boot_seconds"]) == (160, 95)
    assert priced["billed_seconds"] == 120 + 141, "70 + 50 s, and 140.5 s in whole seconds"


def test_attempt_of_unknown_length_makes_the_cost_unknown() -> None:
    frame = runs(run(), run(repeat=2))
    table = with_attempts(frame, (frame["run"][0], 30.0), (frame["run"][0], nan))
    assert table["cost_usd"].isna().to_list() == [True, False]
    assert table["billed_usd"].isna().to_list() == [True, False]


def test_no_attempts_are_one_attempt_each() -> None:
    frame, table = runs(run()), prices()
    pd.testing.assert_frame_equal(pricing.price_runs(frame, table, attempts()), pricing.price_runs(frame, table))


@pytest.mark.slow
@given(st.lists(some, min_size=1, max_size=5), some, some)
def test_cost_is_linear_in_seconds_and_rate(seconds: list[float], rate: float, factor: float) -> None:
    frame = runs(*(run(repeat=i, train_seconds=time) for i, time in enumerate(seconds)))
    longer = runs(*(run(repeat=i, train_seconds=time * factor) for i, time in enumerate(seconds)))
    table = costs(frame, options=IN_A_ROW, rows=price_book(offer("1-core", rate)))
    dearer = costs(frame, options=IN_A_ROW, rows=price_book(offer("1-core", rate * factor)))
    slower = costs(longer, options=IN_A_ROW, rows=price_book(offer("1-core", rate)))
    assert (table["cost_usd"] * 3600).to_list() == pytest.approx([time * rate for time in seconds])
    for other in (dearer, slower):
        assert other["cost_usd"].to_list() == pytest.approx((table["cost_usd"] * factor).to_list())
    # The run trains on a million samples.
    assert table["usd_per_million_samples"].to_list() == pytest.approx(table["cost_usd"].to_list())
    assert (table["usd_per_million_samples"] * table["samples_per_usd"]).to_list() == pytest.approx([1e6] * len(frame))


#: Rules that round and have a minimum, or neither; prices with ranges; preemption.
WAYS = {
    "old": {"purchase": "on-demand", "book": "old"},
    "new": {"purchase": "on-demand", "book": "new"},
    "risky": {"purchase": "on-demand", "book": "old", "preemption": PREEMPTION},
}
WAY_BOOKS = {
    "old": price_book(
        offer("1-core", 0.036, as_of="2019-01-01", rate_low=0.03, rate_high=0.05),
        offer("4-core", 0.1, as_of="2019-01-01"),
    ),
    "new": price_book(offer("1-core", 0.02), offer("4-core", 0.1, currency="EUR")),
}
WAY_PRICES = pricing.table(hourly.price_rows(CATALOGUE, WAYS, lambda option: WAY_BOOKS[option["book"]], TERMS))

any_run = st.fixed_dictionaries(
    {
        "hardware": st.sampled_from(["cpu1", "cpu4", "gpu"]),
        "status": st.sampled_from(["done", "done", "done", "failed"]),
        "train_seconds": st.none() | st.floats(0, 2e4),
        "total_seconds": st.none() | st.floats(0, 3e4),
        "first_step_seconds": st.none() | st.just(2.0),
        "samples_per_second": st.none() | st.floats(1, 1e5),
        "batch_size": st.sampled_from([32, 128, 10_000_000]),
    }
)


@pytest.mark.slow
@given(st.lists(any_run, max_size=8))
def test_bill_is_never_below_the_cost_nor_the_time(rows: list[dict]) -> None:
    frame = runs(*(run(repeat=i, **values) for i, values in enumerate(rows)))
    table = tables.conform(pricing.price_runs(frame, WAY_PRICES), "costs")
    timed = table.dropna(subset="useful_seconds")
    near = 1 - 1e-9  # time is counted in microseconds
    assert (timed["used_seconds"] >= timed["useful_seconds"] * near - 1e-6).all()
    assert (timed["billed_seconds"] >= timed["used_seconds"] * near - 1e-6).all()
    assert (timed["billed_usd"] >= timed["cost_usd"] * near - 1e-9).all()
    used = timed["used_seconds"] > 1e-6
    assert (timed["billed_seconds"] >= timed["minimum_seconds"])[used].all()
    assert (timed["cost_usd_low"] <= timed["cost_usd"]).all()
    assert (timed["cost_usd"] <= timed["cost_usd_high"]).all()
    assert not (table["usd_per_million_samples"] < 0).any()


@pytest.mark.slow
@given(st.lists(any_run, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_order_of_the_runs_does_not_matter(rows: list[dict], random) -> None:
    frame = runs(*(run(repeat=i, **values) for i, values in enumerate(rows)))
    order = list(range(len(frame)))
    random.shuffle(order)
    key = ["run", "price_option"]
    straight = pricing.price_runs(frame, WAY_PRICES).sort_values(key, ignore_index=True)
    mixed = pricing.price_runs(frame.iloc[order], WAY_PRICES).sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(straight, mixed)


@pytest.mark.slow
def test_pricing_many_runs_is_pricing_each_alone() -> None:
    random = np.random.default_rng(3)
    count = 2_000
    seconds = random.lognormal(6, 3, count)
    frame = runs(run()).iloc[np.zeros(count, dtype=int)].reset_index(drop=True)
    frame = frame.assign(
        run=[f"run {i}" for i in range(count)],
        hardware=random.choice(["cpu1", "cpu4", "gpu"], count),
        status=random.choice(["done", "failed"], count, p=[0.9, 0.1]),
        train_seconds=np.where(random.random(count) < 0.1, np.nan, seconds),
        total_seconds=seconds + random.exponential(30, count),
        first_step_seconds=np.where(random.random(count) < 0.3, np.nan, 2.0),
        batch_size=random.choice([32, 128, 2_000_000], count),
    )
    frame = tables.conform(frame, "runs")
    lengths = random.exponential(300, (count, 2))
    tried = pd.DataFrame({"run": np.repeat(frame["run"].to_numpy()[::3], 2), "used_seconds": lengths[::3].ravel()})
    together = pricing.price_runs(frame, WAY_PRICES, tried)
    assert together.groupby("run").size().to_dict() == {
        name: 3
        for name, hardware, status in frame[["run", "hardware", "status"]].values
        if hardware != "gpu" and status == "done"
    }
    for i in random.choice(count, 40, replace=False):
        alone = pricing.price_runs(frame.iloc[[i]], WAY_PRICES, tried[tried["run"] == frame["run"][i]])
        same = together[together["run"] == frame["run"][i]].reset_index(drop=True)
        pd.testing.assert_frame_equal(same, alone, check_dtype=False)


def test_book_of_the_tests_prices_what_the_tests_say() -> None:
    assert [row["rate"] for row in BOOK] == [0.036, 0.018, 0.144]
    assert costs(runs(run()))["cost_usd"].to_list() == pytest.approx([0.001, 0.0005])


def test_machine_without_a_rent_is_owned_where_the_option_does_not_say_how_it_is_bought() -> None:
    own = {"acquisition_usd": 730, "life_months": 10, "power_watts": 0, "usd_per_kwh": 0.2, "hours_per_month": 146,
           "as_of": "2026", "source": "me"}  # fmt: skip
    machines = CATALOGUE | {"box": {"label": "box", "own": own}}
    table = prices(machines, {"as-it-is": {}, "on-demand": {"purchase": "on-demand"}})
    found = {(row["hardware"], row["price_option"]): row["purchase"] for row in table.to_dict("records")}
    assert found["box", "as-it-is"] == "owned"
    assert found["cpu1", "as-it-is"] == "on-demand", "what rents is rented"
    assert ("box", "on-demand") not in found


def test_resumed_run_at_a_reduced_scale_costs_what_is_left_of_it_too() -> None:
    """35 s of two attempts for 100,000 samples; the other 9,900,000 at 10,000/s."""
    resumed = run(train_seconds=None, total_seconds=20.0, published_samples=1e7, samples_per_second=10_000.0,
                  train_samples=50_000, epochs=2, epochs_done=2)  # fmt: skip
    attempts = pd.DataFrame({"run": [resumed["run"]] * 2, "used_seconds": [20.0, 15.0]})
    table = pricing.price_runs(runs(resumed), prices(options=ON_DEMAND), attempts)
    assert table["used_seconds"].to_list() == pytest.approx([35 + 990])
    assert table["usd_per_million_samples"].to_list() == pytest.approx((table["cost_usd"] / 10).to_list())


@pytest.mark.parametrize(("trained", "is_known"), [(50_000, False), (5_000_000, True)])
def test_run_without_a_rate_has_the_cost_of_what_it_trained_alone(trained: int, is_known: bool) -> None:
    """A training of one step has none: at a reduced scale it is no training of full length."""
    short = run(total_seconds=120.0, published_samples=1e7, published_seconds=None, samples_per_second=None,
                train_samples=trained, epochs=2, epochs_done=2)  # fmt: skip
    resumed = short | {"train_seconds": None, "run": "resumed", "repeat": 2}
    attempts = pd.DataFrame({"run": ["resumed"] * 2, "used_seconds": [20.0, 15.0]})
    table = pricing.price_runs(runs(short, resumed), prices(options=ON_DEMAND), attempts)
    for column in ("cost_usd", "usd_per_million_samples"):
        assert table[column].notna().to_list() == [is_known, is_known], column
    assert table["billed_usd"].notna().all(), "the bill is that of the run as it was"


def test_start_of_a_machine_is_spent_where_a_cluster_records_it() -> None:
    """An attempt of 50 s that began 60 s after its machine was started, and the life of a process."""
    made = runs(run(), run(repeat=2, total_seconds=100.0))
    recorded = [{"run": made["run"][0], "used_seconds": 50.0, "boot_seconds": 45.0, "wait_seconds": 15.0}]
    attempts = tables.conform(pd.DataFrame(recorded, columns=list(tables.columns("attempts"))), "attempts")
    table = pricing.spent(made, attempts, prices().query("price_option == 'on-demand'"))
    assert table["used_seconds"].to_list() == [50, 100]
    assert table["usd"].to_list() == pytest.approx([110 * 0.00001, 100 * 0.00001])


NOISE = {"is_training": False, "samples_per_second": 500.0, "total_seconds": 120.0}


def test_speed_test_costs_by_the_million_samples_and_no_training() -> None:
    """A million samples at 500/s take 2,000 s, .02 USD at .036 USD/h; the bill of the run is of its 120 s."""
    (row,) = costs(runs(run(**NOISE)), options=ON_DEMAND).to_dict("records")
    assert pd.isna(row["useful_seconds"])
    assert pd.isna(row["cost_usd"])
    assert row["usd_per_million_samples"] == pytest.approx(0.02)
    assert row["billed_usd"] == pytest.approx(0.0012)


def test_speed_test_of_several_attempts_costs_no_training_either() -> None:
    frame = runs(run(**NOISE | {"total_seconds": None, "train_seconds": None}))
    tries = [{"run": frame["run"][0], "used_seconds": 60.0, "lost_seconds": 10.0}] * 2
    (row,) = pricing.price_runs(frame, prices(options=ON_DEMAND), pd.DataFrame(tries)).to_dict("records")
    assert pd.isna(row["cost_usd"])
    assert row["billed_usd"] == pytest.approx(0.0012)


def test_short_training_costs_the_least_that_its_provider_bills() -> None:
    """Two winners of 47.4 and 58.8 s on a machine of .0475 USD/h with a minimum of 60 s are each billed .000792 USD."""
    old = price_book(offer("1-core", 0.0475, as_of="2019-01-01"))
    rows = [run(repeat=n, train_seconds=seconds) for n, seconds in enumerate((47.4, 58.8, 61.5))]
    table = costs(runs(*rows), options=ON_DEMAND | {"row": IN_A_ROW["on-demand"]}, rows=old)
    by_option = {name: group["cost_usd"].to_list() for name, group in table.groupby("price_option")}
    assert by_option["on-demand"] == pytest.approx([0.000792, 0.000792, 0.000818], abs=5e-7)
    assert by_option["row"] == pytest.approx([0.000625, 0.000776, 0.000811], abs=5e-7), (
        "one after another: time x price"
    )
