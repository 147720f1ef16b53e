"""Refresh the current price book from public catalogues of cloud prices: SkyPilot's, and gpuhunt's.

What is wanted is listed in config/prices/catalogue.yaml. A price that fails a check is refused, with the
reason, and the last good one stays; so do all prices of a provider whose catalogue cannot be had or used.
Where a provider has both catalogues, prices are SkyPilot's, and what gpuhunt's says differently is shown.
Exit code 1 if no provider could be refreshed.
"""

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from rich.console import Console

from scripts.costs import book, books, card_names, catalogue, gpuhunt, renewal, repository
from scripts.storage import errors, schemas, tables
from scripts.storage.errors import InputError
from scripts.storage.files import read_bytes, write_text

URL = f"{repository.RAW}/skypilot-org/skypilot-catalog/master/catalogs"


class File(NamedTuple):
    """A provider's catalogue: where it was read, its name in a source, its content, and of which day it is.

    The day is that on which the file last changed, empty where that is unknown: never that of the download.
    """

    place: str
    name: str
    content: bytes
    as_of: str = ""


class Read(NamedTuple):
    """What a catalogue says of a provider: its rows, what is wanted of them, of which day they are, and whose.

    `left_out` says which machines with cards are in none, and why.
    """

    catalogue: catalogue.Catalogue
    wanted: dict[str, Any]
    as_of: str
    source: str
    left_out: list[str]


def read_as(table: catalogue.Catalogue, wanted: dict[str, Any], as_of: str, source: str) -> Read:
    """Return what a table says of a provider; with `cards`, its machines are those that say which cards they have."""
    if "cards" not in wanted:
        return Read(table, wanted, as_of, source, [])
    named, left_out = card_names.named(table, wanted)
    lines = card_names.counted(left_out) + ([f"left out  {table.broken}"] if table.broken else [])
    return Read(table, wanted | {"named": named}, as_of, source, lines)


def read_wanted(path: Path) -> dict[str, Any]:
    """Return `catalogue.yaml`. Raises InputError for a bad file, a name given twice, or one that is not listed."""
    wanted = schemas.read_yaml(path, "catalogue")
    for provider, about in wanted.items():
        names = [name for kind in ("machines", "accelerators", "built_in") for name in about.get(kind, [])]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"{path}: {provider}: {twice[0]!r} is given twice")
        further = {f"elsewhere.{region}": items for region, items in about.get("elsewhere", {}).items()}
        for key, items in (further | {"everywhere": about.get("everywhere", [])}).items():
            if unknown := sorted(set(items) - set(names)):
                raise InputError(f"{path}: {provider}.{key}: {unknown[0]!r} is not one of its items")
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
        if not re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", text):
            raise ValueError
        date.fromisoformat((text + "-01-01")[:10])
    except ValueError:
        raise InputError(f"--as-of: {text!r} is not a date (YYYY-MM-DD, YYYY-MM or YYYY)") from None
    if text > date.today().isoformat()[: len(text)]:
        raise InputError(f"--as-of: {text} is in the future")


def find(folder: Path, cloud: str) -> Path:
    """Return the file of a provider in a folder: `<cloud>/vms.csv`, also below the newest `v<version>` that has one, or
    `<cloud>_vms*.csv`."""
    versions = [path for path in folder.glob(f"v*/{cloud}/vms.csv") if path.parts[-3][1:].isdecimal()]
    newest = sorted(versions, key=lambda path: int(path.parts[-3][1:]))[-1:]
    plain = [path for path in [folder / cloud / "vms.csv", *sorted(folder.glob(f"{cloud}_vms*.csv"))] if path.is_file()]
    files = [*plain, *newest]
    if len(files) != 1:
        there = f"there are {', '.join(str(path.relative_to(folder)) for path in files)}" if files else "there is none"
        raise InputError(f"{folder}: must have one of {cloud}/vms.csv, {cloud}_vms*.csv, v*/{cloud}/vms.csv; {there}")
    return files[0]


def fetch(root: str, cloud: str, known: repository.Repository | None) -> File:
    """Return one provider's catalogue: of the newest version in the repository, of an address, or of a folder."""
    if known:
        name = known.newest(cloud)
        with Console(stderr=True).status(f"downloading {name}"):
            place, content = known.read(name)
        return File(place, name, content, known.changed(name))
    if "://" in root:
        url = f"{root.rstrip('/')}/{cloud}/vms.csv"
        return File(url, f"{cloud}/vms.csv", repository.download(url))
    path = find(Path(root), cloud)
    return File(str(path), str(path.relative_to(root)), read_bytes(path, catalogue.MOST_BYTES))


def skypilot(root: str, about: dict[str, Any], known: repository.Repository | None, as_of: str) -> Read:
    """Return what SkyPilot's catalogue says of a provider. Raises InputError where it cannot be had, or is no table."""
    file = fetch(root, about["catalogue"], known)
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.place}: not text: {error.reason} at byte {error.start}") from error
    table = catalogue.read(text, file.place, zones="regions" in about)
    return read_as(table, about, as_of or file.as_of, f"SkyPilot catalogue {file.name}, {_digest(file.content)}")


def of_gpuhunt(root: str, about: dict[str, Any], past: str) -> Read:
    """Return what gpuhunt's catalogue says of a provider: its newest version, or a past one. Raises InputError."""
    provider, at = about["gpuhunt"], root.rstrip("/")
    if not root:
        raise InputError("gpuhunt's catalogue is not asked beside a folder of SkyPilot's: --gpuhunt says where it is")
    is_here = "://" not in root
    if past:
        version = past
    elif is_here:
        there = [path.parent.name for path in Path(root).glob(f"{provider}/*/catalog.zip")]
        if not there:
            raise InputError(f"{root}: must have {provider}/<version>/catalog.zip; there is none")
        version = gpuhunt.newest(there)
    else:
        version = repository.download(f"{at}/{provider}/version").decode("utf-8", "replace").strip()
    as_of = gpuhunt.day(version)
    name = gpuhunt.name(provider, version, root)
    place = f"{at}/{name}"
    content = read_bytes(Path(place), catalogue.MOST_BYTES) if is_here else repository.download(place)
    table = gpuhunt.read(gpuhunt.unpacked(content, place, provider), f"{place}: {provider}.csv")
    return read_as(table, gpuhunt.whole(about), as_of, f"gpuhunt catalogue {name}, {_digest(content)}")


def _digest(content: bytes) -> str:
    return f"sha256 {hashlib.sha256(content).hexdigest()[:8]}"


def second(rows: pd.DataFrame, root: str, provider: str, about: dict[str, Any]) -> Iterable[str]:
    """Return what gpuhunt's catalogue says differently of a provider's prices, or why it does not, as lines."""
    try:
        read = of_gpuhunt(root, about, "")
    except InputError as error:
        return [f"{provider} not compared: {error}"]
    return renewal.differing(rows, read.catalogue, read.wanted, f"gpuhunt of {read.as_of}")


class Asked(NamedTuple):
    """What a refresh is asked for: what the book shall hold, and where each catalogue is, of which day.

    `wanted` are the parts of `catalogue.yaml`; those in `by_skypilot` have SkyPilot's prices. `gpuhunt` is where that
    catalogue is, empty for nowhere, and `known` SkyPilot's repository, if it is asked there.
    """

    wanted: dict[str, Any]
    by_skypilot: list[str]
    gpuhunt: str
    known: repository.Repository | None
    dates: dict[str, str]
    notes: dict[str, str]


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options that these words give, else those of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--catalogue",
        default=URL,
        metavar="FOLDER or URL",
        help="where it is: a folder with <cloud>/vms.csv, <cloud>_vms*.csv or v<version>/<cloud>/vms.csv, the address "
        "of such versions on GitHub, of which the newest counts (%(default)s), or any address above <cloud>/vms.csv",
    )
    parser.add_argument(
        "--gpuhunt",
        metavar="FOLDER or URL",
        help="where gpuhunt's catalogue is: above <provider>/<version>/catalog.zip, of which the newest counts "
        f"({gpuhunt.URL}; beside a folder of --catalogue, nowhere)",
    )
    parser.add_argument(
        "--past",
        default="",
        metavar="VERSION",
        help="all prices by this version of gpuhunt's catalogue, as 20260818-42, for a --book of its own",
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
        help="date of the catalogue, of all providers or of one; may stand several times (from GitHub without it: the "
        "day on which a file last changed; gpuhunt's versions are dated)",
    )
    parser.add_argument(
        "--note",
        action="append",
        default=[],
        metavar="[PROVIDER=]TEXT",
        help="what must be known of the catalogue; added to the source of each price",
    )
    return parser.parse_args(words)


def asked(options: argparse.Namespace) -> Asked:
    """Return what is asked for. Raises InputError for options that cannot be so, before anything is fetched."""
    wanted = read_wanted(options.wanted)
    if options.past:
        gpuhunt.day(options.past)
        wanted = {provider: about for provider, about in wanted.items() if "gpuhunt" in about}
    by_skypilot = [provider for provider, about in wanted.items() if "catalogue" in about and not options.past]
    local = "://" not in options.catalogue
    root = options.gpuhunt if options.gpuhunt is not None else "" if local and by_skypilot else gpuhunt.URL
    if "://" not in root and root and not Path(root).is_dir():
        raise InputError(f"--gpuhunt: {root}: no such folder")
    if local and not Path(options.catalogue).is_dir():
        raise InputError(f"--catalogue: {options.catalogue}: no such folder")
    known = repository.Repository(options.catalogue) if options.catalogue.startswith(f"{repository.RAW}/") else None
    dates = by_provider("--as-of", options.as_of, wanted)
    notes = by_provider("--note", options.note, wanted)
    for provider, as_of in dates.items():
        if as_of:
            check_date(as_of)
        elif known is None and provider in by_skypilot:
            raise InputError(
                "--as-of (catalogue_as_of): must be given for a folder or a plain address: the date of its catalogue "
                f"of {provider}"
            )
    return Asked(wanted, by_skypilot, root, known, dates, notes)


def main() -> int:
    options = parse()
    wanted, by_skypilot, root, known, dates, notes = asked(options)
    old = read_book(options.book)
    frames, counts, done = [], Counter[str](), 0
    for provider, about in wanted.items():
        last = old[old["provider"] == provider]
        try:
            if provider in by_skypilot:
                read = skypilot(options.catalogue, about, known, dates[provider])
            else:
                read = of_gpuhunt(root, about, options.past)
            print(f"{provider}, catalogue of {read.as_of}", flush=True)
            note = "; ".join(filter(None, (about.get("note", ""), notes[provider])))
            source = f"{read.source} ({note})" if note else read.source
            rows, changes = renewal.renew(last, read.catalogue, provider, read.wanted, read.as_of, source)
        except InputError as error:
            kept = f"all {len(last)} prices kept from the last book" if len(last) else "no prices"
            print(f"  {provider} not refreshed: {error}; {kept}")
            rows, changes = last, []
        else:
            done += 1
            for line in read.left_out:
                print(f"  {line}")
        for change in renewal.folded(changes):
            if change.kind != "confirmed":
                print(f"  {change.kind:9}{change.text}")
        if provider in by_skypilot and "gpuhunt" in about and root:
            for line in second(rows, root, provider, about):
                print(f"  {line}")
        counts.update(change.kind for change in changes)
        frames.append(rows)
    for provider in sorted(set(old["provider"]) - set(wanted)):
        print(f"{provider}\n  dropped  is not wanted any more")
    if not done:
        newest = f"; its newest price is of {max(old['as_of'])}" if len(old) else ""
        print(f"{options.book}: not changed, nothing could be refreshed{newest}")
        return 1
    whole = pd.concat(frames).sort_values(book.KEY)
    write_text(options.book, tables.to_csv(whole))
    kinds = ("confirmed", "new", "changed", "gone", "dropped", "refused", "missing")
    counted = [f"{len(whole)} prices", *(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])]
    if done < len(wanted):
        counted.append(f"{len(wanted) - done} of {len(wanted)} providers not refreshed")
    print(f"{options.book}: {', '.join(counted)}")
    return 0


if __name__ == "__main__":
    errors.run(main)
