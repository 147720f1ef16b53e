"""A folder of logs that grows: read again whenever a log in it is new or has changed, until Ctrl-C."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from scripts.importers._recorder import LOOK_SECONDS
from scripts.importers.formats import any as any_log
from scripts.importers.formats.mlflow import COST

State = dict[Path, tuple[int, int]]


def state(files: Iterable[Path]) -> State:
    """Return size and time of some files; those that are gone are left out."""
    found = {}
    for path in files:
        try:
            about = path.stat()
        except OSError:
            continue
        found[path] = (about.st_size, about.st_mtime_ns)
    return found


def follow(
    folder: Path,
    read: Callable[[int], Iterable[Path] | None],
    wait: Callable[[], None] = lambda: time.sleep(LOOK_SECONDS),
) -> None:
    """Call `read` with the number of files that are new, gone or changed, at once and after each change, until Ctrl-C.

    It returns the files that it wrote itself, which are no change, None where it failed: it is called once more then,
    as a log may have been locked or half written. An empty folder is waited for.
    """
    seen: State = {}
    failed: State | None = None
    try:
        while True:
            now = state(path for path in any_log.candidates(folder, all_of_runs=True) if path.name != COST)
            if changed := len(dict(now.items() ^ seen.items())):
                written = read(changed)
                if written is None and failed != now:
                    failed = now
                else:
                    seen = now | state(path for path in written or () if path in now)
            wait()
    except KeyboardInterrupt:
        return
