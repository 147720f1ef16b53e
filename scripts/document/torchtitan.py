"""Quotes beside speeds of torchtitan, PyTorch's own trainer, which no quote is made from."""

from math import exp, log
from statistics import median

from scripts.estimate import question, trial
from scripts.estimate.known import Known, day
from scripts.estimate.rates import rates
from scripts.storage.files import read_csv
from scripts.storage.numbers import rounded
from scripts.workflow.estimates import ROOT

FILE = ROOT / "reports" / "published" / "sources" / "torchtitan.csv"

COLUMNS = (
    *("model", "published", "card", "cards", "precision", "sequence_length"),
    *("tokens_per_second_per_card", "note", "source"),
)


def lines(known: Known, until: str) -> list[str]:
    """Return a table (Markdown) of printed speeds and quotes by name as of a day, and how good the quotes were."""
    heads = ("model", "card", "cards", "precision", "length", "printed", "of", "said", "80 %", "off by", "rests on")
    found = [f"| {' | '.join(heads)} |", "| --- | --- | ---: | --- | ---: | ---: | --- | ---: | --- | ---: | --- |"]
    off, held = [], []
    for _, row in read_csv(FILE, COLUMNS):
        length, printed = float(row["sequence_length"]), float(row["tokens_per_second_per_card"])
        asked = question.ask(
            known, model=row["model"], tokens=1e9, precision=row["precision"], length=length, software="torchtitan"
        )
        said = next(one for one in rates(known, asked, [], day(until)).answers if one.card == row["card"])
        held.append(said.low <= printed <= said.high)
        off.append(log(said.middle / printed))
        cells = (
            row["model"],
            row["card"] + (f" {row['note']}" if row["note"] else ""),
            *(row["cards"], row["precision"], f"{length:,.0f}", rounded(printed), row["published"] or "undated"),
            *(rounded(said.middle), f"{rounded(said.low)} to {rounded(said.high)}{'' if held[-1] else ', outside'}"),
            *(f"{exp(off[-1]):.2f}", said.basis),
        )
        found.append(f"| {' | '.join(cells)} |")
    middle, tenth = trial.spread(off)
    return [
        *found,
        "",
        f"{len(off)} speeds: off by {middle:.2f} / {tenth:.2f}, mostly too fast ({exp(median(off)):.2f} times in the "
        f"median), and {sum(held) / len(held):.0%} lie in the interval.",
    ]
