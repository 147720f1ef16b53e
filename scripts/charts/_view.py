"""What a chart is given, and what it returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from plotnine import ggplot

from scripts.analysis import noise
from scripts.analysis.names import cell_name
from scripts.analysis.verdicts import Judge

#: The most words of a caption: more are not read.
CAPTION_WORDS = 20


@dataclass(frozen=True)
class View:
    """What a chart sees of a study: the tables of one workload (or all), and how things are called.

    `runs`, `epochs` and `costs` have the columns of `config/schemas/tables.yaml`. `base` names the cell
    that counts as 1.00x by its axes, `labels` names machines, `reference` is the workload's
    published result (None if no module knows it), `price_option` the price option of cost charts and
    `price_label` its words. `one_framework`: the study has one only, so no cell needs to name it.
    A cell whose times to train differ by more than `unstable_above` of their median is unstable; of what was
    measured again, runs after the first `repeats` are the second measurement (None: there is none).
    `unit` is what the workload's samples are, `prices` what the study's price options are called, `cards`
    the model of a machine's GPUs, where the study names it.
    `judge` compares the study's cells. `tables` are those of `scripts.analysis.figures`, for charts of a whole
    study.
    """

    workload: str
    runs: pd.DataFrame
    epochs: pd.DataFrame
    costs: pd.DataFrame
    base: dict[str, Any]
    labels: dict[str, str]
    reference: Any
    published_batch_size: int | None
    published_epochs: int | None
    price_option: str
    price_label: str = ""
    one_framework: bool = False
    repeats: int | None = None
    unstable_above: float = 0.1
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    unit: str = "samples"
    prices: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)
    judge: Judge = field(default_factory=lambda: Judge(noise.project()))

    def name(self, cell: Mapping[str, Any]) -> str:
        """Return a cell's name."""
        return cell_name(cell, self.labels, self.published_batch_size, self.one_framework)


@dataclass(frozen=True)
class Chart:
    """A drawn chart: the figure, its size (inches), its data, its words, and a text for those who cannot see it.

    `finding` is its title, empty where it finds nothing; `caption` names unit, base and n in at most `CAPTION_WORDS`
    words; `notes` are further sentences.
    """

    figure: ggplot
    width: float
    height: float
    data: pd.DataFrame
    caption: str
    description: str
    finding: str = ""
    notes: Sequence[str] = ()
