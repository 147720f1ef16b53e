"""A line in the user's crontab, marked by a comment at its end."""

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from scripts.storage.errors import InputError
from scripts.workflow.intervals import Interval
from scripts.workflow.timers import MARK, ROOT


def _mark(label: str) -> str:
    return f"# {MARK} {label} of {ROOT}".replace("%", r"\%")


def line(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> str:
    """Return the line of a crontab: a percent sign would end the command there, and is escaped."""
    given = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    log = ROOT / "history" / label / "cron.log"
    command = f"cd {shlex.quote(str(ROOT))} && {' '.join([*given, shlex.join(words)])} >> {shlex.quote(str(log))} 2>&1"
    if "\n" in command:
        raise InputError(f"by: cron: a line break is in {command!r}: a crontab has none")
    return f"{every.cron} {command.replace('%', chr(92) + '%')} {_mark(label)}"


def _read() -> list[str]:
    if not shutil.which("crontab"):
        return []
    done = subprocess.run(["crontab", "-l"], capture_output=True, text=True)
    if done.returncode and "no crontab" not in done.stderr:
        raise InputError(f"by: cron: crontab -l: {done.stderr.strip()}")
    return done.stdout.splitlines()


def _write(lines: Sequence[str]) -> None:
    done = subprocess.run(["crontab", "-"], input="".join(f"{one}\n" for one in lines), capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"by: cron: crontab: {done.stderr.strip()}")


def install(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> str:
    """Put a schedule into the crontab, in the place of the one it had; return where it is in words."""
    if not shutil.which("crontab"):
        raise InputError("by: cron: there is no crontab on this machine: install cron, or use by=systemd")
    new = line(label, words, variables, every)
    (ROOT / "history" / label).mkdir(parents=True, exist_ok=True)
    _write([*(one for one in _read() if not one.endswith(_mark(label))), new])
    return f"cron: {new}"


def remove(label: str) -> bool:
    """Take a schedule out of the crontab."""
    before = _read()
    after = [one for one in before if not one.endswith(_mark(label))]
    if len(after) < len(before):
        _write(after)
    return len(after) < len(before)


def installed() -> list[str]:
    """Return the lines of this clone."""
    ours = f"of {ROOT}".replace("%", r"\%")
    return [f"cron: {one}" for one in _read() if f"# {MARK} " in one and one.endswith(ours)]
