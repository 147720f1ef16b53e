"""Rounds of MLPerf Training: a folder of their logs goes in, one row per result comes out.

A result is what one submitter measured of one benchmark on one system, in several runs. Its logs lie in
`<round>/<submitter>/results/<system>/<benchmark>/result_*.txt`, as in the repositories training_results_v*.* of
github.com/mlcommons, in a folder or an archive (.tar.xz) for each round; what the system is stands in
`<round>/<submitter>/systems/<system>.json`, and what a score is multiplied by in a `scaling.json` beside the logs, or
for all rounds in one table, `scaling.csv`. What a system's accelerators are called and how many it has is read by
`config/mlperf/cards.yaml`. The rows keep raw facts: `scripts.articles.mlperf.scores` scores them.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, nan
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import track

from scripts.articles.mlperf.results import CARDS, COLUMNS, CPU
from scripts.importers import Problem
from scripts.importers._logs import Refused, from_json
from scripts.importers.formats import mllog
from scripts.storage.errors import InputError
from scripts.storage.schemas import read_yaml

_LOG = re.compile(r"result_.*\.txt")
_ROUND = re.compile(r"v\d+\.\d+")

#: Folders and logs name two benchmarks in two ways.
ALIASES = {"mask": "maskrcnn", "gnn": "rgat"}

#: `status` of a system, of whatever spelling.
_AVAILABILITY = (
    ("research", "research"),
    ("preview", "preview"),
    ("cloud", "cloud"),
    ("prem", "on-premise"),
    ("available", "available"),
)

#: What descriptions call a fact, later rounds first.
_KEYS = {
    "card": ("accelerator_model_name", "accelerator"),
    "memory": ("accelerator_memory_capacity",),
    "link": ("accelerator_interconnect",),
    "per_node": ("accelerators_per_node", "num_accelerators"),
    "nodes": ("number_of_nodes", "num_nodes"),
    "cpu": ("host_processor_model_name", "cpu"),
    "framework": ("framework",),
    "status": ("status",),
    "division": ("division",),
}


@dataclass(frozen=True)
class Cards:
    """How accelerators are recognised (`config/mlperf/cards.yaml`)."""

    cards: Mapping[str, re.Pattern[str]]
    counts: tuple[tuple[re.Pattern[str], float], ...]

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "Cards":
        """Return the patterns of the file's content."""
        return cls(
            {name: re.compile(card["in"], re.IGNORECASE) for name, card in about["cards"].items()},
            tuple((re.compile(one["in"], re.IGNORECASE), one["each"]) for one in about["counts"]),
        )

    def name(self, card: str, system: str) -> str:
        """Return which card that is, by its description or else by the system's name; empty if none fits."""
        texts = (card, system) if card else (system,)
        return next((name for text in texts for name, found in self.cards.items() if found.search(text)), "")

    def count(self, system: str) -> int | None:
        """Return how many accelerators a system has by its name."""
        for pattern, each in self.counts:
            if found := pattern.search(system):
                numbers = [int(group) for group in found.groups() if group]
                return round(each * (numbers[0] if numbers else 1))
        return None


@dataclass
class _Result:
    """The logs of one result while they are read, by the names of their files."""

    seconds: dict[str, float] = field(default_factory=dict)
    init_seconds: list[float] = field(default_factory=list)
    sha256: dict[str, str] = field(default_factory=dict)
    dates: list[str] = field(default_factory=list)
    benchmark: str = ""
    division: str = ""
    batch_size: int | None = None


def read_cards() -> Cards:
    """Return the project's own patterns."""
    return Cards.of(read_yaml(CARDS, "mlperf-cards"))


def read(folder: Path, cards: Cards) -> tuple[pd.DataFrame, list[Problem]]:
    """Return the results of the rounds in `folder`, a table of `COLUMNS`, and what could not be read.

    Raises InputError if there is no such folder, no log in it, or if its `scaling.csv` is no table of factors.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    results: dict[tuple[str, str, str, str], _Result] = {}
    systems: dict[tuple[str, str, str], dict[str, str]] = {}
    factors = _factors(folder / "scaling.csv")
    problems: list[Problem] = []
    rounds = sorted(path for path in folder.iterdir() if _ROUND.search(path.name))
    for place in track(rounds, "reading rounds", console=Console(stderr=True), transient=True):
        for name, data in _files(place):
            parts = name.parts
            try:
                if "results" in parts and _LOG.fullmatch(name.name):
                    key = _key(_round(place), parts)
                    _add(results.setdefault(key, _Result()), name, data, problems)
                elif name.name == "scaling.json":
                    factors[_key(_round(place), parts)] = _factor(data)
                elif name.suffix == ".json" and "systems" in parts:
                    submitter = parts[parts.index("systems") - 1]
                    systems[_round(place), submitter, name.stem] = _description(data)
            except Refused as refused:
                problems.append(Problem(f"{place.name}/{name}", refused.line, f"passed over: {refused}"))
    if not results:
        raise InputError(f"{folder}: holds no folder or archive of a round with <submitter>/results/")
    rows = [
        _row(key, result, systems.get(key[:3], {}), factors.get(key, 1.0), cards, problems)
        for key, result in sorted(results.items())
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS), problems


def _round(place: Path) -> str:
    found = _ROUND.search(place.name)
    return found[0] if found else ""


def _files(place: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Return path and content of each log and description of a round."""
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.suffix in (".txt", ".json") and path.is_file():
                yield PurePosixPath(path.relative_to(place).as_posix()), path.read_bytes()
    elif place.name.endswith(".tar.xz"):
        with tarfile.open(place, "r|xz") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content and member.name.endswith((".txt", ".json")):
                    yield PurePosixPath(*PurePosixPath(member.name).parts[1:]), content.read()


def _key(round_: str, parts: tuple[str, ...]) -> tuple[str, str, str, str]:
    """Return round, submitter, system and benchmark's folder of a path below a round; of v0.5 longer ones.

    Raises Refused for a path without a submitter or a system.
    """
    at = parts.index("results") if "results" in parts else 0
    below = parts[at + 1 : -1]
    if not at or not below:
        raise Refused("must lie in <submitter>/results/<system>/")
    submitter = parts[1] if round_ == "v0.5" else parts[at - 1]
    # In v0.5 nine systems of one submitter are called `tpu`: what is above them distinguishes them.
    above = parts[2:at] if round_ == "v0.5" else ()
    system = "/".join((*above, below[0]))
    return round_, submitter, system, below[-1] if len(below) > 1 else ""


def _add(result: _Result, name: PurePosixPath, data: bytes, problems: list[Problem]) -> None:
    """Take a log into its result: a run that did not end, or not with success, failed."""
    result.sha256[name.name] = hashlib.sha256(data).hexdigest()
    result.seconds[name.name] = inf
    passed: list[Refused] = []
    try:
        runs = list(mllog.parse(name, data.decode("utf-8", errors="replace"), passed))
    except Refused as refused:
        runs = [refused]
    problems += [Problem(str(name), one.line, f"passed over: {one}") for one in passed]
    for run in runs:
        if isinstance(run, Refused):
            problems.append(Problem(str(name), run.line, f"counts as failed: {run}"))
            continue
        if run["status"] == "done":
            result.seconds[name.name] = run["train_seconds"]
        if run["init_seconds"] is not None:
            result.init_seconds.append(run["init_seconds"])
        result.dates.append(run["started_at"][:10])
        result.benchmark = result.benchmark or run["workload"] or ""
        result.division = result.division or str(run["division"] or "")
        result.batch_size = result.batch_size or run["batch_size"]


def _description(data: bytes) -> dict[str, str]:
    """Return what a system's description says of `_KEYS`: JSON, JSON with a fault, or the lines of v0.6."""
    text = data.decode("utf-8", errors="replace")
    try:
        about = json.loads(text)
    except ValueError:
        # Within v0.6's `entry` quotes are escaped, once for each level.
        about = dict(re.findall(r"""\\*["'](\w+)\\*["']\s*:\s*\\*["']([^"'\\]*)""", text))
        about |= dict(re.findall(r'^(division|status): \{"value": "([^"]*)"', text, re.MULTILINE))
    if not isinstance(about, dict):
        return {}
    return {
        fact: next((str(about[key]) for key in keys if about.get(key) not in (None, "", "N/A")), "")
        for fact, keys in _KEYS.items()
    }


def _factor(data: bytes) -> float:
    """Return the factor of a `scaling.json`. Raises Refused if it has none."""
    content = from_json(data.decode("utf-8-sig", errors="replace"))
    try:
        factor = float(content["scaling_factor"])
    except (KeyError, TypeError, ValueError, OverflowError):
        factor = nan
    if not 0 < factor < inf:
        raise Refused("scaling_factor: must be a number above 0")
    return factor


def _factors(path: Path) -> dict[tuple[str, str, str, str], float]:
    """Return the factors of a table with round, submitter, system, benchmark and factor; none without one.

    Raises InputError if the file is no such table.
    """
    if not path.is_file():
        return {}
    keys = ["round", "submitter", "system", "benchmark"]
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(keys, str) | {"factor": float})
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no table of factors: {error}") from error
    for column in (*keys, "factor"):
        if column not in table:
            raise InputError(f"{path}: column {column} is missing; needed are {', '.join(keys)}, factor")
    return {tuple(row[:4]): float(row[4]) for row in table[[*keys, "factor"]].itertuples(index=False)}


def _row(
    key: tuple[str, str, str, str],
    result: _Result,
    about: Mapping[str, str],
    factor: float,
    cards: Cards,
    problems: list[Problem],
) -> dict[str, Any]:
    round_, submitter, system, benchmark = key
    named = ALIASES.get(result.benchmark, result.benchmark)
    benchmark = ALIASES.get(benchmark, benchmark) or named
    if named and named != benchmark and not {named, benchmark} <= {"ssd", "retinanet"}:
        problems.append(Problem("/".join(key), None, f"the folder says {benchmark}, its logs say {named}"))
        benchmark = ""  # neither is to be believed
    # A bare name may be of several cards: memory and link say which.
    more = " ".join(filter(None, (about.get(name) for name in ("card", "memory", "link"))))
    card = cards.name(about.get("card", ""), system) or cards.name(more, system)
    counted = [int(float(about[name])) for name in ("nodes", "per_node") if _is_number(about.get(name))]
    accelerators = counted[0] * counted[1] if len(counted) == 2 else None
    if not accelerators:
        accelerators = cards.count(system)
    if not card or (not accelerators and card != CPU):
        missing = "which accelerator it has" if not card else "how many accelerators it has"
        problems.append(Problem("/".join(key), None, f"nothing says {missing}"))
    division = (about.get("division") or result.division).lower()
    status = about.get("status", "").lower()
    runs = [result.seconds[name] for name in sorted(result.seconds)]
    digest = hashlib.sha256("".join(result.sha256[name] for name in sorted(result.sha256)).encode())
    return {
        "round": round_,
        "submitter": submitter,
        "system": system,
        "benchmark": benchmark,
        "division": "open" if "open" in division or system.endswith("_open") else "closed",
        "availability": next((word for part, word in _AVAILABILITY if part in status or part in system), ""),
        "card": card,
        "accelerators": accelerators,
        "nodes": int(float(about["nodes"])) if _is_number(about.get("nodes")) else None,
        "cpu": about.get("cpu", ""),
        "framework": about.get("framework", ""),
        "batch_size": result.batch_size,
        "factor": factor,
        "seconds": " ".join("x" if one == inf else f"{one:.3f}".rstrip("0").rstrip(".") for one in runs),
        "init_seconds": round(median(result.init_seconds), 3) if result.init_seconds else None,
        "date": max(result.dates, default=""),
        "logs": digest.hexdigest()[:16],
    }


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch(r"\d+(\.0+)?", text or ""))
