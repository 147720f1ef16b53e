"""What the machines of a study cost under each of its price options, by the books that it names."""

from collections.abc import Container, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import pandas as pd

from scripts.costs import book, books, hourly, prices
from scripts.storage import tables


def price_table(study: Mapping[str, Any], machines: Mapping[str, Any], named: Container[str]) -> pd.DataFrame:
    """Return the prices of those `machines` that are `named`, under every price option of a study, from its books."""
    return prices.table(hourly.of_study(study, machines, named))


def elsewhere(table: pd.DataFrame, option: str, hardware: Iterable[str]) -> list[dict[str, Any]]:
    """Return the machines without a price under an option of a `price_table`, and what others have, the least first.

    Keys: hardware, offers (rows: price_option, provider, usd_per_hour, price_as_of; none where nobody has one).
    """
    priced = set(table.loc[table["price_option"] == option, "hardware"])
    columns = ["price_option", "provider", "usd_per_hour", "price_as_of"]
    offered = table.sort_values("usd_per_hour")
    return [
        {"hardware": name, "offers": tables.records(offered.loc[offered["hardware"] == name, columns])}
        for name in dict.fromkeys(hardware)
        if name not in priced and len(table)
    ]


def not_offered(
    study: Mapping[str, Any], machines: Mapping[str, Any], named: Iterable[str], table: pd.DataFrame
) -> list[str]:
    """Return a line for each machine without a price under options: which item its books lack, what is near it.

    A machine that no option prices, and that has cards, is told what says what those cost.
    """
    priced = set(zip(table["hardware"], table["price_option"], strict=True))
    why: dict[tuple[str, str], list[str]] = {}
    for hardware in named:
        for option, about in study["prices"].items():
            rent = about.get("instead", {}).get(hardware, machines[hardware].get("rent"))
            if (hardware, option) in priced:
                continue
            lacks = ""
            if rent and about.get("purchase") != "owned":
                names = about.get("book", study["book"])
                rows = book.read(books.files(names))
                offered = dict.fromkeys(row["item"] for row in rows if row["provider"] == rent["provider"])
                for item in rent["items"]:
                    if item not in offered:
                        near = get_close_matches(item, offered, 3)
                        lacks += f"; {rent['provider']} {item} is in none of its books"
                        lacks += f" (near: {', '.join(near)})" if near else ""
            why.setdefault((hardware, lacks), []).append(option)
    lines = []
    for (hardware, lacks), options in why.items():
        card = machines[hardware].get("machine", machines[hardware]).get("gpus", {}).get("model")
        ask = (
            f"; what its card costs: epd prices card {card!r}" if card and len(options) == len(study["prices"]) else ""
        )
        lines.append(f"no price: {hardware} is not offered under {', '.join(options)}{lacks}{ask}")
    return lines
