from pathlib import Path

import pandas as pd
import pytest

from scripts.storage import tables
from scripts.storage.errors import InputError
from tests.made import FAILED, costs, prices, run, runs

BOTH = runs(run(), run(framework="jax", **FAILED))


@pytest.mark.parametrize(
    ("table", "frame"),
    [
        ("runs", BOTH),
        ("costs", costs(BOTH)),
        ("prices", prices()),
        ("runs", BOTH.iloc[:0]),
        ("costs", costs(BOTH).iloc[:0]),
        ("prices", prices().iloc[:0]),
    ],
)
def test_table_comes_back_as_written(tmp_path: Path, table: str, frame: pd.DataFrame) -> None:
    path = tmp_path / "new" / f"{table}.parquet"
    tables.write(frame, table, path)
    found = tables.read(path)
    pd.testing.assert_frame_equal(found, frame.reset_index(drop=True))
    assert list(found.columns) == list(tables.columns(table))


def test_people_get_a_csv_with_empty_fields_for_what_is_missing(tmp_path: Path) -> None:
    tables.write(BOTH, "runs", tmp_path / "runs.parquet")
    text = (tmp_path / "runs.csv").read_text()
    assert text.splitlines()[0] == ",".join(tables.columns("runs"))
    found = pd.read_csv(tmp_path / "runs.csv")
    assert found["status"].to_list() == ["done", "killed"]
    assert found["train_seconds"].isna().to_list() == [False, True]
    assert "NA" not in text
    assert "nan" not in text.lower()


def test_what_a_log_does_not_tell_stays_empty(tmp_path: Path) -> None:
    tables.write(runs(run(batch_size=None, train_samples=None)), "runs", tmp_path / "runs.parquet")
    found = tables.read(tmp_path / "runs.parquet")
    assert found[["batch_size", "train_samples"]].isna().all(axis=None)
    assert dict(found.dtypes) == dict(BOTH.dtypes)


def test_machine_that_is_never_saved_has_an_infinite_checkpoint_in_both_files(tmp_path: Path) -> None:
    tables.write(prices(), "prices", tmp_path / "prices.parquet")
    for found in (tables.read(tmp_path / "prices.parquet"), pd.read_csv(tmp_path / "prices.csv")):
        assert found["checkpoint_seconds"].to_list() == [float("inf")] * 3


def test_whole_numbers_stay_whole_beside_missing_ones(tmp_path: Path) -> None:
    tables.write(runs(run(), run(framework="jax", train_samples=None)), "runs", tmp_path / "runs.parquet")
    assert ",50000," in (tmp_path / "runs.csv").read_text()
    assert "50000.0" not in (tmp_path / "runs.csv").read_text()


def test_columns_are_put_in_the_documented_order() -> None:
    mixed = BOTH[BOTH.columns[::-1]]
    assert list(tables.conform(mixed, "runs").columns) == list(tables.columns("runs"))


def test_undocumented_column_is_refused() -> None:
    with pytest.raises(ValueError, match="table runs: column mood is not documented"):
        tables.conform(BOTH.assign(mood="good"), "runs")


def test_missing_column_is_refused() -> None:
    with pytest.raises(KeyError, match="seed"):
        tables.conform(BOTH.drop(columns="seed"), "runs")


@pytest.mark.parametrize("table", ["runs", "epochs", "costs", "prices"])
def test_every_column_says_what_it_means_and_its_unit_fits_its_name(table: str) -> None:
    endings = {"_seconds": "s", "_mib": "MiB", "_watts": "W", "_low": "USD", "_high": "USD", "_usd": "USD"}
    units = (
        endings | {f"usd_per_hour{bound}": "USD/h" for bound in ("", "_low", "_high")} | {"samples_per_usd": "samples"}
    )
    for name, about in tables.columns(table).items():
        assert about["meaning"], name
        wanted = [unit for ending, unit in units.items() if name.endswith(ending)]
        assert wanted[-1:] in ([], [about.get("unit")]), name


def test_costs_hold_what_the_prices_say() -> None:
    """All of a price but the run's own columns, with the same types and units."""
    both = tables.columns("costs"), tables.columns("prices")
    assert set(both[1]) <= set(both[0])
    for name, about in both[1].items():
        assert {key: both[0][name].get(key) for key in ("type", "unit")} == {
            key: about.get(key) for key in ("type", "unit")
        }, name


@pytest.mark.parametrize("content", [None, b"", b"run,workload\n", b"PAR1 cut off"])
def test_what_is_no_table_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "runs.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"runs\.parquet: not a table"):
        tables.read(path)
