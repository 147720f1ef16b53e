"""What one's own machine lacks, through the profile that keeps Snakemake's log off the screen."""

from pathlib import Path

import pytest

from tests.conftest import Project
from tests.first_hour.conftest import Ended
from tests.reading import Read

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

#: Hides a package, as where another version of the locks was set up.
OLD = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "jax":
            raise ModuleNotFoundError("No module named 'jax'")
sys.meta_path.insert(0, Finder())
"""


def test_packages_that_are_not_those_of_the_locks(fresh: Project, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(OLD)
    fresh.edit("config/studies/tiny.yaml", "framework: tensorflow}", "framework: jax}")
    words = ("--profile", "local", "--config", "study=tiny", "workloads=[mnist_mlp]", "frameworks=[jax]")
    done = fresh.run("snakemake", *words, check=False, PYTHONPATH=str(tmp_path))
    ended = Ended(done.returncode, done.stdout + done.stderr)
    ended.is_refused("No module named 'jax'", "make report")
    assert "log: results/tiny/mnist_mlp/cpu1/jax/b128/r1/train.log" in ended.last_screen


def test_missing_compiler_is_a_warning_on_the_page_and_a_cell_of_its_own(fresh: Project) -> None:
    """It is no refusal: PyTorch's graph is trained as it is, and nothing is compared with what was compiled."""
    fresh.edit("config/studies/tiny.yaml", "framework: tensorflow}", "framework: torch}")
    words = ("study=tiny", "workloads=[mnist_mlp]", "frameworks=[torch]", "modes=[stock,tuned]")
    fresh.run("snakemake", "--profile", "local", "--config", *words, CXX="no-such-compiler")
    read = Read((fresh.path / "results/tiny/report.html").read_text())
    assert [row[1] for row in read.rows["cells"][1:]] == ["PyTorch · 1 vCPU", "PyTorch · 1 vCPU · tuned, not compiled"]
    assert "not compiled (InvalidCxxCompiler)" in read.text
    assert "tuned, not compiled over stock" in read.text
    assert "tuned over stock" not in read.text
