"""The readers of the recorder, a package of its own: `epd run` follows growing files by them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "plugins" / "epochs-per-dollar"))

from epochs_per_dollar import lines, stores  # noqa: F401
from epochs_per_dollar.files import LOOK_SECONDS  # noqa: F401
from epochs_per_dollar.lines import Tick  # noqa: F401
