"""Refresh the current price book from SkyPilot's public catalogue of cloud prices.

What is wanted is listed in config/prices/catalogue.yaml. A price that fails a check is refused, with the
reason, and the last good one stays; so do all prices of a provider whose catalogue cannot be had or used.
Exit code 1 if that is so of every provider.
"""

import argparse
import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from scripts.costs import book, books, catalogue, renewal
from scripts.storage import downloads, errors, schemas, tables
from scripts.storage.errors import InputError
from scripts.storage.files import write_text

URL = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs"


def read_wanted(path: Path) -> dict[str, Any]:
    """Return `catalogue.yaml`. Raises InputError for a bad file, a name given twice, or one that is not listed."""
    wanted = schemas.read_yaml(path, "catalogue")
    for provider, about in wanted.items():
        names = [name for kind in ("machines", "accelerators", "built_in") for name in about.get(kind, [])]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"{path}: {provider}: {twice[0]!r} is given twice")
        for region, items in about.get("elsewhere", {}).items():
            unknown = sorted(set(items) - set(names))
            if unknown:
                raise InputError(f"{path}: {provider}.elsewhere.{region}: {unknown[0]!r} is not one of its items")
    return wanted


def read_book(path: Path) -> pd.DataFrame:
    """Return the rows of the last good book as text, none if there is no book. Raises InputError if it is broken."""
    if not path.is_file():
        return pd.DataFrame(columns=list(book.COLUMNS), dtype=str)
    book.read([path])  # a broken book is no good one
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def by_provider(option: str, values: Iterable[str], providers: Iterable[str]) -> dict[str, str]:
    """Return provider -> text from `PROVIDER=TEXT`, and from `TEXT` for all others; a later one wins."""
    given = {}
    for value in values:
        provider, equals, text = value.partition("=")
        if equals and provider not in providers:
            raise InputError(f"{option}: {provider!r} is unknown: it is one of {', '.join(providers)}")
        given[provider if equals else ""] = text if equals else value
    return {provider: given.get(provider, given.get("", "")) for provider in providers}


def check_date(text: str) -> None:
    try:
        if not re.fullmatch(r"\d{4}(-\d{2}){0,2}", text):
            raise ValueError
        date.fromisoformat((text + "-01-01")[:10])
    except ValueError:
        raise InputError(f"--as-of: {text!r} is not a date (YYYY-MM-DD, YYYY-MM or YYYY)") from None


def find(folder: Path, cloud: str) -> Path:
    """Return the file of a provider in a folder: `<cloud>/vms.csv` or `<cloud>_vms*.csv`."""
    files = [path for path in [folder / cloud / "vms.csv", *sorted(folder.glob(f"{cloud}_vms*.csv"))] if path.is_file()]
    if len(files) != 1:
        there = f"there are {', '.join(path.name for path in files)}" if files else "there is none"
        raise InputError(f"{folder}: must have one {cloud}/vms.csv or {cloud}_vms*.csv; {there}")
    return files[0]


def download(url: str, path: Path) -> bytes:
    """Return what is at an address by way of `path`: it changes every day, so that no checksum is known.

    Raises InputError with the reason.
    """
    try:
        with Console(stderr=True).status(f"downloading {url}"):
            downloads.fetch(url, path)
    except downloads.NotFetched as error:
        raise InputError(f"{url}: could not be fetched: {error}") from error
    return path.read_bytes()


def fetch(root: str, about: dict[str, Any]) -> tuple[str, str, bytes]:
    """Return (where it was read, its name in a source, content) of one provider's catalogue."""
    if "://" in root:
        url = f"{root.rstrip('/')}/{about['catalogue']}/vms.csv"
        with tempfile.TemporaryDirectory() as folder:
            return url, f"{about['catalogue']}/vms.csv", download(url, Path(folder, "vms.csv"))
    path = find(Path(root), about["catalogue"].split("/")[-1])
    try:
        return str(path), str(path.relative_to(root)), path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def refresh(
    old: pd.DataFrame, root: str, provider: str, about: dict[str, Any], as_of: str, note: str
) -> tuple[pd.DataFrame, list[renewal.Change]]:
    """Return the new rows of one provider, and what changed. Raises InputError when its catalogue is of no use."""
    place, name, content = fetch(root, about)
    notes = "; ".join(filter(None, (about.get("note", ""), note)))
    source = f"SkyPilot catalogue {name}, sha256 {hashlib.sha256(content).hexdigest()[:8]}"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not text: {error.reason} at byte {error.start}") from error
    table = catalogue.read(text, place, zones="regions" in about)
    return renewal.renew(old, table, provider, about, as_of, f"{source} ({notes})" if notes else source)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--catalogue",
        default=URL,
        metavar="FOLDER or URL",
        help="where it is: a folder with <cloud>/vms.csv or <cloud>_vms*.csv, or the address above v8/<cloud>/vms.csv "
        "(%(default)s)",
    )
    parser.add_argument(
        "--book", type=Path, required=True, help="price book to refresh (.csv); made if it is not there"
    )
    parser.add_argument(
        "--wanted", type=Path, default=books.FOLDER / "catalogue.yaml", help="what it shall hold (.yaml)"
    )
    parser.add_argument(
        "--as-of",
        action="append",
        default=[],
        metavar="[PROVIDER=]DATE",
        help="date of the catalogue, of all providers or of one; may stand several times (of a download: today)",
    )
    parser.add_argument(
        "--note",
        action="append",
        default=[],
        metavar="[PROVIDER=]TEXT",
        help="what must be known of the catalogue; added to the source of each price",
    )
    options = parser.parse_args()
    wanted = read_wanted(options.wanted)
    old = read_book(options.book)
    local = "://" not in options.catalogue
    if local and not Path(options.catalogue).is_dir():
        raise InputError(f"--catalogue: {options.catalogue}: no such folder")
    dates = by_provider("--as-of", ([] if local else [date.today().isoformat()]) + options.as_of, wanted)
    notes = by_provider("--note", options.note, wanted)
    for provider, as_of in dates.items():
        if not as_of:
            raise InputError(
                f"--as-of (catalogue_as_of): must be given for a folder: the date of its catalogue of {provider}"
            )
        check_date(as_of)

    frames, counts, done = [], Counter[str](), 0
    for provider, about in wanted.items():
        last = old[old["provider"] == provider]
        print(f"{provider}, catalogue of {dates[provider]}", flush=True)
        try:
            rows, changes = refresh(last, options.catalogue, provider, about, dates[provider], notes[provider])
        except InputError as error:
            kept = f"all {len(last)} prices kept from the last book" if len(last) else "no prices"
            print(f"  not refreshed: {error}; {kept}")
            rows, changes = last, []
        else:
            done += 1
        for change in changes:
            if change.kind != "confirmed":
                print(f"  {change.kind:9}{change.text}")
        counts.update(change.kind for change in changes)
        frames.append(rows)
    for provider in sorted(set(old["provider"]) - set(wanted)):
        print(f"{provider}\n  dropped  is not wanted any more")
    if not done:
        print(f"{options.book}: not changed, nothing could be refreshed")
        return 1
    whole = pd.concat(frames).sort_values(book.KEY)
    write_text(options.book, tables.to_csv(whole))
    kinds = ("confirmed", "new", "changed", "gone", "dropped", "refused", "missing")
    told = [f"{len(whole)} prices", *(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])]
    if done < len(wanted):
        told.append(f"{len(wanted) - done} of {len(wanted)} providers not refreshed")
    print(f"{options.book}: {', '.join(told)}")
    return 0


if __name__ == "__main__":
    errors.run(main)
