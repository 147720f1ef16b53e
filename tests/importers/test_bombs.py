"""Files of a few lines that stand for billions of values: each is refused or left out, and the others are read."""

import shutil
from pathlib import Path

import pytest

from scripts.importers import Layout, _devices, _logs
from scripts.importers.formats import mlflow
from tests.importers.formats.test_mlflow import META, folder

#: Lists in lists, what `<<` names nine levels deep, and mappings that share their anchors.
BOMBS = {
    "anchors": "a0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 20)}]\n" for n in range(1, 9))
    + "{key}: *a8\n",
    "merged": "a0: &a0 {k0: 1, k1: 1, k2: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10))
    + "{key}: *a9\n",
    "shared": "a0: &a0 {k: 1}\n"
    + "".join(f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(40))}}}\n" for n in range(1, 11))
    + "{key}: *a10\n",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_the_run_of_a_bomb_is_refused_and_the_others_are_read(tmp_path: Path, bomb: str) -> None:
    run = folder(tmp_path) / "mlruns" / "1" / "0a1b"
    shutil.copytree(run, run.with_name("bomb"))
    about = META.format(end=1, stage="active", begin=0, status=3).replace("run_name: bold-fox-12\n", "")
    (run.with_name("bomb") / "meta.yaml").write_text(about + bomb.replace("{key}", "run_name"))
    found = mlflow.read(tmp_path, Layout({".": "box"}))
    assert list(found.runs["name"]) == ["bold-fox-12"]
    (problem,) = map(str, found.problems)
    assert problem.startswith("mlruns/1/bomb/meta.yaml")
    assert "has more than" in problem


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_beside_a_log_says_nothing(tmp_path: Path, bomb: str) -> None:
    for name in ("hparams.yaml", "args.yaml", "config.yml"):
        (tmp_path / name).write_text(bomb.replace("{key}", "devices"))
        assert _logs.beside(tmp_path / name) == {}
        assert _devices._of_file(tmp_path / name) is None
