from pathlib import Path

import pandas as pd
import pytest

from scripts.analysis import figures
from scripts.articles.printed.figures import printed as beside_printed
from scripts.storage.errors import InputError
from scripts.studies import articles
from tests.made import OPTIONS, costs, offer, price_book, prices, run, runs, write_book

# Printed costs beside derived ones


def printed(*rows: dict, usd: dict, within: float = 0.005, seconds_within: float = 18.0, as_of: str = "2020", **price):
    """Return the comparison for runs on cpu1 at 3.6 USD/h, billed by the second (before 2020 at least a minute)."""
    frame = runs(*(run(gpu_percent=80.0) | row for row in rows))
    paid = costs(frame, rows=price_book(offer("1-core", 3.6, as_of=as_of, **price)))
    shown = {name: {"usd": value, "within": within} for name, value in usd.items()}
    study = {"printed": {"price": "on-demand", "seconds_within": seconds_within, "rows": shown}}
    return beside_printed(study, frame, paid).to_dict("records")


def test_derived_cost_has_the_range_of_the_rounding_of_the_time() -> None:
    (row,) = printed(run(train_seconds=3600.0), usd={"cpu1": 3.6})
    assert (row["hardware"], row["train_seconds"], row["val_acc"], row["gpu_percent"]) == ("cpu1", 3600, 0.98, 80)
    assert (row["usd_per_hour"], row["billed_seconds"]) == (3.6, 3600)
    assert (row["derived_usd_low"], row["derived_usd"], row["derived_usd_high"]) == pytest.approx((3.582, 3.6, 3.618))
    assert (row["printed_usd"], row["within"], row["price_inferred"]) == (3.6, 0.005, "")


@pytest.mark.parametrize(
    ("usd", "within", "agrees"),
    [
        (3.6, 0.005, True),
        (3.62, 0.005, True),
        (3.63, 0.005, False),
        (3.58, 0.005, True),
        (3.57, 0.005, False),
        (3.5, 0.05, False),
        (3.5, 0.1, True),
    ],
)
def test_costs_agree_where_both_roundings_meet(usd: float, within: float, agrees: bool) -> None:
    (row,) = printed(run(train_seconds=3600.0), usd={"cpu1": usd}, within=within)
    assert bool(row["agrees"]) is agrees


def test_range_of_the_price_counts_and_says_where_it_comes_from() -> None:
    (row,) = printed(
        run(train_seconds=3600.0), usd={"cpu1": 3.0}, rate_low=3.0, rate_high=4.0, inferred="from the printed cost"
    )
    assert (row["derived_usd_low"], row["derived_usd_high"]) == pytest.approx((2.985, 4.02))
    assert row["agrees"]
    assert row["price_inferred"] == "1-core: from the printed cost"


def test_range_is_billed_like_the_cost_itself() -> None:
    (row,) = printed(run(train_seconds=10.0), usd={"cpu1": 0.06}, as_of="2019")
    assert (row["derived_usd_low"], row["derived_usd"], row["derived_usd_high"]) == pytest.approx((0, 0.06, 0.06))


def test_part_of_the_bill_for_gpus_that_did_nothing() -> None:
    frame = runs(run(gpu_percent=80.0), run(hardware="cpu4", gpu_percent=50.0))
    rows = {"cpu1": {"usd": 1, "within": 1, "type": "low-end", "gpu_memory_gb": 12, "instance": "p2"}}
    rows["cpu4"] = {"usd": 1, "within": 1, "gpus": 4, "gpus_used": 1}
    study = {"printed": {"price": "on-demand", "seconds_within": 0, "rows": rows}}
    table = beside_printed(study, frame, costs(frame)).set_index("hardware")
    assert table["unused_share"].to_dict() == pytest.approx({"cpu1": 0.2, "cpu4": 1 - 0.5 / 4})
    assert table.loc["cpu1", ["type", "gpu_memory_gb", "instance"]].to_list() == ["low-end", 12, "p2"]
    assert table.loc["cpu4", ["type", "instance"]].to_list() == ["", ""]
    shown = figures.readable(study, {"printed": table.reset_index()})["rented"]
    assert shown[["hardware", "gpus", "gpus_used"]].values.tolist() == [["cpu1", 1, 1], ["cpu4", 4, 1]]
    found = figures.figures(study | {"price": "on-demand"}, {"printed": table.reset_index()}, prices(), frame, {})
    assert found["unused_share_cpu4"] == pytest.approx(0.875)


def test_machine_without_a_printed_cost_is_left_out() -> None:
    rows = printed(run(), run(hardware="cpu4"), usd={"cpu1": 0.1})
    assert [row["hardware"] for row in rows] == ["cpu1"]


# Tables and figures of a study

#: A box that costs 10 USD a month and 0.1 USD an hour in use.
OFFICE = {
    "price": "on-demand",
    "prices": OPTIONS,
    "machines": {
        "card": {"label": "one card"},
        "box": {
            "label": "the box",
            "own": {
                "acquisition_usd": 120,
                "life_months": 12,
                "power_watts": 1000,
                "usd_per_kwh": 0.1,
                "hours_per_month": 240,
                "as_of": "2018",
                "source": "an article",
            },
        },
        "rented": {"label": "rented", "rent": {"provider": "cloud", "items": {"4-card": 1}}},
    },
    "office": {
        "owned": "box",
        "single": "card",
        "gpus": 4,
        "batch_sizes": [16, 32],
        "efficiency_decimals": 2,
        "scaling": [
            {"single": "a", "multi": "b", "gpus": 2, "net": [0.9, 0.8]},
            {"single": "a", "multi": "c", "gpus": 4, "net": [0.7, 0.6]},
        ],
        "printed_means": {"net": [0.8, 0.75]},
        "printed_estimates": {"net": [320, 570]},
        "to_train": {"net": [100, 36_000]},
        "gains": {
            "cloud": {"label": "cloud", "gain": 2.0, "workload": "net", "gpus": 4, "machine": "rented"},
            "spot": {"label": "spot", "gain": 1.5, "workload": "net"},
            "busy": {"label": "busy", "gain": 3.0, "workload": "net", "gpus": 2, "machine": "rented", "days": 20},
        },
        "rents": ["on-demand", "spot"],
    },
}
BOOK = price_book(offer("4-card", 2.0), offer("4-card", 0.05, purchase="spot"))
RUNS = runs(
    run(workload="net", hardware="card", batch_size=16, samples_per_second=100.0, train_seconds=None),
    run(workload="net", hardware="card", batch_size=32, samples_per_second=200.0, train_seconds=None),
)


@pytest.fixture(scope="module")
def derived() -> dict[str, pd.DataFrame]:
    table = prices(OFFICE["machines"], OPTIONS, BOOK)
    return figures.tables(OFFICE, RUNS, costs(RUNS, OFFICE["machines"], OPTIONS, BOOK), table, {})


def test_study_without_anything_to_derive_has_no_tables() -> None:
    assert figures.tables({}, RUNS, costs(RUNS), prices(), {}) == {}


def test_estimates_are_compared_with_the_printed_ones(derived: dict[str, pd.DataFrame]) -> None:
    assert len(derived["scaling"]) == 4
    assert derived["scaling_means"][["batch_size", "printed"]].values.tolist() == [[16, 0.8], [32, 0.75]]
    assert derived["scaling_means"]["efficiency"].to_list() == pytest.approx([0.8, 0.7])
    table = derived["estimate"]
    assert table["estimate"].to_list() == pytest.approx([320, 560])
    assert table["printed"].to_list() == [320, 570]
    assert table["agrees"].to_list() == [True, False], "200.5 x 0.705 x 4 is 565.4"


def test_samples_per_usd_and_time_to_train_are_those_of_the_owned_box(derived: dict[str, pd.DataFrame]) -> None:
    hourly = 10 / 240 + 0.1
    table = derived["samples_per_usd"]
    assert set(table["price"]) == {"owned"}
    assert table["samples_per_usd"].to_list() == pytest.approx([320 * 3600 / hourly, 560 * 3600 / hourly])
    (row,) = derived["to_train"].to_dict("records")
    assert (row["samples"], row["price"]) == (3_600_000, "owned")
    assert row["hours"] == pytest.approx(1000 / 560)
    assert row["cost_usd"] == pytest.approx(1000 / 560 * hourly)


def test_gains_say_from_when_owning_pays_and_what_they_imply(derived: dict[str, pd.DataFrame]) -> None:
    hourly = 10 / 240 + 0.1
    cloud, spot, busy = derived["gains"].to_dict("records")
    assert cloud["break_even_days"] == pytest.approx(10 / (2 * hourly - 0.1) / 24)
    assert spot["break_even_days"] == pytest.approx(10 / (1.5 * hourly - 0.1) / 24)
    assert cloud["implied_per_gpu"] == pytest.approx(560 / hourly / 2 * 2.0 / 4)
    assert pd.isna(spot["implied_per_gpu"])
    assert (cloud["single"], spot["single"]) == (200, 200)
    assert (cloud["at_days"], busy["at_days"]) == (10, 20)
    in_20_days = 10 / 480 + 0.1
    assert busy["gain_here"] == pytest.approx(3 * in_20_days / hourly), "a gain at more use is less of one at 10 days"
    assert busy["implied_per_gpu"] == pytest.approx(560 / in_20_days / 3 * 2.0 / 2)


def test_use_and_rents_are_compared_by_the_hour(derived: dict[str, pd.DataFrame]) -> None:
    use = derived["use"]
    assert (use["days"].min(), use["days"].max()) == (1, 30)
    assert set(use["against"]) == {"cloud", "spot"}, "a gain printed for another use is in the table only"
    rents = derived["rents"]
    assert rents[["hardware", "price_option", "usd_per_hour"]].values.tolist() == [
        ["rented", "on-demand", 2.0],
        ["rented", "spot", 0.05],
    ]
    assert rents["break_even_days"].to_list() == pytest.approx([10 / 1.9 / 24, float("inf")])


def test_office_whose_gains_are_all_of_another_use_has_no_curve_of_it() -> None:
    about = OFFICE["office"] | {"gains": {"busy": OFFICE["office"]["gains"]["busy"]}}
    priced = prices(OFFICE["machines"], OPTIONS, BOOK)
    found = figures.tables(OFFICE | {"office": about}, RUNS, costs(RUNS), priced, {})
    assert found["gains"]["at_days"].to_list() == [20]
    assert "use" not in found


def test_figures_have_names_that_claims_point_at(derived: dict[str, pd.DataFrame]) -> None:
    hourly = 10 / 240 + 0.1
    priced = prices(OFFICE["machines"], OPTIONS, BOOK)
    found = figures.figures(OFFICE, derived, priced, RUNS, {})
    expected = {
        "usd_per_hour_rented_on-demand": 2.0,
        "usd_per_hour_box_owned": hourly,
        "usd_a_month_rented_on-demand": 1460,
        "mean_efficiency_net_16": 0.8,
        "mean_efficiency_net_32": 0.7,
        "estimates_that_agree": 1,
        "samples_to_train_net": 3_600_000,
        "break_even_days_spot_from_owned": 10 / (1.5 * hourly - 0.1) / 24,
        "gain_cloud_from_owned": 2.0,
        "price_share_rented_spot": 0.025,
        "implied_per_gpu_cloud_from_owned": 560 / hourly / 2 * 2.0 / 4,
        "implied_rate_cloud_from_owned": 560 / hourly / 2 * 2.0,
        "usd_a_month_of_machine": 10,
        "usd_a_month_of_energy": 24,
        "usd_a_month_of_both": 34,
        "usd_per_hour_low_rented_on-demand": 2.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert "price_share_box_owned" not in found, "it has no rent"
    assert "implied_rate_spot_from_owned" not in found, "no machine is named for it"
    assert not [name for name in found if name.startswith("longest_hours")], "no run has a time"
    timed = figures.figures(OFFICE, derived, priced, runs(run(train_seconds=7200.0)), {})
    assert timed["longest_hours_cpu1"] == 2


def test_cut_of_a_price_is_between_two_books_or_from_on_demand_to_spot(tmp_path: Path) -> None:
    rows = offer("card", 2.0), offer("card", 0.5, purchase="spot")
    write_book(tmp_path / "old.csv", *rows)
    write_book(tmp_path / "new.csv", offer("card", 1.5))
    old, new = str(tmp_path / "old.csv"), str(tmp_path / "new.csv")
    card = {"provider": "cloud", "item": "card", "before": old}
    cuts = {"later": card | {"after": new}, "spot": card | {"after": old, "after_purchase": "spot"}}
    study = {"price": "on-demand", "price_cuts": cuts}
    found = figures.figures(study, {}, prices(), runs(), articles.given(study))
    assert (found["price_cut_later"], found["price_cut_spot"]) == (0.25, 0.75)
    gone = {"price": "on-demand", "price_cuts": {"gone": card | {"after": new, "after_purchase": "spot"}}}
    with pytest.raises(InputError, match=r"price_cuts: 'card': book .*new\.csv has 0 spot rates, not one"):
        figures.figures(gone, {}, prices(), runs(), articles.given(gone))


# A machine on a schedule

SCHEDULE = {
    "price": "spot",
    "prices": OPTIONS,
    "schedule": {
        "machine": "cpu1",
        "provider": "gce",
        "month_days": 30,
        "seconds_each": 50,
        "every_hours": [24, 1],
        "rules": {
            "now": {"label": "now", "provider": "gce", "date": "2018"},
            "then": {"label": "then", "provider": "gce", "date": "2017-08"},
        },
        "fees": {"disk": 10},
        "seconds_per_start": {},
    },
}


def scheduled(tmp_path: Path, **changed) -> dict[str, float]:
    write_book(tmp_path / "own.csv", offer("disk", 0.04, provider="gce", purchase="fee", per="month"))
    study = SCHEDULE | {"book": [str(tmp_path / "own.csv")]} | changed
    table, asked = prices(), articles.given(study)
    return figures.figures(study, figures.tables(study, runs(), costs(runs()), table, asked), table, runs(), asked)


def test_month_of_a_schedule_under_each_rule(tmp_path: Path) -> None:
    found = scheduled(tmp_path)
    by_minute, by_ten = (30 * seconds * 0.018 / 3600 + 0.4 for seconds in (60, 600))
    expected = {
        "usd_a_month_now_every_24_hours": by_minute,
        "usd_a_month_then_every_24_hours": by_ten,
        "more_usd_a_month_then_every_24_hours": by_ten - by_minute,
        "more_share_then_every_24_hours": by_ten / by_minute - 1,
        "more_usd_a_month_then_every_1_hours": 24 * (by_ten - by_minute),
        "machine_usd_a_month_then_every_24_hours": by_ten - 0.4,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert "more_share_now_every_24_hours" not in found


def test_scheduled_machine_without_a_price_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="schedule: machine: 'cpu1' has no price of option owned"):
        scheduled(tmp_path, price="owned")


def test_book_of_a_schedule_may_be_one_name_or_several(tmp_path: Path) -> None:
    assert scheduled(tmp_path) == scheduled(tmp_path, book=str(tmp_path / "own.csv"))
