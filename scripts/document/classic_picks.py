"""Whether quotes of classic nets find the cheapest machine: tried on Lambda's tables, at the prices of its study."""

from collections.abc import Mapping
from math import ceil
from statistics import median
from typing import Any

from scripts.costs import pricing
from scripts.document import classic_carried
from scripts.estimate import classic, nets
from scripts.importers import facts
from scripts.storage import schemas, tables
from scripts.studies import definition
from scripts.workflow import estimates

STUDY = "lambda-gpus"


def carried_lines() -> list[str]:
    """Return a table (Markdown) of ratios from V100s to A100s, with NVIDIA's tables and without."""
    _, study = definition.read(STUDY, {})
    lambdas, nvidias = _rows(study)
    both = classic.rates([*lambdas, *nets.of_nvidia(nvidias)])
    return classic_carried.lines(classic.rates(lambdas), both, nets.printed(nvidias))


def _rows(study: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Return Lambda's rows, and NVIDIA's."""
    return tables.records(facts.read(estimates.ROOT / study["import"]["facts"])), estimates.nvidias_nets()


def lines() -> list[str]:
    """Return a table (Markdown) of both rules of `classic.picks`."""
    _, study = definition.read(STUDY, {})
    lambdas, nvidias = _rows(study)
    rows = [*lambdas, *nets.of_nvidia(nvidias)]
    known, slips = classic.rates(rows), classic.slips(rows)
    machines = definition.machines(study, schemas.read_yaml(estimates.ROOT / "config" / "hardware.yaml", "hardware"))
    prices = pricing.price_table(study, machines, machines)
    cheapest = prices[prices["purchase"] == "on-demand"].groupby("hardware")["usd_per_hour"].min()
    found = list(classic.picks(known, {str(name): float(usd) for name, usd in cheapest.items()}))
    sizes, named = [count for _, count, _ in found], {net for net, _, _ in found}
    said = [
        f"{len(slips)} rows are left out, which print that each of several cards is more than {classic.MOST_SCALING:g} "
        f"times as fast as one alone ({', '.join(sorted({row['workload'] for row in slips}))}).",
        "",
        f"{len(found):,} cases of {len(named)} nets, {min(sizes)} to {max(sizes)} machines each:",
        "",
        "| rule | names the cheapest | has it among its first three | costs more than the cheapest |",
        "| --- | ---: | ---: | ---: |",
    ]
    for rule in classic.PICK_RULES:
        places, regrets = zip(*(of[rule] for _, _, of in found), strict=True)
        first, three = (sum(place <= most for place in places) / len(found) for most in (1, 3))
        tenth = sorted(regrets)[ceil(0.9 * len(regrets)) - 1]
        said.append(f"| {rule} | {first:.1%} | {three:.1%} | {median(regrets):.1%} / {tenth:.1%} |")
    return said
