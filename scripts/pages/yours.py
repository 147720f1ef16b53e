"""What to rent for a training of one's own that takes some hours on a machine of the page: the front door answers."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from scripts.analysis import figures
from scripts.analysis.names import workload_name
from scripts.costs.billing import SECONDS_PER_HOUR
from scripts.estimate import points
from scripts.pages.days import when
from scripts.pages.inputs import Inputs
from scripts.studies import definition

#: How the form of quotes calls what is trained.
_TASKS = {"pre-training": "pretrain", "fine-tuning": "sft", "LoRA": "lora"}

#: A training of a language model by its name: model, task and tokens of a sequence.
_TRAINING = re.compile(rf"(.+) ({'|'.join(_TASKS)}) at (\d+)")

#: More machines are counted: they are in the list of the front door.
_MOST = 6


def context(inputs: Inputs) -> dict[str, Any]:
    """Return `yours`, None for a page without a front door beside it.

    Keys: at (at which prices the page's own form answers, where those are not the page's own), form (where it is, at
    these prices), models (links to a language model by its rate on a card, or its tokens and hours: label, address),
    of_a_day (whether some of them have the tokens that a printed row does in a day), nets (links to another net by its
    hours on such a machine; none on a page of language models alone), more (how many others it knows), like (whether
    the front door knows nets of the page, too), here (links to the page's own form, by the hours on a machine that the
    front door does not know) and unknown (labels of such machines where the page has no form).
    """
    if inputs.quoted is None:
        return {"yours": None}
    asked = inputs.study.get("question", {})
    named = (asked.get("hardware"), asked.get("than"), inputs.base.get("hardware"))
    first = [str(name) for name in named if name in inputs.quoted]
    known = {name: inputs.quoted[name] for name in dict.fromkeys([*first, *inputs.quoted])}
    like = next((net for about in known.values() for net in about["nets"]), "")
    nets = dict.fromkeys((about["net"], about["label"]) for about in known.values() if about["net"])
    if _is_of_language_models(inputs):
        nets = {}
    cards = [about["card"] for about in known.values() if about["card"]]
    models: dict[str, dict[str, str]] = {card: {"on": card} for card in cards}
    for row in figures.asked(inputs.study, inputs.derived):
        card = known.get(row["hardware"], {}).get("card")
        if card and (training := training_of(row)):
            models[card] = training | {"tokens": _of_a_day(row), "cards": str(row["devices"]), "on": card}
    unknown = [name for name, about in known.items() if not (about["net"] or about["card"])]
    trained = set(inputs.counted(inputs.runs)["hardware"])
    here = [(name, inputs.labels[name]) for name in unknown if name in trained]
    option = _of_late(inputs)
    asks = {"takes": "10"} | ({"option": option} if option != inputs.price else {})
    return {
        "yours": {
            "at": inputs.option_labels[option] if option != inputs.price else "",
            "form": _link("form", "ask", {"option": option}, page="")["address"]
            if option != inputs.price
            else "#first",
            "nets": [_link(label, "classic", {"net": like, "machine": net}) for net, label in list(nets)[:_MOST]],
            "more": max(0, len(nets) - _MOST),
            "like": like,
            "models": [_link(card, "quote", fields) for card, fields in models.items()],
            "of_a_day": any("tokens" in fields for fields in models.values()),
            "here": [_link(label, "ask", asks | {"on": name}, page="") for name, label in here[:_MOST]]
            if not (nets or models)
            else [],
            "unknown": [inputs.labels[name] for name in unknown],
        }
    }


def _of_a_day(row: Mapping[str, Any]) -> str:
    """Return how many billion tokens a printed row does in a day: hours for any other number would be another speed."""
    tokens = row["rate"] * row["devices"] * 24 * SECONDS_PER_HOUR
    return f"{float(f'{tokens / 1e9:.3g}'):g}"


def training_of(cell: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields by which the front door is asked for what a cell trained; none where it cannot be asked."""
    training = _TRAINING.fullmatch(workload_name(cell["workload"]))
    if not training or not isinstance(cell["precision"], str):
        return {}
    model, task, length = training.groups()
    return {
        "kind": model,
        "task": _TASKS[task],
        "length": length,
        "precision": cell["precision"].replace("bfloat16", "bf16"),
        "software": points.software_class(cell["framework"].replace("-", " ")),
    }


def doors(inputs: Inputs) -> dict[str, str]:
    """Return by machine where the front door quotes a training by its hours there, which the page's form adds."""
    found = {}
    for name, about in (inputs.quoted or {}).items():
        if about["net"] and not _is_of_language_models(inputs):
            link = _link(about["label"], "classic", {"machine": about["net"]})
        elif about["card"]:
            count = {"cards": str(inputs.cards[name][1])} if name in inputs.cards else {}
            link = _link(about["card"], "quote", count | {"on": about["card"]})
        else:
            continue
        found[name] = link["address"]
    return found


def _of_late(inputs: Inputs) -> str:
    """Return the option that can be rented at: the page's own, or that whose newest price is a year newer or more."""
    days = inputs.prices[inputs.prices["purchase"] != "owned"].groupby("price_option")["price_as_of"].max()
    if inputs.price not in days or when(days[inputs.price], inputs.newest) == "now":
        return inputs.price
    return str(days.idxmax())


def _is_of_language_models(inputs: Inputs) -> bool:
    """Return whether all that was trained is counted in tokens."""
    return {definition.unit(inputs.study, str(name)) for name in inputs.runs["workload"]} == {"tokens"}


def _link(label: str, form: str, fields: Mapping[str, str], page: str = "quote.html") -> dict[str, str]:
    """Return a link into a form of a page, the front door, whose fields have these values."""
    return {"label": label, "address": f"{page}#{form}&{urlencode(fields, quote_via=quote)}"}
