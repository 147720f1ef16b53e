"""TensorBoard's event files: the folder of a run, with what was logged and when.

The files of a folder are one training, that of the evaluation in `validation`, `val` or `eval` below or beside it with
it. The clock is the wall time of the events; a file's first one says when it was begun. Files beside another log of the
same training (`trainer_state.json`, `metrics.csv`) are that log's clock, and no run of their own.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _events, _logs, _metrics
from scripts.importers._logs import Log, Refused
from scripts.importers._seconds import Said

HELP = "TensorBoard's event files (*tfevents*)"

#: Folders of what is no training of its own, beside the training's or below it.
_ASIDE = ("validation", "val", "eval", "test")
PARTS = (*_ASIDE, "train")

#: Where a step of these is an epoch, its number counts from 0: Keras's.
_EPOCHS = ("epoch_loss", "epoch_accuracy", "epoch_learning_rate")


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the event files below `folder`. Raises InputError if there is no such folder."""
    _logs.check(folder)
    found = [PurePosixPath(path.relative_to(folder).as_posix()) for path in _events.files(folder)]
    names = [name for name in found if not any(part.startswith(".") for part in name.parts)]
    return _logs.read_each(folder, layout, [(name, runs_of) for name in names], "*tfevents*")


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name."""
    return "tfevents" in name.name


def runs_of(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the run of a folder with the first of its files; none with others. Raises Refused for no events."""
    place = log.path.parent
    own = sorted(path for path in place.glob("*tfevents*") if path.is_file())
    if log.path != own[0] or _is_aside(place) or is_clock_of_another(place):
        return
    try:
        rows, aside = _events.rows(own), _events.rows(_of_evaluation(place))
    except _events.FAULTS as fault:
        raise Refused(f"not a file of events: {fault}") from fault
    logged = [row for row in rows if row.values]
    if not logged:
        raise Refused("holds no number that was logged: a graph or a text alone")
    values: dict[str, list[float]] = {}
    for prefix, some in (("", logged), ("val_", aside)):
        for row in some:
            for key, value in row.values.items():
                values.setdefault(prefix + key.removeprefix("epoch_"), []).append(value)
    counts_epochs = any(key in row.values for row in logged for key in _EPOCHS)
    last = max(row.step for row in logged)
    epochs = last + 1 if counts_epochs else _metrics.epochs(values)
    clock = [(row.at, row.step + 1 if counts_epochs else row.step) for row in logged]
    yield {
        **_metrics.last(values),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": None if counts_epochs else _metrics.steps(row.step for row in logged),
        "said": Said(
            clock=[*clock, *((row.at, None) for row in aside if row.values)],
            began=rows[0].at,
            steps=last,
            epochs=epochs,
            lacks="all events are of one moment",
        ),
    }


def _of_evaluation(place: Path) -> list[Path]:
    """Return the event files of a training's evaluation: below its folder, or beside a folder `train`."""
    folders = [place / name for name in _ASIDE]
    folders += [place.parent / name for name in _ASIDE] if place.name == "train" else []
    return [path for folder in folders for path in _events.files(folder)]


def _is_aside(place: Path) -> bool:
    """Return whether a folder is that of an evaluation, beside or below the events of its training."""
    if place.name not in _ASIDE:
        return False
    return any(True for _ in place.parent.glob("*tfevents*")) or any(
        folder.is_dir() and folder.name == "train" for folder in place.parent.iterdir()
    )


def is_clock_of_another(place: Path) -> bool:
    """Return whether another log of the same training lies beside a folder of events."""
    if (place / "metrics.csv").is_file():
        return True
    for folder in (place, *place.parents[:3]):
        if folder.name == "runs":
            states = [folder.parent / "trainer_state.json", *folder.parent.glob("checkpoint-*/trainer_state.json")]
            return any(state.is_file() for state in states)
    return False
