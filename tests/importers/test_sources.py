from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from scripts.importers import sources
from scripts.storage.errors import InputError

LOG = b"epoch,elapsed,loss\r\n0,1,2\r\n"
SUM = sha256(LOG).hexdigest()
COMMIT = "5b95f46"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on this machine that has one file of a repository."""
    monkeypatch.setenv("no_proxy", "*")
    path = tmp_path / "served" / "who" / "what" / COMMIT / "logs" / "gpu 1" / "a_cntk.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(LOG)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served")))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_files_lie_under_their_own_paths(host: str, tmp_path: Path) -> None:
    folder = sources.fetch("who/what", COMMIT, {"logs/gpu 1/a_cntk.csv": SUM}, tmp_path / "cache", host)
    assert (folder / "logs" / "gpu 1" / "a_cntk.csv").read_bytes() == LOG


def test_what_is_there_is_not_fetched_again(host: str, tmp_path: Path) -> None:
    files = {"logs/gpu 1/a_cntk.csv": SUM}
    folder = sources.fetch("who/what", COMMIT, files, tmp_path, host)
    assert sources.fetch("who/what", COMMIT, files, tmp_path, "http://127.0.0.1:9") == folder


@pytest.mark.parametrize(
    ("path", "checksum", "said"),
    [
        ("logs/none.csv", SUM, r"who/what: logs/none.csv could not be fetched from http\S+ \(status 404\): clone the"),
        (
            "logs/gpu 1/a_cntk.csv",
            "0" * 64,
            r"a_cntk.csv could not be fetched .* \(sha256 is \w+, must be 0{64}\)",
        ),
        ("../../../escape.csv", SUM, "who/what: ../../../escape.csv lies outside the repository"),
        ("/tmp/escape.csv", SUM, "who/what: /tmp/escape.csv lies outside the repository"),
    ],
)
def test_faults_are_refused(path: str, checksum: str, said: str, host: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said) as refused:
        sources.fetch("who/what", COMMIT, {path: checksum}, tmp_path / "cache", host)
    assert "\n" not in str(refused.value)


def test_host_out_of_reach_is_refused(host: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"could not be fetched .* \(ConnectionError\)"):
        sources.fetch("who/what", COMMIT, {"logs/a.csv": SUM}, tmp_path, "http://127.0.0.1:9")


def test_cache_that_cannot_be_written_is_refused(host: str, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InputError, match="cannot be written"):
        sources.fetch("who/what", COMMIT, {"logs/gpu 1/a_cntk.csv": SUM}, tmp_path / "cache", host)
