"""CSV per epoch, as Max Woolf's studies of 2017 were published: `<folder>/<workload>_<framework>.csv`.

Time to train is the sum of `elapsed`, as in those studies; without it, as Keras's own CSVLogger leaves it out, a log is
read as `epochs_csv` reads it.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _epochs, _logs
from scripts.importers.formats import epochs_csv

HELP = "CSV with a row per epoch, named <folder>/<workload>_<framework>.csv (the logs of 2017)"

FRAMEWORKS = ("cntk", "jax", "mxnet", "tensorflow", "theano", "torch")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the CSV files below `folder`. Raises InputError if there is no such folder."""
    return _logs.read(folder, layout, (".csv",), _parse)


def _parse(name: PurePosixPath, text: str) -> Iterator[dict[str, Any]]:
    workload, _, framework = name.stem.rpartition("_")
    if not workload or framework not in FRAMEWORKS:
        raise _logs.Refused(
            f"the name must be <workload>_<framework>.csv, the framework one of {', '.join(FRAMEWORKS)}; "
            "under other names: format: epochs_csv"
        )
    header = [cell.strip() for cell in text.partition("\n")[0].split(",")]
    if "elapsed" not in header and {"epoch", "loss"} <= set(header):
        yield {"workload": workload, "framework": framework, **epochs_csv.facts(text)}
        return
    yield {"workload": workload, "framework": framework, **_epochs.parse(text)}
