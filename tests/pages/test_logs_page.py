"""The page of a folder of logs begins with what its runs cost: a sentence, and a table of them."""

from dataclasses import replace
from typing import Any

import pandas as pd

from scripts.importers import COLUMNS
from scripts.pages import header, report
from scripts.pages.inputs import Inputs
from tests.made import CATALOGUE, STUDY, inputs, log, offer, price_book, runs
from tests.reading import Read

#: Two cards at 3.60 USD an hour each: 100 s cost 0.20 USD.
MACHINES = CATALOGUE | {
    "h100-x2": {
        "label": "2 x h100",
        "gpus": {"model": "h100", "count": 2},
        "rent": {"provider": "given", "items": {"card": 2}},
    }
}
BOOK = price_book(offer("card", 3.6) | {"provider": "given", "as_of": "2026-11-25"})
FOLDER = {
    "title": "What the runs in vision/logs cost",
    "summary": "",
    "machines": MACHINES,
    "import": {"format": "any", "folder": "/data/vision/logs", "hardware": {".": "h100-x2"}},
    "base": {"hardware": "h100-x2", "framework": "torch"},
    "price": "paid",
    "prices": {"paid": {"label": "as paid", "purchase": "on-demand", "in_a_row": True}},
    "charts": [],
}


def made(*logs: dict[str, Any], study: dict[str, Any] = FOLDER, book: list[dict[str, Any]] = BOOK) -> Inputs:
    """Return what the page of some logs is made of: of each run name, time, and what else its facts hold."""
    facts = pd.DataFrame(
        [{"hardware": "h100-x2", "framework": "torch", "workload": f"w{index}", "repeat": 1, "status": "done"} | one
         for index, one in enumerate(logs)],
        columns=list(COLUMNS),
    ).astype(COLUMNS)  # fmt: skip
    frame = runs(
        *(
            log(epochs=None, val_acc=None)
            | {key: None if pd.isna(row[key]) else row[key] for key in ("run", "workload", "hardware", "framework")}
            | {"train_seconds": None if pd.isna(row["train_seconds"]) else row["train_seconds"]}
            for row in facts.to_dict("records")
        )
    )
    return inputs(STUDY | study, frame, MACHINES, book, logs=facts)


LONG = "a-folder-with-a-rather-long-name/another-one-below-it/seed-7"
LOGS = (
    {"run": f"{LONG}/results", "train_seconds": 100.0, "read_as": "ultralytics", "epochs_done": 4, "best": 0.5,
     "best_of": "mAP50-95(B)", "seconds_from": "stated: the seconds of each epoch", "devices": 2},
    {"run": "speed/record", "train_seconds": 3600.0, "read_as": "nanogpt", "steps_done": 6000,
     "seconds_from": "stated: train_time"},
    {"run": "mlruns/1/0a1b/meta", "name": "bold-fox-12", "read_as": "mlflow", "remarks": "without time: no end"},
)  # fmt: skip


def test_the_first_thing_is_a_sentence_of_what_all_cost() -> None:
    read = Read(report.page(made(*LOGS)))
    said = (
        "2 runs took 61.7 min and cost 7.40 USD, at the price that you gave: 3.60 USD an hour of one card. The "
        "cheapest cost 0.200 USD (a-folder-with-a-rathe…er-one-below-it/seed-7), the longest took 60.0 min "
        "(speed/record). 1 run without a time: the table says what would add it."
    )
    assert said in read.text
    assert read.text.index(said) < read.text.index("Every run")
    assert "Prices of given" not in read.text
    assert "of 3 configurations" not in read.text


def test_the_table_holds_every_run_the_dearest_first_and_all_together() -> None:
    rows = Read(report.page(made(*LOGS))).rows["runs"]
    assert rows[0] == ["run", "read as", "hours", "USD", "USD an epoch", "USD per 1,000 steps", "best", "its time is"]
    assert rows[1:] == [
        ["speed/record", "nanogpt", "1.00", "7.20", "—", "1.20", "—",
         "stated: train_time; its log does not say how many cards: 2 are priced"],
        ["a-folder-with-a-rathe…er-one-below-it/seed-7", "ultralytics", "0.0278", "0.200", "0.0500", "—",
         "0.5000 mAP50-95(B)", "stated: the seconds of each epoch"],
        ["bold-fox-12", "mlflow", "—", "—", "—", "—", "—", "without time: no end"],
        ["all 3", "", "1.03", "7.40", "", "", "", ""],
    ]  # fmt: skip


def test_of_many_runs_twenty_are_seen_and_the_rest_is_folded() -> None:
    page = report.page(made(*({"run": f"run-{index}", "train_seconds": 60.0 + index} for index in range(30))))
    assert "<summary>10 more runs</summary>" in page
    assert page.index("run-29") < page.index("<summary>10 more runs</summary>") < page.index("run-9<")


def test_a_workload_without_a_chart_has_no_chapter() -> None:
    missing = {
        "workload": "w0",
        "missing": "No chart.",
        "name": "learning",
        "kind": "Learned",
        "help": "",
        "title": "Learned",
    }
    page = report.page(replace(made(*LOGS), pictures={"w0": [missing | {"headline": False}]}))
    assert "No chart." not in page


def test_without_a_price_there_are_hours_alone() -> None:
    found = Read(report.page(made(*LOGS[:2], book=price_book())))
    assert "2 runs took 61.7 min. There are no dollars, as no price was given." in found.text
    assert "USD" not in found.rows["runs"][0]


def test_without_any_time_it_says_so() -> None:
    assert "1 run, and none has a time: the table says what would add it." in Read(report.page(made(LOGS[2]))).text


def test_no_study_of_an_article_and_no_rates_alone_begin_so() -> None:
    about = {"title": "An article", "by": "Somebody", "date": "2020-01"}
    assert "<h2>Every run</h2>" not in report.page(made(*LOGS, study=FOLDER | {"published": about}))
    assert "<h2>Every run</h2>" not in report.page(made({"run": "a", "samples_per_second": 5.0}))


def test_a_price_that_was_given_is_no_providers() -> None:
    assert header.context(made(*LOGS))["priced"] == []
