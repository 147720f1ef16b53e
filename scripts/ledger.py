"""Write the page of the project's own ledger: what minutes of `epd run` promised, and what the trainings then took."""

import argparse
from pathlib import Path

from markupsafe import Markup

from scripts.charts import _ledger, _theme
from scripts.pages import render
from scripts.records import ledger
from scripts.storage import errors
from scripts.storage.files import write_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger", type=Path, help="the ledger (.csv)")
    parser.add_argument("output", type=Path, help="page to write (.html)")
    options = parser.parse_args()
    rows = ledger.read(options.ledger)
    if not rows:
        raise errors.InputError(f"{options.ledger}: has no row")
    picture = None
    if chart := _ledger.draw(rows):
        svg = Markup(_theme.svg(chart, "ledger"))  # noqa: S704, our own drawing
        picture = {
            "svg": svg,
            "finding": chart.finding,
            "caption": chart.caption,
            "description": chart.description,
        }
    text = render.page(
        "ledger.html.j2",
        rows=sorted(rows, key=lambda row: row.date, reverse=True),
        summary=ledger.summary(rows),
        picture=picture,
        near=ledger.NEAR,
        source=options.ledger.name,
    )
    write_text(options.output, text)
    return 0


if __name__ == "__main__":
    errors.run(main)
