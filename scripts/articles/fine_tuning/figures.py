"""What printed minutes and dollars of fine-tuning say of one another: the price of an hour that they imply.

A printed figure stands for all that round to it, so minutes and dollars of a row imply a range of prices. Rows of one
machine should share one.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import pandas as pd

from scripts.articles.fine_tuning.given import OUT_OF_MEMORY
from scripts.costs.billing import cost_usd
from scripts.storage.numbers import number
from scripts.storage.tables import records

_NUMBERS = ("epochs", "minutes", "usd", "peak_memory_gb", "val_loss", "val_perplexity")


def tables(
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    prices: pd.DataFrame,
    given: Sequence[Mapping[str, str]],
) -> dict[str, pd.DataFrame]:
    """Return the tables that the functions below describe, by their names."""
    rows = printed(study, prices, given)
    shared = by_machine(rows, study, prices)
    return {
        "methods": methods(rows, study),
        "several_cards": several_cards(rows, study["fine_tuning"]["compared"]),
        "implied": shared,
        "does_not_fit": does_not_fit(rows, shared),
        "no_memory": rows[rows["outcome"] == OUT_OF_MEMORY],
        "rows": rows,
    }


def printed(study: Mapping[str, Any], prices: pd.DataFrame, given: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return a row per printed row, in their order.

    Columns: those of the table, its numbers as numbers (mmlu as it stands); method (full, lora, qlora), hardware,
    usd_list (the minutes at the study's price), cents (a minute, as printed), per_hour_low and per_hour_high (USD, what
    the printed figures imply), fits (perplexity and loss are one figure, within their rounding).
    """
    about = study["fine_tuning"]
    hourly = prices[prices["price_option"] == study["price"]].set_index("hardware")["usd_per_hour"].astype(float)
    made = []
    for row in given:
        name = about["machines"][row["machine"]]
        values = {key: float(row[key]) if row[key] else None for key in _NUMBERS}
        one: dict[str, Any] = dict(row) | values
        one |= {"hardware": name, "method": row["config"].rpartition("/")[2].removesuffix(".yaml")}
        if values["minutes"] and values["usd"]:
            minutes, usd = values["minutes"], values["usd"]
            off_minutes, off_usd = _half(row["minutes"]), _half(row["usd"])
            one |= {
                "usd_list": cost_usd(60 * minutes, float(hourly[name])),
                "cents": 100 * usd / minutes,
                "per_hour_low": 60 * (usd - off_usd) / (minutes + off_minutes),
                "per_hour_high": 60 * (usd + off_usd) / (minutes - off_minutes),
            }
        if row["val_loss"] and row["val_perplexity"]:
            loss, perplexity, half = float(row["val_loss"]), float(row["val_perplexity"]), _half(row["val_perplexity"])
            low, high = (exp(loss + sign * _half(row["val_loss"])) for sign in (-1, 1))
            one["fits"] = low <= perplexity + half and high >= perplexity - half
        made.append(one)
    return pd.DataFrame(made)


def _half(text: str) -> float:
    """Return half of the last digit of a printed figure."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def by_machine(rows: pd.DataFrame, study: Mapping[str, Any], prices: pd.DataFrame) -> pd.DataFrame:
    """Return the price of an hour that most rows of each machine imply.

    Columns: machine, rows (with dollars), agree (how many imply it), low and high (USD an hour: all that as many
    rows share), usd_per_hour (the study's price).
    """
    hourly = prices[prices["price_option"] == study["price"]].set_index("hardware")["usd_per_hour"].astype(float)
    made = []
    for machine, of_it in rows.dropna(subset="per_hour_low").groupby("machine", sort=False):
        ranges = list(zip(of_it["per_hour_low"].astype(float), of_it["per_hour_high"].astype(float), strict=True))
        agree = {one: sum(low <= one <= high for low, high in ranges) for both in ranges for one in both}
        shared = [one for one, count in agree.items() if count == max(agree.values())]
        made.append(
            {
                "machine": machine,
                "rows": len(of_it),
                "agree": max(agree.values()),
                "low": min(shared),
                "high": max(shared),
                "usd_per_hour": float(hourly[study["fine_tuning"]["machines"][str(machine)]]),
            }
        )
    return pd.DataFrame(made)


def does_not_fit(rows: pd.DataFrame, shared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose dollars are not their minutes at the price that most rows of their machine imply.

    Columns: those of `printed`, and instead: the machines whose price they do imply, empty for none.
    """
    ranges = shared.set_index("machine")
    made = []
    for row in records(rows.dropna(subset="per_hour_low")):
        fitting = [
            str(name)
            for name, one in ranges.iterrows()
            if row["per_hour_low"] <= one["high"] and row["per_hour_high"] >= one["low"]
        ]
        if row["machine"] not in fitting:
            made.append(row | {"instead": ", ".join(fitting)})
    return pd.DataFrame(made, columns=[*rows, "instead"])


def several_cards(rows: pd.DataFrame, compared: Sequence[str]) -> pd.DataFrame:
    """Return the configs that were printed on one card and on several: config, and of each side what it took.

    Columns: config, minutes_one, minutes_several, times (several over one), usd_one, usd_several, dearer (×),
    loss_apart (several - one), memory_alike.
    """
    made = []
    done = rows[rows["outcome"] == ""]
    for config, of_it in done.groupby("config", sort=False):
        sides = of_it.drop_duplicates("machine").set_index("machine")
        if set(compared) <= set(sides.index):
            one, several = (sides.loc[name] for name in compared)
            made.append(
                {
                    "config": config,
                    "minutes_one": one["minutes"],
                    "minutes_several": several["minutes"],
                    "times": several["minutes"] / one["minutes"],
                    "usd_one": one["usd"],
                    "usd_several": several["usd"],
                    "dearer": several["usd_list"] / one["usd_list"],
                    "loss_apart": several["val_loss"] - one["val_loss"],
                    "memory_alike": bool(several["peak_memory_gb"] == one["peak_memory_gb"]),
                }
            )
    return pd.DataFrame(made)


def methods(rows: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what each config takes on the machine of one card where it was printed, else on the other one.

    Columns: those of `printed`; in the order of the table, without rows that ran out of memory.
    """
    order = {name: place for place, name in enumerate(study["fine_tuning"]["compared"])}
    done = rows[rows["outcome"] == ""]
    first = done.assign(place=done["machine"].map(order)).sort_values("place", kind="stable")
    return first.drop_duplicates("config").drop(columns="place").sort_index()


def figures(
    study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Sequence[Mapping[str, str]]
) -> dict[str, float]:
    """Return what of the tables claims may name."""
    pairs, rows, shared = derived["several_cards"], derived["rows"], derived["implied"].set_index("machine")
    one, several = study["fine_tuning"]["compared"]
    cents = records(rows.dropna(subset="cents"))
    return {
        "longest_on_several": float(pairs["times"].max()),
        "shortest_on_several": float(pairs["times"].min()),
        "loss_apart": float(pairs["loss_apart"].abs().max()),
        "rows_that_do_not_fit": float(len(derived["does_not_fit"])),
        "rows_whose_perplexity_does_not_fit": float((rows["fits"] == False).sum()),  # noqa: E712, some are missing
        "usd_per_hour_of_one": float(shared.loc[one, "low"]),
        "usd_per_hour_of_several": float(shared.loc[several, "low"]),
    } | {f"cents_{row['config']}_{row['machine']}": float(row["cents"]) for row in cents}


def answer(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> tuple[str, str]:
    """Return whether several cards cost less than one, in a word and some sentences."""
    pairs = derived["several_cards"]
    one, several = study["fine_tuning"]["compared"]
    low, high = pairs["times"].min(), pairs["times"].max()
    word = "No, as printed" if low > 1 / pairs["dearer"].min() else "It depends, as printed"
    return word, (
        f"{len(pairs)} configs are printed on {one} and on {several}: on four they take {low:.3f} to {high:.3f} times "
        f"as long, at AWS's list for {number(pairs['dearer'].median())} times the dollars. "
        f"{len(derived['no_memory'])} rows ran out of memory."
    )


def further(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return how alike those runs are, why, and which dollars do not fit their minutes."""
    pairs, shared = derived["several_cards"], derived["implied"].set_index("machine")
    one = study["fine_tuning"]["compared"][0]
    off, of_one = derived["does_not_fit"], shared.loc[one]
    return (
        f"They come to a loss within {pairs['loss_apart'].abs().max():.3f}, "
        f"{int(pairs['memory_alike'].sum())} with the same memory. {study['fine_tuning']['says']} {len(off)} of "
        f"the {int(shared['rows'].sum())} rows with dollars do not cost what their machine does: "
        f"{int(of_one['agree'])} of {int(of_one['rows'])} on {one} share {of_one['low']:.2f} to {of_one['high']:.2f} "
        "USD an hour."
    )


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first: which is cheapest, how surely, at which price another is, and of N samples."""
    pairs = derived["several_cards"]
    one, several = study["fine_tuning"]["compared"]
    apart = 100 * (pairs["dearer"] / pairs["times"]).median()
    option = study["prices"][study["price"]]
    hourly = derived["implied"].set_index("machine")["usd_per_hour"].astype(float)
    first = pairs.iloc[0]
    usd = {name: first[f"minutes_{side}"] / 60 * hourly[name] for name, side in ((one, "one"), (several, "several"))}
    return {
        "which": f"{one} for each of the {len(pairs)} configs that are printed on both machines, at "
        f"{option.get('label', study['price'])}; such as {first['config']}: {number(usd[one])} USD, on {several} "
        f"{number(usd[several])}.",
        "sure": f"Each time is printed once, but an hour of {several} costs {apart:.0f} % of one of {one}, and no "
        "config is faster by as much: that is clear.",
        "price": f"With {one} at {number(hourly[one])} USD an hour, {several} costs as much in the median config at "
        f"{number(hourly[one] / pairs['times'].median())} USD an hour, and less in all below "
        f"{number(hourly[one] / pairs['times'].max())} (now {number(hourly[several])}).",
        "samples": "Unknown, as each row is one length of training. N trainings cost N times as much: 1,000 of "
        f"{first['config']} on {one} {number(1000 * usd[one])} USD.",
    }
