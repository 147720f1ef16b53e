"""Results of MLPerf Training in dollars: the tables of the page and the figures of its claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.analysis.verdicts import FEW_RUNS, LESS, MORE, TOO_CLOSE
from scripts.articles.mlperf import card_prices, rounds, scores
from scripts.articles.mlperf.given import Given
from scripts.storage.numbers import number
from scripts.storage.tables import records


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the tables of the page, cards by the names that people know."""
    about, option = study["mlperf"], study["price"]
    priced = list(card_prices.hourly(prices, option, about["accelerators"]))
    labels = {**given.cards} | {name: machine["label"] for name, machine in study["machines"].items()}
    scored = scores.scored(given.results, given.series, labels)
    offered = card_prices.offered(prices, study["prices"], about["accelerators"])
    at_offers = [name for name, one in study["prices"].items() if "offer" in one]
    newest = {name: rounds.newest(scored, about, prices, name) for name in at_offers}
    found = {
        "generations": rounds.generations(scored, about, prices, option),
        **{f"generations_{name}": rounds.generations(scored, about, prices, name) for name in at_offers},
        **{f"newest_{name}": table for name, table in newest.items()},
        "newest": _beside(rounds.newest(scored, about, prices, option), newest, offered["lowest_of"]),
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
    named = {
        name: table.assign(
            **{column: table[column].map(labels) for column in ("card", "new", "old") if column in table.columns}
        )
        for name, table in found.items()
    }
    return named | {"newest": _by_medians(named["newest"], named["generations"])}


def _beside(newest: pd.DataFrame, at: Mapping[str, pd.DataFrame], lowest_of: pd.Series) -> pd.DataFrame:
    """Return the results of the lowest cost with those of the lowest cost at other prices beside them, by benchmark.

    For each of `at` its usd_ and machine_ columns; at the lowest offer the machine is with whose offer that is, and
    apart from it who measured it: a maker's machine is not what that cloud rents out.
    """
    for name, table in at.items():
        named = table["machine"]
        if name == "lowest":
            of = named.str.partition(", ")
            named = of[0] + " at " + table["card"].map(lowest_of) + ", measured by " + of[2]
        columns = {f"usd_{name}": table["usd"], f"machine_{name}": named}
        newest = newest.join(table[["label"]].assign(**columns).set_index("label"), on="label")
    return newest


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the generations as people read them: those of the newest round first, both cards in a word."""
    table = derived["generations"].sort_values("published", ascending=False, kind="stable", ignore_index=True)
    return {"generations": table.assign(cards=table["new"] + " over " + table["old"])}


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first of the newest round; what is clear is so by the rule of verdicts."""
    table = derived["newest"]
    alone = int(table["near"].eq("none").sum())
    at = {name: about["label"] for name, about in study["prices"].items() if f"newest_{name}" in derived}
    whose = derived["providers"].set_index("card")["lowest_of"]
    others = []
    for name, label in at.items():
        there = derived[f"newest_{name}"]
        by = f" ({', '.join(dict.fromkeys(whose[there['card']]))})" if name == "lowest" else ""
        others.append(f"At {label}{by}: {_lowest(there)}.")
    clear = [
        f"{row['label']}: {row['card']}{', by medians of machines of eight cards' if row['by_medians'] else ''}"
        for row in records(table[table["is_card_clear"]])
    ]
    which = f" ({'; '.join(clear)})" if clear else ""
    return {
        "which": f"The lowest cost of the newest round's {len(table)} benchmarks, at the prices of this page "
        f"({study['prices'][study['price']]['label']}): {_lowest(table)}. Each has [its line below](#newest).\n"
        + "\n\n".join(others),
        "sure": f"One card is clearly the cheapest in {len(clear)} of {len(table)}{which}; in the others cards are too "
        f"close to call or have too few results.\n\nBy single results, which maker's machine of a card costs least is "
        f"clear in {alone}: the tables name whose may cost as little.",
        "price": _price(study, derived),
        "samples": f"1,000 trainings of {table['label'].iloc[0]} on {table['machine'].iloc[0]}: "
        f"{number(1000 * table['usd'].iloc[0])} USD at the prices of this page, N of them N times as much. Samples are "
        "not counted: MLPerf trains to a quality.",
    }


def _by_medians(newest: pd.DataFrame, generations: pd.DataFrame) -> pd.DataFrame:
    """Return the newest round with the verdict on the card where medians decide it: those of cards are of several
    results, and tell more than single ones do. Column by_medians says of which rows that is so.
    """
    last = generations[generations["published"] == generations["published"].max()]
    decided = []
    for row in records(newest):
        of = records(last[last["label"] == row["label"]])
        dearer = {one["old"] for one in of if one["new"] == row["card"] and one["told_usd"] == LESS}
        dearer |= {one["new"] for one in of if one["old"] == row["card"] and one["told_usd"] == MORE}
        others = {one.partition(" of ")[2] for one in row["near_others"].split("; ")} - {""}
        decided.append(bool(others) and others <= dearer)
    by_medians = pd.Series(decided, index=newest.index, dtype=bool)
    return newest.assign(
        by_medians=by_medians,
        is_card_clear=newest["is_card_clear"].astype(bool) | by_medians,
        near=newest["near"].where(~by_medians, "the card is clear by medians; as single results " + newest["near"]),
    )


def _price(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return at which price another card wins the benchmark of the newest round with most results of machines of eight,
    and behind it what is known of its other cards, prices and benchmarks.
    """
    table = derived["generations"]
    last = table[table["published"] == table["published"].max()]
    if last.empty:
        return _over_all(table)
    results = (last["new_results"] + last["old_results"]).groupby(last["label"], sort=False).sum()
    label = str(results.idxmax())
    newest = derived["newest"].set_index("label")["card"]
    rows = records(table[(table["label"] == label) & table["usd"].notna()])
    first = next((row for row in rows if row["old"] == newest.get(label)), rows[0])
    said = f"{label}, medians of machines of eight cards, in USD a card-hour: {_even(first)}"
    lowest = derived.get("generations_lowest", table.iloc[:0])
    for one in records(lowest[(lowest["pair"] == first["pair"]) & (lowest["label"] == label)]):
        said += (
            f" At {study['prices']['lowest']['label']} as much at {number(one['even_at'])} "
            f"({one['old']} at {number(one['old_usd_per_hour'])}); now {number(one['usd_per_hour'])}, {_word(one)}."
        )
    return "\n".join([f"{said}\n", *_of_one_benchmark(study, derived, label), _over_all(table)])


def _even(row: Mapping[str, Any]) -> str:
    """Return at which price of its hour a newer card costs as much as the older one, and clearly less."""
    below = f"clearly less below {number(row['pays_below'])}" if row["pays_below"] == row["pays_below"] else ""
    return (
        f"{row['new']} costs as much as {row['old']} (at {number(row['old_usd_per_hour'])}) at "
        f"{number(row['even_at'])}, {below or 'clearly less at no price that is known'}; now "
        f"{number(row['usd_per_hour'])}, {_word(row)}."
    )


def _of_one_benchmark(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], label: str) -> list[str]:
    """Return at which price of its hour each newer card costs as much as the older one, and clearly less, a line each,
    at each price of the page and of offers.
    """
    table = derived["generations"]
    offers = {name: about["label"] for name, about in study["prices"].items() if f"generations_{name}" in derived}
    lines = [f"{label} at the prices of this page, and at offers:"]
    for row in records(table[(table["label"] == label) & table["usd"].notna()]):
        said = _even(row)
        for name, of in offers.items():
            there = derived[f"generations_{name}"]
            same = there[(there["pair"] == row["pair"]) & (there["label"] == label)]
            said += "".join(
                f" At {of} as much as {row['old']} (at {number(one['old_usd_per_hour'])}) at {number(one['even_at'])}, "
                f"now {number(one['usd_per_hour'])}."
                for one in records(same)
            )
        lines.append(said)
    return lines


def _word(row: Mapping[str, Any]) -> str:
    """Return whether a newer card costs less than an older one by the rule, or why that is not known."""
    if row["told_usd"] in (LESS, MORE):
        return f"clearly {row['told_usd']}"
    return TOO_CLOSE if min(row["new_results"], row["old_results"]) >= FEW_RUNS else "too few results"


def _over_all(table: pd.DataFrame) -> str:
    """Return in which benchmarks the newer card of each pair costs clearly less or more, and where the others are."""
    said = []
    for (new, old), of in table.groupby(["new", "old"], sort=False):
        told = [
            f"clearly {word} in {', '.join(of.loc[of['told_usd'] == word, 'label'])}"
            for word in (LESS, MORE)
            if of["told_usd"].eq(word).any()
        ]
        if told:
            said.append(f"{new} over {old} {' and '.join(told)} (of {len(of)})")
    return f"Over all: {'; '.join(said)}. Each benchmark and price: [a newer card over an older one](#generations)."


def _lowest(table: pd.DataFrame) -> str:
    """Return how often each card has the lowest cost, and from and to what that is."""
    each = " and ".join(f"{card} in {count}" for card, count in table["card"].value_counts().items())
    return f"{each}, from {number(table['usd'].min())} to {number(table['usd'].max())} USD a training"


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Given) -> dict[str, float]:
    """Return what of the tables claims may name."""
    return rounds.figures(derived)
