"""How long pricing takes as runs grow: rows a second, the growth from size to size, and a plain loop beside it.

Ratios within one run only: a time by itself says more about the machine than about the code. Nothing passes or fails.
"""

import tempfile
from collections.abc import Callable
from math import ceil
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

from scripts.costs import prices
from scripts.storage import tables
from tests import made

SIZES = (10**3, 10**4, 10**5, 10**6)
LOOP_SIZES = (10**3, 10**4)
ROUNDS = 5

_PREEMPTION = {"preemptions_per_hour": 0.1, "checkpoint_seconds": 600, "restart_seconds": 60}
OPTIONS = {
    "on-demand": {"purchase": "on-demand"},
    "spot": {"purchase": "on-demand", "discount": {"share": 0.7, "source": "made up"}},
    "preempted": {"purchase": "on-demand", "preemption": _PREEMPTION},
}


def some_runs(count: int) -> pd.DataFrame:
    """Return a runs table of so many runs of all lengths, on two machines."""
    random = np.random.default_rng(count)
    seconds = random.lognormal(6, 2, count)
    columns = {
        "run": [f"mnist_mlp/cpu{i % 2}/jax/b128/r{i}" for i in range(count)],
        "hardware": random.choice(["cpu1", "cpu4"], count),
        "train_seconds": seconds,
        "total_seconds": seconds + 30,
    }
    one = made.runs(made.run())
    return tables.conform(one.loc[np.zeros(count, dtype=int)].reset_index(drop=True).assign(**columns), "runs")


def loop(runs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return what `price_runs` does, row by row and without preemptions: as one would first write it."""
    offers = table.to_dict("records")
    rows = []
    for run in runs.to_dict("records"):
        for offer in offers:
            if run["status"] != "done" or offer["hardware"] != run["hardware"]:
                continue
            used, whole = run["train_seconds"], run["total_seconds"]
            billed = max(
                ceil(round(whole / offer["increment_seconds"], 6)) * offer["increment_seconds"],
                offer["minimum_seconds"],
            )
            costs = {f"cost_usd{end}": used * offer[f"usd_per_hour{end}"] / 3600 for end in ("", "_low", "_high")}
            samples = run["train_samples"] * run["epochs_done"] - run["batch_size"]
            per_million = costs["cost_usd"] / samples * 1e6
            rows.append(
                {key: run[key] for key in prices.RUN}
                | offer
                | costs
                | {"useful_seconds": used, "used_seconds": used, "billed_seconds": billed}
                | {"billed_usd": billed * offer["usd_per_hour"] / 3600}
                | {"usd_per_million_samples": per_million, "samples_per_usd": 1e6 / per_million}
            )
    return pd.DataFrame(rows)


def main() -> None:
    console = Console(stderr=True)
    table = made.prices(options=OPTIONS)
    with console.status(f"making {max(SIZES):,} runs"):
        frames = {size: some_runs(size) for size in SIZES}
    work: dict[tuple[str, int], Callable[[], object]] = {}
    for size in SIZES:
        work["price_runs", size] = lambda frame=frames[size]: prices.price_runs(frame, table)
    for size in LOOP_SIZES:
        work["loop", size] = lambda frame=frames[size]: loop(frame, table)
    seconds: dict[tuple[str, int], list[float]] = {name: [] for name in work}
    order = [name for _ in range(ROUNDS) for name in work]
    for name in track(order, "pricing", console=console, transient=True):
        start = perf_counter()
        work[name]()
        seconds[name].append(perf_counter() - start)
    took = {name: median(times) for name, times in seconds.items()}

    print(f"prices.price_runs, {len(OPTIONS)} price options; median of {ROUNDS} interleaved rounds")
    print(f"{'runs':>9} {'seconds':>9} {'rows/s':>11} {'time x':>7} (for 10 x the runs)")
    for before, size in zip((None, *SIZES), SIZES, strict=False):
        growth = f"{took['price_runs', size] / took['price_runs', before]:.1f}" if before else ""
        rows = size * len(OPTIONS)
        print(f"{size:>9,} {took['price_runs', size]:>9.4f} {rows / took['price_runs', size]:>11,.0f} {growth:>7}")
    for size in LOOP_SIZES:
        ratio = took["loop", size] / took["price_runs", size]
        print(f"a plain loop over {size:,} runs takes {took['loop', size]:.4f} s, {ratio:.1f} x as long")

    one_option = made.prices(options={"on-demand": OPTIONS["on-demand"]})
    print("priced at one option, and written as Parquet and CSV (goal for 1,000,000 runs: 10 s)")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            start = process_time()
            tables.write(prices.price_runs(frames[size], one_option), "costs", Path(folder, "costs.parquet"))
            print(f"{size:>9,} {process_time() - start:>9.2f} CPU s")


if __name__ == "__main__":
    main()
