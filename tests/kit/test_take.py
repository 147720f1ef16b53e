"""What a kit brings back is taken in whole, once, and never decides what code runs."""

import errno
import json
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from scripts.kit import records
from scripts.kit import take as taking
from scripts.storage.errors import InputError
from tests.kit.test_records import ABOUT, ENTRY

RECORD = Path(__file__).parents[1] / "records" / "raw" / "trained"
RUN = "mnist_mlp/cpu1/jax/b128/r1"

STUDY = """
title: Mine
data: synthetic
workloads: [mnist_mlp]
hardware: [cpu1]
frameworks: [jax]
scale: {samples: 0.05, epochs: 2}
base: {hardware: cpu1, framework: jax}
charts: [relative_time]
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """A study of the reader's own, of which there is one record."""
    (tmp_path / "mine.yaml").write_text(STUDY)
    return str(tmp_path / "mine.yaml")


def brought(
    path: Path,
    about: dict | None = None,
    entry: bytes = ENTRY.replace(b"h100:", b"cpu1:"),
    number: int = 1,
    **changes,
) -> Path:
    """Return an archive of the record as the run of that number, changed at the top of `run.json`."""
    run = json.loads((RECORD / "run.json").read_text()) | changes
    name = RUN.replace("r1", f"r{number}")
    run |= {"repeat": number, "seed": zlib.crc32(name.encode())}
    files = {file: (RECORD / file).read_bytes() for file in ("epochs.csv", "telemetry.csv")}
    files["run.json"] = json.dumps(run).encode()
    described = json.dumps(ABOUT | {"study": "mine"} | (about or {})).encode()
    records.add(path, {f"{name}/{file}": content for file, content in files.items()})
    records.add(path, {records.ABOUT: described, records.MACHINE: entry})
    return path


def test_records_are_taken_in_once(tmp_path: Path, mine: str) -> None:
    archive, results = brought(tmp_path / "r.zip"), tmp_path / "results"
    assert "1 runs taken" in taking.take(archive, results, mine)
    assert "0 runs taken" in taking.take(archive, results, mine)
    assert (results / "mine" / RUN / "epochs.csv").read_bytes() == (RECORD / "epochs.csv").read_bytes()


@pytest.mark.parametrize(
    "key",
    [
        "peak_memory_mib",
        *(f"times.{part}_seconds" for part in ("import", "data", "build", "total")),
        "clock_seconds",
        "provenance.hardware.memory_mib",
    ],
)
def test_a_record_with_a_whole_number_that_no_float_holds_is_refused(tmp_path: Path, mine: str, key: str) -> None:
    run = json.loads((RECORD / "run.json").read_text())
    *outer, last = key.split(".")
    inside = run
    for name in outer:
        inside = inside[name]
    inside[last] = 10**400
    archive = brought(tmp_path / "r.zip", **run)
    with pytest.raises(InputError, match=rf"{RUN}/run\.json: {key}: 100000000\.\.\. of 401 digits is too large"):
        taking.take(archive, tmp_path / "results", mine)
    assert not (tmp_path / "results" / "mine").exists()


def test_what_a_killed_take_left_half_written_goes_with_the_next(tmp_path: Path, mine: str) -> None:
    """Also where its run has become whole meanwhile, and is not written again."""
    archive, results = brought(tmp_path / "r.zip"), tmp_path / "results"
    taking.take(archive, results, mine)
    run = results / "mine" / RUN
    whole = {path.name for path in run.iterdir()}
    for stray in (".run.json.0123abcd.json", ".epochs.csv.0123abcd.csv"):
        (run / stray).write_text("{")
        os.utime(run / stray, (0, 0))
    assert "0 runs taken" in taking.take(archive, results, mine)
    assert {path.name for path in run.iterdir()} == whole


@pytest.mark.parametrize("path", ["evil.yaml", "{folder}/evil.yaml", "../evil.yaml", "{folder}/evil"])
def test_a_study_that_an_archive_names_by_path_runs_no_code(
    tmp_path: Path, mine: str, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    (tmp_path / "config").symlink_to(Path("config").resolve())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.py").write_text("import sys\nsys.ran = True\n")
    (tmp_path / "evil.yaml").write_text(STUDY.replace("[mnist_mlp]", f"[{tmp_path}/w.py]"))
    archive = brought(tmp_path / "r.zip", {"study": path.format(folder=tmp_path)})
    with pytest.raises(InputError, match=r"kit\.json: study: .* does not match"):
        taking.take(archive, tmp_path / "results", mine)
    assert not hasattr(sys, "ran")
    assert not (tmp_path / "results").exists()


def test_a_link_below_the_results_is_not_followed(tmp_path: Path, mine: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results" / "mine").mkdir(parents=True)
    (tmp_path / "results" / "mine" / "mnist_mlp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="lies outside"):
        taking.take(brought(tmp_path / "r.zip"), tmp_path / "results", mine)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_of_two_at_once_with_other_records_of_a_run_one_is_refused(
    tmp_path: Path, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second begins while the first has looked, and has written nothing."""
    archives = [brought(tmp_path / f"{n}.zip", reason=f"of {n}") for n in "ab"]
    took: dict[str, str] = {}
    written, second = taking.write_bytes, Thread(target=lambda: took.update(b=taken(archives[1])))

    def taken(archive: Path) -> str:
        try:
            return taking.take(archive, tmp_path / "results", mine)
        except InputError as error:
            return str(error)

    def write(*args, **options) -> None:
        if not second.ident:
            second.start()
            second.join(0.2)  # as long as it likes, were there no lock
        written(*args, **options)

    monkeypatch.setattr(taking, "write_bytes", write)
    took["a"] = taken(archives[0])
    second.join()
    assert "1 runs taken" in took["a"]
    assert "is the record of another run: nothing was taken" in took["b"]
    run = json.loads((tmp_path / "results" / "mine" / RUN / "run.json").read_text())
    assert run["reason"] == "of a"


@pytest.mark.parametrize("file", ["epochs.csv", "telemetry.csv", "train.log"])
def test_a_run_that_differs_in_any_file_is_another(tmp_path: Path, mine: str, file: str) -> None:
    results = tmp_path / "results"
    taking.take(brought(tmp_path / "r.zip"), results, mine)
    with (results / "mine" / RUN / file).open("a") as there:
        there.write("\n")
    with pytest.raises(InputError, match=rf"record of another run: nothing was taken; its {file} is another"):
        taking.take(tmp_path / "r.zip", results, mine)


def _link(folder: Path) -> None:
    (folder.parents[5] / "elsewhere").mkdir()
    folder.symlink_to(folder.parents[5] / "elsewhere")


@pytest.mark.parametrize(
    ("hinder", "said"),
    [
        (_link, "lies outside"),
        (
            lambda folder: (folder / "run.json").mkdir(parents=True),
            r"r2/run\.json: cannot be written",
        ),
        (lambda folder: folder.write_text(""), "r2 is not a folder"),
    ],
    ids=["link", "folder", "file"],
)
def test_of_two_runs_none_is_taken_where_the_second_has_no_place(
    tmp_path: Path, mine: str, hinder: Callable[[Path], object], said: str
) -> None:
    (tmp_path / "mine.yaml").write_text(STUDY + "repeats: 2\n")
    results = tmp_path / "results" / "mine"
    second = results / RUN.replace("r1", "r2")
    second.parent.mkdir(parents=True)
    hinder(second)
    brought(tmp_path / "r.zip")
    with pytest.raises(InputError, match=said):
        taking.take(brought(tmp_path / "r.zip", number=2), tmp_path / "results", mine)
    assert not (results / RUN).exists()


def test_what_an_archive_says_of_its_machine_is_shown_without_what_a_terminal_obeys(
    tmp_path: Path, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy("config/hardware.yaml", tmp_path / "hardware.yaml")
    text = (tmp_path / "hardware.yaml").read_text()
    (tmp_path / "hardware.yaml").write_text(text.replace("\ncpu1:", "\nother:"))
    monkeypatch.setattr(taking, "CATALOGUE", tmp_path / "hardware.yaml")
    (tmp_path / "mine.yaml").write_text(STUDY.replace("cpu1", "cpu2"))
    entry = '# \u202egp.exe\ncpu1: {label: "a\\e]52;c;eA==\\ab", machine: {cores: 1}}\n'
    printed = taking.take(brought(tmp_path / "r.zip", entry=entry.encode()), tmp_path / "results", mine)
    assert "lacks cpu1; proposed" in printed
    assert not {"\x1b", "\u202e", "\x07"} & set(printed)


def test_records_of_another_machine_than_is_described_are_refused(tmp_path: Path, mine: str) -> None:
    with pytest.raises(InputError, match=r"is of cpu1, and machine\.yaml describes h100"):
        taking.take(brought(tmp_path / "r.zip", entry=ENTRY), tmp_path / "results", mine)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_two_records_of_a_run_is_refused(tmp_path: Path, mine: str) -> None:
    archive = brought(tmp_path / "r.zip")
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(f"{RUN}/run.json", b"{}")
    with pytest.raises(InputError, match=r"run\.json is there twice"):
        taking.take(archive, tmp_path / "results", mine)


@pytest.mark.parametrize(
    ("policy", "data", "said"),
    [
        ("synthetic", "real", "data real: study mine has synthetic$"),
        ("real", "synthetic", "data synthetic: study mine has real$"),
        ("real-or-synthetic", "own", "data own: study mine has real or synthetic$"),
    ],
)
def test_records_on_other_data_than_the_study_asks_for_are_refused(
    tmp_path: Path, policy: str, data: str, said: str
) -> None:
    (tmp_path / "mine.yaml").write_text(STUDY.replace("data: synthetic", f"data: {policy}"))
    run = json.loads((RECORD / "run.json").read_text())
    changed = {"cell": run["cell"] | {"data": data}, "data": run["data"] | {"kind": data}}
    with pytest.raises(InputError, match=said):
        taking.take(brought(tmp_path / "r.zip", **changed), tmp_path / "results", str(tmp_path / "mine.yaml"))


def test_a_run_beyond_the_repeats_of_the_study_is_refused(tmp_path: Path, mine: str) -> None:
    with pytest.raises(InputError, match=r"/r2: repeat 2: study mine has repeats: 1: say repeats: 2 there, or "):
        taking.take(brought(tmp_path / "r.zip", number=2), tmp_path / "results", mine)


def test_what_was_packed_with_more_repeats_is_taken_with_them(tmp_path: Path, mine: str) -> None:
    archive = brought(tmp_path / "r.zip", number=3)
    with pytest.raises(InputError, match="take it with the same --config KEY=VALUE that it was packed with"):
        taking.take(archive, tmp_path / "results", mine)
    said = taking.take(archive, tmp_path / "results", mine, ["repeats=3"])
    assert said.endswith(f"then: ./epd report {mine} --config repeats=3")
    assert (tmp_path / "results" / "mine" / RUN.replace("r1", "r3") / "run.json").is_file()


def test_what_is_refused_leaves_nothing(tmp_path: Path, mine: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    archive = brought(tmp_path / "r.zip", number=2)
    with pytest.raises(InputError):
        taking.take(archive, tmp_path / "results", mine)
    assert sorted(tmp_path.rglob("*")) == sorted([*before, archive])


@pytest.mark.parametrize("written", range(6))
def test_on_a_disk_that_is_full_midway_nothing_is_taken(
    tmp_path: Path, mine: str, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    archive = brought(tmp_path / "r.zip")
    brought(archive, number=2)
    there = tmp_path / "results" / "mine" / "mnist_mlp" / "notes.txt"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    (tmp_path / "results" / "kit").mkdir()
    (tmp_path / "results" / "kit" / ".take.lock").touch()
    before = sorted(tmp_path.rglob("*"))
    synced = os.fsync
    left = iter(range(2 * written))  # a file and its folder

    def fsync(handle: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(InputError, match="cannot be written: No space left on device: nothing was taken"):
        taking.take(archive, tmp_path / "results", mine, ["repeats=2"])
    assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.undo()
    assert "2 runs taken" in taking.take(archive, tmp_path / "results", mine, ["repeats=2"])


def test_sums_of_the_largest_whole_numbers_are_still_numbers(tmp_path: Path, mine: str) -> None:
    run = json.loads((RECORD / "run.json").read_text())
    times = dict.fromkeys(run["times"], 1e100)
    with pytest.raises(InputError, match=r"times: total_seconds: 1e\+100, and its parts take 3e\+100 s"):
        taking.take(brought(tmp_path / "r.zip", times=times), tmp_path / "results", mine)
