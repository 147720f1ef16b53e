"""Records are read with what follows from them, and those of another version are refused."""

import shutil
from pathlib import Path

import pytest

from scripts.analysis import runs
from scripts.storage.code import code_of
from scripts.storage.errors import InputError
from tests.made import read_run

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "tests" / "records"

WRITTEN = [*sorted(RECORDS.glob("raw/*/run.json")), *sorted((ROOT / "reports" / "accuracy").rglob("run.json"))]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_committed_record_is_read(path: Path) -> None:
    assert runs.row("a", read_run(path))["total_seconds"] >= 0


def test_training_has_what_follows_from_it() -> None:
    run = read_run(RECORDS / "raw" / "trained" / "run.json")
    assert (run["status"], run["final"]["epochs"]) == ("done", 2)
    assert run["samples_per_second"] > 0
    assert run["times"]["train_seconds"] == pytest.approx(
        sum(run["times"][f"{name}_seconds"] for name in ("first_step", "training", "validation"))
    )
    assert any("short warm-up" in warning for warning in run["warnings"])


def test_nothing_that_is_worked_out_later_is_part_of_a_training() -> None:
    made_of = set(map(Path, code_of("scripts.train", "scripts.run_kit")))
    assert Path("scripts/records/record.py") in made_of
    assert not [file for file in made_of if file.parts[1] == "analysis"], "an edit of it would train again"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a record."""
    return Path(shutil.copytree(RECORDS / "raw" / "done", tmp_path / "r1"))


def test_record_of_a_later_version_is_refused_in_one_line(folder: Path) -> None:
    path = folder / "run.json"
    path.write_text(path.read_text().replace('"schema_version": 2', '"schema_version": 3'))
    with pytest.raises(InputError) as error:
        read_run(path)
    refusal = "schema_version: 3, must be 2: a newer version of this project wrote it"
    assert str(error.value) == f"{path}: {refusal}"


@pytest.mark.parametrize("name", ["epochs.csv", "telemetry.csv"])
def test_missing_part_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"r1/{name}: .*No such file"):
        read_run(folder / "run.json")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("epochs.csv", "training_seconds", "seconds", "column training_seconds is missing; needed are epoch, elapsed"),
        ("epochs.csv", ",6000,", ",,", ":2: samples is empty"),
        ("telemetry.csv", "reading_seconds", "reading", ":2: column reading_seconds is missing or empty"),
        ("telemetry.csv", ",train,", ",,", ":8: column stage is missing or empty"),
    ],
)
def test_damaged_part_is_named(folder: Path, name: str, old: str, new: str, message: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    with pytest.raises(InputError, match=rf"r1/{name}:? ?{message}"):
        read_run(folder / "run.json")
