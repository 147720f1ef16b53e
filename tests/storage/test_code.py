"""A command's files are found from its imports, and distinguished by what they mean."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.storage import code
from scripts.storage.code import code_of, meaning
from tests.conftest import ROOT

#: Prints for each module the files of this project that importing it reads, each in a fork of a process that has
#: imported what others wrote, as that takes seconds.
LOADED = """
import importlib, json, os, sys
import pandas, plotnine, scipy.stats, snakemake.api
root, verbs = sys.argv[1], sys.argv[2:]
for verb in verbs:
    child = os.fork()
    if not child:
        importlib.import_module(f"scripts.{verb}")
        files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        print(json.dumps([verb, [file for file in files if file.startswith(root)]]), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, verb
"""
VERBS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py") if path.stem != "__init__")


@pytest.mark.slow
def test_whatever_a_verb_loads_is_among_its_files() -> None:
    command = [sys.executable, "-c", LOADED, f"{ROOT}/scripts/", *VERBS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = dict(json.loads(line) for line in done.stdout.splitlines())
    assert sorted(loaded) == VERBS
    for verb, files in loaded.items():
        assert files, verb
        assert {str(Path(file).relative_to(ROOT)) for file in files} <= set(code_of(f"scripts.{verb}")), verb


def test_imports_inside_functions_and_modules_found_by_name_count() -> None:
    files = set(code_of("scripts.train"))
    assert "scripts/measurement/stopwatch.py" in files, "imported inside a function of the worker"
    assert "scripts/datasets/imdb.py" in files, "imported by its name"
    assert "scripts/frameworks/torch/loop.py" in files, "part of a package that is imported by its name"
    assert "scripts/__init__.py" in files


def test_a_name_that_is_no_module_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scripts\.nothing"):
        code_of("scripts.nothing")


#: What Python 3.11 makes of `class A: def f(self): pass`: records of that time have its checksum.
DUMPED = (
    "Module(body=[ClassDef(name='A', bases=[], keywords=[], body=[FunctionDef(name='f', args=arguments(posonlyargs=[], "
    "args=[arg(arg='self')], kwonlyargs=[], kw_defaults=[], defaults=[]), body=[Pass()], decorator_list=[])], "
    "decorator_list=[])], type_ignores=[])"
)


def test_a_meaning_is_the_checksum_of_a_known_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""Words."""\nclass A:\n    def f(self):  # why\n        pass\n')
    assert meaning(tmp_path / "a.py") == hashlib.sha256(DUMPED.encode()).hexdigest()


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_a_meaning_is_the_same_on_every_python(version: str) -> None:
    pythons = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not pythons:
        pytest.skip(f"no Python {version} below ~/.pyenv/versions")
    file = "scripts/storage/code.py"
    program = f"from pathlib import Path; from scripts.storage.code import meaning; print(meaning(Path({file!r})))"
    done = subprocess.run([pythons[-1], "-B", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == meaning(ROOT / file)


@pytest.mark.parametrize(
    ("name", "trains_again"),
    [("helper.py", True), ("package/deep.py", True), ("further.py", True), ("unasked.py", False)],
)
def test_what_a_workload_imports_from_its_folder_trains_it_again(tmp_path: Path, name: str, trains_again: bool) -> None:
    (tmp_path / "package").mkdir()
    for file in ("helper.py", "package/deep.py", "further.py", "unasked.py"):
        (tmp_path / file).write_text("x = 1\n")
    (tmp_path / "package" / "__init__.py").write_text("import further, my_net\n")
    (tmp_path / "my_net.py").write_text("import helper\ndef build(split):\n    from package import deep\n")

    def trained_by() -> str:
        for each in (code.training, code.meaning, code._tree):
            each.cache_clear()
        return code.training(tmp_path / "my_net.py", None, "jax", Path("envs/jax.lock"))

    before = trained_by()
    (tmp_path / name).write_text("x = 2\n")
    assert (trained_by() != before) is trains_again


@pytest.mark.parametrize(
    "content",
    [b'# -*- coding: latin-1 -*-\nx = "\xe4"\n', b"{{ cookiecutter }} is\n", b"x = 1\0", b"-" * 200_000 + b"1"],
)
def test_python_that_is_none_beside_a_workload_counts_by_its_bytes(tmp_path: Path, content: bytes) -> None:
    net, beside = tmp_path / "net.py", tmp_path / "sib.py"
    net.write_text("import sib\n")
    beside.write_bytes(content)

    def checksum() -> str:
        for each in (code.training, code.meaning, code._tree):
            each.cache_clear()
        return code.training(net, None, "jax", Path("envs/jax.lock"))

    first = checksum()
    beside.write_bytes(content + b" \n")
    assert (checksum() == first) == content.startswith(b"#"), "a blank line at the end of Python means nothing"
