"""The logs of the studies of 2017, where they are here."""

import os
from pathlib import Path

import pandas as pd
import pytest

from scripts.analysis import audit
from scripts.importers import Imported, Layout
from scripts.importers.formats import keras_csv

ROOT = Path(__file__).resolve().parents[2]
CORES = ("cpu8", "cpu16", "cpu32", "cpu64")
STUDIES = {
    "2017-07": (
        "deep-learning-cpu-gpu-benchmark-2017-07/logs",
        Layout(
            {"gpu": "k80"} | {f"{build}/{cpu}": cpu for build in ("cpu-pip", "cpu-compiled") for cpu in CORES},
            {"cpu-compiled": "tensorflow-compiled"},
        ),
    ),
    "2017-11": ("keras-cntk-benchmark-v2-2017-11/v2/logs", Layout({n: n for n in ("k80", "p100", "cpu16", "cpu32")})),
}


def published() -> Path | None:
    """Return the folder of the published logs, None where they are not here."""
    given = os.environ.get("EPOCHS_PUBLISHED_DIR")
    folder = Path(given) if given else ROOT.parent / "shared" / "published"
    return folder if given or folder.is_dir() else None


pytestmark = pytest.mark.skipif(
    published() is None,
    reason="the published logs are not here: set EPOCHS_PUBLISHED_DIR to the folder of both studies",
)


@pytest.fixture(scope="module")
def imported() -> dict[str, Imported]:
    return {name: keras_csv.read(published() / folder, layout) for name, (folder, layout) in STUDIES.items()}


@pytest.mark.parametrize(("study", "logs"), [("2017-07", 63), ("2017-11", 39)])
def test_every_log_is_read(study: str, logs: int, imported: dict[str, Imported]) -> None:
    assert (len(imported[study].runs), imported[study].problems) == (logs, [])
    assert (imported[study].runs["status"] == "done").all()


@pytest.mark.parametrize("study", STUDIES)
def test_times_are_those_of_the_files(study: str, imported: dict[str, Imported]) -> None:
    folder = published() / STUDIES[study][0]
    for run in imported[study].runs.to_dict("records"):
        log = pd.read_csv(folder / run["file"])
        assert run["train_seconds"] == pytest.approx(log["elapsed"].sum(), rel=1e-12)
        assert run["median_epoch_seconds"] == pytest.approx(log["elapsed"][1:].median(), rel=1e-12)
        assert (run["epochs_done"], run["loss"]) == (len(log), log["loss"].iloc[-1])


def test_findings_of_2017_07(imported: dict[str, Imported]) -> None:
    found = audit.findings(imported["2017-07"].runs, others={"2017-11": imported["2017-11"].runs})
    assert found[["kind", "workload", "message"]].values.tolist() == [
        ["missing columns", "lstm_text_generation", "no acc, val_loss, val_acc in any of its 9 logs"],
        ["missing columns", "text_generator_keras", "no acc, val_loss, val_acc in any of its 9 logs"],
        ["single runs", "", "63 of 63 configurations have one run only: no spread is known"],
    ]


def test_findings_of_2017_11(imported: dict[str, Imported]) -> None:
    found = audit.findings(imported["2017-11"].runs, others={"2017-07": imported["2017-07"].runs})
    copy = (
        "same bytes as k80/text_generator_keras_tensorflow.csv of k80: at most one of the two was measured on its "
        "machine"
    )
    slow = (
        "the first epoch took 11.8 s, 2.34 x the median of the later ones, 5.05 s; it is part of the total, "
        "as published"
    )
    assert found[["kind", "hardware", "framework", "message"]].values.tolist() == [
        ["identical files", "p100", "tensorflow", copy],
        ["missing run", "cpu16", "tensorflow", "no run of text_generator_keras on cpu16 with tensorflow"],
        ["missing run", "cpu32", "tensorflow", "no run of text_generator_keras on cpu32 with tensorflow"],
        ["missing run", "k80", "cntk", "no run of text_generator_keras on k80 with cntk"],
        ["missing columns", "", "", "no acc, val_loss, val_acc in any of its 6 logs"],
        ["missing columns", "", "", "no acc, val_loss, val_acc in any of its 3 logs"],
        ["slow first epoch", "p100", "cntk", slow],
        ["single runs", "", "", "39 of 39 configurations have one run only: no spread is known"],
    ]
