"""A folder that is read again: only what changed is opened, by a count of the files that are."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.importers import Layout, kept
from scripts.importers.formats import any as any_log
from tests.importers.formats.test_any import mixed
from tests.importers.formats.test_console import PIPELINE
from tests.importers.formats.test_tensorboard import event, write

_LISTENERS: list[list[str]] = []


def _heard(what: str, given: tuple[Any, ...]) -> None:
    if what == "open" and _LISTENERS and isinstance(given[0], (str, os.PathLike)):
        for listener in _LISTENERS:
            listener.append(os.fspath(given[0]))


sys.addaudithook(_heard)


@contextmanager
def opened(folder: Path) -> Iterator[set[str]]:
    """Collect the files of a folder that are opened meanwhile, by Python's own word of it."""
    found: set[str] = set()
    _LISTENERS.append([])
    try:
        yield found
    finally:
        paths = [Path(path) for path in _LISTENERS.pop()]
        found |= {
            path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder) and path.is_file()
        }


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of logs of all kinds, and five consoles beside each other, of yesterday; what is kept lies elsewhere."""
    monkeypatch.setattr(kept, "_FOLDER", tmp_path / "kept")
    folder = mixed(tmp_path / "logs")
    kept.begin(folder)
    (folder / "flat").mkdir()
    for number in range(5):
        (folder / "flat" / f"run-{number}.log").write_text(f"{PIPELINE}# {number}\n")
    for path in folder.rglob("*"):
        os.utime(path, (1e9, 1e9))
    return folder


def rewrite(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1e9 + 60, 1e9 + 60))


def seen(folder: Path) -> tuple[set[str], dict[str, float]]:
    """Read a folder, and return the files that were opened, and the seconds of each run."""
    with opened(folder) as files:
        _, imported = any_log.look(folder, Layout({".": "box"}))
    return files, dict(zip(imported.runs["run"], imported.runs["train_seconds"].fillna(-1.0), strict=True))


def test_a_folder_that_has_not_changed_is_not_read_again(logs: Path) -> None:
    first, runs = seen(logs)
    assert {"flat/run-0.log", "speed/record.log", "prices.csv"} <= first
    assert seen(logs) == (set(), runs)


def test_of_a_folder_in_which_one_log_grows_one_is_read(logs: Path) -> None:
    _, runs = seen(logs)
    rewrite(logs / "flat" / "run-3.log", PIPELINE + "steps: 30 loss: 3.1 iter time (s): 0.200 samples/sec: 64.000\n")
    files, after = seen(logs)
    assert files == {"flat/run-3.log"}
    assert after["flat/run-3"] == pytest.approx(runs["flat/run-3"] + 10 * 0.2)
    assert {name for name in runs if runs[name] != after[name]} == {"flat/run-3"}


def test_a_log_that_is_new_or_gone_changes_no_other(logs: Path) -> None:
    seen(logs)
    rewrite(logs / "flat" / "run-9.log", PIPELINE)
    (logs / "flat" / "run-1.log").unlink()
    files, after = seen(logs)
    assert files == {"flat/run-9.log"}
    assert "flat/run-1" not in after


def test_a_study_of_the_same_folder_reads_it_once_more_and_then_no_more(logs: Path) -> None:
    """The table of `epd import` and the study that it writes have other machines: each keeps its own."""
    seen(logs)
    any_log.read(logs, Layout({".": "h100"}))
    for machine in ("box", "h100"):
        with opened(logs) as files:
            runs = any_log.read(logs, Layout({".": machine})).runs
        assert files == set()
        assert set(runs["hardware"]) == {machine}


@pytest.mark.parametrize(
    ("new", "read_again"),
    [
        ("flat/args.yaml", {f"flat/run-{number}.log" for number in range(5)}),
        ("tracked/mlruns/1/0a1b/metrics/train_loss", {"tracked/mlruns/1/0a1b/meta.yaml"}),
        ("bert/train_results.json", {"bert/checkpoint-10/trainer_state.json"}),
        ("yolo/runs/detect/train/args.yaml", {"yolo/runs/detect/train/results.csv"}),
    ],
)
def test_what_a_log_is_read_with_has_it_read_again(new: str, read_again: set[str], logs: Path) -> None:
    seen(logs)
    text = {"args.yaml": "gpus: 8\n", "train_loss": "1700000000000 0.5 0\n", "train_results.json": "{}"}
    rewrite(logs / new, text[Path(new).name])
    files, _ = seen(logs)
    logs_again = {
        name for name in files if Path(name).suffix in (".log", ".csv", ".json") or name.endswith("meta.yaml")
    }
    assert read_again <= logs_again
    assert logs_again - read_again <= {new, "tracked/mlruns/1/meta.yaml"}


def test_a_state_of_a_trainer_that_comes_later_takes_the_place_of_the_events(logs: Path) -> None:
    write(logs / "gpt" / "runs" / "a", event(0), event(40, 10, train__loss=0.5))
    for path in (logs / "gpt").rglob("*"):
        os.utime(path, (1e9, 1e9))
    assert any(name.startswith("gpt/runs") for name in seen(logs)[1])
    rewrite(
        logs / "gpt" / "checkpoint-10" / "trainer_state.json",
        (logs / "bert/checkpoint-10/trainer_state.json").read_text(),
    )
    assert [name for name in seen(logs)[1] if name.startswith("gpt")] == ["gpt/checkpoint-10/trainer_state"]


def test_a_folder_that_is_not_followed_is_not_kept(logs: Path) -> None:
    kept.forget(logs)
    assert seen(logs) == seen(logs)
    assert list((logs.parent / "kept").iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new"), [('"train_seconds": ', '"train_seconds": 1'), ('"runs": ', '"other": '), ("", "{}")]
)
def test_what_somebody_else_has_kept_is_not_believed(logs: Path, old: str, new: str) -> None:
    """Of the right shape, with another value, a key less, or nothing at all."""
    first, runs = seen(logs)
    (file,) = (logs.parent / "kept").iterdir()
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new) if old else new)
    assert seen(logs) == (first, runs)


def test_what_was_kept_by_other_code_or_is_broken_is_nothing(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, runs = seen(logs)
    (file,) = (logs.parent / "kept").iterdir()
    file.write_text("{broken")
    assert seen(logs) == (first, runs)
    monkeypatch.setattr(kept, "_code", lambda: "another")
    assert seen(logs) == (first, runs)
