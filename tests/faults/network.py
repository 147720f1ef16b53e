"""Downloads from hosts that do all that hosts and networks do: one line in bounded time, and the next call goes on."""

import gzip
import io
import socket
import struct
import sys
import time
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from random import Random
from threading import Thread
from unittest import mock

import pytest

from scripts import datasets, refresh_prices
from scripts.datasets import nietzsche
from scripts.importers import sources
from scripts.kit import fetch_wheels
from scripts.records import data_file
from scripts.storage import downloads
from scripts.storage.errors import InputError
from tests import test_refresh_prices as of_prices
from tests.faults import trial

#: The limits of `downloads`, which wait for minutes, are here so many seconds.
_PATIENCE_SECONDS = 1.5

#: What nothing may take (s): pip asks again and again.
_LIMIT_SECONDS = 40


class Host(ThreadingHTTPServer):
    """A host on this machine with `files` (path -> content), which answers as its `fault` says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.fault = "none"
        self.address = f"http://127.0.0.1:{self.server_port}"
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # who asked has gone


class _Handler(BaseHTTPRequestHandler):
    server: Host

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._head(200, len(self.server.files.get(self.path, b"")))

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        if content is None:
            self._head(404, 0)
        else:
            getattr(self, f"_{self.server.fault}")(content)

    def _head(self, status: int, length: int | None, **headers: str) -> None:
        self.send_response(status)
        kind = "application/octet-stream" if not self.path.endswith("/") else "text/html"
        for name, value in ({"Content-Type": kind} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _none(self, content: bytes) -> None:
        self._head(200, len(content))
        self.wfile.write(content)

    def _end(self) -> None:
        """End the connection with a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _reset(self, content: bytes) -> None:
        self._end()

    def _reset_half_way(self, content: bytes) -> None:
        self._head(200, len(content))
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        self._end()

    def _short(self, content: bytes) -> None:
        self._head(200, len(content))
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True

    def _chunks_cut(self, content: bytes) -> None:
        self.protocol_version = "HTTP/1.1"
        self._head(200, None, Transfer_Encoding="chunked", Connection="close")
        self.wfile.write(b"%x\r\n" % len(content) + content[: len(content) // 2])

    def _endless(self, content: bytes) -> None:
        self._head(200, None)
        with suppress(OSError):  # until who asked has gone
            while True:
                self.wfile.write(content)

    def _gzip(self, content: bytes) -> None:
        packed = gzip.compress(content)
        self._head(200, len(packed), Content_Encoding="gzip")
        self.wfile.write(packed)

    def _gzip_twice(self, content: bytes) -> None:
        packed = gzip.compress(gzip.compress(content))
        self._head(200, len(packed), Content_Encoding="gzip, gzip")
        self.wfile.write(packed)

    def _drip(self, content: bytes) -> None:
        self._head(200, len(content))
        self._slowly(content)

    def _drip_of_headers(self, content: bytes) -> None:
        self._slowly(b"HTTP/1.0 200 OK\r\n" + b"X-Slow: 1\r\n" * 90)

    def _slowly(self, content: bytes) -> None:
        for byte in content:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.2)

    def _silence(self, content: bytes) -> None:
        time.sleep(_LIMIT_SECONDS)

    def _redirects_for_ever(self, content: bytes) -> None:
        self._head(302, 0, Location=self.path)

    def _page(self, content: bytes) -> None:
        page = b"<!doctype html><title>Sign in</title><p>Please sign in to this network, and accept its terms.\n" * 20
        self._head(200, len(page), Content_Type="text/html")
        self.wfile.write(page)

    def _other_bytes(self, content: bytes) -> None:
        self._none(bytes(byte ^ 0x20 for byte in content))

    def _empty(self, content: bytes) -> None:
        self._head(200, 0)

    def _status_500(self, content: bytes) -> None:
        self._head(500, 0)

    def _status_503(self, content: bytes) -> None:
        self._head(503, 0, Retry_After="1")

    def _status_429(self, content: bytes) -> None:
        self._head(429, 0)


#: What a host can do, beside being right, and what tests/storage/test_downloads.py tries within less than a gigabyte.
_NO_FAULTS = ("head", "none", "end", "slowly", "endless", "gzip", "gzip_twice")
FAULTS = sorted(
    name[1:]
    for name in vars(_Handler)
    if name.startswith("_") and not name.startswith("__") and name[1:] not in _NO_FAULTS
)


#: What pip would else have from the machine that it runs on.
_PIP = {"PIP_CONFIG_FILE": "/dev/null", "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "", "PIP_NO_CACHE_DIR": "1"}


@contextmanager
def _impatient() -> Iterator[None]:
    with ExitStack() as stack:
        for limit in ("STALL_SECONDS", "_TIMEOUT_SECONDS"):
            stack.enter_context(mock.patch.object(downloads, limit, _PATIENCE_SECONDS))
        stack.enter_context(mock.patch.dict("os.environ", {"PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "1"}))
        yield


def _data(host: Host, folder: Path) -> Callable[[], None]:
    """A data set, downloaded: the official file, checked, and what is made of it."""
    text = b"Supposing that Truth is a woman - what then?\n" * 3000
    host.files["/nietzsche.txt"] = text
    source = datasets.Source(f"sha256:{sha256(text).hexdigest()}", f"{host.address}/nietzsche.txt")
    output = folder / "real" / "nietzsche.npz"

    def run() -> None:
        with mock.patch.object(nietzsche, "FILES", {"nietzsche.txt": source}):
            datasets.obtain("nietzsche", "real", output, None, folder / "downloads")
        assert data_file.describe(output)["sha256"] == {"nietzsche.txt": sha256(text).hexdigest()}

    return run


def _logs(host: Host, folder: Path) -> Callable[[], None]:
    """Published logs, fetched at their commit."""
    logs = {f"logs/{name}.csv": f"epoch,elapsed,loss\n0,{name},2\n".encode() * 4000 for name in (1, 2)}
    host.files |= {f"/who/what/5b95f46/{path}": log for path, log in logs.items()}
    sums = {path: sha256(log).hexdigest() for path, log in logs.items()}

    def run() -> None:
        found = sources.fetch("who/what", "5b95f46", sums, folder, host.address)
        assert {path: (found / path).read_bytes() for path in logs} == logs

    return run


def _prices(host: Host, folder: Path) -> Callable[[], None]:
    """The price book, refreshed: what cannot be had or used leaves the last one."""
    host.files |= {f"/v8/{cloud}/vms.csv": text.encode() for cloud, text in of_prices.FILES.items()}
    book, wanted = folder / "current.csv", folder / "catalogue.yaml"
    wanted.write_text(of_prices.WANTED)
    words = ["--catalogue", host.address, "--wanted", str(wanted), "--book", str(book)]

    def run() -> None:
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["refresh_prices", *words]), redirect_stdout(said):
            code = refresh_prices.main()
        if code == 1:
            refused = [line for line in said.getvalue().splitlines() if "not refreshed: " in line]
            assert len(refused) == len(of_prices.FILES), said.getvalue()
            assert not book.exists()
            raise InputError(refused[0].strip())
        assert len(book.read_text().splitlines()) == len(of_prices.BOOK.splitlines())

    return run


def _wheels(host: Host, folder: Path) -> Callable[[], None]:
    """The packages of a kit, from an index."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        about = {"METADATA": "Metadata-Version: 2.1\nName: slow\nVersion: 1\n", "WHEEL": "Wheel-Version: 1.0\n"}
        files = {"slow.py": "#" * 200_000} | {f"slow-1.dist-info/{name}": text for name, text in about.items()}
        for name, text in files.items():
            wheel.writestr(name, text)
        record = "".join(
            f"{name},sha256={urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}\n"
            for name, text in files.items()
        )
        wheel.writestr("slow-1.dist-info/RECORD", record)
    digest = sha256(packed.getvalue()).hexdigest()
    name = "slow-1-py3-none-any.whl"
    host.files[f"/{name}"] = packed.getvalue()
    host.files["/simple/slow/"] = f'<!doctype html><a href="/{name}#sha256={digest}">{name}</a>'.encode()
    lock = folder / "a.lock"
    lock.write_text(f"slow==1 \\\n    --hash=sha256:{digest}\n")
    output = folder / "wheels"

    def run() -> None:
        with mock.patch.dict("os.environ", {"PIP_INDEX_URL": f"{host.address}/simple"}):
            fetch_wheels.fetch(lock, "3.12", output)
        assert [path.name for path in output.iterdir()] == [name]

    return run


DOWNLOADS = {"data set": _data, "logs": _logs, "prices": _prices, "wheels": _wheels}


def _meet(host: Host, fault: str, folder: Path, run: Callable[[], None]) -> None:
    host.fault = fault
    before = sorted(folder.rglob("*"))
    if fault == "refused":
        host.server_close()
    with mock.patch.dict("os.environ", _PIP | {"no_proxy": "*"}):
        with _impatient(), pytest.raises(InputError) as refused:
            run()
        assert trial.is_line(str(refused.value)), refused.value
        left = [path.name for path in sorted(folder.rglob("*")) if path not in before and path.is_file()]
        # Of several files those that came whole are kept.
        assert not [name for name in left if not name.endswith((".csv", ".whl"))], f"left {left}"
        assert not [name for name in left if name.startswith(".")], f"left {left}"
        if fault != "refused":
            host.fault = "none"
            run()


def _download(name: str, fault: str, folder: Path) -> None:
    place, host = folder / f"{name} {fault}", Host()
    place.mkdir()
    try:
        _meet(host, fault, place, DOWNLOADS[name](host, place))
    finally:
        host.shutdown()
        host.server_close()


def faults(folder: Path, rng: Random) -> list[trial.Fault]:
    """Return each download with each fault, in no order."""
    pairs = list(product(DOWNLOADS, ("refused", *FAULTS)))
    rng.shuffle(pairs)
    return [(f"{name}: {how.replace('_', ' ')}", partial(_download, name, how, folder)) for name, how in pairs]


KINDS = [trial.Kind("network", None, faults, limit_seconds=_LIMIT_SECONDS)]
