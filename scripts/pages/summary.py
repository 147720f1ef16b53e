"""The summary of a study in ten lines of Markdown."""

from collections.abc import Mapping
from typing import Any

from scripts.analysis.names import workload_name
from scripts.analysis.trainings import CHEAPEST, FASTEST
from scripts.storage.numbers import duration, number
from scripts.storage.words import few, markdown

#: Lines of a summary, at most.
_LINES = 10


def lines(study: Mapping[str, Any]) -> list[str]:
    """Return the summary of a study (its claims.json): what is cheapest and fastest, the claims, what it is from."""
    every = study["trainings"]
    given = [one for one in every if one["option"] == every[0]["option"]]
    workloads = list(dict.fromkeys(one["workload"] for one in given))
    claims = [f"- {markdown(claim['says'])} **{markdown(claim['word'].capitalize())}.**" for claim in study["claims"]]
    claims = claims[: max(0, _LINES - 4 - min(len(workloads), 5))]
    head = [f"### {markdown(study['title'])}"]
    counts = ((study["runs"], "run"), (len(study["claims"]), "claim"), (study["findings"], "audit finding"))
    foot = [", ".join(_count(*each) for each in counts if each[0]) + "."]
    if given:
        price = given[0]["price"]
        foot[0] += f" {markdown(price[:1].upper() + price[1:])}, of {markdown(given[0]['price_as_of'])}."
    room = _LINES - len(head) - len(foot) - len(claims)
    rows = [_workload(name, given) for name in workloads]
    if len(rows) > room:
        rows = [*rows[: room - 1], f"- and {len(rows) - room + 1} more workloads"]
    return [*head, *rows, *claims, *foot]


def _workload(name: str, given: list[Mapping[str, Any]]) -> str:
    best = {one["role"]: one for one in given if one["workload"] == name}
    words = []
    for role in (CHEAPEST, FASTEST):
        one = best[role]
        of = [f"{number(one['usd'])} USD {markdown(one['of'])}", duration(one["seconds"]), _count(one["runs"], "run")]
        of += [f"{one['why']}: {markdown(few(one['near'], one['not_told']))}"] * bool(one["not_told"])
        words.append(f"{one['head']} {markdown(one['machine'])} ({', '.join(of)})")
    return f"- **{markdown(workload_name(name))}**: {'; '.join(words)}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"
