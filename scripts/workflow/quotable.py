"""Which machines of a study the front door quotes: the page of a published study leads there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.costs import cards
from scripts.storage import schemas

#: The study by whose tables classic nets are quoted.
NETS = "lambda-gpus"

_CARDS = Path(__file__).resolve().parents[2] / "config" / "cards.yaml"


def machines(study: Mapping[str, Any], nets: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by machine of a study what it is called where the front door quotes it; empty where it is not known there.

    Keys: net and label (where classic nets are quoted by hours: its name and what people read), nets (those of them
    that the study trains), card (where language models are quoted by hours or by the rate of
    a card). `nets` is the study of these nets.
    """
    about = schemas.read_yaml(_CARDS, "cards")
    known, names = _of_nets(nets), {card: card for card in about["cards"]} | about["names"]
    # Language models are asked for in BF16 at first, of which a V100 has none.
    names = {name: card for name, card in names.items() if "bf16" in about["cards"][card]["peak_tflops"]}
    trained = study.get("workloads") or study.get("import", {}).get("workloads", [])
    alike = [net for net in trained if net in nets["import"]["workloads"]]
    found = {}
    for name in dict.fromkeys([*study["machines"], *study.get("hardware", [])]):
        has = list(cards.of_machine(name, study))
        is_same = name in nets["machines"] and nets["machines"][name] == study["machines"].get(name)
        net = name if is_same else next((known[one] for one in has if one in known), "")
        found[name] = {
            "net": net,
            "label": nets["machines"][net]["label"] if net else "",
            "nets": alike,
            "card": next(
                (names[card] for card in (*(card for card, _ in has), _called(study, name)) if card in names), ""
            ),
        }
    return found


def _called(study: Mapping[str, Any], name: str) -> str:
    """Return of which card a machine is called that has no price, as it is not said how many it has."""
    return str(study["machines"].get(name, {}).get("label", "")).partition(",")[0]


def _of_nets(nets: Mapping[str, Any]) -> dict[tuple[str, int], str]:
    """Return the machines of nets by card, as config/machines.csv calls it, and count, also those that nobody rents."""
    called: dict[str, list[str]] = {}
    for name, machine in nets["machines"].items():
        called.setdefault(machine["gpus"]["model"], []).extend(card for card, _ in cards.of_machine(name, nets))
    found: dict[tuple[str, int], str] = {}
    for name, machine in nets["machines"].items():
        for card in called[machine["gpus"]["model"]]:
            found.setdefault((card, machine["gpus"]["count"]), name)
    return found
