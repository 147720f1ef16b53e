import csv
import json
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from scripts.storage import tables
from scripts.storage.errors import InputError
from tests.conftest import ROOT
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


def test_what_a_log_does_not_record_stays_empty(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "''-x", "plain", "'quoted'", ""])
def test_no_text_is_a_formula_for_a_spreadsheet(tmp_path: Path, text: str) -> None:
    frame = runs(run(reason=text or None, settings=text or None))
    tables.write(frame, "runs", tmp_path / "runs.parquet")
    with (tmp_path / "runs.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert not row["reason"].startswith(("=", "+", "-", "@", "\t"))
    pd.testing.assert_frame_equal(tables.read_csv("runs", tmp_path / "runs.csv"), frame)


@pytest.mark.slow
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.none(), min_size=1),
    floats=st.lists(st.floats() | st.floats(1e-5, 1e12) | st.integers(-100, 100).map(float), min_size=1),
    wholes=st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1),
    rows_at_once=st.integers(1, 50),
)
def test_csv_is_the_one_of_pandas_byte_for_byte(
    texts: list[str | None], floats: list[float], wholes: list[int | None], rows_at_once: int
) -> None:
    columns = {"reason": texts, "train_seconds": floats, "train_samples": wholes}
    length = max(map(len, columns.values()))
    frame = pd.concat([BOTH.iloc[:1]] * length, ignore_index=True)
    for name, values in columns.items():
        repeated = (values * length)[:length]
        frame[name] = pd.Series(repeated, dtype=frame[name].dtype)
    plain = frame.assign(
        reason=frame["reason"]
        .str.replace(r"\r\n?", "\n", regex=True)
        .str.replace(r"^('*[=+\-@\t\r])", r"'\1", regex=True)
    )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_ROWS_AT_ONCE", rows_at_once)
        tables.write(frame, "runs", Path(folder, "runs.parquet"))
        assert Path(folder, "runs.csv").read_bytes() == plain.to_csv(index=False, lineterminator="\n").encode()


@given(st.integers(0, 2**64 - 1))
def test_every_number_is_written_as_python_writes_it(bits: int) -> None:
    (number,) = struct.unpack("d", struct.pack("Q", bits))
    written = tables._texts(tables.pa.array([number], tables.pa.float64())).to_pylist()
    assert written == ["" if number != number else repr(number)]


def test_cells_stand_in_order_of_appearance_each_with_its_rows() -> None:
    """What a log does not record is a value of its own."""
    rows = [{"hardware": "b"}, {"hardware": "a"}, {"hardware": "b"}, {"hardware": "a", "batch_size": None}]
    frame = runs(*(run(repeat=i, **values) for i, values in enumerate(rows, 1)))
    found = [(cell["hardware"], cell["batch_size"], places.tolist()) for cell, places in tables.cells_of(frame)]
    assert found == [("b", 128, [0, 2]), ("a", 128, [1]), ("a", None, [3])]
    assert tables.cells_of(frame.iloc[:0]) == []


#: What no workload, machine or framework is called: they are parts of paths, commands and ids.
NO_NAMES = (
    "../../../../config/prices/current",
    "/etc/passwd",
    '"><img src=x onerror=alert(1)>',
    "a b",
    "-rf",
    ".hidden",
    "",
    "net\n",
    "n" * 101,
    "a\x1b[2J",
    "=1+1",
)


@pytest.mark.parametrize("column", ["workload", "hardware", "framework"])
@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_name_comes_in_by_no_table(tmp_path: Path, column: str, name: str) -> None:
    frame = runs(run(**{column: name}))
    tables.write(frame, "runs", tmp_path / "runs.parquet")
    with pytest.raises(InputError, match=rf"runs\.parquet: {column}: .* is not a name") as said:
        tables.read(tmp_path / "runs.parquet")
    assert "\x1b" not in str(said.value)
    if name:  # nothing is not known
        with pytest.raises(InputError, match=rf"runs\.csv: {column}: .* is not a name"):
            tables.read_csv("runs", tmp_path / "runs.csv")


@pytest.mark.parametrize(
    ("column", "value"), [("status", "x"), ("mode", "tuned "), ("precision", "float8"), ("data", "Real")]
)
def test_a_word_that_a_column_does_not_know_is_refused(tmp_path: Path, column: str, value: str) -> None:
    tables.write(runs(run(**{column: value})), "runs", tmp_path / "runs.parquet")
    for read in (tables.read, lambda path: tables.read_csv("runs", path.with_suffix(".csv"))):
        with pytest.raises(InputError, match=f"{column}: '{value}' is not one of"):
            read(tmp_path / "runs.parquet")


def test_words_are_those_that_trainings_write() -> None:
    properties = json.loads((ROOT / "config" / "schemas" / "run.schema.json").read_text())["properties"]
    assert set(properties["status"]["enum"]) | {"disturbed", "learned_nothing"} == set(tables.STATUSES)
    words = {name: set(tables._ALLOWED[name][0].split("|")) for name in ("mode", "precision", "data")}
    words["mode"] -= {"tuned, not compiled", "sparse, not compiled"}  # worked out of a run's settings
    words["precision"] -= {"fp8", "mxfp8", "nvfp4"}  # of others alone: nothing here trains in them
    assert words == {name: set(properties["cell"]["properties"][name]["enum"]) for name in words}
    for name in ("workload", "hardware", "framework"):
        assert properties["cell"]["properties"][name]["pattern"] == f"^{tables.NAME}$"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-1], "ends within its last row: it was cut"),
        (lambda text: text[:-40], "ends within its last row: it was cut"),
        (lambda text: text.rsplit(",", 3)[0] + "\n", ":3: this row does not have"),
        (lambda text: text.replace("train_seconds", "training_seconds", 1), "column training_seconds is there twice"),
        (lambda text: text.replace(",100.0,", ",NaN,", 1), ":2: train_seconds: 'NaN' is not a number"),
        (lambda text: text.replace(",100.0,", ",1e999,", 1), ":2: train_seconds: '1e999' is not a number"),
        (lambda text: text.replace(",100.0,", ",inf,", 1), ":2: train_seconds: 'inf' is not a number"),
        (lambda text: text.replace(",100.0,", ',"100.0,', 1), "not CSV"),
        (lambda text: "", "is empty"),
    ],
)
def test_a_damaged_csv_is_one_line(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    tables.write(runs(run(), run(repeat=2)), "runs", tmp_path / "runs.parquet")
    path = tmp_path / "runs.csv"
    assert len(tables.read_csv("runs", path)) == 2
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=rf"^{path}") as said:
        tables.read_csv("runs", path)
    assert message in str(said.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1]}),
        pd.DataFrame({"workload": [1.5]}),
        BOTH.drop(columns="train_seconds"),
        BOTH.assign(extra=1),
        BOTH.assign(train_seconds="fast"),
        BOTH.assign(batch_size=0.5),
        BOTH.assign(workload=[["a"], ["b"]]),
        BOTH.assign(samples_per_second=float("inf")),
    ],
)
def test_a_parquet_of_another_shape_is_one_line(tmp_path: Path, frame: pd.DataFrame) -> None:
    frame.to_parquet(tmp_path / "runs.parquet", index=False)
    with pytest.raises(InputError, match=rf"^{tmp_path}/runs\.parquet: "):
        tables.read(tmp_path / "runs.parquet")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("train_seconds", pa.array([{"a": 1.0}] * 2), r"train_seconds: holds struct<a: double>, must hold numbers"),
        (
            "train_seconds",
            pa.array(["1", "2"]).dictionary_encode(),
            "train_seconds: holds dictionary<.*>, must hold numbers",
        ),
        ("batch_size", pa.array(["1", "2"]), "batch_size: holds string, must hold numbers"),
        ("batch_size", pa.array([True, False]), "batch_size: holds bool, must hold numbers"),
        ("reason", pa.array([["a"], ["b"]]), r"reason: holds list<.*>, must hold text"),
        ("hardware", pa.array([1, 2]), "hardware: holds int64, must hold text"),
        ("largest_batch", pa.array(["yes", "no"]), "largest_batch: holds string, must hold true or false"),
    ],
)
def test_a_column_of_another_kind_is_named(tmp_path: Path, column: str, values: pa.Array, message: str) -> None:
    path = tmp_path / "runs.parquet"
    table = pa.Table.from_pandas(BOTH, preserve_index=False)
    parquet.write_table(table.set_column(table.schema.get_field_index(column), column, values), path)
    with pytest.raises(InputError, match=rf"^{path}: {message}"):
        tables.read(path)


def test_texts_that_are_stored_once_each_are_texts(tmp_path: Path) -> None:
    BOTH.assign(framework=BOTH["framework"].astype("category")).to_parquet(tmp_path / "runs.parquet", index=False)
    pd.testing.assert_frame_equal(tables.read(tmp_path / "runs.parquet"), BOTH)


def test_a_parquet_of_before_lacks_what_was_added_since(tmp_path: Path) -> None:
    BOTH.drop(columns=["log_tail", "exit_seconds"]).to_parquet(tmp_path / "runs.parquet", index=False)
    assert tables.read(tmp_path / "runs.parquet")["exit_seconds"].isna().all()


def test_a_table_of_any_columns_holds_no_formula() -> None:
    frame = pd.DataFrame({"=a": ["=1+1", "-1", "plain", None], "value": [-1.5, 2.0, None, 3.0]})
    frame["kind"] = pd.Categorical(["@x", "@x", "b", "b"])
    assert tables.to_csv(frame) == "'=a,value,kind\n'=1+1,-1.5,'@x\n'-1,2.0,'@x\nplain,,b\n,3.0,b\n"


@pytest.mark.parametrize(
    ("column", "value", "allowed"),
    [
        ("train_seconds", -5.0, "0 or more"),
        ("val_acc", 7.0, "from 0 to 1"),
        ("devices", 0, "1 or more"),
        ("repeat", -1, "1 or more"),
        ("gpu_percent", 101.0, "from 0 to 100"),
        ("peak_memory_mib", -1.0, "0 or more"),
    ],
)
def test_a_number_out_of_its_range_is_refused(tmp_path: Path, column: str, value: float, allowed: str) -> None:
    tables.write(runs(run(**{column: value})), "runs", tmp_path / "runs.parquet")
    for read in (tables.read, lambda path: tables.read_csv("runs", path.with_suffix(".csv"))):
        with pytest.raises(InputError, match=rf"{column}: {value:g} must be {allowed}"):
            read(tmp_path / "runs.parquet")


def test_losses_may_be_anything_and_differences_of_clocks_a_little_below_0(tmp_path: Path) -> None:
    tables.write(runs(run(loss=-3.0, val_loss=float("inf"), exit_seconds=-0.2)), "runs", tmp_path / "runs.parquet")
    assert tables.read(tmp_path / "runs.parquet")["loss"][0] == -3.0
    assert tables.read_csv("runs", tmp_path / "runs.csv")["val_loss"][0] == float("inf")


def test_parquet_of_more_rows_than_a_study_has_is_refused_before_it_is_read(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"run": pa.nulls(20_000_000, pa.string())}), tmp_path / "runs.parquet")
    with pytest.raises(InputError, match=r"runs\.parquet: 20,000,000 rows are more than a study has"):
        tables.read(tmp_path / "runs.parquet")


def test_runs_without_a_name_are_not_compared() -> None:
    with pytest.raises(InputError, match=r"runs\.parquet: run: is empty in row 1$"):
        tables.check(pd.DataFrame({"run": pd.array([None, None], "string"), "status": "done"}), "runs.parquet")


def test_a_run_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    tables.write(runs(run(), run(framework="jax"), run()), "runs", tmp_path / "runs.parquet")
    for read in (tables.read, lambda path: tables.read_csv("runs", path.with_suffix(".csv"))):
        with pytest.raises(InputError, match=r"runs\.(parquet|csv): run: '.*/r1' is there twice, in rows 1 and 3$"):
            read(tmp_path / "runs.parquet")
