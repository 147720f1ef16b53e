"""Write a study's report: one HTML page that holds its charts, tables and words and fetches nothing."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import audit, beside, claims, clocks, figures, trainings
from scripts.analysis.claim_verdict import Verdict, to_json
from scripts.analysis.names import price_words
from scripts.costs import book, card_history, cards
from scripts.costs.cards import Offer
from scripts.importers import facts
from scripts.pages import render, report
from scripts.pages.inputs import Inputs
from scripts.records import about
from scripts.storage import errors, schemas, tables
from scripts.storage.files import read_text, write_text
from scripts.storage.words import NAMED
from scripts.studies import articles, definition, grid


def side(about: Mapping[str, Any], catalogue: Mapping[str, Any], runs: pd.DataFrame) -> beside.Side:
    """Return a study that stands beside this one, from its config and its runs table."""
    labels = {name: entry["label"] for name, entry in definition.machines(dict(about), dict(catalogue)).items()}
    given = about.get("import", {})
    return beside.Side(
        about["title"], runs, labels, about.get("published", {}), given.get("unlike", []), _copies(given)
    )


def _copies(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the runs of committed facts whose log is the same file as another's: name -> what the audit says of it."""
    if "facts" not in given:
        return {}
    table = facts.read(definition.ROOT / given["facts"])
    others = {Path(path).stem: facts.read(definition.ROOT / path) for path in given.get("others", [])}
    found = audit.findings(table, others=others)
    said = found[found["kind"] == "identical files"].set_index("file")["message"].to_dict()
    return {row["run"]: said[row["file"]] for row in tables.records(table) if row["file"] in said}


def compared(given: Sequence[str] | None) -> dict[str, claims.Other]:
    """Return the studies that claims name, from their configs (JSON) and the paths of their tables."""
    if not given:
        return {}
    files = zip(given[1::2], given[2::2], strict=True)
    return {
        name: claims.Other(about["title"], tables.read(Path(runs)), tables.read(Path(costs)), about["price"])
        for (name, about), (runs, costs) in zip(json.loads(given[0]).items(), files, strict=True)
    }


def audited(
    table: Path | None, others: Sequence[Path], problems: Path | None, study: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the audit's findings in a study's facts, and the logs that the importer refused; none without either."""
    found: list[dict[str, Any]] = []
    if problems:
        for line in problems.read_text(encoding="utf-8").splitlines():
            found.append(dict.fromkeys(audit.COLUMNS, "") | {"kind": "refused log", "message": line})
    if table:
        known = {path.stem: facts.read(path) for path in others if path != table}
        models = definition.cards(study["machines"])
        of_facts = audit.findings(facts.read(table), study["import"].get("unlike", []), known, models)
        # Of a folder of logs nobody promised every workload on every machine with every framework.
        is_folder = definition.is_folder(study)
        found += [one for one in tables.records(of_facts) if not (is_folder and one["kind"] == audit.MISSING_RUN)]
    return found


def judge(
    study: Mapping[str, Any], inputs: Inputs, named: Mapping[str, float], others: Mapping[str, claims.Other]
) -> tuple[list[Verdict], list[Verdict]]:
    """Return the verdicts on a study's claims, and on those about cost at the prices of today, if it has any.

    `named` are the figures that the study computes, `others` the studies that its claims name.
    """

    def verdict(claim: Mapping[str, Any]) -> Verdict:
        return claims.evaluate(
            claim, study, inputs.runs, inputs.costs, named, inputs.labels, inputs.judge, inputs.doubted, others
        )

    of_cost = [
        claim
        for claim in study["claims"]
        if claim.get("by") in ("cost_usd", "billed_usd") and "price" not in claim and "today" in study["prices"]
    ]
    return [verdict(claim) for claim in study["claims"]], [verdict(claim | {"price": "today"}) for claim in of_cost]


def costing(inputs: Inputs, derived: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return what this study says of costs, for the index: at its own price option, and at that of today.

    Of the workloads that its `front` names, or all. Keys are those of `trainings.best` but `said`, of `near` the first,
    and workload, `of` (what is paid for: one of `trainings.KINDS`, or another amount of samples), date, scale (from how
    much it is extrapolated), and the price option and its label.
    """
    study = inputs.study
    days = sorted({started[:10] for started in inputs.runs["started_at"].dropna()})
    date = study.get("published", {}).get("date", "") if not inputs.trained else days[-1] if days else ""
    scales = {
        str(name): words if (words := clocks.extrapolated(runs)) != clocks.AS_MEASURED else ""
        for name, runs in inputs.runs.groupby("workload")
    }
    found = []
    for option in dict.fromkeys([study["price"], *(["today"] if "today" in study["prices"] else [])]):
        price = price_words(study, option, inputs.labels)
        counted = inputs.counted(inputs.costs)
        of_rates = trainings.by_workload_of_rates(counted, option, inputs.name_of, inputs.per_samples)
        rows: list[dict[str, Any]] = [
            {key: value for key, value in one.items() if key != "said"}
            | {"near": one["near"][:NAMED], "workload": workload, "of": kind, "date": date, "scale": scales[workload]}
            for kind, by_workload in (
                (trainings.TRAINING, trainings.by_workload(counted, option, inputs.name_of, inputs.shares)),
                (definition.per_samples(study), of_rates),
            )
            for workload, cells in by_workload.items()
            if workload in study.get("front", [workload])
            for one in trainings.best(cells, inputs.judge)
        ]
        if "trainings" in derived and option == study["price"]:
            table = derived["trainings"]
            rows += [row | {"machine": f"{row['accelerators']} × {row['card']}"} for row in tables.records(table)]
        found += [row | {"price": price, "option": option, "offers": _offers(row, option, inputs)} for row in rows]
    return found


def _offers(row: Mapping[str, Any], option: str, inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Return what a training costs at the offers of clouds for its machine, where the study has such options.

    By the kind of offer, lowest or median: usd, high (the highest offer's), and provider, whose it is or how many.
    """
    hourly = inputs.prices[inputs.prices["hardware"] == row["hardware"]].set_index("price_option")
    there = {
        about["offer"]: hourly.loc[name]
        for name, about in inputs.study["prices"].items()
        if "offer" in about and "only" not in about and {name, option} <= set(hourly.index)
    }
    return {
        kind: {
            "usd": row["usd"] * one["usd_per_hour"] / hourly.loc[option, "usd_per_hour"],
            "high": row["usd"] * one["usd_per_hour_high"] / hourly.loc[option, "usd_per_hour"],
            "provider": one["provider"],
        }
        for kind, one in there.items()
    }


def offered(study: Mapping[str, Any], files: Sequence[Path]) -> dict[str, list[Offer]]:
    """Return what these price books ask for each card of a study's machines, within a year of their newest price."""
    rows = [row for file in files for row in book.read([file])]
    last = max((card_history.day_of(row["as_of"]) for row in rows), default=date.min)
    recent = [row for row in rows if (last - card_history.day_of(row["as_of"])).days <= card_history.KNOWN_DAYS]
    return {
        card: cards.offers(recent, card)
        for name in study.get("machines", {})
        for card, _ in cards.of_machine(name, study)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("--name", required=True, help="name of the study")
    parser.add_argument("--path", default="", help="path of its file, where it is none of the project's")
    parser.add_argument("--claims", required=True, type=Path, help="verdicts to write, for the index (.json)")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    for table in ("runs", "epochs", "costs", "prices", "attempts"):
        parser.add_argument(f"--{table}", required=True, type=Path)
    parser.add_argument(
        "--charts",
        required=True,
        nargs="*",
        type=Path,
        help="descriptions of the charts, in order",
    )
    parser.add_argument("--words", type=Path, help="words of the derived tables (.yaml)")
    parser.add_argument("--facts", type=Path, help="table of facts (.csv) that the runs are from, for the audit")
    parser.add_argument("--problems", type=Path, help="what the importer refused, a line each")
    parser.add_argument("--others", nargs="*", default=[], type=Path, help="tables of facts of other studies")
    parser.add_argument(
        "--beside", nargs="+", metavar=("STUDIES", "RUNS"), help="studies beside it (JSON), and the runs table of each"
    )
    parser.add_argument(
        "--compared",
        nargs="+",
        metavar=("STUDIES", "TABLE"),
        help="studies that claims name (JSON), runs and costs of each",
    )
    parser.add_argument("--elsewhere", type=Path, help="estimates of machines that were not measured (.json)")
    parser.add_argument("--books", nargs="*", default=[], type=Path, help="price books, of a published study")
    parser.add_argument("--quoted", help="what its machines are called on the front door (JSON), of a published study")
    options = parser.parse_args()
    print("writing the report", flush=True)
    study = json.loads(options.study)
    about.know(study)
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    runs, costs, prices = (tables.read(path) for path in (options.runs, options.costs, options.prices))
    given = articles.given(study)
    derived = figures.tables(study, runs, costs, prices, given)
    beside_it = zip(json.loads(options.beside[0]), options.beside[1:], strict=True) if options.beside else ()
    inputs = Inputs(
        name=options.name,
        path=options.path,
        study=study,
        machines=definition.machines(study, catalogue),
        runs=runs,
        epochs=tables.read(options.epochs),
        costs=costs,
        prices=prices,
        attempts=tables.read(options.attempts),
        planned=grid.planned(options.name, study, catalogue).cells if definition.is_trained_here(study) else [],
        pictures=render.load_charts(options.charts),
        findings=audited(options.facts, options.others, options.problems, study),
        derived=figures.readable(study, derived),
        words=schemas.read_yaml(options.words, "words") if options.words else {},
        others=[side(about, catalogue, tables.read(Path(path))) for about, path in beside_it],
        elsewhere=schemas.read_json(read_text(options.elsewhere), options.elsewhere) if options.elsewhere else [],
        logs=facts.read(options.facts) if options.facts and definition.is_folder(study) else pd.DataFrame(),
        offered=offered(study, options.books) if "offers" not in derived else {},
        quoted=json.loads(options.quoted) if options.quoted else None,
    )
    verdicts, today = judge(
        study, inputs, figures.figures(study, derived, prices, runs, given), compared(options.compared)
    )
    html = report.page(replace(inputs, verdicts=verdicts, verdicts_today=today))
    costs_of = costing(inputs, derived)
    write_text(options.claims, to_json(options.name, study, len(runs), len(inputs.findings), verdicts, costs_of))
    write_text(options.output, html)
    return 0


if __name__ == "__main__":
    errors.run(main)
