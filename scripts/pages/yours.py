"""What to rent for a training of one's own that takes some hours on a machine of the page: the front door answers."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from scripts.pages.inputs import Inputs

#: More machines are counted: they are in the list of the front door.
_MOST = 6


def context(inputs: Inputs) -> dict[str, Any]:
    """Return `yours`, None for a page without a front door beside it.

    Keys: nets (links to a training by its hours on such a machine: label, address), more (how many others are
    known there), models (links to a language model by its rate on a card) and unknown (labels of machines that neither
    knows).
    """
    if inputs.quoted is None:
        return {"yours": None}
    asked = inputs.study.get("question", {})
    named = (asked.get("hardware"), asked.get("than"), inputs.base.get("hardware"))
    first = [str(name) for name in named if name in inputs.quoted]
    known = {name: inputs.quoted[name] for name in dict.fromkeys([*first, *inputs.quoted])}
    nets = dict.fromkeys((about["net"], about["label"]) for about in known.values() if about["net"])
    models = dict.fromkeys((about["card"], about["card"]) for about in known.values() if about["card"])
    unknown = [inputs.labels[name] for name, about in known.items() if not (about["net"] or about["card"])]
    return {
        "yours": {
            "nets": _links("classic", "machine", list(nets)[:_MOST]),
            "more": max(0, len(nets) - _MOST),
            "models": _links("quote", "on", models),
            "unknown": unknown,
        }
    }


def _links(form: str, field: str, named: Iterable[tuple[str, str]]) -> list[Mapping[str, str]]:
    """Return links into a form of the front door, whose field has each of these values."""
    return [
        {"label": label, "address": f"quote.html#{form}&{urlencode({field: value}, quote_via=quote)}"}
        for value, label in named
    ]
