"""Write the pages of docs/ that are made from other files.

`tables.md`, the columns of every table, from `config/schemas/tables.yaml`; `accuracy.md`, what the
workloads reach at full size, from the run records of `reports/accuracy/`.
"""

from pathlib import Path
from statistics import fmean
from typing import Any

from scripts import errors, tables, workloads
from scripts.errors import InputError
from scripts.files import write_text
from scripts.measurement import record

ROOT = Path(__file__).resolve().parents[1]

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

_MEANING = {
    "runs": "One row per run, from its `run.json`.",
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


def accuracy_rows(folder: Path) -> list[dict[str, Any]]:
    """Return rows for each run record below `folder`: its last result, and the published one after as many samples.

    `judged` is false for the validation accuracy of a run that had part of the data only; its training
    accuracy is judged in a row of its own.
    """
    rows = []
    for path in sorted(folder.rglob("run.json")):
        run = record.read_run(path)
        reference = workloads.workload(run["cell"]["workload"]).REFERENCE
        part = run["data"]["train_samples"] / run["data"]["complete_train_samples"] * run["cell"]["samples"]
        published = reference and reference.after(run["final"]["epochs"] * part)
        if run["status"] != "done" or run["data"]["kind"] != "real" or published is None:
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


def pages() -> dict[Path, str]:
    """Return every page that is made, with its text."""
    return {
        ROOT / "docs" / "tables.md": tables_page(),
        ROOT / "docs" / "accuracy.md": accuracy_page(accuracy_rows(ROOT / "reports" / "accuracy")),
    }


def main() -> int:
    for path, text in pages().items():
        write_text(path, text)
    return 0


if __name__ == "__main__":
    errors.run(main)
