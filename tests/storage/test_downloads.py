"""What hosts and networks do is tried in tests/faults/network.py; here is what a call does beside that."""

from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest

from scripts.storage import downloads
from scripts.storage.errors import InputError
from tests.faults.network import Host

TEXT = b"whole\n" * 1000
SUM = f"sha256:{sha256(TEXT).hexdigest()}"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("no_proxy", "*")
    with Host() as host:
        host.files["/a.txt"] = TEXT
        yield host
        host.shutdown()


def test_file_comes_whole_and_is_not_fetched_twice(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    downloads.fetch(f"{host.address}/a.txt", path, SUM)
    assert path.read_bytes() == TEXT
    downloads.fetch("http://127.0.0.1:9/none", path, SUM)
    path.write_bytes(b"cut")
    downloads.fetch(f"{host.address}/a.txt", path, SUM)
    assert path.read_bytes() == TEXT


def test_drip_ends_in_bounded_time_and_leaves_the_old_file(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "STALL_SECONDS", 0.5)
    (tmp_path / "a.txt").write_bytes(b"old")
    host.fault = "drip"
    with pytest.raises(downloads.NotFetched, match=r"less than 64 KiB in 0\.5 s"):
        downloads.fetch(f"{host.address}/a.txt", tmp_path / "a.txt", SUM)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"old")]


@pytest.mark.parametrize("fault", ["endless", "gzip"])
def test_a_host_that_sends_more_than_any_file_is_left(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Without an end, or 100 KiB that unpack to a thousand times as much."""
    monkeypatch.setattr(downloads, "MOST_BYTES", 2**20)
    (tmp_path / "a.txt").write_bytes(b"old")
    host.fault, host.files["/a.txt"] = fault, bytes(100 * 2**20 if fault == "gzip" else 2**16)
    with pytest.raises(downloads.NotFetched, match="more than 1 MiB"):
        downloads.fetch(f"{host.address}/a.txt", tmp_path / "a.txt")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"old")]


def test_a_file_that_is_packed_once_comes_whole_and_twice_is_refused(host: Host, tmp_path: Path) -> None:
    host.fault = "gzip"
    downloads.fetch(f"{host.address}/a.txt", tmp_path / "a.txt", SUM)
    assert (tmp_path / "a.txt").read_bytes() == TEXT
    host.fault = "gzip_twice"
    with pytest.raises(downloads.NotFetched, match="packed more than once"):
        downloads.fetch(f"{host.address}/a.txt", tmp_path / "b.txt")


def test_what_grows_beyond_any_download_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip's folder may, which somebody else writes."""
    patience = downloads.Patience(lambda: downloads.MOST_BYTES + 1)
    with pytest.raises(downloads.NotFetched, match="more than 1024 MiB"):
        patience.check()


def test_who_has_given_up_goes_on_writing_nothing(host: Host, tmp_path: Path) -> None:
    host.fault = "endless"
    given_up = Event()
    given_up.set()
    downloads._copy(f"{host.address}/a.txt", tmp_path / "a.txt", given_up)
    assert (tmp_path / "a.txt").stat().st_size <= downloads._CHUNK_BYTES


def test_slow_download_that_goes_on_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "STALL_SECONDS", 0.0)
    sizes = iter(range(0, 10 * downloads.LEAST_BYTES, downloads.LEAST_BYTES))
    patience = downloads.Patience(lambda: next(sizes))
    with pytest.raises(downloads.NotFetched):
        patience.check()
    patience.check()


@pytest.mark.parametrize("address", ["no address", "ftp://x/y", "http://"])
def test_address_that_is_none(address: str, tmp_path: Path) -> None:
    with pytest.raises(downloads.NotFetched):
        downloads.fetch(address, tmp_path / "a")
    assert not downloads.answers(address, 1.0)


def test_place_that_cannot_be_written(host: Host, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        downloads.fetch(f"{host.address}/a.txt", tmp_path / "file" / "a.txt")


def test_only_what_answers_in_time_answers(host: Host) -> None:
    assert downloads.answers(f"{host.address}/a.txt", 5.0)
    assert not downloads.answers("http://127.0.0.1:9/a.txt", 5.0)


def test_what_has_another_checksum_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "_copy", lambda url, temporary, given_up: temporary.write_bytes(b"other"))
    with pytest.raises(downloads.NotFetched, match=r"sha256 is [0-9a-f]{64}, must be 0{64}"):
        downloads.fetch("https://localhost/a", tmp_path / "a", f"sha256:{'0' * 64}")
    assert list(tmp_path.iterdir()) == []
