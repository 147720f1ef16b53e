from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import COLUMNS, facts
from scripts.storage.errors import InputError
from scripts.studies import definition

HEADER = ",".join(COLUMNS)
FACTS = definition.ROOT / "reports" / "published" / "facts"
COMMITTED = sorted(FACTS.glob("*.csv"))


def row(**values) -> dict:
    """Return a row of the table of facts as an importer makes it."""
    return (
        dict.fromkeys(COLUMNS)
        | {
            "run": "gpu/mnist_mlp",
            "file": "gpu/mnist_mlp.csv",
            "sha256": "00",
            "workload": "mnist_mlp",
            "hardware": "gpu",
            "framework": "cntk",
            "repeat": 1,
            "status": "done",
            "epochs_done": 20,
            "train_seconds": 65.1,
            "missing_columns": "",
        }
        | values
    )


def table(*rows: dict) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def line(**values: str) -> str:
    texts = dict.fromkeys(COLUMNS, "") | {"run": "a", "hardware": "gpu"} | values
    return ",".join(texts.values())


#: A run of an unknown status.
NAMED = {"workload": "net", "framework": "jax", "status": "x"}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_committed_facts_are_read_and_written_the_same(path: Path, tmp_path: Path) -> None:
    facts.write(facts.read(path), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_facts_come_back_as_written(tmp_path: Path) -> None:
    written = table(row(), row(run="b", batch_size=64, val_acc=0.98, started_at="2017-07-01T00:00:00+00:00"))
    facts.write(written, tmp_path / "facts.csv")
    found = facts.read(tmp_path / "facts.csv")
    pd.testing.assert_frame_equal(found.drop(columns="missing_columns"), written.drop(columns="missing_columns"))
    assert found["missing_columns"].to_list() == ["", ""]
    assert found.dtypes.to_dict() == written.dtypes.to_dict()


@pytest.mark.parametrize("lacking", [{"devices"}, {"precision", "devices"}])
def test_facts_from_before_they_had_a_precision_and_devices_are_read(lacking: set[str], tmp_path: Path) -> None:
    facts.write(table(row()), tmp_path / "facts.csv")
    lines = (tmp_path / "facts.csv").read_text().splitlines()
    places = {HEADER.split(",").index(name) for name in lacking}
    earlier = [",".join(part for i, part in enumerate(line.split(",")) if i not in places) for line in lines]
    (tmp_path / "earlier.csv").write_text("\n".join(earlier) + "\n")
    pd.testing.assert_frame_equal(facts.read(tmp_path / "earlier.csv"), facts.read(tmp_path / "facts.csv"))


def test_seconds_are_written_to_the_nanosecond_without_noise(tmp_path: Path) -> None:
    facts.write(table(row(train_seconds=0.1 + 0.2, loss=1 / 3, epochs_done=2)), tmp_path / "facts.csv")
    text = (tmp_path / "facts.csv").read_text()
    assert ",0.3," in text
    assert ",0.333333333," in text
    assert ",2,0.3," in text, "whole numbers have no point"


def test_no_path_of_a_log_is_a_formula_for_a_spreadsheet(tmp_path: Path) -> None:
    written = table(row(run="=cmd|' /C calc'!A0/net", file="@SUM(A1)/net.csv"))
    facts.write(written, tmp_path / "facts.csv")
    assert (tmp_path / "facts.csv").read_text().splitlines()[1].startswith("'=cmd|' /C calc'!A0/net,'@SUM(A1)/net.csv,")
    assert (
        facts.read(tmp_path / "facts.csv")[["run", "file"]].values.tolist() == written[["run", "file"]].values.tolist()
    )


def test_table_without_runs_is_a_header(tmp_path: Path) -> None:
    facts.write(table(), tmp_path / "facts.csv")
    assert (tmp_path / "facts.csv").read_text() == HEADER + "\n"
    found = facts.read(tmp_path / "facts.csv")
    assert len(found) == 0
    assert found.dtypes.to_dict() == table().dtypes.to_dict()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("", ":1: the columns must be run,file,sha256"),
        (HEADER.replace("run,", "name,"), ":1: the columns must be run,file,sha256"),
        (f"{HEADER}\n{line()}", ": ends within its last row: it was cut"),
        (f"{HEADER}\n{line(train_seconds='-1')}\n", ":2: train_seconds: '-1' must be a number >= 0"),
        (f"{HEADER}\n{line()}\n", ":2: workload is empty"),
        (f"{HEADER}\n{line(**NAMED)}\n", "status: 'x' is not one of done"),
        (f"{HEADER}\n{line(**NAMED | {'workload': '../../x'})}\n", "workload: '../../x' is not a name"),
        (f"{HEADER}\n{line(**NAMED | {'hardware': '<img>'})}\n", "hardware: '<img>' is not a name"),
        (f"{HEADER}\n{line(**NAMED | {'precision': 'double'})}\n", "precision: 'double' is not one of"),
        (f"{HEADER}\n{line()}\n{line(train_seconds='long')}\n", ":3: train_seconds: 'long' must be a number"),
        (f"{HEADER}\n{line(train_seconds='nan')}\n", ":2: train_seconds: 'nan' must be a number"),
        (f"{HEADER}\n{line(loss='inf')}\n", ":2: loss: 'inf' must be a number"),
        (f"{HEADER}\n{line(epochs_done='2.5')}\n", ":2: epochs_done: '2.5' must be a whole number"),
        (f"{HEADER}\n{line()},1\n{line()},1\n", ":2: this row does not have 32 values"),
        (f"{HEADER}\n{line()}\n{line()[:-1]}\n", ":3: this row does not have 32 values"),
        (f"{HEADER}\n{line(run=chr(34) + 'a')}\n", "not CSV"),
    ],
)
def test_fault_is_one_line_with_file_line_and_value(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "facts.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as fault:
        facts.read(path)
    assert str(path) in str(fault.value)
    assert message in str(fault.value)
    assert "\n" not in str(fault.value)


def test_order_is_that_of_the_study() -> None:
    study = {"import": {"workloads": ["mnist_mlp", "mnist_cnn"]}, "machines": {"k80": {}, "cpu8": {}}}
    cells = [
        ("another", "k80", "cntk", 1),
        ("mnist_cnn", "cpu8", "cntk", 1),
        ("mnist_mlp", "tpu", "cntk", 1),
        ("mnist_mlp", "cpu8", "tensorflow", 1),
        ("mnist_mlp", "cpu8", "cntk", 2),
        ("mnist_mlp", "cpu8", "cntk", 1),
        ("mnist_mlp", "k80", "tensorflow", 1),
    ]
    keys = ["workload", "hardware", "framework", "repeat"]
    ordered = facts.in_order(table(*(row(**dict(zip(keys, cell, strict=True))) for cell in cells)), study)
    assert [tuple(cell) for cell in ordered[keys].values.tolist()] == [
        ("mnist_mlp", "k80", "tensorflow", 1),
        ("mnist_mlp", "cpu8", "cntk", 1),
        ("mnist_mlp", "cpu8", "cntk", 2),
        ("mnist_mlp", "cpu8", "tensorflow", 1),
        ("mnist_mlp", "tpu", "cntk", 1),
        ("mnist_cnn", "cpu8", "cntk", 1),
        ("another", "k80", "cntk", 1),
    ]
    unordered = facts.in_order(table(row(workload="b"), row(workload="a")), {"import": {}, "machines": {}})
    assert unordered["workload"].to_list() == ["b", "a"], "without an order: as they come"


def test_a_run_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    facts.write(table(row(), row(run="other"), row()), tmp_path / "facts.csv")
    with pytest.raises(InputError, match=r"facts\.csv: run: 'gpu/mnist_mlp' is there twice, in rows 1 and 3$"):
        facts.read(tmp_path / "facts.csv")


def test_what_a_terminal_obeys_in_a_name_of_a_log_is_escaped_and_names_still_differ(tmp_path: Path) -> None:
    names = ("a\x1b[2J", "a\x07", "a\u202eb")
    given = table(*(row(run=name, file=f"{name}.csv", repeat=n) for n, name in enumerate(names, 1)))
    facts.write(given, tmp_path / "facts.csv")
    text = (tmp_path / "facts.csv").read_text()
    assert [one for one in text if one != "\n" and not one.isprintable()] == []
    assert list(facts.read(tmp_path / "facts.csv")["run"]) == ["a\\x1b[2J", "a\\x07", "a\\u202eb"]
