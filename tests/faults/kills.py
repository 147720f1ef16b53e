"""Calls of the workflow that make a report: killed at some moment and made once more, without disk, two at once."""

import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.conftest import copy_project, made_once
from tests.faults import trial

#: A published study with costs and charts of each kind, small.
STUDY = "gpus-2017"

#: Strays of a process that was killed are younger than this when it is done once more at once.
_YOUNG_SECONDS = 3.0


#: The rules whose output is made anew, and all that follows from it.
RULES = ("collect_facts", "price", "chart", "report")


def _complete() -> Path:
    """Return a copy of the project in which the study is complete, for all kinds."""

    def make(folder: Path) -> None:
        copy_project(folder)
        _snakemake(folder).wait()

    return made_once("faults-complete", make)


def _snakemake(folder: Path, *arguments: str, preexec: Callable[[], None] | None = None) -> subprocess.Popen:
    command = ["snakemake", "--profile", "profiles/local", "--config", f"study={STUDY}", *arguments]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.Popen(
        command, cwd=folder, env=environment, start_new_session=True, text=True, preexec_fn=preexec,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file of the study, logs left out; strays, too, are files."""
    study = folder / "results" / STUDY
    files = (path for path in sorted(study.rglob("*")) if path.is_file() and "logs" not in path.parts)
    return {str(path.relative_to(study)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def kill(folder: Path, rng: Random, seconds: float, whole: dict[str, str]) -> trial.Fault:
    """Return a moment within a call of so many seconds at which all of it, or Snakemake alone, is killed."""
    rule = rng.choice(RULES)
    how = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    all_of_it = rng.random() < 0.7
    moment = rng.uniform(0, seconds)
    what = f"{how.name} to {'all of it' if all_of_it else 'Snakemake alone'} {moment:.1f} s into {rule}"

    def run() -> None:
        process = _snakemake(folder, "--forcerun", rule)
        time.sleep(moment)
        if process.poll() is None:
            os.killpg(process.pid, how) if all_of_it else os.kill(process.pid, how)
        process.communicate(timeout=120)
        again = _snakemake(folder)
        said, _ = again.communicate(timeout=240)
        assert again.returncode == 0, said[-500:]
        found = checksums(folder)
        lost = {name for name in whole if name not in found}
        other = {name for name in whole if name in found and whole[name] != found[name]}
        strays = {name for name in found if name not in whole}
        if strays and not lost and not other:
            # The next call that writes the file takes them away.
            time.sleep(_YOUNG_SECONDS)
            _snakemake(folder, "--forcerun", rule).communicate(timeout=240)
            strays = {name for name in checksums(folder) if name not in whole}
        assert not lost | other | strays, f"lost {lost}, other {other}, strays {strays}"

    return what, run


#: Largest sizes of a file (bytes) with which Snakemake works, and a table, a chart or the page cannot be written.
_SIZES = (20_000, 40_000, 80_000, 160_000)


def full_disk(folder: Path, rng: Random, whole: dict[str, str]) -> trial.Fault:
    """Return a report that is made anew where no file may be larger than so many bytes, as on a disk that is full."""
    rule, most = rng.choice(RULES), rng.choice(_SIZES)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    def run() -> None:
        process = _snakemake(folder, "--forcerun", rule, preexec=limit)
        said, _ = process.communicate(timeout=240)
        assert process.returncode != 0, "there was room for all"
        assert "Traceback" not in said, said[-1500:]
        assert any(line.startswith("error: ") for line in said.splitlines()), said[-500:]
        left = checksums(folder)
        other = {name for name in left if left[name] != whole.get(name)}
        assert not other, f"half-written or left: {other}"
        again = _snakemake(folder)
        said, _ = again.communicate(timeout=240)
        assert again.returncode == 0, said[-500:]
        assert checksums(folder) == whole

    return f"{rule}: no file above {most} bytes", run


def at_once(folder: Path, rng: Random, whole: dict[str, str]) -> trial.Fault:
    """Return two calls of the same study, the second while the first one runs."""
    rule = rng.choice(RULES)
    moment = rng.uniform(0.5, 6)

    def run() -> None:
        first = _snakemake(folder, "--forcerun", rule)
        time.sleep(moment)
        second = _snakemake(folder, "--forcerun", rule)
        said = [process.communicate(timeout=240)[0] for process in (first, second)]
        assert first.returncode == 0 or second.returncode == 0, said[0][-300:]
        for process, words in zip((first, second), said, strict=True):
            assert process.returncode == 0 or words.strip(), "exited without output"
        assert _snakemake(folder).wait() == 0
        assert checksums(folder) == whole

    return f"a second call {moment:.1f} s into {rule}", run


def _whole(folder: Path) -> dict[str, str]:
    """Return the files of the study, which is complete in `folder`."""
    shutil.copytree(_complete(), folder, symlinks=True, dirs_exist_ok=True)
    whole = checksums(folder)
    assert "report.html" in whole
    return whole


def killed(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield calls that are killed."""
    whole = _whole(folder)
    start = time.perf_counter()
    _snakemake(folder, "--forcerun", "price").wait()
    seconds = time.perf_counter() - start
    assert checksums(folder) == whole, "the same bytes each time"
    while True:
        yield kill(folder, rng, seconds, whole)


def full(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield full disks."""
    whole = _whole(folder)
    while True:
        yield full_disk(folder, rng, whole)


def twice(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield second calls."""
    whole = _whole(folder)
    while True:
        yield at_once(folder, rng, whole)


KINDS = [
    trial.Kind("report killed, then made again", 100, killed, limit_seconds=900),
    trial.Kind("report on a full disk", 10, full, limit_seconds=900),
    trial.Kind("two reports at once", 10, twice, limit_seconds=900),
]
