"""Write the front door of the published studies: a page that quotes a training on every machine with a price."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.estimate import classic, dollars, nets
from scripts.importers import facts
from scripts.pages import quote, render
from scripts.records import ledger
from scripts.storage import errors, schemas, tables
from scripts.storage.files import write_text
from scripts.studies import definition
from scripts.workflow import estimates

ROOT = Path(__file__).resolve().parents[1]


#: What offers call the card of a machine of classic nets. Vast does not say the memory: a V100 is taken to have 16 GB
#: and an A100 80 GB, as config/studies/lambda-gpus.yaml does.
CARDS = {
    "v100-16gb": ("V100 16GB", "V100"),
    "rtx-3090": ("RTX 3090",),
    "a10": ("A10",),
    "a100-40gb-pcie": ("A100 PCIe 40GB",),
    "a100-80gb-pcie": ("A100 PCIe 80GB",),
    "a100-80gb-sxm4": ("A100 SXM 80GB", "A100 SXM"),
    "rtx-6000-ada": ("RTX 6000 Ada",),
    "rtx-a6000": ("RTX A6000",),
    "rtx-4090": ("RTX 4090",),
    "h100-80gb-pcie": ("H100 PCIe",),
    "h100-80gb-sxm5": ("H100 SXM",),
    "h200-140gb-sxm": ("H200 SXM",),
    "gh200-96gb": ("GH200",),
    "b200-192gb": ("B200",),
}


def of_nets(study: str) -> dict[str, Any]:
    """Return what classic nets are quoted from: the rates that a study of them imports, NVIDIA's on the same machines,
    and offers of these.
    """
    _, about = definition.read(study, {})
    lambdas = tables.records(facts.read(ROOT / about["import"]["facts"]))
    rows = [*lambdas, *nets.of_nvidia(estimates.nvidias_nets())]
    rates = classic.rates(rows)
    machines = definition.machines(about, schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware"))
    cards = {card: machines[card]["label"] for card in dict.fromkeys(card for _, _, card in rates)}
    return quote.classic_data(rates, len(classic.slips(rows)), cards, offers(cards))


def offers(machines: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return what machines of one card, and of several (`-x8`), are rented for on demand, an hour of all cards."""
    rows = estimates.by_card()
    day = estimates.newest_price(rows)
    found: dict[str, list[dict[str, Any]]] = {}
    for machine in machines:
        card, _, count = machine.partition("-x")
        called = [row for name in CARDS.get(card, ()) for row in rows.get(name, ())]
        of = dollars.of_rows(called, day, int(count or 1))
        if rented := [one for one in of if one.way in ("on-demand", "market")]:
            found[machine] = [_offer(one) for one in rented]
    return found


def _offer(of: dollars.Offer) -> dict[str, Any]:
    kept = ("provider", "item", "as_of", "increment_seconds", "minimum_seconds")
    return {key: getattr(of, key) for key in kept} | {"usd_per_hour": of.usd_per_hour * of.machines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("nets", help="study of the speeds of classic nets")
    parser.add_argument("ledger", type=Path, help="what minutes promised and trainings took (.csv)")
    options = parser.parse_args()
    known = estimates.known()
    tried, classic_nets = estimates.trials(), of_nets(options.nets)
    context = quote.context(known, estimates.offered(), estimates.owned(known), tried, classic_nets)
    page = render.environment().get_template("quote.html.j2")
    kept = ledger.summary(ledger.read(options.ledger))
    write_text(options.output, page.render(**context, ledger=kept, quote_scripts=render.scripts(quote.SCRIPTS)))
    return 0


if __name__ == "__main__":
    errors.run(main)
