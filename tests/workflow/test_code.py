"""A command's files are found from its imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.workflow.code import code_of
from tests.conftest import ROOT

#: Prints the files of this project that importing a module has read.
LOADED = """
import importlib, sys
importlib.import_module(sys.argv[1])
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print(*(file for file in files if file.startswith(sys.argv[2])))
"""
VERBS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("verb", VERBS)
def test_whatever_a_verb_loads_is_among_its_files(verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, f"scripts.{verb}", f"{ROOT}/scripts/"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {str(Path(file).relative_to(ROOT)) for file in done.stdout.split()}
    assert loaded
    assert loaded <= set(code_of(f"scripts.{verb}"))


def test_imports_inside_functions_and_modules_found_by_name_count() -> None:
    files = set(code_of("scripts.train"))
    assert "scripts/measurement/stopwatch.py" in files, "imported inside a function of the worker"
    assert "scripts/datasets/imdb.py" in files, "imported by its name"
    assert "scripts/frameworks/torch/loop.py" in files, "part of a package that is imported by its name"
    assert "scripts/__init__.py" in files


def test_a_name_that_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scripts\.nothing"):
        code_of("scripts.nothing")
