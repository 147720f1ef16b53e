from pathlib import Path

import pandas as pd
import pytest

from scripts.storage import tables
from scripts.storage.errors import InputError
from tests.made import run, runs


def test_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    table = runs(run(), run(repeat=2, train_seconds=None, warnings="one\ntwo", largest_batch=True))
    tables.write(table, "runs", tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(tables.read_csv("runs", tmp_path / "runs.csv"), table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,workload\nr1,net\n", "the columns are those of docs/tables.md"),
        ("run,mood\nr1,good\n", "column mood is not documented"),
        ("batch_size\nmany\n", "2: batch_size: 'many' is not a number"),
        ("", "is empty"),
        (None, "No such file"),
    ],
)
def test_other_file_is_named(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "runs.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        tables.read_csv("runs", path)
    assert str(error.value).startswith(f"{path}:")


def test_older_table_lacks_what_was_added_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = runs(run())
    tables.write(table, "runs", tmp_path / "runs.parquet")
    new = {"gpu_fan_percent": {"type": "Float64", "meaning": "of the fans", "added": "2026-12"}}
    monkeypatch.setitem(tables._documented(), "runs", tables.columns("runs") | new)
    read = tables.read_csv("runs", tmp_path / "runs.csv")
    assert read["gpu_fan_percent"].isna().all()
    pd.testing.assert_frame_equal(read[list(table.columns)], table)
