"""What the runs of a plan will cost, before they run, and which of them a budget allows."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

from scripts.storage import environment, numbers
from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.storage.words import printable
from scripts.workflow import command_line
from scripts.workflow.plan import Plan


def budget_usd(given: Any) -> float | None:
    """Return a budget as it was typed, None for "", which is none; 0 is one.

    Raises InputError for what is no amount: an empty one may be a variable that is not set, and limits nothing.
    """
    if given == "":
        return None
    try:
        found = float(given)
    except (TypeError, ValueError, OverflowError):
        found = nan
    if not 0 <= found < inf:
        raise InputError(f"budget_usd: {'it is empty' if given is None else given}: must be dollars, 0 or more")
    return found


def _usd(amount: float | None) -> str:
    return "no price" if amount is None else numbers.number(amount)


def missing(runs: Iterable[str]) -> list[str]:
    """Return the runs without a record."""
    return [run for run in runs if not Path(run, "run.json").is_file()]


@dataclass
class Quotes:
    """Quotes the runs of a plan under a budget (USD, None without one); `left_out` are runs that it did not pay for."""

    plan: Plan
    budget_usd: float | None
    left_out: set[str] = field(default_factory=set)

    # Imported where they are asked: most calls want no quote.

    def asked(self, runs: Iterable[str]) -> dict[str, Any]:
        """Return what is asked of runs, as another process can be given it."""
        return {
            "name": self.plan.name,
            "study": self.plan.settings,
            "runs": self._cells(runs),
            "profile": self.plan.profile,
            "budget_usd": self.budget_usd,
        }

    def ask(self, runs: Iterable[str]) -> dict[str, float]:
        """Print the quote for runs, and return what each is expected to cost (USD) by its folder.

        Raises InputError where they could cost more than is left of the budget.
        """
        from scripts.costs import budget

        priced, refused, spent = self._within(runs)
        refusal = f"{self._words(priced, refused, spent)}: nothing was submitted" if refused else ""
        self._print(budget.quote(priced), refusal)
        if refusal:
            raise InputError(refusal)
        return {one.wanted.folder: one.expected_usd for one in priced}

    def say_nothing(self) -> None:
        """Tell the process that asked for the quote that nothing is to be trained: no quote at all would be a fault."""
        if environment.QUOTE.read():
            self._print([], "")

    def rates(self) -> dict[str, Any]:
        """Return the rates of the machines that a cluster's profile reaches, the cheapest first."""
        plan = self.plan
        if plan.profile == "local" or not plan.runs:
            return {}
        from scripts.analysis import quotes
        from scripts.workflow import known

        machines = dict.fromkeys(plan.find_cell(run).hardware for run in plan.runs)
        return quotes.by_price(known.paid(plan.settings, plan.catalogue, machines, plan.profile), plan.profile)

    def affordable(self, runs: list[str]) -> list[str]:
        """Return the runs that are there, and of the others those that the budget pays for at worst, cheapest first."""
        asked = [run for run in missing(runs) if not self.plan.is_given_up(run)]
        if self.budget_usd is None or not asked:
            return runs
        priced, refused, spent = self._within(asked)
        if refused:
            print(f"{self._words(priced, refused, spent)}: they are left out", file=sys.stderr)
        self.left_out |= {one.wanted.folder for one in refused if not isnan(one.worst_usd)}
        refused_runs = {one.wanted.folder for one in refused}
        return [run for run in runs if run not in refused_runs]

    def limited(self) -> Plan:
        """Return the plan without what the budget does not pay for. Raises InputError where nothing is left."""
        asked = bool(self.plan.runs)
        self.plan = replace(self.plan, runs=self.affordable(self.plan.runs))
        if asked and not self.plan.runs and not self.plan.others_runs:
            raise InputError(
                f"budget_usd: {self.budget_usd:g}: no run is sure to cost less; max_run_minutes of the study limits "
                "each"
            )
        return self.plan

    def may_go_on(self, ended: int, words: Sequence[str]) -> bool:
        """Return whether this call (its words), of whose runs so many have ended, may be made once more.

        A run is submitted if it can be paid at worst. What it did not cost pays for those that were left out: they
        start when the others have ended.
        """
        return bool(self.left_out) and ended > 0 and not command_line.is_forced(words)

    def _within(self, runs: Iterable[str]) -> tuple[list[Any], list[Any], float]:
        """Return runs with what they will take and cost, those of them that the budget refuses, and what is spent."""
        from scripts.costs import budget
        from scripts.workflow import known

        plan = self.plan
        priced = known.priced(plan.name, plan.settings, plan.catalogue, plan.profile, self._cells(runs))
        if self.budget_usd is None:
            return priced, [], 0.0
        spent = known.spent_usd(plan.name, plan.settings, plan.catalogue, plan.profile)
        _, refused = budget.within(priced, self.budget_usd, spent)
        return priced, refused, spent

    def _cells(self, runs: Iterable[str]) -> list[dict[str, Any]]:
        return [{"folder": run, "cell": asdict(self.plan.find_cell(run))} for run in runs]

    def _words(self, priced: Sequence[Any], refused: Sequence[Any], spent: float) -> str:
        unpriced = sum(isnan(one.worst_usd) for one in refused)
        why = f", {unpriced} of them without a price" * bool(unpriced)
        return (
            f"budget_usd: {self.budget_usd:g}: {spent:.2f} USD is spent, and {len(refused)} of {len(priced)} runs "
            f"could exceed it{why}"
        )

    def _print(self, rows: Sequence[Any], refusal: str) -> None:
        study = self.plan.settings
        about = {"study": self.plan.name, "profile": self.plan.profile, "price": study["price"]}
        machines = [{key: None if value != value else value for key, value in asdict(row).items()} for row in rows]
        if file := environment.QUOTE.read():
            write_text(Path(file), json.dumps(about | {"machines": machines, "refused": refusal}, indent=1) + "\n")
            return
        from rich.console import Console

        console = Console(stderr=True, markup=False, highlight=False)
        console.print(table(machines, study["price"]))
        if study["repeats"] > 1:
            console.print(
                f"Cells whose runs spread by more than {study['unstable_above']:.0%} are measured once more"
                f"{', and so are runs that another process disturbed' * study['repeat_disturbed']}: that is not in "
                "these sums, and at worst it is every run of the study."
            )


def table(machines: Iterable[Mapping[str, Any]], price: str) -> Any:
    """Return a quote, rows of `costs.budget.Quoted` with None for no price, as a terminal shows it."""
    from rich.table import Table

    shown = Table("machine", "runs", "hours", "USD expected", "USD at worst", "based on", title=f"quote ({price})")
    for row in machines:
        is_known = row["unknown"] < row["runs"]
        expected = [numbers.number(row["hours"]), _usd(row["expected_usd"])] if is_known else ["unknown", "unknown"]
        unknown_hours = numbers.number(row["unknown_hours"])
        at_most = f"{row['unknown']} unknown, at most {unknown_hours} hours, not in the sums"
        basis = "; ".join(filter(None, [row["basis"], at_most * bool(row["unknown"])]))
        shown.add_row(row["hardware"], str(row["runs"]), *expected, _usd(row["worst_usd"]), printable(basis))
    return shown
