"""What a study's language models would cost on cards that were not measured: estimates, apart from all that was."""

from collections.abc import Mapping
from typing import Any

from scripts.analysis.names import provider_name
from scripts.estimate.rates import digits_within
from scripts.pages.inputs import Inputs
from scripts.storage.numbers import between, rounded


def context(inputs: Inputs) -> dict[str, Any]:
    """Return what its section shows.

    Keys: elsewhere, a dict for each workload: workload, sentence (empty without an offer), tokens, assumed, rows (of
    cards, in the order in which one is picked, without an offer last: card, is_measured, cards, hours, usd, offer),
    refused and reasons (why there is no answer).
    """
    return {"elsewhere": [_shown(one) for one in inputs.elsewhere]}


def _shown(one: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "workload": one["workload"],
        "reasons": one["reasons"],
        "sentence": "",
        "rows": [],
        "refused": [],
        "assumed": [],
    }
    if one["answer"] is None:
        return found
    answer = one["answer"]
    return found | {
        "sentence": answer["choice"]["sentence"] if answer["choice"] else answer["otherwise"] or "",
        "tokens": answer["asked"]["tokens"],
        "assumed": [*answer["beside"], *answer["assumed"]],
        "refused": answer["refused"],
        "rows": [_row(row) for row in answer["answers"]],
    }


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    bill = row["on_demand"]
    offer = bill and bill["cheapest"]
    digits = digits_within(row["hours"]["low"], row["hours"]["high"])
    return {
        "card": row["card"],
        "is_measured": row["basis"] == "measured",
        "basis": row["basis"],
        "cards": row["cards"],
        "hours": rounded(row["hours"]["middle"], digits),
        "hours_range": between(row["hours"]["low"], row["hours"]["high"], digits),
        "usd": rounded(bill["usd"]["cheapest"], digits) if bill else "—",
        "usd_range": between(bill["usd"]["low"], bill["usd"]["high"], digits) if bill else "",
        "offer": f"{provider_name(offer['provider'])}, {offer['as_of']}" if bill else "no cloud offers it",
    }
