from pathlib import Path

import pandas as pd
import pytest

from scripts.costs import budget
from scripts.importers import facts
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.workflow import known
from tests.made import rows_of

FACTS = {"workload": str, "hardware": str, "train_seconds": float, "epochs_done": int}


@pytest.mark.parametrize("path", sorted(known.FACTS.glob("*.csv")), ids=lambda path: path.stem)
def test_facts_without_a_table_are_those_of_the_table(path: Path) -> None:
    assert known.read_columns(path, FACTS) == rows_of(facts.read(path), FACTS)


def test_published_runs_without_a_table_are_those_of_the_tables() -> None:
    whole = pd.concat([tables.read_csv("runs", file) for file in sorted(known.TABLES.glob("*/runs.csv"))])
    assert known.published_runs() == rows_of(whole, budget.COLUMNS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a\n1\n", "'b'"), ("a,b\n1,many\n", "'many'"), ('a,b\n1,"2\n', "unexpected end"), ("a,b\n1\n", None)],
)
def test_another_file_is_refused_in_a_line(tmp_path: Path, text: str, fault: str | None) -> None:
    """A row that ends early says nothing of what it lacks."""
    path = tmp_path / "runs.csv"
    path.write_text(text)
    if fault is None:
        assert known.read_columns(path, {"a": int, "b": int}) == [{"a": 1, "b": None}]
        return
    with pytest.raises(InputError, match=rf"runs\.csv: has no column or value as expected: .*{fault}"):
        known.read_columns(path, {"a": int, "b": int})


def test_study_without_runs_has_none_to_show() -> None:
    assert known.measured_runs("no-such-study", 3) == []
