"""What the same result cost by date: printed times of records at one price, and at lists of their days."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from math import sqrt
from statistics import fmean, median
from typing import Any

import pandas as pd

from scripts.analysis import noise
from scripts.analysis.trainings import CALLED, TRAINING
from scripts.articles.speedruns.given import Given, is_retimed
from scripts.articles.speedruns.model import LOSS
from scripts.costs.billing import cost_usd
from scripts.costs.card_history import day_of
from scripts.records import known_noise
from scripts.storage.numbers import TIE, number
from scripts.storage.tables import records

#: A price that was read so many days from a record's day is none of that day.
PRICE_DAYS = 90

#: So many of the newest records are read first.
_NEWEST = 10

#: The kind of machine whose repeats are known, and its cards as logs name them.
_KIND, CARDS = "8 x H100", "8 x NVIDIA H100 80GB HBM3"

_OTHER_TIME = re.compile(r"\d+(?:\.\d+)? ?min")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CORE = re.compile(r"CORE ([\d.]+)")


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: Given
) -> dict[str, pd.DataFrame]:
    """Return the tables that the functions below describe, by their names."""
    rows = printed(study, prices, given)
    return {
        "then_now": then_now(rows, study),
        "newest": newest(rows),
        "limits": pd.DataFrame(study["speedruns"]["limits"]),
        "every_record": rows,
        "hours": hours(rows, prices, study),
        "found": pd.DataFrame(list(found(rows, given, study)), columns=["what", "rows", "of", "which"]),
        "curves": curves(given, prices, study),
        "trainings": trainings(rows, prices, study),
    }


def of_day(readings: Sequence[tuple[date, float]], day: date) -> float | None:
    """Return the price that a list had on a day, by its readings in their order; None where none is near enough.

    That of the last reading before it, if that is no older than `PRICE_DAYS`; or that of the next one within as many
    days, if the price is the one before too: between two readings that differ nobody knows when it changed.
    """
    before = [(read, usd) for read, usd in readings if read <= day]
    after = [(read, usd) for read, usd in readings if read > day]
    if before and (day - before[-1][0]).days <= PRICE_DAYS:
        return before[-1][1]
    if before and after and after[0][1] == before[-1][1] and (after[0][0] - day).days <= PRICE_DAYS:
        return after[0][1]
    return None


def printed(study: Mapping[str, Any], prices: pd.DataFrame, given: Given) -> pd.DataFrame:
    """Return a row per printed row, in their order.

    Columns: source, track, label, record, mark (a word for it), date, description, note, is_retimed, log, hardware,
    seconds, minutes, usd (at the study's price), times (the dollars of the track's first, over these), per_hour_then
    and usd_then (at the list of its day; missing where none is known), result (CORE as printed, else the mean loss at
    the end of its own runs), and of its own runs: log_runs, log_seconds (median), log_usd, log_off (over the printed
    time, - 1), log_cards, lacks (why there are no seconds of them).
    """
    about = study["speedruns"]
    hourly = prices.set_index(["price_option", "hardware"])["usd_per_hour"].astype(float)
    logs = {(row["track"], row["record"], row["date"]): row for row in given.logs}
    readings = {name: _readings(prices, name, about["lists"]) for name in about["machines"].values()}
    first: dict[str, float] = {}
    made = []
    for row in given.records:
        name, seconds = about["machines"][row["system"]], float(row["seconds"])
        per_hour = float(hourly[study["price"], name])
        then = of_day(readings[name], day_of(row["date"]))
        usd = cost_usd(seconds, per_hour)
        core = _CORE.search(row["note"])
        own = _own(logs.get((row["track"], row["record"], row["date"]), {"lacks": "names no log"}))
        made.append(
            {name: row[name] for name in ("source", "track", "date", "description", "note", "log")}
            | {
                "record": int(row["record"]),
                "label": about["tracks"][row["track"]]["label"],
                "mark": about["tracks"][row["track"]]["marked"].get(row["record"], ""),
                "is_retimed": is_retimed(row),
                "hardware": name,
                "seconds": seconds,
                "minutes": seconds / 60,
                "usd": usd,
                "times": first.setdefault(row["track"], usd) / usd,
                "per_hour_then": then,
                "usd_then": None if then is None else cost_usd(seconds, then),
                **own,
                "log_usd": None if own["log_seconds"] is None else cost_usd(own["log_seconds"], per_hour),
                "log_off": None if own["log_seconds"] is None else own["log_seconds"] / seconds - 1,
                "result": float(core[1]) if core else own["result"],
            }
        )
    table = pd.DataFrame(made)
    numbers = ["per_hour_then", "usd_then", "log_seconds", "log_usd", "log_off", "result"]
    return table.astype(dict.fromkeys(numbers, "Float64"))


def _readings(prices: pd.DataFrame, hardware: str, lists: Sequence[str]) -> list[tuple[date, float]]:
    of_it = prices[(prices["hardware"] == hardware) & prices["price_option"].isin(lists)]
    return sorted((day_of(row["price_as_of"]), float(row["usd_per_hour"])) for row in records(of_it))


def _own(log: Mapping[str, str]) -> dict[str, Any]:
    """Return what the own runs of a record took; runs of other cards are counted, and give no seconds."""
    seconds = [float(text) for text in log.get("seconds", "").split()]
    losses = [float(text) for text in log.get("val_losses", "").split()]
    cards = log.get("cards", "")
    is_alike = bool(seconds) and cards == CARDS
    return {
        "log_runs": len(seconds) if is_alike else 0,
        "log_seconds": median(seconds) if is_alike else None,
        "log_cards": cards,
        "lacks": log["lacks"]
        or ("" if is_alike else f"{len(seconds)} runs of {cards or 'cards that it does not name'}"),
        "result": fmean(losses) if losses else None,
    }


def then_now(rows: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the first and the newest record of each track, one row each.

    Columns: label, and for `then` and `now` each date, minutes, usd and result; times (the dollars of the first over
    the newest), log_usd and log_times (by the newest one's own runs), usd_list (the newest at the list of its day),
    records (how many).
    """
    made = []
    for track, about in study["speedruns"]["tracks"].items():
        of_it = rows[(rows["track"] == track) & ~rows["is_retimed"]]
        then, now = of_it.iloc[0], of_it.iloc[-1]
        made.append(
            {"track": track, "label": about["label"], "records": len(of_it)}
            | {f"then_{name}": then[name] for name in ("date", "minutes", "usd", "result")}
            | {f"now_{name}": now[name] for name in ("date", "minutes", "usd", "result")}
            | {"times": then["usd"] / now["usd"], "log_usd": now["log_usd"], "log_runs": now["log_runs"]}
            | {"log_times": then["usd"] / now["log_usd"], "usd_list": now["usd_then"]}
        )
    return pd.DataFrame(made)


def newest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the newest records of the first track, the last first."""
    of_it: pd.DataFrame = rows[(rows["track"] == rows["track"].iloc[0]) & ~rows["is_retimed"]]
    return of_it.tail(_NEWEST).iloc[::-1]


def hours(rows: pd.DataFrame, prices: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return what an hour of the records' machine was listed at, by date, and the first and newest record at it.

    Columns: price_as_of, label, usd_per_hour, first_usd and newest_usd (of the first track), source.
    """
    track = rows[(rows["track"] == rows["track"].iloc[0]) & ~rows["is_retimed"]]
    first, last = track.iloc[0], track.iloc[-1]
    table = prices[prices["hardware"] == first["hardware"]].sort_values("price_as_of", kind="stable")
    hourly = table["usd_per_hour"].astype(float)
    return pd.DataFrame(
        {
            "price_as_of": table["price_as_of"],
            "label": table["price_option"].map({name: about["label"] for name, about in study["prices"].items()}),
            "usd_per_hour": hourly,
            "first_usd": cost_usd(first["seconds"], hourly),
            "newest_usd": cost_usd(last["seconds"], hourly),
            "source": table["price_source"],
        }
    )


def found(rows: pd.DataFrame, given: Given, study: Mapping[str, Any]) -> Iterator[tuple[str, int, int, str]]:
    """Yield what a careful reader finds in the rows: what, in how many, of how many, and which."""
    about = study["speedruns"]

    def finding(what: str, which: "pd.Series[bool]", of: int) -> tuple[str, int, int, str]:
        named = rows[which].groupby("track", sort=False)["record"]
        return what, int(which.sum()), of, "; ".join(f"{track} {', '.join(map(str, each))}" for track, each in named)

    for track in about["tracks"]:
        of_it = rows[rows["track"] == track]
        there = set(of_it["record"])
        gaps = sorted(set(range(min(there), max(there))) - there)
        yield (
            f"{track}: rows of the source; numbers that it skips",
            len(of_it),
            len(rows),
            ", ".join(map(str, gaps)) or "none",
        )
    yield finding("Old records that were timed anew: no new ones", rows["is_retimed"], len(rows))
    what = f"{about['whose']} was not read within {PRICE_DAYS} days of its date: dollars at the one price alone"
    yield finding(what, rows["usd_then"].isna(), len(rows))
    for why in dict.fromkeys(rows.loc[rows["lacks"] != "", "lacks"]):
        yield finding(f"No seconds of its own: {why}", rows["lacks"] == why, len(rows))
    timed = rows["log_off"].notna()
    off = (rows["log_off"].abs() > noise.LEAST_GAP).fillna(False)
    yield finding(f"Own runs more than {100 * noise.LEAST_GAP:g} % off the printed time", off, int(timed.sum()))
    longer = (rows["log_off"] > TIE).fillna(False)
    yield finding(f"Own runs more than {100 * TIE:g} % longer than it", longer, int(timed.sum()))
    targets = rows["track"].map({track: one["target"] for track, one in about["tracks"].items()})
    of_loss = rows["track"].map({track: one["metric"] == LOSS for track, one in about["tracks"].items()})
    above = ((rows["result"] > targets) & of_loss).fillna(False)
    yield finding("Mean loss of its own runs above the target", above, int((rows["result"].notna() & of_loss).sum()))
    dated = rows["log"].str.extract(f"({_DATE.pattern})")[0]
    yield finding(
        "The folder of its log has another date", dated.notna() & (dated != rows["date"]), int(dated.notna().sum())
    )
    yield finding("Its description names another time", rows["description"].str.contains(_OTHER_TIME), len(rows))
    yield _small_steps(rows)


def _small_steps(rows: pd.DataFrame) -> tuple[str, int, int, str]:
    """Return how many records gained less on the one before than two machines differ by, which ran one program."""
    known = known_noise.by_kind()
    one, two = (100 * sqrt(known[kind]["variance"]) for kind in (_KIND, noise.MACHINES))
    first = rows[(rows["track"] == rows["track"].iloc[0])].sort_values("record", kind="stable")
    # From a record to the next, on the clock of the next: an old one that was timed anew stands before it.
    pairs = [(old, new) for old, new in pairwise(records(first)) if not new["is_retimed"]]
    gap = sqrt(2) * two / 100
    small = [str(new["record"]) for old, new in pairs if 1 - new["seconds"] / old["seconds"] < gap]
    what = (
        f"Steps of {first['track'].iloc[0]} below {100 * gap:.1f} %, the standard deviation of two machines with one "
        f"program ({two:.1f} % each); repeats on one machine have {one:.2f} % ({known[_KIND]['runs']} runs of "
        f"{known[_KIND]['cells']} programs): such a step shows on one machine alone, as the rules have it"
    )
    return what, len(small), len(pairs), ", ".join(small)


def curves(given: Given, prices: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return loss by dollars spent in the log of each record that is shown: record, date, step, val_loss, usd."""
    name = study["speedruns"]["machines"][given.records[0]["system"]]
    chosen = (prices["price_option"] == study["price"]) & (prices["hardware"] == name)
    per_hour = float(prices.loc[chosen, "usd_per_hour"].iloc[0])
    table = pd.DataFrame(list(given.curves))
    seconds = table["seconds"].astype(float)
    shown = table[["date", "log"]].assign(
        record=table["record"].astype(int),
        step=table["step"].astype(int),
        val_loss=table["val_loss"].astype(float),
        seconds=seconds,
        usd=cost_usd(seconds, per_hour),
    )
    return shown.reset_index(drop=True)


def trainings(rows: pd.DataFrame, prices: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the newest record of each track as the index shows it, in each role of `scripts.analysis.trainings`."""
    shown = prices[prices["price_option"] == study["price"]].set_index("hardware")
    dated, whose = shown["price_as_of"], shown["provider"]
    made = []
    for track, about in study["speedruns"]["tracks"].items():
        last = rows[(rows["track"] == track) & ~rows["is_retimed"]].iloc[-1]
        cards, _, card = study["machines"][last["hardware"]]["label"].partition(" × ")
        one = {
            "workload": about["label"],
            "of": TRAINING,
            "scale": "timed part, as printed",
            "card": card,
            "hardware": last["hardware"],
            "provider": str(whose[last["hardware"]]),
            "accelerators": int(cards),
            "seconds": last["seconds"],
            "usd": last["usd"],
            "runs": 1,
            "not_told": 0,
            "why": "",
            "usd_of_runs": [float(f"{last['usd']:.6g}")],
            "cells": 1,
            "date": last["date"],
            "price_as_of": str(dated[last["hardware"]]),
        }
        made += [{"role": role, "head": head} | one for role, head in CALLED.items()]
    return pd.DataFrame(made)


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: Given) -> dict[str, float]:
    """Return usd_<track>_<record> and usd_then_<track>_<record>, and seconds_of_new_timing."""
    made: dict[str, float] = {}
    rows = derived["every_record"]
    for row in records(rows[~rows["is_retimed"]]):
        name = f"{row['track'].replace(' ', '-')}_{row['record']}"
        made[f"usd_{name}"] = float(row["usd"])
        if not pd.isna(row["usd_then"]):
            made[f"usd_then_{name}"] = float(row["usd_then"])
    again = rows[rows["is_retimed"]].head(1)
    for row in records(again):
        old = rows[(rows["track"] == row["track"]) & (rows["record"] == row["record"]) & ~rows["is_retimed"]]
        made["seconds_of_new_timing"] = float(row["seconds"] - old["seconds"].iloc[0])
    return made


def answer(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> tuple[str, str]:
    """Return what the first and the newest record cost, in a word and some sentences."""
    first, *others = records(derived["then_now"])
    option = study["prices"][study["price"]]["label"]
    listed = derived["hours"]
    per_hour = listed.loc[listed["label"] == option, "usd_per_hour"].iloc[0]
    tracks = study["speedruns"]["tracks"]
    also = "; ".join(f"{row['track']} {number(row['times'])} times less{_short_in(row, tracks)}" for row in others)
    return (
        f"{number(first['then_usd'])} USD then, {number(first['now_usd'])} USD now, as printed",
        f"{first['label']}, on eight H100 at {number(per_hour, 4)} USD an hour: {number(first['times'])} "
        f"times less from {first['then_date']} to {first['now_date']}, {number(first['log_times'])} times by the "
        f"newest's own logs. {also}{', since 2019 on TPU v3-8.' if also else ''}",
    )


def further(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> str:
    """Return each track's dollars then and now, what offers of today and lists of the day come to, and the clock."""
    about, option = study["speedruns"], study["prices"][study["price"]]["label"]
    table = records(derived["then_now"])
    first = table[0]
    listed = derived["hours"]
    offers = {
        one["offer"]: listed[listed["label"] == one["label"]].iloc[0]
        for one in study["prices"].values()
        if "offer" in one and one["label"] in set(listed["label"])
    }
    today = " and ".join(f"{number(one['newest_usd'])} USD at {one['label']}" for one in offers.values())
    today = f"The newest {first['track']} takes {today}. " if today else ""
    said = [
        f"{row['label']}: {number(row['then_usd'])} USD ({row['then_date']}{_short_of(row, about['tracks'])}) and "
        f"{number(row['now_usd'])} ({row['now_date']}), {number(row['times'])} times less"
        for row in table
    ]
    rows = derived["every_record"]
    of_day = rows.loc[rows["track"] == first["track"], "usd_then"]
    on_its_day = (
        f"at {about['whose']} of its day {number(of_day.iloc[-1])}"
        + (f" (of the first's day none was read within {PRICE_DAYS} days)" if pd.isna(of_day.iloc[0]) else "")
        if pd.notna(of_day.iloc[-1])
        else f"of its day no list was read within {PRICE_DAYS} days"
    )
    return (
        f"The price of eight H100 is that of {option}; another changes all of them alike. {'; '.join(said)}. {today}"
        f"2019 was TPU v3-8. The newest {first['track']} cost {on_its_day}."
    )


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first: which is cheapest, how surely, at which price another is, and of N samples."""
    table = records(derived["then_now"])
    first = table[0]
    each = "; ".join(f"{row['label']}, {number(row['now_usd'])} USD" for row in table)
    rows = derived["every_record"]
    since = rows.loc[rows["hardware"] == rows["hardware"].iloc[0], "date"].min()[:4]
    off = number(100 * (first["log_usd"] / first["now_usd"] - 1), 2)
    return {
        "which": f"The newest record of each, on eight H100 at {study['prices'][study['price']]['label']}: {each}. "
        f"No other machine since {since}.",
        "sure": f"Each time is printed once, by clocks that leave out compiling and validation. The newest "
        f"{first['track']} has {first['log_runs']} logs of its own: {number(first['log_usd'])} USD, {off} % more.",
        "price": f"Unknown, as all records since {since} ran on one kind of machine: its price changes all alike.",
        "samples": "Unknown for samples, as each is trained to a result. N trainings cost N times as much: 1,000 of "
        f"{first['label']} {number(1000 * first['now_usd'])} USD.",
    }


def _short_in(row: Mapping[str, Any], tracks: Mapping[str, Any]) -> str:
    """Return `_short_of` in brackets, beside the target."""
    ended = _short_of(row, tracks).removeprefix(", which ")
    return f" (its first {ended}, above {tracks[row['track']]['target']})" if ended else ""


def _short_of(row: Mapping[str, Any], tracks: Mapping[str, Any]) -> str:
    """Return in words that a first record ended above the loss that its track is of, as its log has it."""
    about = tracks[row["track"]]
    if about["metric"] != LOSS or row["then_result"] <= about["target"]:
        return ""
    return f", which ended at {row['then_result']:.4f}"
