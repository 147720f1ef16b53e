"""What a Snakemake that was killed leaves behind in a folder, and whether another one is at work there."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from scripts.storage.errors import InputError
from scripts.workflow import lease
from scripts.workflow.command_line import is_dry_run


def _locks(folder: Path) -> list[Path]:
    return sorted((folder / ".snakemake" / "locks").glob("*"))


def _asked(words: list[str]) -> list[str]:
    """Return the words of a process from `snakemake` on; none where it is something else."""
    names = [Path(word).name for word in words]
    return words[names.index("snakemake") :] if "snakemake" in names else []


def others(folder: Path) -> list[int]:
    """Return the numbers of the other calls of Snakemake that work in a folder.

    What runs a job of one is none, nor is a dry run, which locks nothing. Where a process works may be hidden: it
    counts if its user has locked the folder.
    """
    owners = set()
    for lock in _locks(folder):
        with suppress(FileNotFoundError):  # its call has ended meanwhile
            owners.add(lock.stat().st_uid)
    this = psutil.Process()
    related = {this.pid, *(one.pid for one in this.parents())}
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = _asked(process.info["cmdline"] or [])
        if process.pid in related or not words or "--target-jobs" in words or is_dry_run(words):
            continue
        try:
            if Path(process.cwd()) == folder:
                found.append(process.pid)
        except psutil.NoSuchProcess:
            continue
        except (psutil.Error, OSError):
            with suppress(psutil.NoSuchProcess):
                if process.uids().real in owners:
                    found.append(process.pid)
    return sorted(found)


def _numbers(working: list[int]) -> str:
    return f"process {', '.join(map(str, working))}"


def refusal(folder: Path) -> str:
    """Return in a line why a call ends whose files another one has locked. `folder` is where it was called."""
    working = others(folder)
    elsewhere = f", {whose}," if (whose := lease.holder(folder)) else ", here or on another machine,"
    which = f"another snakemake ({_numbers(working)})" if working else f"another snakemake{elsewhere}"
    return f"error: {which} works on the same files: nothing was done; repeat this call when that one has ended" + (
        "" if working else ", or if there is none: snakemake --unlock"
    )


def note_for_dry_run(folder: Path) -> str | None:
    """Return what a dry run beside a call at work says of what it lists; None where there is none."""
    working = others(folder) if _locks(folder) else []
    if not working:
        return None
    return f"note: another snakemake works in this folder ({_numbers(working)}): what it has not ended is listed here"


def clear(folder: Path, is_local: bool) -> None:
    """Take away the locks of a Snakemake that was killed; say so in a line. `folder` is where it was called.

    Snakemake itself would exit without output, as the profiles keep its log off the screen. Where the folder may be
    shared with other machines (not `is_local`) a call may be at work that is not seen here: its lease says whether it
    lives, and without one nothing is taken away.
    """
    locks = _locks(folder)
    if not locks:
        return
    if working := others(folder):
        print(f"note: another snakemake works in this folder ({_numbers(working)})", file=sys.stderr)
        return
    if not is_local:
        if whose := lease.holder(folder):
            print(f"note: this folder is locked by {whose}: looking whether that call lives", file=sys.stderr)
        if not (lease.is_dead(folder) and lease.take_away(folder)):
            print("note: this folder is locked; if no call works in it: snakemake --unlock", file=sys.stderr)
            return
    for lock in locks:
        try:
            os.unlink(lock)
        except OSError as error:
            raise InputError(f"{lock}: the lock of a call that was killed: {error.strerror}; remove it") from error
    print("note: the last call in this folder was killed; going on from what is there", file=sys.stderr)
