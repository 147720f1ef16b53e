"""The file in which records travel is whole at any moment, and holds nothing else."""

import resource
import signal
import zipfile
from pathlib import Path

import pytest

from scripts.kit import records
from scripts.storage.errors import InputError

RUN = "mnist_mlp/h100/jax/b128-tuned/r1"
BEGUN = {records.ABOUT: b"{}", records.MACHINE: b"h100: {}"}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "records.zip"
    records.add(path, BEGUN)
    return path


def test_what_is_added_is_read_by_run(archive: Path) -> None:
    records.add(archive, {f"{RUN}/run.json": b"{}", f"{RUN}/epochs.csv": b"epoch"})
    records.add(archive, {f"{RUN.replace('r1', 'r2')}/{records.cut_name(83.4)}": b""})
    runs, beside = records.read(archive)
    assert runs[RUN] == {"run.json": b"{}", "epochs.csv": b"epoch"}
    assert [records.cut_seconds(name) for name in runs[RUN.replace("r1", "r2")]] == [83.0]
    assert beside == BEGUN


def test_a_run_that_is_cut_twice_as_late_is_noted_once(archive: Path) -> None:
    for _ in range(2):
        records.add(archive, {f"{RUN}/cut-83": b""})
    with zipfile.ZipFile(archive) as packed:
        assert packed.namelist().count(f"{RUN}/cut-83") == 1


@pytest.mark.parametrize(
    "name",
    [
        "../run.json",
        "/etc/run.json",
        "a/../../b128/r1/run.json",
        f"{RUN}/../r2/run.json",
        f"{RUN}/notes.txt",
        f"{RUN}/run.json.sh",
        "=cmd/h100/jax/b128/r1/run.json",
        "mnist_mlp/../jax/b128/r1/run.json",
        "mnist_mlp/h100/jax/b128;x/r1/run.json",
    ],
)
def test_other_files_are_refused_by_name(archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(name, b"")
    with pytest.raises(InputError, match="is not a file of a kit's records"):
        records.read(archive)


@pytest.mark.parametrize("kept", [0, 10, 200, -1])
def test_a_file_that_was_cut_is_refused_in_a_line(archive: Path, kept: int) -> None:
    records.add(archive, {f"{RUN}/run.json": bytes(range(256)) * 40})
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(InputError, match="not a whole file of records") as told:
        records.read(archive)
    assert "\n" not in str(told.value)


def test_flipped_bytes_are_never_read_as_a_record(archive: Path) -> None:
    content = b"0123456789" * 500
    records.add(archive, {f"{RUN}/run.json": content})
    whole = archive.read_bytes()
    refused = 0
    for place in range(0, len(whole), 7):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            runs, _ = records.read(archive)
            assert {files.get("run.json", content) for files in runs.values()} <= {content}
        except InputError:
            refused += 1
    assert refused > 5


def test_a_zip_that_no_kit_wrote_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr(f"{RUN}/run.json", b"{}")
    with pytest.raises(InputError, match=r"kit\.json is missing"):
        records.read(tmp_path / "other.zip")
    with pytest.raises(InputError, match="No such file"):
        records.read(tmp_path / "none.zip")


def test_what_unpacks_to_more_than_a_record_is_refused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_MEMBER_BYTES", 1000)
    records.add(archive, {f"{RUN}/train.log": b"0" * 1001})
    with pytest.raises(InputError, match="1001 bytes are more than a record holds"):
        records.read(archive)


def test_a_file_beyond_its_limit_stays_as_it_was(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = archive.read_bytes()
    monkeypatch.setattr(records, "RECORDS_BYTES", len(before) + 10)
    with pytest.raises(InputError, match="are allowed"):
        records.add(archive, {f"{RUN}/run.json": b"{}"})
    assert archive.read_bytes() == before
    assert list(archive.parent.iterdir()) == [archive]


def test_a_full_disk_leaves_the_file_as_it_was(archive: Path) -> None:
    before, limits = archive.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(InputError, match="cannot be written"):
            records.add(archive, {f"{RUN}/run.json": b"{}"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert archive.read_bytes() == before
    assert list(archive.parent.iterdir()) == [archive]
