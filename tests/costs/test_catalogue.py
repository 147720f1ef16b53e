import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.costs import catalogue, renewal
from scripts.costs.book import COLUMNS
from scripts.storage.errors import InputError

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice"

#: Two regions; the first has two zones. A machine, an accelerator for it, one machine with it built in.
GCP = """\
n1,,,east,east-a,0.1,0.04
n1,,,east,east-b,0.1,0.06
n1,,,west,west-a,0.11,
,T4,1,east,east-a,0.35,0.15
,T4,1,west,west-a,0.35,0.2
,T4,2,east,east-a,0.7,0.3
a2,,,east,east-a,1,0.5
a2,,,east,east-b,1,0.5
a2,,,west,west-a,1.2,0.5
,A100,1,east,east-a,3,1.25
,A100,1,west,west-a,3.1,1.5
"""
WANTED = {
    "regions": ["east"],
    "machines": ["n1"],
    "accelerators": {"nvidia-t4": "T4"},
    "built_in": {"a2": {"A100": 1}},
    "elsewhere": {"west": ["a2"]},
}


def read(rows: str, header: str = HEADER, zones: bool = True) -> catalogue.Catalogue:
    return catalogue.read(f"{header}\n{rows}", "vms.csv", zones=zones)


def offers(rows: str, wanted: dict) -> dict[str, tuple]:
    """Return 'item region purchase' -> (rate, low, high, fault)."""
    frame = catalogue.offers(read(rows), wanted)
    return {" ".join(row[:3]): tuple(row[3:]) for row in frame.itertuples(index=False, name=None)}


def machine(*zones: str) -> str:
    """Return rows of machine m, each `REGION-ZONE PRICE SPOT`."""
    rows = [zone.split(" ") for zone in zones]
    return "".join(f"m,,,{zone.split('-')[0]},{zone},{price},{spot}\n" for zone, price, spot in rows)


M = {"regions": ["east"], "machines": ["m"]}


def test_machine_and_accelerator_are_summed_in_their_zone() -> None:
    assert offers(GCP, WANTED) == {
        "n1 east on-demand": ("0.1", "", "", ""),
        "n1 east spot": ("0.05", "0.04", "0.06", ""),
        "nvidia-t4 east on-demand": ("0.35", "", "", ""),
        "nvidia-t4 east spot": ("0.15", "", "", ""),
        "a2 east on-demand": ("4", "", "", ""),  # zone b has no A100
        "a2 east spot": ("1.75", "", "", ""),
        "a2 west on-demand": ("4.3", "", "", ""),
        "a2 west spot": ("2", "", "", ""),
    }


def test_items_may_be_priced_wherever_the_catalogue_has_them() -> None:
    wanted = {key: value for key, value in WANTED.items() if key != "elsewhere"} | {"everywhere": ["a2", "nvidia-t4"]}
    assert offers(GCP, wanted) == offers(GCP, WANTED) | {
        "nvidia-t4 west on-demand": ("0.35", "", "", ""),
        "nvidia-t4 west spot": ("0.2", "", "", ""),
    }


def test_region_that_is_gone_is_no_item_that_nobody_wants() -> None:
    wanted = {"regions": ["east"], "machines": ["m"], "everywhere": ["m"]}
    last = book(m_on_demand="1", m_spot="0.5")
    last.loc[last["purchase"] == "spot", "region"] = "west"
    kept, said = refresh(last, machine("east-a 1 "), wanted)
    assert kept == {"m on-demand": ("1", "2026-02-01")}
    assert "gone m west spot: is not offered any more; it was 0.5" in said


def test_columns_may_stand_in_any_order() -> None:
    header = "Price,Region,GpuInfo,AcceleratorCount,SpotPrice,AcceleratorName,InstanceType,AvailabilityZone"
    rows = read("0.5,east,\"{'Gpus': [1, 2]}\",8.0,0.2,H100,p5,east-a\n", header).rows
    assert rows[["machine", "accelerator", "count", "region", "zone", "price", "spot"]].to_dict("records") == [
        {
            "machine": "p5",
            "accelerator": "H100",
            "count": 8,
            "region": "east",
            "zone": "east-a",
            "price": 0.5,
            "spot": 0.2,
        }
    ]


def test_row_that_names_its_accelerators_is_the_whole_machine() -> None:
    rows = "p5,H100,1.0,east,east-a,55.04,14\n,H100,8,east,east-a,1,1\n"
    wanted = {"regions": ["east"], "machines": ["p5"], "accelerators": {"h100": "H100"}}
    assert offers(rows, wanted)["p5 east on-demand"] == ("55.04", "", "", "")
    assert "h100 east on-demand" not in offers(rows, wanted), "one piece that is added to a host is asked for"


def test_provider_without_regions_has_one_price() -> None:
    rows = "gpu,V100,1,,east,0.5,\ngpu,V100,1,,west,0.6,\n"
    header = "InstanceType,AcceleratorName,AcceleratorCount,x,Region,Price,SpotPrice"
    frame = catalogue.offers(read(rows, header, zones=False), {"machines": ["gpu"]})
    assert frame.to_numpy().tolist() == [["gpu", "", "on-demand", "0.55", "0.5", "0.6", ""]]


@pytest.mark.parametrize(
    ("zones", "on_demand", "spot"),
    [
        (["east-a 1 0.3", "east-b 1 0.4", "east-c 1 0.9"], ("1", "", ""), ("0.4", "0.3", "0.9")),
        (["east-a 1 0.3", "east-a 1 0.3", "east-b 1 0.5"], ("1", "", ""), ("0.4", "0.3", "0.5")),
        (["east-a 1 "], ("1", "", ""), None),
        (["east-a 1 1", "east-b 1 1.0"], ("1", "", ""), None),  # no real offer
        (["east-a 55.04 55.04", "east-b 55.04 14"], ("55.04", "", ""), ("14", "", "")),
        (["east-a 27.43298 27.433000"], ("27.43298", "", ""), None),  # the same, rounded
        (["east-a 1 0.3", "east-b 1.2 0.3"], ("1.1", "1", "1.2"), ("0.3", "", "")),
        (["east-a  0.3"], None, ("0.3", "", "")),
        (["east-a  "], None, None),
    ],
)
def test_rate_is_the_median_of_the_zones(zones: list[str], on_demand: tuple | None, spot: tuple | None) -> None:
    found = offers(machine(*zones), M)
    expected = {"m east on-demand": on_demand, "m east spot": spot}
    assert found == {key: (*rates, "") for key, rates in expected.items() if rates}


@pytest.mark.parametrize(
    ("zones", "on_demand", "spot"),
    [
        # other regions confirm the on-demand price: the spot price is wrong
        (["east-a 1 1.5", "west-a 1.1 0.2"], "", "is above the on-demand price: 1.5 > 1 in east-a"),
        # nothing shows which of the two is wrong
        (["east-a 1 1.5"], "is below the spot price: 1 < 1.5 in east-a", "is above the on-demand price: 1.5 > 1"),
        # the regions show that the on-demand price is wrong: the spot price stays
        (["east-a 1 1.5", "west-a 2.1 1", "north-a 2.2 1"], "1 is less than 0.6 of the 2.1 or more that 2 reg", ""),
        # unless it is above what the others ask
        (["east-a 1 2.5", "west-a 2.1 1", "north-a 2.2 1"], "1 is less than 0.6", "2.5 > 2.1 in east-a"),
        (["east-a 4 1", "west-a 2.1 1", "north-a 2.2 1"], "4 is more than 1/0.6 of the 2.2 or less that 2 regions", ""),
        (["east-a 1 0.5", "west-a 2 0.5"], "1 is less than 0.6 of, or more than 1/0.6 of, what any other", ""),
        (["east-a 0 0.5"], "vms.csv:2: Price '0' is not a number above 0", ""),
        (["east-a 1 -0.5"], "", "vms.csv:2: SpotPrice '-0.5' is not a number above 0"),
        (["east-a 1 0.5", "east-b free inf"], "vms.csv:3: Price 'free' is", "vms.csv:3: SpotPrice 'inf' is"),
        (["east-a nan 0.5", "west-a 1 0.5"], "vms.csv:2: Price 'nan' is", ""),
        (["east-a 1 0.5", "east-a 2 0.5"], "vms.csv:3: is not what line 2 says of the same zone", ""),
        (["east-a 1 0.5", "east-a 1 0.6", "east-a 1 0.5"], "", "vms.csv:4: is not what line 2 says of the same zone"),
        (["east-a 1 0.5", "east-a 1 0.5"], "", ""),
    ],
)
def test_wrong_price_is_refused_with_the_reason(zones: list[str], on_demand: str, spot: str) -> None:
    found = offers(machine(*zones), M)
    for purchase, reason in (("on-demand", on_demand), ("spot", spot)):
        fault = found[f"m east {purchase}"][3]
        assert reason in fault
        assert bool(reason) == bool(fault)


def test_wrong_part_spoils_the_machine_and_is_named() -> None:
    """The sums, 2.5 and 4, would not show it: 2.5 is more than 0.6 x 4."""
    rows = GCP.replace("A100,1,east,east-a,3", "A100,1,east,east-a,1.5") + ",A100,1,north,north-a,3,1\n"
    found = offers(rows, WANTED)
    assert found["a2 east on-demand"] == (
        "2.5",
        "",
        "",
        "A100: 1.5 is less than 0.6 of the 3 or more that 2 regions ask",
    )
    assert found["a2 east spot"][3] == ""
    assert found["a2 west on-demand"][3] == ""


def test_part_that_cannot_be_read_spoils_the_machine() -> None:
    rows = GCP.replace("A100,1,east,east-a,3", "A100,1,east,east-a,three")
    assert offers(rows, WANTED)["a2 east on-demand"][3] == "vms.csv:11: Price 'three' is not a number above 0"


def test_machine_is_confirmed_where_all_its_parts_are() -> None:
    rows = GCP.replace("A100,1,east,east-a,3,1.25", "A100,1,east,east-a,3,4.25").replace(",A100,1,west", ",A200,1,west")
    found = offers(rows, WANTED)
    assert found["a2 east on-demand"][3] == "is below the spot price: 4 < 4.75 in east-a"
    assert found["a2 east spot"][3] == "is above the on-demand price: 4.75 > 4 in east-a"


@pytest.mark.parametrize(
    ("prices", "refused"),
    [
        # what the catalogue of 2026-05-20 has, per region
        ({"us-central1": 1.8462, "europe-west4": 2.03285, "us-east4": 2.07937, "us-east5": 4.4242, "asia": 4.84607}, 3),
        (
            {"us-central1": 4.20076, "us-west1": 4.20076, "us-east4": 9.79655, "asia-south1": 10.18841, "eu": 12.73552},
            2,
        ),
        ({"asia-south1": 36.60258, "a": 36.60258, "b": 36.60258, "us-central1": 74.49392, "us-east4": 74.49392}, 3),
        ({"europe-west4": 1.61365, "asia-northeast1": 1.70586, "us-central1": 2.93391, "us-west3": 3.43686}, 2),
        # sound ones: T4, L4, the cheap AMD machines of asia-south1, AWS p5.48xlarge
        ({"us-central1": 0.35, "europe-west4": 0.3675, "asia-east2": 0.44, "southamerica-east1": 0.48}, 0),
        ({"us-east4": 0.55821, "europe-west6": 0.78344, "me-central2": 0.89606}, 0),
        ({"asia-south1": 0.05577, "us-central1": 0.08451, "europe-west2": 0.10148, "southamerica-east1": 0.13519}, 0),
        ({"us-east-1": 55.04, "us-west-1": 68.8, "ap-northeast-2": 75.9552}, 0),
        # TPU v6e: 700 stands for no price, in three regions alike
        ({"us-central1": 21.6, "us-east1": 21.6, "europe-west4": 23.76, "asia-east1": 700.0, "us-central2": 700.0}, 2),
        ({"east": 1.0}, 0),
        ({"a": 1.0, "b": 1.0, "c": 10.0}, 1),
        ({"a": 1.0, "b": 10.0}, 2),
        ({}, 0),
    ],
)
def test_regions_are_compared(prices: dict[str, float], refused: int) -> None:
    judged = catalogue.judge(pd.Series(prices, dtype=float))
    wrong = list(judged.index[judged["fault"] != ""])
    cheapest_first = sorted(prices, key=lambda region: prices[region])
    assert len(wrong) == refused
    if prices == {"a": 1.0, "b": 1.0, "c": 10.0} or 700.0 in prices.values():
        cheapest_first.reverse()
    assert set(wrong) == set(cheapest_first[:refused])


RATES = st.lists(st.integers(1, 100_000).map(lambda cents: cents / 100), min_size=1, max_size=12)


@given(RATES, st.randoms(use_true_random=False))
def test_judgement_does_not_depend_on_the_order(rates: list[float], chance) -> None:
    prices = pd.Series(rates, index=[f"r{number}" for number in range(len(rates))])
    order = list(prices.index)
    chance.shuffle(order)
    pd.testing.assert_frame_equal(catalogue.judge(prices).loc[order], catalogue.judge(prices[order]))


@given(RATES)
def test_what_is_refused_is_far_from_all_that_is_not(rates: list[float]) -> None:
    prices = pd.Series(rates, index=[f"r{number}" for number in range(len(rates))])
    judged = catalogue.judge(prices)
    right, wrong = prices[judged["fault"] == ""], prices[judged["fault"] != ""]
    ratio = catalogue.REGION_RATIO
    assert all((price < ratio * right).all() or (ratio * price > right).all() for price in wrong)
    assert len(right) != 1 or len(prices) == 1
    assert (judged["confirmed"] == ((judged["fault"] == "") & (len(prices) > 1))).all()
    assert (judged["limit"][right.index] == right).all()


@given(RATES)
def test_prices_near_to_one_another_are_all_right(rates: list[float]) -> None:
    near = pd.Series(rates) % 0.6 + 1  # 1 to 1.6
    assert (catalogue.judge(near)["fault"] == "").all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "vms.csv:1: column InstanceType is missing; there is nothing"),
        ("<html>\n<p>captive portal</p>\n", "column InstanceType is missing; there is <html>"),
        (HEADER.replace(",SpotPrice", ""), "vms.csv:1: column SpotPrice is missing; there is InstanceType,"),
        (HEADER.replace(",AvailabilityZone", ""), "column AvailabilityZone is missing"),
        (HEADER + "\n", "vms.csv: has no rows"),
        (HEADER + "\nm,,,\n", "vms.csv: has no rows"),
        (HEADER + "\n" + "x" * 200_000, "vms.csv: not a CSV file: field larger"),
        (HEADER + ",Price\n", "vms.csv:1: column Price is there twice: which one counts is not known"),
        (HEADER + ",Region\n", "vms.csv:1: column Region is there twice"),
        pytest.param(
            HEADER + "\n" + "m\n" * 1_000_001, "vms.csv: has more than 1,000,000 rows", marks=pytest.mark.slow
        ),
    ],
)
def test_no_catalogue(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        catalogue.read(text, "vms.csv", zones=True)


@pytest.mark.parametrize(
    "line",
    [
        "m,A100,inf,east,east-c,1,1",
        "m,A100,-1,east,east-c,1,1",
        "m,A100,1e400,east,east-c,1,1",
        "m,,,east,east-c,1",
        "m,,,east,east-c,1,1,1",
        "m,A100,two,east,east-c,1,1",
        "m,,,,east-c,1,",
        "m,,,east,,1,",
    ],
)
def test_line_that_is_no_row_is_named_and_spoils_no_other(line: str) -> None:
    found = read(machine("east-a 1 0.5") + line + "\n" + line + "\n" + machine("east-b 1 0.5"))
    assert found.broken == "vms.csv:3: is not a row of this table; 2 such"
    assert list(found.rows["zone"]) == ["east-a", "east-b"]


BOOK = {"currency": "USD", "per": "hour", "as_of": "2026-01-01", "source": "the last book", "inferred": ""}


def book(**rates: str) -> pd.DataFrame:
    """Return a last book of `item_purchase="rate"` in region east."""
    rows = []
    for name, rate in rates.items():
        item, _, purchase = name.partition("_")
        row = {"provider": "p", "item": item, "region": "east", "purchase": purchase.replace("_", "-"), "rate": rate}
        rows.append(BOOK | {"rate_low": "", "rate_high": ""} | row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def refresh(last: pd.DataFrame, rows: str, wanted: dict = M, as_of: str = "2026-02-01") -> tuple[dict, list[str]]:
    """Return 'item purchase' -> (rate, as_of), and what is said."""
    frame, changes = renewal.renew(last, read(rows), "p", wanted, as_of, "a source")
    assert list(frame.columns) == list(COLUMNS)
    kept = {f"{row.item} {row.purchase}": (row.rate, row.as_of) for row in frame.itertuples()}
    return kept, [f"{change.kind} {change.text}" for change in changes]


def test_first_book() -> None:
    frame, changes = renewal.renew(book(), read(machine("east-a 1 0.5")), "p", M, "2026-02-01", "a source")
    assert frame.to_numpy().tolist() == [
        ["p", "m", "east", "on-demand", "1", "", "", "USD", "hour", "2026-02-01", "a source", ""],
        ["p", "m", "east", "spot", "0.5", "", "", "USD", "hour", "2026-02-01", "a source", ""],
    ]
    assert [change.kind for change in changes] == ["new", "new"]


@pytest.mark.parametrize(
    ("before", "zone", "after", "words"),
    [
        ("1", "east-a 1 ", ("1", "2026-02-01"), "confirmed m east on-demand"),
        ("1.00", "east-a 1 ", ("1", "2026-02-01"), "confirmed m east on-demand"),
        ("1", "east-a 1.5 ", ("1.5", "2026-02-01"), "changed m east on-demand: 1 -> 1.5 (+50.0 %)"),
        ("1", "east-a 0.5 ", ("0.5", "2026-02-01"), "changed m east on-demand: 1 -> 0.5 (-50.0 %)"),
        ("1", "east-a 1.51 ", ("1", "2026-01-01"), "refused m east on-demand 1.51: was 1: moved by more than 50%; "),
        ("1", "east-a 0.49 ", ("1", "2026-01-01"), "refused m east on-demand 0.49: was 1: moved by more than 50%; "),
        ("1", "east-a zero ", ("1", "2026-01-01"), "refused m east on-demand: vms.csv:2: Price 'zero' is not a"),
    ],
)
def test_price_against_that_of_the_last_book(before: str, zone: str, after: tuple, words: str) -> None:
    kept, said = refresh(book(m_on_demand=before), machine(zone))
    assert kept == {"m on-demand": after}
    assert said[0].startswith(words)
    assert ("kept 1 of 2026-01-01" in said[0]) == said[0].startswith("refused")


def test_kept_row_is_the_old_one_to_the_letter() -> None:
    last = book(m_on_demand="1.0")
    frame, _ = renewal.renew(last, read(machine("east-a 9 ")), "p", M, "2026-02-01", "a source")
    pd.testing.assert_frame_equal(frame, last)


def test_refused_without_a_last_price_is_kept_out() -> None:
    kept, said = refresh(book(), machine("east-a 1 0.5", "west-a 2 0.5", "north-a 2 0.5"))
    assert kept == {"m spot": ("0.5", "2026-02-01")}
    assert said[0].endswith("that 2 regions ask; kept out")


def test_what_is_kept_out_in_several_regions_is_told_once() -> None:
    zones = ("east-a 1 ", "south-a 1.1 ", "west-a 3 ", "north-a 3 ")
    wanted = {"regions": ["east"], "machines": ["m"], "everywhere": ["m"]}
    _, changes = renewal.renew(book(), read(machine(*zones)), "p", wanted, "2026-02-01", "a source")
    assert [change.kind for change in changes] == ["refused", "new", "refused", "new"]
    (refused,) = [change.text for change in renewal.folded(changes) if change.kind == "refused"]
    assert refused.startswith("m east on-demand 1: 1 is less than 0.6 of the 3 or more that 2 regions ask; kept out")
    assert refused.endswith("kept out, as in south 1.1")
    _, changes = renewal.renew(book(m_on_demand="2"), read(machine(*zones)), "p", wanted, "2026-02-01", "a source")
    assert len([one for one in renewal.folded(changes) if one.kind == "refused"]) == 2, "one keeps its last price"


def test_what_is_not_offered_any_more_goes() -> None:
    kept, said = refresh(book(m_on_demand="1", m_spot="0.5"), machine("east-a 1 "))
    assert kept == {"m on-demand": ("1", "2026-02-01")}
    assert "gone m east spot: is not offered any more; it was 0.5" in said


def test_what_may_stand_in_a_broken_line_stays() -> None:
    kept, said = refresh(book(m_on_demand="1", m_spot="0.5"), machine("east-a 1 ") + "m,,,ea")
    assert kept["m spot"] == ("0.5", "2026-01-01")
    assert "refused m east spot: not found, but vms.csv:3: is not a row of this table; 1 such; kept 0.5 of" in said[1]


def test_what_is_not_wanted_any_more_is_dropped() -> None:
    kept, said = refresh(book(m_on_demand="1", old_on_demand="7"), machine("east-a 1 "))
    assert kept == {"m on-demand": ("1", "2026-02-01")}
    assert "dropped old east on-demand: is not wanted any more" in said


def test_what_was_never_there_is_missing() -> None:
    _, said = refresh(book(), machine("east-a 1 "), {"regions": ["east"], "machines": ["m", "n1-standrad-1"]})
    assert "missing n1-standrad-1 east: is not in the catalogue" in said


def test_catalogue_that_lost_most_prices_is_not_believed() -> None:
    last = book(m_on_demand="1", m_spot="0.5", n_on_demand="2", n_spot="1", o_on_demand="3")
    wanted = {"regions": ["east"], "machines": ["m", "n", "o"]}
    with pytest.raises(InputError, match=r"vms\.csv: 3 of the book's 5 prices are not in it"):
        refresh(last, machine("east-a 1 0.5"), wanted)


def test_older_catalogue_does_not_replace_newer_prices() -> None:
    with pytest.raises(InputError, match=r"vms\.csv: is of 2025-12, older than the book's 2026-01-01"):
        refresh(book(m_on_demand="1"), machine("east-a 1 "), as_of="2025-12")


@pytest.mark.parametrize("memory", ["１６３８４", "9" * 400, "0", "nan"])
def test_memory_that_cannot_be_is_not_said(memory: str) -> None:
    text = f"{HEADER},GpuInfo\nm,A100,1,east,east-a,1,0.5,SizeInMiB: {memory}\n"
    assert catalogue.read(text, "vms.csv", zones=True).rows["memory"].isna().all()
