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
