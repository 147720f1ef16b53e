"""What the runs of a plan will cost: asked of scripts/quote.py, which has the price books, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.storage.errors import InputError
from scripts.workflow.plan import Plan


def budget_usd(given: Any) -> float | None:
    """Return a budget as it was typed, None for none; 0 is one. Raises InputError for what is not a number."""
    try:
        return None if given in ("", None) else float(given)
    except (TypeError, ValueError):
        raise InputError(f"budget_usd: {given!r} is not a number of dollars") from None


def missing(runs: Iterable[str]) -> list[str]:
    """Return the runs without a record."""
    return [run for run in runs if not Path(run, "run.json").is_file()]


@dataclass(frozen=True)
class Quotes:
    """Asks for quotes on the runs of a plan under a budget (USD, None without one)."""

    plan: Plan
    budget_usd: float | None

    def asked(self, runs: Iterable[str]) -> dict[str, Any]:
        """Return what is asked of runs."""
        return {
            "name": self.plan.name,
            "study": self.plan.settings,
            "runs": [{"folder": run, "cell": asdict(self.plan.find_cell(run))} for run in runs],
            "profile": self.plan.profile,
            "budget_usd": self.budget_usd,
        }

    def ask(self, runs: Iterable[str], *arguments: str) -> Any:
        """Return what scripts/quote.py answers on runs. Raises InputError where it refuses, after it has said why."""
        command = [sys.executable, "-m", "scripts.quote", *arguments]
        done = subprocess.run(command, input=json.dumps(self.asked(runs)), text=True, stdout=subprocess.PIPE)
        if done.returncode:
            raise InputError("nothing was submitted")
        return json.loads(done.stdout)

    def rates(self) -> dict[str, Any]:
        """Return the rates of the machines that a cluster's profile reaches, the cheapest first."""
        return self.ask(self.plan.runs, "--machines") if self.plan.profile != "local" and self.plan.runs else {}

    def affordable(self, runs: list[str], is_given_up: Callable[[str], bool]) -> list[str]:
        """Return the runs that are there, and of the others those that the budget pays for at worst, cheapest first."""
        asked = [run for run in missing(runs) if not is_given_up(run)]
        if self.budget_usd is None or not asked:
            return runs
        allowed = self.ask(asked, "--allow")
        return [run for run in runs if run not in asked or run in allowed]

    def limit(self, is_given_up: Callable[[str], bool]) -> None:
        """Leave out of the plan what the budget does not pay for. Raises InputError where nothing is left."""
        asked = bool(self.plan.runs)
        self.plan.runs = self.affordable(self.plan.runs, is_given_up)
        if asked and not self.plan.runs and not self.plan.others_runs:
            raise InputError(
                f"budget_usd: {self.budget_usd:g}: no run is sure to cost less; max_run_minutes of the study limits "
                "each"
            )
