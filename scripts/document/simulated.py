"""Tables within pages: what rules do in simulations, what scale-ups measured, and what the recorder promised."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import scale_ups
from scripts.document.noise import SCALED_UP
from scripts.records import ledger

ROOT = Path(__file__).resolve().parents[2]

_FROM, _TO = "<!-- made by `make simulate docs` -->", "<!-- end -->"


def recorder_table(page: str) -> str:
    """Return the page of the recorder with what its sessions promised beside what the trainings took."""
    rows = ledger.newest(ledger.read(ROOT / "reports" / "ledger.csv"))
    lines = [
        f"Promised when {rows[0].measured_seconds:g} s had been measured, beside what the same process then took "
        f"({rows[0].machine}, {rows[0].date}, one run each). *Disturbed* is what the recorder itself said of one "
        "beside which other programs ran:",
        "",
        "| training | read from | promised | took | factor |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        head, took = f"| {row.label} | {row.read_from or 'nothing'} |", f"{row.taken_seconds:.0f} s"
        if row.promised_seconds is None:
            lines.append(f"{head} unknown | {took} | |")
            continue
        doubt = "" if row.kind == "quiet" else f", {row.kind}"
        lines.append(f"{head} {row.promised_seconds:.0f} s | {took} | {row.factor:.2f}{doubt} |")
    lines += ["", f"Promises are {ledger.summary(rows)}."]
    return made(page, lines)


def verdicts_table(measuring: str) -> str:
    """Return docs/measuring.md with the tables of what the rule of verdicts does, from its simulation."""
    known = json.loads((ROOT / "reports" / "verdicts.json").read_text(encoding="utf-8"))
    rows, eight = known["rows"], known["8 x H100"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines = [f"| runs a side | {' | '.join(kinds)} | 8 × H100, 1 % |", f"| ---: |{' ---: |' * (len(kinds) + 1)}"]
    for quiet in eight:
        here = [[row for row in rows if (row["kind"], row["runs"]) == (kind, quiet["runs"])] for kind in kinds]
        cells = [_shares(of) for of in [*([r for r in one if r["noise"] != "unknown"] for one in here), [quiet]]]
        lines.append(f"| {quiet['runs']} | {' | '.join(cells)} |")
    lines += ["", f"| of unknown noise | {' | '.join(kinds)} |", f"| ---: |{' ---: |' * len(kinds)}"]
    for count in (1, 3, 4, 6, 12):
        of_kind = {row["kind"]: row for row in rows if (row["noise"], row["runs"]) == ("unknown", count)}
        lines.append(f"| {count} | {' | '.join(_shares([of_kind[kind]]) for kind in kinds)} |")
    lines += _percents("runs beside 12", known["unequal"])
    lines += _percents("runs of each of 100 configurations", known["pages"]["false"])
    lines += ["", "| runs a side | said | came true | pairs |", "| ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {runs} | {row['said']:.3f} | {row['true']:.3f} | {row['pairs']:,} |"
        for runs, rows in known["calibration"].items()
        for row in rows
    ]
    split = known["halves"]
    lines += [
        "",
        f"Of {split['splits']:,} splits of the runs of {split['cells']} configurations of `two-cores` into two halves, "
        f"{100 * split['told']:.1f} % are called different: real runs of one configuration, against themselves. "
        f"{known['pairs']:,} pairs stand behind each figure of the first three tables, {known['pages']['tried']:,} "
        "pages behind each of the fourth.",
    ]
    return made(measuring, lines)


def _shares(rows: list[dict[str, Any]]) -> str:
    """Return false alarms and gaps that are found, in percent, of several rows the worse."""
    return f"{100 * max(row['false_alarms'] for row in rows):.1f} / {100 * min(row['found'] for row in rows):.0f}"


def _percents(head: str, columns: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of a table of shares by the number of runs."""
    counts = list(dict.fromkeys(count for shares in columns.values() for count in shares))
    lines = ["", f"| {head} | {' | '.join(columns)} |", f"| ---: |{' ---: |' * len(columns)}"]
    return lines + [
        f"| {count} | {' | '.join(f'{100 * shares[count]:.1f}' for shares in columns.values())} |" for count in counts
    ]


def trends_table(schedule: str) -> str:
    """Return docs/schedule.md with the table of what the chart of a history does, from its simulation."""
    known = json.loads((ROOT / "reports" / "trends.json").read_text(encoding="utf-8"))
    correlations = list(dict.fromkeys(row["correlation"] for row in known["rows"]))
    lines = [f"| a day changes | {' | '.join(f'correlation {one:g}' for one in correlations)} |"]
    lines.append(f"| --- |{' ---: |' * len(correlations)}")
    for kind in dict.fromkeys(row["kind"] for row in known["rows"]):
        rows = [row for row in known["rows"] if row["kind"] == kind]
        cells = [f"{row['false_marks']:.2f} / {100 * row['found']:.0f} / {100 * row['placed']:.0f}" for row in rows]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines += ["", f"{known['histories']:,} histories of {known['cells']} configurations stand behind each figure."]
    return made(schedule, lines)


def states_table(measuring: str) -> str:
    """Return docs/measuring.md with the table of what `compare` says of states that are alike, from its simulation."""
    known = json.loads((ROOT / "reports" / "states.json").read_text(encoding="utf-8"))
    sittings = list(dict.fromkeys(row["sittings"] for row in known["rows"]))
    head = " | ".join(f"{one} sitting{'s' * (one > 1)} each" for one in sittings)
    lines = [f"| a sitting changes | {head} |", f"| --- |{' ---: |' * len(sittings)}"]
    for kind in dict.fromkeys(row["kind"] for row in known["rows"]):
        cells = [f"{100 * row['false']:.1f} / {100 * row['found']:.0f}" for row in known["rows"] if row["kind"] == kind]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    halves = known["halves"]
    lines += [
        "",
        f"{known['pairs']:,} pairs of states of twelve configurations stand behind each figure. "
        f"Of the {halves['compared']} configurations of `two-cores`, {halves['changed']} are said to have changed "
        "from its first sitting to its second.",
    ]
    return made(measuring, lines, 1)


def scale_ups_table(measuring: str) -> str:
    """Return docs/measuring.md with the table of how far off extrapolations of measured scale-ups were."""
    runs = pd.read_csv(SCALED_UP)
    errors = scale_ups.errors(runs)
    factors = errors.assign(factor=np.exp(errors["error"])).pivot(index="workload", columns="part", values="factor")
    lines = [
        f"| trained on | {' | '.join(f'{100 * float(part):g} %' for part in map(str, factors))} |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [f"| {row.Index} | {' | '.join(f'{one:.2f}' for one in row[1:])} |" for row in factors.itertuples()]
    reaches = (error.reach() for error in scale_ups.fit(errors).values())
    lines.append(f"| 80 % of other workloads | {' | '.join(f'{low:.2f} to {high:.2f}' for low, high in reaches)} |")
    loops = runs[["framework", "mode"]].drop_duplicates().agg(" ".join, axis=1)
    per = runs.groupby(["workload", "framework", "mode", "part"]).size().max()
    day = max(runs["started_at"])[:10]
    lines += ["", f"{len(runs)} runs on two cores ({', '.join(loops)}; {per} of each; {day})."]
    return made(measuring, lines, 2)


def made(page: str, lines: list[str], place: int = 0) -> str:
    """Return a page with the lines of one of its made parts, counted from 0."""
    parts = page.split(_FROM)
    parts[place + 1] = f"\n{chr(10).join(lines)}\n{_TO}{parts[place + 1].split(_TO)[1]}"
    return _FROM.join(parts)
