"""Where a run comes from: taken on the machine that trained."""

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def collect(found: dict[str, Any], workload_file: Path | None) -> dict[str, Any]:
    """Return when and where a run started; `found` is what `hardware.detect` saw.

    `workload_file` is that of a workload which is not the project's, and so not told by the commit.
    """
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "hardware": found,
        "python": platform.python_version(),
        "git_commit": _git("rev-parse", "HEAD"),
        "git_dirty": None if changed is None else bool(changed),
        "workload_sha256": workload_file and hashlib.sha256(workload_file.read_bytes()).hexdigest(),
        "container": os.environ.get("CONTAINER_IMAGE"),
        "load_average": os.getloadavg()[0],
    }
