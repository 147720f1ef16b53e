import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.articles.schedule import month
from scripts.storage.errors import InputError
from tests.made import TERMS, offer, price_book

ROWS = price_book(
    offer("disk-gb", 0.04, purchase="fee", per="month"),
    offer("job", 0.1, purchase="fee", per="month"),
    offer("function", 0.36, per="hour"),
)
#: Two minutes, a minimum of one or none: an hour of the machine is 0.36 USD.
DAILY = {
    "provider": "cloud",
    "month_days": 30,
    "seconds_each": 50,
    "every_hours": [24, 12],
    "rules": {
        "minimum": {"provider": "cloud", "date": "2019", "label": "a minute"},
        "seconds": {"provider": "cloud", "date": "2021", "label": "by the second"},
    },
    "fees": {"disk-gb": 10, "job": 2},
    "seconds_per_start": {"function": 20},
}


def test_month_is_the_sum_of_its_parts() -> None:
    table = month.monthly(DAILY, ROWS, TERMS, 0.36)
    parts = ["starts", "minimum_seconds", "compute_usd", "fees_usd", "services_usd", "total_usd"]
    assert table["rule"].to_list() == ["minimum", "minimum", "seconds", "seconds"]
    assert table["label"].to_list() == ["a minute"] * 2 + ["by the second"] * 2
    assert table["every_hours"].to_list() == [24, 12, 24, 12]
    expected = [
        [30, 60, 0.18, 0.6, 0.06, 0.84],
        [60, 60, 0.36, 0.6, 0.12, 1.08],
        [30, 0, 0.15, 0.6, 0.06, 0.81],
        [60, 0, 0.30, 0.6, 0.12, 1.02],
    ]
    for found, row in zip(table[parts].values.tolist(), expected, strict=True):
        assert found == pytest.approx(row)


@pytest.mark.parametrize(("per", "rate"), [("second", 1e-4), ("minute", 6e-3), ("month", 259.2)])
def test_service_is_priced_by_any_unit(per: str, rate: float) -> None:
    rows = price_book(*ROWS[:2], offer("function", rate, per=per))
    assert month.monthly(DAILY, rows, TERMS, 0.36)["services_usd"][0] == pytest.approx(0.06)


def test_fee_is_exchanged_and_paid_for_all_the_month() -> None:
    rows = price_book(offer("disk-gb", 0.04 / 720, purchase="fee", currency="EUR"), *ROWS[1:])
    assert month.monthly(DAILY, rows, TERMS, 0.36)["fees_usd"][0] == pytest.approx(0.4 * 1.25 + 0.2)


def test_nothing_beside_the_machine() -> None:
    table = month.monthly(DAILY | {"fees": {}, "seconds_per_start": {}}, ROWS, TERMS, 0.36)
    assert table["total_usd"].to_list() == table["compute_usd"].to_list()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fees": {"tape": 1}}, "schedule: the price book has no fee price of one of tape"),
        ({"seconds_per_start": {"job": 1}}, "schedule: the price book has no on-demand price of one of job"),
        ({"provider": "other"}, "schedule: the price book has no fee price of one of disk-gb, job"),
        (
            {"rules": {"a": {"provider": "other", "date": "2020", "label": "a"}}},
            "provider 'other' has no rule for 2020",
        ),
    ],
)
def test_missing_price_or_rule_is_named(changed: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        month.monthly(DAILY | changed, ROWS, TERMS, 0.36)


@given(st.floats(0.001, 1e5), st.floats(0, 10), st.floats(0.5, 48), st.floats(1.1, 5))
def test_more_starts_and_longer_ones_cost_more(
    seconds: float, usd_per_hour: float, every: float, factor: float
) -> None:
    def total(**changed) -> list[float]:
        about = DAILY | {"seconds_each": seconds, "every_hours": [every]} | changed
        return month.monthly(about, ROWS, TERMS, usd_per_hour)["total_usd"].to_list()

    minimum, by_second = total()
    assert minimum >= by_second * (1 - 1e-9)
    for changed in ({"seconds_each": seconds * factor}, {"every_hours": [every / factor]}):
        assert all(after >= before * (1 - 1e-9) for before, after in zip(total(), total(**changed), strict=True))
