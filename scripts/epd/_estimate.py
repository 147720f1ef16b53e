"""An estimate on a terminal: a table of rates, one of prices, what is not known, and the sentence."""

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from scripts.costs.cards import counted
from scripts.estimate.known import age
from scripts.estimate.rates import digits_within
from scripts.estimate.reasons import in_region, of_logs, of_memory, text
from scripts.storage.numbers import between, rounded
from scripts.storage.words import printable

#: Columns of a text that is no terminal.
_WIDE = 160

_TASKS = {"pretrain": "pretraining", "sft": "fine-tuning", "lora": "LoRA", "qlora": "QLoRA"}


#: Between two sentences of a conclusion, each of which has a line.
_SENTENCES = re.compile(r"(?<=[.?]) (?=[A-Z])")

_Row = tuple[str, ...]


def show(found: Mapping[str, Any], today: date) -> None:
    """Print an answer."""
    # What reads a pipe has no edge to keep to.
    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    asked, answers = found["asked"], found["answers"]
    size = f"{asked['active_billion']:g} billion"
    if asked["kind"] == "moe":
        size += f" active of {asked['total_billion']:g}"
    lines = [
        f"{printable(asked['model'])} ({size}): {_TASKS[asked['task']]} on {asked['tokens']:,.0f} tokens in "
        f"{asked['precision']}, sequences of {asked['length']:,.0f}",
        *found["beside"],
        *(f"taken for granted: {printable(line)}" for line in found["assumed"]),
    ]
    _say(console, lines)
    if answers:
        for table in (_rates(answers, asked["state_gb"], today), _prices(answers)):
            for part in _folded(table, console.width):
                console.print(part)
    _say(console, [*_notes(found, today), *_SENTENCES.split(_conclusion(found))])


def _say(console: Console, lines: Sequence[str]) -> None:
    for line in filter(None, lines):
        console.print(line, soft_wrap=not sys.stdout.isatty())  # a terminal would wrap within a number


def _rates(answers: Sequence[Mapping[str, Any]], state_gb: float, today: date) -> list[_Row]:
    shown: list[_Row] = [("card", "tokens/s a card", "80 %", "cards", "hours", "80 % of these", "memory", "rests on")]
    for one in answers:
        rate, hours = one["tokens_per_second_per_card"], one["hours"]
        digits = digits_within(rate["low"], rate["high"])
        has_rows = one["rows_until"] and one["basis"] != "measured"
        rests = f"{one['basis']}, {age(one['rows_until'], today)}" if has_rows else one["basis"]
        rests += f"; {text('wide')}" if one["is_wide"] else ""
        rests += f"; {of_logs(one['off_logs'])}" if one["off_logs"] else ""
        shown.append((
            one["card"], rounded(rate["middle"], digits), _between(rate), str(one["cards"]),
            rounded(hours["middle"], digits), _between(hours), _memory(one, state_gb), rests,
        ))  # fmt: skip
    return shown


def _prices(answers: Sequence[Mapping[str, Any]]) -> list[_Row]:
    shown: list[_Row] = [(
        *("card", "USD", "80 %", "median", "dearest", "offers", "spot, preempted", "market place"),
        *("owned", "cheapest offer of a cloud"),
    )]  # fmt: skip
    for one in answers:
        bill, others = one["on_demand"], [*(_other(one[way]) for way in ("spot", "market")), _owned(one["owned"])]
        if bill is None:
            none = f"none of {one['cards']}" if one["cards"] > 1 else "none"
            shown.append((one["card"], "—", "", "", "", "0", *others, none))
            continue
        usd, offer = bill["usd"], bill["cheapest"]
        digits = digits_within(usd["low"], usd["high"])
        shown.append((
            one["card"], rounded(usd["cheapest"], digits), _between(usd), rounded(usd["median"], digits),
            rounded(usd["dearest"], digits), str(bill["offers"]), *others,
            printable(f"{_machine(one['card'], offer)}{in_region(offer, usd['cheapest'])}, {offer['as_of']}"),
        ))  # fmt: skip
    return shown


def _folded(rows: Sequence[_Row], width: int) -> list[Table]:
    """Return rows, of which the first is the heads, as one table, or as several with the card in each, none wider.

    An interval stays beside its middle, and no figure is broken: words alone are wrapped.
    """
    needed = [_needed(column) for column in zip(*rows, strict=True)]
    groups: list[list[int]] = []
    for place, head in enumerate(rows[0][1:], 1):
        if head.startswith("80 %"):
            groups[-1].append(place)
        else:
            groups.append([place])
    parts: list[list[int]] = [[0]]
    for group in groups:
        # Beside each column is a space on either side, and one between columns and beside the table.
        if len(parts[-1]) > 1 and sum(needed[place] + 3 for place in [*parts[-1], *group]) + 1 > width:
            parts.append([0])
        parts[-1] += group
    tables = []
    for part in parts:
        shown = Table(box=box.SIMPLE)
        for place in part:
            shown.add_column(rows[0][place], min_width=needed[place], overflow="fold")
        for row in rows[1:]:
            shown.add_row(*(row[place] for place in part))
        tables.append(shown)
    return tables


#: Columns that may be wrapped, between their words, to no less than so wide.
_WORDS, _NARROWEST = ("memory", "rests on", "cheapest offer of a cloud"), 26


def _needed(cells: Sequence[str]) -> int:
    """Return how wide a column is at least."""
    widest = max(cell_len(line) for cell in cells for line in cell.split("\n"))
    return min(_NARROWEST, widest) if cells[0] in _WORDS else widest


def _other(bill: Mapping[str, Any] | None) -> str:
    """Return what another way to buy comes to, with its own machine and hours: they are seldom those of the row."""
    if bill is None:
        return "—"
    offer = bill["cheapest"]
    count = offer["cards"] * offer["machines"]
    digits = digits_within(bill["usd"]["low"], bill["usd"]["high"])
    usd, hours = rounded(bill["usd"]["cheapest"], digits), rounded(bill["hours"], digits)
    where = f"{count:,} card{'s' * (count > 1)}, {hours} h, {printable(offer['provider'])}"
    region = printable(in_region(offer, bill["usd"]["cheapest"]).strip()).replace(" (", "\n(")
    return "\n".join(filter(None, (f"{usd} ({_between(bill['usd'])})", where, region)))


def _owned(bill: Mapping[str, Any] | None) -> str:
    if bill is None:
        return "—"
    usd = bill["usd"]
    return rounded(usd["cheapest"], digits_within(usd["low"], usd["high"]))


def _memory(one: Mapping[str, Any], state_gb: float) -> str:
    """Return what the training keeps, of what its cards have; and whether more than that is known to fit."""
    of = f"{rounded(state_gb)} of {rounded(one['memory_gb'])} GB"
    if one["fits"] == "unknown":
        return of
    if one["fits"] == "printed":
        return f"{of}; printed" + (" with less" if state_gb > one["memory_gb"] else "")
    if one["fits"] in ("likely", "may run out"):
        return f"{of}; {rounded(one['peak_gb'], 2)} a card {'fits' if one['fits'] == 'likely' else 'may not fit'}"
    return f"{of}; {of_memory(one['fits']) or 'fits as measured'}"


def _machine(card: str, offer: Mapping[str, Any]) -> str:
    if offer["machines"] == 1:
        return f"{offer['provider']}, {offer['item']}"
    by_card = ", by the card" if offer["cards"] == 1 else ""
    return f"{offer['provider']}, {counted(card, offer['cards'], offer['machines'])} ({offer['item']}{by_card})"


def _between(ends: Mapping[str, float]) -> str:
    return between(ends["low"], ends["high"], digits_within(ends["low"], ends["high"]))


def _notes(found: Mapping[str, Any], today: date) -> list[str]:
    """Return what is not known or not answered, a line each."""
    answers, cards = found["answers"], found["asked"]["cards"]
    lines = []
    if answers and cards is None:
        lines.append(
            "cards: those of the cheapest machine, or as many as hold the training; each is taken to be as fast among "
            "many as alone"
        )
    elif answers and cards > 1:
        lines.append(f"cards: {cards:,}, of several whole machines where one has fewer")
    ways = ("on_demand", "spot", "market")
    if prices := {bill["cheapest"]["as_of"] for one in answers for way in ways if (bill := one[way])}:
        ages = " to ".join(dict.fromkeys(age(day, today) for day in (max(prices), min(prices))))
        ages = re.sub(r" (days|months) old to (\S+ \1)", r" to \2", ages)
        lines.append(
            f"prices: {ages}, with minimum and rounding of each bill, without the start of a machine; "
            "those of a region are named with it, with what others ask"
        )
    lines += map(printable, found["ways"])
    if arm := [one["card"] for one in answers if one["host"] == "ARM"]:
        lines.append(f"{', '.join(arm)}: {text('ARM')}")
    alike: dict[str, list[str]] = {}
    for one in found["refused"]:
        alike.setdefault(one["reason"], []).append(one["card"])
    lines += [f"not answered: {', '.join(cards)}: {reason}" for reason, cards in alike.items()]
    to_measure = any("measure it" in one["reason"] for one in found["refused"])
    return lines + ([_HOW] if to_measure else [])


_HOW = "a rate that you measured: --on CARD=RATE, tokens a second and card; of eight together --on 8xCARD=RATE"


def _conclusion(found: Mapping[str, Any]) -> str:
    if found["choice"]:
        return str(found["choice"]["sentence"])
    return found["otherwise"] or ""
