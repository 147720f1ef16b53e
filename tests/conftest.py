"""A copy of the project in an empty folder, with a study small enough to train in a test."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.analysis import runs  # noqa: E402, found by the line above
from scripts.records import stored  # noqa: E402

# How long an example takes is no verdict: the machine may have other work. `make nightly` tries ten times as many.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("nightly", deadline=None, max_examples=200)
settings.load_profile("few")

# What a shell starts in the background ignores Ctrl-C, and so would all that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Some systems forbid it; each process would then compile the project's files anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

CORES = sorted(os.sched_getaffinity(0))

#: Ends what hangs (s): ten times what the longest call of a test takes. No test passes or fails by it.
LIMIT_SECONDS = 1800

#: Which of the test processes this is that run beside each other, None where there is one.
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
if WORKER:
    # A training holds itself to the first core it may use: two at a time must not share it.
    os.sched_setaffinity(0, {CORES[int(WORKER.removeprefix("gw")) % len(CORES)]})

# What all test processes share: what was made once, and what XLA compiled, which is half of the time of JAX's tests.
if "TESTS_SHARED" not in os.environ:
    shared = tempfile.TemporaryDirectory(prefix="epochs-tests-")
    os.environ |= {
        "TESTS_SHARED": shared.name,
        "JAX_COMPILATION_CACHE_DIR": f"{shared.name}/compiled",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }

#: Two workloads on two frameworks, one core, made-up data: four cells of some seconds.
TINY = """
title: Tiny <b>study</b> & "quotes"
data: synthetic
workloads: [mnist_mlp, imdb_bidirectional_lstm]
hardware: [cpu1]
frameworks: [jax, tensorflow]
scale: {samples: 0.02, epochs: 2}
base: {hardware: cpu1, framework: tensorflow}
charts: [relative_cost, relative_time]
"""


@dataclass(frozen=True)
class Project:
    """A copy of the project at `path`."""

    path: Path

    def run(self, *command: str, check: bool = True, cores: int = 1, **variables: str) -> subprocess.CompletedProcess:
        """Run a command in the project, with this Python first on the path; on every core if it needs several."""
        done = subprocess.run(
            command, cwd=self.path, env=self.environment(**variables), capture_output=True, text=True,
            timeout=LIMIT_SECONDS, preexec_fn=on_every_core if cores > 1 else None,
        )  # fmt: skip
        if check:
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def environment(self, **variables: str) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        clean = {key: value for key, value in os.environ.items() if key != "EPOCHS_DATA_DIR"}
        return clean | {"PATH": path, "PYTHONPATH": ""} | variables

    def snakemake(self, *arguments: str, study: str = "tiny") -> list[str]:
        """Run Snakemake and return what it finished, one `rule` or `train <cell>` per job."""
        done = self.run("snakemake", *arguments, "--cores", "all", "--config", f"study={study}")
        return jobs(done.stdout + done.stderr)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text in a file; it must be there."""
        path = self.path / file
        text = path.read_text()
        assert old in text, f"{file} does not hold {old!r}"
        path.write_text(text.replace(old, new))

    def record(self, cell: str, study: str = "tiny") -> dict:
        """Return the record of a cell's first run, with what follows from it."""
        return runs.complete(stored.read(self.path / "results" / study / cell / "r1" / "run.json"))


@pytest.fixture(autouse=True)
def _variables() -> Iterator[None]:
    """Leave no variable of a test to the next one in its process."""
    before = dict(os.environ)
    yield
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the cases of a test that others represent, named by how their ids begin, to `make nightly`.

    What takes long comes first: with it last, one process of three trained for minutes while the others had ended.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    cases: dict[pytest.Function, list[bool]] = {}
    for item in items:
        if (mark := item.get_closest_marker("represented_by")) and isinstance(item, pytest.Function):
            stands = item.callspec.id.startswith(mark.args)
            cases.setdefault(item.function, []).append(stands)
            if not stands:
                item.add_marker(pytest.mark.nightly)
    lost = [function.__qualname__ for function, stand in cases.items() if len(stand) > 1 and not any(stand)]
    if lost:
        raise pytest.UsageError(f"represented by no case: {', '.join(lost)}")


def wait_for(condition: Callable[[], object], process: subprocess.Popen | None = None) -> None:
    """Return when a condition holds; fail where `process`, which is to bring it about, has ended before."""
    end = time.monotonic() + LIMIT_SECONDS
    while not condition():
        # Looked at once more: it may have come true while the process was ending.
        if process and process.poll() is not None and not condition():
            pytest.fail(f"ended with {process.returncode}: {process.communicate()[0]}")
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def on_every_core() -> None:
    os.sched_setaffinity(0, CORES)


def jobs(log: str) -> list[str]:
    """Return the jobs that a log of Snakemake says were started; a training by its cell."""
    started = re.findall(r"^Job \d+: (.+)$", log, re.MULTILINE)
    cells = []
    for message in started:
        training = re.match(r"train (\S+) on (\S+) with (\S+), (\S+), run \d+", message)
        cells.append("train {}/{}/{}/{}".format(*training.groups()) if training else message)
    return sorted(cells)


def copy_project(path: Path) -> Project:
    """Copy what git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, path / name, follow_symlinks=False)
    # What Python compiled of a file stands for each copy of it, as its time and size are the same.
    for compiled in (ROOT / "scripts").rglob("__pycache__/*.pyc"):
        target = path / compiled.relative_to(ROOT)
        if target.parents[1].is_dir():
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(compiled, target)
    (path / "config" / "studies" / "tiny.yaml").write_text(TINY)
    return Project(path)


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """The project as cloned, nothing trained."""
    return copy_project(tmp_path / "project")


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that the first test process to ask for it makes, for all of them."""
    folder = Path(os.environ["TESTS_SHARED"], name)
    with FileLock(f"{folder}.lock"):
        if not (done := folder.with_suffix(".done")).exists():
            make(folder)
            done.touch()
    return folder


def copy_of(folder: Path, path: Path) -> Path:
    """Copy a folder that other test processes may be compiling Python in, without what they are writing just now."""
    return Path(
        shutil.copytree(folder, path, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.pyc.*"))
    )


@pytest.fixture(scope="session")
def tiny_study() -> Project:
    """The project with the tiny study complete, shared by all tests: not to be changed."""
    return Project(made_once("trained", lambda folder: copy_project(folder).snakemake()))


@pytest.fixture
def trained(tiny_study: Project, tmp_path: Path) -> Project:
    """A copy of the project in which the tiny study is complete."""
    return Project(copy_of(tiny_study.path, tmp_path / "project"))


def frameworks_here() -> list[str]:
    """Return the frameworks that are installed."""
    return [name for name in ("tensorflow", "jax", "torch") if find_spec(name)]
