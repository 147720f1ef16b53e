"""Write a study's report: one HTML page that holds its charts, tables and words and fetches nothing."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import workloads
from scripts.analysis import beside, claims, comparisons, summary
from scripts.analysis.names import FRAMEWORK_NAMES, cell_name
from scripts.costs import budget
from scripts.costs.billing import DAYS_PER_MONTH
from scripts.importers import audit, facts
from scripts.measurement.cell import Cell
from scripts.pages.render import drawn, environment
from scripts.storage import errors, schemas, tables
from scripts.storage.files import write_text
from scripts.storage.numbers import TIE, number
from scripts.studies import grid


def page(
    study: Mapping[str, Any],
    catalogue: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    epochs: pd.DataFrame,
    prices: pd.DataFrame,
    attempts: pd.DataFrame,
    planned: Sequence[Cell],
    pictures: Mapping[str, list[dict[str, Any]]],
    verdicts: Sequence[claims.Verdict],
    others: Sequence[beside.Side] = (),
) -> str:
    """Return the report as HTML; every text from a config or a log is escaped.

    `planned` are the cells of the grid, of which some may not have been trained; `others` the studies beside it.
    """
    labels = {name: about["label"] for name, about in catalogue.items()}
    modules = {name: workloads.workload(name) for name in study["workloads"]}
    table = summary.computing(summary.cells(runs, costs), catalogue)
    cost = summary.cost_column(study["price"])
    done = runs[runs["status"] == "done"]
    shown = costs[costs["price_option"] == study["price"]]
    money = summary.money(shown, study["base"])
    spent = budget.spent(runs, attempts, prices[prices["price_option"] == study["price"]])
    compared = {
        axis: comparisons.against(runs, axis, plain, "samples_per_second")
        for axis, plain in (("framework", study["base"]["framework"]), ("mode", "stock"), ("precision", "float32"))
    }
    scaling = comparisons.scaling(runs)
    own = beside.Side(study["title"], runs, labels, study.get("published", {}))
    machines = beside.compare(own, others, {name: module.EPOCHS for name, module in modules.items()})
    options = sorted(set(costs["price_option"]), key=lambda option: (option != study["price"], option))

    return (
        environment()
        .get_template("report.html.j2")
        .render(
            study=study,
            labels=labels,
            name_of=lambda cell: cell_name(
                cell, labels, modules[cell["workload"]].BATCH_SIZE, one_framework="framework" not in cell
            ),
            framework_names=FRAMEWORK_NAMES,
            about={
                name: (module.__doc__ or name).strip().splitlines()[0].replace("`", "")
                for name, module in modules.items()
            },
            pictures=pictures,
            runs=runs.to_dict("records"),
            cells=table.to_dict("records"),
            computed=bool(table["model_gflops"].notna().any()),
            peaks=sorted(
                {
                    f"{labels[name]}: {catalogue[name]['peak_tflops']['source']}"
                    for name in table.loc[table["utilisation"].notna(), "hardware"]
                }
            ),
            fastest=summary.best(table, "train_seconds"),
            cheapest=summary.best(table, cost),
            cost=cost,
            cost_columns={option: summary.cost_column(option) for option in options},
            faster=summary.versus(table, study["base"]["hardware"], "train_seconds"),
            cheaper=summary.versus(table, study["base"]["hardware"], cost),
            learned=summary.learned(runs),
            claims=verdicts,
            tally=claims.tally(verdicts),
            compared={axis: comparisons.matrix(rows, axis) for axis, rows in compared.items()},
            behind=comparisons.counts(rows) if (rows := [row for of in compared.values() for row in of]) else "",
            scaling=scaling,
            beside=machines,
            others=others,
            unlike=beside.unlike(others, machines),
            virtual=bool(runs.loc[runs["devices"] > 1, "gpu_model"].isna().any()),
            spreads=comparisons.spreads(runs, study["repeats"], study["unstable_above"]),
            settings=comparisons.settings(runs),
            warned=comparisons.warnings(runs),
            synthetic=sorted(set(runs.loc[runs["data"] == "synthetic", "workload"])),
            reduced=summary.is_reduced(runs),
            failed=runs[runs["status"] != "done"].merge(spent, on="run").to_dict("records"),
            planned=len(planned),
            untrained=summary.untrained(planned, runs),
            interrupted=summary.interrupted(attempts, spent),
            single=bool((table["runs_done"] <= 1).all()),
            prices=tables.records(prices),
            money=money,
            days_per_month=DAYS_PER_MONTH,
            tie_percent=number(TIE * 100, 1),
            intervals=any(row["interval"] for row in money),
            own=summary.rent_or_own(dict(catalogue), prices),
            targets=summary.to_targets(runs, epochs, shown, study["targets"]),
            machines=sorted(
                set(zip(runs["cpu_model"], runs["gpu_model"].fillna("no GPU"), runs["system"], strict=True))
            ),
            versions=sorted(set(done["packages"])),
            pythons=sorted(set(runs["python"])),
            commits=sorted(set(runs["git_commit"].dropna())),
            days=sorted({started[:10] for started in runs["started_at"]}),
        )
    )


def side(about: Mapping[str, Any], catalogue: Mapping[str, Any], runs: pd.DataFrame) -> beside.Side:
    """Return a study that stands beside this one, from what its config tells and its runs table."""
    labels = {name: entry["label"] for name, entry in grid.machines(dict(about), dict(catalogue)).items()}
    given = about.get("import", {})
    return beside.Side(
        about["title"], runs, labels, about.get("published", {}), given.get("unlike", []), _copies(given)
    )


def _copies(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the runs of committed facts whose log is the same file as another's: name -> what the audit says of it."""
    if "facts" not in given:
        return {}
    table = facts.read(grid.ROOT / given["facts"])
    others = {Path(path).stem: facts.read(grid.ROOT / path) for path in given.get("others", [])}
    found = audit.findings(table, others=others)
    said = found[found["kind"] == "identical files"].set_index("file")["message"].to_dict()
    return {row["run"]: said[row["file"]] for row in tables.records(table) if row["file"] in said}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("--name", required=True, help="name of the study")
    parser.add_argument("--claims", required=True, type=Path, help="verdicts to write, for the index (.json)")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--runs", required=True, type=Path)
    parser.add_argument("--epochs", required=True, type=Path)
    parser.add_argument("--costs", required=True, type=Path)
    parser.add_argument("--prices", required=True, type=Path)
    parser.add_argument("--attempts", required=True, type=Path)
    parser.add_argument("--charts", required=True, nargs="+", type=Path, help="folders of the charts, in order")
    parser.add_argument(
        "--beside", nargs="+", metavar=("STUDIES", "RUNS"), help="studies beside it (JSON), and the runs table of each"
    )
    options = parser.parse_args()
    print("writing the report", flush=True)
    study = json.loads(options.study)
    workloads.add(study["workload_files"])
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    machines = grid.machines(study, catalogue)
    runs, costs = tables.read(options.runs), tables.read(options.costs)
    labels = {name: about["label"] for name, about in machines.items()}
    verdicts = [claims.evaluate(claim, study, runs, costs, {}, labels) for claim in study["claims"]]
    html = page(
        study,
        machines,
        runs,
        costs,
        tables.read(options.epochs),
        tables.read(options.prices),
        tables.read(options.attempts),
        grid.planned(options.name, study, catalogue).cells if grid.is_trained_here(study) else [],
        drawn(options.charts),
        verdicts,
        [
            side(about, catalogue, tables.read(Path(runs)))
            for about, runs in zip(json.loads(options.beside[0]), options.beside[1:], strict=True)
        ]
        if options.beside
        else [],
    )
    write_text(options.claims, claims.told(options.name, study, len(runs), 0, verdicts))
    write_text(options.output, html)
    return 0


if __name__ == "__main__":
    errors.run(main)
