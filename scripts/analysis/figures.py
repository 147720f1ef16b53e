"""What a study shows beside its runs: the tables that its articles derive, and named figures for its claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing
from scripts.storage.tables import records
from scripts.studies import articles


def tables(
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    prices: pd.DataFrame,
    given: Mapping[str, Any],
) -> dict[str, pd.DataFrame]:
    """Return the tables that a study's articles derive, by name; none for a study without; `given` by article."""
    found: dict[str, pd.DataFrame] = {}
    for article in articles.named(study):
        found |= articles.figures(article).tables(study, runs, costs, prices, given.get(article))
    return found


def readable(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the derived tables of a study as people read them."""
    shown = dict(derived)
    for article in articles.named(study):
        if hasattr(articles.figures(article), "readable"):
            shown |= articles.figures(article).readable(derived)
    return shown


def figures(
    study: Mapping[str, Any],
    derived: Mapping[str, pd.DataFrame],
    prices: pd.DataFrame,
    runs: pd.DataFrame,
    given: Mapping[str, Any],
) -> dict[str, float]:
    """Return the named figures that a study's claims may point at."""
    longest = runs.groupby("hardware", sort=False)["train_seconds"].max().dropna() / billing.SECONDS_PER_HOUR
    found = {f"longest_hours_{name}": float(hours) for name, hours in longest.items()}
    for row in records(prices):
        name, hourly = f"{row['hardware']}_{row['price_option']}", float(row["usd_per_hour"])
        found |= {f"usd_per_hour_{name}": hourly, f"usd_a_month_{name}": hourly * billing.HOURS_PER_MONTH}
        found |= {f"usd_per_hour_{end}_{name}": float(row[f"usd_per_hour_{end}"]) for end in ("low", "high")}
        shown = prices[(prices["hardware"] == row["hardware"]) & (prices["price_option"] == study["price"])]
        if len(shown) and shown["usd_per_hour"].iloc[0] > 0:
            found[f"price_share_{name}"] = hourly / float(shown["usd_per_hour"].iloc[0])
    for article in articles.named(study):
        if hasattr(articles.figures(article), "figures"):
            found |= articles.figures(article).figures(study, derived, given.get(article))
    return found


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what an article says of `which` is cheapest, how `sure` that is, at which `price` another wins, and what
    so many `samples` cost; nothing where none says it.
    """
    for article in articles.named(study):
        if "question" in study and hasattr(articles.figures(article), "minute"):
            found: dict[str, str] = articles.figures(article).minute(study, derived)
            return found
    return {}


def answer(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> tuple[str, str] | None:
    """Return what an article answers to its study's question, a word and a sentence; None where none answers."""
    for article in articles.named(study):
        if "question" in study and hasattr(articles.figures(article), "answer"):
            found: tuple[str, str] = articles.figures(article).answer(study, derived)
            return found
    return None


def further(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return what an article says beyond its answer, for a fold below it; empty where it says no more."""
    said = [articles.figures(article) for article in articles.named(study)]
    return " ".join(one.further(study, derived) for one in said if "question" in study and hasattr(one, "further"))


def asked(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the rows of an article by which its readers are led to a quote, by axes of a cell; none of others."""
    said = [articles.figures(article) for article in articles.named(study)]
    return [row for one in said if hasattr(one, "asked") for row in one.asked(study, derived)]
