from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import epochs_csv


def read(folder: Path, text: str, name: str = "training_log.csv", **more: object) -> Imported:
    (folder / name).write_text(text)
    return epochs_csv.read(folder, Layout({".": "box"}, **{"workload": "cnn", "framework": {".": "keras"}, **more}))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


KERAS = "epoch,accuracy,learning_rate,loss,val_accuracy,val_loss\n0,0.5,0.001,0.9,0.6,0.8\n1,0.7,0.001,0.5,0.65,0.75\n"


def test_a_log_of_keras_is_imported_without_time_and_says_what_adds_it(tmp_path: Path) -> None:
    imported = read(tmp_path, KERAS)
    found = facts(imported)
    expected = {"epochs_done": 2, "loss": 0.5, "acc": 0.7, "val_loss": 0.75, "val_acc": 0.65, "status": "done"}
    assert found.items() >= expected.items()
    assert "train_seconds" not in found
    assert str(found["remarks"]).startswith("without time: Keras's CSVLogger has no column elapsed")
    assert imported.epochs["val_acc"].to_list() == [0.6, 0.65]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("epoch,train_loss,eval_loss,eval_top1,eval_top5,lr", "timm's summary.csv has no column elapsed"),
        ("epoch,train_loss,val_loss,dice", "no column is a time: elapsed or epoch_time"),
        ("epoch,loss,lr,val_loss", "no column is a time: elapsed or epoch_time"),
        ("epoch,accuracy,loss,val_loss", "Keras's CSVLogger has no column elapsed"),
    ],
)
def test_a_table_is_said_to_be_of_no_program_that_does_not_write_it(header: str, said: str, tmp_path: Path) -> None:
    rows = "".join(",".join([str(epoch), *["0.5"] * header.count(",")]) + "\n" for epoch in range(2))
    assert said in str(facts(read(tmp_path, f"{header}\n{rows}"))["remarks"])


@pytest.mark.parametrize(
    ("name", "workload", "framework"),
    [
        ("mnist_mlp_pytorch.csv", "mnist_mlp", "torch"),
        ("mnist_tf.csv", "mnist", "tensorflow"),
        ("mnist_plaidml.csv", "cnn", "own"),
    ],
)
def test_a_name_may_name_workload_and_framework(name: str, workload: str, framework: str, tmp_path: Path) -> None:
    found = facts(read(tmp_path, KERAS, name, framework={} if framework != "own" else {".": "own"}))
    assert (found["workload"], found["framework"]) == (workload, framework)


@pytest.mark.parametrize(
    ("column", "cells", "seconds", "remark"),
    [
        ("epoch_time", ("9.5", "8.5", "9"), 27.0, None),
        ("Elapsed Time", ("10", "20", "31"), 31.0, "Elapsed Time rises from row to row: read as seconds since the beginning"),  # noqa: E501
        ("time", ("10", "11", "12"), 33.0, None),
        ("timestamp", ("1700000000", "1700000060", "1700000120"), 180.0, "the first step has no clock: 60.0 s at the pace of the others"),  # noqa: E501
        ("timestamp", ("2026-11-01 10:00:00", "2026-11-01 10:01:00", "2026-11-01T10:02:00Z"), 180.0, "the first step has no clock: 60.0 s at the pace of the others"),  # noqa: E501
        ("date", ("1700000000123", "1700000060123", "1700000120123"), 180.0, "the first step has no clock: 60.0 s at the pace of the others"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_column_of_times_is_read(
    column: str, cells: tuple[str, ...], seconds: float, remark: str | None, tmp_path: Path
) -> None:
    rows = "".join(f"{index + 1},0.5,{cell}\n" for index, cell in enumerate(cells))
    found = facts(read(tmp_path, f"Epoch,Training Loss,{column}\n{rows}"))
    assert found["train_seconds"] == pytest.approx(seconds)
    assert found.get("remarks") == remark


def test_the_times_of_files_count_where_the_study_asks_for_them(tmp_path: Path) -> None:
    import os

    (tmp_path / "config.yaml").write_text("a: 1\n")
    (tmp_path / "training_log.csv").write_text(KERAS)
    os.utime(tmp_path / "config.yaml", (1_000_000, 1_000_000))
    os.utime(tmp_path / "training_log.csv", (1_000_500, 1_000_500))
    layout = Layout({".": "box"}, {".": "keras"}, "cnn", times="files")
    found = facts(epochs_csv.read(tmp_path, layout))
    assert (found["train_seconds"], found["seconds_from"]) == (500.0, "the times of its files")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step,loss\n1,2\n", "1: column epoch is missing: a row of each epoch is what is read"),
        ("epoch,lr\n1,2\n", "1: no column of a loss: loss, train_loss or val_loss"),
        ("epoch,loss\none,2\n", "2: epoch: 'one' is not a number"),
        ("epoch,loss\n1\n", "2: 1 cells, but the header has 2"),
        ("epoch,loss\n", "1: no row below the header"),
    ],
)
def test_faults_are_one_line(text: str, said: str, tmp_path: Path) -> None:
    (problem,) = read(tmp_path, text).problems
    assert str(problem) == f"training_log.csv:{said}"


def test_accuracies_in_per_cent_and_the_losses_of_a_test_are_read(tmp_path: Path) -> None:
    (tmp_path / "training_log.csv").write_text(
        "epoch,train_loss,train_acc,test_loss,test_acc\n1,1.5,0.5,1.25,58.75\n2,1.0,62.5,1.5,57.5\n"
    )
    imported = epochs_csv.read(tmp_path, Layout({".": "box"}, {".": "torch"}, workload="a"))
    (row,) = imported.runs.to_dict("records")
    assert imported.epochs["acc"].to_list() == [0.005, 0.625]
    expected = {"acc": 0.625, "val_acc": 0.575, "val_loss": 1.5, "best": 0.5875, "best_of": "validation accuracy"}
    assert row.items() >= expected.items()
