"""Constants of files are read as they are written, and no file runs for it."""

import importlib
from pathlib import Path

import pytest

from scripts.records import about
from scripts.records.reference import Reference
from scripts.storage.errors import InputError

PLAIN = "DATASET = None\nBATCH_SIZE = 8\nEPOCHS = 2\nREFERENCE = None\n"


def read(tmp_path: Path, text: str) -> about.Workload:
    about.add({"net": str(written(tmp_path, text))})
    return about.workload("net")


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "net.py").write_text(text)
    return tmp_path / "net.py"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "_ADDED", {})


@pytest.mark.parametrize("name", about.workloads())
def test_what_is_read_of_a_workload_is_what_its_module_holds(name: str) -> None:
    read, module = about.workload(name), importlib.import_module(f"scripts.workloads.{name}")
    assert (read.label, read.dataset, read.batch_size, read.epochs) == (
        module.LABEL,
        module.DATASET,
        module.BATCH_SIZE,
        module.EPOCHS,
    )
    assert read.reference == module.REFERENCE
    assert read.is_learnable is getattr(module, "LEARNABLE", True)
    assert read.summary == module.__doc__.splitlines()[0]
    assert read.grows is getattr(module, "GROWS", False)
    official = importlib.import_module(f"scripts.datasets.{read.dataset}")
    assert about.dataset(read.dataset) == about.Dataset(official.COMPLETE, getattr(official, "COMPLETE_HELD_OUT", None))


@pytest.mark.parametrize("name", about.frameworks())
def test_what_is_read_of_a_framework_is_what_its_package_holds(name: str) -> None:
    package = importlib.import_module(f"scripts.frameworks.{name}")
    assert about.framework(name) == about.Framework(package.LABEL, package.COLOUR)


def test_no_file_runs_to_be_read(tmp_path: Path) -> None:
    there = tmp_path / "ran"
    found = read(tmp_path, f'"""Mine.\n\nMore."""\n{PLAIN}import pathlib\npathlib.Path({str(there)!r}).touch()\n')
    assert (found.label, found.summary, found.batch_size) == ("net", "Mine.", 8)
    assert not there.exists()


def test_a_reference_of_plain_values_is_read(tmp_path: Path) -> None:
    text = PLAIN.replace(
        "REFERENCE = None",
        "import scripts\nREFERENCE = scripts.Reference('loss', (2, 1.5), 'a ' 'paper', first_epoch=3)",
    )
    assert read(tmp_path, text).reference == Reference("loss", (2.0, 1.5), "a paper", first_epoch=3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PLAIN.replace("BATCH_SIZE = 8\n", ""), "net.py: BATCH_SIZE is missing"),
        (PLAIN.replace("= 8", "= 0"), "net.py: line 2: BATCH_SIZE: 0: must be a whole number >= 1"),
        (PLAIN.replace("= 8", "= True"), "net.py: line 2: BATCH_SIZE: True: must be a whole number >= 1"),
        (PLAIN.replace("= 8", "= 2 ** 5"), "net.py: line 2: BATCH_SIZE: must be a whole number >= 1, written out"),
        (PLAIN.replace("= 2", "= int(input())"), "net.py: line 3: EPOCHS: must be a whole number >= 1, written out"),
        (PLAIN.replace("DATASET = None", "DATASET = '../mnist'"), "must be None or one of scripts/datasets"),
        (PLAIN + "EPOCHS = 3\n", "net.py: line 5: EPOCHS: must be set once"),
        (PLAIN + "EPOCHS += 3\n", "net.py: line 5: EPOCHS: must be set once"),
        (PLAIN + "if True:\n    EPOCHS = 3\n", "net.py: line 5: EPOCHS: must be set once"),
        (PLAIN + "from elsewhere import EPOCHS\n", "net.py: line 5: EPOCHS: must be set once"),
        (PLAIN + "def EPOCHS(): ...\n", "net.py: line 5: EPOCHS: must be set once"),
        (PLAIN + "*LABEL, x = 'ab'\n", "net.py: line 5: LABEL: must be set once"),
        (
            PLAIN.replace("E = None", "E = Reference('val_acc', [0.5] * 3, 'a')"),
            "REFERENCE: must be None or Reference(...)",
        ),
        (PLAIN.replace("E = None", "E = Reference('speed', (0.5,), 'a')"), "REFERENCE: must be None or Reference(...)"),
        (PLAIN.replace("E = None", "E = Reference('loss', (0.5,))"), "REFERENCE: must be None or Reference(...)"),
        (PLAIN + "LEARNABLE = 1\n", "net.py: line 5: LEARNABLE: 1: must be True or False"),
        ("def (", "net.py: not Python: "),
        ("(" * 3000, "net.py: not Python: "),
        ("\0", "net.py: not Python: "),
    ],
)
def test_what_cannot_be_read_is_a_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
