"""Where a run comes from: taken on the machine that trained."""

import hashlib
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scripts.storage import environment

ROOT = Path(__file__).resolve().parents[2]


#: Ends a git that hangs (s). On a busy machine one that looks through a checkout took more than ten.
_LIMIT_SECONDS = 120


def _git(*arguments: str) -> str | None:
    command = ["git", *arguments]
    try:
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def commit() -> tuple[str, bool] | None:
    """Return the commit that is checked out, and whether files differ from it; None without one.

    A copy of the project within another checkout, as a kit may be unpacked, is not of that one's commit.
    """
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT:
        return None
    head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    return None if head is None or changed is None else (head, bool(changed))


def digest(*files: Path) -> str:
    """Return a checksum of files."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def collect(found: dict[str, Any], workload_file: Path | None) -> dict[str, Any]:
    """Return when and where a run started; `found` is what `hardware.detect` saw.

    `workload_file` is that of a workload which is not the project's, and so not known from the commit.
    """
    known = commit()
    if known is None:  # sent to a machine without its history: who sent it says of which commit it is
        known = json.loads(environment.COMMIT.read() or "null")
    return {
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "hardware": found,
        "python": platform.python_version(),
        "git_commit": known and known[0],
        "git_dirty": known and known[1],
        "workload_sha256": workload_file and hashlib.sha256(workload_file.read_bytes()).hexdigest(),
        "container": os.environ.get("CONTAINER_IMAGE"),
        "load_average": os.getloadavg()[0],
    }
