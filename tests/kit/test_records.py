"""The file in which records travel is whole at any moment, and holds nothing else."""

import json
import os
import resource
import signal
import zipfile
from pathlib import Path

import pytest

from scripts.kit import records
from scripts.storage.errors import InputError

RUN = "mnist_mlp/h100/jax/b128-tuned/r1"
BEGUN = {records.ABOUT: b"{}", records.MACHINE: b"h100: {}"}

#: What a kit says of itself, and its machine's entry.
ABOUT = {
    "study": "card",
    "commit": ["0" * 40, False],
    "code": "1",
    "made_at": "2026-11-20",
    "python": "3.12",
    "workload_files": {},
}
ENTRY = b"# Found by a kit: H100\nh100: {label: H100, machine: {cores: 26}, clusters: {kit: {}}}\n"


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
    with pytest.raises(InputError, match="not a whole file of records") as refused:
        records.read(archive)
    assert "\n" not in str(refused.value)


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
    monkeypatch.setitem(records._MOST_BYTES, "train.log", 1000)
    records.add(archive, {f"{RUN}/train.log": b"0" * 1001})
    with pytest.raises(InputError, match="1001 bytes are more than a record holds"):
        records.read(archive)


@pytest.mark.slow
def test_what_unpacks_to_more_than_records_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gigabyte of zeros in a megabyte of ZIP."""
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        for repeat in range(1, 33):
            packed.writestr(f"{RUN[:-1]}{repeat}/train.log", bytes(32 * 2**20))
    assert bomb.stat().st_size < 2 * 2**20
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(InputError, match="1024 MiB unpacked are more than records hold"):
        records.read(bomb)


def test_a_zip_that_is_larger_than_records_is_refused(archive: Path) -> None:
    with archive.open("ab") as file:
        file.truncate(records.RECORDS_BYTES + 1)
    with pytest.raises(InputError, match=r"16\.0 MiB, and records weigh 16 at most"):
        records.read(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", [f"{RUN}/run.json", records.ABOUT])
def test_a_file_that_is_there_twice_is_refused(archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(name, b"1")
        packed.writestr(name, b"2")
    with pytest.raises(InputError, match=f"{name} is there twice"):
        records.read(archive)


def test_a_pipe_and_another_compression_are_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_LZMA) as packed:
        packed.writestr(f"{RUN}/run.json", b"{}")
    with pytest.raises(InputError, match="is compressed in another way"):
        records.read(archive)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not a file"):
        records.read(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"study": "/any/mine.yaml"}, "study: '/any/mine.yaml' does not match"),
        ({"study": "mine.yaml"}, "study: 'mine.yaml' does not match"),
        ({"study": "../card"}, "study: '../card' does not match"),
        ({"study": "card\n"}, "study: .* does not match"),
        ({"study": ["card"]}, "study: .* is not a text"),
        ({"study": None}, "study: is empty"),
        ({"code": 1}, "code: 1 is not a text"),
        ({"commit": ["0", 1]}, r"commit\[1\]: 1 is not true or false"),
        ({"commit": ["0"]}, "commit: .* is too short"),
        ({"workload_files": {"w": "/any/w.py"}}, "workload_files.w: '/any/w.py' does not match"),
        ({"workload_files": []}, "workload_files: .* is not a mapping"),
        ({"extra": 1}, "'extra' is unknown"),
        ({"made_at": "2026"}, "made_at: '2026' does not match"),
    ],
)
def test_what_no_kit_says_of_itself_is_one_line(change: dict, message: str) -> None:
    with pytest.raises(InputError, match=rf"^records\.zip: kit\.json: {message}"):
        records.about(json.dumps(ABOUT | change).encode(), "records.zip")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"1", b"null", b"\xff", b'{"study": "a", "study": "b"}', b"[" * 10**5, b"NaN"]
)
def test_what_is_no_kit_json_is_one_line(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^records\.zip: kit\.json: "):
        records.about(content, "records.zip")
    assert records.about(json.dumps(ABOUT).encode(), "records.zip") == ABOUT


@pytest.mark.parametrize(
    "content",
    [b"", b"h100: {}", b"a: [", b"\xff", ENTRY.replace(b"h100:", b"../h:"), ENTRY + ENTRY.replace(b"h100:", b"b:")],
)
def test_what_is_no_entry_of_one_machine_is_one_line(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^records\.zip: machine\.yaml: "):
        records.machine(content, "records.zip")
    assert records.machine(ENTRY, "records.zip") == ("h100", ENTRY.decode())


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
