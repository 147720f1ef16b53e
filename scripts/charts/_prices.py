"""What every chart of costs says of its prices."""

import pandas as pd


def days(priced: pd.DataFrame) -> str:
    """Return in a few words of which days prices are (rows of the costs table)."""
    dates = sorted(set(priced["price_as_of"].dropna()) - {""})
    return f"prices of {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "") if dates else "undated prices"


def dated(priced: pd.DataFrame) -> str:
    """Return when and where prices hold (rows of the costs table), in words: `prices of 2026-05-15, us-central1`."""
    dates, regions = (sorted(set(priced[column].dropna()) - {""}) for column in ("price_as_of", "region"))
    return ", ".join(filter(None, (f"prices of {' and '.join(dates)}" if dates else "", " and ".join(regions))))


def billing(costs: pd.DataFrame) -> str:
    """Return in words how trainings are billed (rows of the costs table, of one price option or of several)."""
    in_a_row = costs["in_a_row"].astype(bool)
    alone, others = costs[~in_a_row], ", ".join(dict.fromkeys(costs.loc[in_a_row, "price_option"]))
    if alone.empty:
        return "one after another, without minimum and rounding"
    steps, least = (
        " or ".join(f"{seconds:g} s" for seconds in sorted(set(alone[name].dropna())))
        for name in ("increment_seconds", "minimum_seconds")
    )
    words = f"billed alone in steps of {steps}" + (
        f", at least {least}" if (alone["minimum_seconds"] > 0).any() else ""
    )
    return f"{words} ({others}: one after another, without minimum and rounding)" if others else words
