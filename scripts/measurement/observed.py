"""A command that is measured from outside, by the recorder of `epd run`, and what its record says of that."""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.measurement.attempt import log
from scripts.measurement.outcome import Outcome
from scripts.storage import environment
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

#: The status of a command that ran, and of whose progress nothing could be read.
UNREAD = "unread"

#: Lines of what a command wrote on standard error that its record keeps, and letters of each.
_LAST_LINES, _LETTERS = 3, 200


def run(asked: Mapping[str, Any], cores: int) -> tuple[Outcome, dict[str, Any] | None, bool]:
    """Run a command, as `scripts.studies.commands.asked` says it, and end it when its minutes are measured.

    Return how that went, the recorder's record (None of a command that could not be started), and whether a signal to
    us ended it: then it is no result. The command is held to so many cores.
    """
    sys.path.insert(0, str(ROOT / "plugins" / "epochs-per-dollar"))
    from epochs_per_dollar import record
    from epochs_per_dollar.child import NoCommandError
    from epochs_per_dollar.measuring import Asked, Measurement
    from epochs_per_dollar.session import Amount

    _be_as_a_person_would()
    try:
        os.chdir(asked["folder"])
    except OSError as error:
        raise InputError(f"folder {asked['folder']}: {error.strerror}") from error
    wanted = Asked(
        asked["words"],
        seconds=60 * asked["minutes"],
        of=asked["of"],
        epochs=asked["epochs"],
        pattern=re.compile(asked["pattern"]) if asked["pattern"] else None,
        cores=min(cores, len(os.sched_getaffinity(0))),
        per_step=Amount(*asked["per_step"]) if asked["per_step"] else None,
        foreground=False,
    )
    try:
        measurement = Measurement(wanted, lambda text: log(f"epd: {text}"))
    except NoCommandError as error:
        return Outcome("failed", str(error), {"total_seconds": 0.0}), None, False
    session = measurement.run()
    seen: dict[str, Any] = json.loads(json.dumps(record.of(session)))
    seen["per_step"] = session.per_step and session.per_step._asdict()
    outcome = Outcome("done", None, {"total_seconds": session.seconds})
    if session.ended_by == "itself" and session.exit_code:
        last = [line.strip()[:_LETTERS] for line in measurement.last_words.splitlines() if line.strip()][-_LAST_LINES:]
        outcome.status, outcome.reason = "failed", " | ".join([f"exit code {session.exit_code}", *last])
    elif session.rate is None and session.whole_seconds is None:
        outcome.status = UNREAD
        outcome.reason = "no progress could be read of what it prints and writes: pattern: may help (docs/run.md)"
    return outcome, seen, session.ended_by == "you"


def _be_as_a_person_would() -> None:
    """Undo for the command what a call of this project sets for its own jobs, and leave it no standard input."""
    for name, value in list(os.environ.items()):
        # `XDG_CACHE_HOME` and `XDG_CONFIG_HOME` lie in the clone, for libraries of our own.
        if name.startswith(environment.PREFIX) or (name.startswith("XDG_") and value.startswith(str(ROOT / ".cache"))):
            del os.environ[name]
    # What Python would compile into the program's folder is code that nobody has trusted there.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
