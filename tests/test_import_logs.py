import hashlib
import json
import sys
from pathlib import Path

import pytest

from scripts import import_logs
from scripts.importers import facts, sources
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.studies import definition

LOG = "epoch,elapsed,loss,acc,val_loss,val_acc\n0,3.5,0.5,0.8,0.4,0.9\n1,2.5,0.3,0.9,0.3,0.95\n"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def logs(folder: Path) -> Path:
    for name in ("gpu/mnist_mlp_tensorflow", "gpu/mnist_cnn_tensorflow", "cpu/mnist_mlp_tensorflow"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.csv").write_text(LOG)
    return folder


def study(folder: Path | None = None, **about) -> dict:
    given = {"folder": str(folder)} if folder else {}
    return {
        "import": {"format": "keras_csv", "hardware": {"gpu": "k80", "cpu": "cpu8"}} | given | about,
        "machines": {"cpu8": {"label": "8 vCPUs"}, "k80": {"label": "K80"}},
    }


def imported(config: dict | str, output: Path, *arguments: str) -> int:
    """Run the command in this process."""
    study = config if isinstance(config, str) else json.dumps(config)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["import_logs", str(output), "--study", study, *arguments])
        return import_logs.main()


def test_folder_of_logs_becomes_a_table_of_facts_in_the_order_of_the_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "facts.csv"
    assert imported(study(logs(tmp_path / "logs"), workloads=["mnist_mlp"]), output) == 0
    table = facts.read(output)
    assert table[["workload", "hardware", "train_seconds"]].values.tolist() == [
        ["mnist_mlp", "cpu8", 6.0],
        ["mnist_mlp", "k80", 6.0],
        ["mnist_cnn", "k80", 6.0],
    ]
    assert set(table["sha256"]) == {hashlib.sha256(LOG.encode()).hexdigest()}
    assert capsys.readouterr() == ("imported 3 runs, 0 problems\n", "")


def test_bad_log_is_named_and_the_good_ones_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs(tmp_path / "logs") / "gpu" / "mnist_cnn_tensorflow.csv").write_text(LOG + "2,fast,0,0,0,0\n")
    beside = tmp_path / "problems.txt", tmp_path / "log-epochs.parquet"
    arguments = ("--problems", str(beside[0]), "--epochs", str(beside[1]))
    assert imported(study(tmp_path / "logs"), tmp_path / "facts.csv", *arguments) == 0
    assert len(facts.read(tmp_path / "facts.csv")) == 2
    assert beside[0].read_text().startswith("gpu/mnist_cnn_tensorflow.csv:4:")
    assert len(tables.read(beside[1])) == 4, "two epochs of each good log"
    printed = capsys.readouterr()
    assert printed.out == "imported 2 runs, 1 problem\n"
    assert printed.err.startswith("not imported: gpu/mnist_cnn_tensorflow.csv:4:")


def test_study_may_be_given_by_name(tmp_path: Path) -> None:
    logs(tmp_path / "shared")
    (tmp_path / "my.yaml").write_text(
        "title: mine\nmachines: {cpu8: {label: eight}}\n"
        f"import: {{format: keras_csv, folder: {tmp_path}/shared, hardware: {{.: cpu8}}}}\n"
    )
    assert imported(str(tmp_path / "my.yaml"), tmp_path / "facts.csv") == 0
    assert set(facts.read(tmp_path / "facts.csv")["hardware"]) == {"cpu8"}


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"hardware": {"gpu": "tpu", "cpu": "cpu8"}}, "import: hardware: 'tpu' is not one of machines: cpu8, k80"),
        ({"format": "mllog"}, r"import: no run could be read"),
        ({"format": "excel"}, "importer: 'excel' is not allowed"),
    ],
)
def test_what_cannot_be_imported_writes_nothing(tmp_path: Path, about: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        imported(study(logs(tmp_path / "logs"), **about), tmp_path / "facts.csv")
    assert not (tmp_path / "facts.csv").exists()


@pytest.mark.parametrize("config", [{"machines": {}}, {"import": {"format": "keras_csv"}, "machines": {}}])
def test_study_that_says_no_machines_of_its_logs_is_refused(tmp_path: Path, config: dict) -> None:
    with pytest.raises(InputError, match=r"^import: hardware: is missing"):
        imported(config, tmp_path / "facts.csv")


PINNED = {"repository": "somebody/logs", "commit": COMMIT, "below": "runs"}


def test_logs_of_a_repository_are_found_in_a_given_folder(tmp_path: Path) -> None:
    folder = logs(tmp_path / "logs-2017-07" / "runs")
    (tmp_path / "logs.txt").write_text("not a folder")
    assert import_logs.folder_of(study(**PINNED), tmp_path) == folder
    assert imported(study(**PINNED), tmp_path / "facts.csv", "--logs-dir", str(tmp_path)) == 0


def test_folder_of_the_study_counts_more_than_a_repository(tmp_path: Path) -> None:
    assert import_logs.folder_of(study(tmp_path, **PINNED), None) == tmp_path


def test_logs_that_are_not_in_the_given_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}: holds no folder logs\*/runs$"):
        import_logs.folder_of(study(**PINNED), tmp_path)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("commit", "import: give folder, or repository and commit"),
        ("repository", "import: give folder, or repository and commit"),
        ("facts", "import: facts: is missing: it names the files to fetch"),
    ],
)
def test_repository_needs_commit_and_facts(missing: str, message: str) -> None:
    about = {key: value for key, value in (PINNED | {"facts": "facts.csv"}).items() if key != missing}
    with pytest.raises(InputError, match=message):
        import_logs.folder_of(study(**about), None)


def test_logs_are_fetched_at_the_pinned_commit_with_their_checksums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def fetch(repository: str, commit: str, files: dict[str, str], cache: Path) -> Path:
        asked.update(repository=repository, commit=commit, files=files)
        return tmp_path

    monkeypatch.setattr(sources, "fetch", fetch)
    config = definition.read("gpus-2017", {})[1]
    assert import_logs.folder_of(config, None) == tmp_path / "v2" / "logs"
    assert asked["repository"] == "minimaxir/keras-cntk-benchmark"
    assert asked["commit"] == config["import"]["commit"]
    assert len(asked["files"]) == 39
    assert asked["files"]["v2/logs/k80/mnist_mlp_tensorflow.csv"].startswith("2fd44afb98b2")


def test_files_that_logs_are_read_with_are_fetched_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str] = {}
    monkeypatch.setattr(sources, "fetch", lambda repository, commit, files, cache: asked.update(files) or tmp_path)
    config = definition.read("lambda-gpus", {})[1]
    import_logs.folder_of(config, None)
    assert sorted(asked) == [
        f"pytorch/pytorch-train-{what}-{precision}.csv"
        for what in ("bs", "throughput", "throughput-v2")
        for precision in ("fp16", "fp32")
    ]
    assert asked["pytorch/pytorch-train-bs-fp16.csv"] == config["import"]["also"]["pytorch-train-bs-fp16.csv"]


def test_tables_of_throughput_become_facts(tmp_path: Path) -> None:
    (tmp_path / "throughput-fp16.csv").write_text("name,resnet50\nRTX 3090,905.0\n")
    about = {"format": "throughput_table", "hardware": {"*/RTX 3090": "k80"}, "framework": {".": "torch"}}
    assert imported(study(tmp_path, **about, columns={"resnet50": "resnet50"}), tmp_path / "facts.csv") == 0
    (row,) = facts.read(tmp_path / "facts.csv").to_dict("records")
    assert [row[key] for key in ("workload", "precision", "samples_per_second")] == ["resnet50", "float16", 905.0]
