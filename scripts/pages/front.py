"""The front of the published studies: what it costs to train X, by whom, when and how surely.

What is no whole training stands apart: a part of one, and the speed of what was not trained.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.analysis.trainings import KINDS, ROLES, TRAINING

#: An option of a study's own prices; that of today is shown beside it where the study has both.
_TODAY = "today"


def answers(studies: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what each workload costs by each study, the newest measurement of a study alone, by what is paid for.

    Of each of `trainings.KINDS`, and of other amounts of samples, a row for each workload of each study, in the order
    of the studies, of each the newest first: workload, study, title, date, scale, and for each role of
    `trainings.ROLES` its entry. The prices are those of today where the study has them, else its own.
    """
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}  # and those of other amounts of samples
    for study in studies:
        shown = _shown(study)
        for workload in dict.fromkeys(one["workload"] for one in shown):
            of_it = [one for one in shown if one["workload"] == workload]
            last = [one for one in of_it if one["date"] == max(each["date"] for each in of_it)]
            dates = [one["price_as_of"] for one in last if one["role"] in ROLES]
            rows.setdefault(last[0]["of"], []).append(
                {
                    "workload": workload,
                    "scale": last[0].get("scale", ""),
                    "study": study["name"],
                    "title": study["title"],
                    "date": last[0]["date"],
                    "price": last[0]["price"],
                    "price_as_of": [str(min(dates)), str(max(dates))],
                    "best": {role: next(one for one in last if one["role"] == role) for role in ROLES},
                }
            )
    order = {study["name"]: place for place, study in enumerate(studies)}
    for of in rows.values():
        of.sort(key=lambda row: row["date"], reverse=True)
        of.sort(key=lambda row: order[row["study"]])
    return rows


def _shown(study: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what a study says of costs at the prices of today, at its own where it has no others."""
    given = study.get("trainings", [])
    options = {one["option"] for one in given}
    return [one for one in given if one["option"] == _TODAY or _TODAY not in options]


def by_year(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the whole training of the lowest cost of each workload and day, at the prices of today.

    Keys: workload, date, usd, usd_of_runs, machine, study.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for study in studies:
        for one in _shown(study):
            if one["role"] != ROLES[0] or one["of"] != TRAINING:
                continue
            key = (one["workload"], one["date"])
            row = {key_: one[key_] for key_ in ("workload", "date", "usd", "usd_of_runs", "machine")} | {
                "study": study["title"]
            }
            if key not in found or row["usd"] < found[key]["usd"]:
                found[key] = row
    return list(found.values())


#: What was measured so many years before the newest is history.
_YEARS = 5


def by_age(studies: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the studies of the last years and those of before, in their order; the last year of a study counts."""
    years = [int((re.findall(r"\d{4}", study["published"]["date"]) or ["9999"])[-1]) for study in studies]
    known = [year for year in years if year < 9999]
    since = max(known, default=0) - _YEARS
    recent = [study for study, year in zip(studies, years, strict=True) if year >= since]
    return recent, [study for study, year in zip(studies, years, strict=True) if year < since]
