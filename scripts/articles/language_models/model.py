"""The key `language_models` of a study."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from scripts.costs import books
from scripts.studies.kinds import Filled, Names, Part, Positive, Text, key, need


class Training(Part):
    """A whole training that people ask for."""

    says: Text = need("What it is, as the end of a sentence")
    workloads: Names = need("Workloads at whose speed it is reckoned, on each card at the highest printed")
    tokens: Positive = need("How many tokens it goes through")


class Raced(Part):
    """A benchmark of MLPerf that trains a model like one of the tables."""

    workload: Text = need("Workload of the study that it is set beside")
    unlike: Text = need("In what they differ")


class MLPerf(Part):
    """Speeds out of MLPerf's logs, beside the printed ones."""

    source: Text = need("The table of their speeds (.csv)")
    benchmarks: Annotated[dict[str, Raced], Filled] = need("Benchmark -> what it is set beside")


class Since(Part):
    """What later software gets out of one card, by models of about one size."""

    card: Text = need("The card, as the table calls it")
    models: Annotated[list[Names], Field(min_length=1)] = need(
        "Sizes: of each the models of config/language_models.yaml that are about as large"
    )


class LanguageModels(Part):
    """Tables of language models' speed."""

    source: Text = need("The table of printed rows (.csv) that the runs are read from")
    first: Names = need("Workloads that the page shows first, in their order")
    pays: Annotated[list[Text], Field(min_length=2, max_length=2)] = need(
        "The card that the question is about, and the one that it is compared with, as the table calls them"
    )
    trainings: Annotated[dict[str, Training], Filled] = need("Whole trainings: name -> what it is")
    stated: Text = key("Whole trainings with the hours of a card that their makers state (.csv)")
    since: Since = key("What later software gets out of one card")
    mlperf: MLPerf = key("Speeds out of MLPerf's logs that stand beside the printed ones")


#: The type of the key's value, and what it means.
VALUE = LanguageModels
MEANING = "What a study of language models' speed shows beyond its runs; the study imports format token_table"


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the table of printed rows, and what is known of its cards and models."""
    about = [f"config/{name}" for name in ("cards.yaml", "language_models.yaml")]
    schemas = [f"config/schemas/{name}.schema.json" for name in ("cards", "language-models")]
    asked = study["language_models"]
    beside = [
        *([asked["mlperf"]["source"]] if "mlperf" in asked else []),
        *([asked["stated"]] if "stated" in asked else []),
    ]
    return [asked["source"], *beside, *about, *schemas, *(f"config/prices/{book.name}" for book in books.every())]
