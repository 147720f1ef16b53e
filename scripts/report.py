"""Write a study's report: one HTML page that holds its charts, tables and words and fetches nothing."""

import argparse
import json
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from scripts import charts, errors, schemas, tables, workloads
from scripts.charts._relative import cell_label
from scripts.charts._theme import FRAMEWORK_NAMES
from scripts.files import write_text

TEMPLATES = Path(__file__).resolve().parents[1] / "reports"

CELL = ["workload", "hardware", "framework", "batch_size"]


def number(value: Any, digits: int = 3) -> str:
    """Return a number for a table: `digits` significant ones, no exponent; an em dash for nothing."""
    if value is None or pd.isna(value):
        return "—"
    value = float(value)
    if value and abs(value) < 10 ** -(digits + 2):
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - (len(str(int(abs(value)))) - 1 if abs(value) >= 1 else _leading_zeros(value)))
    return f"{value:,.{decimals}f}"


def _leading_zeros(value: float) -> int:
    zeros = 0
    while value and abs(value) < 1 and zeros > -12:
        value *= 10
        zeros -= 1
    return zeros


def cells(runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell: medians over its runs, number of runs done, and a cost column per purchase option."""
    medians = ["train_seconds", "first_step_seconds", "samples_per_second", "acc", "val_acc", "loss", "peak_memory_mib"]
    done = runs[runs["status"] == "done"]
    table = runs.groupby(CELL, sort=False, as_index=False).agg(
        status=("status", "last"), reason=("reason", "last"), repeats=("run", "count"), done=("run", "count")
    )
    table = table.merge(done.groupby(CELL, as_index=False)[medians].median(), on=CELL, how="left")
    counts = done.groupby(CELL, as_index=False).size().rename(columns={"size": "done"})
    table = table.drop(columns="done").merge(counts, on=CELL, how="left").fillna({"done": 0})
    if len(costs):
        wide = costs.pivot_table("cost_usd", CELL, "price_option", aggfunc="median").reset_index()
        table = table.merge(wide, on=CELL, how="left")
    return table


def answers(table: pd.DataFrame, base: dict[str, str], option: str) -> dict[str, Any]:
    """Return what the table bears: the fastest and the cheapest cell of each workload, and how often each
    other machine beat the base machine under the same framework and batch size."""
    best = []
    for workload, group in table.groupby("workload", sort=False):
        row = {"workload": workload}
        for name, column in (("fastest", "train_seconds"), ("cheapest", option)):
            values = group[column].dropna() if column in group else pd.Series(dtype=float)
            row[name] = group.loc[values.idxmin()] if len(values) else None
        best.append(row)
    keys = ["workload", "framework", "batch_size"]
    on_base = table[table["hardware"] == base["hardware"]]
    versus = []
    for hardware, group in table[table["hardware"] != base["hardware"]].groupby("hardware", sort=False):
        pairs = group.merge(on_base, on=keys, suffixes=("", "_base"))
        row = {"hardware": hardware}
        for name, column in (("faster", "train_seconds"), ("cheaper", option)):
            both = pairs.dropna(subset=[column, f"{column}_base"]) if f"{column}_base" in pairs else pairs.iloc[:0]
            row[name] = int((both[column] < both[f"{column}_base"]).sum()) if len(both) else 0
            row[f"{name}_of"] = len(both)
        versus.append(row)
    return {"best": best, "versus": versus}


def learned(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one row per cell: its last accuracy (or loss) beside the published one, and whether the size is the same."""
    rows = []
    for key, group in runs[runs["status"] == "done"].groupby(CELL, sort=False):
        work = workloads.workload(key[0])
        reference = work.REFERENCE
        epochs = int(group["epochs_done"].iloc[-1])
        part = float((group["samples_fraction"] * group["data_fraction"]).iloc[-1])
        same_size = part == 1 and epochs <= len(reference.values) and group["data"].iloc[-1] == "real"
        rows.append(
            dict(zip(CELL, key, strict=True))
            | {
                "metric": {"val_acc": "validation accuracy", "loss": "training loss"}[reference.metric],
                "value": float(group[reference.metric].median()),
                "published": reference.values[min(epochs, len(reference.values)) - 1],
                "epochs": epochs,
                "published_epochs": work.EPOCHS,
                "part": part,
                "comparable": same_size,
                "source": reference.source,
            }
        )
    return rows


def drawn(folders: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the charts of each workload in the order of `folders`, with the SVG text of each."""
    found: dict[str, list[dict[str, Any]]] = {}
    for folder in folders:
        about = json.loads((folder / "chart.json").read_text(encoding="utf-8"))
        for one in about["drawn"]:
            svg = (folder / f"{one['workload']}.svg").read_text(encoding="utf-8")
            found.setdefault(one["workload"], []).append(
                one | {"title": about["title"], "help": about["help"], "name": about["chart"], "svg": Markup(svg)}
            )
    return found


def page(
    study: dict[str, Any],
    catalogue: dict[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    pictures: dict[str, list[dict[str, Any]]],
) -> str:
    """Return the report as HTML; every text from a config or a log is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    labels = {name: about["label"] for name, about in catalogue.items()}
    published = {name: workloads.workload(name).BATCH_SIZE for name in study["workloads"]}

    def name_of(cell: Any) -> str:
        view = charts.View(
            workload=cell["workload"], runs=runs, epochs=runs, costs=costs, base=study["base"], labels=labels,
            reference=None, published_batch_size=published[cell["workload"]], published_epochs=0,
            price_option=study["price"],
        )  # fmt: skip
        return cell_label(cell, view)

    environment.filters["number"] = number
    table = cells(runs, costs)
    done = runs[runs["status"] == "done"]
    fraction = done["samples_fraction"] * done["data_fraction"]
    options = sorted(set(costs["price_option"]), key=lambda option: (option != study["price"], option))
    return environment.get_template("report.html.j2").render(
        study=study,
        style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
        workloads=study["workloads"],
        docs={name: _first_line(workloads.workload(name).__doc__) for name in study["workloads"]},
        labels=labels,
        frameworks=FRAMEWORK_NAMES,
        name_of=name_of,
        pictures=pictures,
        runs=runs.to_dict("records"),
        cells=table.to_dict("records"),
        options=options,
        answers=answers(table, study["base"], study["price"]),
        learned=learned(runs),
        synthetic=sorted(set(runs.loc[runs["data"] == "synthetic", "workload"])),
        reduced=bool(len(done)) and bool(((fraction < 1) | (done["epochs"] < _published_epochs(done))).any()),
        failed=runs[runs["status"] != "done"].to_dict("records"),
        repeats=sorted(set(table["done"].astype(int))),
        prices=costs.drop_duplicates(["hardware", "price_option"]).to_dict("records"),
        machines=sorted(set(zip(runs["cpu_model"], runs["gpu_model"].fillna("no GPU"), runs["system"], strict=True))),
        versions=sorted(set(done["packages"])),
        pythons=sorted(set(runs["python"])),
        commits=sorted(set(runs["git_commit"].dropna())),
        days=sorted({started[:10] for started in runs["started_at"]}),
    )


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def _published_epochs(runs: pd.DataFrame) -> pd.Series:
    return runs["workload"].map({name: workloads.workload(name).EPOCHS for name in set(runs["workload"])})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--runs", required=True, type=Path)
    parser.add_argument("--costs", required=True, type=Path)
    parser.add_argument("--charts", required=True, nargs="+", type=Path, help="folders of the charts, in order")
    options = parser.parse_args()
    html = page(
        json.loads(options.study),
        schemas.read_yaml(options.hardware, "hardware"),
        tables.read(options.runs),
        tables.read(options.costs),
        drawn(options.charts),
    )
    write_text(options.output, html)
    return 0


if __name__ == "__main__":
    errors.run(main)
