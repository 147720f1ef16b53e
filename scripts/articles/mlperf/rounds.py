"""Rounds of MLPerf Training in dollars: hours of accelerators times what such an hour is rented for, by one provider.

Tables for a page, from the scored results (`scores.scored`) and the prices of their accelerators
(`card_prices`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import noise
from scripts.analysis.trainings import BY, CALLED, LEAST_SHARE, MEASURED, PART, TRAINING
from scripts.analysis.verdicts import SIGNIFICANT, Judge, family_wise, settled_by, undecided, why
from scripts.articles.mlperf import card_prices, scores
from scripts.storage.axes import CELL
from scripts.storage.tables import records
from scripts.storage.words import NAMED, few

#: What stands beside each score that is worked out here, as MLCommons' guidelines for messages about results ask.
UNVERIFIED = "unverified"

#: From so many submitters on it is worth showing how far they lie apart.
_SUBMITTERS = 4

#: From so many sizes on a line shows what scale costs.
_SIZES = 3

#: Columns of the tables that `figures` reads, which may have no row.
_GENERATIONS = [
    *("pair", "new", "old", "series", "label", "round", "published", "new_results", "old_results"),
    *("hours", "hours_low", "hours_high", "usd", "told_hours", "told_usd", "first_list", "usd_then"),
    *("usd_per_hour", "old_usd_per_hour", "pays_share", "dearer_share", "even_at", "pays_below"),
]
_CHEAPEST = [
    *("series", "label", "round", "card", "accelerators", "usd", "minutes", "not_told", "than_first", "usd_then"),
    *("fastest_minutes", "hours", "submitter", "system", "published"),
]
_NEWEST = ["label", "machine", "card", "hours", "minutes", "usd", "usd_per_hour", "price_as_of", "near"]
_NEWEST += ["near_named", "near_others", "is_card_clear", "entry"]
_SCALE = [
    *("series", "label", "submitter", "card", "round", "accelerators"),
    *("minutes", "hours", "cards", "faster", "dearer"),
]


def judge(scored: pd.DataFrame) -> Judge:
    """Return what distinguishes results of one benchmark and round; a machine is one by its place in the table's index.

    What is known of a benchmark is the noise of the runs of all its results. Each result is on a machine of its own,
    and all that are compared are one family.
    """
    noises: dict[str, noise.Noise] = {}
    rows: list[dict[str, Any]] = []
    for _, group in scored.groupby("series", sort=False):
        runs = {str(place): scores.seconds(text) for place, text in group["seconds"].items()}
        noises |= dict.fromkeys(runs, noise.pooled(runs.values(), "the runs of its results") or noise.UNKNOWN)
        of = zip(runs, group["series"] + group["round"], strict=True)
        rows += [{"workload": one, "hardware": name, "train_seconds": each} for name, one in of for each in runs[name]]
    runs_of = pd.DataFrame(rows, columns=[*CELL, "train_seconds"]).assign(status="done")
    found = Judge(noise.UNKNOWN, SIGNIFICANT, noises, {name: name for name in noises})
    return replace(found, level=min(SIGNIFICANT, found.level_of(runs_of)))


def _priced(scored: pd.DataFrame, usd_per_hour: Mapping[str, float]) -> pd.DataFrame:
    """Return the results that are compared and have a price, with `usd`, `rate` (USD a second) and `of`.

    `of` are the seconds of the runs of each.
    """
    found = scored[scored["compared"] & scored["hours"].notna() & scored["card"].isin(usd_per_hour)].copy()
    hourly = found["card"].map(usd_per_hour).astype(float)
    found["usd"] = found["hours"].astype(float) * hourly
    found["rate"] = hourly * found["accelerators"].astype(float) / 3600
    found["of"] = [
        factor * np.array(scores.seconds(text)) for factor, text in zip(found["factor"], found["seconds"], strict=True)
    ]
    return found


def _near(judge: Judge, ordered: pd.DataFrame, power: float) -> pd.DataFrame:
    """Return which of results, best first, differ from it by seconds x rate ** power not clearly, and the `reason`."""
    values = [row["of"] * row["rate"] ** power for row in records(ordered)]
    found = undecided(judge, values[0], values[1:], list(map(str, ordered.index)))
    return ordered.iloc[1:].iloc[list(found)].assign(reason=list(found.values()))


def counts(scored: pd.DataFrame, priced: Sequence[str]) -> pd.DataFrame:
    """Return a row per round: results and runs, and how many results are left out of the comparisons, and why."""
    rows = []
    for round_, group in scored.groupby("round", sort=False):
        had = group["availability"].isin(["preview", "research"])
        compared = group[group["compared"]]
        rows.append(
            {
                "round": round_,
                "published": group["published"].iloc[0],
                "submitters": group["submitter"].nunique(),
                "results": len(group),
                "runs": int(group["runs"].sum()),
                "failed": int(group["failed"].sum()),
                "unscored": int(group["minutes"].isna().sum()),
                "open": int(group["division"].eq("open").sum()),
                "not_to_be_had": int(had.sum()),
                "copies": int(group["copy_of"].ne("").sum()),
                "compared": len(compared),
                "priced": int((compared["card"].isin(priced) & compared["accelerators"].notna()).sum()),
            }
        )
    return pd.DataFrame(rows)


def omitted(
    scored: pd.DataFrame, priced: Sequence[str], labels: Mapping[str, str], elsewhere: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Return what has no score, no accelerator or no price, and how many results that is: reason, which, results.

    `elsewhere` are the providers of cards that are priced, at another option than the page's: prices of several
    providers are not mixed, as they lie further apart than cards.
    """
    rows = [
        {"reason": "no score", "which": f"{row['round']} {row['submitter']} {row['system']}", "what": row["why"]}
        for row in records(scored[scored["minutes"].isna()])
    ]
    unknown = scored[scored["card"].eq("") | (scored["accelerators"].isna() & scored["card"].ne("cpu"))]
    rows += [
        {
            "reason": "not attributed",
            "which": f"{row['round']} {row['submitter']} {row['system']}",
            "what": "which accelerator" if not row["card"] else "how many accelerators",
        }
        for row in records(unknown)
    ]
    rest = scored[scored["compared"] & scored["card"].ne("") & ~scored["card"].isin(priced)]
    rows += [
        {
            "reason": "no price",
            "which": labels.get(str(card), str(card)),
            "what": f"rented by {' and '.join(elsewhere[card])} alone, whose prices are not mixed with the page's"
            if card in elsewhere
            else "rented by none of the price books",
        }
        for card in rest["card"]
    ]
    if not rows:
        return pd.DataFrame(columns=["reason", "which", "what", "results"])
    return pd.DataFrame(rows).groupby(["reason", "which", "what"], sort=False).size().reset_index(name="results")


def generations(scored: pd.DataFrame, about: Mapping[str, Any], prices: pd.DataFrame, option: str) -> pd.DataFrame:
    """Return what a newer card takes of an older one's accelerator-hours, and of its dollars, by series.

    Both sides are single machines of eight in one round, the last that has both, so software is of one age: medians
    over the results, and the range from the best of one side over the worst of the other.

    Columns: pair, new, old, series, label, round, published, new_results, old_results, hours, hours_low, hours_high,
    usd (at `option`), first_list (the first dated list since the round was published that has both cards; empty if
    none has), usd_then (at its prices), usd_per_hour (of a newer card), old_usd_per_hour, and at which share of the
    newer card's price it is clearly cheaper (pays_share; 0 for none) and not clearly dearer (dearer_share); pays_below
    is the former in dollars, missing for none, even_at the price at which the medians cost as much.
    """
    today = card_prices.hourly(prices, option, about["accelerators"])
    single = scored[scored["compared"] & scored["accelerators"].eq(card_prices.ONE_MACHINE)]
    rows = []
    for old, new in about["generations"]:
        for series, group in single.groupby("series", sort=False):
            sides = {card: group[group["card"] == card] for card in (old, new)}
            both = [
                name for name in group["round"].unique() if all(name in set(one["round"]) for one in sides.values())
            ]
            if not both:
                continue
            of_round = {card: one.loc[one["round"] == both[-1], "hours"].astype(float) for card, one in sides.items()}
            day = group.loc[group["round"] == both[-1], "published"].iloc[0]
            since, then = card_prices.first_list(prices, about, day, (old, new))
            hours = of_round[new].median() / of_round[old].median()
            dollars = _ratio(today, new, old)
            rows.append(
                {
                    "pair": f"{new}/{old}",
                    "new": new,
                    "old": old,
                    "series": series,
                    "label": group["label"].iloc[0],
                    "round": both[-1],
                    "published": day,
                    "new_results": len(of_round[new]),
                    "old_results": len(of_round[old]),
                    "hours": hours,
                    "hours_low": of_round[new].min() / of_round[old].max(),
                    "hours_high": of_round[new].max() / of_round[old].min(),
                    "usd": hours * dollars,
                    "sides": [of_round[card].to_numpy(dtype=float) for card in (new, old)],
                    "dollars": dollars,
                    "usd_per_hour": today.get(new, np.nan),
                    "old_usd_per_hour": today.get(old, np.nan),
                    "first_list": since,
                    "usd_then": hours * _ratio(then, new, old),
                }
            )
    return _judged(rows, single)


def _judged(rows: Sequence[Mapping[str, Any]], single: pd.DataFrame) -> pd.DataFrame:
    """Return generations with the words of their hours and dollars: by how far makers of one machine lie apart."""
    makers = [group["hours"] for _, group in single.groupby(["series", "round", "card"])]
    judge = Judge(noise.pooled(makers, "makers of one machine") or noise.UNKNOWN)
    words = {}
    for what, times in (("told_hours", [1.0] * len(rows)), ("told_usd", [row["dollars"] for row in rows])):
        # A new card without a price has no dollars to compare.
        compared = [
            judge.compare(row["sides"][0] * by, row["sides"][1]) if by == by else None
            for row, by in zip(rows, times, strict=True)
        ]
        p_values = np.array([one.p for one in compared if one])
        level = min(SIGNIFICANT, family_wise(p_values, len(p_values)))
        words[what] = [one.word if one and one.is_clear and one.p <= level else "" for one in compared]
    shares = _shares(rows, replace(judge, level=level))  # that of dollars, the last
    return pd.DataFrame(rows).assign(**words, **shares).reindex(columns=_GENERATIONS)


def _shares(rows: Sequence[Mapping[str, Any]], judge: Judge) -> dict[str, list[float]]:
    """Return at which shares of its price a newer card is clearly cheaper, and not clearly dearer."""
    pays, dearer = [], []
    for row in rows:
        new, old = row["sides"][0] * row["dollars"], row["sides"][1]
        is_priced = not np.isnan(row["dollars"])
        pays.append(judge.wins_below(new, old) if is_priced else np.nan)
        back = judge.wins_below(old, new) if is_priced else np.nan
        dearer.append(1 / back if back else np.inf)
    below = [
        row["usd_per_hour"] * share if share >= LEAST_SHARE else np.nan for row, share in zip(rows, pays, strict=True)
    ]
    even = [row["usd_per_hour"] / row["usd"] if row["usd"] else np.nan for row in rows]
    return {"pays_share": pays, "dearer_share": dearer, "even_at": even, "pays_below": below}


def _ratio(per_hour: Mapping[str, float], new: str, old: str) -> float:
    return per_hour[new] / per_hour[old] if new in per_hour and old in per_hour else np.nan


def cheapest(scored: pd.DataFrame, about: Mapping[str, Any], prices: pd.DataFrame, option: str) -> pd.DataFrame:
    """Return the priced result of the lowest cost of each series in each round, at the prices of today.

    Columns: series, label, round, published, card, accelerators, submitter, system, minutes, hours, usd (at `option`),
    not_told (how many others are not clearly different), than_first (`LESS` or `MORE` than that of the series' first
    round, empty where they are not clearly different), usd_then (that result at the list prices of then; missing where
    they are not known), fastest_minutes (of any result).
    """
    found = _priced(scored, card_prices.hourly(prices, option, about["accelerators"]))
    of_all = (
        scored[scored["compared"] & scored["hours"].notna()].groupby(["series", "round"])["minutes"].min().to_dict()
    )
    judged = judge(found)
    first: dict[str, tuple[str, np.ndarray]] = {}
    rows = []
    for (series, round_), group in found.groupby(["series", "round"], sort=False):
        ordered = group.sort_values("usd", kind="stable")
        best = ordered.iloc[0]
        mine = str(best.name), best["of"] * best["rate"]
        name, before = first.setdefault(str(series), mine)
        than_first = judged.compare(mine[1], before, (mine[0], name))
        then = card_prices.of_then(prices, about, best["published"])
        rows.append(
            {
                "series": series,
                "label": best["label"],
                "round": round_,
                "published": best["published"],
                "card": best["card"],
                "accelerators": int(best["accelerators"]),
                "submitter": best["submitter"],
                "system": best["system"],
                "minutes": float(best["minutes"]),
                "hours": float(best["hours"]),
                "usd": float(best["usd"]),
                "not_told": len(_near(judged, ordered, 1)),
                "than_first": than_first.word if than_first.is_clear else "",
                "usd_then": float(best["hours"]) * then.get(best["card"], np.nan),
                "fastest_minutes": float(of_all[series, round_]),
            }
        )
    table = pd.DataFrame(rows, columns=_CHEAPEST)
    return table.sort_values("series", key=_first_seen(scored), kind="stable", ignore_index=True)


def newest(scored: pd.DataFrame, about: Mapping[str, Any], prices: pd.DataFrame, option: str) -> pd.DataFrame:
    """Return the priced result of the lowest cost of each series in the newest round that has a priced one.

    Columns: label, machine, card, hours (of one), minutes, usd (at `option`), usd_per_hour (of one card) and
    price_as_of, near (how many others are not clearly dearer, by card; "none" where it is the cheapest), near_named
    (the first of them), near_others (those of other cards, alike), is_card_clear (whether all of them have its card),
    entry (where its logs lie in the round's repository).
    """
    found = _priced(scored, card_prices.hourly(prices, option, about["accelerators"]))
    dated = prices[prices["price_option"] == option].set_index("hardware")["price_as_of"]
    judged = judge(found)
    rows = []
    for _, group in found[found["published"] == found["published"].max()].groupby("series", sort=False):
        ordered = group.sort_values("usd", kind="stable")
        best, near = ordered.iloc[0], _near(judged, ordered, 1)
        rows.append(
            {
                "label": best["label"],
                "machine": best["machine"],
                "card": best["card"],
                "hours": float(best["hours"]),
                "minutes": float(best["minutes"]),
                "usd": float(best["usd"]),
                "usd_per_hour": float(best["rate"]) * 3600 / int(best["accelerators"]),
                "price_as_of": str(dated[best["card"]]),
                "near": _open(near, best) + _by_card(near),
                "near_named": few(near["machine"].to_list()),
                "near_others": _by_card(near[near["card"] != best["card"]]),
                "is_card_clear": set(near["card"]) <= {best["card"]},
                "entry": f"{best['round']}: {best['submitter']}/results/{best['system']}",
            }
        )
    return pd.DataFrame(rows, columns=_NEWEST)


def _by_card(near: pd.DataFrame) -> str:
    """Return how many results there are of each card; "none" of none."""
    counted = near["machine"].str.extract(r"× (.+?), ", expand=False).value_counts()
    return "; ".join(f"{count} of {name}" for name, count in counted.items()) or "none"


def _open(near: pd.DataFrame, best: pd.Series) -> str:
    """Return that the card is clear where all of `near` have it, and in what they differ from the best."""
    if near.empty or set(near["card"]) != {best["card"]}:
        return ""
    asked = {"submitter": "maker", "accelerators": "number of cards"}
    differ = [f"the {what}" for column, what in asked.items() if set(near[column]) != {best[column]}]
    left = " and ".join(differ) or "the system"
    return f"the card is clear, {left} {'are' if len(differ) > 1 else 'is'} open: "


def trainings(scored: pd.DataFrame, about: Mapping[str, Any], prices: pd.DataFrame, option: str) -> pd.DataFrame:
    """Return the best priced results of each series in each round, by role, as `scripts.analysis.trainings` has them.

    `runs` are those of the result, `usd_of_runs` what they cost; of `near` there are the first.
    """
    usd_per_hour = card_prices.hourly(prices, option, about["accelerators"])
    dated, provider = (
        prices[prices["price_option"] == option].set_index("hardware")[key] for key in ("price_as_of", "provider")
    )
    found = _priced(scored, usd_per_hour)
    judged = judge(found)
    found["seconds"] = found["minutes"].astype(float) * 60
    found["seconds_usd"] = found["seconds"] * found["usd"]
    rows = []
    for (_, round_), group in found.groupby(["series", "round"], sort=False):
        for role, column in BY.items():
            ordered = group.sort_values(column, kind="stable")
            best, near = ordered.iloc[0], _near(judged, ordered, _POWER[column])
            rows.append(
                {
                    "workload": best["label"],
                    "of": PART if best["is_part"] else TRAINING,
                    "scale": UNVERIFIED,
                    "role": role,
                    "head": MEASURED[role] if len(near) else CALLED[role],
                    "card": best["card"],
                    "hardware": best["card"],
                    "provider": provider[best["card"]],
                    "accelerators": int(best["accelerators"]),
                    "seconds": float(best["seconds"]),
                    "usd": float(best["usd"]),
                    "runs": int(best["runs"]),
                    "not_told": len(near),
                    "near": list(near["machine"].head(NAMED)),
                    "why": why(near["reason"]),
                    "settled_by": settled_by(near["reason"]),
                    "usd_of_runs": [float(f"{usd:.6g}") for usd in best["of"] * best["rate"]],
                    "cells": len(group),
                    "date": best["published"],
                    "round": round_,
                    "price_as_of": str(dated[best["card"]]),
                }
            )
    return pd.DataFrame(rows)


#: A role is judged by seconds x the rate to this power: the best value by its root, which varies as a time does.
_POWER = {"usd": 1.0, "seconds": 0.0, "seconds_usd": 0.5}


def _first_seen(scored: pd.DataFrame) -> Callable[[pd.Series], pd.Series]:
    """Return what sorts series by the round that they are first in, so that each stands together."""
    order = {name: number for number, name in enumerate(scored["series"].unique())}
    return lambda names: names.map(order)


def _is(scored: pd.DataFrame, submitter: str) -> pd.Series:
    return scored["submitter"].str.casefold().eq(submitter.casefold())  # in v0.5 all are in small letters


def software(scored: pd.DataFrame, submitter: str) -> pd.DataFrame:
    """Return one submitter's single machines of one card over the rounds: what software alone gained.

    Only first appearances count, and cards with two rounds or more. Columns: card, series, label, round, published,
    minutes, speedup (the first round's minutes over these).
    """
    single = scored[scored["compared"] & scored["accelerators"].eq(card_prices.ONE_MACHINE) & _is(scored, submitter)]
    best = single.groupby(["card", "series", "label", "round", "published"], sort=False)["minutes"].min().reset_index()
    best["minutes"] = best["minutes"].astype(float)
    several = best[best.groupby(["card", "series"])["round"].transform("nunique") > 1].copy()
    first = several.groupby(["card", "series"])["minutes"].transform("first")
    return several.assign(speedup=first / several["minutes"]).reset_index(drop=True)


def scale(scored: pd.DataFrame) -> pd.DataFrame:
    """Return what more accelerators cost: of each series one submitter, card and round, that with the widest range.

    Columns: series, label, submitter, card, round, accelerators, minutes, hours, cards (x the smallest), faster, dearer
    (hours x the smallest's).
    """
    found = scored[scored["compared"] & scored["hours"].notna() & scored["card"].ne("")]
    rows = []
    for _, group in found.groupby("series", sort=False):
        lines = []
        for key, line in group.groupby(["series", "label", "submitter", "card", "round"], sort=False):
            sizes = line.loc[line.groupby("accelerators")["minutes"].idxmin()].sort_values("accelerators")
            if len(sizes) >= _SIZES and sizes["accelerators"].iloc[0] <= 2 * card_prices.ONE_MACHINE:
                lines.append((sizes["accelerators"].iloc[-1] / sizes["accelerators"].iloc[0], key, sizes))
        if not lines:
            continue
        _, key, sizes = max(lines, key=lambda line: line[0])
        first = sizes.iloc[0]
        rows += [
            dict(zip(("series", "label", "submitter", "card", "round"), key, strict=True))
            | {
                "accelerators": int(row["accelerators"]),
                "minutes": float(row["minutes"]),
                "hours": float(row["hours"]),
                "cards": float(row["accelerators"] / first["accelerators"]),
                "faster": float(first["minutes"] / row["minutes"]),
                "dearer": float(row["hours"] / first["hours"]),
            }
            for row in records(sizes)
        ]
    return pd.DataFrame(rows, columns=_SCALE)


def spread(scored: pd.DataFrame) -> pd.DataFrame:
    """Return how far submitters of the same card lie apart, on single machines in the last round with enough of them.

    Columns: series, label, card, round, submitters, fastest, median, slowest (minutes), apart (slowest over fastest).
    """
    single = scored[scored["compared"] & scored["accelerators"].eq(card_prices.ONE_MACHINE)]
    rows = []
    for (series, card), group in single.groupby(["series", "card"], sort=False):
        for round_ in reversed(group["round"].unique()):
            best = group[group["round"] == round_].groupby("submitter")["minutes"].min().astype(float)
            if len(best) >= _SUBMITTERS:
                rows.append(
                    {
                        "series": series,
                        "label": group["label"].iloc[0],
                        "card": card,
                        "round": round_,
                        "submitters": len(best),
                        "fastest": best.min(),
                        "median": best.median(),
                        "slowest": best.max(),
                        "apart": best.max() / best.min(),
                    }
                )
                break
    return pd.DataFrame(rows)


def clocks(scored: pd.DataFrame) -> pd.DataFrame:
    """Return what initialisation adds to the timed training, which leaves it out: medians by series.

    Columns: series, label, results, one_machine and at_64 (a share of the run, on 8 accelerators, and on 64 and more).
    """
    known = scored[scored["compared"] & scored["init_share"].notna()]
    rows = []
    for series, group in known.groupby("series", sort=False):
        small, large = (
            group.loc[wanted, "init_share"].astype(float).median()
            for wanted in (group["accelerators"].eq(card_prices.ONE_MACHINE), group["accelerators"].ge(64))
        )
        rows.append(
            {
                "series": series,
                "label": group["label"].iloc[0],
                "results": len(group),
                "one_machine": small,
                "at_64": large,
            }
        )
    return pd.DataFrame(rows)


def figures(derived: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """Return the named figures of the derived tables that claims may point at.

    median_hours_<new>/<old>, median_usd_... and median_usd_then_...: of a generation, over its benchmarks; in how many
    generations that is half or less (halved_usd, halved_usd_then); how many lines of `scale` cost less on their most
    accelerators than on their fewest (cheaper_at_scale).
    """
    middle = derived["generations"].groupby("pair", sort=False)[["hours", "usd", "usd_then"]].median()
    ends = derived["scale"].groupby("series", sort=False)["dearer"].last()
    found = {
        f"median_{what}_{pair}": float(value)
        for what in middle
        for pair, value in middle[what].items()
        if value == value
    }
    return found | {
        "halved_usd": float((middle["usd"] <= 1 / 2).sum()),
        "halved_usd_then": float((middle["usd_then"] <= 1 / 2).sum()),
        "cheaper_at_scale": float((ends < 1).sum()),
    }
