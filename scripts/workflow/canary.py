"""The cheapest machine goes first: what fails there for no want of the machine is not tried on dearer ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.measurement.cell import Cell
from scripts.workflow.plan import Plan

#: What of a cell is not its machine: workload, framework, variant.
Configuration = tuple[str, str, str]


@dataclass
class Canary:
    """The runs of a plan by configuration, and the one of each that goes first.

    Args:
        plan: of this call.
        machines: those that the profile reaches, the cheapest first; empty where none is tried first.
    """

    plan: Plan
    machines: Mapping[str, object]
    #: The runs of each configuration.
    runs: dict[Configuration, list[str]] = field(default_factory=dict)
    #: The first one on the cheapest machine, where there are several.
    firsts: dict[Configuration, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ranks = {name: rank for rank, name in enumerate(self.machines)}
        for run in self.plan.runs:
            self.runs.setdefault(self.configuration(run), []).append(run)
        for configuration, runs in self.runs.items():
            priced = [run for run in runs if self._hardware(run) in self.ranks]
            if len({self._hardware(run) for run in priced}) > 1:
                self.firsts[configuration] = min(priced, key=lambda run: self.ranks[self._hardware(run)])

    def _hardware(self, run: str) -> str:
        return self.plan.find_cell(run).hardware

    def configuration(self, run: str) -> Configuration:
        """Return the configuration of a run."""
        cell = self.plan.find_cell(run)
        return cell.workload, cell.framework, cell.variant

    def note(self, configuration: Configuration) -> str:
        """Return where it is noted why a configuration failed on the cheapest machine; empty if it did not."""
        return f"results/{self.plan.name}/tried/{self.plan.profile}/{'/'.join(configuration)}.txt"

    def notes(self) -> list[str]:
        """Return the notes of all configurations that are tried first."""
        return [self.note(configuration) for configuration in self.firsts]

    def get_first(self, wildcards) -> str:
        """Return the record of a configuration's first run."""
        return f"{self.firsts[wildcards.workload, wildcards.framework, wildcards.variant]}/run.json"

    def is_given_up(self, run: str) -> bool:
        """Return whether a run waits until what failed on a cheaper machine is mended."""
        note = Path(self.note(self.configuration(run)))
        return note.is_file() and note.stat().st_size > 0 and not Path(run, "run.json").is_file()

    def tried(self, configuration: Configuration, read: Callable[..., str]) -> list[str]:
        """Return the runs of a configuration; when it failed on the cheapest machine, only those that are there.

        `read(workload=, framework=, variant=)` returns its note once the first run has ended.
        """
        runs = self.runs[configuration]
        if configuration not in self.firsts:
            return runs
        names = dict(zip(("workload", "framework", "variant"), configuration, strict=True))
        if not read(**names):
            return runs
        return [run for run in runs if run == self.firsts[configuration] or self.plan.is_current(run)]

    def get_priority(self, cell: Cell, repeat: int) -> int:
        """Return a run's priority: tier by tier, in rounds, A B C A B C; on clusters the cheapest machine first.

        What changes on a machine in time meets all cells of a tier alike.
        """
        later = self.plan.tiers[cell.path] * 10_000_000 + repeat * 1000
        return 1_000_000_000 - later - self.ranks.get(cell.hardware, 0)
