"""What the page of a study's history shows, in words and rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from scripts.analysis import clocks, trends
from scripts.analysis.names import cell_name
from scripts.records import about
from scripts.storage.numbers import TIE

#: Letters of a commit that are shown.
_COMMIT = 10

#: A trigger was missed where the one before is longer ago than so many intervals.
LATE = 1.5


def named(
    cells: Iterable[Mapping[str, Any]], study: Mapping[str, Any], machines: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the cells of `trends.cells` with their `name`; of two alike but for their settings each says its own."""
    labels = {name: about["label"] for name, about in machines.items()}
    found, counts = [], dict[tuple[str, str], int]()
    for cell in cells:
        known = cell["workload"] in about.workloads()
        size = about.workload(cell["workload"]).batch_size if known else None
        name = cell_name(cell, labels, size)
        turn = counts[cell["workload"], name] = counts.get((cell["workload"], name), 0) + 1
        found.append({**cell, "name": name if turn == 1 else f"{name} (other settings, {turn})"})
    return found


def of_all(changes: Iterable[Mapping[str, Any]], machines: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return changes that all cells of a machine share (`trends.of_all`), as those of a cell."""
    return [
        {
            "workload": "every workload",
            "name": f"every configuration of {machines[one['hardware']]['label']}",
            "changes": [one],
        }
        for one in changes
    ]


def days(repetitions: Sequence[str]) -> list[str]:
    """Return short words for the repetitions: their days; their minutes, below the day unless all are of one."""
    of_day = [name[5:10] for name in repetitions]
    if len(set(of_day)) == len(of_day):
        return of_day
    minutes = [f"{name[11:13]}:{name[13:15]}" for name in repetitions]
    if len(set(of_day)) == 1:
        return minutes
    return [f"{day}\n{minute}" for day, minute in zip(of_day, minutes, strict=True)]


def repetitions(every: Iterable[trends.Repetition]) -> list[dict[str, Any]]:
    """Return one row per repetition: its name, runs, those that are not done, machines, commit, dates of its prices."""
    return [
        {
            "name": one.name,
            "runs": len(one.runs),
            "not_done": int((one.runs["status"] != "done").sum()),
            "seconds": float(clocks.lived_seconds(one.runs).sum()),
            "machines": sorted(set(one.runs["cpu_model"].dropna()) | set(one.runs["gpu_model"].dropna())),
            "commits": sorted({str(commit)[:_COMMIT] for commit in one.runs["git_commit"].dropna()}),
            "prices": sorted({str(day) for day in one.costs["price_as_of"].dropna()}),
        }
        for one in every
    ]


def changes(cells: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return every marked change, the newest first, with its cell's workload and name; of versions what differs."""
    rows = [
        {
            **change,
            "workload": cell["workload"],
            "cell": cell["name"],
            "versions": [_short(one) for one in change["versions"]],
        }
        for cell in cells
        for change in cell["changes"]
    ]
    return sorted(rows, key=lambda row: row["repetition"], reverse=True)


def _short(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change of versions without what stayed: packages are one text, `name version, name version`."""
    most = _COMMIT if changed["what"] == "git commit" else None
    sides = [[part[:most] for text in changed[side] for part in text.split(", ")] for side in ("old", "new")]
    return {
        "what": changed["what"],
        "old": [part for part in sides[0] if part not in sides[1]],
        "new": [part for part in sides[1] if part not in sides[0]],
    }


def repriced(cells: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each change of a machine's price an hour once, the newest first."""
    found = {}
    for cell in cells:
        for change in cell["repriced"]:
            found[change["repetition"], cell["hardware"], change["ratio"]] = {**change, "hardware": cell["hardware"]}
    return sorted(found.values(), key=lambda row: row["repetition"], reverse=True)


def triggers(rows: Sequence[Mapping[str, str]], now: datetime) -> list[dict[str, str]]:
    """Return what went wrong with triggers (rows of triggers.csv), the newest first: `at`, and `what` in words.

    Missed are those that a scheduled one should have been followed by, within `LATE` intervals, and was not.
    """
    found: list[dict[str, str]] = []
    started: Mapping[str, str] | None = None
    called: tuple[datetime, timedelta] | None = None
    for row in rows:
        at = _time(row["at"])
        is_call = row["what"] in ("started", "resumed", "overlapped")
        # One by hand comes when it likes, and stands for none that was due.
        if row["what"] == "unscheduled" or (is_call and row["every"]):
            found += _missed(called, at)
            called = (at, _interval(row["every"])) if row["every"] else None
        if row["what"] == "overlapped":
            found.append(
                {"at": row["at"], "what": "overlapped: the repetition before was at work still, nothing was started"}
            )
        elif row["what"] in ("started", "resumed"):
            if started:
                found.append({"at": started["at"], "what": "no end is recorded: it was killed"})
            if row["what"] == "resumed":
                found.append({"at": row["at"], "what": "resumed what was interrupted"})
            started = row
        elif row["what"] in ("done", "failed"):
            started = None
            if row["what"] == "failed":
                found.append(
                    {"at": row["at"], "what": f"failed after {row['seconds']} s, exit code {row['exit_code']}"}
                )
    return (found + _missed(called, now))[::-1]


def _missed(called: tuple[datetime, timedelta] | None, at: datetime) -> list[dict[str, str]]:
    if called is None or at - called[0] <= LATE * called[1]:
        return []
    count = round((at - called[0]) / called[1]) - 1
    due = called[0] + called[1]
    words = "a trigger was" if count <= 1 else f"{count} triggers were"
    return [{"at": due.strftime("%Y-%m-%dT%H:%M:%SZ"), "what": f"{words} missed from here on: nothing called"}]


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def _interval(every: str) -> timedelta:
    return int(every[:-1]) * timedelta(**{{"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[every[-1]]: 1})


def rule(judged: Mapping[str, trends.Days]) -> str:
    """Return in words when a change is marked; empty without a repetition."""
    if not judged:
        return ""
    noises = "; ".join(
        f"{name}: {one.percent:.2g} % with a correlation of {one.correlation:.1f}, of {one.pairs} pairs of repetitions "
        f"of {one.cells} configuration{'s' * (one.cells != 1)}"
        for name, one in judged.items()
    )
    return (
        f"A change is marked where a level of {trends.LEAST} repetitions or more is {100 * TIE:g} % or more from that "
        f"of {trends.BEFORE} or more before, and further than repetitions differ by themselves: effects that all "
        "configurations of a machine share are taken out and looked at alone, the rest is judged by its variance and "
        f"its correlation from one repetition to the next ({noises}; few of them are drawn towards an assumed 5 %)."
    )
