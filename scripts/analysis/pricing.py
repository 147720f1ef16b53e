"""What the machines of a study cost under each of its price options, by the books that it names."""

from collections.abc import Container, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import pandas as pd

from scripts.costs import book, books, prices
from scripts.costs.terms import read_terms
from scripts.storage.errors import InputError


def price_table(study: Mapping[str, Any], machines: Mapping[str, Any], named: Container[str]) -> pd.DataFrame:
    """Return the prices of those `machines` that are `named`, under every price option of a study, from its books."""
    for option, about in study["prices"].items():
        for name in about.get("instead", {}):
            if name not in machines:
                known = ", ".join(machines)
                raise InputError(f"prices: {option}: instead: {name!r} is unknown: it is one of {known}")
    priced = {name: about for name, about in machines.items() if name in named}
    read = cache(lambda *files: book.read(files))
    return prices.price_table(
        priced,
        study["prices"],
        lambda option: read(*books.files(option.get("book", study["book"]))),
        read_terms(),
    )


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
                offered = rows.loc[rows["provider"] == rent["provider"], "item"]
                for item in rent["items"]:
                    if item not in set(offered):
                        near = get_close_matches(item, offered.unique(), 3)
                        line += f"; {rent['provider']} {item} is in none of its books"
                        line += f" (near: {', '.join(near)})" if near else ""
            lines.append(line)
    return lines
