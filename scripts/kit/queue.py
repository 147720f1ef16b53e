"""Which run comes next on a machine whose time ends soon: the most informative one that still ends in time. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.records.cell import LARGEST, Cell

#: What a run is taken to last of which nothing is known yet (s), and one that first searches the largest batch.
UNKNOWN_SECONDS = 60.0
UNKNOWN_SEARCH_SECONDS = 240.0

#: What is allowed beyond the longest known run: of the same cell, of its workload and framework, of its workload.
#: Between runs of one cell on a card that nobody shares the wall time differs by a few percent; between modes and
#: precisions mostly by what is compiled.
SAME_CELL, SAME_FRAMEWORK, SAME_WORKLOAD = 1.1, 1.5, 2.0


@dataclass(frozen=True)
class Run:
    """One run of a cell."""

    cell: Cell
    repeat: int

    @property
    def path(self) -> str:
        """Where its record lies below the study's folder."""
        return f"{self.cell.path}/r{self.repeat}"


def expected_seconds(run: Run, lasted: Mapping[Run, float]) -> float:
    """Return what a run is expected to last, from the wall times (s) of those that were trained or cut here."""
    if is_search(run):
        return max(UNKNOWN_SEARCH_SECONDS, SAME_CELL * lasted.get(run, 0.0))
    for allowed, axes in (
        (SAME_CELL, ("workload", "framework", "variant")),
        (SAME_FRAMEWORK, ("workload", "framework")),
        (SAME_WORKLOAD, ("workload",)),
    ):
        key = [getattr(run.cell, axis) for axis in axes]
        known = [
            seconds
            for past, seconds in lasted.items()
            if [getattr(past.cell, axis) for axis in axes] == key
            and (past.cell.batch_size == LARGEST) == (run.cell.batch_size == LARGEST)
        ]
        if known:
            return allowed * max(known)
    return UNKNOWN_SECONDS


def is_search(run: Run) -> bool:
    """Return whether a run looks for its batch size first, by trying larger ones."""
    return run.cell.batch_size == LARGEST and run.repeat == 1


def next_run(pending: Sequence[Run], lasted: Mapping[Run, float], seconds_left: float) -> Run | None:
    """Return the first of the `pending` runs, which stand in order of value, that ends in time; None if none does.

    Runs after the first wait for the largest batch that the first run of their cell finds.
    """
    waiting = {run.cell for run in pending if is_search(run)}
    for run in pending:
        if run.repeat > 1 and run.cell in waiting:
            continue
        if expected_seconds(run, lasted) <= seconds_left:
            return run
    return None
