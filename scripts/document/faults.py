"""What comes of faults, and of guards taken out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_FAULTS = """\
# What is lost when something goes wrong

`make faults` damages what can be damaged and sees what comes of it. **Files**: what is wrong in each is listed beside
the right answer, before the program is asked: refused in one line that names file and key, or taken, and then the
value comes out that was put in. **Texts**: hostile ones in every place that a person, a log or a training can put
one, with the pages opened in a browser. **Network**: hosts that refuse, reset, drip, lie or send another page.
**Kills**: every verb killed at each step that it takes at its files, a write half done; at any moment; and by a power
cut, which loses what was not synced; every two verbs at once; trainings and whole calls killed and made once more.
**Clocks** that are set, **disks** that are full. Survived is a fault that ends with a result or with one line, and
after which the same call comes to the same files and losses as without it. A traceback, a hang, a file that is
half-written or left over, text that runs or that a terminal obeys, or another result is not. A value that somebody
changed to another one that could be true cannot be noticed. Where fewer were tried than planned, the minutes of their
kind were over.

| fault | planned | tried | left out | survived | minutes | seed | on |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""


_GUARDS = """
## Who notices when a guard is gone

`python -m tests.faults.guards` takes out one guard of [a reviewed list](../tests/faults/guards.py) after the other,
in a copy of the project, and asks its own kind of fault, the quick tests that cover it, and those of `make test`. Of
[formulas](../tests/faults/formulas.py) it puts a wrong one in the place of each, and asks the tests alone.
Noticed is what fails then and passes with the guard; a dash is what was not asked.

| guard | own faults | quick tests | `make test` | everything | on |
| --- | --- | --- | --- | --- | --- |
"""


def counts(about: Mapping[str, Any]) -> str:
    """Return what was planned, tried, left out and survived of a kind of fault, and its minutes, as cells."""
    planned, tried = about["planned"], about["tried"]
    return f"{planned:,} | {tried:,} | {planned - tried:,} | {about['survived']:,} | {about['minutes']:g}"


def faults_page() -> str:
    """Return the page of the faults that were tried and of the guards that were taken out, from their JSON."""
    known, guards = (
        json.loads((ROOT / "reports" / f"{name}.json").read_text(encoding="utf-8")) for name in ("faults", "guards")
    )
    lines = [
        f"| {kind} | {counts(about)} | {about['seed']} | {about['on']} |"
        if about
        else f"| {kind} | — | 0 | all | 0 | — | — | not tried yet |"
        for kind, about in known.items()
    ]
    tried = [about for about in known.values() if about]
    sums = {count: sum(about[count] for about in tried) for count in ("planned", "tried", "survived", "minutes")}
    lines.append(f"| all | {counts(sums)} | | |")
    words = {True: "noticed", False: "**not**", None: "—"}
    asked = ("faults", "quick", "test", "everything")
    none = dict.fromkeys(asked) | {"on": "not asked yet"}
    listed = {name: about or none for name, about in guards.items()}
    rows = [
        f"| {name} | {' | '.join(words[about[by]] for by in asked)} | {about['on']} |" for name, about in listed.items()
    ]
    noticed = []
    for by in asked:
        answers = [bool(about[by]) for about in listed.values() if about[by] is not None]
        noticed.append(f"{sum(answers)} of {len(answers)}")
    rows.append(f"| {len(guards)} guards and formulas | {' | '.join(noticed)} | |")
    return _FAULTS + "\n".join(lines) + "\n" + _GUARDS + "\n".join(rows) + "\n"
