"""Draw one chart for every workload of a study: an SVG and its data (CSV) each, and their captions."""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import charts, errors, schemas, summary, tables, workloads
from scripts.charts import _theme
from scripts.files import write_text
from scripts.numbers import number


def scale(runs: pd.DataFrame) -> str:
    """Say in words on how much of the official data, and of which kind, the runs trained, and when and where."""
    kinds = " and ".join(sorted(set(runs["data"])))
    done = runs.dropna(subset="train_samples")
    fraction = summary.part_of_data(done).drop_duplicates()
    epochs = sorted(set(runs["epochs"]))
    size = " or ".join(number(part) for part in sorted(fraction * 100)) or "—"
    days = sorted({started[:10] for started in runs["started_at"]})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return (
        f"{kinds.capitalize()} data, {size} % of the training samples, "
        f"{' or '.join(map(str, epochs))} epochs; trained {span} on {', '.join(sorted(set(runs['cpu_model'])))}."
    )


def view(
    study: dict[str, Any], catalogue: dict[str, Any], workload: str, frames: dict[str, pd.DataFrame]
) -> charts.View:
    """Return what a chart may see of one workload."""
    work = workloads.workload(workload)
    parts = {name: frame[frame["workload"] == workload] for name, frame in frames.items()}
    return charts.View(
        workload=workload,
        **parts,
        base=study["base"],
        labels={name: about["label"] for name, about in catalogue.items()},
        reference=work.REFERENCE,
        published_batch_size=work.BATCH_SIZE,
        published_epochs=work.EPOCHS,
        price_option=study["price"],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chart", choices=charts.names())
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--runs", required=True, type=Path)
    parser.add_argument("--epochs", required=True, type=Path)
    parser.add_argument("--costs", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    options = parser.parse_args()
    print(f"drawing {options.chart}", flush=True)
    study = json.loads(options.study)
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    frames = {name: tables.read(getattr(options, name)) for name in ("runs", "epochs", "costs")}
    module = charts.chart(options.chart)

    drawn = []
    for workload in study["workloads"]:
        seen = view(study, catalogue, workload, frames)
        made = module.draw(seen) if len(seen.runs) else None
        if made is None:
            drawn.append({"workload": workload, "missing": f"No chart: {module.MISSING}."})
            continue
        write_text(options.output / f"{workload}.svg", _theme.svg(made, f"{options.chart}-{workload}"))
        write_text(options.output / f"{workload}.csv", made.data.to_csv(index=False, lineterminator="\n"))
        drawn.append(
            {
                "workload": workload,
                "caption": f"{made.caption} {scale(seen.runs)}",
                "description": made.description,
            }
        )
    about = {"chart": options.chart, "title": module.TITLE, "help": module.HELP, "drawn": drawn}
    write_text(options.output / "chart.json", json.dumps(about, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    errors.run(main)
