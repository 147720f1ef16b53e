"""What a billion tokens cost: printed speeds by the card-hour. Each row is one printed figure: nothing has a spread."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import trainings
from scripts.analysis.names import provider_name, workload_name
from scripts.articles.language_models import comparisons
from scripts.articles.language_models.comparisons import FORMATS, usd
from scripts.articles.language_models.given import Given
from scripts.costs.billing import SECONDS_PER_HOUR
from scripts.costs.card_history import day_of
from scripts.costs.cards import MARKETS, Offer, chosen, for_cards
from scripts.storage.numbers import TIE, between, number
from scripts.storage.tables import records
from scripts.storage.words import few

#: Tokens of the training that the page gives as an example.
_TOKENS = 2e9

#: A price of the day is dated within so many days of it.
NEAR_DAYS = 90

_PARALLEL = {"tensor_parallel": "TP", "pipeline_parallel": "PP", "context_parallel": "CP", "expert_parallel": "EP"}


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the tables that the functions below describe, by their names."""
    about, rows = study["language_models"], printed(study, runs, costs, given)
    rows = rows.assign(offer_of=rows["hardware"].map(_whose(prices, study["price"])).fillna("—"))
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


def _whose(prices: pd.DataFrame, option: str) -> dict[str, str]:
    """Return by machine whose offer its price is under an option, and of which day."""
    shown = prices[prices["price_option"] == option]
    return {row["hardware"]: f"{provider_name(row['provider'])} {row['price_as_of']}" for row in records(shown)}


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
    ratios = _ratios(study, pairs)
    if not ratios:
        return "Unknown", f"No provider of the books rents both {card} and {than}."
    words = {
        trainings.verdict(len(each), int((each < 1 - TIE).sum()), int((each > 1 + TIE).sum()))
        for each in ratios.values()
    }
    one, option = _pair(study, derived), study["price"]
    hourly = _hourly(derived, card, one, option)
    even, less = (number(hourly / float(one["faster"]) / share) for share in (1, 1 - TIE))
    above = f"Yes for {_short(one['workload'])}, if your {than} costs over {less} USD a card-hour, as printed"
    others = [row for row in records(pairs) if row != one]
    above_of = [_hourly(derived, card, row, option) / float(row["faster"]) / (1 - TIE) for row in others]
    rest = ""
    if others:
        of = few([_short(row["workload"]) for row in others])
        rest = f" {len(others)} other{'s' * (len(others) > 1)} ({of}): above {between(min(above_of), max(above_of))}."
    return f"{words.pop()}, as printed" if len(words) == 1 else above, (
        f"{_named(one)}: {card} at {number(hourly)} USD a card-hour costs the same with {than} at {even}, over "
        f"{100 * TIE:g} % less above {less}.{rest}"
    )


def _ratios(study: Mapping[str, Any], pairs: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the dollars of one card over those of the other at each price that has both, by its label."""
    each = {
        about.get("label", name): pairs[usd(name)].dropna().astype(float) for name, about in study["prices"].items()
    }
    return {label: ratios for label, ratios in each.items() if len(ratios)}


def _pair(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> Mapping[str, Any]:
    """Return the pair of the question's cards whose workload the study names first."""
    card, than = study["language_models"]["pays"]
    found = derived["alike"]
    pairs = found[(found["card"] == card) & (found["than"] == than)]
    place = {name: place for place, name in enumerate(study["language_models"]["first"])}
    return records(pairs.sort_values("workload", key=lambda names: names.map(place), kind="stable"))[0]


def _hourly(derived: Mapping[str, pd.DataFrame], card: str, pair: Mapping[str, Any], option: str) -> float:
    """Return what an hour of a card costs under a price option, of as many cards as a pair has."""
    rows = derived["every_row"]
    each = (rows[usd(option)] / rows["card_hours"])[rows["card"].eq(card) & rows["devices"].eq(pair["devices"])]
    return float(each.astype(float).median())


def _named(pair: Mapping[str, Any]) -> str:
    return f"{workload_name(pair['workload'])}, {pair['devices']} cards, {pair['format']} on both"


def further(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return what the pairs of the answer cost, and which cards no printed row compares with another."""
    card, than = study["language_models"]["pays"]
    pairs = derived["alike"]
    pairs = pairs[(pairs["card"] == card) & (pairs["than"] == than)]
    each = [f"{_span(ratios)} at {label}" for label, ratios in _ratios(study, pairs).items()]
    said = f"For the same tokens {card} costs, over {than}, {', '.join(each)}" if each else ""
    faster = f"; it does {_span(pairs['faster'].astype(float))} the tokens. " if each else ""
    return said + faster + _apart(study, derived)


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first: which is cheapest, how surely, at which price another is, and of N tokens."""
    card, than = study["language_models"]["pays"]
    found = derived["alike"]
    pairs = found[(found["card"] == card) & (found["than"] == than)]
    said = {
        "which": _least(study, derived),
        "sure": "Each row is printed once, mostly the best case of whoever sells the card: no row is clearly cheaper "
        f"than another.\n\nCards are compared by rows that are alike in all else, and a gap within {100 * TIE:g} % is "
        f"none: MLCommons calls it noise.{_reversed(study, derived)}",
        "price": "No row of another card is alike in all else.",
        "samples": _of_tokens(study, derived),
    }
    if len(pairs):
        one = _pair(study, derived)
        faster = float(one["faster"])
        now = [
            f"{number(hourly)} at {about.get('label', option)}"
            for option, about in study["prices"].items()
            if (hourly := _hourly(derived, than, one, option)) == hourly
        ]
        at = _hourly(derived, than, one, study["price"])
        said["price"] = (
            f"{_named(one)}, in USD a card-hour: with {than} at {number(at)}, {card} costs the same at "
            f"{number(at * faster)} and over {100 * TIE:g} % less below {number(at * faster * (1 - TIE))}; now "
            f"{number(_hourly(derived, card, one, study['price']))}.\n\nThe {than}'s is {', '.join(now)}."
            f"{_in_form(study, derived, one)}"
        )
    return said


def _reversed(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return of which trainings MLPerf's results put another card lowest than the printed rows do, among cards that
    have a price and both; empty where there is none.
    """
    asked, said = study["language_models"].get("mlperf", {}).get("benchmarks", {}), ""
    priced = derived["beside_mlperf"].dropna(subset=["usd_logged", "usd_printed"])
    for benchmark, rows in priced.groupby("benchmark", sort=False):
        logged, printed = (records(rows.nsmallest(1, by))[0] for by in ("usd_logged", "usd_printed"))
        if logged["card"] != printed["card"]:
            both = [
                " and ".join(f"{row['card']} {number(row[by])}" for row in (logged, printed))
                for by in ("usd_logged", "usd_printed")
            ]
            said += (
                f" {_short(asked[benchmark]['workload'])}: in [MLPerf's results](#beside-mlperf) {both[0]} USD, the "
                f"reverse of what is printed ({both[1]})."
            )
    return said


def _in_form(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], pair: Mapping[str, Any]) -> str:
    """Return why the form names another price for the workload of a pair: it takes the row of each card that costs
    least, in whatever format; empty where it is the same row.
    """
    card, than = study["language_models"]["pays"]
    rows = derived["billion"][derived["billion"]["workload"] == pair["workload"]].set_index("card")
    if rows["format"][card] == rows["format"][than] == pair["format"]:
        return ""
    even = _hourly(derived, than, pair, study["price"]) * rows["card_hours"][than] / rows["card_hours"][card]
    return (
        f" With {rows['format'][card]} on {card} and {rows['format'][than]} on {than}, as the table and the form have "
        f"them, the same at {number(even)}."
    )


def _of_tokens(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return what other numbers of tokens cost, and where, and why a quote is higher."""
    by = usd(study["price"])
    row = records(derived["billion"].dropna(subset=by))[0]
    task, _, length = workload_name(row["workload"]).partition(" at ")
    times = int(_TOKENS / study["per_samples"])
    return (
        f"{times} × 10⁹ tokens of {task}: {number(times * row[by])} USD on {row['card']} at {row['offer_of']}. "
        "N tokens cost N / 10⁹ times what a billion does, on the same card at the same provider.\n\n"
        "No start and no minimum is counted. The [quote page](quote.html) expects more: it takes PyTorch, BF16 and "
        f"4,096 tokens a sequence unless told otherwise, and what is usual; here is the printed best ({row['format']}, "
        f"{length} tokens, {row['framework']})."
    )


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


def _short(workload: str) -> str:
    """Return the training of a workload; pre-training is what is not said."""
    return workload_name(workload).partition(" at ")[0].removesuffix(" pre-training")


def _span(ratios: pd.Series) -> str:
    low, high = (f"{value:.2f}" for value in (ratios.min(), ratios.max()))
    return f"{low}×" if low == high else f"{low} to {high}×"


def _least(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return the row of the lowest cost of the first three workloads, of which of all of them another card has it at
    other prices, and which cards of the first three have none.
    """
    names, by = study["language_models"]["first"][:3], usd(study["price"])
    of_all = derived["billion"]
    table = of_all[of_all["workload"].isin(names)]
    lowest: dict[str, str] = {}
    lines: dict[str, list[str]] = {}
    for option, about in study["prices"].items():
        said = []
        for name, rows in of_all.dropna(subset=usd(option)).groupby("workload", sort=False):
            row = rows.nsmallest(1, usd(option)).iloc[0]
            differs = lowest.setdefault(str(name), row["card"]) != row["card"]
            if differs or (option == study["price"] and name in names):
                whose = f", {row['offer_of']}" if option == study["price"] else ""
                said.append(
                    f"{_short(str(name))} {number(row[usd(option)])} USD ({row['card']}, {row['format']}{whose})"
                )
        other = "" if option == study["price"] else " another card has it"
        if said:
            lines.setdefault(f"{other}: {'; '.join(said)}.", []).append(about.get("label", option))
    left = list(dict.fromkeys(table.loc[table[by].isna(), "card"]))
    said = [f"{' and '.join(left)} ha{'ve' if len(left) > 1 else 's'} no price."] if left else []
    for name, rows in table.groupby("workload", sort=False):
        if rows["card"].nunique() == 1:
            said.append(f"{_short(str(name))} is printed for {rows['card'].iloc[0]} alone.")
    each = [f"At {' and at '.join(at)}{what}" for what, at in lines.items()]
    lead, *others = each
    more = "\n".join(filter(None, [*others, " ".join(said)]))
    return f"For a billion tokens, of all printed rows, the lowest cost:\n{lead}" + (f"\n\n{more}" if more else "")


def asked(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the rows by which a quote is asked for: of each card that of the workload which the study names first."""
    return records(derived["billion"].drop_duplicates("card"))
