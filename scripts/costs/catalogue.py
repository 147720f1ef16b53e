"""From SkyPilot's public catalogue of cloud prices to the rows of a price book; what looks wrong is refused.

Columns of the catalogue, in any order: InstanceType, AcceleratorName, AcceleratorCount, Region,
AvailabilityZone, Price, SpotPrice (USD per hour), and, if it is there, GpuInfo; others are not read.
On GCP a machine type is priced without its accelerators, which stand in rows without an InstanceType:
a machine costs both, in one zone.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from scripts.costs.cards import by_name
from scripts.storage.errors import InputError

#: A region that asks less than this share of what the next dearer one does sells something else.
REGION_RATIO = 0.6

#: A region that asks so many times what the middle one does has no price: the catalogue says 700 of TPUs not let there.
_PLACEHOLDER = 10

#: The catalogue rounds spot prices: one this near to the on-demand price (share of it) is that price.
_ROUNDING = 1e-3

#: A machine whose card-hour is so many times below, or above, the middle one of the provider's others has the price of
#: one card, or of a part.
_APART = 5

#: More than a table of a provider holds, and has rows, a machine has cards, and a card has memory (GB).
MOST_BYTES = 128 * 2**20
_MOST_ROWS, _MOST_CARDS, _MOST_GB = 1_000_000, 10_000, 10_000

_NEEDED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Region", "Price", "SpotPrice")


@dataclass(frozen=True)
class Catalogue:
    """The catalogue of one provider.

    Attributes:
        file: its name, for messages.
        rows: machine, accelerator, count, region, zone, price and spot (USD per hour, NaN where it
            offers none) and why either cannot be used: price_fault and spot_fault, else empty; and what
            else is said of the accelerator: memory (GB of one, NaN where it is not said) and told.
        broken: the first line that is no row at all, and how many are; empty if none is.
        left_out: machines that are sold in a way of their own: the reason, and their names.
    """

    file: str
    rows: pd.DataFrame
    broken: str
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read(text: str, file: str, *, zones: bool) -> Catalogue:
    """Return the catalogue that stands in the text of a `vms.csv`; with `zones`, it must have them.

    Raises InputError when it is no such table, is empty or lacks a column. A bad row spoils only itself.
    """
    raw, places = lines(text, file, (*_NEEDED, *(["AvailabilityZone"] if zones else [])))
    about = raw["GpuInfo"] if "GpuInfo" in raw else pd.Series("", raw.index)
    mib = pd.to_numeric(about.str.extract(r"SizeInMiB\W+([0-9]{1,9})(?![0-9])")[0])
    raw["Memory"] = (mib / 1024).astype(str)
    raw["Told"] = about.str.extract(r"Name\W+([^'\"]+)")[0].fillna("")
    return of_lines(raw.assign(AvailabilityZone=raw["AvailabilityZone" if zones else "Region"]), places, file)


def lines(text: str, file: str, needed: Sequence[str]) -> tuple[pd.DataFrame, set[int]]:
    """Return the lines of a table as text, with the `line` of each, and on which lines anything stands.

    Raises InputError when it is no such table, is empty or lacks a column that is needed.
    """
    try:
        reader = csv.reader(io.StringIO(text))
        header = next(reader, [])
        found = [(reader.line_num, line) for line in islice(reader, _MOST_ROWS + 1) if line]
        if len(found) > _MOST_ROWS or next(reader, None) is not None:
            raise InputError(f"{file}: has more than {_MOST_ROWS:,} rows: no catalogue of a provider does")
    except csv.Error as error:
        raise InputError(f"{file}: not a CSV file: {error}") from error
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(f"{file}:1: column {missing[0]} is missing; there is {','.join(header)[:200] or 'nothing'}")
    if twice := [name for name in header if header.count(name) > 1]:
        raise InputError(f"{file}:1: column {twice[0][:40]} is there twice: which one counts is not known")
    whole = [(place, line) for place, line in found if len(line) == len(header)]
    if not whole:
        raise InputError(f"{file}: has no rows")
    raw = pd.DataFrame([line for _, line in whole], columns=header, dtype=str)
    raw["line"] = [place for place, _ in whole]
    return raw, {place for place, _ in found}


def of_lines(raw: pd.DataFrame, places: set[int], file: str) -> Catalogue:
    """Return the catalogue of lines with the columns of a `vms.csv`, and Memory and Told; what stands at another of the
    places is broken."""
    zone = raw["AvailabilityZone"]
    count = pd.to_numeric(raw["AcceleratorCount"].replace("", "0"), errors="coerce")
    usable = count.between(0, _MOST_CARDS) & (raw["Region"] != "") & (zone != "")
    memory = pd.to_numeric(raw["Memory"], errors="coerce")
    bad = sorted(places - set(raw["line"][usable]))
    rows = pd.DataFrame(
        {
            "line": raw["line"],
            "machine": raw["InstanceType"],
            "accelerator": raw["AcceleratorName"],
            "count": count,
            "region": raw["Region"],
            "zone": zone,
            "memory": memory.where(memory.between(0, _MOST_GB, inclusive="right")),
            "told": raw["Told"],
        }
    )
    for name, column in (("price", "Price"), ("spot", "SpotPrice")):
        value = pd.to_numeric(raw[column], errors="coerce")
        right = np.isfinite(value) & (value > 0)
        fault = f"{file}:" + raw["line"].astype(str) + f": {column} '" + raw[column] + "' is not a number above 0"
        rows[name] = value.where(right)
        rows[f"{name}_fault"] = fault.where(~right & (raw[column] != ""), "")
    rows = _once(rows[usable].copy(), file)
    broken = f"{file}:{bad[0]}: is not a row of this table; {len(bad)} such" if bad else ""
    return Catalogue(file, rows, broken)


def _once(rows: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return each machine or accelerator once per zone; where two rows differ, neither price is right."""
    key = ["machine", "accelerator", "count", "region", "zone"]
    same = rows.groupby(key)
    first, last = same["line"].transform("min"), same["line"].transform("max")
    fault = f"{file}:" + last.astype(str) + ": is not what line " + first.astype(str) + " says of the same zone"
    for name in ("price", "spot"):
        differ = same[name].transform("nunique") > 1
        # one row may have the price, and another one the spot price
        rows[name] = same[name].transform("first").where(~differ)
        rows[f"{name}_fault"] = same[f"{name}_fault"].transform("max").where(~differ, fault)
    return rows[rows["line"] == first]


def judge(prices: pd.Series) -> pd.DataFrame:
    """Return of which regions the on-demand price of one machine or accelerator is right.

    `prices` (USD per hour, by region) are sorted, and parted where a price is less than REGION_RATIO of
    the next dearer one. The dearest group of two regions or more has the list price: where the
    catalogue is wrong, it took a cheaper article of the same name, often in most regions; or it says
    `_PLACEHOLDER` times too much. A single region cannot be judged; where no two agree, none is right.

    Returns by region: `fault` (why it is refused, else empty), `confirmed` (another region agrees), and
    `limit` (USD per hour, what a spot price cannot exceed: the price if it is right).
    """
    ordered = prices.sort_values()
    group = (ordered.shift() < REGION_RATIO * ordered).cumsum()
    sizes = group.map(group.value_counts())
    right = group == group[(sizes > 1) & (ordered <= _PLACEHOLDER * ordered.median())].max()
    limit, odd = ordered, ordered[~right]
    below, above = f"less than {REGION_RATIO:g} of", f"more than 1/{REGION_RATIO:g} of"
    if right.any():
        low, high, agree = ordered[right].min(), ordered[right].max(), f"{right.sum()} regions ask"
        limit = ordered.clip(low, high)
        too_low, too_high = f"{below} the {number(low)} or more", f"{above} the {number(high)} or less"
        fault = {
            region: f"{number(price)} is {too_low if price < low else too_high} that {agree}"
            for region, price in odd.items()
        }
    else:
        words = f"{below}, or {above}, what any other region asks"
        fault = {region: f"{number(price)} is {words}" for region, price in odd.items() if len(ordered) > 1}
    judged = pd.DataFrame({"confirmed": right, "limit": limit}, index=prices.index)
    judged["fault"] = pd.Series([fault.get(region, "") for region in prices.index], index=prices.index, dtype="str")
    return judged


def number(value: float) -> str:
    """Return a rate as it stands in a book: at most seven decimals, no more than it needs."""
    return f"{value:.7f}".rstrip("0").rstrip(".")


def parts(wanted: dict[str, Any]) -> dict[str, list[tuple[str, str, int]]]:
    """Return the items of one provider of `catalogue.yaml`: name -> its parts (machine, accelerator, count)."""
    return {
        **{name: [(name, "", 0)] for name in wanted.get("machines", [])},
        **{name: [("", accelerator, 1)] for name, accelerator in wanted.get("accelerators", {}).items()},
        **{
            name: [(name, "", 0), *(("", accelerator, count) for accelerator, count in added.items())]
            for name, added in wanted.get("built_in", {}).items()
        },
        **{called: [(name, "", 0)] for called, name in wanted.get("named", {}).items()},
    }


def places(wanted: dict[str, Any]) -> list[tuple[str, str]]:
    """Return every (item, region) that one provider of `catalogue.yaml` names; the region is empty if it names none."""
    regions = wanted.get("regions", [""])
    listed = [item for item in parts(wanted) if item not in wanted.get("named", {})]
    named = [(item, region) for item in listed for region in regions]
    return named + [(item, region) for region, items in wanted.get("elsewhere", {}).items() for item in items]


def is_wanted(wanted: dict[str, Any], item: str, region: str) -> bool:
    """Return whether one provider's part of `catalogue.yaml` asks for an item in a region."""
    if "cards" in wanted and by_name(item):
        return True
    return item in wanted.get("everywhere", []) or (item, region) in places(wanted)


def _part(catalogue: Catalogue, machine: str, accelerator: str, count: int) -> pd.DataFrame:
    """Return one machine type, or so many accelerators, by zone: prices, faults, and how its regions were judged."""
    rows = catalogue.rows
    # a machine's row may name its accelerators (AWS): then they are in its price
    right = rows["machine"] == machine if machine else (rows["accelerator"] == accelerator) & (rows["count"] == count)
    part = rows[right & ((rows["machine"] == "") != bool(machine))].set_index("zone")
    judged = judge(part.dropna(subset="price").groupby("region")["price"].median())
    part = part.join(judged, on="region")
    named = "" if machine else f"{accelerator}: " if count == 1 else f"{count} x {accelerator}: "
    part["price_fault"] = [
        own or (named + odd if odd else "")
        for own, odd in zip(part["price_fault"], part["fault"].fillna(""), strict=True)
    ]
    return part[["region", "price", "spot", "price_fault", "spot_fault", "confirmed", "limit"]]


def _zones(catalogue: Catalogue, item: list[tuple[str, str, int]]) -> pd.DataFrame:
    """Return an item by zone; the price of a machine with accelerators is the sum where the zone has both."""
    whole, *others = [_part(catalogue, *part) for part in item]
    for other in others:
        whole = whole.join(other.add_suffix("_other"), how="inner")
        for name in ("price", "spot", "limit"):
            whole[name] += whole[f"{name}_other"]
        for name in ("price_fault", "spot_fault"):
            whole[name] = whole[name].where(whole[name] != "", whole[f"{name}_other"])
        whole["confirmed"] &= whole["confirmed_other"]
    return whole


def _priced(purchase: str, rates: pd.Series, fault: str) -> dict[str, Any]:
    """Return the offer of one item in one region: the median over the zones, and the range if they differ."""
    low, high = rates.min(), rates.max()
    differ = number(low) != number(high)
    return {
        "purchase": purchase,
        "rate": number(rates.median()) if len(rates) else "",
        "rate_low": number(low) if differ else "",
        "rate_high": number(high) if differ else "",
        "fault": fault,
    }


def _in_region(zones: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the on-demand and the spot offer of one item, from its zones in one region."""
    on_demand = zones["price"].dropna()
    price_fault, spot_fault = (next(filter(None, zones[f"{name}_fault"]), "") for name in ("price", "spot"))
    # a spot price that equals the on-demand price is no offer
    same = (zones["spot"] - zones["price"]).abs() <= _ROUNDING * zones["price"]
    offered = zones[zones["spot"].notna() & ~same]
    above = offered[offered["spot"] > offered["limit"]]
    if len(above) and not spot_fault:
        worst = above.sort_values("spot").iloc[-1]
        spot_fault = f"is above the on-demand price: {number(worst['spot'])} > {number(worst['limit'])} in {worst.name}"
        if not worst["confirmed"] and not price_fault:
            price_fault = f"is below the spot price: {number(worst['price'])} < {number(worst['spot'])} in {worst.name}"
    if len(on_demand) or price_fault:
        yield _priced("on-demand", on_demand, price_fault)
    if len(offered) or spot_fault:
        yield _priced("spot", offered["spot"], spot_fault)


def offers(catalogue: Catalogue, wanted: dict[str, Any]) -> pd.DataFrame:
    """Return what the catalogue offers of one provider's part of `catalogue.yaml`.

    Columns: item, region, purchase, rate, rate_low, rate_high (as they stand in a book), and fault: why
    the rate is refused, else empty. Without an offer there is no row.
    """
    found = []
    zones = {item: _zones(catalogue, made_of) for item, made_of in parts(wanted).items()}
    further = [(item, region) for item in wanted.get("everywhere", []) for region in sorted(set(zones[item]["region"]))]
    for item in wanted.get("named", {}):
        there = set(zones[item]["region"])
        further += [(item, region) for region in wanted.get("regions", [""]) if not region or region in there]
    for item, region in dict.fromkeys([*places(wanted), *further]):
        here = zones[item]
        for offer in _in_region(here[here["region"] == region] if region else here):
            found.append({"item": item, "region": region, **offer})
    _beside_others(found)
    return pd.DataFrame(found, columns=["item", "region", "purchase", "rate", "rate_low", "rate_high", "fault"])


def _beside_others(offered: Sequence[dict[str, Any]]) -> None:
    """Refuse a machine called by its cards whose card-hour is far from that of two others or more with the card."""
    hours: dict[tuple[str, str], list[tuple[float, dict[str, Any]]]] = {}
    for offer in offered:
        if (of := by_name(offer["item"])) and offer["rate"] and not offer["fault"]:
            hours.setdefault((of[0], offer["purchase"]), []).append((float(offer["rate"]) / of[1], offer))
    for each in hours.values():
        for hour, offer in each:
            others = [one for one, other in each if other["item"] != offer["item"]]
            middle = float(np.median(others)) if len(others) > 1 else hour
            if not middle / _APART <= hour <= middle * _APART:
                offer["fault"] = (
                    f"{number(hour)} a card-hour is more than {_APART} times from the {number(middle)} "
                    f"that {len(others)} other machines ask in the middle"
                )
