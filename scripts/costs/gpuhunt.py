"""gpuhunt's public catalogue of cloud prices, as a catalogue like SkyPilot's. Pure.

It lies as `<provider>/<version>/catalog.zip` with one `<provider>.csv`. Read of that are, in any order, instance_name,
location, price (USD an hour of the whole machine, its accelerators included), gpu_count, gpu_name, spot and, if they
are there, gpu_memory (GB of one) and flags. Layouts before the third lack the folder of a provider: one file holds the
tables of all.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd

from scripts.costs import catalogue
from scripts.storage.errors import InputError

#: Where each provider's newest `version` is said, and where the versions lie.
URL = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"

_NEEDED = ("instance_name", "location", "price", "gpu_count", "gpu_name", "spot")

_OLD_LAYOUT = re.compile(r"(^|/)v[12]/?$")

#: Google's locations are zones: us-east4-a. No other provider's end so.
_ZONE = re.compile(r"-[a-z]$")


def day(version: str) -> str:
    """Return the day on which a version of the catalogue was made: 2026-08-18 of `20260818-42`. Raises InputError."""
    found = re.fullmatch(r"(\d{4})(\d{2})(\d{2})(-\d{1,9})?", version, re.ASCII)
    try:
        if found is None:
            raise ValueError
        made = date.fromisoformat("-".join(found.groups()[:3]))
    except ValueError:
        raise InputError(f"gpuhunt: {version[:40]!r} is no version of its catalogue (YYYYMMDD-RUN)") from None
    if made > date.today():
        raise InputError(f"gpuhunt: version {version}: is of a day in the future")
    return made.isoformat()


def newest(versions: Iterable[str]) -> str:
    """Return the newest of some versions: of one day that of the last run."""
    return max(versions, key=lambda version: (day(version), int(version.partition("-")[2] or 0)))


def name(provider: str, version: str, root: str) -> str:
    """Return where the catalogue of a version lies below the root of its layout."""
    return f"{version}/catalog.zip" if _OLD_LAYOUT.search(root) else f"{provider}/{version}/catalog.zip"


def unpacked(content: bytes, file: str, provider: str) -> str:
    """Return the table of a provider that is in its `catalog.zip`. Raises InputError."""
    table = f"{provider}.csv"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            there = [member for member in archive.infolist() if member.filename == table]
            if len(there) != 1:
                raise InputError(f"{file}: has {'no' if not there else f'{len(there)} times'} {table}")
            (member,) = there
            if member.file_size > catalogue.MOST_BYTES:
                raise InputError(
                    f"{file}: {table} holds {member.file_size:,} bytes, more than any table does "
                    f"({catalogue.MOST_BYTES:,})"
                )
            # Others may ask for all memory before they are found to be broken.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{file}: {table}: is compressed in another way than a catalogue is (deflate)")
            return archive.read(member).decode("utf-8-sig")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: cannot be unpacked: {error}") from error


def read(text: str, file: str) -> catalogue.Catalogue:
    """Return the catalogue that stands in the text of a `<provider>.csv`.

    An instance that is had with several kinds or numbers of cards is called by them, too: `n1-standard-8 + 1 x T4`.
    A row with flags is sold in a way of its own (a reservation, a cluster), and is left out. Raises InputError when it
    is no such table, is empty or lacks a column. A bad row spoils only itself.
    """
    raw, places = catalogue.lines(text, file, _NEEDED)
    flags = raw["flags"] if "flags" in raw else pd.Series("", raw.index)
    memory = raw["gpu_memory"] if "gpu_memory" in raw else pd.Series("", raw.index)
    left_out: dict[str, list[str]] = {}
    for flag, name in zip(flags, raw["instance_name"].where(raw["gpu_name"] != "", ""), strict=True):
        if flag and name:
            left_out.setdefault(f"it is sold as {flag}", []).append(name)
    places -= set(raw["line"][flags != ""])
    raw = raw[flags == ""]
    if raw.empty:
        raise InputError(f"{file}: has no rows without flags")
    is_spot = raw["spot"].str.lower()
    cards = raw["gpu_name"].where(raw["gpu_name"] == "", " + " + raw["gpu_count"] + " x " + raw["gpu_name"])
    several = cards.groupby(raw["instance_name"]).transform("nunique") > 1
    # what is neither on demand nor spot has no place
    location = raw["location"].where(is_spot.isin(["true", "false"]), "")
    table = pd.DataFrame(
        {
            "line": raw["line"],
            "InstanceType": raw["instance_name"] + cards.where(several, ""),
            "AcceleratorName": raw["gpu_name"],
            "AcceleratorCount": raw["gpu_count"],
            "Region": location.str.replace(_ZONE, "", regex=True),
            "AvailabilityZone": location,
            "Price": raw["price"].where(is_spot != "true", ""),
            "SpotPrice": raw["price"].where(is_spot == "true", ""),
            "Memory": memory,
            "Told": "",
        }
    )
    return replace(catalogue.of_lines(table, places, file), left_out=left_out)


def whole(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provider's part of `catalogue.yaml` as this catalogue has it: whole machines, no card by itself."""
    cards, further = wanted.get("accelerators", {}), ("elsewhere", "everywhere")
    return {key: value for key, value in wanted.items() if key not in ("accelerators", "built_in", *further)} | {
        "machines": [*wanted.get("machines", []), *wanted.get("built_in", {})],
        "elsewhere": {
            region: [item for item in items if item not in cards]
            for region, items in wanted.get("elsewhere", {}).items()
        },
        "everywhere": [item for item in wanted.get("everywhere", []) if item not in cards],
    }
