"""What the tables, charts and reports of each study of a call are made of.

The rules take its `get_*` as input functions: each gets the wildcards of a job (`study`, and `chart` for a chart).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.costs import books
from scripts.storage import code, modules
from scripts.studies import articles, charts, definition
from scripts.workflow import quotable

#: What of a study's config is the page's alone: its charts are drawn again for no new title, claim or other chart.
_OF_THE_PAGE = ("title", "summary", "question", "claims", "left_out", "charts", "beside", "targets", "tiers")

_FORMATS = definition.ROOT / "scripts" / "importers" / "formats"

#: What of it only charts of costs show.
_OF_MONEY = ("book", "price", "prices")


@dataclass(frozen=True, repr=False)
class Analyses:
    """The studies of a call (name -> config), the catalogue of machines, and which studies are published.

    `paths` are those of the files of studies that are not the project's, by name: a page says how it is made again.
    """

    studies: dict[str, dict[str, Any]]
    catalogue: dict[str, Any]
    published: list[str]
    paths: dict[str, str] = field(default_factory=dict)

    @cached_property
    def supplied(self) -> list[str]:
        """The studies whose tables were supplied."""
        return [name for name, study in self.studies.items() if definition.is_grid(study) and study["tables"]]

    @cached_property
    def imported(self) -> list[str]:
        """The studies that show logs or figures of others."""
        return [name for name, study in self.studies.items() if not definition.is_grid(study)]

    def get_study(self, wildcards: Any) -> str:
        """Return the study's config as one string, so that any change of it is seen."""
        return json.dumps(self.studies[wildcards.study])

    def get_pricing(self, wildcards: Any) -> str:
        """Return what of a study's config decides what its runs cost."""
        return json.dumps({key: self.studies[wildcards.study][key] for key in ("machines", "book", "prices")})

    def get_charted(self, wildcards: Any) -> str:
        """Return what of a study's config a chart shows."""
        hidden = {*_OF_THE_PAGE, *(() if self._shows_money(wildcards) else _OF_MONEY)}
        return json.dumps({key: value for key, value in self.studies[wildcards.study].items() if key not in hidden})

    def get_names(self, wildcards: Any) -> str:
        """Return what a study's machines are called: a price in their entries draws no chart again."""
        machines = definition.machines(self.studies[wildcards.study], self.catalogue)
        return json.dumps({name: about["label"] for name, about in machines.items()})

    def get_controls(self, wildcards: Any) -> list[str]:
        """Return the machines of a study that are controls of noise."""
        machines = definition.machines(self.studies[wildcards.study], self.catalogue)
        return [name for name, about in machines.items() if about.get("control")]

    def get_money(self, wildcards: Any) -> list[str]:
        """Return the tables of costs and prices for a chart that shows them."""
        tables = ("costs", "prices") if self._shows_money(wildcards) else ()
        return [f"results/{wildcards.study}/{table}.parquet" for table in tables]

    def get_chart_code(self, wildcards: Any) -> list[str]:
        """Return the code of a chart, and of what its study's articles derive where it may show that."""
        derived = articles.code(self.studies[wildcards.study]) if self._shows_money(wildcards) else []
        return code.code_of("scripts.chart", _chart(wildcards), *derived)

    def get_headline_argument(self, wildcards: Any) -> list[str]:
        """Return that a chart is its study's headline: time against cost, or what stands first."""
        return ["--headline"] if wildcards.chart == _headline(self.studies[wildcards.study]) else []

    def _shows_money(self, wildcards: Any) -> bool:
        return code.reads(_chart(wildcards), ("costs", "tables"))

    def get_import(self, wildcards: Any) -> str:
        """Return what of a study's config decides how its logs are read: a new price or chart reads none again."""
        study = self.studies[wildcards.study]
        named = [name for name in study["import"].get("hardware", {}).values() if name in self.catalogue]
        machines = list(dict.fromkeys([*study["machines"], *named]))
        return json.dumps({"import": study["import"], "machines": machines})

    def get_books(self, wildcards: Any) -> list[str]:
        """Return the files of the price books that a study names."""
        study = self.studies[wildcards.study]
        return books.listed(study["book"], *(option.get("book", []) for option in study["prices"].values()))

    def get_article_files(self, wildcards: Any) -> list[str]:
        """Return the files that a study's articles are worked out of, beside its tables."""
        return articles.files(self.studies[wildcards.study])

    def get_files_of_chart(self, wildcards: Any) -> list[str]:
        """Return those files for a chart that may show what is worked out of them."""
        return self.get_article_files(wildcards) if self._shows_money(wildcards) else []

    def get_report_code(self, wildcards: Any) -> list[str]:
        """Return the code of a report: that of its own articles, and none of others."""
        return code.code_of("scripts.report", *articles.code(self.studies[wildcards.study]))

    def get_supplied(self, table: str) -> Callable[[Any], str]:
        """Return what says where a table of a study lies that was supplied."""
        return lambda wildcards: f"{self.studies[wildcards.study]['tables']}/{table}"

    def get_drawings(self, wildcards: Any) -> list[str]:
        """Return the folders of a study's charts, in order."""
        return [f"results/{wildcards.study}/charts/{chart}" for chart in self.studies[wildcards.study]["charts"]]

    def get_charts(self, wildcards: Any) -> list[str]:
        """Return what describes each of them: it says that the folder is whole."""
        return [f"{folder}.json" for folder in self.get_drawings(wildcards)]

    def _import(self, wildcards: Any) -> dict[str, Any]:
        return self.studies[wildcards.study].get("import", {})

    def get_facts(self, wildcards: Any) -> str | list[str]:
        """Return the table of an imported study's runs: given, made from logs, or none for a study of figures."""
        given = self._import(wildcards)
        return given.get("facts", f"results/{wildcards.study}/facts.csv") if given else []

    def get_problems(self, wildcards: Any) -> str | list[str]:
        """Return what the importer refused, where the logs are read here."""
        return f"results/{wildcards.study}/problems.txt" if self._reads_logs(wildcards) else []

    def get_log_epochs(self, wildcards: Any) -> str | list[str]:
        """Return the epochs of an imported study, where the logs are read here: committed facts keep totals."""
        return f"results/{wildcards.study}/log-epochs.parquet" if self._reads_logs(wildcards) else []

    def _reads_logs(self, wildcards: Any) -> bool:
        given = self._import(wildcards)
        return bool(given) and "facts" not in given

    def get_importer_code(self, wildcards: Any) -> list[str]:
        """Return the code that reads a study's logs: its own format's, or that of all formats, and the recorder's."""
        named = self._import(wildcards)["format"]
        formats = modules.names(str(_FORMATS)) if named == "any" else [named]
        found = code.code_of("scripts.import_logs", *(f"scripts.importers.formats.{name}" for name in formats))
        return [*found, *code.recorder_of(found)]

    def get_logs(self, wildcards: Any) -> list[str]:
        """Return every log file in the folder of an imported study: a new or changed one is read again."""
        folder = self._import(wildcards).get("folder")
        found = sorted(Path(folder).rglob("*")) if folder else []
        return [str(file) for file in found if file.is_file()]

    def get_others(self, wildcards: Any) -> list[str]:
        """Return the facts of other studies, for an imported one: a log of one may be a log of another."""
        if not self._import(wildcards):
            return []
        shown = [self.studies[name].get("import", {}) for name in self.published]
        return [about["facts"] for about in shown if "facts" in about] + self._import(wildcards).get("others", [])

    def get_words(self, wildcards: Any) -> str | list[str]:
        """Return the words of the tables that a study derives, if somebody wrote any."""
        words = f"reports/words/{wildcards.study}.yaml"
        return words if Path(words).is_file() else []

    def get_elsewhere(self, wildcards: Any) -> str | list[str]:
        """Return the estimates of cards that were not measured, where a program of a study trains a language model."""
        study = self.studies[wildcards.study]
        is_asked = any("language_model" in program for program in study.get("commands", {}).values())
        return f"results/{wildcards.study}/elsewhere.json" if is_asked and definition.is_trained_here(study) else []

    def get_report_arguments(self, wildcards: Any, input: Any) -> list[str]:
        """Return what the report is given of some studies only: words, and where imported runs are from."""
        path = ["--path", self.paths[wildcards.study]] if wildcards.study in self.paths else []
        words = ["--words", input.words] if input.words else []
        problems = ["--problems", input.problems] if input.problems else []
        facts = ["--facts", input.facts, "--others", *input.others] if input.facts else []
        elsewhere = ["--elsewhere", input.elsewhere] if input.elsewhere else []
        offered = ["--books", *input.offered] if input.offered else []
        return [*path, *words, *problems, *facts, *elsewhere, *offered, *self._quoted(wildcards)]

    def get_offered(self, wildcards: Any) -> list[str]:
        """Return the price books by which a published study says what the cards of its machines are offered for."""
        every = [f"config/prices/{book.name}" for book in books.every()]
        return every if wildcards.study in self.published and self.studies[wildcards.study]["machines"] else []

    def _quoted(self, wildcards: Any) -> list[str]:
        if not {wildcards.study, quotable.NETS} <= set(self.published):
            return []
        return ["--quoted", json.dumps(quotable.machines(self.studies[wildcards.study], self.studies[quotable.NETS]))]

    def _beside(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        return definition.beside({"": self.studies[wildcards.study]})

    def get_beside(self, wildcards: Any) -> list[str]:
        """Return the runs of the studies that stand beside a study."""
        return [f"results/{name}/runs.parquet" for name in self._beside(wildcards)]

    def get_beside_facts(self, wildcards: Any) -> list[str]:
        """Return the committed facts of these studies: the report says which of their logs are those of others."""
        given = [study.get("import", {}) for study in self._beside(wildcards).values()]
        return [file for about in given if "facts" in about for file in (about["facts"], *about.get("others", []))]

    def _compared(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        return definition.compared({"": self.studies[wildcards.study]})

    def get_compared(self, wildcards: Any) -> list[str]:
        """Return runs and costs of the studies that a study's claims compare with."""
        return [f"results/{name}/{table}.parquet" for name in self._compared(wildcards) for table in ("runs", "costs")]

    def get_compared_arguments(self, wildcards: Any, input: Any) -> list[str]:
        """Return what the report gets of these studies; nothing where there are none."""
        keys = ("title", "price")
        others = {name: {key: about[key] for key in keys} for name, about in self._compared(wildcards).items()}
        return ["--compared", json.dumps(others), *input.compared] if others else []

    def get_beside_arguments(self, wildcards: Any, input: Any) -> list[str]:
        """Return what the report gets of the studies beside it; nothing where there are none."""
        keys = ("title", "published", "machines", "import")
        others = [{key: study[key] for key in keys if key in study} for study in self._beside(wildcards).values()]
        return ["--beside", json.dumps(others), *input.beside] if others else []


def _chart(wildcards: Any) -> str:
    return charts.modules_by_name()[wildcards.chart.partition(".")[0]]


def _headline(study: dict[str, Any]) -> str:
    charts = study["charts"]
    return "pareto" if "pareto" in charts else next(iter(charts), "")
