"""Imports, in the process that verbs are forks of, what verbs import: on import, as it is preloaded."""

import gc
import tempfile
from pathlib import Path

from tests.faults import stage, verbs  # noqa: F401 - what the forks run

with tempfile.TemporaryDirectory() as folder:
    for number, make in enumerate((stage.imported, stage.trained)):
        make(Path(folder) / str(number)).all()
gc.collect()
gc.freeze()
