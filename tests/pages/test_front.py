"""The front of the published studies: trainings, parts of one and speeds stand apart."""

from scripts.analysis.trainings import KINDS, MILLION_SAMPLES, PART, ROLES, TRAINING
from scripts.pages import front

ENTRY = {
    "machine": "a box",
    "seconds": 60.0,
    "runs": 1,
    "not_told": 0,
    "cells": 1,
    "usd_of_runs": [1.0],
    "date": "2026-11-23",
}
PRICED = {"price": "list price", "price_as_of": "2026-05-20", "option": "on-demand"}


def study(*kinds: str, usd: float = 1.0) -> dict:
    rows = [
        ENTRY | PRICED | {"workload": f"net of {kind}", "of": kind, "role": role, "usd": usd}
        for kind in kinds
        for role in ROLES
    ]
    return {"name": "mine", "title": "Mine", "trainings": rows}


def test_only_a_whole_training_stands_among_what_a_training_costs() -> None:
    found = front.answers([study(*KINDS)])
    assert {kind: [row["workload"] for row in rows] for kind, rows in found.items()} == {
        TRAINING: ["net of a training"],
        PART: ["net of a part of a training"],
        MILLION_SAMPLES: ["net of a million samples"],
    }


def test_dollars_by_year_are_those_of_whole_trainings() -> None:
    assert [row["workload"] for row in front.by_year([study(*KINDS)])] == ["net of a training"]


def test_other_amounts_of_samples_stand_by_themselves() -> None:
    found = front.answers([study(MILLION_SAMPLES, "a billion tokens")])
    assert [row["workload"] for row in found["a billion tokens"]] == ["net of a billion tokens"]
    assert [row["workload"] for row in found[MILLION_SAMPLES]] == ["net of a million samples"]


def test_a_study_is_as_old_as_the_last_year_of_its_figures() -> None:
    dated = {"old": "2018-02", "rounds": "2018-12 to 2025-11", "new": "2026-11-25"}
    studies = [{"name": name, "published": {"date": date}} for name, date in dated.items()]
    recent, history = front.by_age(studies)
    assert ([one["name"] for one in recent], [one["name"] for one in history]) == (["rounds", "new"], ["old"])
