"""Files from the network: whole and checked, or not there, and in bounded time whatever the other side does."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

import pooch

from scripts.storage.files import replacing

#: Less than so many bytes in so many seconds is no download: libraries know a limit for each read only, and a byte a
#: second would pass it for days.
LEAST_BYTES, STALL_SECONDS = 64 * 1024, 60.0

#: For an answer to begin (s).
_TIMEOUT_SECONDS = 30

#: Between two looks (s).
_LOOK_SECONDS = 0.2

#: More than any file that is fetched here holds, unpacked: a host may send without an end, or a little that unpacks to
#: all of a disk.
MOST_BYTES = 2**30

#: Read at a time, as it is sent: packed by gzip it may be a thousand times as much.
_CHUNK_BYTES = 16 * 1024


_Result = TypeVar("_Result")

# requests is imported where something is fetched: trainings, which find their data on the disk, start without it.


class NotFetched(Exception):
    """Why a file could not be fetched, in a few words."""


class Patience:
    """Ends when what grows, `size` (bytes), has hardly grown for a while, or to more than any download holds."""

    def __init__(self, size: Callable[[], int]) -> None:
        self._size = size
        self._before, self._since = 0, monotonic()

    def check(self) -> None:
        """Raise NotFetched if it has ended."""
        now = self._size()
        if now > MOST_BYTES:
            raise NotFetched(f"more than {MOST_BYTES / 2**20:.0f} MiB")
        if monotonic() - self._since < STALL_SECONDS:
            return
        if now - self._before < LEAST_BYTES:
            raise NotFetched(f"less than {LEAST_BYTES // 1024} KiB in {STALL_SECONDS:g} s")
        self._before, self._since = now, monotonic()


def fetch(url: str, path: Path, checksum: str | None = None) -> None:
    """Write what is at `url` to `path`; a file that is there already with that `checksum` (`sha256:...`) is kept.

    Raises NotFetched with the reason, InputError if `path` cannot be written.
    """
    algorithm, _, expected = (checksum or "").partition(":")
    if checksum and path.is_file() and pooch.file_hash(str(path), alg=algorithm) == expected:
        return
    with replacing(path) as temporary:
        patience, given_up = Patience(lambda: temporary.stat().st_size), Event()
        copied = _started(lambda: _copy(url, temporary, given_up))
        try:
            while not wait([copied], _LOOK_SECONDS).done:
                patience.check()
        finally:
            given_up.set()
        copied.result()
        if checksum and (found := pooch.file_hash(str(temporary), alg=algorithm)) != expected:
            raise NotFetched(f"{algorithm} is {found}, must be {expected}")


def answers(url: str, limit_seconds: float) -> bool:
    """Return whether there is something at `url`, within so many seconds."""
    import requests

    asked = _started(lambda: requests.head(url, timeout=limit_seconds, allow_redirects=True).ok)
    wait([asked], limit_seconds)
    try:
        return asked.done() and asked.result()
    except (requests.RequestException, ValueError):
        return False


def _started(work: Callable[[], _Result]) -> Future[_Result]:
    """Return the result to be of `work`, in a thread that nobody waits for when this process ends."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # it is raised where the result is asked for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _copy(url: str, temporary: Path, given_up: Event) -> None:
    """Download to a file until somebody has `given_up`.

    Raises NotFetched, also for what ends before its announced length, and for more than `MOST_BYTES`.
    """
    import requests

    asked = {"Accept-Encoding": "identity"}
    try:
        with (
            requests.get(url, timeout=_TIMEOUT_SECONDS, stream=True, headers=asked) as response,
            temporary.open("wb") as file,
        ):
            response.raise_for_status()
            if "," in response.headers.get("Content-Encoding", ""):
                raise NotFetched("it is packed more than once")
            for chunk in response.iter_content(_CHUNK_BYTES):
                file.write(chunk)
                file.flush()
                if file.tell() > MOST_BYTES:
                    raise NotFetched(f"more than {MOST_BYTES / 2**20:.0f} MiB")
                if given_up.is_set():
                    return
    except requests.HTTPError as error:
        raise NotFetched(f"status {error.response.status_code}") from error
    except (requests.RequestException, ValueError) as error:  # ValueError: an address that is none
        raise NotFetched(type(error).__name__) from error
