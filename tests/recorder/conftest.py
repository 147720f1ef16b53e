"""The recorder of any command is a package of its own."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "plugins" / "epochs-per-dollar"
sys.path.insert(0, str(PACKAGE))
