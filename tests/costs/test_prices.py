import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.costs import prices
from tests.made import CATALOGUE, FAILED, PRICE, costs, run, runs

#: The box of "cloud vs office" (2018).
OFFICE = {
    "acquisition_usd": 6500,
    "life_months": 30,
    "power_watts": 1000,
    "usd_per_kwh": 0.20,
    "hours_per_month": 240,
}

some = st.floats(0.01, 1e6)


def test_office_box_costs_what_was_published() -> None:
    assert prices.owned_usd_per_hour(**OFFICE) == pytest.approx(1.1028, abs=5e-5)


@pytest.mark.parametrize(
    ("price", "hourly"),
    [
        ({"usd_per_hour": 0.0475}, 0.0475),
        ({"usd_per_hour": 0}, 0.0),
        (OFFICE, 1.1028),
        (OFFICE | {"power_watts": 0}, 0.9028),
        (OFFICE | {"acquisition_usd": 0}, 0.20),
    ],
)
def test_hour_of_a_rented_or_owned_machine(price: dict, hourly: float) -> None:
    assert prices.usd_per_hour(price | PRICE) == pytest.approx(hourly, abs=5e-5)


@given(st.fixed_dictionaries(dict.fromkeys(OFFICE, some)), st.sampled_from(list(OFFICE)), st.floats(1.1, 10))
def test_owned_hour_gets_dearer_with_price_and_power_and_cheaper_with_life_and_use(
    box: dict, key: str, factor: float
) -> None:
    before, after = prices.owned_usd_per_hour(**box), prices.owned_usd_per_hour(**box | {key: box[key] * factor})
    if key in ("life_months", "hours_per_month"):
        assert after <= before
    else:
        assert after >= before


def test_price_table_has_a_row_per_machine_and_option() -> None:
    table = prices.price_table(CATALOGUE | {"office": {"prices": {"owned": OFFICE | PRICE}}})
    assert table.drop(columns=["price_as_of", "price_source"]).to_dict("split")["data"] == [
        ["cpu1", "on-demand", 0.036],
        ["cpu1", "spot", 0.018],
        ["cpu4", "on-demand", 0.144],
        ["office", "owned", pytest.approx(1.1028, abs=5e-5)],
    ]
    assert set(table["price_as_of"]) == {"2026-01-02"}
    assert set(table["price_source"]) == {"a price list"}


def test_training_costs_its_time_at_each_option() -> None:
    table = costs(runs(run(), run(hardware="cpu4", train_seconds=50.0, epochs_done=10)))
    assert table[["run", "price_option"]].to_numpy().tolist() == [
        ["mnist_mlp/cpu1/tensorflow/b128/r1", "on-demand"],
        ["mnist_mlp/cpu1/tensorflow/b128/r1", "spot"],
        ["mnist_mlp/cpu4/tensorflow/b128/r1", "on-demand"],
    ]
    assert table["priced_seconds"].to_list() == [100, 100, 50]
    assert table["cost_usd"].to_list() == pytest.approx([0.001, 0.0005, 0.002])
    assert table["usd_per_million_samples"].to_list() == pytest.approx([0.001, 0.0005, 0.004], rel=5e-4)


@pytest.mark.parametrize("row", [run(**FAILED), run(status="diverged"), run(hardware="gpu"), run(hardware="sold")])
def test_no_cost_without_a_finished_run_or_a_price(row: dict) -> None:
    assert len(costs(runs(row))) == 0
    assert costs(runs(row, run(hardware="cpu4")))["hardware"].to_list() == ["cpu4"]


def test_catalogue_without_prices_prices_nothing() -> None:
    assert len(costs(runs(run()), {"cpu1": {"label": "1 vCPU"}})) == 0


@settings(deadline=None, max_examples=10)
@given(st.lists(some, min_size=1, max_size=5), some)
def test_cost_is_time_and_price(seconds: list[float], hourly: float) -> None:
    catalogue = {"cpu1": {"prices": {"on-demand": PRICE | {"usd_per_hour": hourly}}}}
    table = costs(runs(*(run(repeat=i, train_seconds=time) for i, time in enumerate(seconds))), catalogue)
    assert (table["cost_usd"] * 3600).to_list() == pytest.approx([time * hourly for time in seconds])
    timed = (1e6 - 128) / 1e6  # million samples of the run without its first batch
    assert (table["usd_per_million_samples"] * timed).to_list() == pytest.approx(table["cost_usd"].to_list())
