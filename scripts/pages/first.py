"""The first screen: the study's question and its computed answer, the best, and every configuration."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

import pandas as pd

from scripts.analysis import clocks, figures, trainings, verdicts
from scripts.analysis.names import FRAMEWORK_NAMES
from scripts.pages import flips, minute, unranked
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import number
from scripts.studies import definition

#: Below so many dollars a training, thousands of them are shown.
_SMALL_USD = 0.01

#: How `trainings.marks` are shown at a glance.
_MARKS = {trainings.BEST: "●", trainings.SAME_BILL: "=", trainings.NEAR: "◐", trainings.FEW: "○"}

#: In the name of a configuration.
_BATCH = re.compile(r" · batch (\d+)")

#: Beyond so many times as much nobody asks how many.
_FARTHEST = 100

#: So many configurations stand side by side at a glance.
_MOST_COLUMNS = 8


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the question and its answer, a panel for each workload, and the table of all at a glance.

    Keys of a panel: workload, only (the machine on which alone it ran, while others of the page ran elsewhere),
    best (`trainings.best` by role), bars, unit, times (x the dollars shown), each (what stands behind a time that is
    not for as much as the dollars), said (which is cheapest and
    fastest, or may be), left_out (which machines are, and why), ways (the cheapest by each way to buy), speed (usd: the
    dollars of the shortest time over the lowest; faster: the seconds of the lowest cost over the shortest; alike: in
    which of time and cost they are not clearly different, why), axes and clear (machine and software of what may be the
    cheapest), is_rate, lead and flip (in words, at which price another wins).
    Of the glance:
    columns (names of configurations), of (how many there are) and rows (workload, lowest: its dollars and what they are
    for, cells: x the lowest cost, and its mark of `_MARKS`; None for none).
    """
    costs = inputs.counted(inputs.costs)
    found = trainings.by_workload(costs, inputs.price, inputs.name_of, inputs.shares)
    rated = {
        option: trainings.by_workload_of_rates(costs, option, inputs.name_of, inputs.per_samples)
        for option in dict.fromkeys([*inputs.study["prices"], inputs.price])
    }
    of_rates = rated[inputs.price]
    found = {name: cells for name, cells in (found | of_rates).items() if len(cells) > 1}
    bought = {
        option: trainings.by_workload(costs, option, inputs.name_of, inputs.shares) | rated[option]
        for option in inputs.study["prices"]
    }
    ways = {name: _ways({option: of.get(name, []) for option, of in bought.items()}, inputs) for name in found}
    times = _times([cells for name, cells in found.items() if name not in of_rates])
    machines = {cell["cell"]["hardware"] for cells in found.values() for cell in cells}
    panels = [
        _panel(name, cells, inputs, name in of_rates, 1 if name in of_rates else times)
        | {"ways": ways[name], "only": _only(cells, machines, inputs.labels)}
        for name, cells in found.items()
    ]
    software, mixed = _software(inputs, found)
    return {
        "question": inputs.study.get("question", {}).get("asks", ""),
        **_answered(inputs, found, panels, mixed),
        "unit_words": _units(
            [name in of_rates for name in found], _clock(inputs.runs), definition.per_samples(inputs.study)
        ),
        "software_words": software,
        "costs_trainings": any(name not in of_rates for name in found),
        "panels": panels,
        "glance": _glance(found, panels, inputs) if len(found) > 1 else None,
    }


def _times(found: Sequence[Sequence[Mapping[str, Any]]]) -> int:
    """Return x which dollars of trainings are shown: the same for all, or they could not be read beside each other."""
    most = [max(float(max(cell["of"]["usd"])) for cell in cells) for cells in found]
    return 1000 if most and min(most) < _SMALL_USD else 1


def _only(cells: Sequence[Mapping[str, Any]], machines: set[str], labels: Mapping[str, str]) -> str:
    """Return the machine on which alone a workload ran; empty where it ran on several, or the page has no other."""
    ran = {cell["cell"]["hardware"] for cell in cells}
    return labels[next(iter(ran))] if len(ran) == 1 < len(machines) else ""


def _clock(runs: pd.DataFrame) -> str:
    """Return on which clock the costs of trainings are."""
    if clocks.watched(runs) == "all":
        return "the observed clock"
    return "the clock of its process" if clocks.is_paid_by_process(runs) else "the training clock"


def _units(of_rates: Sequence[bool], clock: str, amount: str) -> str:
    """Return what the dollars of the panels are for, of which these are for an `amount` of samples."""
    training = f"one training of full length, on {clock}"
    samples = f"{amount}, on the steady clock"
    if any(of_rates) and not all(of_rates):
        return f"{training[:1].upper()}{training[1:]}, or {samples} where that is all that is known"
    words = samples if any(of_rates) else training
    return words[:1].upper() + words[1:]


def _software(inputs: Inputs, found: Mapping[str, list[dict[str, Any]]]) -> tuple[str, str]:
    """Return in words of which software the runs of others are, where it is known and of several kinds, and in short
    in how many rankings a gap may be one of software.
    """
    given = inputs.study.get("import", {}).get("software", {})

    def of(run: str) -> str:
        return next((words for pattern, words in given.items() if fnmatchcase(run, pattern)), "unknown software")

    counted = Counter(of(str(run)) for run in inputs.runs["run"]) if given else Counter[str]()
    if len(counted) < 2:
        return "", ""
    several = sum(len({of(cell["run"]) for cell in cells}) > 1 for cells in found.values())
    kinds = " and ".join(f"{words}: {count:,} result{'s' if count != 1 else ''}" for words, count in counted.items())
    question = trainings.Question.of(inputs.study)
    pairs = trainings.pairs(found, question) if question else []
    alike = sum(of(one["run"]) == of(other["run"]) for _, one, other in pairs)
    answered = f"{alike} of the {len(pairs)} pairs of the answer"
    answer = f"In {answered} both are of one kind. " if pairs else ""
    rankings = f"{several} of {len(found)} rankings mix"
    gap = "a gap between these may be one of software."
    return (
        f"Software of {len(counted)} kinds is compared: {kinds}. {answer}{rankings} kinds: {gap}",
        f"{rankings} kinds of software, which a gap may be of." if several else "",
    )


def _answered(
    inputs: Inputs, found: Mapping[str, list[dict[str, Any]]], panels: Sequence[Mapping[str, Any]], mixed: str
) -> dict[str, Any]:
    """Return `answer`, of which the page shows the `word`, and its reason: of an article, or of the study's cells; and
    `minute`, what else a reader asks first, with its answers; `further`, what an article says at length.
    """
    given = figures.minute(inputs.study, inputs.derived)
    if answered := figures.answer(inputs.study, inputs.derived):
        asked = minute.rows(panels, given, "", inputs, mixed)
        further = figures.further(inputs.study, inputs.derived)
        return {"answer": {"word": answered[0]}, "answer_words": answered[1], "minute": asked, "further": further}
    answer = _answer(inputs, found)
    words, price = _words(answer, inputs) if answer else ("", "")
    word = {"word": answer.word + _where(inputs, found)} if answer else None
    return {
        "answer": word,
        "answer_words": words,
        "minute": minute.rows(panels, given, price, inputs, mixed),
        "further": "",
    }


def _answer(inputs: Inputs, found: Mapping[str, list[dict[str, Any]]]) -> trainings.Answer | None:
    if "question" not in inputs.study:
        return None
    if question := trainings.Question.of(inputs.study):
        return trainings.pays(found, question, inputs.judge)
    return trainings.newer_pay(inputs.derived["generations"]) if "generations" in inputs.derived else None


def _where(inputs: Inputs, found: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return of which workloads an answer is; empty where it is of all."""
    question = trainings.Question.of(inputs.study)
    compared = {workload for workload, _, _ in trainings.pairs(found, question)} if question else set(found)
    if question is None or len(compared) == len(found):
        return ""
    both = "on both" if question.axis == "hardware" else "with both"
    return f", in the {len(compared)} of {len(found)} workloads run {both}"


def _words(answer: trainings.Answer, inputs: Inputs) -> tuple[str, str]:
    """Return the reason of an answer in words, from its counts, and at which price it would be another."""
    question = trainings.Question.of(inputs.study)
    if question is None:
        return _of_generations(answer, inputs)
    one, other = (question.name(value, inputs.labels) for value in (question.value, question.than))
    fast = (
        f"the best speed-up is {number(answer.speedup)}× ({answer.where})"
        if answer.speedup
        else "it is clearly faster in none"
    )
    if question.axis != "hardware":
        same = "Both run on the same machines: no price of theirs changes the answer above."
        return f"{_price(inputs)}: {one} {_pairs(answer, than=f' than {other}')}, and {fast}.", same
    must = (
        f"so it must be {number(answer.price)}× as fast to pay" if answer.price > 1 else "so it may be slower and pay"
    )
    return (
        f"{_price(inputs)}: an hour of {one} costs {number(answer.price)}× that of {other}, {must}; it "
        f"{_pairs(answer)}, and {fast}."
    ), flips.of_answer(one, other, answer, inputs.newest)


def _of_generations(answer: trainings.Answer, inputs: Inputs) -> tuple[str, str]:
    """Return whether newer cards pay, at the price of the page and at each that is an offer of clouds.

    Below which prices they do is said by the article.
    """
    fast = f"the best speed-up is {number(answer.speedup)}× ({answer.where})"
    offers = {
        about["label"]: found
        for option, about in inputs.study["prices"].items()
        if f"generations_{option}" in inputs.derived
        and (found := trainings.newer_pay(inputs.derived[f"generations_{option}"]))
    }
    otherwise = " and ".join(f"at {at} in {found.cheaper} (dearer in {found.dearer})" for at, found in offers.items())
    otherwise = f" It is cheaper {otherwise}." if otherwise else ""
    return (
        f"{_price(inputs)}: the newer card {_pairs(answer, ' of cards and benchmarks', runs='results')}; an hour of it "
        f"costs {number(answer.price)}× as much in the median, and "
        f"{fast if answer.speedup else 'it is clearly faster in none'}.{otherwise}"
    ), ""


def _pairs(answer: trainings.Answer, what: str = "", than: str = "", runs: str = "runs") -> str:
    """Return in how many pairs (of `what`) the asked is cheaper (`than` the other), as the end of a sentence on it."""
    pairs = f"{answer.pairs} pair{'s' if answer.pairs != 1 else ''}{what}"
    counts = {"too close to call": answer.undecided - answer.few, f"too few {runs}": answer.few}
    undecided = [f"{words} in {count}" for words, count in counts.items() if count]
    if answer.undecided == answer.pairs:
        return f"is not clearly cheaper{than} ({', '.join(undecided)} of {pairs})"
    others = ", ".join([f"dearer in {answer.dearer}", *undecided])
    return f"is cheaper{than} in {answer.cheaper} of {pairs} ({others})"


def _price(inputs: Inputs) -> str:
    """Return at which price the answer holds, and of which days it is."""
    words = inputs.study["prices"][inputs.price].get("label", f"{inputs.price} price")
    shown = inputs.prices[inputs.prices["price_option"] == inputs.price]
    days = sorted(set(shown["price_as_of"].dropna()) - {""})
    dated = f" (of {' and '.join(days)})" if days and not any(day[:4] in words for day in days) else ""
    return f"{words[:1].upper()}{words[1:]}{dated}"


def _panel(
    workload: str, cells: Sequence[Mapping[str, Any]], inputs: Inputs, is_rate: bool, times: int
) -> dict[str, Any]:
    best = {
        one["role"]: one | {"hardware_name": inputs.labels[one["hardware"]]}
        for one in trainings.best(cells, inputs.judge)
    }
    cheapest, fastest = best[trainings.CHEAPEST], best[trainings.FASTEST]
    alike = _alike(cells, cheapest["machine"], fastest["machine"], inputs.judge)
    marks = trainings.marks(cells, inputs.judge)
    axes = _axes(cells, cheapest, inputs)
    most = max(float(max(cell["of"]["usd"])) for cell in cells)
    unit = definition.per_samples(inputs.study, workload) if is_rate else "a training"
    return {
        "workload": workload,
        "best": best,
        "unit": "USD per 1,000 trainings" if times > 1 else f"USD {unit}",
        "each": " each" if times > 1 else "",
        "times": times,
        "said": _said(cheapest, fastest, verdicts.clear_axes(axes)),
        "axes": axes,
        "clear": verdicts.clear_axes(axes),
        "is_rate": is_rate,
        "left_out": unranked.words(inputs, workload),
        "lead": flips.of_lead(cells, workload, inputs.labels, inputs.newest),
        "flip": flips.of_workload(
            trainings.flip(cells, inputs.judge),
            workload,
            inputs.labels,
            inputs.newest,
            flips.beside(inputs.study),
            flips.by_card(inputs.study, inputs.cards),
        ),
        "speed": {
            "usd": fastest["usd"] / cheapest["usd"] if cheapest["usd"] else None,
            "faster": cheapest["seconds"] / fastest["seconds"],
            "alike": list(alike),
            "why": verdicts.why(alike.values()),
        },
        "bars": [
            {
                "name": cell["machine"],
                "dagger": inputs.dagger(cell["cell"]),
                "usd": cell["usd"] * times,
                "seconds": cell["seconds"],
                "ratio": cell["usd"] / cells[0]["usd"] if cells[0]["usd"] else None,
                "percent": 100 * cell["usd"] / most if most else 0,
                "runs": [100 * float(usd) / most if most else 0 for usd in cell["of"]["usd"]],
                "mark": marks.get(cell["machine"], ""),
                "note": _note(marks.get(cell["machine"], ""), cell, cells[0], inputs.judge),
            }
            for cell in cells
        ],
    }


def _note(mark: str, cell: Mapping[str, Any], first: Mapping[str, Any], judge: verdicts.Judge) -> str:
    """Return what a configuration is beside that of the lowest cost, and between how many times as much the rule sees
    it, which decides; or how few its runs are. reports/scripts/ask.js has the same.
    """
    if cell is first:
        return ""
    usd = cell["of"]["usd"], first["of"]["usd"]
    fewest = min(map(len, usd))
    if mark == trainings.SAME_BILL:
        return verdicts.EQUAL
    if mark == trainings.FEW:
        words = verdicts.why([judge.reason(fewest)])
        return words if judge.level == verdicts.WITHHELD else f"few runs: {fewest}"
    low, high = judge.reach(*usd, (cell["cell"]["hardware"], first["cell"]["hardware"]))
    ends = f": {_factor(low)} to {_factor(high)}×" if isfinite(high) else ""
    return f"too close{ends}" if mark == trainings.NEAR else f"clearly more{ends}"


def _factor(value: float) -> str:
    """Return how many times as much, of what is far off that it is."""
    if value > _FARTHEST:
        return f"over {_FARTHEST}"
    return f"under {1 / _FARTHEST:g}" if value < 1 / _FARTHEST else number(value)


def _alike(cells: Sequence[Mapping[str, Any]], cheapest: str, fastest: str, judge: verdicts.Judge) -> dict[str, str]:
    """Return in which of time and cost these two configurations are not clearly different, and why."""
    of = {cell["machine"]: cell for cell in cells}
    found: dict[str, str] = {}
    for what, column, first, other in (("time", "seconds", fastest, cheapest), ("cost", "usd", cheapest, fastest)):
        one, than = of[first], of[other]
        pair = [cell["cell"]["hardware"] for cell in (one, than)]
        if reasons := verdicts.undecided(judge, one["of"][column], [than["of"][column]], pair):
            found[what] = verdicts.EQUAL if what == "cost" and trainings.is_same(one, than) else reasons[0]
    return found


def _axes(
    cells: Sequence[Mapping[str, Any]], cheapest: Mapping[str, Any], inputs: Inputs
) -> dict[str, tuple[str, int, int]]:
    """Return machine and software of what may be the cheapest (`verdicts.clear_axes`), where that is several cells."""
    tied = {cheapest["machine"], *cheapest["near"]}
    names = {"hardware": inputs.labels, "framework": FRAMEWORK_NAMES}
    of_cells = [(cell["machine"] in tied, {axis: cell["cell"][axis] for axis in names}) for cell in cells]
    found = {}
    for axis, what in (("hardware", "machine"), ("framework", "software")):
        of_tied = {of[axis] for is_tied, of in of_cells if is_tied}
        found[what] = (names[axis].get(next(iter(of_tied)), ""), len(of_tied), len({of[axis] for _, of in of_cells}))
    return found if cheapest["near"] and cheapest.get("why") != verdicts.EQUAL else {}


def _said(cheapest: Mapping[str, Any], fastest: Mapping[str, Any], clear: str) -> str:
    if cheapest["machine"] == fastest["machine"] and not (cheapest["near"] or fastest["near"]):
        return f"{cheapest['said']} and fastest"
    return f"{cheapest['said']}.{clear} {fastest['said']}"


def _ways(bought: Mapping[str, list[dict[str, Any]]], inputs: Inputs) -> list[dict[str, Any]]:
    """Return the cheapest of one workload by each way to buy that has several priced; none of a single way.

    Keys: option (its label), lead (at which price another machine wins, in words), machine, near (which are not clearly
    dearer), why (they are not), usd, seconds, usd_per_hour and minimum_seconds (the least that is billed; 0 where
    trainings follow one another).
    """
    found = []
    for option, cells in bought.items():
        if not cells:
            continue
        cheapest = trainings.best(cells, inputs.judge)[0]
        shown = inputs.prices[inputs.prices["price_option"] == option].set_index("hardware")
        of = shown.loc[cells[0]["cell"]["hardware"]]
        about = {"option": inputs.option_labels[option]}
        about |= {"lead": flips.of_lead(cells, str(cells[0]["cell"]["workload"]), inputs.labels, inputs.newest)}
        about |= {key: cheapest[key] for key in ("near", "why")}
        least = of["minimum_seconds"]
        is_alone = not of["in_a_row"] and not pd.isna(least)
        found.append(cells[0] | about | {"minimum_seconds": float(least) if is_alone else 0.0})
    return found if len(found) > 1 else []


def _glance(
    found: Mapping[str, list[dict[str, Any]]], panels: Sequence[Mapping[str, Any]], inputs: Inputs
) -> dict[str, Any]:
    ratios: dict[str, dict[str, tuple[float, str]]] = {}
    for workload, cells in found.items():
        marks = trainings.marks(cells, inputs.judge)
        for cell in cells:
            ratio = cell["usd"] / cells[0]["usd"] if cells[0]["usd"] else 1.0
            mark = _MARKS.get(marks.get(cell["machine"], ""), "")
            ratios.setdefault(cell["machine"], {})[workload] = (ratio, mark)
    # The most often measured first, then the cheapest in the middle of its workloads.
    middles = {name: sorted(one for one, _ in row.values())[len(row) // 2] for name, row in ratios.items()}
    names = sorted(ratios, key=lambda name: (-len(ratios[name]), middles[name]))
    if len(names) > _MOST_COLUMNS:
        # The cheapest of each row first, and what has as low a cost: the others of the row are read by it.
        cheapest = {cell["machine"] for cells in found.values() for cell in cells if cell["usd"] == cells[0]["usd"]}
        kept = sorted(names, key=lambda name: name not in cheapest)[: max(_MOST_COLUMNS, len(cheapest))]
        names = [name for name in names if name in kept]
    return {
        "columns": names,
        "of": len(ratios),
        "rows": [
            {
                "workload": panel["workload"],
                "lowest": f"{number(panel['bars'][0]['usd'])} {panel['unit']}",
                **_row(names, {name: of[panel["workload"]] for name, of in ratios.items() if panel["workload"] in of}),
            }
            for panel in panels
        ],
    }


def _row(columns: Sequence[str], ran: Mapping[str, tuple[float, str]]) -> dict[str, Any]:
    """Return a row at a glance: its `cells` (ratio, mark, and the batch size where it is not the column's), and `more`:
    how many others are tied with the lowest, and in no column. reports/scripts/ask.js has the same.

    `ran` are the ratios and marks of the workload by configuration. Where a column's did not run, it did perhaps at
    other batch sizes: the lowest of these is shown, in one column.
    """
    shown = {column: column for column in columns if column in ran}
    for column in columns:
        alike = [name for name in ran if _BATCH.sub("", name) == _BATCH.sub("", column)]
        if column not in ran and alike and (lowest := min(alike, key=lambda name: ran[name][0])) not in shown.values():
            shown[column] = lowest
    batches = {name: f"@{found[1]}" if (found := _BATCH.search(name)) else "other batch" for name in ran}
    cells = [
        (*ran[name], "" if name == column else batches[name]) if (name := shown.get(column)) else None
        for column in columns
    ]
    tied = sum(mark in ("=", "◐") for name, (_, mark) in ran.items() if name not in shown.values())
    return {"cells": cells, "more": f"tied: {tied} more" if tied else ""}
