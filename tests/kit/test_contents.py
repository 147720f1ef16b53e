"""What goes into a kit."""

import json
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest

from scripts import datasets
from scripts.kit import contents
from scripts.records import data_file
from scripts.storage import brought
from scripts.storage.errors import InputError
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("sizes", "room", "level"),
    [([1, 2, 3], 6, 3), ([1, 2, 3], 100, 3), ([1, 2, 3], 5, 2), ([4, 4], 6, 3), ([10], 4, 4), ([], 4, 0)],
)
def test_the_largest_are_cut_to_one_level(sizes: list[int], room: float, level: float) -> None:
    found = contents.level({str(i): float(size) for i, size in enumerate(sizes)}, room)
    assert found == level
    assert sum(min(size, found) for size in sizes) <= room


def test_a_kit_holds_all_that_a_training_imports_and_neither_workflow_nor_report() -> None:
    files = {str(file) for file in contents.code()}
    assert {"scripts/train.py", "scripts/run_kit.py", "scripts/kit/probe.py", "scripts/measurement/worker.py",
            "scripts/frameworks/torch/ranks.py", "scripts/workloads/resnet50.py", "config/hardware.yaml",
            "config/schemas/run.schema.json"} <= files  # fmt: skip
    assert not {file for file in files if file.startswith(("scripts/charts", "scripts/costs", "scripts/importers"))}
    for file in files:
        if file.endswith(".py"):
            assert "import pandas" not in (ROOT / file).read_text(), f"{file}: the workflow's packages are not there"


def test_a_kit_holds_the_machines_that_are_a_persons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "ROOT", tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "hardware.yaml").touch()
    own = Path("config/hardware.local.yaml")
    assert own not in contents.code()
    (tmp_path / own).touch()
    assert own in contents.code()


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """A thousand reviews of fifty words that do not compress."""
    rng = np.random.default_rng(1)
    arrays = {}
    for split in ("train", "test"):
        arrays[f"{split}_lengths"] = np.full(1000, 50, np.int32)
        arrays[f"{split}_labels"] = rng.integers(0, 2, 1000, dtype=np.uint8)
        arrays[f"{split}_tokens"] = rng.integers(0, 2**32, 50_000, dtype=np.uint32)
    about = {"dataset": "imdb", "kind": "real", "train_samples": 1000, "complete_train_samples": 25_000, "sha256": {}}
    np.savez(tmp_path / "imdb.npz", about=np.array(json.dumps(about)), **arrays)
    (tmp_path / "imdb.npz.xz").write_bytes(contents.compress(tmp_path / "imdb.npz"))
    return tmp_path / "imdb.npz"


def test_data_that_fit_stay_whole_and_others_are_cut_to_the_room(reviews: Path) -> None:
    packed = {"imdb": (reviews, reviews.with_suffix(".npz.xz"))}
    size = packed["imdb"][1].stat().st_size
    content, fraction = contents.fit(packed, size)["imdb"]
    assert (lzma.decompress(content), fraction) == (reviews.read_bytes(), 1.0)
    content, fraction = contents.fit(packed, size // 3)["imdb"]
    assert 0.7 * size / 3 < len(content) <= size / 3, "little room is left unused"
    part = reviews.with_name("part.npz")
    part.write_bytes(lzma.decompress(content))
    about = data_file.describe(part)
    assert (about["train_samples"], about["complete_train_samples"]) == (round(1000 * fraction), 25_000)
    arrays = datasets.load(part)
    assert len(arrays["train_tokens"]) == arrays["train_lengths"].sum()
    with np.load(reviews) as whole:
        np.testing.assert_array_equal(arrays["train_tokens"], whole["train_tokens"][: len(arrays["train_tokens"])])


def test_data_of_which_too_little_would_be_left_are_refused(reviews: Path) -> None:
    with pytest.raises(InputError, match=r"data set imdb: .* of it would fit: choose fewer workloads"):
        contents.fit({"imdb": (reviews, reviews.with_suffix(".npz.xz"))}, 2000)


@pytest.mark.parametrize(
    ("given", "is_one"), [("3.12", True), ("3.11-aarch64", True), ("3.14", False), ("3.12-arm", False)]
)
def test_kit_is_for_a_python_and_maybe_for_arm(given: str, is_one: bool) -> None:
    if is_one:
        contents.check_python(given)
        return
    with pytest.raises(InputError, match=r"is not one of 3\.11, 3\.12, 3\.13, nor one of them for ARM: 3\.13-aarch64"):
        contents.check_python(given)


def put(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_kit_holds_what_a_workload_of_ones_own_may_import(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": "1", "other.py": "2", "helper.py": "3", "parts/__init__.py": "4", "notes.txt": "5"})
    put(tmp_path, {".venv/pyvenv.cfg": "6", ".venv/bin/activate.sh": "7"})
    about = {"study": "mine", "commit": None, "python": "3.12", "runs": []}
    workloads = {name: str(tmp_path / f"{name}.py") for name in ("net", "other")}
    about["workload_files"] = {name: f"workloads/{name}.py" for name in workloads}
    said = contents.write(tmp_path / "kit.tar", about, [], {}, workloads)
    assert ", with 2 files from their folders;" in said
    with tarfile.open(tmp_path / "kit.tar") as kit:
        own = {name: kit.extractfile(name).read() for name in kit.getnames() if name.startswith("kit/workloads/")}
    expected = {"net.py": b"1", "other.py": b"2", "helper.py": b"3", "parts/__init__.py": b"4"}
    assert own == {f"kit/workloads/{name}": text for name, text in expected.items()}


def test_two_files_of_one_name_do_not_go_along(tmp_path: Path) -> None:
    put(tmp_path, {"a/net.py": "1", "a/helper.py": "2", "b/other.py": "1", "b/helper.py": "2"})
    workloads = {"net": str(tmp_path / "a" / "net.py"), "other": str(tmp_path / "b" / "other.py")}
    assert len(brought.carried(Path("mine.yaml"), workloads)) == 3
    put(tmp_path, {"b/helper.py": "3"})
    with pytest.raises(InputError, match=r"mine.yaml: .*b/helper\.py: goes along, and .*a/helper\.py has the"):
        brought.carried(Path("mine.yaml"), workloads)
