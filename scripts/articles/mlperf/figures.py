"""Results of MLPerf Training in dollars: the tables of the page and the figures of its claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.articles.mlperf import card_prices, rounds, scores
from scripts.articles.mlperf.given import Given
from scripts.storage.numbers import number


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the tables of the page, cards by the names that people know."""
    about, option = study["mlperf"], study["price"]
    priced = list(card_prices.hourly(prices, option, about["accelerators"]))
    labels = {**given.cards} | {name: machine["label"] for name, machine in study["machines"].items()}
    scored = scores.scored(given.results, given.series, labels)
    offered = card_prices.offered(prices, study["prices"], about["accelerators"])
    newest = rounds.newest(scored, about, prices, option).join(offered, on="card")
    found = {
        "generations": rounds.generations(scored, about, prices, option),
        **{
            f"generations_{name}": rounds.generations(scored, about, prices, name)
            for name, one in study["prices"].items()
            if "offer" in one
        },
        **{
            f"newest_{name}": rounds.newest(scored, about, prices, name)
            for name, one in study["prices"].items()
            if "offer" in one
        },
        "newest": newest.assign(**{f"usd_{one}": newest["hours"] * newest[one] for one in ("lowest", "median")}),
        "cheapest": rounds.cheapest(scored, about, prices, option),
        "trainings": rounds.trainings(scored, about, prices, option),
        "software": rounds.software(scored, about["submitter"]),
        "scale": rounds.scale(scored),
        "spread": rounds.spread(scored),
        "clocks": rounds.clocks(scored),
        "providers": card_prices.providers(prices, about).join(offered, on="card"),
        "owned": card_prices.owned(scored, about, prices, option, study["machines"]),
        "rounds": rounds.counts(scored, priced),
        "omitted": rounds.omitted(scored, priced, labels, card_prices.elsewhere(prices, about, priced)),
    }
    return {
        name: table.assign(
            **{column: table[column].map(labels) for column in ("card", "new", "old") if column in table.columns}
        )
        for name, table in found.items()
    }


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first of the newest round; what is clear is so by the rule of verdicts."""
    table = derived["newest"]
    alone = int(table["near"].eq("none").sum())
    at = {f"newest_{name}": about["label"] for name, about in study["prices"].items() if f"newest_{name}" in derived}
    others = [f"At {label}: {_lowest(derived[name])}." for name, label in at.items()]
    clear = int(table["is_card_clear"].sum())
    return {
        "which": "\n".join(
            [
                f"The lowest cost of the newest round's {len(table)} benchmarks, at the prices of this page "
                f"({study['prices'][study['price']]['label']}): {_lowest(table)}. Each has [its line below](#newest).",
                *others,
            ]
        ),
        "sure": f"One machine is clearly the cheapest in {alone} of {len(table)}, one card in {clear}; in the others "
        'those under "may cost as little" are too close to call or have too few results.',
        "price": "Each benchmark: [a newer card over an older one](#generations). These are medians of machines of "
        "eight cards; the lowest costs above are single results, of any maker and number of cards: a card may have "
        "them and not pay.",
        "samples": "Unknown for samples, as MLPerf trains to a quality. N trainings cost N times as much.",
    }


def _lowest(table: pd.DataFrame) -> str:
    """Return how often each card has the lowest cost, and from and to what that is."""
    each = " and ".join(f"{card} in {count}" for card, count in table["card"].value_counts().items())
    return f"{each}, from {number(table['usd'].min())} to {number(table['usd'].max())} USD a training"


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Given) -> dict[str, float]:
    """Return what of the tables claims may name."""
    return rounds.figures(derived)
