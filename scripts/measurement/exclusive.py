"""One training at a time of each run: a second one waits for the first, and takes its record."""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.measurement import attempt

#: Where locks lie: beside no record, as what is killed leaves them there. On a shared file system all nodes see them.
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "trainings"


@contextmanager
def exclusive(output: Path, folder: Path = FOLDER) -> Iterator[bool]:
    """Yield when no other process trains into `output`: whether there was one to wait for.

    A training outlives a Snakemake that is killed, and the next call would train the same run beside it. The lock is
    the kernel's: it ends with the process, however that ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(output.resolve()).encode()).hexdigest()[:24]
    with (folder / f"{name}.lock").open("w") as lock:
        waited = False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            attempt.log(f"another process trains {output}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
            waited = True
        yield waited
