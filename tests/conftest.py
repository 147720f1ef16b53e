"""A copy of the project in an empty folder, with a study small enough to train in a test."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

#: Two workloads on two frameworks, one core, made-up data: four cells of some seconds.
TINY = """
title: Tiny <b>study</b> & "quotes"
data: synthetic
workloads: [mnist_mlp, imdb_fasttext]
hardware: [cpu1]
frameworks: [jax, tensorflow]
scale: {samples: 0.02, epochs: 2}
base: {hardware: cpu1, framework: tensorflow}
"""


@dataclass(frozen=True)
class Project:
    """A copy of the project at `path`."""

    path: Path

    def run(self, *command: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess:
        """Run a command in the project, with this Python first on the path."""
        done = subprocess.run(
            command, cwd=self.path, env=self.environment(**variables), capture_output=True, text=True, timeout=900
        )
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
        """Return the run record of a cell's first run."""
        return json.loads((self.path / "results" / study / cell / "r1" / "run.json").read_text())


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
    (path / "config" / "studies" / "tiny.yaml").write_text(TINY)
    return Project(path)


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """The project as cloned, nothing trained."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="session")
def tiny_study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project with the tiny study complete, shared by all tests: not to be changed."""
    project = copy_project(tmp_path_factory.mktemp("trained") / "project")
    project.snakemake()
    return project


@pytest.fixture
def trained(tiny_study: Project, tmp_path: Path) -> Project:
    """A copy of the project in which the tiny study is complete."""
    shutil.copytree(tiny_study.path, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


def frameworks_here() -> list[str]:
    """Return the frameworks that are installed."""
    return [name for name in ("tensorflow", "jax", "torch") if find_spec(name)]
