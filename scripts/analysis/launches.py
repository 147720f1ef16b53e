"""Cells of PyTorch on a GPU with steps so short that they may show how fast Python starts kernels, not the card."""

import pandas as pd

from scripts.storage.axes import CELL
from scripts.storage.numbers import number

#: A step of a small Keras model on PyTorch is some hundreds of kernels, and Python takes 5 to 10 us to start each:
#: below this the card may have waited for them. An estimate of ours, as no card has been measured.
STEP_SECONDS = 0.005

#: What a loop's settings say that starts all kernels of a step at once.
_GRAPH = "CUDA graph"


def step_seconds(runs: pd.DataFrame) -> pd.Series:
    """Return the seconds of a step, the median of its runs, by cell of PyTorch on a GPU without a CUDA graph.

    Logs of others do not say how they ran: they have no settings.
    """
    alone = runs["settings"].notna() & ~runs["settings"].fillna("").str.contains(_GRAPH, regex=False)
    some = runs[(runs["status"] == "done") & (runs["framework"] == "torch") & runs["gpu_model"].notna() & alone]
    seconds = some["global_batch_size"].astype(float) / some["samples_per_second"].astype(float)
    return some.assign(seconds=seconds).groupby(CELL, sort=False, dropna=False)["seconds"].median().dropna()


def words(runs: pd.DataFrame, brief: bool = False) -> str:
    """Return what is to be said beside figures of these runs; nothing where no cell has such short steps."""
    steps = step_seconds(runs)
    short = steps[steps < STEP_SECONDS]
    if short.empty:
        return ""
    if brief:
        return "PyTorch without CUDA graph: short steps may be launch time."
    cells = "configurations" if len(steps) > 1 else "configuration"
    return (
        f"PyTorch ran without a CUDA graph, each batch started from Python: {len(short)} of its {len(steps)} {cells} "
        f"on a GPU took less than {number(1000 * STEP_SECONDS)} ms a step (from {number(1000 * short.min())} ms), "
        "which may be the time to launch kernels and not the card's. JAX's tuned loop starts an epoch at once."
    )
