"""Scores of MLPerf Training, by its rules: which runs make a result, which are dropped, what a result is multiplied by.

Rules: github.com/mlcommons/training_policies, training_rules.adoc ("Benchmark Results"), in each round's revision. The
scores that they give are checked against MLCommons's public tables where a study shows them. Dollars and hours that are
derived from these logs are not verified by MLCommons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean
from types import MappingProxyType
from typing import Any

import pandas as pd

from scripts.storage.tables import records


@dataclass(frozen=True)
class Rule:
    """How many runs make a result, and how many of the fastest, and as many of the slowest, are dropped."""

    runs: int
    dropped: int = 1


_VISION, _LANGUAGE = Rule(5), Rule(10)

#: By the benchmark's name in its logs.
RULES = {
    **dict.fromkeys(("resnet", "ssd", "retinanet", "maskrcnn", "dlrm"), _VISION),
    **dict.fromkeys(("bert", "gnmt", "transformer", "rnnt", "minigo", "dlrm_dcnv2", "stable_diffusion"), _LANGUAGE),
    **dict.fromkeys(("llama2_70b_lora", "rgat", "llama31_8b", "flux1"), _LANGUAGE),
    "unet3d": Rule(40, 4),
    **dict.fromkeys(("gpt3", "llama31_405b"), Rule(3)),
    "ncf": Rule(100, 25),
}

#: How a failed run stands in the `seconds` of a table of results.
FAILED = "x"


def seconds(text: str) -> list[float]:
    """Return the seconds of those runs of a result that did not fail, from the `seconds` of a table of results."""
    return [float(one) for one in text.split() if one != FAILED]


@dataclass(frozen=True)
class Score:
    """A result's score (minutes), of so many runs; or why there is none."""

    minutes: float | None
    runs: int
    failed: int
    why: str = ""


def score(benchmark: str, minutes: Sequence[float], factor: float = 1.0) -> Score:
    """Return the score of a result: the mean of its runs without the fastest and the slowest, times its factor.

    `minutes` are those of every run, infinite for one that failed or was aborted: such a run is the slowest, and is
    dropped as that, not left out. `factor` is that of the result's `scaling.json`, for runs whose convergence was
    luckier than the reference's.
    """
    failed = sum(not isfinite(one) for one in minutes)
    if benchmark not in RULES:
        return Score(None, len(minutes), failed, f"no rule is known for {benchmark or 'its benchmark'}")
    rule = RULES[benchmark]
    if len(minutes) < rule.runs:
        return Score(None, len(minutes), failed, f"{len(minutes)} runs, {rule.runs} are needed")
    ordered = sorted(one if isfinite(one) else inf for one in minutes)
    kept = ordered[rule.dropped : len(ordered) - rule.dropped]
    if not isfinite(kept[-1]):
        return Score(None, len(minutes), failed, f"{failed} runs failed, {rule.dropped} may")
    return Score(fmean(kept) * factor, len(minutes), failed)


def scored(
    results: pd.DataFrame, about: Mapping[str, Any], cards: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """Return the results with what follows from them and `config/mlperf/series.yaml`; a row each, in their order.

    `cards` are what cards are called, by their names here.

    Added columns: series and its label (empty if none has the benchmark in that round), is_part (whether it begins with
    a checkpoint, and is not all of that model's training), published (of the round),
    runs, failed, minutes (the score), why (there is none), hours (accelerators x minutes), init_share (initialisation
    over the median run), copy_of (round and system that handed in the same seconds before), compared (whether it is a
    scored first appearance, closed, of a system that could be had), machine (in words: cards and submitter).
    """
    table = results.reset_index(drop=True)
    named = [_series(row["benchmark"], row["round"], about) for row in records(table)]
    made = []
    for row in records(table):
        minutes = [inf if one == FAILED else float(one) / 60 for one in row["seconds"].split()]
        made.append(score(row["benchmark"], minutes, row["factor"]))
    table["series"] = named
    table["label"] = [about["series"][name]["label"] if name else "" for name in named]
    table["is_part"] = [bool(name) and about["series"][name].get("checkpoint", False) for name in named]
    counts = table["accelerators"].astype("string").fillna("some")
    named_cards = table["card"].map(lambda card: cards.get(card, card))
    table["machine"] = counts + " × " + named_cards + ", " + table["submitter"].str.replace("_", " ")
    table["published"] = [str(about["rounds"][name]) for name in table["round"]]
    table["runs"] = [one.runs for one in made]
    table["failed"] = [one.failed for one in made]
    table["minutes"] = pd.array([one.minutes for one in made], dtype="Float64")
    table["why"] = [one.why for one in made]
    table["hours"] = table["minutes"] * table["accelerators"] / 60
    middle = [_median_seconds(text) for text in table["seconds"]]
    table["init_share"] = table["init_seconds"] / pd.array(middle, dtype="Float64")
    table["copy_of"] = _copies(table)
    had = ~table["availability"].isin(["preview", "research"]) & table["division"].eq("closed")
    table["compared"] = table["minutes"].notna() & had & table["copy_of"].eq("") & table["series"].ne("")
    return table


def _series(benchmark: str, round_: str, about: Mapping[str, Any]) -> str:
    rounds = list(about["rounds"])
    for name, one in about["series"].items():
        benchmarks = [one["benchmark"]] if isinstance(one["benchmark"], str) else one["benchmark"]
        within = rounds.index(one["first"]) <= rounds.index(round_) <= rounds.index(one["last"])
        if benchmark in benchmarks and within:
            return str(name)
    return ""


def _median_seconds(text: str) -> float | None:
    done = seconds(text)
    return float(pd.Series(done).median()) if done else None


def _copies(table: pd.DataFrame) -> list[str]:
    """Return for each result which earlier one has the same benchmark and exactly the same seconds; empty for none."""
    seen: dict[tuple[str, str], str] = {}
    found = []
    for row in records(table):  # in the order of the rounds, then of the submitters
        key = (row["benchmark"], " ".join(sorted(row["seconds"].split())))
        here = f"{row['round']} {row['submitter']} {row['system']}"
        found.append(seen.get(key, ""))
        seen.setdefault(key, here)
    return found
