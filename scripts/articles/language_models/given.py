"""The printed rows of language models' speed, and the peaks of the cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.costs import book, books, card_history
from scripts.costs import cards as cards_for_rent
from scripts.costs.card_history import Asked
from scripts.costs.cards import Offer
from scripts.storage.files import read_csv
from scripts.storage.schemas import read_yaml
from scripts.studies.definition import ROOT


@dataclass(frozen=True)
class Given:
    """The printed `rows` by their run, and what is known beside them.

    `logged` are speeds out of MLPerf's logs and `stated` whole trainings (none where not asked for); `peaks` are those
    of cards (TFLOP/s by arithmetic); `models` are by their printed names: `name`, `kind` (dense or moe) and
    `active_billion` parameters, those without left out; `offers` are what was ever asked for a card on demand, by its
    name in the study's machines, and `asked` what each provider asked of late, as spot too.
    """

    rows: Mapping[str, Mapping[str, str]]
    logged: Sequence[Mapping[str, str]]
    stated: Sequence[Mapping[str, str]]
    peaks: Mapping[str, Mapping[str, float]]
    models: Mapping[str, Mapping[str, Any]]
    offers: Mapping[str, Sequence[Offer]]
    asked: Mapping[str, Sequence[Asked]]


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
    mlperf = study["language_models"].get("mlperf")
    logged = [row for _, row in read_csv(ROOT / mlperf["source"])] if mlperf else []
    priced = [row for book_file in books.every() for row in book.read([book_file])]
    named = dict.fromkeys(machine["gpus"]["model"] for machine in study["machines"].values() if "gpus" in machine)
    offers = {name: cards_for_rent.offers(priced, name) for name in named}
    spot = {name: cards_for_rent.offers(priced, name, "spot") for name in named}
    asked = {name: card_history.asked([*offers[name], *spot[name]]) for name in named}
    stated = study["language_models"].get("stated")
    whole = [row for _, row in read_csv(ROOT / stated)] if stated else []
    all_peaks = peaks | {name: peaks[card] for name, card in cards["names"].items()}
    return Given(rows, logged, whole, all_peaks, models, offers, asked)
