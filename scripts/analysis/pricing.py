"""What the machines of a study cost under each of its price options, by the books that it names."""

from collections.abc import Container, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import pandas as pd

from scripts.costs import book, books, hourly, prices


def price_table(study: Mapping[str, Any], machines: Mapping[str, Any], named: Container[str]) -> pd.DataFrame:
    """Return the prices of those `machines` that are `named`, under every price option of a study, from its books."""
    return prices.table(hourly.of_study(study, machines, named))


def not_offered(
    study: Mapping[str, Any], machines: Mapping[str, Any], named: Iterable[str], table: pd.DataFrame
) -> list[str]:
    """Return a line for each machine without a price under an option: which item its books lack, what is near it."""
    priced = set(zip(table["hardware"], table["price_option"], strict=True))
    lines = []
    for option, about in study["prices"].items():
        for hardware in named:
            rent = about.get("instead", {}).get(hardware, machines[hardware].get("rent"))
            if (hardware, option) in priced:
                continue
            line = f"no price: {hardware} is not offered under {option}"
            if rent and about.get("purchase") != "owned":
                names = about.get("book", study["book"])
                rows = book.read(books.files(names))
                offered = dict.fromkeys(row["item"] for row in rows if row["provider"] == rent["provider"])
                for item in rent["items"]:
                    if item not in offered:
                        near = get_close_matches(item, offered, 3)
                        line += f"; {rent['provider']} {item} is in none of its books"
                        line += f" (near: {', '.join(near)})" if near else ""
            lines.append(line)
    return lines
