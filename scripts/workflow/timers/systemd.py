"""A service and a timer of the user's systemd."""

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.workflow.intervals import Interval
from scripts.workflow.timers import MARK, ROOT, check_lines


def _folder() -> Path:
    # Not by XDG_CONFIG_HOME, which the workflow points into the clone.
    return Path.home() / ".config" / "systemd" / "user"


def _clone() -> str:
    return hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]


def _unit(label: str, kind: str) -> Path:
    return _folder() / f"{MARK}-{_clone()}-{label}.{kind}"


def _quoted(text: str, is_command: bool = False) -> str:
    """Return a text as one word of a unit's line: `%` and, in commands, `$` mean something there."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text.replace("$", "$$") if is_command else text}"'


def units(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> dict[str, str]:
    """Return the texts of the service and of the timer, by kind."""
    check_lines("systemd", [str(ROOT), *words, *variables.values()])
    given = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in variables.items())
    return {
        "service": (
            f"[Unit]\nDescription=Epochs per Dollar repeats {label}\n\n[Service]\nType=oneshot\n"
            f"WorkingDirectory={str(ROOT).replace('%', '%%')}\n{given}"
            f"ExecStart={' '.join(_quoted(word, is_command=True) for word in words)}\n"
        ),
        "timer": (
            f"[Unit]\nDescription=Epochs per Dollar repeats {label} every {every.text}\n\n[Timer]\n"
            f"OnCalendar={every.calendar}\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n"
        ),
    }


def _systemctl(*words: str) -> None:
    try:
        done = subprocess.run(["systemctl", "--user", *words], capture_output=True, text=True)
    except FileNotFoundError:
        raise InputError("by: systemd: there is no systemctl on this machine: take --by cron") from None
    if done.returncode:
        raise InputError(f"by: systemd: systemctl --user {' '.join(words)}: {done.stderr.strip()}")


def install(label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval) -> str:
    """Write both units, in the place of those there were, and start the timer; return where it is in words."""
    _systemctl("daemon-reload")  # before anything is written: where it fails nothing is left
    for kind, text in units(label, words, variables, every).items():
        write_text(_unit(label, kind), text)
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", _unit(label, "timer").name)
    return f"systemd: {_unit(label, 'timer')} ({every.calendar})"


def remove(label: str) -> bool:
    """Stop the timer and remove both units."""
    timer = _unit(label, "timer")
    if not timer.exists() and not _unit(label, "service").exists():
        return False
    if timer.exists():
        _systemctl("disable", "--now", timer.name)
    for kind in ("timer", "service"):
        _unit(label, kind).unlink(missing_ok=True)
    _systemctl("daemon-reload")
    return True


def installed() -> list[str]:
    """Return the timers of this clone."""
    found = []
    for timer in sorted(_folder().glob(f"{MARK}-{_clone()}-*.timer")) if shutil.which("systemctl") else []:
        when = next((one for one in timer.read_text().splitlines() if one.startswith("OnCalendar=")), "")
        found.append(f"systemd: {timer} ({when.removeprefix('OnCalendar=')})")
    return found
