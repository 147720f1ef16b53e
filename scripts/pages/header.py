"""The head of a page: where its runs come from, and what weakens its numbers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.analysis import comparisons, summary
from scripts.analysis.names import GIVEN, provider_name
from scripts.analysis.runs import DISTURBED
from scripts.costs import prices, pricing
from scripts.pages.inputs import Inputs

#: More regions of a provider are counted.
_MOST_REGIONS = 3

#: Of more cards those of a provider are not named.
_MOST_CARDS = 3


def context(inputs: Inputs) -> dict[str, Any]:
    """Return what the head shows: counts of runs and cells, machines and days, notices."""
    runs = inputs.runs
    hourly = inputs.prices[inputs.prices["price_option"] == inputs.price]
    spent = prices.spent(runs, inputs.attempts, hourly)
    failed = runs[~runs["status"].isin(["done", DISTURBED])].merge(spent, on="run").to_dict("records")
    found = {
        "days": sorted({started[:10] for started in runs["started_at"].dropna()}),
        "found": machines(runs),
        "priced": _priced(hourly, {name: card for name, (card, _) in inputs.cards.items()}),
        "unpriced": pricing.elsewhere(inputs.prices, inputs.price, runs["hardware"]) if inputs.trained else [],
        "synthetic": sorted(set(runs.loc[runs["data"] == "synthetic", "workload"])),
        "reduced": summary.is_reduced(runs),
        "failed": failed,
        "disturbed": runs[runs["status"] == DISTURBED].to_dict("records"),
        "planned": len(inputs.planned),
        "untrained": summary.untrained(inputs.planned, runs),
        "interrupted": summary.interrupted(inputs.attempts, spent),
        "repeated": not inputs.single,
        # The audit of logs says it itself.
        "single": bool(len(runs)) and inputs.single and all(one["kind"] != "single runs" for one in inputs.findings),
    }
    return found | {"weak": _weak(found, inputs, len(comparisons.warnings(runs)))}


def machines(runs: pd.DataFrame) -> list[dict[str, str]]:
    """Return the machines of runs: `what` they are in words (processor, cores, memory, GPU), and their `system`."""
    found = []
    there = runs.dropna(subset="cpu_model").fillna({"gpu_model": "no GPU"})
    for (cpu, gpu, system), group in there.groupby(["cpu_model", "gpu_model", "system"]):
        of, memory = group["machine_cores"].max(), group["machine_memory_mib"].max()
        # Tables that were published before have not what the machine has, but what the runs were held to.
        cores = f"{of} cores" if pd.notna(of) else f"runs on {_alternatives(group['cores'])} cores"
        size = f", {memory / 1024:.0f} GiB" if pd.notna(memory) else ""
        found.append({"what": f"{cpu} ({cores}{size}), {gpu}", "system": str(system)})
    return found


def _alternatives(values: pd.Series) -> str:
    return " or ".join(map(str, sorted(set(values.dropna()))))


def _priced(prices: pd.DataFrame, cards: Mapping[str, str]) -> list[dict[str, str]]:
    """Return whose prices these are: `where` (providers and their regions), `first` and `last` day.

    Of several providers, each is with its `cards` (by machine), where those are few. Not those that the command line
    gives: the head of their page says so.
    """
    found: dict[tuple[str, str], list[str]] = {}
    dated = prices[(prices["price_as_of"].fillna("") != "") & (prices["provider"] != GIVEN)]
    for provider, group in dated.groupby("provider"):
        regions = sorted(set(group["region"].dropna()) - {""})
        places = " and ".join(regions) if len(regions) <= _MOST_REGIONS else f"{len(regions)} regions"
        days = sorted(group["price_as_of"])
        of = dict.fromkeys(cards[name] for name in group["hardware"] if name in cards)
        priced = f"({', '.join(of)})" if of and len(of) <= _MOST_CARDS and dated["provider"].nunique() > 1 else ""
        where = " ".join(filter(None, [provider_name(str(provider)), places, priced]))
        found.setdefault((days[0], days[-1]), []).append(where)
    return [{"where": ", ".join(where), "first": first, "last": last} for (first, last), where in found.items()]


def _weak(found: dict[str, Any], inputs: Inputs, warned: int) -> list[str]:
    """Return in a few words each what weakens the numbers of a page, the worst first."""
    runs = len(inputs.runs)
    known = [
        (found["failed"], f"{len(found['failed'])} of {runs} runs did not end as done"),
        (found["untrained"], "configurations without a run"),
        (found["synthetic"], "synthetic data"),
        (found["reduced"], "reduced scale"),
        (found["single"], "one run of each configuration"),
        (found["disturbed"], f"{len(found['disturbed'])} runs were disturbed and measured once more"),
        (warned, f"{warned} of {runs} runs have warnings"),
    ]
    audit = len(inputs.findings)
    known.append((audit, f"{audit} audit finding{'s' if audit != 1 else ''}"))
    return [words for is_so, words in known if is_so]
