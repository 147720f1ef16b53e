"""What each part of a run costs, from the start of its machine until it is paid for no longer. Pure."""

import numpy as np
import pandas as pd

from scripts.storage.axes import CELL
from scripts.storage.tables import cells_of

#: Parts of a process in their order, and the columns of the runs table that make them up; the rest is `REST`.
PROCESS = {
    "start and import": ("launch_seconds", "spawn_seconds", "import_seconds"),
    "data": ("data_seconds",),
    "build": ("build_seconds", "setup_seconds"),
    "first step": ("first_step_seconds",),
    "training": ("training_seconds",),
    "validation": ("validation_seconds",),
    "end of the loop": ("return_seconds",),
}
REST = "exit and rest"

#: Parts of what is paid: before the process, in it, what preemptions take, and what is billed and not used.
BOOT, PREEMPTIONS, IDLE = "boot", "preemptions", "idle"
PAID = (BOOT, *PROCESS, REST, PREEMPTIONS, IDLE)


def by_cell(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return two rows per cell, of the columns of the cell, `of`, `n`, `total` and those of `PAID` (USD).

    `of` is a column of the costs table: `cost_usd`, the bill of a training of full length, and
    `billed_usd`, that of the run as it was, with what its machine took to start and what the provider rounds up.
    `total` is the cell's median of it, over the `n` runs that have it. The parts are the medians of those runs that
    record the life of their process, all scaled by what makes them add up to `total`. A cell without such a run has no
    rows; imported logs, which hold whole trainings only, have none.

    Args:
        runs: the runs table.
        costs: rows of the costs table of one price option.
    """
    paid = costs.dropna(subset="cost_usd")
    cells = cells_of(paid)
    names = paid["run"].to_numpy()
    cell_of_run = {run: number for number, (_, places) in enumerate(cells) for run in names[places]}
    medians, totals = {}, {}
    for of, parts in by_run(runs, costs).items():
        middle = parts[list(PAID)].groupby(parts["run"].map(cell_of_run)).median()
        medians[of] = dict(zip(middle.index.astype(int), middle.to_numpy(), strict=True))
        totals[of] = paid[of].astype(float).to_numpy()
    rows = []
    for number, (about, places) in enumerate(cells):
        for of, each in medians.items():
            if number not in each or not each[number].sum() > 0:
                continue
            total = float(np.nanmedian(totals[of][places]))
            scaled = each[number] / each[number].sum() * total
            rows.append(about | {"of": of, "n": len(places), "total": total} | dict(zip(PAID, scaled, strict=True)))
    return pd.DataFrame(rows, columns=[*CELL, "of", "n", "total", *PAID])


def by_run(runs: pd.DataFrame, costs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the seconds of the parts of each run that records them: of `cost_usd` and of `billed_usd`.

    Columns: `run` and those of `PAID`, which add up to paid_seconds, and to billed_seconds, of the costs table.
    """
    clocks = [column for columns in PROCESS.values() for column in columns]
    runs = runs if "observed_seconds" in runs else runs.assign(observed_seconds=np.nan)
    rates = ["samples_per_second", "published_samples", "published_seconds", "observed_seconds"]
    table = costs.merge(runs[["run", "total_seconds", *rates, *clocks]], on="run")
    table = table.dropna(subset=["total_seconds", "training_seconds", "used_seconds", "billed_seconds"])
    numbers = table.select_dtypes("number").astype(float)
    lost, boot = numbers["lost_seconds"].fillna(0.0), numbers["boot_seconds"].fillna(0.0)
    # The parts of a command are known of its whole alone, and not of the time that was watched.
    watched = numbers["observed_seconds"].notna()
    lived = numbers["lived_seconds"].mask(watched, numbers["total_seconds"] + lost)
    process = lived - lost
    named = pd.DataFrame({part: numbers[list(columns)].sum(axis=1) for part, columns in PROCESS.items()})
    # Two processes read the clock: what they record may be longer than it was by as much as that takes.
    named = named.mul((process / named.sum(axis=1)).clip(upper=1), axis=0)
    rest = process - named.sum(axis=1)
    billed = named.assign(**{BOOT: boot, REST: rest, PREEMPTIONS: lost, IDLE: numbers["billed_seconds"] - boot - lived})
    # A training of full length takes so much more: its samples at the steady rate, the rest is validation.
    more = numbers["used_seconds"] - lived
    steady = numbers["published_samples"] / numbers["samples_per_second"]
    training = steady.where(numbers["published_seconds"].notna(), named["training"] + more)
    validation = named["validation"] + more - (training - named["training"])
    start = boot.mask(table["in_a_row"].astype(bool), 0.0)
    idle = numbers["paid_seconds"] - start - numbers["used_seconds"]
    published = billed.assign(training=training, validation=validation, **{BOOT: start, IDLE: idle})
    each = (("cost_usd", published), ("billed_usd", billed[~watched]))
    return {of: parts.assign(run=table.loc[parts.index, "run"]) for of, parts in each}
