"""A new article is one folder: its key, tables, figures and chart are found, and no other file names it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import scripts.articles
from scripts import charts
from scripts.analysis import figures
from scripts.storage.errors import InputError
from scripts.studies import articles, definition
from tests.made import prices, runs

FILES = {
    "__init__.py": "",
    "model.py": """
from scripts.studies.kinds import Count, Part, need


class Coffee(Part):
    \"\"\"What is drunk meanwhile.\"\"\"

    cups: Count = need("A day")


VALUE = Coffee
MEANING = "What is drunk meanwhile"
ALONE = True


def files(study):
    return ["beans.csv"]
""",
    "given.py": "def read(study):\n    return 0.5\n",
    "figures.py": """
import pandas as pd


def tables(study, runs, costs, prices, given):
    return {"coffee": pd.DataFrame({"usd": [study["coffee"]["cups"] * given]})}


def figures(study, derived, given):
    return {"usd_of_coffee": float(derived["coffee"]["usd"].sum())}
""",
    "charts/__init__.py": "",
    "charts/cups.py": "TITLE = 'Cups'\n",
}


@pytest.fixture(autouse=True)
def coffee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The wing with one folder more."""
    wing = tmp_path / "scripts" / "articles"
    wing.mkdir(parents=True)
    for folder in articles.FOLDER.iterdir():
        (wing / folder.name).symlink_to(folder)
    (wing.parent / "charts").symlink_to(articles.FOLDER.parent / "charts")
    for name, text in FILES.items():
        file = wing / "coffee" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(articles, "FOLDER", wing)
    monkeypatch.setattr(scripts.articles, "__path__", [*scripts.articles.__path__, str(wing)])
    yield
    for name in [name for name in sys.modules if name.startswith("scripts.articles.coffee")]:
        del sys.modules[name]


def read(tmp_path: Path, cups: str) -> dict:
    path = tmp_path / "mine.yaml"
    path.write_text(f"{{title: t, coffee: {{cups: {cups}}}, charts: [cups]}}")
    return definition.read(str(path), {})[1]


def test_its_key_is_read_and_its_tables_figures_files_and_chart_are_found(tmp_path: Path) -> None:
    study = read(tmp_path, "3")
    assert articles.files(study) == ["beans.csv"]
    given = articles.given(study)
    derived = figures.tables(study, runs(), pd.DataFrame(), prices(), given)
    assert figures.figures(study, derived, prices(), runs(), given)["usd_of_coffee"] == 1.5
    assert charts.chart("cups").TITLE == "Cups"


def test_a_mistake_in_it_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine\.yaml: coffee\.cups: 0 is less than the minimum of 1"):
        read(tmp_path, "0")


def test_an_unknown_key_is_refused_with_those_of_all_articles(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("{title: t, cofee: {cups: 1}}")
    with pytest.raises(InputError, match=r"'cofee' is unknown: .*office.*; is 'coffee' meant\?"):
        definition.read(str(path), {})
