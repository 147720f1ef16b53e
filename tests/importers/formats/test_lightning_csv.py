from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import lightning_csv
from tests.importers.formats.test_tensorboard import event, write

#: As CSVLogger writes it: columns in the order of the alphabet, a row for each step or epoch that was logged.
LOG = """epoch,step,train_loss,train|batches,train|device/samples_per_sec,train|samples,train|time,val_acc,val_loss
0,9,0.9,,,,,,
,9,,10,,640,1.5,,
,109,,110,5000.0,7040,2.9,,
,119,,120,5200.0,7680,3.1,,
0,119,,,,,,0.8,0.5
1,239,0.4,,,,,,
,239,,240,5100.0,15360,9.9,,
1,239,,,,,,0.9,0.3
"""


def read(folder: Path, text: str, name: str = "metrics.csv") -> Imported:
    place = folder / "a100" / "version_0"
    place.mkdir(parents=True)
    (place / name).write_text(text)
    return lightning_csv.read(folder, Layout({"a100": "a100"}, workload="mnist_mlp"))


def facts(imported: Imported) -> dict[str, object]:
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value) and key not in ("run", "file", "sha256")}


def test_facts_of_a_run(tmp_path: Path) -> None:
    imported = read(tmp_path, LOG)
    assert imported.problems == []
    assert facts(imported) == {
        "workload": "mnist_mlp",
        "hardware": "a100",
        "framework": "torch",
        "batch_size": 64,
        "devices": 1,
        "repeat": 1,
        "status": "done",
        "samples_per_second": 5100.0,
        "loss": 0.4,
        "val_loss": 0.3,
        "val_acc": 0.9,
        "missing_columns": "",
        "train_seconds": 15360 / 5100,
        "seconds_from": "samples / samples per second",
        "steps_done": 240,
        "best": 0.9,
        "best_of": "validation accuracy",
    }


def test_rate_of_all_devices_counts(tmp_path: Path) -> None:
    text = "step,train|device/samples_per_sec,train|samples_per_sec\n99,50.0,200.0\n199,51.0,204.0\n"
    assert facts(read(tmp_path, text)).items() >= {"samples_per_second": 202.0, "devices": 4}.items()


def test_seconds_of_epochs_are_the_time_to_train(tmp_path: Path) -> None:
    text = "elapsed,epoch,step,train_loss_epoch\n12.5,0,9,0.9\n2.5,1,19,0.5\n3.5,2,29,nan\n"
    times = {"train_seconds": 18.5, "first_epoch_seconds": 12.5, "median_epoch_seconds": 3.0, "epochs_done": 3}
    assert facts(read(tmp_path, text)).items() >= (times | {"status": "diverged"}).items()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epoch,elapsed\n0,5\n", "1: column step is missing: CSVLogger always writes it"),
        ("step,elapsed\n0,soon\n", "2: elapsed: 'soon' is not a number"),
        ("step,elapsed\n0,-1\n", "2: elapsed: -1 must be a number above 0"),
        ("step,elapsed\n0,nan\n", "2: elapsed: nan must be a number above 0"),
        ("step,elapsed\n0\n", "2: 1 cells, but the header has 2"),
    ],
)
def test_faults_are_refused_with_their_line(text: str, said: str, tmp_path: Path) -> None:
    imported = read(tmp_path, text)
    assert len(imported.runs) == 0
    (problem,) = imported.problems
    assert str(problem).startswith(f"a100/version_0/metrics.csv:{said}")


def test_other_tables_are_not_read(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, LOG, "other.csv").problems
    assert str(problem) == "a100/version_0/other.csv: the name must be metrics.csv"


def test_a_log_without_times_is_imported_and_says_what_adds_them(tmp_path: Path) -> None:
    found = facts(read(tmp_path, "epoch,step,train_loss\n4,49,0.5\n9,99,0.25\n"))
    assert (found["epochs_done"], found["loss"]) == (10, 0.25)
    assert "train_seconds" not in found
    assert str(found["remarks"]).startswith(
        "without time: Lightning logs no time and no rate: add the callback ThroughputMonitor(batch_size_fn=len)"
    )


def test_a_column_of_a_clock_is_one(tmp_path: Path) -> None:
    """Steps count from 0: 50 were done at the first row, in the 30 s before it."""
    text = "epoch,step,train_loss,timestamp\n0,49,0.5,1700000000\n0,99,0.4,1700000030\n1,149,0.3,1700000060\n"
    assert facts(read(tmp_path, text))["train_seconds"] == pytest.approx(90.0)


def test_events_in_the_same_folder_are_its_clock(tmp_path: Path) -> None:
    write(tmp_path / "a100" / "version_0", event(0), event(70, 10, train_loss=0.5))
    text = "epoch,step,train_loss\n0,9,0.5\n"
    (tmp_path / "a100" / "version_0" / "metrics.csv").write_text(text)
    imported = lightning_csv.read(tmp_path, Layout({"a100": "a100"}, workload="mnist_mlp"))
    assert facts(imported)["train_seconds"] == 70.0


def test_rates_of_lightning_2_6_are_called_otherwise(tmp_path: Path) -> None:
    text = LOG.replace("train|device/samples_per_sec", "train/device/samples_per_sec").replace("train|", "train/")
    assert facts(read(tmp_path, text)).items() >= {"samples_per_second": 5100.0, "batch_size": 64}.items()


def test_runs_with_other_hyper_parameters_are_other_trainings(tmp_path: Path) -> None:
    for version, rate in ((0, 0.1), (1, 0.01)):
        place = tmp_path / "a100" / f"version_{version}"
        place.mkdir(parents=True)
        (place / "metrics.csv").write_text(LOG + "\n" * version)
        (place / "hparams.yaml").write_text(f"lr: {rate}\n")
    imported = lightning_csv.read(tmp_path, Layout({"a100": "a100"}, workload="mlp"))
    assert imported.runs["workload"].to_list() == ["mlp+lr_0.1", "mlp+lr_0.01"]
