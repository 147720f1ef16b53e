"""One training at a time of each run: a second one waits for the first, and takes its record."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.measurement import attempt
from scripts.storage.files import locked

#: Where locks lie: beside no record, as what is killed leaves them there. On a shared file system all nodes see them.
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "trainings"


@contextmanager
def exclusive(output: Path, folder: Path = FOLDER) -> Iterator[bool]:
    """Yield when no other process trains into `output`: whether there was one to wait for.

    A training outlives a Snakemake that is killed, and the next call would train the same run beside it. The lock is
    the kernel's: it ends with the process, however that ends.
    """
    lock = folder / f"{hashlib.sha256(str(output.resolve()).encode()).hexdigest()[:24]}.lock"
    with locked(lock, wait=False) as held:
        if held is not None:
            yield False
            return
    attempt.log(f"another process trains {output}: waiting for it")
    with locked(lock):
        yield True
