"""Whether the call that has locked a folder still lives, wherever it runs: it counts up in a file of the folder.

Only what every file system that machines share can do is used: a file is replaced by renaming (one of two that do so
wins), and read when it is opened. No clock is compared with another machine's, and no lock of the kernel is asked for,
which NFS and Lustre keep only if they are mounted so.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import psutil

from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import read_text, write_text
from scripts.storage.words import printable

#: Between two signs of life, and how many of them may be missed before their call is taken for dead.
BEAT_SECONDS, MISSED = 10.0, 4

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def path(folder: Path) -> Path:
    """Return where the lease of a folder lies."""
    return folder / ".snakemake" / "epochs-lease.json"


def _this_machine() -> str:
    boot = _BOOT.read_text().strip() if _BOOT.is_file() else ""
    return f"{socket.gethostname()} {boot}"


@contextmanager
def held(folder: Path, beat_seconds: float = BEAT_SECONDS) -> Iterator[None]:
    """Give signs of life until this ends."""
    about = {"machine": _this_machine(), "process": os.getpid(), "began": psutil.Process().create_time()}
    file, done = path(folder), Event()

    def write(beat: int) -> None:
        with suppress(InputError, OSError):  # a disk that is full: the next one may be written
            write_text(file, json.dumps(about | {"beat": beat}))

    def repeat() -> None:
        beat = 1
        while not done.wait(beat_seconds):
            beat += 1
            write(beat)

    write(1)
    beating = Thread(target=repeat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join()
        file.unlink(missing_ok=True)


def _read(folder: Path) -> dict | None:
    """Return the lease of a folder, None where there is none that `held` may have written."""
    try:
        found = schemas.read_json(read_text(path(folder)), path(folder))
    except InputError:
        return None
    if not (isinstance(found, dict) and isinstance(found.get("machine"), str) and found["machine"].strip()):
        return None
    numbers = [found.get(name) for name in ("process", "beat")]
    is_one = all(isinstance(number, int) for number in numbers) and isinstance(found.get("began"), (int, float))
    return found if is_one else None


def holder(folder: Path) -> str:
    """Return in words whose lease a folder has; empty without one."""
    found = _read(folder)
    return f"process {found['process']} on {printable(found['machine'].split()[0])}" if found else ""


def is_dead(folder: Path, wait: Callable[[float], None] = time.sleep) -> bool:
    """Return whether a folder has the lease of a call that no longer lives; False without any lease.

    One of this machine is looked for among its processes, one of another is watched for as long as it may be silent.
    """
    first = _read(folder)
    if first is None:
        return False
    if first["machine"] == _this_machine():
        try:
            return abs(psutil.Process(first["process"]).create_time() - first["began"]) > 1
        except (psutil.NoSuchProcess, ValueError, OverflowError):
            return True
    for _ in range(MISSED):
        wait(BEAT_SECONDS)
        if _read(folder) != first:
            return False
    return True


def take_away(folder: Path) -> bool:
    """Remove the lease of a dead call; return whether it was this call, of several that try, that has removed it."""
    aside = path(folder).with_name(f"epochs-lease-of-dead-{socket.gethostname()}-{os.getpid()}.json")
    try:
        os.rename(path(folder), aside)
    except FileNotFoundError:
        return False
    aside.unlink(missing_ok=True)
    return True
