import csv
from math import isnan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import book, books
from scripts.costs.billing import Rule
from scripts.costs.terms import Terms, read_terms
from scripts.storage.errors import InputError
from tests.made import TERMS, offer, price_book

HEADER = ",".join(book.COLUMNS)
GOOD = "cloud,host,us,on-demand,0.5,,,USD,hour,2026-01-02,a price list,"
FOLDER = books.FOLDER
BOOKS = sorted(
    set(FOLDER.glob("*.csv")) - {FOLDER / f"{name}.csv" for name in ("billing", "currencies", "sustained-use")}
)


def write(path: Path, *lines: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    return path


def replaced(**values: str) -> str:
    row = dict(zip(book.COLUMNS, GOOD.split(","), strict=True)) | values
    return ",".join(row.values())


def test_book_is_read_with_numbers_and_texts(tmp_path: Path) -> None:
    cheap = replaced(item="card", purchase="spot", rate="0.2", rate_low="0.15", rate_high="0.3", inferred="by eye")
    host, card = book.read([write(tmp_path / "a.csv", GOOD, cheap)])
    assert list(host) == list(book.COLUMNS)
    assert [host[key] for key in ("item", "purchase", "rate", "inferred")] == ["host", "on-demand", 0.5, ""]
    assert [card[key] for key in ("item", "purchase", "rate", "inferred")] == ["card", "spot", 0.2, "by eye"]
    assert isnan(host["rate_low"])
    assert (card["rate_low"], card["rate_high"]) == (0.15, 0.3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"provider": ""}, "provider: is empty"),
        ({"item": ""}, "item: is empty"),
        ({"source": ""}, "source: is empty"),
        *(
            ({key: text}, f"{key}: {text!r} is not a name: letters, digits, spaces and")
            for key in ("provider", "item", "region")
            for text in (
                "<b>x</b>",
                "$(x)",
                "a\x1b[2J",
                "a\u202eb",
                "=1+1",
                "[x](y)",
                "a|b",
                "a`b",
                "x@y",
                "é",
                "x" * 101,
            )
        ),
        ({"purchase": "demand"}, "purchase: 'demand' is not allowed: it is one of on-demand, spot, month, setup,"),
        ({"per": "day"}, "per: 'day' is not allowed: it is one of second, minute, hour, month"),
        ({"per": "share"}, "per: 'share' is not allowed: it is one of second, minute, hour, month"),
        ({"per": "once"}, "per: 'once' is not allowed: it is one of second, minute, hour, month"),
        ({"purchase": "setup"}, "per: 'hour' is not allowed: it is one of once"),
        ({"purchase": "premium"}, "per: 'hour' is not allowed: it is one of share"),
        ({"as_of": ""}, "as_of: '' is not a date"),
        ({"as_of": "02.01.2026"}, "as_of: '02.01.2026' is not a date (YYYY-MM-DD, YYYY-MM or YYYY)"),
        ({"as_of": "2026-13"}, "as_of: '2026-13' is not a date"),
        ({"as_of": "2026-02-30"}, "as_of: '2026-02-30' is not a date"),
        ({"currency": "usd"}, "currency: 'usd' is not an ISO 4217 code such as USD"),
        ({"currency": ""}, "currency: '' is not an ISO 4217 code"),
        ({"rate": ""}, "rate: '' must be a number >= 0"),
        ({"rate": "free"}, "rate: 'free' must be a number >= 0"),
        ({"rate": "-1"}, "rate: '-1' must be a number >= 0"),
        ({"rate": "nan"}, "rate: 'nan' must be a number >= 0"),
        ({"rate": "inf"}, "rate: 'inf' must be a number >= 0"),
        ({"rate_low": "low"}, "rate_low: 'low' must be a number >= 0"),
        ({"rate_low": "0.4"}, "rate_low, rate_high: '0.4', '' must be empty, or lie around rate 0.5"),
        ({"rate_high": "0.6"}, "rate_low, rate_high: '', '0.6' must be empty, or lie around rate 0.5"),
        ({"rate_low": "0.6", "rate_high": "0.7"}, "rate_low, rate_high: '0.6', '0.7' must be empty, or lie around"),
        ({"rate_low": "0.3", "rate_high": "0.4"}, "rate_low, rate_high: '0.3', '0.4' must be empty, or lie around"),
        ({"region": "us"}, "cloud host us on-demand: is given in line 2 too"),
        ({"inferred": "a,b"}, "this row does not have 12 values"),
        ({"inferred": '"open'}, "not CSV: unexpected end of data"),
        ({"inferred": '"a"b'}, "not CSV: ',' expected after '\"'"),
    ],
)
def test_fault_is_one_line_with_file_line_key_and_value(tmp_path: Path, values: dict, message: str) -> None:
    path = write(tmp_path / "new.csv", GOOD, replaced(**{"region": "eu"} | values))
    with pytest.raises(InputError) as fault:
        book.read([path])
    said = str(fault.value)
    assert said.startswith(f"{path}:3: {message}")
    assert "\n" not in said


@pytest.mark.parametrize("content", [b"", b"provider,item\n", HEADER.encode().upper() + b"\n"])
def test_other_columns_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.csv:1: the columns must be {HEADER}"):
        book.read([tmp_path / "a.csv"])


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"a\.csv: not CSV"):
        book.read([tmp_path / "a.csv"])


def test_missing_book_is_named_beside_those_there_are() -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: there is no such file; config/prices/ has .*current.*listed"):
        book.read(books.files(["current", "nowhere"]))


def test_book_without_rows_has_no_prices(tmp_path: Path) -> None:
    rows = book.read([write(tmp_path / "a.csv")])
    assert not rows
    assert book.rent(rows, TERMS, "cloud", {"host": 1}, "on-demand") is None


def test_files_of_a_config(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.csv", GOOD)
    assert books.files("current") == [FOLDER / "current.csv"]
    assert books.files([str(mine), "listed"]) == [mine, FOLDER / "listed.csv"]
    with pytest.raises(InputError, match=r"^price book .*curent.csv: there is no such file; .* current,"):
        books.files(["current", "curent"])


def test_first_book_that_prices_an_item_counts(tmp_path: Path) -> None:
    first = write(tmp_path / "first.csv", GOOD)
    others = [replaced(rate="9"), replaced(rate="9", region="eu"), replaced(rate="9", purchase="spot")]
    second = write(tmp_path / "second.csv", *others)
    assert [(row["region"], row["purchase"], row["rate"]) for row in book.read([first, second])] == [
        ("us", "on-demand", 0.5),
        ("eu", "on-demand", 9.0),
        ("us", "spot", 9.0),
    ]
    assert [row["rate"] for row in book.read([second, first])] == [9, 9, 9]


# A machine's price


def rent(*rows: dict, items: dict | None = None, purchase: str = "on-demand", **values) -> book.Price | None:
    return book.rent(price_book(*rows), TERMS, "cloud", items or {"host": 1}, purchase, **values)


def test_host_and_accelerators_are_summed_by_their_number() -> None:
    rows = [offer("host", 0.5), offer("card", 2.0, source="cards", as_of="2025-06", inferred="halved")]
    price = rent(*rows, items={"host": 1, "card": 4})
    assert price == book.Price(
        provider="cloud",
        region="",
        purchase="on-demand",
        usd_per_hour=8.5,
        usd_per_hour_low=8.5,
        usd_per_hour_high=8.5,
        rule=Rule(1, 0),
        as_of="2025-06",
        source="a price list; cards",
        inferred="card: halved",
    )


@pytest.mark.parametrize(
    ("items", "purchase", "provider"),
    [
        ({"host": 1, "card": 1}, "on-demand", "cloud"),
        ({"host": 1}, "spot", "cloud"),
        ({"host": 1}, "on-demand", "other"),
    ],
)
def test_machine_with_a_part_that_is_not_offered_has_no_price(items: dict, purchase: str, provider: str) -> None:
    rows = price_book(offer("host", 0.5), offer("card", 2.0, purchase="spot"))
    assert book.rent(rows, TERMS, provider, items, purchase) is None


def test_region_is_that_of_the_machine() -> None:
    rows = [offer("host", 0.5, region="us"), offer("host", 0.7, region="eu"), offer("host", 0.9)]
    assert rent(*rows, region="eu").usd_per_hour == 0.7
    assert rent(*rows, region="eu").region == "eu"
    everywhere = rent(*rows, region="asia")
    assert (everywhere.usd_per_hour, everywhere.region) == (0.9, "")
    assert rent(*rows[:2], region="asia") is None


def test_one_region_needs_no_name() -> None:
    price = rent(offer("host", 0.5, region="us"), offer("card", 1.0), items={"host": 1, "card": 1})
    assert (price.usd_per_hour, price.region) == (1.5, "us")


@pytest.mark.parametrize(
    ("rows", "items"),
    [
        ([offer("host", 0.5, region="us"), offer("host", 0.7, region="eu")], {"host": 1}),
        ([offer("host", 0.5, region="us"), offer("card", 0.7, region="eu")], {"host": 1, "card": 1}),
    ],
)
def test_region_must_be_given_where_there_are_several(rows: list[dict], items: dict) -> None:
    with pytest.raises(InputError, match=rf"price of cloud {' . '.join(items)}: region: must be given: .* eu, us"):
        rent(*rows, items=items)


def test_premium_is_a_share_of_the_host() -> None:
    premium = offer("new-cpu", 0.1, purchase="premium", per="share", source="a note")
    rows = [offer("host", 0.5), offer("card", 2.0), premium]
    price = rent(*rows, items={"host": 2, "card": 1}, premium="new-cpu")
    assert price.usd_per_hour == pytest.approx(2 * 0.5 * 1.1 + 2.0)
    assert price.source == "a price list; a note"
    assert rent(*rows[:2], premium="new-cpu") is None


def test_range_of_prices_goes_through_to_the_sum() -> None:
    rows = [
        offer("host", 0.5, rate_low=0.4, rate_high=0.8),
        offer("card", 2.0),
        offer("new-cpu", 0.1, purchase="premium", per="share", rate_low=0.0, rate_high=0.5),
    ]
    price = rent(*rows, items={"host": 1, "card": 2}, premium="new-cpu")
    assert price.usd_per_hour_low == pytest.approx(0.4 + 4)
    assert price.usd_per_hour == pytest.approx(0.55 + 4)
    assert price.usd_per_hour_high == pytest.approx(1.2 + 4)


@pytest.mark.parametrize(("per", "hours"), [("second", 1 / 3600), ("minute", 1 / 60), ("hour", 1), ("month", 730)])
def test_rate_is_turned_into_one_of_an_hour(per: str, hours: float) -> None:
    assert rent(offer("host", 3.0, per=per)).usd_per_hour == pytest.approx(3 / hours)


def test_other_currency_is_exchanged_with_its_range_and_its_source() -> None:
    price = rent(
        offer("host", 2.0, currency="EUR", inferred="lowest"), offer("card", 1.0), items={"host": 1, "card": 1}
    )
    assert (price.usd_per_hour_low, price.usd_per_hour, price.usd_per_hour_high) == pytest.approx((3.4, 3.5, 3.6))
    assert price.source == "a price list; a bank"
    assert price.inferred == "host: lowest; EUR: by eye"


def test_range_of_price_and_currency_both_count() -> None:
    price = rent(offer("host", 2.0, currency="EUR", rate_low=1.0, rate_high=4.0))
    assert (price.usd_per_hour_low, price.usd_per_hour, price.usd_per_hour_high) == pytest.approx((1.2, 2.5, 5.2))


@pytest.mark.parametrize(("currency", "as_of"), [("EUR", "2019-12-31"), ("GBP", "2026-01-01")])
def test_currency_without_a_rate_is_named(currency: str, as_of: str) -> None:
    with pytest.raises(InputError, match=rf"currencies\.csv: {currency} has no rate at or before {as_of}"):
        rent(offer("host", 2.0, currency=currency, as_of=as_of))


def test_month_is_prorated_and_its_setup_spread() -> None:
    month = offer("host", 73.0, purchase="month", per="month")
    setup = offer("host", 146.0, purchase="setup", per="once")
    assert rent(month, purchase="month").usd_per_hour == pytest.approx(0.1)
    assert rent(month, purchase="month", hours_per_month=365).usd_per_hour == pytest.approx(0.2)
    assert rent(month, setup, purchase="month").usd_per_hour == pytest.approx(0.1 + 0.2)
    assert rent(month, setup, purchase="month", months=4).usd_per_hour == pytest.approx(0.1 + 0.05)
    two = rent(month, setup, purchase="month", months=4, hours_per_month=365, items={"host": 2})
    assert two.usd_per_hour == pytest.approx(2 * (0.2 + 0.1))


def test_flat_fee_is_spread_over_the_hours_of_use() -> None:
    hour, fee = offer("host", 2.0), offer("account", 5.0, purchase="fee", per="month")
    assert rent(hour, fee, fee="account").usd_per_hour == pytest.approx(2 + 5 / 730)
    assert rent(hour, fee, fee="account", hours_per_month=10).usd_per_hour == pytest.approx(2.5)
    assert rent(hour, fee).usd_per_hour == 2.0, "no machine pays what it does not name"
    assert rent(hour, fee="account") is None


def test_setup_is_due_by_the_month_only_and_in_the_same_region() -> None:
    rows = [
        offer("host", 73.0, purchase="month", per="month", region="us"),
        offer("host", 146.0, purchase="setup", per="once", region="eu"),
        offer("host", 0.5, region="us"),
    ]
    assert rent(*rows, purchase="month").usd_per_hour == pytest.approx(0.1)
    assert rent(*rows).usd_per_hour == 0.5


rates = st.floats(0, 1e3)


@given(rates, rates, st.integers(1, 16), st.integers(1, 16))
def test_sum_is_linear_in_rates_and_pieces(host: float, card: float, hosts: int, cards: int) -> None:
    price = rent(offer("host", host), offer("card", card), items={"host": hosts, "card": cards})
    assert price.usd_per_hour == pytest.approx(host * hosts + card * cards)


@given(st.lists(rates, min_size=3, max_size=3).map(sorted), st.floats(0, 2), st.integers(1, 8))
def test_price_lies_within_its_range(bounds: list[float], share: float, pieces: int) -> None:
    low, rate, high = bounds
    price = rent(
        offer("host", rate, rate_low=low, rate_high=high, currency="EUR"),
        offer("new-cpu", share, purchase="premium", per="share"),
        items={"host": pieces},
        premium="new-cpu",
    )
    assert price.usd_per_hour_low <= price.usd_per_hour <= price.usd_per_hour_high


# How it is billed, and what currencies are worth


@pytest.mark.parametrize(
    ("provider", "on", "increment", "minimum"),
    [
        ("gce", "2017-07", 60, 600),
        ("gce", "2017-09-25", 60, 600),
        ("gce", "2017-09-26", 1, 60),
        ("gce", "2018-11-19", 1, 60),
        ("aws", "2017-10-01", 3600, 3600),
        ("aws", "2017-10-02", 1, 60),
        ("aws", "2018", 1, 60),
        ("softlayer", "2018-02-08", 3600, 3600),
        ("leadergpu", "2018-02-08", 1, 0),
        ("paperspace", "2018-02-08", 1, 0),
    ],
)
def test_billing_rule_is_that_of_the_date(provider: str, on: str, increment: float, minimum: float) -> None:
    assert read_terms().rule(provider, on) == Rule(increment, minimum)


def test_price_is_billed_by_the_rule_of_its_date() -> None:
    assert rent(offer("host", 1.0, as_of="2019-12-31")).rule == Rule(1, 60)
    assert rent(offer("host", 1.0, as_of="2020-01-01")).rule == Rule(1, 0)


def test_provider_without_a_rule_is_named() -> None:
    rows = price_book(offer("host", 1.0, provider="new"))
    with pytest.raises(InputError, match=r"billing\.csv: provider 'new' has no rule for 2026-01-02"):
        book.rent(rows, TERMS, "new", {"host": 1}, "on-demand")


RULES = "provider,from,increment_seconds,minimum_seconds,source"
CURRENCIES = "currency,as_of,usd,usd_low,usd_high,source,inferred"


def terms(folder: Path, rule: str = "cloud,,1,0,a page", currency: str = "EUR,2020,1.1,,,a bank,") -> Terms:
    write(folder / "billing.csv", "other,,1,0,a page", rule, header=RULES)
    write(folder / "sustained-use.csv", "cloud,n1-,30,a page", header="provider,items,tiers,source")
    write(folder / "currencies.csv", "USD,1900,1,,,by definition,", currency, header=CURRENCIES)
    return read_terms(folder)


def test_terms_are_read_from_a_folder(tmp_path: Path) -> None:
    found = terms(tmp_path, currency="EUR,2020-03,1.1,1,1.2,a bank,by eye")
    assert found.rule("cloud", "2020") == Rule(1, 0)
    assert found.exchange("EUR", "2020-03-01") == (1.0, 1.1, 1.2, "a bank", "by eye")
    assert found.exchange("USD", "2020-03-01")[:3] == (1, 1, 1), "no range is the rate itself"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (",,1,0,a page", "provider: is empty"),
        ("cloud,,1,0,", "source: is empty"),
        ("cloud,once,1,0,a page", "from: 'once' is not a date"),
        ("cloud,,0,0,a page", "increment_seconds is 0.0; at least a microsecond is allowed"),
        ("cloud,,1,-60,a page", "minimum_seconds: '-60' must be a number >= 0"),
        ("cloud,,1,,a page", "minimum_seconds: '' must be a number >= 0"),
        ("other,,1,0,a page", "other: is given in line 2 too"),
        ("cloud,,1,0", "this row does not have 5 values"),
    ],
)
def test_fault_of_the_billing_rules_is_one_line(tmp_path: Path, rule: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"billing\.csv:3: {message}"):
        terms(tmp_path, rule=rule)


@pytest.mark.parametrize(
    ("currency", "message"),
    [
        ("euro,2020,1.1,,,a bank,", "currency: 'euro' is not an ISO 4217 code"),
        ("EUR,,1.1,,,a bank,", "as_of: '' is not a date"),
        ("EUR,2020,,,,a bank,", "usd: '' must be a number >= 0"),
        ("EUR,2020,1.1,1.2,1.3,a bank,", "usd_low, usd_high: '1.2', '1.3' must be empty, or lie around usd 1.1"),
        ("EUR,2020,1.1,,,,", "source: is empty"),
        ("USD,1900,1,,,a bank,", "USD 1900: is given in line 2 too"),
    ],
)
def test_fault_of_the_currencies_is_one_line(tmp_path: Path, currency: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"currencies\.csv:3: {message}"):
        terms(tmp_path, currency=currency)


# The books of this project


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_books_are_without_fault_and_every_rate_has_a_source(path: Path) -> None:
    rows, terms = book.read([path]), read_terms()
    assert rows
    keys = [tuple(row[key] for key in book.KEY) for row in rows]
    assert path.stem != "current" or keys == sorted(keys), "the book that a command writes"
    for row in rows:
        assert len(row["source"]) > 5
        assert terms.rule(row["provider"], row["as_of"])
        assert terms.exchange(row["currency"], row["as_of"])
    with path.open(newline="") as file:
        assert b"\r" not in path.read_bytes()
        assert len(list(csv.reader(file))) == len(rows) + 1


def test_no_book_is_missing_here() -> None:
    assert {"cloud-or-office-2018", "current", "gce-2017-07", "gce-2017-11", "gce-2018-11", "listed"} < {
        path.stem for path in BOOKS
    }


def test_books_of_today_price_what_people_rent() -> None:
    items: dict[str, str] = {}
    for row in book.read(books.files(["current", "listed"])):
        items[row["provider"]] = f"{items.get(row['provider'], '')} {row['item']}"
    for family in ("n1-", "n2-", "c3-", "c4-", "g2-", "-t4", "-v100", "-p100", "a2-highgpu", "a2-ultragpu", "a3-"):
        assert family in items["gce"]
    assert {"aws", "gce", "lambda", "paperspace", "vast"} == set(items)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",0.5,", ",1_000,", "rate: '1_000' must be a number >= 0"),
        (",0.5,", ",١٢,", "must be a number >= 0"),
        (",0.5,", ",nan,", "rate: 'nan' must be a number >= 0"),
        (",0.5,", ", 0.5,", "rate: ' 0.5' must be a number >= 0"),
        ("2026-01-02", "2999-01-02", "as_of: 2999-01-02 is in the future"),
        ("2026-01-02", "2999", "as_of: 2999 is in the future"),
        ("2026-01-02", "٢٠٢٦", "is not a date"),
    ],
)
def test_number_or_date_that_cannot_be_meant_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    write(tmp_path / "mine.csv", GOOD.replace(old, new))
    with pytest.raises(InputError, match=message):
        book.read([tmp_path / "mine.csv"])


def test_spot_above_on_demand_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "mine.csv", GOOD, GOOD.replace("on-demand,0.5", "spot,0.51"))
    with pytest.raises(InputError, match=r"cloud host us: rate: spot 0\.51 is above on-demand 0\.5"):
        book.read([tmp_path / "mine.csv"])
