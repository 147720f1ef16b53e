"""A price book made anew of a catalogue: what is new, gone, changed, or refused. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.costs.book import COLUMNS
from scripts.costs.catalogue import Catalogue, is_wanted, offers, places
from scripts.storage.errors import InputError

#: A price that moved by more than this share since the last book, up or down, is not believed.
LARGEST_MOVE = 0.5


#: Two catalogues that are no further apart (share of the first) say the same.
SAME = 0.01


@dataclass(frozen=True)
class Change:
    """What became of one price: new, gone, changed, refused, missing, dropped or confirmed; and its words.

    `kept_out` are item, region, purchase and rate of one that is refused and was in no book before.
    """

    kind: str
    text: str
    kept_out: tuple[str, ...] = ()


def renew(
    old: pd.DataFrame, catalogue: Catalogue, provider: str, wanted: dict[str, Any], as_of: str, source: str
) -> tuple[pd.DataFrame, list[Change]]:
    """Return the new rows of one provider, and what changed.

    Args:
        old: its rows in the last good book, all columns as text; where a price is refused, its row stays.
        wanted: its part of `catalogue.yaml`.
        as_of, source: of the catalogue.

    Raises InputError when the catalogue as a whole is not to be believed: it is older than the book, or
    more than half of the book's prices are not in it.
    """
    newest = max(old["as_of"], default="")
    if as_of < newest:
        raise InputError(f"{catalogue.file}: is of {as_of}, older than the book's {newest}")
    key = ["item", "region", "purchase"]
    last: dict[tuple[str, ...], dict[Any, Any]]
    last = {tuple(row[name] for name in key): row for row in old.to_dict("records")}
    offered = {tuple(row[name] for name in key): row for row in offers(catalogue, wanted).to_dict("records")}
    gone = [name for name in last if is_wanted(wanted, *name[:2]) and name not in offered]
    if 2 * len(gone) > len(last):
        raise InputError(f"{catalogue.file}: {len(gone)} of the book's {len(last)} prices are not in it")
    rows: list[dict[Any, Any]] = []
    changes = []
    for name in sorted(last.keys() | offered.keys()):
        before, now, words = last.get(name), offered.get(name), " ".join(filter(None, name))
        if now is None:
            assert before is not None
            if not is_wanted(wanted, *name[:2]):
                changes.append(Change("dropped", f"{words}: is not wanted any more"))
            elif catalogue.broken:
                rows.append(before)
                changes.append(Change("refused", f"{words}: not found, but {catalogue.broken}; {_kept(before)}"))
            else:
                changes.append(Change("gone", f"{words}: is not offered any more; it was {before['rate']}"))
            continue
        fault = now["fault"] or (_move(before["rate"], now["rate"]) if before else "")
        if fault:
            rows += [before] if before else []
            rate = f" {now['rate']}" if now["rate"] else ""
            kept_out = () if before else (*name, now["rate"])
            changes.append(Change("refused", f"{words}{rate}: {fault}; {_kept(before)}", kept_out))
            continue
        rows.append(
            {
                "provider": provider,
                **{column: now[column] for column in (*key, "rate", "rate_low", "rate_high")},
                "currency": "USD",
                "per": "hour",
                "as_of": as_of,
                "source": _source(before, now["rate"], as_of, source),
                "inferred": "",
            }
        )
        if before is None:
            changes.append(Change("new", f"{words}: {now['rate']}"))
        elif float(before["rate"]) != float(now["rate"]):
            percent = 100 * (float(now["rate"]) / float(before["rate"]) - 1)
            changes.append(Change("changed", f"{words}: {before['rate']} -> {now['rate']} ({percent:+.1f} %)"))
        else:
            changes.append(Change("confirmed", words))
    found = {name[:2] for name in last.keys() | offered.keys()}
    changes += [
        Change("missing", f"{' '.join(filter(None, place))}: is not in the catalogue")
        for place in places(wanted)
        if place not in found
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)), changes


def folded(changes: Iterable[Change]) -> list[Change]:
    """Return changes for a person: an item that is kept out in several regions is one, which says where else.

    A catalogue has the same ones wrong month after month.
    """
    found: list[Change] = []
    first: dict[tuple[str, str], int] = {}
    for change in changes:
        item, region, purchase, rate = change.kept_out or ("", "", "", "")
        place = first.setdefault((item, purchase), len(found)) if item else len(found)
        if place == len(found):
            found.append(change)
        else:
            found[place] = replace(found[place], text=f"{found[place].text}, as in {region} {rate}")
    return found


def differing(rows: pd.DataFrame, catalogue: Catalogue, wanted: dict[str, Any], name: str) -> list[str]:
    """Return which prices of a provider another catalogue has otherwise, a line each.

    On demand alone, beyond `SAME`: a spot price is another one every hour.
    """
    key = ["item", "region", "purchase"]
    other = offers(catalogue, wanted)
    both = rows.merge(other[other["rate"] != ""], on=key, suffixes=("", "_other"))
    both = both[both["purchase"] == "on-demand"]
    found = []
    for row in both.sort_values(key).to_dict("records"):
        ours, theirs = float(row["rate"]), float(row["rate_other"])
        if abs(theirs - ours) > SAME * ours:
            words = " ".join(filter(None, (row["item"], row["region"])))
            found.append(
                f"differs  {words} on-demand: {row['rate']} of {row['as_of']}, {row['rate_other']} in {name}"
                f" ({100 * (theirs / ours - 1):+.1f} %)"
            )
    return found


def _source(before: dict[Any, Any] | None, rate: str, as_of: str, source: str) -> str:
    """Return the source of a price: what was noted of it stays where the same catalogue says the same."""
    same = before and before["rate"] == rate and before["as_of"] == as_of and before["source"].startswith(source)
    return before["source"] if before and same else source


def _move(before: str, now: str) -> str:
    """Return that a rate moved too far to be believed, in words; empty if it did not."""
    old, new = float(before), float(now)
    if abs(new - old) <= LARGEST_MOVE * old:
        return ""
    return f"was {before}: moved by more than {LARGEST_MOVE:.0%}; if that is right, delete its row and refresh again"


def _kept(before: dict[Any, Any] | None) -> str:
    return f"kept {before['rate']} of {before['as_of']}" if before else "kept out"
