"""What a page is made of: a study with its tables, its charts and what is said of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import clocks, summary
from scripts.analysis.audit import BEYOND_PERFECT
from scripts.analysis.beside import Side
from scripts.analysis.claim_verdict import DAGGER, Verdict
from scripts.analysis.names import cell_name, provider_name
from scripts.analysis.verdicts import Judge
from scripts.costs import cards
from scripts.costs.cards import Offer
from scripts.estimate import classic
from scripts.pages.days import months
from scripts.records import about
from scripts.records.cell import Cell
from scripts.storage.tables import records
from scripts.studies import definition


@dataclass(frozen=True)
class Inputs:
    """A study and all that its page is made of.

    Args:
        name, study: of the study, and its config with every default.
        machines: name -> entry, those of the catalogue and the study's own.
        runs, epochs, costs, prices, attempts: its tables; any may be empty.
        planned: the cells of its grid, of which some may not have been trained; none for runs of others.
        pictures: workload -> its charts, as `render.load_charts` returns them.
        verdicts, verdicts_today: on the study's claims, and on those about cost at the prices of today.
        findings: what the audit says of imported runs, and the logs that were refused: rows of `audit.COLUMNS`.
        derived: tables that the study derives, by name.
        words: name of a derived table -> title, prose and columns (config/schemas/words.schema.json).
        others: the studies beside it.
        elsewhere: estimates of cards that were not measured, as scripts/elsewhere.py writes them.
        path: of the study's file, empty for a study of the project.
        logs: the facts of a folder of logs; empty for any other study.
        offered: of a published study, what providers asked within a year for each card that its machines have.
        quoted: of a published study, what its machines are called on the front door (`scripts.workflow.quotable`).
    """

    name: str
    study: Mapping[str, Any]
    machines: Mapping[str, Any]
    runs: pd.DataFrame
    epochs: pd.DataFrame
    costs: pd.DataFrame
    prices: pd.DataFrame
    attempts: pd.DataFrame
    planned: Sequence[Cell] = ()
    pictures: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()
    verdicts_today: Sequence[Verdict] = ()
    findings: Sequence[Mapping[str, Any]] = ()
    derived: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    others: Sequence[Side] = ()
    elsewhere: Sequence[Mapping[str, Any]] = ()
    path: str = ""
    logs: pd.DataFrame = field(default_factory=pd.DataFrame)
    offered: Mapping[str, Sequence[Offer]] = field(default_factory=dict)
    quoted: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def trained(self) -> bool:
        """Whether this project trained the runs; the others are logs or figures of somebody else."""
        return definition.is_grid(dict(self.study))

    @property
    def price(self) -> str:
        """The price option that the page compares costs at."""
        return self.study["price"]

    @cached_property
    def shares(self) -> dict[str, float]:
        """By run which share of full length it trained; logs of others are as long as they are."""
        return clocks.shares(self.runs) if self.trained else {}

    @property
    def per_samples(self) -> int:
        """Of how many samples a cost is where rates alone are known."""
        return int(self.study.get("per_samples", 10**6))

    @property
    def base(self) -> Mapping[str, Any]:
        """The axes of the base cell; empty for a study without one."""
        return self.study.get("base", {})

    @cached_property
    def labels(self) -> dict[str, str]:
        """What the machines are called."""
        return {name: about["label"] for name, about in self.machines.items()}

    @cached_property
    def newest(self) -> str:
        """The newest day of a price that the page knows, or of a run; empty without one."""
        offered = {offer.as_of for found in self.offered.values() for offer in found}
        started = {str(day)[:10] for day in self.runs["started_at"].dropna()}
        return max(offered | started | set(self.prices["price_as_of"].dropna()), default="")

    @cached_property
    def option_labels(self) -> dict[str, str]:
        """What the ways to buy are called; that of today with months, providers and how they sell each machine."""
        labels = {option: str(about.get("label", option)) for option, about in self.study["prices"].items()}
        today = self.prices[self.prices["price_option"] == "today"]
        if len(today) and not re.search(r"\d{4}", labels["today"]):
            labels["today"] = self._priced_as(today)
        return labels

    def _priced_as(self, prices: pd.DataFrame) -> str:
        """Return in words of which months prices are, whose, and how bought: prices of May 2026, vCPUs Google spot."""
        sold: dict[str, list[str]] = {}
        for row in records(prices):
            kind = re.sub(r"^\d+ (× )?", "", self.labels[row["hardware"]]).removeprefix(
                f"{provider_name(row['provider'])} · "
            )
            kinds = sold.setdefault(f"{provider_name(row['provider'])} {row['purchase'].replace('-', ' ')}", [])
            kinds += [kind] if not kind.startswith(tuple(kinds)) else []
        # More kinds than two would be a list: the page's table of prices has them.
        each = [
            f"{' and '.join(kinds)} {how}" if len(kinds) < 3 and len(sold) > 1 else how for how, kinds in sold.items()
        ]
        return f"prices of {months(prices['price_as_of'])}, {', '.join(each)}"

    @cached_property
    def cards(self) -> dict[str, tuple[str, int]]:
        """The card of each machine, as config/machines.csv calls it, and how many it has."""
        each = {name: next(cards.of_machine(name, self.study), None) for name in self.study.get("machines", {})}
        return {name: found for name, found in each.items() if found}

    def samples_of(self, workload: str) -> pd.Series:
        """Return how many samples the trainings of a workload have; missing where no log records them."""
        runs = self.runs[self.runs["workload"] == workload]
        # Logs of others are of the length that they have.
        return runs["published_samples"].fillna((runs["train_samples"] * runs["epochs"]).astype("Float64"))

    @cached_property
    def has_no_samples(self) -> bool:
        """Whether all that was trained are trainings of which no log records the samples."""
        timed = set(self.runs["workload"]) - summary.rated_alone(self.runs)
        return bool(timed) and all(self.samples_of(name).isna().all() for name in timed)

    @cached_property
    def works(self) -> dict[str, about.Workload]:
        """What is known of the workloads of the study that are the project's, by name."""
        named = dict.fromkeys([*self.study.get("workloads", []), *self.runs["workload"]])
        return {name: about.workload(name) for name in named if name in about.workloads()}

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell (`summary.cells`), with what it computes."""
        return summary.computing(summary.cells(self.runs, self.costs), self.machines)

    @cached_property
    def judge(self) -> Judge:
        """The rule by which the page's cells are compared."""
        return Judge.of(self.runs)

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The costs at the option that the page compares costs at."""
        return self.costs[self.costs["price_option"] == self.price]

    @cached_property
    def single(self) -> bool:
        """Whether no cell has several runs that are done."""
        return bool((self.cells["runs_done"] <= 1).all())

    @cached_property
    def doubted(self) -> set[tuple[str, str, str]]:
        """Workload, machine and framework of the cells whose log is also that of another machine or study."""
        copies = [one for one in self.findings if one["kind"] == "identical files"]
        return {(one["workload"], one["hardware"], one["framework"]) for one in copies}

    @cached_property
    def beyond(self) -> list[Mapping[str, Any]]:
        """The findings of the audit on machines that exceed their cards' peak."""
        return [one for one in self.findings if one["kind"] == BEYOND_PERFECT]

    @cached_property
    def slips(self) -> list[Mapping[str, Any]]:
        """The rows of others that cannot be, by the rule by which quotes leave them out (`classic.slips`)."""
        rated = self.runs.iloc[:0] if self.trained else self.runs.dropna(subset=["devices", "samples_per_second"])
        return classic.slips(records(rated))

    @cached_property
    def unranked(self) -> dict[str, list[tuple[str, str]]]:
        """By workload the machine and framework whose cards are said to be faster together than alone."""
        found: dict[str, list[tuple[str, str]]] = {}
        for one in (*self.beyond, *self.slips):
            of = found.setdefault(one["workload"], [])
            of += [key for key in [(one["hardware"], one["framework"])] if key not in of]
        return found

    def is_ranked(self, cell: Mapping[str, Any]) -> bool:
        """Return whether a cell may be the best of something: not where its cards are said to do more than they can."""
        return (cell["hardware"], cell["framework"]) not in self.unranked.get(cell["workload"], ())

    def counted(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table with the columns of cells that may be the best of something.

        Not those that are `unranked`, nor those of a control of noise: nobody can choose it.
        """
        axes = ("workload", "hardware", "framework")
        keys = (dict(zip(axes, key, strict=True)) for key in zip(*(table[axis] for axis in axes), strict=True))
        chosen = ~table["hardware"].isin([name for name, about in self.machines.items() if about.get("control")])
        return table[np.array([self.is_ranked(key) for key in keys], dtype=bool) & chosen.to_numpy(dtype=bool)]

    def dagger(self, cell: Mapping[str, Any]) -> str:
        """Return the mark of a cell that the audit doubts, empty for any other."""
        doubts = (cell["workload"], cell["hardware"], cell["framework"]) in self.doubted
        return f" {DAGGER}" if doubts else ""

    @cached_property
    def _batch_sizes(self) -> dict[str, int]:
        """The batch size that a workload's cells need not name: published, or the only one of logs; none of several."""
        sizes = self.runs.dropna(subset="batch_size").groupby("workload")["batch_size"].unique()
        several = {name for name, found in sizes.items() if len(found) > 1}
        if self.trained:
            return {name: work.batch_size for name, work in self.works.items() if name not in several}
        return {str(name): int(found[0]) for name, found in sizes.items() if name not in several}

    def name_of(self, cell: Mapping[str, Any]) -> str:
        """Return a cell's name; the framework is left out where it is no part of `cell`, or the only one of logs."""
        one = "framework" not in cell or (not self.trained and self.runs["framework"].nunique() == 1)
        if cell.get("devices") == self.machines.get(cell["hardware"], {}).get("gpus", {}).get("count"):
            cell = {**cell, "devices": None}  # the machine's name says how many cards it has
        return cell_name(cell, self.labels, self._batch_sizes.get(cell.get("workload", "")), one_framework=one)
