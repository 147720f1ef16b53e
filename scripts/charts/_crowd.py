"""Which cells a chart shows where there are more than a person can read: the best, the worst, and the base."""

from dataclasses import replace
from types import ModuleType

import pandas as pd

from scripts.charts import _theme
from scripts.charts._relative import is_base
from scripts.charts._view import View
from scripts.storage.axes import CELL
from scripts.storage.tables import known, records

#: The most rows of bars or dots, how many of them are the best, and the most panels of machines likewise.
ROWS, BEST_ROWS = 40, 28
PANELS, BEST_PANELS = 12, 8


def readable(view: View, module: ModuleType) -> tuple[View, str]:
    """Return what is drawn of a view, and what the caption says of what is not; all of it where it can be read.

    A chart whose rows are cells names in `ROWS_BY` what orders them (`train_seconds` or `cost_usd`), and in `ROWS_EACH`
    how many rows a cell has, if not one; one with a panel for each machine in `PANELS_BY`; other charts show all. With
    `ALIKE`, an axis, those cells stay, too, that differ from one that is drawn in that axis alone. Long names leave
    room for fewer rows.
    """
    by = getattr(module, "ROWS_BY", None) or getattr(module, "PANELS_BY", None)
    if by is None:
        return view, ""
    rows = hasattr(module, "ROWS_BY")
    keys = CELL if rows else ["hardware"]
    most, best = _most_rows(view, getattr(module, "ROWS_EACH", 1)) if rows else (PANELS, BEST_PANELS)
    values = view.costs[view.costs["price_option"] == view.price_option] if by == "cost_usd" else view.runs
    ordered = values.groupby(keys, sort=False, dropna=False)[by].median().sort_values(kind="stable")
    if len(ordered) <= most:
        return view, ""
    known_values = ordered.dropna()
    worst = min(most - 1 - best, max(0, len(known_values) - best))
    chosen = {*map(_key, known_values.index[:best]), *map(_key, known_values.index[len(known_values) - worst :])}
    of_runs = [_key(key) for key in view.runs[keys].itertuples(index=False, name=None)]
    drawn = pd.Series([key in chosen for key in of_runs], index=view.runs.index) | is_base(view.runs, view)
    axis = getattr(module, "ALIKE", None)
    if axis:
        others = [name for name in CELL if name != axis]
        beside = {known(key) for key in view.runs.loc[drawn, others].itertuples(index=False, name=None)}
        alike = [known(key) in beside for key in view.runs[others].itertuples(index=False, name=None)]
        drawn |= pd.Series(alike, index=view.runs.index)
    runs = view.runs[drawn]
    what = "configurations" if rows else "machines"
    words = f" Of {len(ordered)} {what} the {best} lowest in {'cost' if by == 'cost_usd' else 'time'}, the {worst} "
    words += "highest and the base are drawn; all are in the tables."
    epochs, costs = (frame[frame["run"].isin(runs["run"])] for frame in (view.epochs, view.costs))
    return replace(view, runs=runs, epochs=epochs, costs=costs), words


def _most_rows(view: View, each: int) -> tuple[int, int]:
    """Return how many cells of so many rows each can be read, and how many of them are the best."""
    names = [view.name(cell) for cell in records(view.runs[CELL].drop_duplicates())]
    most = min(ROWS // each, _theme.fitting(names, each))
    return most, most * BEST_ROWS // ROWS


def _key(key: object) -> tuple:
    return known(key if isinstance(key, tuple) else (key,))
