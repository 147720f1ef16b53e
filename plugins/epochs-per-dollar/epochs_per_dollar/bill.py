"""`epd bill`: what a whole training took and cost, beside what its minute had promised, into the ledger."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from epochs_per_dollar import ledger, ledger_page, offers, reading, words
from epochs_per_dollar.arguments import positive
from epochs_per_dollar.ledger import LedgerError, Row
from epochs_per_dollar.reading import RecordError
from epochs_per_dollar.record import folder, ledger_file, page_file

_DESCRIPTION = """Set what a whole training took and cost beside what its minute had promised, in a ledger.

Without words: the ledger. `epd run --whole` writes its own row: this is for a run that went on elsewhere, or for what
an invoice says of it."""

_EXAMPLES = """examples:
  epd bill
  epd bill --usd 12.40
  epd bill 2026-11-25T02-03-09 --seconds 41200
  epd bill run.json --seconds 41200 --usd-per-hour 1.29
"""


#: An invoice that asks so many times more or less an hour than was promised is of other hours, or of another machine.
_OTHER_RATE = 1.5


#: More than a record holds.
_MOST_BYTES = 16 << 20


class BillError(Exception):
    """What cannot be billed; the text says why."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"epd: {message} (epd bill --help)\n")


def _parser() -> argparse.ArgumentParser:
    found = _Parser(
        prog="epd bill",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = found.add_argument
    add("record", nargs="?", metavar="RECORD", help="its name, folder or run.json; else the newest that was promised")
    add("--seconds", type=positive, metavar="N", help="that the whole took, of a run that went on elsewhere")
    add("--usd", type=positive, metavar="USD", help="that the whole cost: an invoice's total")
    add("--usd-per-hour", type=positive, metavar="USD", help="what an hour of that machine costs")
    return found


def run(arguments: Sequence[str]) -> int:
    """List the ledger, or bill a record; return 0, and 2 for what cannot be billed."""
    asked = _parser().parse_args(list(arguments))
    try:
        if not arguments:
            return _list()
        path = _newest(asked.seconds is None) if asked.record is None else _named(asked.record)
        row = billed(path, asked.seconds, asked.usd, asked.usd_per_hour)
        again = ledger.put(ledger_file(), row)
    except (BillError, LedgerError) as error:
        print(f"epd: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"epd: {ledger_file()}: it cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(said(row))
    where = "its row in the ledger was replaced" if again else "a row of its own in the ledger"
    print(f"{where}: {ledger_file()}")
    return 0


def _list() -> int:
    """Print the ledger, and write its page beside it."""
    rows = ledger.read(ledger_file())
    if not rows:
        print("the ledger is empty: epd run --whole -- python train.py")
        return 0
    print(f"{ledger.table(rows)}\n{ledger.summary(rows)}")
    # Where it cannot be written, what is printed is all there is.
    with contextlib.suppress(OSError), ledger.locked(ledger_file()):
        with ledger.replacing(page_file()) as file:
            file.write(ledger_page.page(rows))
        print(f"chart of promised and paid: {page_file()}")
    return 0


def settle(kept: Path) -> str | None:
    """Write the row of a record that was measured to its end; return what is to be said of it, None of others."""
    try:
        row = billed(kept / "run.json")
        ledger.put(ledger_file(), row)
    except BillError:
        return None
    except LedgerError as error:
        return str(error)
    except OSError as error:
        return f"{ledger_file()}: it cannot be written: {error.strerror}"
    return "promised and paid are a row of the ledger (epd bill)"


def said(row: Row) -> str:
    """Return what was promised beside what was paid, in the lines of a terminal."""
    minutes = "" if row.measured_minutes is None else f", when {words.seconds(60 * row.measured_minutes)} were measured"
    paid = "not given" if row.paid_seconds is None else words.seconds(row.paid_seconds)
    dollars = [
        "" if value is None else f", {words.usd(value)}" for value in (row.promised_usd, row.paid_usd)
    ]  # fmt: skip
    return "\n".join(
        [
            f"record {row.record}, read from {row.read_from}, {row.machine}",
            f"  promised  {words.seconds(row.promised_seconds)}{dollars[0]}{minutes}",
            f"  paid      {paid}{dollars[1]}",
            f"  factor    {row.factor:.2f}",
            *([f"  !  {row.doubts}"] if row.doubts else []),
            *_rate_doubts(row),
        ]
    )


def _rate_doubts(row: Row) -> list[str]:
    """Return a line where what was paid is far from the promised rate times the hours that were taken, or promised."""
    if not (row.promised_usd and row.paid_usd):
        return []
    promised = 3600 * row.promised_usd / row.promised_seconds
    paid = 3600 * row.paid_usd / (row.paid_seconds or row.promised_seconds)
    if 1 / _OTHER_RATE <= paid / promised <= _OTHER_RATE:
        return []
    if_so = "" if row.paid_seconds else "if it took as long as was promised, "
    return [
        f"  !  {if_so}{words.usd(paid)} an hour were paid, and {words.usd(promised)} were promised: "
        "is the bill of these hours, and of this machine alone?"
    ]


def billed(path: Path, seconds: float | None = None, usd: float | None = None, rate: float | None = None) -> Row:
    """Return the row of a record: what it promised, beside what it took or what is given of it.

    `rate` is what an hour of the machine costs (USD). Raises BillError for what promised nothing, or has no end.
    """
    try:
        return _row(path, _read(path), seconds, usd, rate)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BillError(f"{path}: it is no record of epd run") from None


def _row(path: Path, record: dict[str, Any], seconds: float | None, usd: float | None, rate: float | None) -> Row:
    promised, took = _promise(record)
    if promised is None:
        raise BillError(f"{path}: it promised nothing: how long the whole is was not known")
    if took is not None and seconds is not None:
        raise BillError(f"{path}: --seconds: it was measured to its end, {words.seconds(took)}")
    rate = rate or record.get("usd_per_hour")
    paid = took if seconds is None else seconds
    promised_usd = None if rate is None else rate * promised / 3600
    if paid is None and usd is None:
        gives = "--seconds" if promised_usd is None else "--seconds or --usd"
        raise BillError(f"{path}: it was not measured to its end: give {gives}, what the whole took or cost")
    if paid is None and promised_usd is None:
        raise BillError(f"{path}: it promised no dollars: give --usd-per-hour, or --seconds, beside --usd")
    if usd is None and rate is not None and paid is not None:
        usd = rate * paid / 3600
    factor = paid / promised if paid is not None else (usd or 0.0) / (promised_usd or 1.0)
    measured = record.get("measured_seconds") if took is not None else record["seconds"]
    machine = record["machine"]
    return Row(
        date=words.harmless(record["provenance"]["ended_at"][:10]),
        record=words.harmless(_called(record)),
        read_from=words.harmless(record["progress"]["source"]),
        machine=words.harmless(_kind(machine, record["use"]["cards"])),
        measured_minutes=None if measured is None else measured / 60,
        promised_seconds=promised,
        paid_seconds=paid,
        promised_usd=promised_usd,
        paid_usd=usd,
        factor=factor,
        doubts=words.harmless("; ".join(record.get("doubts") or [])),
    )


def _promise(record: dict[str, Any]) -> tuple[float | None, float | None]:
    """Return the seconds that were promised of the whole, and those that it took if it was measured to its end."""
    # Of a training that went on from a checkpoint what was left is promised, and paid.
    whole = record["whole"] and record["whole"].get("process_seconds", record["whole"]["seconds"])
    by_itself = record["ended_by"] == "itself" and record["exit_code"] == 0
    if by_itself and (whole is None or whole == record["seconds"]):
        return record["promised_seconds"], record["seconds"]
    return whole if record["promised_seconds"] is None else record["promised_seconds"], None


def _kind(machine: dict[str, Any], cards: int) -> str:
    """Return the kind of a machine: its cards, or the number of its cores."""
    if machine["cards"]:
        name = machine["cards"][0]["name"]
        return f"{cards} x {offers.card(name) or name}"
    return f"{machine['cores']} core{'s' * (machine['cores'] != 1)}"


def _called(record: dict[str, Any]) -> str:
    """Return the name of a record, by which it has one row: when it ended, and how long it was watched."""
    return f"{record['provenance']['ended_at'][:19].replace(':', '-')}-{record['seconds']:.3f}"


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.exists() and not path.is_file():  # a pipe would never end
            raise ValueError
        with path.open("rb") as file:
            found = reading.parse(file.read(_MOST_BYTES))
    except RecordError as error:
        raise BillError(f"{path}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "it is no record"
        raise BillError(f"{path}: {reason}") from None
    if not isinstance(found, dict) or found.get("clock") != "observed":
        raise BillError(f"{path}: it is no record of epd run")
    try:
        reading.check(found)
    except RecordError as error:
        raise BillError(f"{path}: {error}") from None
    return found


def _named(text: str) -> Path:
    """Return the file of a record that is named by its file, its folder, or its name in the data folder."""
    for place in (Path(text), folder() / text):
        file = place / "run.json" if place.is_dir() else place
        if file.is_file():
            return file
    raise BillError(f"{text}: there is no such record in {folder()}")


def _newest(measured_to_its_end: bool) -> Path:
    """Return the newest record that promised something; the newest that was measured to its end, if that is wanted."""
    promised = []
    for path in sorted(folder().glob("*/run.json"), reverse=True):
        try:
            seconds, took = _promise(_read(path))
        except (BillError, KeyError, TypeError, AttributeError):
            continue
        if isinstance(seconds, (int, float)):
            promised.append(path)
            if took is not None and measured_to_its_end:
                return path
    if not promised:
        raise BillError(f"no record in {folder()} has promised anything: epd run -- python train.py")
    return promised[0]
