"""What newer cards, formats, releases, longer sequences and more cards change: ratios of two printed figures.

Taken only between rows that are alike in all but what is compared; one figure a side, so nothing has a spread.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from scripts.articles.language_models.given import Given
from scripts.storage.tables import records

#: What rows must share before their cards are compared; and before their formats, and their numbers of cards are.
_ALIKE = ["workload", "framework", "precision", "devices", "batch_size"]
_SAME_CARD = ["workload", "framework", "card", "devices", "batch_size"]
_SAME_BUT_LENGTH = ["card", "framework", "precision", "devices"]
_SAME_RELEASE = ["workload", "card", "precision", "devices", "batch_size"]
_SAME_SHARE = ["workload", "framework", "card", "precision", "batch_size"]

#: Of a month the later release has the later name.
_NEWEST_LAST = ["published", "framework"]

#: Arithmetic as makers name it, and by which another one of the same card is measured: the first that was printed.
FORMATS = {"bfloat16": "BF16", "fp8": "FP8", "mxfp8": "MXFP8", "nvfp4": "NVFP4"}


def usd(option: str) -> str:
    """Return the column of the dollars of a study's amount of tokens under a price option."""
    return f"usd_{option}"


def alike(rows: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return each pair of cards with printed rows that are alike in `_ALIKE`: of several releases the newest.

    Columns: `_ALIKE`, format, card and than (the older one, by the order of the study's machines), faster (×), and
    usd(option): dollars over those of the older one (×), missing where one of them has no price.
    """
    ages = {card: age for age, card in enumerate(dict.fromkeys(_card_of(rows, name) for name in study["machines"]))}
    known = rows.dropna(subset=_ALIKE)
    options = [usd(option) for option in study["prices"]]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for _, group in known.sort_values(_NEWEST_LAST, kind="stable").groupby(_ALIKE, sort=False):
        each = sorted(records(group.drop_duplicates("card", keep="last")), key=lambda row: ages[row["card"]])
        for place, old in enumerate(each):
            for new in each[place + 1 :]:
                key = (*(new[axis] for axis in _ALIKE if axis != "framework"), new["card"], old["card"])
                found[key] = {axis: new[axis] for axis in (*_ALIKE, "format", "card", "published")}
                found[key] |= {"than": old["card"], "faster": new["rate"] / old["rate"]}
                found[key] |= {option: new[option] / old[option] for option in options}
    columns = [*_ALIKE, "format", "card", "than", "published", "faster", *options]
    table = pd.DataFrame(list(found.values()), columns=columns)
    return table.sort_values("published", ascending=False, kind="stable", ignore_index=True)


def formats(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what each format does over another one of the same card, all else alike (`_SAME_CARD`): newest release.

    Over BF16 where that was printed, else over FP8, else over MXFP8. Columns: `_SAME_CARD`, format, than, faster (×),
    saved (of the time, and so of the dollars at any price).
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    order = list(FORMATS.values())
    known = rows.dropna(subset=[*_SAME_CARD, "precision"])
    for _, group in known.sort_values(_NEWEST_LAST, kind="stable").groupby(_SAME_CARD, sort=False):
        each = group.drop_duplicates("format", keep="last").set_index("format")
        there = [name for name in order if name in each.index]
        for name in there[1:]:
            new, old = each.loc[name], each.loc[there[0]]
            key = (*(new[axis] for axis in _SAME_CARD if axis != "framework"), name, there[0])
            faster = new["rate"] / old["rate"]
            found[key] = {axis: new[axis] for axis in (*_SAME_CARD, "published")}
            found[key] |= {"format": name, "than": there[0], "faster": faster, "saved": 1 - 1 / faster}
    columns = [*_SAME_CARD, "format", "than", "published", "faster", "saved"]
    return pd.DataFrame(list(found.values()), columns=columns)


def lengths(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what longer sequences cost, all else alike (`_SAME_BUT_LENGTH`).

    Columns: training, card, framework, format, devices, shortest and length (tokens), dearer (× the dollars a token of
    the shortest). Of several rows of one length the one of the highest speed.
    """
    named = rows["workload"].str.extract(r"(?P<training>.*)_at_(?P<length>\d+)$")
    known = rows.assign(**named).dropna(subset=["length", *_SAME_BUT_LENGTH])
    known = known.assign(length=known["length"].astype(int))
    made = []
    for _, group in known.groupby(["training", *_SAME_BUT_LENGTH], sort=False):
        each = group.loc[group.groupby("length")["rate"].idxmax()].sort_values("length")
        if len(each) > 1:
            first = each.iloc[0]
            made.append(each.assign(shortest=first["length"], dearer=first["rate"] / each["rate"]).iloc[1:])
    columns = ["training", "card", "framework", "format", "devices", "shortest", "length", "dearer"]
    return pd.concat(made, ignore_index=True)[columns] if made else pd.DataFrame(columns=columns)


def releases(rows: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return what later releases of NeMo print where all but the release and the split is alike (`_SAME_RELEASE`).

    A row for each release after the first of a series, two of one month each by itself; the series by what they gained
    in all. Columns: `_SAME_RELEASE`, kind (dense, moe, or other where the model's parameters are not known), format,
    than (the first release), since (its month), framework (this one), published, is_last, faster (× the first), step
    (× the release before), cost (× the first, at any price).
    """
    numbered = rows[rows["framework"].str.fullmatch(r"NeMo-\d+\.[\d.]+")].dropna(subset=_SAME_RELEASE)
    made: list[dict[str, Any]] = []
    for _, group in numbered.groupby(_SAME_RELEASE, sort=False):
        # a row that a release prints twice counts once
        each = records(group.sort_values(["published", "framework"]).drop_duplicates("framework", keep="last"))
        for before, row in pairwise(each):
            about = given.models.get(given.rows[row["run"]]["model"], {})
            found = {axis: row[axis] for axis in (*_SAME_RELEASE, "format", "framework", "published")}
            found |= {"kind": about.get("kind", "other")}
            found |= {"than": each[0]["framework"], "since": each[0]["published"], "is_last": row is each[-1]}
            found |= {"end": each[-1]["rate"] / each[0]["rate"]}
            faster = row["rate"] / each[0]["rate"]
            made.append(found | {"faster": faster, "step": row["rate"] / before["rate"], "cost": 1 / faster})
    columns = [*_SAME_RELEASE, "format", "kind", "than", "since", "framework", "published", "is_last"]
    columns += ["faster", "step", "cost"]
    table = pd.DataFrame(made, columns=[*columns, "end"])
    return table.sort_values(["kind", "end"], ascending=[True, False], kind="stable", ignore_index=True)[columns]


def rounds(given: Given) -> pd.DataFrame:
    """Return what later rounds of MLPerf logged: one submitter's results of a benchmark on as many of the same cards.

    A row for each round after the first of a series. Columns: benchmark, submitter, card, cards, sequences (of a step),
    since (the first round), round, results (in both rounds), logged (median tokens a second and card), faster (× the
    median of the first), cost (× the first, at any price).
    """
    series = ["benchmark", "submitter", "card", "cards", "sequences"]
    logged = pd.DataFrame(given.logged, columns=["round", *series, "tokens_per_second_per_card"])
    speed = logged["tokens_per_second_per_card"].astype(float)
    numbers = {name: logged[name].astype(int) for name in ("cards", "sequences")}
    each = logged.assign(speed=speed, **numbers).groupby([*series, "round"])["speed"].agg(["median", "size"])
    found = []
    for _, of in each.reset_index().groupby(series, sort=False):
        first, *later = records(of.sort_values("round"))
        for row in later:
            faster = row["median"] / first["median"]
            line = {name: row[name] for name in (*series, "round")} | {"since": first["round"], "logged": row["median"]}
            found.append(line | {"results": first["size"] + row["size"], "faster": faster, "cost": 1 / faster})
    columns = [*series, "since", "round", "results", "logged", "faster", "cost"]
    return pd.DataFrame(found, columns=columns)


def since(rows: pd.DataFrame, given: Given, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what each software gets out of one card, by models of about one size (`since` of the study).

    Of each size, software and format the pre-training row of the most model FLOP/s, as each table counts them. Columns:
    size, those of `printed`, model, length (tokens; missing where not stated), work (model FLOP/s × those of the size's
    first row) and cost (dollars of as much arithmetic × the first, at any price).
    """
    asked = study["language_models"].get("since")
    columns = ["size", *rows.columns, "model", "length", "work", "cost"]
    if asked is None:
        return pd.DataFrame(columns=columns)
    of = [given.rows[run] for run in rows["run"]]
    known = rows.assign(
        model=pd.Series([given.models.get(row["model"], {}).get("name") for row in of], dtype="string"),
        length=pd.to_numeric(pd.Series([row["sequence_length"] for row in of])).astype("Int64"),
        software=rows["framework"].str.replace(r"-[\d.]+$", "", regex=True),
    )
    known = known[known["card"].eq(asked["card"]) & pd.Series([row["task"] == "pretrain" for row in of])]
    made = []
    for models in asked["models"]:
        here = known[known["model"].isin(models)].dropna(subset="tflops")
        best = here.loc[here.groupby(["software", "format"])["tflops"].idxmax()]
        best = best.sort_values(["published", "tflops"], kind="stable")
        if len(best):
            work = best["tflops"] / best["tflops"].iloc[0]
            made.append(best.assign(size=" and ".join(models), work=work, cost=1 / work))
    return pd.concat(made, ignore_index=True)[columns] if made else pd.DataFrame(columns=columns)


def beside_mlperf(rows: pd.DataFrame, given: Given, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what MLPerf's results did on each card beside the highest printed speed of a like training on it.

    Results of less than a sequence a card and step are left out, as nobody prints such a speed. Columns: benchmark,
    card, results, low, logged (median), high (tokens a second and card), rate (the printed one), format, share (logged
    over printed), of the first price option usd_logged and usd_printed (of the study's amount), unlike.
    """
    by, made = usd(study["price"]), []
    asked = study["language_models"].get("mlperf", {}).get("benchmarks", {})
    logged = pd.DataFrame(
        given.logged, columns=["benchmark", "card", "cards", "sequences", "tokens_per_second_per_card"]
    )
    of = logged[["cards", "sequences", "tokens_per_second_per_card"]].astype(float)
    kept = logged.assign(speed=of["tokens_per_second_per_card"])[of["sequences"] >= of["cards"]]
    for benchmark, about in asked.items():
        for card, results in kept[kept["benchmark"] == benchmark].groupby("card"):
            printed_here = rows[(rows["workload"] == about["workload"]) & (rows["card"] == card)]
            if printed_here.empty:
                continue
            best, speed = printed_here.loc[printed_here["rate"].idxmax()], results["speed"]
            found = {"benchmark": benchmark, "card": card, "results": len(results), "unlike": about["unlike"]}
            found |= {"low": speed.min(), "logged": speed.median(), "high": speed.max(), "rate": best["rate"]}
            share = found["logged"] / best["rate"]
            found |= {"format": best["format"], "share": share, "usd_printed": best[by], "usd_logged": best[by] / share}
            made.append(found)
    columns = ["benchmark", "card", "results", "low", "logged", "high", "rate", "format", "share"]
    return pd.DataFrame(made, columns=[*columns, "usd_logged", "usd_printed", "unlike"])


def tokens_scale(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what more cards cost where each has the same share of the batch (`_SAME_SHARE`).

    Columns: `_SAME_SHARE`, format, fewest, devices, more (× the fewest), dearer (× their card-hours, and so dollars).
    """
    made = []
    for _, group in rows.dropna(subset=[*_SAME_SHARE, "devices"]).groupby(_SAME_SHARE, sort=False):
        each = group.loc[group.groupby("devices")["rate"].idxmax()].sort_values("devices")
        if len(each) > 1:
            first = each.iloc[0]
            more = each["devices"].astype(float) / float(first["devices"])
            each = each.assign(fewest=first["devices"], more=more, dearer=first["rate"] / each["rate"])
            made.append(each[[*_SAME_SHARE, "format", "fewest", "devices", "more", "dearer"]])
    columns = [*_SAME_SHARE, "format", "fewest", "devices", "more", "dearer"]
    return pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=columns)


def _card_of(rows: pd.DataFrame, machine: str) -> str:
    cards = rows.loc[rows["hardware"] == machine, "card"]
    return str(cards.iloc[0]) if len(cards) else machine
