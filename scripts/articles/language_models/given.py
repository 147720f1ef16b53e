"""The printed rows of language models' speed, and the peaks of the cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.storage.files import read_csv
from scripts.storage.schemas import read_yaml
from scripts.studies.definition import ROOT


@dataclass(frozen=True)
class Given:
    """The printed `rows` by the name of their run, and by card its `peaks` (TFLOP/s by arithmetic)."""

    rows: Mapping[str, Mapping[str, str]]
    peaks: Mapping[str, Mapping[str, float]]


def read(study: Mapping[str, Any]) -> Given:
    """Return what a study's runs have no column for. Raises InputError for a file that is not there, or is damaged."""
    file = ROOT / study["language_models"]["source"]
    cards = read_yaml(ROOT / "config" / "cards.yaml", "cards")
    peaks = {name: about["peak_tflops"] for name, about in cards["cards"].items()}
    rows = {f"{file.stem}#{place.rpartition(':')[2]}": row for place, row in read_csv(file)}
    return Given(rows, peaks | {name: peaks[card] for name, card in cards["names"].items()})
