from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import ultralytics

NEW = """epoch,time,train/box_loss,train/cls_loss,metrics/precision(B),metrics/mAP50(B),val/box_loss,val/cls_loss,lr/pg0
1,100.5,1.5,2.5,0.6,0.5,1.25,2.0,0.001
2,180.5,1.0,2.0,0.7,0.6,1.0,1.5,0.001
3,260.5,0.5,1.0,0.8,0.7,0.75,1.25,0.001
"""
#: As versions before 8.3 pad it.
OLD = "                  epoch,         train/box_loss,   metrics/mAP50(B)\n                      0,                 1.5,    0.5\n"  # noqa: E501


def read(folder: Path, text: str, arguments: str = "", **more: object) -> Imported:
    place = folder / "runs" / "detect" / "train4"
    place.mkdir(parents=True)
    (place / "results.csv").write_text(text)
    if arguments:
        (place / "args.yaml").write_text(arguments)
    return ultralytics.read(folder, Layout({".": "box"}, **{"workload": "yolo", **more}))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def test_time_counts_from_the_beginning(tmp_path: Path) -> None:
    arguments = "model: yolo11n.pt\ndata: /data/coco128.yaml\nbatch: 32\nimgsz: 640\nepochs: 3\ndevice: 0,1\n"
    imported = read(tmp_path, NEW, arguments)
    expected = {
        "workload": "yolo11n_coco128_640",
        "train_seconds": 260.5,
        "first_epoch_seconds": 100.5,
        "median_epoch_seconds": 80.0,
        "epochs_done": 3,
        "batch_size": 16,
        "devices": 2,
        "loss": 1.5,
        "val_loss": 2.0,
    }
    assert facts(imported).items() >= expected.items()
    assert imported.epochs["elapsed"].to_list() == [100.5, 80.0, 80.0]


def test_parts_of_a_resumed_training_are_added_up(tmp_path: Path) -> None:
    found = facts(read(tmp_path, NEW + "4,90,0.5,1.0,0.8,0.7,0.75,1.25,0.001\n"))
    assert found["train_seconds"] == 350.5
    assert "begins anew 1 times" in str(found["remarks"])


def test_without_a_time_it_is_imported_and_says_what_is_missing(tmp_path: Path) -> None:
    found = facts(read(tmp_path, OLD, "epochs: 100\n"))
    assert "train_seconds" not in found
    assert found["epochs_done"] == 1
    assert found["remarks"] == (
        "1 of 100 epochs: ended early, or it still went on; without time: Ultralytics before 8.3 and YOLOv5 write no "
        "column time"
    )


def test_a_study_may_say_how_long_an_epoch_took(tmp_path: Path) -> None:
    found = facts(read(tmp_path, OLD, seconds_per_epoch={"runs/detect": 42.0}))
    assert (found["train_seconds"], found["seconds_from"]) == (42.0, "the study: seconds_per_epoch x epochs")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epoch,loss\n1,2\n", "1: columns epoch and train/...loss are missing"),
        ("epoch,time,train/loss\n1,soon,2\n", "time: must be the seconds since the training began"),
        ("epoch,train/loss\n", "1: no row below the header"),
        ("epoch,train/loss\n1\n", "2: 1 cells, but the header has 2"),
    ],
)
def test_faults_are_one_line(text: str, said: str, tmp_path: Path) -> None:
    (problem,) = read(tmp_path, text).problems
    assert said in str(problem)
