"""Two sources of the same net on the same cards: their rates side by side, and every row of the second one.

Nothing is pooled: a ratio is arithmetic of a study's median and one printed figure. They differ in year, software,
batch size and machine, so it says how far published rates lie apart, and not who is right.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.studies import definition

#: What makers call arithmetic -> what studies do.
PRECISIONS = {"mixed": "float16", "fp32": "float32", "tf32": "float32"}

_CELL = ["workload", "card", "devices", "precision"]
_ROW = ["source", "row"]

#: Columns of `each_row`, by arithmetic.
_BITS = {"mixed": "16", "bf16": "16", "fp32": "32", "tf32": "32"}

_BESIDE, _READ = "set beside", "read, not set beside"


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return `second_source`, `second_source_counts` and `second_source_rows`, as the functions below describe them."""
    pairs = beside(study, runs, given)
    return {
        "second_source": pairs,
        "second_source_counts": counts(given, pairs),
        "second_source_rows": each_row(given),
    }


def beside(study: Mapping[str, Any], runs: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the study's median rate of each cell beside the highest printed one of each framework.

    Columns: those of `_CELL` (the card as the second source calls it), hardware, batch_size (of one card) and rate of
    the study, by, framework, arithmetic, batch_per_card, theirs (rate), unit, published, is_same_code, ratio (the
    study's over theirs), source, row.
    """
    about = study["second_source"]
    nets = pd.DataFrame(
        [
            {"workload": name, "net": net, "task": of.get("task", ""), "unit": of["unit"]}
            for name, of in about["workloads"].items()
            for net in of["nets"]
        ]
    )
    read = rows[rows["left_out"].eq("") & rows["kind"].eq("throughput")]
    theirs = read.merge(nets, on=["net", "task", "unit"]).rename(columns={"cards": "devices", "rate": "theirs"})
    theirs = theirs.assign(arithmetic=theirs["precision"], precision=theirs["precision"].map(PRECISIONS))
    theirs = theirs.sort_values("theirs", ascending=False, kind="stable").drop_duplicates([*_CELL, "framework"])

    done = runs[runs["status"] == "done"].dropna(subset="samples_per_second")
    cards = definition.cards(study["machines"])
    ours = done.assign(card=done["hardware"].map(cards).map(about["cards"])).dropna(subset="card")
    by_cell = ours.groupby([*_CELL, "hardware", "batch_size"], sort=False, dropna=False)["samples_per_second"]
    found = by_cell.median().rename("rate").reset_index().merge(theirs, on=_CELL)

    place = {name: at for at, name in enumerate(about["workloads"])}
    found = found.assign(
        by=about["by"],
        is_same_code=found["framework"] == about["code"],
        ratio=(found["rate"] / found["theirs"]).astype(float),
        place=found["workload"].map(place),
    )
    found = found.sort_values(
        ["place", "is_same_code", "framework", "card", "precision", "devices"],
        ascending=[True, False, True, True, True, True],
        kind="stable",
    )
    columns = [*_CELL, "hardware", "batch_size", "rate", "by", "framework", "arithmetic"]
    columns += ["batch_per_card", "theirs", "unit", "published", "is_same_code", "ratio", *_ROW]
    found["batch_per_card"] = found["batch_per_card"].mask(found["batch_per_card"].eq(""))
    table: pd.DataFrame = found[columns].reset_index(drop=True)
    return table


def counts(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return what became of the rows, each counted once: `what`, `rows` and the `figures` in them.

    A row of which no figure was read counts under the reason of its first one.
    """
    used = set(zip(pairs["source"], pairs["row"], strict=True))
    made = [
        {
            "what": _BESIDE if key in used else _READ if "" in list(of["left_out"]) else of["left_out"].iloc[0],
            "rows": 1,
            "figures": int(of["rate"].notna().sum()),
        }
        for key, of in rows.groupby(_ROW, sort=False)
    ]
    table = pd.DataFrame(made).groupby("what", sort=False).sum().reset_index()
    order = table["what"].map({_BESIDE: 0, _READ: 1}).fillna(2)
    table = table.assign(order=order).sort_values(["order", "rows"], ascending=[True, False], kind="stable")
    return table.drop(columns="order").reset_index(drop=True)


def each_row(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every row of the second source in its order, its figures side by side.

    Columns: net, task, framework, system, card, cards, batch_32 and batch_16 (of one card), rate_32 and
    rate_16, hours_32 and hours_16 (to train), unit, note, left_out, source (file, line of the table, row). Two figures
    of one kind are parted by a slash.
    """
    made = []
    for _, of in rows.groupby(_ROW, sort=False):
        first = of.iloc[0]
        line = {name: first[name] or None for name in ("net", "task", "framework", "system", "card", "cards")}
        is_rate, bits = of["kind"] == "throughput", of["precision"].map(_BITS)
        printed = of["rate"].map("{:,.10g}".format)
        for side in ("32", "16"):
            line[f"batch_{side}"] = _joined(of.loc[bits == side, "batch_per_card"])
            line[f"rate_{side}"] = _joined(printed[is_rate & bits.eq(side)])
            line[f"hours_{side}"] = _joined(printed[~is_rate & bits.eq(side)])
        line |= {"unit": _joined(of.loc[is_rate, "unit"]), "note": _joined(of["note"])}
        line |= {"left_out": _joined(of["left_out"])}
        made.append(line | {"source": f"{first['source'].partition(':')[2]}, row {first['row']}"})
    return pd.DataFrame(made)


def _joined(texts: pd.Series) -> str | None:
    """Return texts that differ, parted by slashes; None for none."""
    return " / ".join(dict.fromkeys(text for text in texts if text)) or None
