"""What was measured: accuracy at full size, and speed beside native loops."""

import json
from pathlib import Path
from statistics import fmean, median
from typing import Any

import yaml

from scripts.analysis import runs
from scripts.records import about, record, stored
from scripts.storage.errors import InputError
from scripts.storage.numbers import number

ROOT = Path(__file__).resolve().parents[2]

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
