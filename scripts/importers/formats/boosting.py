"""Console lines of XGBoost, LightGBM and CatBoost: a line per round, counted by the reader of `epd run`.

XGBoost: `[0]\\tvalidation_0-logloss:0.60123`; LightGBM: `[1]\\tvalid_0's l2: 0.243`, and of its command line
`Iteration:1, valid_1 auc : 0.76`; CatBoost: `0:\\tlearn: 0.67\\ttest: 0.66\\ttotal: 47.1ms`. The first two print no
times, unless the lines of XGBoost have a clock (`[12:34:56]`); LightGBM's command line counts the `seconds elapsed`,
CatBoost the `total`. Rounds that begin anew are a run of their own: a fold, or another try.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs
from scripts.importers._logs import Log, Refused, count, finite, number
from scripts.importers._recorder import lines
from scripts.importers._seconds import Said

HELP = "console lines of XGBoost, LightGBM and CatBoost, a line per round"

_SUFFIXES = (".log", ".txt", ".out", "")

_ROUND = re.compile(
    r"^(?:\[[\d:. -]+\] ?)?\[\d+\]\s+\S+-\S+:|^\[\d+\]\s+\S+'s "
    r"|^\[LightGBM\] \[Info\] Iteration:\d+,|^\d+:\s+(?:learn|test): ",
    re.MULTILINE,
)

#: How each writes the metric of a set of data.
_NUMBER = r"(?P<value>[-+]?[\d.]+(?:e[-+]?\d+)?|nan|inf)"
_METRICS = {
    "catboost": re.compile(rf"(?<!\S)(?P<set>learn|test): (?P<metric>){_NUMBER}(?!\S)"),
    "lightgbm": re.compile(rf"(?P<set>\w+)(?:'s| )(?: ?)(?P<metric>[\w@]+) ?: {_NUMBER}(?!\S)"),
    "xgboost": re.compile(rf"(?<!\S)(?P<set>\S+?)-(?P<metric>[\w@.]+-?):{_NUMBER}"),
}

#: Metrics of which more is better; the others are losses.
_MORE_IS_BETTER = re.compile(r"(?:auc\w*|map|ndcg|pre|acc\w*|average_precision|r2|f1|precision|recall)(?:@\d+)?-?")

_OF_TRAINING = ("train", "training", "learn")

#: Times: LightGBM's command line, CatBoost with the seconds of its units, and the clock of a line.
_ELAPSED = re.compile(r"(\d+(?:\.\d+)?) seconds elapsed, finished iteration")
_TOTAL = re.compile(r"\btotal: ((?:\d+(?:\.\d+)?(?:us|ms|s|m|h|d)\s*)+)")
_SO_FAR = re.compile(r"\bbest: ([-+]?[\d.]+(?:e[-+]?\d+)?) \(\d+\)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_CLOCK = re.compile(r"^\[(\d\d):(\d\d):(\d\d)\]")
_DAY = 86_400.0

_LACKS = "XGBoost and LightGBM print no times: give seconds"


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the logs below `folder`. Raises InputError if there is no such folder."""
    return _logs.read_logs(folder, layout, _SUFFIXES, runs_of)


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its lines of rounds."""
    return name.suffix.lower() in _SUFFIXES and len(_ROUND.findall(text)) > 1


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the runs of a log. Raises Refused for one without rounds."""
    text = _logs.text_of(log.data, lenient=True)
    written = [
        (int(tick.done), line) for line in text.splitlines() if _ROUND.search(line) for tick in lines.read(line)[:1]
    ]
    if not written:
        raise Refused("no line of a round: '[0]\\tvalidation_0-logloss:0.6', '[1]\\tvalid_0's l2: 0.2'")
    first = written[0][0]
    parts: list[dict[int, str]] = []
    for done, line in written:
        if not parts or (done == first and len(parts[-1]) > 1):
            parts.append({})
        # After an early end LightGBM prints its best round once more.
        parts[-1].setdefault(done, line)
    elapsed = [float(seconds) for seconds in _ELAPSED.findall(text)]
    for part in parts:
        done = max(part) + (1 if first == 0 else 0)
        rounds = [part[number] for number in sorted(part)]
        yield {
            **_ends(rounds, _framework(rounds[0])),
            "framework": _framework(rounds[0]),
            "steps_done": count(done),
            "said": _said(rounds, done, elapsed[-1] if elapsed and len(parts) == 1 else None),
        }


def _framework(line: str) -> str:
    if re.match(r"\d+:\s+(?:learn|test):", line):
        return "catboost"
    return "lightgbm" if "'s " in line or line.startswith("[LightGBM]") else "xgboost"


def _ends(rounds: Sequence[str], framework: str) -> dict[str, Any]:
    """Return status, the last loss of training and evaluation, and the best of the metric that is printed last."""
    values: dict[tuple[str, str], list[float]] = {}
    for line in rounds:
        for found in _METRICS[framework].finditer(line):
            value = number(found["value"])
            if value is not None:
                values.setdefault((found["set"], found["metric"]), []).append(value)
    if not values:
        return {"status": "done"}
    (name, metric), last = list(values.items())[-1]
    known = [value for value in last if finite(value) is not None]
    # CatBoost names no metric, but the best value so far: it shows which way is better.
    so_far = [float(one[1]) for line in rounds if (one := _SO_FAR.search(line))]
    is_loss = so_far[-1] <= so_far[0] if so_far else not _MORE_IS_BETTER.fullmatch(metric)
    trained = next((of for (data, what), of in values.items() if data in _OF_TRAINING and what == metric), None)
    losses = {"loss": trained[-1] if trained else None, "val_loss": None if name in _OF_TRAINING else last[-1]}
    return {
        "status": "done" if len(known) == len(last) else "diverged",
        **({key: finite(value) for key, value in losses.items()} if is_loss else {}),
        "best": so_far[-1] if so_far else (min if is_loss else max)(known, default=None),
        "best_of": f"{name} {metric}".strip(),
    }


def _said(rounds: Sequence[str], done: float, elapsed: float | None) -> Said:
    """Return what the lines say of the time: a count of seconds, or a clock without a day."""
    total = _TOTAL.search(rounds[-1])
    if total:
        elapsed = sum(float(one) * _SECONDS[unit] for one, unit in _PART.findall(total[1]))
    clock: list[tuple[float, float | None]] = []
    for at, line in enumerate(rounds, start=1):
        if found := _CLOCK.match(line):
            moment = 3_600.0 * int(found[1]) + 60.0 * int(found[2]) + int(found[3])
            while clock and moment < clock[-1][0]:
                moment += _DAY
            clock.append((moment, float(at)))
    is_known = any(later > earlier for (earlier, _), (later, _) in pairwise(clock))
    return Said(
        stated=elapsed,
        stated_as="total" if total else "seconds elapsed",
        clock=clock if is_known else (),
        steps=done,
        lacks=_LACKS,
    )
