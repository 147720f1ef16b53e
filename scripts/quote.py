"""Write the front door of the published studies: a page that quotes a training on every machine with a price."""

import argparse
from pathlib import Path
from typing import Any

from scripts.estimate import classic
from scripts.importers import facts
from scripts.pages import quote, render
from scripts.records import ledger
from scripts.storage import errors, schemas, tables
from scripts.storage.files import write_text
from scripts.studies import definition
from scripts.workflow import estimates

ROOT = Path(__file__).resolve().parents[1]


def nets(study: str, prices: Path) -> dict[str, Any]:
    """Return what classic nets are quoted from: the rates that a study of them imports, and its prices."""
    _, about = definition.read(study, {})
    rows = tables.records(facts.read(ROOT / about["import"]["facts"]))
    rates = classic.rates(rows)
    offers: dict[str, list[dict[str, Any]]] = {}
    for row in tables.records(tables.read_csv("prices", prices)):
        if row["purchase"] == "on-demand":
            item = about["prices"].get(row["price_option"], {}).get("label", row["price_option"])
            offer = {"provider": row["provider"], "item": item, "as_of": row["price_as_of"]}
            terms = ("usd_per_hour", "increment_seconds", "minimum_seconds")
            offers.setdefault(row["hardware"], []).append(offer | {key: row[key] for key in terms})
    machines = definition.machines(about, schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware"))
    cards = {card: machines[card]["label"] for card in dict.fromkeys(card for _, _, card in rates)}
    return quote.classic_data(rates, len(classic.slips(rows)), cards, offers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("nets", help="study of the speeds of classic nets")
    parser.add_argument("prices", type=Path, help="its prices (.csv)")
    parser.add_argument("ledger", type=Path, help="what minutes promised and trainings took (.csv)")
    options = parser.parse_args()
    known = estimates.known()
    context = quote.context(
        known, estimates.offered(), estimates.owned(known), estimates.trials(), nets(options.nets, options.prices)
    )
    page = render.environment().get_template("quote.html.j2")
    kept = ledger.summary(ledger.read(options.ledger))
    write_text(options.output, page.render(**context, ledger=kept, quote_scripts=render.scripts(quote.SCRIPTS)))
    return 0


if __name__ == "__main__":
    errors.run(main)
