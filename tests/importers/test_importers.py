"""What all importers share, tried with the CSV logs."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import importers
from scripts.importers import COLUMNS, Layout, Problem
from scripts.importers.formats import keras_csv
from scripts.storage.errors import InputError

LOG = "epoch,elapsed,loss,acc,val_loss,val_acc\r\n0,2.5,0.5,0.8,0.4,0.85\r\n1,1.5,0.25,0.9,0.3,0.875\r\n"
K80 = Layout({"k80": "k80"})


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_names_are_the_formats_and_no_shared_parts() -> None:
    assert {"keras_csv", "mllog", "rare_json", "tf_cnn", "throughput_table"} <= set(importers.names())
    assert {"audit", "facts", "sources"}.isdisjoint(importers.names())


@pytest.mark.parametrize("name", importers.names())
def test_every_importer_says_what_it_reads(name: str) -> None:
    assert "\n" not in importers.importer(name).HELP
    assert importers.importer(name).HELP


@pytest.mark.parametrize("name", ["audit", "_logs", "xml"])
def test_unknown_importer_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is not allowed; allowed are .*keras_csv, "):
        importers.importer(name)


@pytest.mark.parametrize("name", importers.names())
def test_missing_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        importers.importer(name).read(tmp_path / "nowhere", K80)


@pytest.mark.parametrize("name", importers.names())
def test_folder_without_logs_gives_an_empty_table_of_all_columns(name: str, tmp_path: Path) -> None:
    imported = importers.importer(name).read(tmp_path, Layout({}))
    assert {column: str(kind) for column, kind in imported.runs.dtypes.items()} == COLUMNS
    assert (len(imported.runs), imported.problems) == (0, [])


def test_problem_is_one_line_of_file_line_message() -> None:
    assert str(Problem("k80/a.csv", 3, "no")) == "k80/a.csv:3: no"
    assert str(Problem("k80", None, "no")) == "k80: no"


def test_good_logs_survive_a_bad_one(tmp_path: Path) -> None:
    write(tmp_path, {"k80/a_cntk.csv": LOG, "k80/b_cntk.csv": b"\x89PNG\0\1", "k80/c_cntk.csv": LOG})
    imported = keras_csv.read(tmp_path, K80)
    assert list(imported.runs["run"]) == ["k80/a_cntk", "k80/c_cntk"]
    assert [str(problem) for problem in imported.problems] == ["k80/b_cntk.csv:1: binary, not text"]


def test_row_names_its_file_and_its_checksum(tmp_path: Path) -> None:
    runs = keras_csv.read(write(tmp_path, {"k80/a_cntk.csv": LOG}), K80).runs
    assert runs["file"][0] == "k80/a_cntk.csv"
    assert runs["sha256"][0] == hashlib.sha256(LOG.encode()).hexdigest()


@pytest.mark.parametrize(
    ("hardware", "machine"),
    [
        ({"cpu": "any"}, "any"),
        ({"cpu": "any", "cpu/pip": "pip"}, "pip"),
        ({"cpu/pip": "pip", "cpu/pip/a_cntk": "one"}, "one"),
        ({".": "all"}, "all"),
        ({"cpu/pip/": "slash"}, "slash"),
    ],
)
def test_longest_path_names_the_machine(hardware: dict, machine: str, tmp_path: Path) -> None:
    write(tmp_path, {"cpu/pip/a_cntk.csv": LOG})
    assert list(keras_csv.read(tmp_path, Layout(hardware)).runs["hardware"]) == [machine]


def test_folder_may_decide_the_framework(tmp_path: Path) -> None:
    write(tmp_path, {"pip/cpu8/a_tensorflow.csv": LOG, "compiled/cpu8/a_tensorflow.csv": LOG})
    layout = Layout({"pip/cpu8": "cpu8", "compiled/cpu8": "cpu8"}, {"compiled": "tensorflow-compiled"})
    imported = keras_csv.read(tmp_path, layout)
    assert list(imported.runs["framework"]) == ["tensorflow-compiled", "tensorflow"]
    assert imported.problems == []


def test_folder_that_is_not_mapped_is_named_once(tmp_path: Path) -> None:
    write(tmp_path, {"gpu/a_cntk.csv": LOG, "gpu/b_cntk.csv": LOG, "k80/a_cntk.csv": LOG, "readme.txt": "not a log"})
    imported = keras_csv.read(tmp_path, Layout({"k80": "k80", "p100": "p100"}))
    assert len(imported.runs) == 1
    assert [str(problem) for problem in imported.problems] == [
        "gpu: holds logs, but is not in the mapping of folders to machines; known are k80, p100",
        "p100: is in the mapping, but holds no log (.csv)",
    ]


def test_mapped_framework_without_logs_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"k80/a_cntk.csv": LOG})
    (problem,) = keras_csv.read(tmp_path, Layout({"k80": "k80"}, {"compield": "tensorflow"})).problems
    assert str(problem) == "compield: is in the mapping, but holds no log (.csv)"


def test_folders_of_one_machine_hold_repeats(tmp_path: Path) -> None:
    other = LOG.replace("0,", "0,1", 1)
    for folder, log in (("one", LOG), ("two", other)):
        write(tmp_path, {f"{folder}/{name}": log for name in ("a_cntk.csv", "a_torch.csv")})
    runs = keras_csv.read(tmp_path, Layout({"one": "k80", "two": "k80"})).runs
    assert runs[["run", "repeat"]].values.tolist() == [
        ["one/a_cntk", 1],
        ["one/a_torch", 1],
        ["two/a_cntk", 2],
        ["two/a_torch", 2],
    ]


def test_runs_of_equal_stems_have_different_names(tmp_path: Path) -> None:
    write(tmp_path, {"k80/a_cntk.csv": LOG, "k80/a_cntk.CSV": LOG.replace("0,", "0,1", 1)})
    assert sorted(keras_csv.read(tmp_path, K80).runs["run"]) == ["k80/a_cntk.CSV", "k80/a_cntk.csv"]


def test_hidden_files_are_no_logs(tmp_path: Path) -> None:
    write(tmp_path, {"k80/.ipynb_checkpoints/a_cntk.csv": LOG, "k80/._a_cntk.csv": b"\0", "k80/a_cntk.csv": LOG})
    imported = keras_csv.read(tmp_path, K80)
    assert (len(imported.runs), imported.problems) == (1, [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ":1: the file is empty"),
        (b" \r\n", ":1: the file is empty"),
        (b"epoch,elapsed\n0,\xff\n", ":2: not UTF-8: byte 0xff"),
        (b"epoch,elapsed,loss\n0,1,1\n\0", ":3: binary, not text"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (problem,) = keras_csv.read(write(tmp_path, {"k80/a_cntk.csv": content}), K80).problems
    assert str(problem) == "k80/a_cntk.csv" + said


def test_unreadable_logs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"k80/a_cntk.csv": LOG})
    (tmp_path / "k80" / "b_cntk.csv").symlink_to(tmp_path / "gone")

    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert [str(problem) for problem in keras_csv.read(tmp_path, K80).problems] == [
        "k80/a_cntk.csv: cannot be read: Permission denied",
        "k80/b_cntk.csv: not a file",
    ]


@pytest.mark.parametrize("name", ["k80/caf\udce9_cntk.csv", "k80/two words_cntk.csv"])
def test_names_that_cannot_be_columns_are_refused(name: str, tmp_path: Path) -> None:
    imported = keras_csv.read(write(tmp_path, {name: LOG}), K80)
    assert len(imported.runs) == 0
    str(imported.problems[0]).encode()


def test_byte_order_mark_is_no_part_of_the_log(tmp_path: Path) -> None:
    assert len(keras_csv.read(write(tmp_path, {"k80/a_cntk.csv": b"\xef\xbb\xbf" + LOG.encode()}), K80).runs) == 1


LINES = {
    "keras_csv": ["epoch,elapsed,loss", "epoch,elapsed,loss,acc,val_loss,val_acc", "0,1,2", "1,1e999,nan", '0,"', ""],
    "rare_json": [
        '{"time": 5,',
        '"epoch_stats": ["epoch,elapsed,loss\\r\\n",',
        '"0,1,2"]',
        "}",
        "[",
        "NaN",
        "9" * 5000,
    ],
    "tf_cnn": [
        "Model: a",
        "Batch size: 8 global",
        "  x per device",
        "Num batches: -1",
        "Step\tImg/sec\tloss",
        "1\timages/sec: 5.0 +/- 0.0 (jitter = 0.0)\t8.1",
        "9" * 5000 + "\timages/sec: 5.0 +/- 0.0 (jitter = 0.0)\t8.1",
        "1\timages/sec: ",
        "total images/sec: 5",
        "total images/sec: 1e999",
    ],
    "mllog": [
        ':::MLLOG {"key": "run_start", "time_ms": 5, "metadata": {}}',
        ':::MLLOG {"key": "run_stop", "time_ms": 9, "metadata": {"status": "success"}}',
        ':::MLLOG {"key": "submission_benchmark", "time_ms": 5, "value": "bert"}',
        ':::MLLOG {"key": "global_batch_size", "time_ms": 5, "value": 1e300}',
        ':::MLLOG {"key": "epoch_stop", "time_ms": 5}',
        ':::MLLOG {"key": [], "time_ms": NaN}',
        ":::MLLOG " + "[" * 5000,
        ":::MLLOG 7",
    ],
    "hf_trainer": [
        '{"log_history": [',
        '{"epoch": 2.0, "train_runtime": 1e999, "train_loss": NaN},',
        '{"epoch": [], "train_runtime": 12, "train_samples_per_second": "x"}',
        '{"eval_loss": 1, "eval_accuracy": 72}, 7,',
        '], "train_batch_size": -1}',
    ],
    "tf_cnn_json": [
        '{"name": "average_examples_per_sec", "value": 64.0, "timestamp": "2018-05-01T10:00:00.000000Z"}',
        '{"name": "average_examples_per_sec", "value": 1e999}',
        '{"name": [], "value": "x"}',
        "[7]",
        "[" * 5000,
    ],
    "lightning_csv": [
        "elapsed,epoch,step,train|device/samples_per_sec,train|samples,train|batches",
        "elapsed,step,train_loss",
        "3.5,0,9,640.0,6400,10",
        "1,2,3",
        "1e999,1,nan,-5,0,0",
    ],
    "throughput_table": [
        "name_gpu,num_gpu,resnet50",
        ",resnet50",
        "A100,1,369.0",
        "4x A100,4,1500.0",
        "A100,1,0.0",
        "A100,-1,nan",
        "2xA100,1e999",
        '"A100',
    ],
}
NAMES = {
    "rare_json": "a_cntk.json",
    "tf_cnn": "a_cntk.log",
    "mllog": "a_cntk.txt",
    "hf_trainer": "trainer_state.json",
    "tf_cnn_json": "metric.log",
    "lightning_csv": "metrics.csv",
}


@pytest.mark.parametrize("name", importers.names())
@given(data=st.data())
def test_any_file_is_read_or_refused(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    line = st.sampled_from(LINES.get(name, [""])) | st.text(max_size=20)
    text = st.lists(line, max_size=8).map("\n".join).map(lambda text: text.encode("utf-8", "surrogatepass"))
    content = data.draw(text | st.binary(max_size=60))
    file = f"k80/{NAMES.get(name, 'a_cntk.csv')}"
    folder = write(tmp_path_factory.mktemp("any"), {file: content})
    imported = importers.importer(name).read(
        folder, Layout({"k80": "k80"}, {"k80": "torch"}, "any", {"resnet50": "any"})
    )
    assert len(imported.runs) + len(imported.problems) > 0
    # A format that reads no such file says that the folder holds no log.
    assert all(problem.file in (file, "k80") and "\n" not in str(problem) for problem in imported.problems)
    numbers = imported.runs.select_dtypes("Float64").stack()
    assert not numbers.isin([float("inf"), float("-inf")]).any()
    pd.testing.assert_index_equal(imported.runs.columns, pd.Index(list(COLUMNS)))
