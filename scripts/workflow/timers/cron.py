"""A line in the user's crontab, marked by a comment at its end."""

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from scripts.storage.errors import InputError
from scripts.storage.files import locked
from scripts.workflow.intervals import Interval
from scripts.workflow.timers import MARK, ROOT, check_lines


def _mark(label: str) -> str:
    return f"# {MARK} {label} of {ROOT}".replace("%", r"\%")


def line(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> str:
    """Return the line of a crontab: a percent sign would end the command there, and is escaped."""
    check_lines("cron", [str(ROOT), *words, *variables.values()])
    given = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    log = ROOT / "history" / label / "cron.log"
    command = f"cd {shlex.quote(str(ROOT))} && {' '.join([*given, shlex.join(words)])} >> {shlex.quote(str(log))} 2>&1"
    return f"{every.cron} {command.replace('%', chr(92) + '%')} {_mark(label)}"


def _alone() -> AbstractContextManager[int | None]:
    """Hold this user's crontab: of two that edit it at once, in two clones, one would be lost.

    Not in the system's folder for all, where another user may have put what stands in the way.
    """
    return locked(Path.home() / ".cache" / MARK / "crontab.lock")


def _crontab(word: str, content: bytes | None = None) -> tuple[bytes, str]:
    """Call crontab and return what it printed, and why it failed: nothing where it did not."""
    done = subprocess.run(["crontab", word], input=content, capture_output=True)
    said = done.stderr.decode(errors="replace").strip()
    return done.stdout, (said or f"exit code {done.returncode}") if done.returncode else ""


def _read() -> list[str]:
    """Return the lines of the crontab, whatever is in them: a line ends with a line feed and nothing else."""
    if not shutil.which("crontab"):
        return []
    table, why = _crontab("-l")
    if why and "no crontab" not in why:
        raise InputError(f"by: cron: crontab -l: {why}")
    lines = table.decode("utf-8", "surrogateescape").split("\n")
    return lines if lines[-1] else lines[:-1]


def _write(lines: Sequence[str]) -> None:
    _, why = _crontab("-", "".join(f"{one}\n" for one in lines).encode("utf-8", "surrogateescape"))
    if why:
        raise InputError(f"by: cron: crontab: {why}")


def install(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> str:
    """Put a schedule into the crontab, in the place of the one it had; return where it is in words."""
    if not shutil.which("crontab"):
        raise InputError("by: cron: there is no crontab on this machine: install cron, or take --by systemd")
    new = line(label, words, variables, every)
    (ROOT / "history" / label).mkdir(parents=True, exist_ok=True)
    with _alone():
        _write([*(one for one in _read() if not one.endswith(_mark(label))), new])
    return f"cron: {new}"


def remove(label: str) -> bool:
    """Take a schedule out of the crontab."""
    with _alone():
        before = _read()
        after = [one for one in before if not one.endswith(_mark(label))]
        if len(after) < len(before):
            _write(after)
    return len(after) < len(before)


def installed() -> list[str]:
    """Return the lines of this clone."""
    ours = f"of {ROOT}".replace("%", r"\%")
    return [f"cron: {one}" for one in _read() if f"# {MARK} " in one and one.endswith(ours)]
