"""Write the report of a study that shows published figures: claims, charts, tables, then and now, audit."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import claims, figures, summary
from scripts.analysis.names import cell_name
from scripts.costs import billing
from scripts.importers import audit, facts
from scripts.pages import render
from scripts.storage import errors, schemas, tables
from scripts.storage.files import write_text
from scripts.storage.numbers import TIE, number
from scripts.studies import grid

#: Titles of the derived tables, what they are, and their columns: name -> (heading, digits or None for text).
TABLES: dict[str, tuple[str, str, dict[str, tuple[str, int | None]]]] = {
    "printed": (
        "Printed and derived",
        "The printed time, billed as the provider bills, at its hourly price; the range is that of the rounding of the "
        "time and of the price. It agrees where both roundings meet. An inferred price comes from the printed cost "
        "itself and cannot disagree.",
        {
            "hardware": ("machine", None),
            "train_seconds": ("time, s", 4),
            "val_acc": ("accuracy", 4),
            "gpu_percent": ("GPU, %", 2),
            "usd_per_hour": ("USD/h", 4),
            "billed_seconds": ("billed, s", 4),
            "derived_usd": ("derived, USD", 4),
            "derived_usd_low": ("from", 4),
            "derived_usd_high": ("to", 4),
            "printed_usd": ("printed, USD", 4),
            "agrees": ("agrees", None),
            "price_inferred": ("inferred", None),
        },
    ),
    "scaling": (
        "Scaling",
        "Scaling efficiency as printed, by batch size per GPU: throughput on n GPUs over n times that on one.",
        {
            "single": ("one GPU", None),
            "multi": ("several", None),
            "gpus": ("GPUs", 2),
            "workload": ("workload", None),
        },
    ),
    "scaling_means": (
        "Average scaling",
        "The mean over the machines, computed and as printed.",
        {
            "workload": ("workload", None),
            "batch_size": ("batch per GPU", 2),
            "efficiency": ("computed", 4),
            "printed": ("printed", 2),
        },
    ),
    "estimate": (
        "Four cards from one",
        "Throughput of one card × 4 × the average efficiency; the range is that of the rounding of both.",
        {
            "workload": ("workload", None),
            "batch_size": ("batch per GPU", 2),
            "samples_per_second": ("one card, images/s", 3),
            "estimate": ("four cards, images/s", 4),
            "estimate_low": ("from", 4),
            "estimate_high": ("to", 4),
            "printed": ("printed", 3),
            "agrees": ("agrees", None),
        },
    ),
    "to_train": (
        "ImageNet on the office box",
        "Time and cost to see the samples of each paper, at batch 64 and the estimated throughput. Rented machines are "
        "left out: their throughputs are in pictures of the article only.",
        {
            "workload": ("workload", None),
            "samples": ("samples", 3),
            "hours": ("hours", 3),
            "usd_per_hour": ("USD/h", 3),
            "cost_usd": ("USD", 3),
        },
    ),
    "gains": (
        "When owning pays",
        "From the gains that the article prints for 10 days of use a month, each reckoned at the hourly price that "
        "follows from the breakdown and at the printed one; the box costs what the breakdown says. 'Implied' is what "
        "one GPU of the rented machine must do for that gain to be true, beside the one card of the office.",
        {
            "label": ("against", None),
            "gain": ("printed gain", 3),
            "at_usd_per_hour": ("reckoned at, USD/h", 3),
            "gain_here": ("gain at 10 days", 3),
            "break_even_days": ("pays from, days a month", 3),
            "implied_per_gpu": ("implied, images/s a GPU", 3),
            "single": ("GTX 1080 Ti, images/s", 3),
        },
    ),
    "rents": (
        "Rents, and the use from which an owned hour is cheaper",
        "By the hour, not by what is done in it. The article's month has 30.5 days.",
        {
            "hardware": ("machine", None),
            "price_option": ("price", None),
            "usd_per_hour": ("USD/h", 4),
            "usd_per_day": ("a day", 4),
            "usd_per_week": ("a week", 4),
            "usd_per_month": ("30.5 days", 5),
            "break_even_days": ("owning is cheaper from, days a month", 3),
        },
    ),
    "monthly": (
        "A month in parts",
        "30 days; two minutes of machine for each start. Today only the machine is priced anew: the books of today "
        "have no disk, scheduler or functions.",
        {
            "label": ("billing rule", None),
            "usd_per_hour": ("machine, USD/h", 3),
            "every_hours": ("every, h", 1),
            "starts": ("starts", 3),
            "compute_usd": ("machine, USD", 2),
            "fees_usd": ("disk and scheduler, USD", 2),
            "services_usd": ("start and stop, USD", 2),
            "total_usd": ("a month, USD", 3),
        },
    ),
}


def by_batch_size(scaling: pd.DataFrame) -> pd.DataFrame:
    """Return scaling efficiencies with one row per machine and workload, and a column per batch size."""
    keys = ["single", "multi", "gpus", "workload"]
    wide = scaling.pivot_table(index=keys, columns="batch_size", values="efficiency", sort=False)
    return wide.rename(columns=lambda size: f"batch {size}").reset_index()


def _table(name: str, frame: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, Any]:
    title, about, columns = TABLES[name]
    if name == "scaling":
        columns = columns | {str(size): (str(size), 2) for size in frame if size not in columns}

    def shown(column: str, value: Any) -> str:
        digits = columns[column][1]
        if column == "agrees":
            return "yes" if value else "no"
        if column == "break_even_days" and value > billing.DAYS_PER_MONTH:
            return "never"
        if column.endswith("_usd") and name == "monthly":
            return f"{value:.2f}"
        if digits and float(value).is_integer():
            return f"{value:,.0f}"
        return number(value, digits) if digits else labels.get(value, str(value))

    return {
        "name": name.replace("_", "-"),
        "title": title,
        "about": about,
        "columns": [
            {"title": heading, "kind": "n" if digits is not None else "wrap" if column == "price_inferred" else ""}
            for column, (heading, digits) in columns.items()
        ],
        "rows": [[shown(column, row[column]) for column in columns] for row in tables.records(frame)],
    }


def then_and_now(study: Mapping[str, Any], prices: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each machine's hourly price under the study's option and under `today`, and what is priced now."""
    if "today" not in study["prices"]:
        return []
    instead = study["prices"]["today"].get("instead", {})
    then, now = (prices[prices["price_option"] == option].set_index("hardware") for option in (study["price"], "today"))
    rows = []
    for hardware in then.index:
        if "own" in study["machines"].get(hardware, {}) and hardware not in now.index:
            continue  # nobody offers what is owned
        what, as_of, price = "not offered in today's books", "—", None
        if hardware in now.index:
            row = now.loc[hardware]
            rent = instead.get(hardware, study["machines"].get(hardware, {}).get("rent", {}))
            items = (f"{count} {item}" if count > 1 else item for item, count in rent.get("items", {}).items())
            what = f"{row['provider']} {' + '.join(items)}".rstrip() + f", {row['purchase']}"
            as_of, price = row["price_as_of"], float(row["usd_per_hour"])
        before = float(then.loc[hardware, "usd_per_hour"])
        ratio = None
        if price is not None and now.loc[hardware, "provider"] == then.loc[hardware, "provider"]:
            ratio = price / before
        rows.append({"hardware": hardware, "then": before, "now": price, "ratio": ratio, "what": what, "as_of": as_of})
    return rows


def cells(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return one row per cell: medians, what they are of the base cell, and costs under each price option."""
    table = summary.cells(runs, costs)
    keys = summary.CELL
    accuracy = runs[runs["status"] == "done"].groupby(keys, dropna=False)["val_acc"].median()
    table = table.merge(accuracy.rename("accuracy").reset_index(), on=keys, how="left")
    for option in study["prices"]:
        paid = costs[costs["price_option"] == option].groupby(keys, dropna=False)["cost_usd"].median()
        table = table.merge(paid.rename(f"cost, {option}").reset_index(), on=keys, how="left")
    named = study.get("base", {})
    base = table[(table["hardware"] == named.get("hardware")) & (table["framework"] == named.get("framework"))]
    base = base.drop_duplicates("workload").set_index("workload")
    one = runs["framework"].nunique() == 1
    sizes = runs.dropna(subset="batch_size").groupby("workload")["batch_size"].unique()
    only = {workload: found[0] for workload, found in sizes.items() if len(found) == 1}
    rows = []
    for row in tables.records(table):
        of_base = base.loc[row["workload"]] if row["workload"] in base.index else None

        def relative(column: str, row: dict = row, of_base: pd.Series | None = of_base) -> float | None:
            if of_base is None or pd.isna(row[column]) or pd.isna(of_base[column]):
                return None
            return float(row[column]) / float(of_base[column])

        rows.append(
            row
            | {
                "name": cell_name(row, labels, only.get(row["workload"]), one),
                "relative_time": relative("train_seconds"),
                "costs": {option: row[f"cost, {option}"] for option in study["prices"]},
                "relative_costs": {option: relative(f"cost, {option}") for option in study["prices"]},
            }
        )
    return rows


def short_runs(study: Mapping[str, Any], costs: pd.DataFrame) -> str:
    """Say how many runs are shorter than the least that their provider bills."""
    rows = costs[(costs["price_option"] == study["price"]) & (costs["minimum_seconds"] > 0)]
    short = rows[rows["useful_seconds"] < rows["minimum_seconds"]]
    if short.empty:
        return ""
    more = (short["billed_usd"] / short["cost_usd"]).max()
    return (
        f"{len(short)} of {len(rows)} runs are shorter than the {number(short['minimum_seconds'].max())} s that their "
        f"provider billed at least: alone on a machine they would have cost up to {number(more)} times what is shown, "
        "which is the cost of one more run on a machine that is running."
    )


def audited(
    table: Path | None, others: list[Path], problems: Path | None, study: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the audit's findings in a study's facts, and the logs that the importer refused."""
    found: list[dict[str, Any]] = []
    if problems:
        for line in problems.read_text(encoding="utf-8").splitlines():
            found.append(dict.fromkeys(audit.COLUMNS, "") | {"kind": "refused log", "message": line})
    if table:
        known = {path.stem: facts.read(path) for path in others if path != table}
        found += tables.records(audit.findings(facts.read(table), study["import"].get("unlike", []), known))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("--claims", required=True, type=Path, help="verdicts to write (.json), for the index")
    parser.add_argument("--name", required=True, help="of the study")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--facts", type=Path, help="table of facts (.csv), for the audit")
    parser.add_argument("--problems", type=Path, help="what the importer refused, a line each")
    parser.add_argument("--others", nargs="*", default=[], type=Path, help="tables of facts of other studies")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--runs", required=True, type=Path)
    parser.add_argument("--costs", required=True, type=Path)
    parser.add_argument("--prices", required=True, type=Path)
    parser.add_argument("--charts", required=True, nargs="+", type=Path, help="folders of the charts, in order")
    options = parser.parse_args()
    print("writing the report", flush=True)
    study = json.loads(options.study)
    runs, costs, prices = (tables.read(getattr(options, name)) for name in ("runs", "costs", "prices"))
    machines = grid.machines(study, schemas.read_yaml(options.hardware, "hardware"))
    labels = {name: about["label"] for name, about in machines.items()}

    derived = figures.tables(study, runs, costs, prices)
    named = figures.figures(study, derived, prices)
    findings = audited(options.facts, options.others, options.problems, study)
    doubted = {
        (one["workload"], one["hardware"], one["framework"]) for one in findings if one["kind"] == "identical files"
    }
    seen = (study, runs, costs, named, labels, doubted)
    verdicts = [claims.evaluate(claim, *seen) for claim in study["claims"]]
    now = [
        claims.evaluate(claim | {"price": "today"}, *seen)
        for claim in study["claims"]
        if claim.get("by") in ("cost_usd", "billed_usd") and "price" not in claim and "today" in study["prices"]
    ]
    if "scaling" in derived:
        derived["scaling"] = by_batch_size(derived["scaling"])
    if "rents" in derived:
        days = {"usd_per_day": 1, "usd_per_week": 7, "usd_per_month": 30.5}
        hourly = derived["rents"]["usd_per_hour"]
        derived["rents"] = derived["rents"].assign(**{name: hourly * 24 * count for name, count in days.items()})
    base = study.get("base", {})
    html = (
        render.environment()
        .get_template("show.html.j2")
        .render(
            study=study,
            labels=labels,
            runs=tables.records(runs),
            cells=cells(study, runs, costs, labels) if len(runs) else [],
            base_name=base and cell_name(base | {"batch_size": None}, labels, None, runs["framework"].nunique() == 1),
            pictures=render.drawn(options.charts),
            tables=[_table(name, derived[name], labels) for name in TABLES if name in derived],
            claims=verdicts,
            tally=claims.tally(verdicts),
            tie_percent=number(TIE * 100, 1),
            now_claims=now,
            then_and_now=then_and_now(study, prices),
            option_labels={option: about.get("label", option) for option, about in study["prices"].items()},
            short_runs=short_runs(study, costs),
            audit=findings,
            prices=tables.records(prices),
        )
    )
    write_text(options.claims, claims.told(options.name, study, len(runs), len(findings), verdicts))
    write_text(options.output, html)
    return 0


if __name__ == "__main__":
    errors.run(main)
