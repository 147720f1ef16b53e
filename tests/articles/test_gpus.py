from typing import Any

import pandas as pd
import pytest

from scripts.articles.gpus import figures as cards
from scripts.studies import definition
from tests.made import run, runs

OWN = {"acquisition_usd": 3600.0, "life_months": 36, "power_watts": 1000.0, "usd_per_kwh": 0.2}
MACHINES = {
    "one": {"label": "V100", "gpus": {"model": "V100", "count": 1}, "own": OWN},
    "four": {"label": "4 × V100", "gpus": {"model": "V100", "count": 4}},
    "cpu": {"label": "no card"},
}


def measured(hardware: str, rate: float, **values: Any) -> dict[str, Any]:
    devices = MACHINES[hardware].get("gpus", {}).get("count", 1)
    about = {"hardware": hardware, "devices": devices, "samples_per_second": rate, "precision": "float16"}
    return run(**about | values)


def table(*rows: dict[str, Any]) -> dict[str, pd.DataFrame]:
    return cards.tables({"machines": MACHINES}, runs(*rows), pd.DataFrame(), pd.DataFrame(), None)


def test_models_are_of_machines_that_name_them() -> None:
    assert definition.cards(MACHINES) == {"one": "V100", "four": "V100"}


def test_efficiency_is_over_as_many_single_cards() -> None:
    rows = [measured("one", 100.0), measured("one", 110.0, repeat=2), measured("four", 336.0), measured("cpu", 1.0)]
    (found,) = table(*rows)["card_scaling"].to_dict("records")
    assert found["efficiency"] == pytest.approx(336 / (4 * 105))
    assert (found["hardware"], found["card"], found["runs"], found["plain_runs"]) == ("four", "V100", 1, 2)


def test_of_two_cells_of_a_machine_the_one_with_more_runs_is_shown() -> None:
    old = [measured("one", 100.0, batch_size=8), measured("four", 200.0, batch_size=8)]
    new = [
        measured("one", 100.0, batch_size=None),
        *[measured("four", 400.0, batch_size=None, repeat=n) for n in (1, 2)],
    ]
    (found,) = table(*old, *new)["card_scaling"].to_dict("records")
    assert found["efficiency"] == pytest.approx(1.0)


def test_gain_of_16_bits_is_over_32_bits_of_the_same_software() -> None:
    old = [measured("one", 300.0, batch_size=64), measured("one", 100.0, batch_size=32, precision="float32")]
    new = [measured("one", 900.0, batch_size=None)]
    (found,) = table(*old, *new)["card_precision"].to_dict("records")
    assert found["gain"] == pytest.approx(3.0), "not 900 of newer software over 100 of older"
    assert table(*new)["card_precision"].empty


def test_spread_needs_three_machines() -> None:
    rows = [measured("one", rate, repeat=n) for n, rate in enumerate((90.0, 100.0, 110.0), 1)]
    (found,) = table(*rows)["card_spread"].to_dict("records")
    assert (found["runs"], found["low"], found["median"], found["high"]) == (3, 90.0, 100.0, 110.0)
    assert found["spread"] == pytest.approx(0.2)
    assert table(*rows[:2])["card_spread"].empty


def test_hour_of_owned_cards_by_its_use() -> None:
    found = cards.use(MACHINES).set_index("hours")["usd_per_hour"]
    assert found[40] == pytest.approx(100 / 40 + 0.2)
    assert found[730] == pytest.approx(100 / 730 + 0.2)


def test_precision_that_no_log_names_is_one_of_its_own() -> None:
    rows = [measured("one", 100.0), measured("four", 300.0)]
    unnamed = [measured(name, rate, precision=None) for name, rate in (("one", 50.0), ("four", 100.0))]
    shown = cards.readable(table(*rows, *unnamed))["card_scaling"]
    assert shown[["precision", "mnist_mlp"]].values.tolist() == [["float16", 0.75], ["—", 0.5]]


def test_tables_are_read_with_a_column_for_each_workload() -> None:
    rows = [measured(name, rate, workload=work) for name, rate in (("one", 1.0), ("four", 3.0)) for work in ("a", "b")]
    shown = cards.readable(table(*rows))
    assert shown["card_scaling"].to_dict("records") == [
        {"hardware": "four", "precision": "float16", "a": 0.75, "b": 0.75}
    ]
    assert list(shown["card_use"].columns) == ["hardware", "40 h", "160 h", "365 h", "730 h"]
    assert cards.readable({}) == {}
