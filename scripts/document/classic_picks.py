"""Whether quotes of classic nets find the cheapest machine: tried on Lambda's tables, at the prices of its study."""

from math import ceil
from statistics import median

from scripts.costs import pricing
from scripts.estimate import classic
from scripts.importers import facts
from scripts.storage import schemas, tables
from scripts.studies import definition
from scripts.workflow import estimates

STUDY = "lambda-gpus"


def lines() -> list[str]:
    """Return a table (Markdown) of both rules of `classic.picks`."""
    _, study = definition.read(STUDY, {})
    rows = tables.records(facts.read(estimates.ROOT / study["import"]["facts"]))
    known, slips = classic.rates(rows), classic.slips(rows)
    machines = definition.machines(study, schemas.read_yaml(estimates.ROOT / "config" / "hardware.yaml", "hardware"))
    prices = pricing.price_table(study, machines, machines)
    cheapest = prices[prices["purchase"] == "on-demand"].groupby("hardware")["usd_per_hour"].min()
    found = list(classic.picks(known, {str(name): float(usd) for name, usd in cheapest.items()}))
    sizes, nets = [count for _, count, _ in found], {net for net, _, _ in found}
    said = [
        f"{len(slips)} rows are left out, which print that each of several cards is more than {classic.MOST_SCALING:g} "
        f"times as fast as one alone ({', '.join(sorted({row['workload'] for row in slips}))}).",
        "",
        f"{len(found):,} cases of {len(nets)} nets, {min(sizes)} to {max(sizes)} machines each:",
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
