"""Draw one chart for every workload of a study: an SVG and its data (CSV) each, and their captions."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import charts
from scripts.analysis import figures, launches, summary
from scripts.analysis.names import price_words
from scripts.analysis.verdicts import Judge
from scripts.charts import _crowd, _theme
from scripts.charts._view import View
from scripts.records import about
from scripts.storage import errors, tables
from scripts.storage.files import write_bytes, write_text
from scripts.storage.numbers import number
from scripts.studies import articles, definition

#: The picture of a study that previews of a link show: the first drawing of one of its charts.
HEADLINE = "headline.png"

#: Of a folder of logs so many workloads are drawn, those with the longest runs.
_MOST = 6

#: Why a chart shows nothing that does not say so itself.
_MISSING = "there is nothing for it to show"


def scale(runs: pd.DataFrame) -> str:
    """Return in words on how much of the official data, and of which kind, the runs trained, and when and where."""
    kinds = " and ".join(sorted(set(runs["data"])))
    done = runs.dropna(subset="train_samples")
    fraction = summary.part_of_data(done).drop_duplicates()
    epochs = sorted(set(runs["epochs"]))
    size = " or ".join(number(part) for part in sorted(fraction * 100)) or "—"
    return (
        f"{kinds.capitalize()} data, {size} % of the training samples, "
        f"{' or '.join(map(str, epochs))} epochs; trained {_days(runs)} on {', '.join(sorted(set(runs['cpu_model'])))}."
    )


def trained(runs: pd.DataFrame) -> str:
    """Return in a few words when the runs were trained, and whether their data are synthetic or launches measured."""
    made_up = " Synthetic data." if set(runs["data"]) == {"synthetic"} else ""
    return f"Trained {_days(runs)}.{made_up} {launches.words(runs, brief=True)}".strip()


def _days(runs: pd.DataFrame) -> str:
    days = sorted({started[:10] for started in runs["started_at"]})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def source(study: dict[str, Any]) -> str:
    """Return in a few words whose figures a published study shows."""
    return "{by}, {date}.".format(**study["published"]) if "published" in study else ""


def origin(study: dict[str, Any]) -> str:
    """Return whose figures a published study shows."""
    return "Figures of {by}, {date}: {title}.".format(**study["published"]) if "published" in study else ""


def view(
    study: dict[str, Any],
    labels: dict[str, str],
    workload: str,
    frames: dict[str, pd.DataFrame],
    option: str,
    derived: Mapping[str, pd.DataFrame],
    judge: Judge,
) -> View:
    """Return what a chart may see of one workload, or of all of a study's if it is empty.

    `labels` are what machines are called; a chart that shows no costs is given none, and no price option.
    """
    work = about.workload(workload) if workload in about.workloads() else None
    sizes = frames["runs"].loc[frames["runs"]["workload"] == workload, "batch_size"].dropna().unique()
    only = int(sizes[0]) if len(sizes) == 1 else None
    parts = {name: frame[frame["workload"] == workload] if workload else frame for name, frame in frames.items()}
    return View(
        workload=workload,
        runs=parts["runs"],
        epochs=parts["epochs"],
        costs=parts["costs"],
        base=study.get("base", {"hardware": "", "framework": ""}),
        labels=labels,
        reference=work.reference if work else None,
        published_batch_size=work.batch_size if work and definition.is_grid(study) and len(sizes) < 2 else only,
        published_epochs=work.epochs if work else None,
        price_option=option,
        price_label=price_words(study, option, labels) if option else "",
        one_framework=not definition.is_grid(study) and frames["runs"]["framework"].nunique() == 1,
        tables=derived,
        judge=judge,
        repeats=study["repeats"] if definition.is_grid(study) else None,
        unstable_above=study["unstable_above"],
        unit=definition.unit(study, workload),
        cards=definition.cards(study["machines"]),
        prices={option: about.get("label", option) for option, about in study.get("prices", {}).items()},
    )


def without(controls: list[str], frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables without the runs of some machines."""
    runs = frames["runs"].loc[frames["runs"]["hardware"].isin(controls), "run"]
    return {name: frame[~frame["run"].isin(runs)] for name, frame in frames.items()}


def to_draw(study: dict[str, Any], runs: pd.DataFrame) -> tuple[list[str], int | None]:
    """Return the workloads to draw, and how many at most: of many logs those with the longest runs come first."""
    there = list(dict.fromkeys(runs["workload"]))
    listed = [name for name in study.get("import", {}).get("workloads", []) if name in there]
    if not definition.is_folder(study) or listed or len(there) <= _MOST:
        return study.get("workloads", there), None
    longest = runs.groupby("workload", sort=False)["train_seconds"].max().sort_values(ascending=False, kind="stable")
    return list(map(str, longest.index)), _MOST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chart", help="a name of a chart, with .OPTION for a price option of its own")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--names", required=True, help="what machines are called: name -> label (JSON)")
    parser.add_argument("--controls", nargs="*", default=[], help="machines that only spread shows: controls of noise")
    parser.add_argument("--runs", required=True, type=Path)
    parser.add_argument("--epochs", required=True, type=Path)
    parser.add_argument(
        "--money", nargs="*", default=[], type=Path, help="tables of costs and prices, for a chart that shows them"
    )
    parser.add_argument("--headline", action="store_true", help=f"write the first drawing as {HEADLINE} too")
    parser.add_argument("--output", required=True, type=Path, help="folder to write; beside it .json describes it")
    options = parser.parse_args()
    print(f"drawing {options.chart}", flush=True)
    study = json.loads(options.study)
    about.know(study)
    frames = {name: tables.read(getattr(options, name)) for name in ("runs", "epochs")}
    derived = {}
    if options.money:
        frames["costs"], prices = (tables.read(table) for table in options.money)
        derived = figures.tables(study, frames["runs"], frames["costs"], prices, articles.given(study))
    else:
        frames["costs"] = pd.DataFrame(columns=list(tables.columns("costs")))
    labels = json.loads(options.names)
    judge = Judge.of(frames["runs"])
    name, _, option = options.chart.partition(".")
    module = charts.chart(name)
    if not getattr(module, "SHOWS_CONTROLS", False):
        frames = without(options.controls, frames)
    whole = getattr(module, "SCOPE", "workload") == "study"
    label = study["prices"][option].get("label", option) if option else ""
    title = f"{module.TITLE}: {label}" if option else module.TITLE
    headline = options.output / HEADLINE
    options.output.mkdir(parents=True, exist_ok=True)  # a chart that has nothing to show leaves it empty

    drawn: list[dict[str, Any]] = []
    workloads, most = ([""], None) if whole else to_draw(study, frames["runs"])
    others = (
        f"Of {len(workloads)} workloads the {most} with the longest runs are drawn; all are in the table."
        if most
        else ""
    )
    for workload in workloads:
        if most and len(drawn) == most:
            break
        seen = view(study, labels, workload, frames, option or study.get("price", ""), derived, judge)
        shown, left_out = _crowd.readable(seen, module)
        made = module.draw(shown) if whole or len(seen.runs) else None
        if made is None:
            if not most and (missing := getattr(module, "MISSING", _MISSING)):
                drawn.append({"workload": workload, "missing": f"No chart: {missing}."})
            continue
        file = workload or "study"
        drawing = _theme.svg(made, f"{options.chart}-{file}".replace(".", "-"))
        write_text(options.output / f"{file}.svg", drawing, within=options.output)
        write_text(options.output / f"{file}.csv", tables.to_csv(made.data), within=options.output)
        where = scale(seen.runs) if definition.is_grid(study) else origin(study)
        brief = trained(seen.runs) if definition.is_grid(study) else source(study)
        caption = f"{made.caption} {brief}".strip()
        if options.headline and not headline.exists():
            write_bytes(headline, _theme.png(made, title, caption))
        drawn.append(
            {
                "workload": workload,
                "finding": made.finding,
                "caption": caption,
                "notes": [*made.notes, *filter(None, [left_out.strip(), others, launches.words(seen.runs), where])],
                "description": made.description,
            }
        )
    described = {"chart": options.chart.replace(".", "-"), "title": title, "help": module.HELP, "drawn": drawn}
    write_text(options.output.with_name(f"{options.output.name}.json"), json.dumps(described, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    errors.run(main)
