"""Which card a row of a public catalogue has, from what it says of it; what it leaves open is not guessed.

A machine so found is called by that and its own name, as no table lists it: `8x H100 SXM (gpu_8x_h100_sxm5)`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from scripts.costs import cards, fields
from scripts.costs.catalogue import Catalogue
from scripts.storage import schemas
from scripts.storage.spelling import find, plain

#: Forms of one chip that are cards of their own, as catalogues and drivers write them.
_FORMS = {
    form: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE)
    for form, words in {"SXM": r"sxm\d?|80gb[- _]?hbm3", "PCIe": r"pcie?", "NVL": r"nvl(?!\d)"}.items()
}
_MEMORY = re.compile(r"(?<![a-z0-9])(\d{2,3})\s*gi?b?(?![a-z0-9])", re.IGNORECASE)
_FAMILY = re.compile(r"nvidia|geforce|tesla|quadro|rtx|tpu", re.IGNORECASE)

#: Makers and catalogues round the memory of a card otherwise, by up to this share of it; a part of a card has less.
_ROUNDING = 0.1


@dataclass(frozen=True)
class _Kind:
    """A card of config/cards.yaml, or another form of it: its form and memory (GB), where they distinguish it."""

    card: str
    form: str
    memory_gb: float | None


def _form(text: str) -> set[str]:
    return {form for form, words in _FORMS.items() if words.search(text)}


def _memory(text: str) -> float | None:
    found = _MEMORY.search(text)
    return float(found[1]) if found else None


def _chip(name: str) -> str:
    """Return what is left of a card's name without its maker, family, form and memory: h100, pro6000."""
    for words in (_MEMORY, *_FORMS.values(), _FAMILY):
        name = words.sub(" ", name)
    return plain(name)


@cache
def _kinds() -> Mapping[str, Sequence[_Kind]]:
    """Return the cards that a row may have, by chip: the most that names say, `A100 SXM 80GB` and not `A100 SXM`."""
    sheets = schemas.read_yaml(cards.SHEETS, "cards")
    names = {one: one for one in sheets["cards"]} | sheets["names"]
    sheet_of = {card: find(card, names) for card in cards.known()}
    sheet_of |= {card: card for card in sheets["cards"] if card not in sheet_of.values()}
    found: dict[str, list[_Kind]] = {_chip(card): [] for card in sheets["cards"]}
    for card, sheet in sheet_of.items():
        memory = _memory(card) or (sheets["cards"][sheet]["memory_gb"] if sheet else None)
        if _chip(card) in found:
            found[_chip(card)].append(_Kind(card, "".join(_form(card)), memory))
    words = {kind.card: set(kind.card.split()) for of in found.values() for kind in of}
    return {
        chip: [one for one in of if not any(words[one.card] < words[other.card] for other in of)]
        for chip, of in found.items()
    }


def card_of(name: str, told: str, memory_gb: float | None, machine: str, forms: Mapping[str, str]) -> tuple[str, str]:
    """Return the card of a row, and why there is none: one of the two is empty.

    Args:
        name: of the card, as the catalogue has it; `told` is what else it says of the card.
        memory_gb: of one card, None where it is not said.
        machine: the provider's own name of the machine, which may say the form.
        forms: the form of each chip that this provider has in one form alone.
    """
    of_chip = _kinds().get(_chip(name), [])
    if not of_chip:
        return "", f"{name} is no card of config/cards.yaml"
    said = memory_gb or _memory(name) or _memory(told)
    least = (1 - _ROUNDING) * min(one.memory_gb for one in of_chip if one.memory_gb)
    may = [
        one
        for one in of_chip
        if not said or (abs(said - one.memory_gb) <= _ROUNDING * said if one.memory_gb else said >= least)
    ]
    if not may:
        return "", f"{name} with {said:g} GB is no whole card of config/cards.yaml"
    stated = _form(f"{name} {told} {machine}")
    form = stated or {forms[one] for one in forms if _chip(one) == _chip(name)}
    may = [one for one in may if not form or not one.form or {one.form} == form]
    if not may:
        return "", f"{name} as {' and '.join(sorted(form))} is no card of config/cards.yaml"
    if len(may) > 1:
        return "", f"{name} may be {' or '.join(sorted(one.card for one in may))}"
    return may[0].card, ""


def named(catalogue: Catalogue, wanted: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the machines of a catalogue that say which cards they have, and why others do not count.

    Of the first, what each is called -> its name in the catalogue; of the others, reason -> their names. Machines that
    `wanted` names itself are in neither; nor are those without cards, or outside its regions.
    """
    rows = catalogue.rows
    rows = rows[(rows["machine"] != "") & (rows["accelerator"] != "")]
    if "regions" in wanted:
        rows = rows[rows["region"].isin(wanted["regions"])]
    found: dict[str, str] = {}
    left_out = {reason: list(names) for reason, names in catalogue.left_out.items()}
    for row in rows.drop_duplicates(["machine", "accelerator", "count"]).to_dict("records"):
        machine = str(row["machine"])
        if machine in (*wanted.get("machines", []), *wanted.get("built_in", {})):
            continue
        own = machine.partition(" + ")[0]
        card, fault = "", f"its name is not like {wanted['cards']}"
        if fnmatchcase(machine, wanted["cards"]):
            memory = float(row["memory"]) if row["memory"] > 1 else None
            card, fault = card_of(str(row["accelerator"]), str(row["told"]), memory, own, wanted.get("forms", {}))
        if card and (row["count"] < 1 or row["count"] % 1):
            fault = "it has a part of a card"
        called = cards.machine_name(card, int(row["count"]), own)
        if card and not fault and not fields.NAME.fullmatch(called):
            fault = "a book cannot have its name"
        if fault:
            left_out.setdefault(fault, []).append(machine)
        else:
            found[called] = machine
    return found, left_out


def counted(left_out: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a line for each reason: how many machines are left out for it, and the first of them."""
    lines = []
    for reason, names in left_out.items():
        each = list(dict.fromkeys(names))
        more = f" and {len(each) - 2} more" if len(each) > 2 else ""
        lines.append(f"left out  {len(each)}: {reason} ({', '.join(each[:2])}{more})")
    return lines
