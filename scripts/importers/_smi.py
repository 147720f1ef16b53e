"""Cards as the text of `nvidia-smi` names them, that many programs print into their logs; pure."""

import re

#: `|   0  NVIDIA H100 80GB HBM3          On  | 00000000:18:00.0 Off |                    0 |`
_CARD = re.compile(r"^\|\s+(\d+)\s+(\S(?:.*?\S)?)\s+(?:On|Off|N/A)\s+\|\s+[0-9A-Fa-f]{8}:", re.MULTILINE)


def cards(text: str) -> list[str]:
    """Return the names of the cards in the first table of a text; none where there is no table.

    Long names are cut by nvidia-smi itself: `NVIDIA A100-SXM4-80GB` stays whole, others end in `...`.
    """
    found: dict[int, str] = {}
    for number, name in _CARD.findall(text):
        if int(number) in found:
            break  # the table of another moment
        found[int(number)] = name
    return list(found.values())


def words(names: list[str]) -> str | None:
    """Return cards as a table of facts names them: `8 x NVIDIA H100 80GB HBM3`; None for none."""
    kinds = list(dict.fromkeys(names))
    return " + ".join(f"{names.count(kind)} x {kind}" for kind in kinds) or None
