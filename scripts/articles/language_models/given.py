"""The printed rows of language models' speed, and the peaks of the cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.storage.files import read_csv
from scripts.storage.schemas import read_yaml
from scripts.studies.definition import ROOT


@dataclass(frozen=True)
class Given:
    """The printed `rows` by their run, `peaks` by card (TFLOP/s by arithmetic), and `models` by their printed names.

    A model has its `name`, its `kind` (dense or moe) and its `active_billion` parameters; those without are left out.
    """

    rows: Mapping[str, Mapping[str, str]]
    peaks: Mapping[str, Mapping[str, float]]
    models: Mapping[str, Mapping[str, Any]]


def read(study: Mapping[str, Any]) -> Given:
    """Return what a study's runs have no column for. Raises InputError for a file that is not there, or is damaged."""
    file = ROOT / study["language_models"]["source"]
    cards = read_yaml(ROOT / "config" / "cards.yaml", "cards")
    peaks = {name: about["peak_tflops"] for name, about in cards["cards"].items()}
    about = read_yaml(ROOT / "config" / "language_models.yaml", "language-models")["models"]
    models = {
        printed: {"name": name, "kind": model["kind"], "active_billion": model["active_billion"]}
        for name, model in about.items()
        if "active_billion" in model
        for printed in model["names"]
    }
    rows = {f"{file.stem}#{place.rpartition(':')[2]}": row for place, row in read_csv(file)}
    return Given(rows, peaks | {name: peaks[card] for name, card in cards["names"].items()}, models)
