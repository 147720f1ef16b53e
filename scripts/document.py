"""Write the pages of docs/ that are made from other files.

`studies.md` and `config/schemas/study.schema.json`, the keys of a study, from its model, and in
`hardware.schema.json` how machines are rented and owned, likewise; `tables.md`, the columns of every table, from
`config/schemas/tables.yaml`; `accuracy.md`, what the workloads reach at full size, from the run records of
`reports/accuracy/`; `speed.md`, what the trainer reaches of native loops, from the points of `reports/speed/`;
`faults.md`, what comes of faults and of guards taken out, from `reports/faults.json` and `guards.json`; in
`measuring.md` what the rule of verdicts does, from `reports/verdicts.json`, and `compare` between days, from
`reports/states.json`; in `schedule.md` what the chart of a history does, from `reports/trends.json`. And
`config/noise.yaml`, the noise of the project's own repeated runs, from their tables; `offers.csv` of the recorder of
any command, what can be rented today, from the price books and `config/machines.csv`; in `run.md` what its sessions
promised, from `reports/ledger.csv`.
"""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pandas as pd
import yaml

from scripts.analysis import noise, runs, scale_ups
from scripts.costs import book, books, offers, terms
from scripts.importers import known_noise
from scripts.records import about, ledger, record, stored
from scripts.storage import errors, tables
from scripts.storage.errors import InputError
from scripts.storage.files import read_csv, write_text
from scripts.storage.numbers import number
from scripts.studies import describe, settings
from scripts.studies.model import AXES, whole

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "config" / "schemas"

#: The price books of today.
_TODAY = ("current", "listed", "accelerators")

_FROM, _TO = "<!-- made by `make simulate docs` -->", "<!-- end -->"

_FAULTS = """\
# What is lost when something goes wrong

`make faults` damages what can be damaged and sees what comes of it. **Files**: what is wrong in each is listed beside
the right answer, before the program is asked: refused in one line that names file and key, or taken, and then the
value comes out that was put in. **Texts**: hostile ones in every place that a person, a log or a training can put
one, with the pages opened in a browser. **Network**: hosts that refuse, reset, drip, lie or send another page.
**Kills**: every verb killed at each step that it takes at its files, a write half done; at any moment; and by a power
cut, which loses what was not synced; every two verbs at once; trainings and whole calls killed and made once more.
**Clocks** that are set, **disks** that are full. Survived is a fault that ends with a result or with one line, and
after which the same call comes to the same files and losses as without it. A traceback, a hang, a file that is
half-written or left over, text that runs or that a terminal obeys, or another result is not. A value that somebody
changed to another one that could be true cannot be told. Where fewer were tried than planned, the minutes of their
kind were over.

| fault | planned | tried | left out | survived | minutes | seed | on |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""

_GUARDS = """
## Who notices when a guard is gone

`python -m tests.faults.guards` takes out one guard of [a reviewed list](../tests/faults/guards.py) after the other,
in a copy of the project, and asks its own kind of fault, the quick tests that cover it, and those of `make test`.
Noticed is what fails then and passes with the guard; a dash is what was not asked.

| guard | own faults | quick tests | `make test` | everything | on |
| --- | --- | --- | --- | --- | --- |
"""

_NOISE = """\
# How much two runs of one cell differ, by kind of machine: the variance of the logarithm of time, and the degrees of
# freedom by which it holds for a cell (scripts/analysis/noise.py). `make docs` writes that of shared cores from this
# project's own runs; the others are derived once, by the command of their source.
"""

_TABLES = """\
# The tables of a study

`results/<study>/` holds each table as `.parquet` for programs and `.csv` for people. This page is made from
`config/schemas/tables.yaml`, against which the tables are checked; `make docs` writes it.
"""

_ACCURACY = """\
# Do the workloads reach the published accuracy?

Full size, real data, every run that was made, beside the log of July 2017 after as many samples. Where two cores would
have taken too long, the training is a prefix: fewer epochs, compared with as many published ones.
The runs shared their machine with other work: they are no measurement of time. The bidirectional LSTM on JAX was run
twice more because its first run was more than 2 points off; all three are kept, and their median counts.

The six workloads whose log is published epoch by epoch. The others (Twitter, ResNet-20, GPT, the ImageNet-sized ones)
were never trained to their end here.

Of CIFAR-10 only the first fifth of the training images was at hand. 20 epochs of 10,000 images are as many steps as 4
of 50,000, and are compared with these. Held to be equal there is the training accuracy, the mean over the epochs
that make up the last published one. The validation accuracy, in a second row, is lower than published: each image has
been seen five times as often.

This page is made from the run records in `reports/accuracy/`; `make docs` writes it.

| workload | framework | run | epochs | training samples | measure | here | published | after epochs | difference |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |
"""

_SPEED = """\
# Does the benchmark slow down what it measures?

`make bench` runs two comparisons, each side in turns with the other, A B A B, on synthetic data. What counts are
ratios of medians; the points are in `reports/speed/`. Where a goal is missed and the turns of both sides overlap, so
few turns are too close to call: that is said, and is no proof that there is no gap. Compared are the six classic
workloads, on CPUs. This page is made from the run of {on} on {cores} cores ({cpu_model}), and a row that was measured
at another time says so; `make docs` writes it.
"""

_TUNED = """
## `tuned` against the best native loop

Samples a second (medians of {turns} turns) of `tuned` beside a loop written by hand for the framework, without Keras,
with the same mathematics (`tests/bench/native/`); at least {goal} of it is the goal. Both sides are this project's.
The native loops of fastText on PyTorch and of the LSTM on JAX were written anew on 2026-11-22 from the frameworks'
own pages, before their author had read `tuned`; the others know it. Both loops of a pair share a process: what
`tuned` asks of the C library and of the processor on PyTorch ([below](#what-tuned-does-on-a-cpu)) is there for the
native loop too.

| workload | framework | tuned | native | ratio | |
| --- | --- | ---: | ---: | ---: | --- |
"""

_STOCK = """
## `stock` through our trainer against a plain Keras program

Seconds of an epoch without the first (medians of {turns} whole processes of each side, in turns); at most {goal} times
the plain program's is the goal.
What our callback does it does at each step: it weighs most where steps are shortest, on `mnist_mlp`. On TensorFlow the
times of both sides fall into two groups ([why](measuring.md)), and few turns of each show little.

| workload | framework | stock, s | plain, s | ratio | |
| --- | --- | ---: | ---: | ---: | --- |
"""

_STUDIES = """# The keys of a study

A study is a file of `config/studies/`, or a YAML file anywhere ([how one begins](adding.md#a-study)). This page, the
schema `config/schemas/study.schema.json` for editors, the defaults and the checks come from one model,
[scripts/studies/model.py](../scripts/studies/model.py); `python -m scripts.document` writes the first two.
"""

_CONFIG = """## Settings of a call

Keys of `config/config.yaml`, and of `snakemake --config`, where these keys of a study may stand too: {axes}.
""".format(axes=", ".join(f"`{name}`" for name in AXES))

_MEANING = {
    "runs": "One row per run, worked out of its `run.json`, `epochs.csv` and `telemetry.csv`.",
    "epochs": "One row per epoch of each run, from its `epochs.csv`.",
    "attempts": "One row per recorded attempt of a run: those that were preempted have several.",
    "costs": "One row per run that is done and price option that its machine is offered under.",
    "prices": "One row per machine and price option that it is offered under.",
}


def tables_page() -> str:
    """Return the page."""
    parts = [_TABLES]
    for table, meaning in _MEANING.items():
        parts += [f"## {table}\n", f"{meaning}\n", "| column | type | unit | meaning |\n| --- | --- | --- | --- |"]
        parts += [
            f"| `{name}` | {about['type']} | {about.get('unit', '')} | {about['meaning']} |"
            for name, about in tables.columns(table).items()
        ]
        parts.append("")
    return "\n".join(parts)


def hardware_schema() -> str:
    """Return the schema of the catalogue, whose machines are rented and owned as those of a study are."""
    known = json.loads((SCHEMAS / "hardware.schema.json").read_text(encoding="utf-8"))
    parts = describe.schema(whole())["$defs"]
    return _json(known | {"$defs": known["$defs"] | {"rent": parts["Rent"], "own": parts["Own"]}})


def _json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def config_file() -> str:
    """Return `config/config.yaml`: the settings from their model, the published studies as they are."""
    published = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))["published"]
    return "\n".join(settings.file(published)) + "\n"


def studies_page() -> str:
    """Return the page of the keys of a study."""
    config = describe.tables(describe.schema(settings.Settings), "##")
    return "\n".join([_STUDIES, *describe.tables(describe.schema(whole()), "##"), _CONFIG, *config])


def accuracy_rows(folder: Path) -> list[dict[str, Any]]:
    """Return rows for each run record below `folder`: its last result, and the published one after as many samples.

    `judged` is false for the validation accuracy of a run that had part of the data only; its training
    accuracy is judged in a row of its own.
    """
    rows = []
    for path in sorted(folder.rglob("run.json")):
        run = runs.complete(stored.read(path))
        reference = about.workload(run["cell"]["workload"]).reference
        part = run["data"]["train_samples"] / run["data"]["complete_train_samples"] * run["cell"]["samples"]
        published = reference.after(run["final"]["epochs"] * part) if reference else None
        if run["status"] != "done" or run["data"]["kind"] != "real" or reference is None or published is None:
            raise InputError(f"{path}: status {run['status']}, {run['data']['kind']} data: nothing to compare")
        row = {key: run["cell"][key] for key in ("workload", "framework")} | {
            "run": run["repeat"],
            "epochs": run["final"]["epochs"],
            "samples": run["train_samples"],
            "published_epochs": published[0],
        }
        if part < 1:
            last = record.read_epochs(path.with_name("epochs.csv"))[-round(1 / part) :]
            here = fmean(epoch["acc"] or 0.0 for epoch in last)
            rows.append(
                row
                | {"metric": "acc", "here": here, "judged": True}
                | {"published": reference.training[published[0] - 1]}
            )
        rows.append(
            row
            | {"metric": reference.metric, "here": run["final"][reference.metric]}
            | {"published": published[1], "judged": part == 1}
        )
    return rows


def accuracy_page(rows: list[dict[str, Any]]) -> str:
    """Return the page of accuracies."""
    measures = {"val_acc": "validation accuracy", "loss": "training loss", "acc": "training accuracy"}
    lines = [
        f"| {row['workload']} | {row['framework']} | {row['run']} | {row['epochs']} | {row['samples']:,} | "
        f"{measures[row['metric']]} | {row['here']:.4f} | {row['published']:.4f} | {row['published_epochs']} | "
        f"{row['here'] - row['published']:+.4f} |"
        for row in rows
    ]
    return _ACCURACY + "\n".join(lines) + "\n"


def speed_page(folder: Path) -> str:
    """Return the page of what the trainer reaches: from `bench.json` of `tests.bench.training`, and why, if less.

    `cpu.md`, what was done about it, is its last part.
    """
    bench = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    reasons = yaml.safe_load((folder / "reasons.yaml").read_text(encoding="utf-8")) or {}
    parts = [_SPEED.format(**bench)]
    tables = (
        ("tuned", _TUNED, "samples_per_second", lambda ratio, goal: ratio >= goal),
        ("stock", _STOCK, "epoch_seconds", lambda ratio, goal: ratio <= goal),
    )
    for name, head, unit, reached in tables:
        goal, lines, turns = bench["goals"][name], [], set()
        for result in bench["results"]:
            if result["table"] != name:
                continue
            if "error" in result:
                error = " ".join(result["error"].split())[:200].replace("|", "\\|")
                lines.append(f"| {result['workload']} | {result['framework']} | — | — | — | {error} |")
                continue
            ours, theirs = (median(points) for points in result[unit].values())
            turns |= {len(points) for points in result[unit].values()}
            ratio = ours / theirs
            one, other = result[unit].values()
            noise = min(one) <= max(other) and min(other) <= max(one)
            pair = f"{name} {result['workload']} {result['framework']}"
            words = "" if reached(ratio, goal) else "missed, too close to call" if noise else "missed"
            words += f": {reasons[pair]}" if words and pair in reasons else ""
            if "on" in result:
                words = f"{words}; {result['on']}, {result['where']}".removeprefix("; ")
            columns = (result["workload"], result["framework"], number(ours), number(theirs), f"{ratio:.2f}", words)
            lines.append(f"| {' | '.join(columns)} |")
        if lines:
            parts += [head.format(goal=goal, turns=_span(turns)), "\n".join(lines), "\n"]
    return "".join([*parts, "\n", (folder / "cpu.md").read_text(encoding="utf-8")])


def _span(counts: set[int]) -> str:
    return f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(*counts)


def counts(about: Mapping[str, Any]) -> str:
    """Return what was planned, tried, left out and survived of a kind of fault, and its minutes, as cells."""
    planned, tried = about["planned"], about["tried"]
    return f"{planned:,} | {tried:,} | {planned - tried:,} | {about['survived']:,} | {about['minutes']:g}"


def faults_page() -> str:
    """Return the page of the faults that were tried and of the guards that were taken out, from their JSON."""
    known, guards = (
        json.loads((ROOT / "reports" / f"{name}.json").read_text(encoding="utf-8")) for name in ("faults", "guards")
    )
    lines = [
        f"| {kind} | {counts(about)} | {about['seed']} | {about['on']} |"
        if about
        else f"| {kind} | — | 0 | all | 0 | — | — | not tried yet |"
        for kind, about in known.items()
    ]
    tried = [about for about in known.values() if about]
    sums = {count: sum(about[count] for about in tried) for count in ("planned", "tried", "survived", "minutes")}
    lines.append(f"| all | {counts(sums)} | | |")
    words = {True: "noticed", False: "**not**", None: "—"}
    asked = ("faults", "quick", "test", "everything")
    none = dict.fromkeys(asked) | {"on": "not asked yet"}
    told = {name: about or none for name, about in guards.items()}
    rows = [
        f"| {name} | {' | '.join(words[about[by]] for by in asked)} | {about['on']} |" for name, about in told.items()
    ]
    noticed = []
    for by in asked:
        answers = [bool(about[by]) for about in told.values() if about[by] is not None]
        noticed.append(f"{sum(answers)} of {len(answers)}")
    rows.append(f"| {len(guards)} guards | {' | '.join(noticed)} | |")
    return _FAULTS + "\n".join(lines) + "\n" + _GUARDS + "\n".join(rows) + "\n"


def noise_file() -> str:
    """Return what is known of noise (YAML), with that of the project's own repeated runs made anew."""
    known = yaml.safe_load(known_noise.FILE.read_text(encoding="utf-8"))
    measured = known_noise.measured().values()
    found = noise.pooled((np.exp(cell) for cell in noise.of_tables(measured)), "")
    assert found is not None
    runs = pd.concat(measured)
    months = sorted({started[:7] for started in runs["started_at"]})
    when = " to ".join(dict.fromkeys((months[0], months[-1])))
    machines = ", ".join(sorted(set(runs["cpu_model"])))
    own = {
        "variance": round(found.variance, 8),
        "degrees": round(found.degrees, 4),
        "runs": found.runs,
        "cells": found.cells,
        "of": f"runs of this project's own on two cores ({machines}, {when})",
        "source": list(known_noise.MEASURED),
    }
    if known_noise.SCALED_UP.is_file():
        known[noise.SCALE_UPS] = scale_ups.entry(pd.read_csv(known_noise.SCALED_UP)) | {
            "source": "reports/noise/scale-ups.csv"
        }
    return _NOISE + yaml.safe_dump(known | {noise.SHARED_CORES: own}, sort_keys=False)


def recorder_table(page: str) -> str:
    """Return the page of the recorder with what its sessions promised beside what the trainings took."""
    rows = ledger.newest(ledger.read(ROOT / "reports" / "ledger.csv"))
    lines = [
        f"Promised when {rows[0].measured_seconds:g} s had been measured, beside what the same process then took "
        f"({rows[0].machine}, {rows[0].date}, one run each). *In doubt* is what the recorder itself said of one, "
        "as that other programs kept a core busy:",
        "",
        "| training | read from | promised | took | factor |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        told, took = f"| {row.label} | {row.read_from or 'nothing'} |", f"{row.taken_seconds:.0f} s"
        if row.promised_seconds is None:
            lines.append(f"{told} unknown | {took} | |")
            continue
        doubt = ", in doubt" if row.doubts else ""
        lines.append(f"{told} {row.promised_seconds:.0f} s | {took} | {row.factor:.2f}{doubt} |")
    lines += ["", f"Promises are {ledger.summary(rows)}."]
    return _made(page, lines)


def offers_file() -> str:
    """Return the offers of today that the recorder carries, from the books that pages of today are priced by."""
    rows = [row for name in _TODAY for row in book.read([books.path(name)])]
    machines = [row for _, row in read_csv(ROOT / "config" / "machines.csv", offers.COLUMNS[:5])]
    text = io.StringIO()
    writer = csv.DictWriter(text, offers.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(offers.newest(rows, machines, terms.read_terms()))
    return text.getvalue()


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
    lines += _percents("runs of each of 100 cells", known["pages"]["false"])
    lines += ["", "| runs a side | said | came true | pairs |", "| ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {runs} | {row['said']:.3f} | {row['true']:.3f} | {row['pairs']:,} |"
        for runs, rows in known["calibration"].items()
        for row in rows
    ]
    split = known["halves"]
    lines += [
        "",
        f"Of {split['splits']:,} splits of the runs of {split['cells']} cells of `two-cores` into two halves, "
        f"{100 * split['told']:.1f} % are called different: real runs of one cell, against themselves. "
        f"{known['pairs']:,} pairs stand behind each figure of the first three tables, {known['pages']['tried']:,} "
        "pages behind each of the fourth.",
    ]
    return _made(measuring, lines)


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
        cells = [f"{row['false_marks']:.2f} / {100 * row['found']:.0f}" for row in known["rows"] if row["kind"] == kind]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines += ["", f"{known['histories']:,} histories of {known['cells']} cells stand behind each figure."]
    return _made(schedule, lines)


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
        f"{known['pairs']:,} pairs of states of twelve cells stand behind each figure. Of the {halves['compared']} "
        f"cells of `two-cores`, rounds 1 to 6 against 7 to 12, {halves['changed']} are said to have changed.",
    ]
    return _made(measuring, lines, 1)


def _made(page: str, lines: list[str], place: int = 0) -> str:
    """Return a page with the lines of one of its made parts, counted from 0."""
    parts = page.split(_FROM)
    parts[place + 1] = f"\n{chr(10).join(lines)}\n{_TO}{parts[place + 1].split(_TO)[1]}"
    return _FROM.join(parts)


def pages() -> dict[Path, str]:
    """Return every page that is made, with its text."""
    return {
        SCHEMAS / "study.schema.json": _json(describe.schema(whole())),
        ROOT / "config" / "config.yaml": config_file(),
        SCHEMAS / "hardware.schema.json": hardware_schema(),
        ROOT / "docs" / "studies.md": studies_page(),
        ROOT / "docs" / "tables.md": tables_page(),
        ROOT / "docs" / "accuracy.md": accuracy_page(accuracy_rows(ROOT / "reports" / "accuracy")),
        ROOT / "docs" / "speed.md": speed_page(ROOT / "reports" / "speed"),
        ROOT / "docs" / "measuring.md": states_table(
            verdicts_table((ROOT / "docs" / "measuring.md").read_text(encoding="utf-8"))
        ),
        ROOT / "docs" / "schedule.md": trends_table((ROOT / "docs" / "schedule.md").read_text(encoding="utf-8")),
        ROOT / "docs" / "faults.md": faults_page(),
        ROOT / "docs" / "run.md": recorder_table((ROOT / "docs" / "run.md").read_text(encoding="utf-8")),
        ROOT / "config" / "noise.yaml": noise_file(),
        ROOT / "plugins" / "epochs-per-dollar" / "epochs_per_dollar" / "offers.csv": offers_file(),
    }


def main() -> int:
    for path, text in pages().items():
        write_text(path, text)
    return 0


if __name__ == "__main__":
    errors.run(main)
