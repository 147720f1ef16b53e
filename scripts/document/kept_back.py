"""Quotes beside speeds that no quote is made from: language models in MLPerf's logs."""

from collections.abc import Mapping, Sequence
from datetime import date
from math import log
from statistics import median
from typing import Any

from scripts.estimate import question, trial
from scripts.estimate.known import Known
from scripts.estimate.rates import rates
from scripts.storage.files import read_csv
from scripts.storage.numbers import rounded
from scripts.workflow.estimates import ROOT

FILE = ROOT / "reports" / "published" / "sources" / "mlperf-language-models.csv"

COLUMNS = (
    *("round", "submitter", "system", "benchmark", "card", "cards", "sequences"),
    *("tokens_per_second_per_card", "runs", "source"),
)

#: What a benchmark trains; all by sequences of 8,192 tokens, with software of NVIDIA's that the tables know.
_BENCHMARKS = {
    "llama2_70b_lora": ("Llama 2 70B", "lora"),
    "llama31_8b": ("Llama 3 8B", "pretrain"),
    "llama31_405b": ("Llama 3.1 405B", "pretrain"),
}


def _precision(card: str, round_: str) -> str:
    """Return the arithmetic that NVIDIA's code of a round is known for: no log prints it."""
    return "nvfp4" if "B" in card and round_ >= "v5.1" else "fp8"


def quotes(known: Known, today: date) -> list[dict[str, Any]]:
    """Return each result that is answered, with what is said of it."""
    found, said = [], {}
    for _, row in read_csv(FILE, COLUMNS):
        model, task = _BENCHMARKS[row["benchmark"]]
        precision = _precision(row["card"], row["round"])
        key = (model, task, precision)
        if key not in said:
            asked = question.ask(
                known, model=model, tokens=1e9, precision=precision, task=task, length=8192, software="megatron-bridge"
            )
            said[key] = {one.card: one for one in rates(known, asked, [], today).answers}
        if row["card"] in said[key]:
            one = said[key][row["card"]]
            ends = {"low": one.low, "said": one.middle, "high": one.high}
            about = {name: row[name] for name in ("round", "submitter", "system", "benchmark", "card")}
            found.append(
                about
                | {"precision": precision, "cards": int(row["cards"]), "basis": one.basis}
                | {"is_whole": float(row["sequences"]) >= int(row["cards"])}
                | {"logged": float(row["tokens_per_second_per_card"])}
                | ends
            )
    return found


def lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of results by benchmark, card and precision, and how good all quotes were."""
    whole = [one for one in found if one["is_whole"]]
    shown = [
        "| benchmark | card | precision | results | logged | said | 80 % | rests on | interval holds |",
        "| --- | --- | --- | ---: | ---: | ---: | --- | --- | ---: |",
    ]
    for key in dict.fromkeys((one["benchmark"], one["card"], one["precision"]) for one in whole):
        of = [one for one in whole if (one["benchmark"], one["card"], one["precision"]) == key]
        logged, first = [one["logged"] for one in of], of[0]
        shown.append(
            f"| {' | '.join(key)} | {len(of)} | {_range(logged)} | {rounded(first['said'])} "
            f"| {rounded(first['low'])} to {rounded(first['high'])} | {first['basis']} | {_held(of):.0%} |"
        )
    parts = [one for one in found if not one["is_whole"]]
    off = [log(one["said"] / one["logged"]) for one in whole]
    own = [one for one in whole if one["basis"] == "tables, this model"]
    slower = median(one["said"] / one["logged"] for one in parts)
    return [
        *shown,
        "",
        f"{len(whole)} results with a sequence a card and step or more: off by {_spread(off)}, and {_held(whole):.0%} "
        f"lie in the interval; of the {len(own)} that rest on a printed rate of the same model "
        f"{_held(own):.0%}. {len(parts)} results with less: {slower:.1f} times too fast in the median, and "
        f"{_held(parts):.0%} in the interval, which is why less is refused.",
    ]


def _range(values: Sequence[float]) -> str:
    low, high = rounded(min(values)), rounded(max(values))
    return low if low == high else f"{low} to {high}"


def _held(of: Sequence[Mapping[str, Any]]) -> float:
    return sum(one["low"] <= one["logged"] <= one["high"] for one in of) / len(of)


def _spread(errors: Sequence[float]) -> str:
    return "{:.2f} / {:.2f}".format(*trial.spread(errors))
