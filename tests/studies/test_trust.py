"""Code that a study brings along runs when its content was trusted once, and never before."""

from pathlib import Path

import pytest

from scripts.records import about
from scripts.storage import environment
from scripts.storage.errors import InputError
from scripts.studies import definition, grid, trust

CATALOGUE = {"cpu1": {"label": "one core", "machine": {"cores": 1}, "local": True}}
STUDY = """
title: Mine
data: synthetic
workloads: [{file}]
hardware: [cpu1]
frameworks: [jax]
base: {{hardware: cpu1, framework: jax}}
charts: [relative_time]
"""
OWN = """
DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None
def prepare(arrays): ...
def build(split): ...
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with a file of code of its own, in a clone where nothing was trusted."""
    monkeypatch.setattr(trust, "KNOWN", tmp_path / ".cache" / "trusted")
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setenv(environment.TRUST.name, "")
    (tmp_path / "my_net.py").write_text(OWN)
    (tmp_path / "mine.yaml").write_text(STUDY.format(file=tmp_path / "my_net.py"))
    return tmp_path / "mine.yaml"


def asked(study: Path) -> None:
    """Ask as a call of Snakemake does before anything is trained."""
    trust.check(study, definition.read(str(study), {})[1]["workload_files"])


def refusal(study: Path) -> str:
    with pytest.raises(InputError) as said:
        asked(study)
    return str(said.value)


def test_a_study_is_read_without_a_question_and_without_its_code(mine: Path) -> None:
    ran = mine.with_name("ran")
    (mine.parent / "my_net.py").write_text(f"{OWN}open({str(ran)!r}, 'w')\n")
    name, config = definition.read(str(mine), {})
    assert [cell.epochs for cell in grid.planned(name, config, CATALOGUE).cells] == [1]
    assert not ran.exists()


def test_what_is_refused_is_shown_with_what_to_type(mine: Path) -> None:
    said = refusal(mine)
    assert f"{mine.parent}/my_net.py (4 lines)" in said
    word = trust.checksum({"my_net": str(mine.parent / "my_net.py")})
    assert said.endswith(f"./epd report {mine} --config trust={word}")
    assert not mine.with_name(".cache").exists()


def test_it_is_asked_once_and_again_for_other_content(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word = refusal(mine).rpartition("trust=")[2]
    environment.TRUST.write(word)
    asked(mine)
    environment.TRUST.write("")
    asked(mine)  # it is known by now
    assert environment.TRUST.read() == word, "for what this process starts, also on another machine"
    (mine.parent / "my_net.py").write_text(OWN + "import os\n")
    other = refusal(mine).rpartition("trust=")[2]
    assert other != word
    environment.TRUST.write(f"{word},{other}")
    asked(mine)
    assert trust.KNOWN.read_text().split() == [word, other]


def test_all_is_trusted_where_somebody_says_so_and_nothing_kept(mine: Path) -> None:
    environment.TRUST.write("all")
    asked(mine)
    environment.TRUST.write("")
    assert "trust=sha256-" in refusal(mine)


@pytest.mark.parametrize("word", ["yes", "sha256-", "sha256-0000000000000000", "ALL", " "])
def test_another_word_trusts_nothing(mine: Path, word: str) -> None:
    environment.TRUST.write(word)
    assert "trust=sha256-" in refusal(mine)


def test_a_checksum_is_of_names_and_contents(tmp_path: Path) -> None:
    one, two = (str(tmp_path / name) for name in ("a.py", "b.py"))
    Path(one).write_text("1")
    Path(two).write_text("2")
    different = ({"a": one}, {"b": one}, {"a": two}, {"a": one, "b": two}, {"a": two, "b": one})
    assert len({trust.checksum(files) for files in different}) == len(different)
    assert trust.checksum({"b": two, "a": one}) == trust.checksum({"a": one, "b": two})


def test_a_study_of_the_projects_workloads_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(environment.TRUST.name, "")
    asked(Path("smoke"))
    assert environment.TRUST.read() == ""
