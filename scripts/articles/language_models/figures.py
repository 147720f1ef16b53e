"""What a billion tokens cost: printed speeds by the card-hour. Each row is one printed figure: nothing has a spread."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import trainings
from scripts.analysis.names import provider_name
from scripts.articles.language_models import comparisons
from scripts.articles.language_models.comparisons import FORMATS, usd
from scripts.articles.language_models.given import Given
from scripts.costs.billing import SECONDS_PER_HOUR
from scripts.costs.card_history import day_of
from scripts.costs.cards import MARKETS, Offer, chosen, for_cards
from scripts.storage.numbers import TIE, number
from scripts.storage.tables import records
from scripts.storage.words import few

#: A price of the day is dated within so many days of it.
NEAR_DAYS = 90

_PARALLEL = {"tensor_parallel": "TP", "pipeline_parallel": "PP", "context_parallel": "CP", "expert_parallel": "EP"}


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the tables that the functions below describe, by their names."""
    about, rows = study["language_models"], printed(study, runs, costs, given)
    return {
        "billion": billion(rows, about["first"], study["price"]),
        "stated": stated(rows, given, study),
        "whole": whole(rows, about["trainings"], study),
        "alike": comparisons.alike(rows, study),
        "formats": comparisons.formats(rows),
        "tokens_scale": comparisons.tokens_scale(rows),
        "lengths": comparisons.lengths(rows),
        "releases": comparisons.releases(rows, given),
        "rounds": comparisons.rounds(given),
        "since": comparisons.since(rows, given, study),
        "beside_mlperf": comparisons.beside_mlperf(rows, given, study),
        "per_parameter": per_parameter(rows, given, study),
        "offers": offers(study, prices),
        "by_region": by_region(given),
        "every_row": rows,
    }


def printed(study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return a row per printed speed, in the order of the runs; dollars and card-hours are of `per_samples`.

    Columns: run, source, published, workload, hardware, card, devices, framework, precision, batch_size (tokens a step
    and card), parallel, rate (tokens a second and card), tflops and mfu (printed model TFLOP/s, and their share of the
    card's peak), card_hours, usd(option) of each price option, usd_then and then_of (at the lowest offer of a cloud
    that is dated within `NEAR_DAYS` of the release, and whose it is; missing without one).
    """
    amount = study["per_samples"]
    paid = costs.pivot(index="run", columns="price_option", values="usd_per_million_samples") * (amount / 1e6)
    paid = paid.reindex(columns=list(study["prices"])).rename(columns=usd).astype(float)
    axes = ["run", "workload", "hardware", "framework", "precision", "batch_size", "devices"]
    rows = runs.loc[runs["status"] == "done", axes].reset_index(drop=True)
    of = [given.rows[run] for run in rows["run"]]
    rate = pd.Series([float(row["tokens_per_second_per_card"]) for row in of])
    tflops = pd.Series([float(row["model_tflops_per_card"] or "nan") for row in of])
    peaks = [
        given.peaks.get(row["card"], {}).get("bf16" if precision == "bfloat16" else precision, np.nan)
        for row, precision in zip(of, rows["precision"].fillna(""), strict=True)
    ]
    machines = study["machines"]
    then = [
        _price_then(given, machines[hardware].get("gpus"), row["published"])
        for hardware, row in zip(rows["hardware"], of, strict=True)
    ]
    return rows.assign(
        usd_then=[
            one.usd_per_hour * amount / speed / SECONDS_PER_HOUR if one else np.nan
            for one, speed in zip(then, rate, strict=True)
        ],
        then_of=[f"{provider_name(one.provider)}, {one.as_of}" if one else "" for one in then],
        source=[row["source"] for row in of],
        published=[row["published"] for row in of],
        card=[row["card"] for row in of],
        parallel=[" ".join(f"{short}{row[key]}" for key, short in _PARALLEL.items() if row[key]) for row in of],
        format=rows["precision"].map(FORMATS).fillna("not stated"),
        rate=rate,
        tflops=tflops,
        mfu=tflops / pd.Series(peaks, dtype=float),
        card_hours=amount / rate / SECONDS_PER_HOUR,
    ).join(paid, on="run")


def _price_then(given: Given, gpus: Mapping[str, Any] | None, published: str) -> Offer | None:
    """Return the lowest offer of a cloud for so many cards that is dated near a day, None without one."""
    if gpus is None:
        return None
    near = [
        offer
        for offer in given.offers[gpus["model"]]
        if abs((day_of(offer.as_of) - day_of(published)).days) <= NEAR_DAYS
    ]
    return next(iter(chosen(for_cards(near, gpus["count"]), {})), None)


def billion(rows: pd.DataFrame, first: Sequence[str], option: str) -> pd.DataFrame:
    """Return the printed row of the highest speed of each card, by workload: the cheapest first, no price last."""
    found = rows[rows["workload"].isin(first)]
    counted = found.groupby(["workload", "card"])["run"].transform("count")
    found = found.assign(rows=counted).loc[found.groupby(["workload", "card"])["rate"].idxmax()]
    order = found["workload"].map({name: place for place, name in enumerate(first)})
    found = found.assign(order=order).sort_values(["order", usd(option), "card_hours"])
    return found.drop(columns="order").reset_index(drop=True)


def whole(rows: pd.DataFrame, asked: Mapping[str, Any], study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what whole trainings would take at the highest printed speed of each card.

    Columns: training, says, those of `printed`, hours (on as many cards as printed, missing where that is not known);
    card_hours and dollars are of the training.
    """
    made = []
    for name, about in asked.items():
        of_it = rows[rows["workload"].isin(about["workloads"])]
        best = of_it.loc[of_it.groupby("card")["rate"].idxmax()]
        times = about["tokens"] / study["per_samples"]
        options = [usd(option) for option in study["prices"]]
        scaled = best.assign(training=name, says=about["says"], card_hours=best["card_hours"] * times)
        scaled = scaled.assign(**{column: best[column] * times for column in options})
        hours = scaled["card_hours"] / scaled["devices"].astype("Float64")
        made.append(scaled.assign(hours=hours.astype("Float64")).sort_values([options[0], "card_hours"]))
    return pd.concat(made, ignore_index=True)


def stated(rows: pd.DataFrame, given: Given, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return whole trainings with the card-hours that their makers state, at the prices of today.

    Columns: model, published, tokens (10^12), card, card_hours, usd(option) of each price option, printed_hours (of as
    many tokens at the highest printed speed of pre-training the model on the card; missing without one), times, source.
    """
    options = [usd(option) for option in study["prices"]]
    names = pd.Series([given.models.get(given.rows[run]["model"], {}).get("name", "") for run in rows["run"]])
    is_whole = pd.Series([given.rows[run]["task"] == "pretrain" for run in rows["run"]])
    found = []
    for row in given.stated:
        tokens, hours = float(row["tokens"]), float(row["card_hours"])
        here = rows[rows["card"].eq(row["card"]) & rows["devices"].ge(8)]
        per_hour = here[options].div(here["card_hours"], axis=0).median()
        speed = rows.loc[rows["card"].eq(row["card"]) & names.eq(row["model"]) & is_whole, "rate"].max()
        printed_hours = tokens / speed / SECONDS_PER_HOUR
        found.append(
            {key: row[key] for key in ("model", "published", "card", "source")}
            | {
                "tokens": tokens / 1e12,
                "card_hours": hours,
                "printed_hours": printed_hours,
                "times": hours / printed_hours,
            }
            | {option: hours * per_hour[option] for option in options}
        )
    columns = ["model", "published", "tokens", "card", "card_hours", *options, "printed_hours", "times", "source"]
    return pd.DataFrame(found, columns=columns)


def per_parameter(rows: pd.DataFrame, given: Given, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what a billion active parameters of each model cost, so that sizes can be compared; dense before experts.

    Of each model and card the pre-training row of the highest speed, by the dollars a parameter. Columns: those of
    `printed`, model, kind, active_billion, and usd(option) and card_hours over active_billion. A model whose active
    parameters are not known, or a card without a price, has no row.
    """
    by = usd(study["price"])
    about: list[Mapping[str, Any]] = [given.models.get(given.rows[run]["model"], {}) for run in rows["run"]]
    task = [given.rows[run]["task"] for run in rows["run"]]
    known = rows.assign(
        model=pd.Series([one.get("name") for one in about], dtype="string"),
        kind=pd.Series([one.get("kind") for one in about], dtype="string"),
        active_billion=pd.Series([one.get("active_billion") for one in about], dtype=float),
    )
    known = known[pd.Series(task).eq("pretrain")].dropna(subset=["model", by])
    best = known.loc[known.groupby(["model", "card"])["rate"].idxmax()]
    columns = ["card_hours", *(usd(option) for option in study["prices"])]
    best = best.assign(**{column: best[column] / best["active_billion"] for column in columns})
    return best.sort_values(["kind", by], ignore_index=True)


def offers(study: Mapping[str, Any], prices: pd.DataFrame) -> pd.DataFrame:
    """Return what an hour of each card is offered for, for machines of eight: lowest, median, highest, and by whom.

    Columns: card, cards (of which the offer is), lowest, median, highest (USD a card-hour; missing without an
    offer), provider (of the lowest), providers (how many), as_of (the oldest), source (all that the median is of).
    """
    middle_option = next(name for name, about in study["prices"].items() if about.get("offer") == "median")
    rows = []
    for model in dict.fromkeys(about["gpus"]["model"] for about in study["machines"].values() if "gpus" in about):
        sizes = {
            about["gpus"]["count"]: name
            for name, about in study["machines"].items()
            if about.get("gpus", {}).get("model") == model
        }
        count = min(sizes, key=lambda size: (abs(size - 8), size))
        here = prices[prices["hardware"] == sizes[count]].set_index("price_option")
        row: dict[str, Any] = {"card": model, "cards": count}
        if middle_option in here.index:
            lowest, middle = here.loc[study["price"]], here.loc[middle_option]
            row |= {
                "lowest": lowest["usd_per_hour"] / count,
                "median": middle["usd_per_hour"] / count,
                "highest": middle["usd_per_hour_high"] / count,
                "provider": provider_name(str(lowest["provider"])),
                "providers": middle["price_source"].count(" USD a card"),
                "as_of": middle["price_as_of"],
                "source": middle["price_source"],
            }
        rows.append(row)
    columns = ["card", "cards", "lowest", "median", "highest", "provider", "providers", "as_of", "source"]
    return pd.DataFrame(rows, columns=columns)


def by_region(given: Given) -> pd.DataFrame:
    """Return what each provider asks for an hour of each card, by the size of its machine and the region.

    Columns: card, provider, market (whether anybody lets cards there), cards, region, on_demand and its as_of, spot and
    its spot_as_of (USD a card-hour, the newest; missing where there is none), otherwise (what other rows of the books
    say of the same).
    """
    found = []
    for card, each in given.asked.items():
        for one in each:
            line = {
                "card": card,
                "provider": provider_name(one.provider),
                "cards": one.cards,
                "region": one.region or None,
            }
            line |= {"market": "market place" if one.provider in MARKETS else "cloud"}
            for offer, way, day in ((one.on_demand, "on_demand", "as_of"), (one.spot, "spot", "spot_as_of")):
                line |= {way: offer.usd_per_hour, day: offer.as_of} if offer else {}
            said = [f"{number(offer.usd_per_hour)} ({offer.as_of})" for offer in one.otherwise]
            found.append(line | {"otherwise": ", ".join(said) or None})
    columns = ["card", "provider", "market", "cards", "region", "on_demand", "as_of", "spot", "spot_as_of", "otherwise"]
    return pd.DataFrame(found, columns=columns)


def answer(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> tuple[str, str]:
    """Return whether the card of the question costs less for the same tokens than the other, in a word and a sentence.

    By all pairs of rows that are alike in all but the card. A gap within `TIE` is none. As single figures have no
    spread, the answer is of what was printed.
    """
    card, than = study["language_models"]["pays"]
    found = derived["alike"]
    pairs = found[(found["card"] == card) & (found["than"] == than)]
    if pairs.empty:
        return "Unknown", f"No printed rows of {card} and {than} are alike in all but the card."
    said: list[str] = []
    words: set[str] = set()
    for option, about in study["prices"].items():
        ratios = pairs[usd(option)].dropna().astype(float)
        if ratios.empty:
            continue
        less, more = int((ratios < 1 - TIE).sum()), int((ratios > 1 + TIE).sum())
        words.add(trainings.verdict(len(ratios), less, more))
        said.append(f"{_span(ratios)}{'' if said else ' the dollars'} at {about.get('label', option)}")
    if not said:
        return "Unknown", f"No provider of the books rents both {card} and {than}."
    word = f"{words.pop()}, as printed" if len(words) == 1 else _pays_above(study, derived, pairs)
    faster = pairs["faster"].astype(float)
    return word, (
        f"In {len(pairs)} printed pairs alike but for the card, {card} does {_span(faster)} the tokens of {than}, for "
        f"{', '.join(said[:-1])}{' and ' if len(said) > 1 else ''}{said[-1]}."
    )


def _pays_above(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], pairs: pd.DataFrame) -> str:
    """Return above which price of the other card's hour the card of the question pays, at its own lowest price."""
    card, than = study["language_models"]["pays"]
    rows, by = derived["every_row"], usd(study["price"])
    hourly = (rows[by] / rows["card_hours"])[rows["card"] == card].dropna().astype(float).min()
    return (
        f"Yes, if an hour of your {than} costs over {number(hourly / _flip(pairs, card, than).below)} USD, as "
        f"printed and with {card} at {number(hourly)}"
    )


def _flip(pairs: pd.DataFrame, card: str, than: str) -> trainings.Flip:
    """Return at which price of its hour, x the other's, a card costs no more than the other, and clearly less."""
    faster = pairs["faster"].astype(float)
    return trainings.flip_of_pairs((card, than), 1.0, faster * (1 - TIE), faster * (1 + TIE), 1 / faster)


def further(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return which cards no printed row compares with another."""
    return _apart(study, derived)


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first: which is cheapest, how surely, at which price another is, and of N tokens."""
    card, than = study["language_models"]["pays"]
    found = derived["alike"]
    pairs = found[(found["card"] == card) & (found["than"] == than)]
    said = {
        "which": _least(study, derived),
        "sure": "Each row is printed once, mostly the best case of whoever sells the card: no row is clearly cheaper "
        "than another. Cards are compared by rows that are alike in all else.",
        "price": "No row of another card is alike in all else.",
        "samples": "N tokens cost N / 1,000,000,000 times as much: no start and no minimum is counted.",
    }
    if len(pairs):
        faster = pairs["faster"].astype(float)
        flip = _flip(pairs, card, than)
        ratios = {option: pairs[usd(option)].dropna().astype(float) for option in study["prices"]}
        hourly = [
            f"{number((one * faster).median())}× at {study['prices'][option].get('label', option)}"
            for option, one in ratios.items()
            if len(one)
        ]
        said["price"] = (
            f"As printed, {card} costs no more in half of the pairs up to {number(flip.even)}× the {than}'s hour, and "
            f"over {100 * TIE:g} % less in half of them below {number(flip.below)}× (now {', '.join(hourly)})."
        )
    return said


def _apart(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return which cards no row compares with another card in all else alike, and what is known of their dollars."""
    by, pairs = usd(study["price"]), derived["alike"]
    apart = [card for card in derived["every_row"]["card"].unique() if card not in {*pairs["card"], *pairs["than"]}]
    if not apart:
        return ""
    said = f"Whether {', '.join(apart)} pay is not known, as no row of theirs equals one of another card in all else"
    for _, rows in derived["whole"].dropna(subset=by).groupby("training", sort=False):
        if rows["card"].isin(apart).any() and not rows["card"].isin(apart).all():
            each = [f"{number(row[by])} USD on {row['card']} (format {row['format']})" for row in records(rows)]
            said += f"; the highest printed speeds of {rows['says'].iloc[0]} come to {' and '.join(each)}"
    return f"{said}. "


def _span(ratios: pd.Series) -> str:
    low, high = (f"{value:.2f}" for value in (ratios.min(), ratios.max()))
    return f"{low}×" if low == high else f"{low} to {high}×"


def _least(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return the row of the lowest cost of the first three workloads at each price, and which cards have none."""
    names, by = study["language_models"]["first"][:3], usd(study["price"])
    table = derived["billion"][derived["billion"]["workload"].isin(names)]
    lowest: dict[str, str] = {}
    lines = []
    for option, about in study["prices"].items():
        said = []
        for name, rows in table.dropna(subset=usd(option)).groupby("workload", sort=False):
            row = rows.nsmallest(1, usd(option)).iloc[0]
            if lowest.setdefault(str(name), row["card"]) != row["card"] or option == study["price"]:
                model = str(name).split("_pre-training")[0].replace("_", " ")
                said.append(f"{model} {number(row[usd(option)])} USD ({row['card']}, {row['format']})")
        other = "" if option == study["price"] else " another card is lowest"
        if said:
            lines.append(f"At {about.get('label', option)}{other}: {'; '.join(said)}.")
    left = list(dict.fromkeys(table.loc[table[by].isna(), "card"]))
    unpriced = f" Of all printed rows with a price: {few(left)} have none." if left else ""
    return f"For a billion tokens.{unpriced}\n" + "\n".join(lines)
