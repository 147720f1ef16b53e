"""The cheapest machine goes first: what fails there for no want of the machine is not tried on dearer ones."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.workflow.plan import Configuration, Family, Plan, reasons

#: More rounds than a tier has.
_MOST_ROUNDS = 100_000

#: Above what is counted down from it, which Snakemake wants positive.
_HIGHEST = 10**15


@dataclass
class Canary:
    """The runs of a plan by family, and the one of each configuration that goes first.

    Args:
        plan: of this call.
        machines: those that the profile reaches, the cheapest first; empty where none is tried first.
    """

    plan: Plan
    machines: Mapping[str, object]
    #: Those that wait for no other.
    at_once: list[str] = field(default_factory=list)
    #: The others of each family, with the first runs that they wait for, in the order of the plan.
    runs: dict[Family, list[str]] = field(default_factory=dict)
    #: The first run of each configuration on the cheapest machine, where there are several.
    firsts: dict[Configuration, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ranks = {name: rank for rank, name in enumerate(self.machines)}
        cells = self.plan.cells.values()
        cheapest_first = sorted(cells, key=lambda cell: self.ranks.get(cell.hardware, 0))
        self.places = {cell.path: place for place, cell in enumerate(cheapest_first)}
        priced: dict[Configuration, list[str]] = {}
        for run in self.plan.runs:
            if self._hardware(run) in self.ranks:
                priced.setdefault(self.plan.configuration(run), []).append(run)
        for configuration, runs in priced.items():
            if len({self._hardware(run) for run in runs}) > 1:
                self.firsts[configuration] = min(runs, key=self._order)
        for run in self.plan.runs:
            configuration = self.plan.configuration(run)
            waits = configuration in self.firsts
            (self.runs.setdefault(configuration[:2], []) if waits else self.at_once).append(run)

    def _hardware(self, run: str) -> str:
        return self.plan.find_cell(run).hardware

    def _order(self, run: str) -> tuple[bool, int]:
        """Return what sorts runs by which goes first: one that is there, so that a new price trains nothing."""
        return not Path(run, "run.json").is_file(), self.ranks[self._hardware(run)]

    def _firsts(self, family: Family) -> list[str]:
        return [first for configuration, first in self.firsts.items() if configuration[:2] == family]

    def notes(self) -> list[str]:
        """Return the notes of all families with runs that wait."""
        return [self.plan.note(family) for family in self.runs]

    def get_firsts(self, wildcards: Any) -> list[str]:
        """Return the records of a family's first runs."""
        return [f"{run}/run.json" for run in self._firsts((wildcards.workload, wildcards.framework))]

    def may_follow(self, family: Family, to_train: Collection[str]) -> list[str]:
        """Return the runs of a family that may be trained once its first runs have ended, of which `to_train` are."""
        found = []
        for run in self.runs[family]:
            first = self.firsts[self.plan.configuration(run)]
            there = Path(run, "run.json").is_file()
            if first in to_train:
                # What is trained again there is trained again on the others too.
                wanted = not there or Path(first, "run.json").is_file()
            else:
                wanted = not there and not self.plan.is_given_up(run)
            if wanted:
                found.append(run)
        return found

    def tried(self, family: Family, read: Callable[..., str]) -> list[str]:
        """Return the runs of a family that waited; of what failed on the cheapest machine, only those that are there.

        `read(workload=, framework=)` returns its note (JSON: variant -> reason) once its first runs have ended.
        """
        runs = self.runs[family]
        failed = reasons(read(workload=family[0], framework=family[1]))
        if not failed:
            return runs
        firsts = set(self._firsts(family))
        return [
            run
            for run in runs
            if self.plan.configuration(run)[2] not in failed or run in firsts or self.plan.is_current(run)
        ]

    def grid(self, read: Callable[..., str]) -> list[str]:
        """Return the runs of the plan, in its order, of which none waits for what failed on a cheaper machine."""
        tried = {run for family in self.runs for run in self.tried(family, read)} | set(self.at_once)
        return [run for run in self.plan.runs if run in tried]

    def get_priority(self, wildcards: Any) -> int:
        """Return a run's priority: tier by tier, in rounds, A B C A B C; on clusters the cheapest machine first.

        What changes on a machine in time meets all cells of a tier alike. Within a round cells go in the order of the
        grid, so that those that are compared follow one another.
        """
        cell = self.plan.get_cell(wildcards).path
        rounds = self.plan.tiers[cell] * _MOST_ROUNDS + int(wildcards.repeat)
        return _HIGHEST - rounds * len(self.places) - self.places[cell]
