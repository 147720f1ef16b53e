"""The head of a page of a folder of logs: in a sentence what the runs cost, and a table of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.analysis.names import GIVEN, provider_name
from scripts.importers import naming
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import duration, number
from scripts.storage.tables import records
from scripts.storage.words import shortened
from scripts.studies import definition

#: So many rows are seen when the page opens, and so many letters of a run's name.
_SHOWN, _LETTERS = 20, 44

_STEPS = 1000


def context(inputs: Inputs) -> dict[str, Any]:
    """Return `logs`: words, rows (the dearest first), the sum of all, and which columns have a value; else None.

    None for a study that is no folder of logs, and for logs that hold rates alone.
    """
    logs = inputs.logs
    if not definition.is_folder(inputs.study) or logs.empty:
        return {"logs": None}
    if logs["train_seconds"].isna().all() and logs["samples_per_second"].notna().any():
        return {"logs": None}
    paid = inputs.shown.set_index("run")
    rows = [_row(run, paid, inputs) for run in records(logs)]
    rows.sort(key=lambda row: (row["seconds"] is None, -(row["usd"] or 0.0), -(row["seconds"] or 0.0)))
    timed = [row for row in rows if row["seconds"] is not None]
    usd = [row["usd"] for row in rows if row["usd"] is not None]
    total = {"seconds": sum(row["seconds"] for row in timed), "usd": sum(usd) if usd else None}
    columns = ("machine", "usd", "usd_per_epoch", "usd_per_steps", "best")
    filled = [name for name in columns if any(row[name] is not None for row in rows)]
    if len({row["machine"] for row in rows}) == 1:
        filled.remove("machine")
    return {
        "logs": {
            "words": _words(rows, timed, total, inputs),
            "rows": rows[:_SHOWN],
            "more": rows[_SHOWN:],
            "total": total,
            "filled": filled,
        }
    }


def _row(run: Mapping[str, Any], paid: pd.DataFrame, inputs: Inputs) -> dict[str, Any]:
    usd = _known(paid["cost_usd"].get(run["run"]))
    title = run["name"] if pd.notna(run["name"]) else naming.title_of(run["run"])
    best = "" if pd.isna(run["best"]) else f"{number(run['best'], 4)} {run['best_of']}"
    remarks = [str(run["remarks"])] if pd.notna(run["remarks"]) else []
    if usd is not None and pd.isna(run["devices"]):
        cards = inputs.machines[run["hardware"]].get("gpus", {}).get("count", 1)
        remarks.append(f"its log does not say how many cards: {cards} {'is' if cards == 1 else 'are'} priced")
    return {
        "name": shortened(title, _LETTERS),
        "run": run["run"],
        "read_as": inputs.study["import"]["format"] if pd.isna(run["read_as"]) else run["read_as"],
        "machine": inputs.labels.get(run["hardware"], run["hardware"]),
        "seconds": _known(run["train_seconds"]),
        "usd": usd,
        "usd_per_epoch": _ratio(usd, run["epochs_done"]),
        "usd_per_steps": _ratio(usd, run["steps_done"], _STEPS),
        "best": best or None,
        "rule": "" if pd.isna(run["seconds_from"]) else str(run["seconds_from"]),
        "remarks": "; ".join(remarks),
    }


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def _ratio(usd: float | None, count: Any, times: int = 1) -> float | None:
    return None if usd is None or pd.isna(count) or not count else times * usd / float(count)


def _words(
    rows: Sequence[Mapping[str, Any]],
    timed: Sequence[Mapping[str, Any]],
    total: Mapping[str, float | None],
    inputs: Inputs,
) -> str:
    """Return in a sentence or two how long all runs took and what they cost, and which ends they have."""
    silent = len(rows) - len(timed)
    lacking = f"{_runs(silent)} without a time: the table says what would add it." if silent else ""
    if not timed:
        return f"{_runs(len(rows))}, and none has a time: the table says what would add it."
    took = f"{_runs(len(timed))} took {duration(total['seconds'] or 0.0)}"
    longest = max(timed, key=lambda row: row["seconds"])
    priced = [row for row in timed if row["usd"] is not None]
    if not priced:
        ends = f" The longest took {duration(longest['seconds'])} ({longest['name']})." if len(timed) > 1 else ""
        return f"{took}. There are no dollars, as no price was given.{ends} {lacking}".strip()
    cheapest = min(priced, key=lambda row: row["usd"])
    ends = (
        f" The cheapest cost {number(cheapest['usd'])} USD ({cheapest['name']}), the longest took "
        f"{duration(longest['seconds'])} ({longest['name']})."
    )
    cost = f" and cost {number(total['usd'])} USD" + ("" if len(priced) == len(timed) else f" ({len(priced)} of them)")
    return f"{took}{cost}, at {_price(inputs)}.{ends if len(timed) > 1 else ''} {lacking}".strip()


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"


def _price(inputs: Inputs) -> str:
    """Return in words which price the dollars are at: that of the command line by the card, others by the machine."""
    shown = inputs.shown.dropna(subset="cost_usd").drop_duplicates("hardware")
    found = []
    for row in records(shown):
        provider, hourly = row["provider"], float(row["usd_per_hour"])
        if provider == GIVEN:
            cards = sum(inputs.machines[row["hardware"]]["rent"]["items"].values())
            found.append(f"{provider_name(provider)}: {number(hourly / cards)} USD an hour of one card")
        else:
            place = " ".join(filter(None, [provider_name(provider), "" if pd.isna(row["region"]) else row["region"]]))
            label = inputs.labels.get(row["hardware"], row["hardware"])
            found.append(f"{number(hourly)} USD an hour of {label} ({place}, {row['price_as_of']})")
    return " and ".join(dict.fromkeys(found))
