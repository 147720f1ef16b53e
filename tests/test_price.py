import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from scripts import price
from scripts.costs import book, pricing
from scripts.storage import schemas, tables
from scripts.storage.errors import InputError
from scripts.studies import definition
from tests.made import CATALOGUE, PRICE, offer, run, runs

STUDIES = sorted(path.stem for path in (definition.ROOT / "config" / "studies").glob("*.yaml"))
HARDWARE = definition.ROOT / "config" / "hardware.yaml"

#: Machines whose price nobody names: the article owns this one, without the card's price.
WITHOUT_PRICE = {"gce-h100x1", "desktop-1x1080ti"}

#: Cards that no provider of the books lists.
WITHOUT_OFFER = {"GB300", "TPU7x"}


def own_book(path: Path, *rows: dict) -> str:
    """Write a price book that only this test has, of a provider that has a billing rule."""
    frame = pd.DataFrame([row | {"provider": "gce"} for row in rows], columns=list(book.COLUMNS))
    frame.to_csv(path, index=False, lineterminator="\n")
    return str(path)


def machines(**changed: dict) -> dict:
    rented = {name: about for name, about in CATALOGUE.items() if "rent" in about}
    return {name: about | {"rent": about["rent"] | {"provider": "gce"}} for name, about in rented.items()} | changed


def test_each_option_is_priced_by_its_own_books(tmp_path: Path) -> None:
    then = own_book(tmp_path / "then.csv", offer("1-core", 1.0), offer("4-core", 4.0))
    now = own_book(tmp_path / "now.csv", offer("1-core", 0.5))
    study = {"book": then, "prices": {"then": {}, "now": {"book": now}, "either": {"book": [now, then]}}}
    table = pricing.price_table(study, machines(), machines())
    assert table[["price_option", "hardware", "usd_per_hour"]].values.tolist() == [
        ["then", "cpu1", 1.0],
        ["then", "cpu4", 4.0],
        ["now", "cpu1", 0.5],
        ["either", "cpu1", 0.5],
        ["either", "cpu4", 4.0],
    ]


def test_only_named_machines_are_priced_but_any_may_be_replaced(tmp_path: Path) -> None:
    rows = own_book(tmp_path / "a.csv", offer("1-core", 1.0), offer("4-core", 4.0))
    instead = {"cpu4": {"provider": "gce", "items": {"1-core": 3}}}
    study = {"book": rows, "prices": {"a": {"instead": instead}}}
    assert pricing.price_table(study, machines(), {"cpu1"})["usd_per_hour"].to_list() == [1.0]
    assert pricing.price_table(study, machines(), {"cpu1", "cpu4"})["usd_per_hour"].to_list() == [1.0, 3.0]


def test_unknown_machine_in_instead_is_named(tmp_path: Path) -> None:
    study = {"book": "current", "prices": {"a": {"instead": {"cpu3": {"provider": "gce", "items": {"x": 1}}}}}}
    with pytest.raises(InputError, match=r"^prices: a: instead: 'cpu3' is unknown: it is one of cpu1, cpu4$"):
        pricing.price_table(study, machines(), machines())


def read(name: str) -> dict:
    return definition.read(name, {})[1]


def may_be_had(about: dict, option: dict, machine: str) -> bool:
    """Return whether a machine's entry, or the option, says how it is had as that option wants it."""
    if "offer" in option:
        return "gpus" in about and about["gpus"]["model"] not in WITHOUT_OFFER
    wanted = {"owned": {"own"}, None: {"rent", "own"}}.get(option.get("purchase"), {"rent"})
    return machine in option.get("instead", {}) or bool(wanted & set(about))


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_prices_every_machine_under_the_options_it_shows(name: str) -> None:
    study, local = read(name), schemas.read_yaml(HARDWARE, "hardware")
    asked = study.get("hardware", "local")
    trained = asked if isinstance(asked, list) else [machine for machine in local if local[machine].get("local")]
    named = study["machines"] or {machine: local[machine] for machine in trained}
    shown = {study["price"], *filter(None, (chart.partition(".")[2] for chart in study["charts"]))}
    table = pricing.price_table(study, definition.machines(study, local), named)
    by_option = any({"instead", "offer"} & set(about) for about in study["prices"].values())
    if not by_option and not any({"rent", "own"} & set(about) for about in named.values()):
        assert table.empty, "a study of rates alone: its machines are no offers"
        return
    for option in shown:
        priced = set(table.loc[table["price_option"] == option, "hardware"])
        missing = WITHOUT_PRICE | ({"k80-alone", "aws-k80-spot"} if option == "today" else set())
        missing |= {machine for machine in named if not may_be_had(named[machine], study["prices"][option], machine)}
        assert set(named) - priced == missing & set(named), option
    assert set(table["price_option"]) == set(study["prices"]), "every option prices something"
    assert (table["price_source"].str.len() > 5).all()


@pytest.mark.parametrize("name", STUDIES)
def test_todays_price_is_of_a_provider_that_is_billed_by_the_second_or_minute(name: str) -> None:
    study, local = read(name), schemas.read_yaml(HARDWARE, "hardware")
    table = pricing.price_table(study, definition.machines(study, local), study["machines"] or local)
    today = table[table["price_option"] == "today"]
    assert (today["increment_seconds"] <= 60).all()


def test_command_writes_prices_and_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = own_book(tmp_path / "own.csv", offer("1-core", 0.036), offer("4-core", 9.0), PRICE | offer("card", 1.0))
    study = {
        "book": rows,
        "price": "here",
        "prices": {"here": {"label": "here"}},
        "machines": {
            "cpu1": {"label": "one", "rent": {"provider": "gce", "items": {"1-core": 1}}},
            "card": {"label": "a card", "rent": {"provider": "gce", "items": {"card": 1}}},
        },
    }
    tables.write(runs(run()), "runs", tmp_path / "runs.parquet")
    attempts = tmp_path / "attempts.parquet"
    tables.write(pd.DataFrame(columns=list(tables.columns("attempts"))), "attempts", attempts)
    costs, prices = tmp_path / "costs.parquet", tmp_path / "prices.parquet"
    arguments = ["--study", json.dumps(study), "--hardware", str(HARDWARE), "--costs", str(costs)]
    arguments += ["--attempts", str(attempts)]
    monkeypatch.setattr(sys, "argv", ["price", str(tmp_path / "runs.parquet"), *arguments, "--prices", str(prices)])
    assert price.main() == 0
    assert tables.read(prices)["hardware"].to_list() == ["cpu1", "card"], "its own machines, not those of the catalogue"
    assert tables.read(costs)["cost_usd"].to_list() == pytest.approx([0.001])
    for path in (costs, prices):
        assert len(pd.read_csv(path.with_suffix(".csv"))) == len(tables.read(path))


def test_what_has_no_price_says_what_its_books_lack_and_what_is_near(tmp_path: Path) -> None:
    mine = own_book(tmp_path / "own.csv", offer("a2-highgpu-1g", 1.0))
    study = {"book": [mine], "prices": {"on-demand": {"purchase": "on-demand"}, "owned": {"purchase": "owned"}}}
    rent = {"provider": "gce", "items": {"a2-highgpu-9g": 1}}
    about = {"a100": {"label": "A100", "rent": rent}, "box": {"label": "box"}}
    about["box"]["gpus"] = {"model": "H100", "count": 1}
    table = pricing.price_table(study, about, about)
    assert pricing.not_offered(study, about, about, table) == [
        "no price: a100 is not offered under on-demand; gce a2-highgpu-9g is in none of its books "
        "(near: a2-highgpu-1g)",
        "no price: a100 is not offered under owned",
        "no price: box is not offered under on-demand, owned; what its card costs: epd prices card 'H100'",
    ]


def test_a_machine_that_nobody_describes_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables.write(runs(run(hardware="nowhere")), "runs", tmp_path / "runs.parquet")
    tables.write(pd.DataFrame(columns=list(tables.columns("attempts"))), "attempts", tmp_path / "attempts.parquet")
    given = {name: str(tmp_path / f"{name}.parquet") for name in ("attempts", "costs", "prices")}
    given |= {"study": json.dumps(definition.read("smoke", {})[1]), "hardware": str(HARDWARE)}
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    monkeypatch.setattr(sys, "argv", ["price.py", str(tmp_path / "runs.parquet"), *words])
    with pytest.raises(InputError, match=r"runs\.parquet: hardware: 'nowhere' is neither a machine of the study"):
        price.main()
