import tarfile
from pathlib import Path

import pandas as pd
import pytest

from scripts.analysis import audit
from scripts.importers import Imported, Layout
from scripts.importers.formats import tf_cnn
from tests.importers.test_published import published

HEADER = """TensorFlow:  1.4
Model:       resnet50
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  64 global
             32.0 per device
Num batches: 100
Num epochs:  0.00
Devices:     ['/gpu:0', '/gpu:1']
Data format: NCHW
Variables:   parameter_server
==========
"""
STEPS = """Generating model
Done warm up
Step\tImg/sec\ttotal_loss
1\timages/sec: 60.0 +/- 0.0 (jitter = 0.0)\t8.5
100\timages/sec: 64.5 +/- 0.1 (jitter = 0.2)\t7.5
"""
TOTAL = f"{'-' * 64}\ntotal images/sec: 64.00\n{'-' * 64}\n"
RUN = HEADER + STEPS + TOTAL


def read(folder: Path, text: str, workload: str | None = None) -> Imported:
    (folder / "gpu2.log").write_bytes(text.encode())
    return tf_cnn.read(folder, Layout({"gpu2": "two cards"}, workload=workload))


@pytest.mark.parametrize(
    "text", [RUN, RUN.replace("\n", "\r\n"), "a line before\n" + RUN + "and after\n", RUN.rstrip()]
)
def test_facts_of_a_run(text: str, tmp_path: Path) -> None:
    imported = read(tmp_path, text)
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    assert {key: value for key, value in row.items() if not pd.isna(value) and key != "sha256"} == {
        "run": "gpu2",
        "file": "gpu2.log",
        "workload": "resnet50",
        "hardware": "two cards",
        "framework": "tensorflow",
        "batch_size": 32,
        "devices": 2,
        "repeat": 1,
        "status": "done",
        "samples_per_second": 64.0,
        "loss": 7.5,
        "missing_columns": "",
    }


def test_steps_alone_need_a_workload(tmp_path: Path) -> None:
    runs = read(tmp_path, STEPS + TOTAL, "resnet50").runs
    assert runs[["workload", "samples_per_second"]].values.tolist() == [["resnet50", 64.0]]
    assert runs[["batch_size", "devices", "precision"]].isna().all(axis=None)
    (problem,) = read(tmp_path, STEPS + TOTAL).problems
    assert str(problem) == "gpu2.log: the log names no workload, so the import must"


def test_accuracy_may_be_printed(tmp_path: Path) -> None:
    text = RUN.replace("\t8.5", "\t8.5\t0.001\t0.005").replace("\t7.5", "\t7.5\t0.25\t0.5")
    assert read(tmp_path, text).runs[["loss", "acc"]].values.tolist() == [[7.5, 0.25]]


@pytest.mark.parametrize(("data", "status"), [("imagenet (synthetic)", "done"), ("imagenet", "diverged")])
def test_loss_that_is_no_number_says_nothing_of_images_that_are_made_up(data: str, status: str, tmp_path: Path) -> None:
    runs = read(tmp_path, RUN.replace("\t7.5", "\tnan").replace("imagenet (synthetic)", data)).runs
    assert runs["status"][0] == status
    assert runs["loss"].isna().all()
    assert runs["samples_per_second"].to_list() == [64.0]


def test_time_that_a_fork_appends_is_no_part_of_the_loss(tmp_path: Path) -> None:
    text = RUN.replace("\t8.5", "\t8.5 1618113144").replace("\t7.5", "\t7.5 1618113219")
    runs = read(tmp_path, text.replace("             32.0 per", "32 per")).runs
    assert runs[["loss", "batch_size", "started_at"]].values.tolist() == [[7.5, 32, "2021-04-11T03:52:24+00:00"]]
    with_accuracy = RUN.replace("\t8.5", "\t8.5\t0.1\t0.2\t1618113144").replace("\t7.5", "\t7.5\t0.25\t0.5\t1618113219")
    assert read(tmp_path, with_accuracy).runs[["loss", "acc"]].values.tolist() == [[7.5, 0.25]]


def test_precision_devices_and_batch_are_part_of_the_cell(tmp_path: Path) -> None:
    for place, text in {
        "a/syn-fp16-1gpus/throughput/1": RUN,
        "a/syn-fp32-1gpus/throughput/1": RUN.replace("64.00", "8.00"),
        "a/syn-fp32-1gpus/throughput/2": RUN.replace("64.00", "8.20"),
    }.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    imported = tf_cnn.read(tmp_path, Layout({"a": "card"}))
    assert imported.problems == []
    assert imported.runs[["run", "precision", "repeat"]].values.tolist() == [
        ["a/syn-fp16-1gpus/throughput/1", "float16", 1],
        ["a/syn-fp32-1gpus/throughput/1", "float32", 1],
        ["a/syn-fp32-1gpus/throughput/2", "float32", 2],
    ]


def test_run_that_ran_out_of_memory_is_one(tmp_path: Path) -> None:
    text = HEADER + "ResourceExhaustedError: OOM when allocating tensor with shape[64,64]\n"
    imported = read(tmp_path, text)
    assert imported.problems == []
    assert imported.runs[["workload", "status", "batch_size"]].values.tolist() == [["resnet50", "out_of_memory", 32]]
    assert imported.runs["samples_per_second"].isna().all()


@pytest.mark.slow
@pytest.mark.skipif(
    published() is None or not (published() / "tf_cnn").is_dir(),
    reason="the logs are not here: set EPOCHS_PUBLISHED_DIR to the folder that holds them in tf_cnn/",
)
def test_logs_as_they_are_found(tmp_path: Path) -> None:
    with tarfile.open(published() / "tf_cnn" / "logs-1gpu.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    imported = tf_cnn.read(tmp_path, Layout({folder.name: folder.name for folder in tmp_path.iterdir()}))
    (problem,) = imported.problems  # it ends during its warm-up
    assert str(problem).startswith("3970X-Radeon-VII-Pro-PCIEGen4-10bit.logs/syn-replicated-fp32-1gpus/inception3-96/")
    runs = imported.runs
    assert runs["status"].value_counts().to_dict() == {"done": 464, "out_of_memory": 4}
    assert runs["precision"].value_counts().to_dict() == {"float16": 234, "float32": 234}
    assert set(runs["devices"]) == {1}
    assert runs["train_seconds"].isna().all()
    assert (runs["status"].eq("done") & runs["loss"].isna()).sum() == 31, "NaN on made-up images"
    assert audit.findings(runs).query("kind == 'runs far apart'").empty, "no cell is two"


def test_several_runs_in_a_file(tmp_path: Path) -> None:
    runs = read(tmp_path, RUN + RUN.replace("resnet50", "vgg16") + RUN).runs
    assert runs[["run", "workload", "repeat"]].values.tolist() == [
        ["gpu2#1", "resnet50", 1],
        ["gpu2#2", "vgg16", 1],
        ["gpu2#3", "resnet50", 2],
    ]


@pytest.mark.parametrize(
    ("text", "lines", "runs"),
    [
        (HEADER + STEPS, (18, 2), []),
        (HEADER, (13, 2), []),
        (STEPS, (5, 3), []),
        (HEADER + STEPS + RUN, (20, 2), ["gpu2#2"]),
        (RUN + HEADER + STEPS, (39, 23), ["gpu2#1"]),
        (HEADER + STEPS + STEPS + TOTAL, (21, 2), ["gpu2#2"]),
    ],
)
def test_truncated_run_is_refused_and_no_other(
    text: str, lines: tuple[int, int], runs: list[str], tmp_path: Path
) -> None:
    imported = read(tmp_path, text, "resnet50")
    (problem,) = imported.problems
    assert str(problem) == f"gpu2.log:{lines[0]}: the run that begins in line {lines[1]} has no 'total images/sec'"
    assert list(imported.runs["run"]) == runs


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sec: 64.00", "sec: fast", "20: total images/sec: 'fast' must be a number above 0"),
        ("sec: 64.00", "sec: 0.00", "20: total images/sec: '0.00' must be a number above 0"),
        ("sec: 64.00", "sec: -1", "20: total images/sec: '-1' must be a number above 0"),
        ("sec: 64.00", "sec: nan", "20: total images/sec: 'nan' must be a number above 0"),
        ("sec: 64.00", "sec:", "20: total images/sec: '' must be a number above 0"),
        ("32.0 per", "32.5 per", "7: per device: '32.5' is not a count"),
        ("training", "evaluation", "4: Mode: 'evaluation' is no training"),
        ("training", "forward-only", "4: Mode: 'forward-only' is no training"),
        ("\t7.5", "\tlow", "18: step 100: must give images/sec, jitter and a loss"),
        ("64.5 +/- 0.1 (jitter = 0.2)\t7.5", "64.", "18: step 100: must give images/sec, jitter and a loss"),
        ("\n100\t", "\n1\t", "18: step 1 after step 1: lines of several workers, or of several runs"),
    ],
)
def test_faults_are_refused_with_their_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in RUN
    imported = read(tmp_path, RUN.replace(old, new))
    assert len(imported.runs) == 0
    assert [str(problem) for problem in imported.problems] == [f"gpu2.log:{said}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello\n", "1: no run of tf_cnn_benchmarks: no 'Model:', no step, no 'total images/sec'"),
        ("\n" + TOTAL, "3: 'total images/sec' without a run before it"),
    ],
)
def test_file_without_a_run_is_refused(text: str, said: str, tmp_path: Path) -> None:
    assert [str(problem) for problem in read(tmp_path, text, "resnet50").problems] == [f"gpu2.log:{said}"]
