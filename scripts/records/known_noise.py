"""What is known of the noise of machines, by their kind."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

#: `make docs` writes what it holds of the project's own runs.
FILE = Path(__file__).resolve().parents[2] / "config" / "noise.yaml"


@cache
def by_kind() -> dict[str, Any]:
    """Return what is known of machines by their kind (`config/noise.yaml`)."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found
