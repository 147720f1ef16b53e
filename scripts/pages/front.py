"""The front of the published studies: what it costs to train X, by whom, when and how surely."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scripts.analysis.trainings import ROLES

#: An option of a study's own prices; that of today is told beside it where the study has both.
_TODAY = "today"


def answers(studies: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what each workload costs to train by each study, the newest measurement of a study alone.

    A row for each workload of each study, studies in their order: workload, study, title, date, and for each role of
    `trainings.ROLES` its entry. The prices are those of today where the study has them, else its own.
    """
    rows = []
    for study in studies:
        given = study.get("trainings", [])
        options = {one["option"] for one in given}
        shown = [one for one in given if one["option"] == _TODAY or _TODAY not in options]
        for workload in dict.fromkeys(one["workload"] for one in shown):
            of_it = [one for one in shown if one["workload"] == workload]
            last = [one for one in of_it if one["date"] == max(each["date"] for each in of_it)]
            rows.append(
                {
                    "workload": workload,
                    "study": study["name"],
                    "title": study["title"],
                    "date": last[0]["date"],
                    "price": last[0]["price"],
                    "price_as_of": max(one["price_as_of"] for one in last),
                    "best": {role: next(one for one in last if one["role"] == role) for role in ROLES},
                }
            )
    return rows


def by_year(studies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cheapest training of each workload and day, at the prices of today.

    Keys: workload, date, usd, machine, study.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for study in studies:
        given = study.get("trainings", [])
        options = {one["option"] for one in given}
        for one in given:
            if one["role"] != ROLES[0] or (one["option"] != _TODAY and _TODAY in options):
                continue
            key = (one["workload"], one["date"])
            row = {key_: one[key_] for key_ in ("workload", "date", "usd", "machine")} | {"study": study["title"]}
            if key not in found or row["usd"] < found[key]["usd"]:
                found[key] = row
    return list(found.values())
