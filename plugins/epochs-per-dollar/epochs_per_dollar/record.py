"""The record of a measured command, kept in the user's data folder: nothing is left in the folder of the command."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from epochs_per_dollar import __version__
from epochs_per_dollar.ledger import remove_parts
from epochs_per_dollar.session import Session

SCHEMA_VERSION = 3

#: Variables whose values are kept; of all others no more than nothing.
_KEPT = re.compile(
    r"^(?:CUDA_\w+|XLA_\w+|OMP_NUM_THREADS|MKL_NUM_THREADS|OPENBLAS_NUM_THREADS|NCCL_\w+|PYTORCH_\w+|JAX_\w+|TF_\w+)$"
)
_SECRET = re.compile(r"(?i)key|token|secret|passw|credential|auth|^sk-|^hf_|^ghp_|^wandb_|@|://[^/]*:")
_HIDDEN = "***"


def folder() -> Path:
    """Return where records are kept: `epochs-per-dollar/runs` of the user's data folder."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(home) / "epochs-per-dollar" / "runs"


def ledger_file() -> Path:
    """Return where the ledger is kept: beside the records."""
    return folder().parent / "ledger.csv"


def page_file() -> Path:
    """Return where the page of the ledger is kept."""
    return ledger_file().with_suffix(".html")


def without_secrets(command: Sequence[str]) -> list[str]:
    """Return a command without what looks like a secret, and without the user's home in its paths."""
    found, hide = [], False
    home = os.path.expanduser("~")
    for word in command:
        name, equals, value = word.partition("=")
        if hide and not word.startswith("-"):
            word = _HIDDEN
        elif equals and (_SECRET.search(name) or _SECRET.search(value)):
            word = f"{name}={_HIDDEN}"
        elif not equals and not word.startswith("-") and _SECRET.search(word):
            word = _HIDDEN
        hide = word.startswith("-") and not equals and bool(_SECRET.search(name))
        found.append(word.replace(home, "~") if len(home) > 1 else word)
    return found


def _git_says(*words: str) -> str | None:
    """Return what git says of the working folder, None where it fails.

    Whose folder it is nobody knows: what its settings would have git run or fetch is closed.
    """
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.devnull]
    closed = os.environ | {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    command += ["-c", "core.sshCommand=false", *words]
    try:
        said = subprocess.run(command, env=closed, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return said.stdout if said.returncode == 0 else None


def git() -> dict[str, Any] | None:
    """Return the commit of the working folder and whether it was changed, None where there is none.

    Filters, as of Git LFS, are not run: where there are any, it is not known whether what differs was changed.
    """
    commit = _git_says("rev-parse", "HEAD")
    if commit is None:
        return None
    listed = _git_says("config", "--list", "--name-only", "-z")
    drivers = {key.rpartition(".")[0] for key in (listed or "").split("\0") if key.startswith("filter.")}
    off = [f"{driver}.{key}" for driver in sorted(drivers) for key in ("clean=", "process=", "required=false")]
    words = [*(word for setting in off for word in ("-c", setting)), "status", "--porcelain", "--untracked-files=no"]
    can_be_closed = listed is not None and not any("=" in driver for driver in drivers)
    status = _git_says(*words, "--ignore-submodules=dirty") if can_be_closed else None
    is_known = status is not None and not (status and drivers)
    return {"commit": commit.strip(), "changed": bool(status) if is_known else None}


def of(session: Session, usd_per_hour: float | None = None) -> dict[str, Any]:
    """Return the record of a session; times in seconds on the clock `observed`: seen from outside, not synchronised.

    `usd_per_hour` is what the user says that this machine costs.
    """
    meter, steps, rate = session.meter, session.steps, session.rate
    return {
        "schema_version": SCHEMA_VERSION,
        "recorder": __version__,
        "clock": "observed",
        "command": without_secrets(session.command),
        "ended_by": session.ended_by,
        "exit_code": session.exit_code,
        "seconds": session.seconds,
        "progress": steps
        and {
            "series": steps.name,
            "unit": steps.unit,
            "source": steps.source,
            "points": [[round(point.seconds, 4), point.done] for point in _thinned(steps.points())],
        },
        "rate": rate and {**asdict(rate), "apart": None if rate.apart != rate.apart else rate.apart},
        "whole": session.whole
        and {
            **session.whole._asdict(),
            "seconds": session.whole_seconds,
            "process_seconds": session.process_seconds,
        },
        "promised_seconds": session.promised_seconds if session.promised_seconds == session.promised_seconds else None,
        "measured_seconds": session.measured_seconds,
        "per_step": session.per_step and session.per_step._asdict(),
        "usd_per_hour": usd_per_hour,
        "doubts": session.doubts,
        "use": {
            "peak_memory_mib": meter.peak_memory_mib,
            "cpu_seconds": meter.cpu_seconds,
            "other_cpu_seconds": meter.other_cpu_seconds,
            "peak_gpu_memory_mib": meter.peak_gpu_memory_mib,
            "gpu_busy": sum(meter.gpu_busy) / len(meter.gpu_busy) if meter.gpu_busy else None,
            "energy_joules": meter.energy_joules,
            "stalled_share": meter.stalled_share,
            "slowed_share": meter.slowed_share,
            "processes": meter.processes,
            "cards": session.cards,
        },
        "machine": asdict(session.machine),
        "provenance": {
            "ended_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "platform": sys.platform,
            "git": git(),
            "environment": {
                name: value
                for name, value in sorted(os.environ.items())
                if _KEPT.match(name) and not _SECRET.search(value)
            },
        },
    }


def _thinned(points: Sequence[Any], most: int = 1000) -> list[Any]:
    every = max(1, -(-len(points) // most))
    return [*points[::every], *([points[-1]] if (len(points) - 1) % every else [])]


def forget() -> int:
    """Remove all records, and the ledger; return how many records there were."""
    there = [path for path in folder().glob("*") if path.is_dir() and not path.is_symlink()]
    for path in there:
        shutil.rmtree(path)
    for path in (ledger_file(), page_file()):
        path.unlink(missing_ok=True)
        remove_parts(path)
    return len(there)


#: How a folder cannot be given a name that another record has, or a file.
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)


def keep(session: Session, page: str, usd_per_hour: float | None = None) -> Path | None:
    """Write the record and its page; return their folder, None where the user's data folder cannot be written.

    The folder is whole or not there: it is made under another name.
    """
    name = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H-%M-%S")
    part = folder() / f".{name}-{os.getpid()}"
    try:
        part.mkdir(parents=True)
        (part / "report.html").write_text(page, encoding="utf-8")
        (part / "run.json").write_text(json.dumps(of(session, usd_per_hour), indent=1) + "\n", encoding="utf-8")
        for attempt in range(100):
            place = folder() / (f"{name}-{attempt}" if attempt else name)
            try:
                part.rename(place)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            else:
                return place
    except OSError:
        pass
    shutil.rmtree(part, ignore_errors=True)
    return None
