"""What the runs of a study cost: by cell, at another price, to a target, and on a machine that is owned. Pure."""

from collections.abc import Mapping
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from scripts.analysis import scale_ups, statistics, verdicts
from scripts.analysis.summary import measure, reference
from scripts.analysis.verdicts import Judge
from scripts.costs import billing, outcomes, ownership, uncertainty
from scripts.storage.axes import CELL
from scripts.storage.numbers import number
from scripts.storage.tables import cell_of, cells_of, records

#: A price so many days older than a run is said to be: providers change theirs a few times a year.
OLD_DAYS = 90

#: What is known of the cost of each run, and the ends of what an hour costs.
_FIGURES = ("useful_seconds", "paid_seconds", "cost_usd", "billed_usd", "samples_per_usd")
_RATES = ("usd_per_hour_low", "usd_per_hour", "usd_per_hour_high")

#: By what a run is billed.
_BILL = ("used_seconds", "increment_seconds", "minimum_seconds", "in_a_row")


def by_cell(
    costs: pd.DataFrame, base: Mapping[str, Any], judge: Judge, shares: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    """Return one row per cell: what a run costs (USD), between which ends, and how that compares with the base cell.

    `costs` are those of one price option; cells of which no run has a time, and so no cost, are left out. The base cell
    of a workload is its first that has the values of `base`; without any there is none. `shares` are those of the
    full length that runs have trained (`clocks.shares`); of what is unknown, a run is taken for whole.

    Keys beside the cell's: `cost_usd` (median of what a training of full length is billed), `low` and
    `high` (observed ends: fastest run at the lowest price, slowest at the highest), `interval` (low, high and coverage
    of a distribution-free interval of the median at the price; None below six runs; both with the error of what is
    extrapolated, as far as that is known), `runs`, `is_base`, `compared` with the base cell (a `Comparison`; None for
    itself),
    `cheaper` (the probability that its next run costs less than the base cell's; None below six runs on a side),
    `billed_usd` (a run alone), `samples_per_usd`, and `front` (no cell of the workload clearly beats it
    in both time and cost).
    """
    rows: list[dict[str, Any]] = []
    # What is not known of a run is NaN, and leaves its cell out of what would need it.
    columns = {name: costs[name].to_numpy(dtype=float, na_value=nan) for name in (*_FIGURES, *_RATES, *_BILL)}
    columns["run"] = costs["run"].to_numpy()
    by_workload: dict[str, list[tuple[dict[str, Any], dict[str, np.ndarray]]]] = {}
    for about, places in cells_of(costs):
        cell = {name: values[places] for name, values in columns.items()}
        if not np.isnan(cell["cost_usd"]).all():
            by_workload.setdefault(about["workload"], []).append((about, cell))
    for cells in by_workload.values():
        matching = (one for one in cells if base and all(one[0][key] == base[key] for key in base))
        of_base = next(matching, None)
        # What was only resumed has no time of its own.
        timed = [place for place, (_, cell) in enumerate(cells) if not np.isnan(cell["useful_seconds"]).all()]
        times, paid = ([cells[place][1][name] for place in timed] for name in ("useful_seconds", "cost_usd"))
        machines = [cells[place][0]["hardware"] for place in timed]
        front = {place for place, best in zip(timed, verdicts.front(judge, times, paid, machines), strict=True) if best}
        for place, (about, cell) in enumerate(cells):
            cheaper = compared = None
            if of_base is not None and cell is not of_base[1]:
                pair = about["hardware"], of_base[0]["hardware"]
                compared = judge.compare(cell["cost_usd"], of_base[1]["cost_usd"], pair)
                cheaper = _probability_cheaper((about, cell), of_base, judge)
            prices = [float(cell[rate][0]) for rate in _RATES]
            off = scale_ups.of_runs(cell["run"], shares or {})
            ends = uncertainty.paid_if(cell, off[0]), uncertainty.paid_if(cell, off[1])
            low, cost, high = uncertainty.cost_range(cell["paid_seconds"], prices[0], prices[1], prices[2], ends)
            interval = [statistics.median_interval(billing.cost_usd(end, prices[1])) for end in ends]
            rows.append(
                about
                | {
                    "cost_usd": cost,
                    "low": low,
                    "high": high,
                    "interval": interval[0] and interval[1] and (interval[0][0], *interval[1][1:]),
                    "runs": len(cell["cost_usd"]),
                    "is_base": of_base is not None and cell is of_base[1],
                    "compared": compared,
                    "cheaper": cheaper,
                    "billed_usd": _median(cell["billed_usd"]),
                    "samples_per_usd": _median(cell["samples_per_usd"]),
                    "front": place in front,
                }
            )
    return rows


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else nan


def _probability_cheaper(
    cell: tuple[dict[str, Any], dict[str, np.ndarray]],
    base: tuple[dict[str, Any], dict[str, np.ndarray]],
    judge: Judge,
) -> float | None:
    """Return the probability that the next run of a cell costs less than that of the base, price ranges counted."""
    (about, one), (about_base, other) = cell, base
    price = 1.0, 1.0  # the same machine has one price for both, wherever in its range
    if about["hardware"] != about_base["hardware"] and other["usd_per_hour_low"][0] > 0:
        low = one["usd_per_hour_low"][0] / other["usd_per_hour_high"][0]
        price = float(low), float(one["usd_per_hour_high"][0] / other["usd_per_hour_low"][0])
    if price[0] == price[1] and len({*one["cost_usd"], *other["cost_usd"]}) == 1:
        return None  # each is billed the least that there is
    machines = about["hardware"], about_base["hardware"]
    return judge.probability_less(one["paid_seconds"], other["paid_seconds"], price, machines)


def rent_or_own(machines: Mapping[str, Any], prices: pd.DataFrame) -> list[dict[str, Any]]:
    """Return for each machine that has both prices from how many hours of use a month owning is cheaper.

    Keys: hardware, price_option, rented (USD/h), owned (USD/h at the `use` of its entry, hours a month), source (of
    that), hours (more than a month has: never).
    """
    rows = []
    owned = prices[prices["purchase"] == "owned"].set_index("hardware")["usd_per_hour"]
    for row in records(prices[prices["purchase"] != "owned"]):
        if row["hardware"] not in owned.index:
            continue
        box = ownership.machine(machines[row["hardware"]]["own"])
        hours = float(ownership.break_even_hours_per_month(box, float(row["usd_per_hour"])))
        rows.append(
            {
                "hardware": row["hardware"],
                "price_option": row["price_option"],
                "rented": float(row["usd_per_hour"]),
                "owned": float(owned[row["hardware"]]),
                "source": machines[row["hardware"]]["own"]["source"],
                "use": machines[row["hardware"]]["own"]["hours_per_month"],
                "hours": hours,
            }
        )
    return rows


def to_targets(
    runs: pd.DataFrame, epochs: pd.DataFrame, costs: pd.DataFrame, targets: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return one row per cell of a workload with a target: when its runs first reached it, and at what cost.

    The time is that of whole epochs with their validation and, in the first one, the first step. Keys beside
    the cell's: target, metric, runs, reached (runs that did), seconds and cost_usd: medians over all runs, one that
    did not reach it counting as infinite (AlgoPerf); None where half of them did not.
    `costs` are those of one price option. What synthetic data teach has no target.
    """
    rows = []
    priced = costs.drop_duplicates("hardware").set_index("hardware")
    for workload, target in targets.items():
        no_measurement = runs["data"].eq("synthetic").fillna(False) | runs["status"].eq("disturbed")
        left_out = runs.loc[no_measurement, "run"]
        of_workload = epochs[(epochs["workload"] == workload) & ~epochs["run"].isin(left_out)]
        if of_workload.empty:
            continue
        metric = measure(reference(workload), of_workload)
        # A run that was resumed has two starts in its time.
        resumed = of_workload["cut"].fillna(0).gt(0) | (
            of_workload["epoch"].gt(0) & of_workload["first_step_seconds"].fillna(0).gt(0)
        )
        left_out = pd.concat([left_out, of_workload.loc[resumed, "run"]])
        of_workload = of_workload[~of_workload["run"].isin(left_out)]
        reached = outcomes.to_target(of_workload, metric, target, higher_is_better=metric == "val_acc")
        seconds = runs[runs["workload"].eq(workload) & ~runs["run"].isin(left_out)].assign(
            seconds=lambda frame: frame["run"].map(reached["seconds"])  # noqa: B023, used at once
        )
        for key, cell in seconds.groupby(CELL, sort=False, dropna=False):
            about = cell_of(key)
            times = cell["seconds"].astype(float).fillna(inf)
            median = float(times.median())
            time = median if isfinite(median) else None
            usd = _bill(time, priced.loc[about["hardware"]]) if time and about["hardware"] in priced.index else None
            rows.append(
                about
                | {
                    "metric": metric,
                    "target": target,
                    "runs": len(cell),
                    "reached": int(times.lt(inf).sum()),
                    "seconds": time,
                    "cost_usd": usd,
                }
            )
    return rows


def _bill(seconds: float, price: pd.Series) -> float:
    """Return what so many seconds cost (USD) at a row of the costs table, whose rule of billing counts."""
    rule = price["increment_seconds"], price["minimum_seconds"]
    paid = seconds if price["in_a_row"] else billing.billed_seconds(seconds, *rule)
    return float(billing.cost_usd(paid, price["usd_per_hour"]))


def then_and_now(study: Mapping[str, Any], machines: Mapping[str, Any], prices: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each machine's hourly price under the study's option and under `today`, and what is priced now.

    Keys: hardware, then and now (USD/h), ratio (now / then; None where another provider is priced), what, as_of. A
    study that has no price of today, or shows that one, has no rows.
    """
    if "today" not in study["prices"] or study["price"] == "today":
        return []
    instead = study["prices"]["today"].get("instead", {})
    then, now = (prices[prices["price_option"] == option].set_index("hardware") for option in (study["price"], "today"))
    rows = []
    for hardware in then.index:
        if "own" in machines.get(hardware, {}) and hardware not in now.index:
            continue  # nobody offers what is owned
        what, as_of, price = "not offered in today's books", "—", None
        if hardware in now.index:
            row = now.loc[hardware]
            rent = instead.get(hardware, machines.get(hardware, {}).get("rent", {}))
            items = (f"{count} {item}" if count > 1 else item for item, count in rent.get("items", {}).items())
            what = f"{row['provider']} {' + '.join(items)}".rstrip() + f", {row['purchase']}"
            as_of, price = row["price_as_of"], float(row["usd_per_hour"])
        before = float(then.loc[hardware, "usd_per_hour"])
        ratio = None
        if price is not None and now.loc[hardware, "provider"] == then.loc[hardware, "provider"]:
            ratio = price / before if before else None
        rows.append({"hardware": hardware, "then": before, "now": price, "ratio": ratio, "what": what, "as_of": as_of})
    return rows


def short_runs(price: str, costs: pd.DataFrame) -> str:
    """Return how many runs are shorter than the least that their provider bills at an option, in words."""
    rows = costs[(costs["price_option"] == price) & (costs["minimum_seconds"] > 0)]
    short = rows[rows["useful_seconds"] < rows["minimum_seconds"]]
    if short.empty:
        return ""
    if not short["in_a_row"].any():
        least = number(short["minimum_seconds"].max())
        return f"{len(short)} of {len(rows)} runs are shorter than the {least} s that their provider bills at least."
    more = (short["billed_usd"] / short["cost_usd"]).max()
    return (
        f"{len(short)} of {len(rows)} runs are shorter than the {number(short['minimum_seconds'].max())} s that their "
        f"provider billed at least: alone on a machine they would have cost up to {number(more)} times what is shown, "
        "which is the cost of one more run on a machine that is running."
    )


def least_bills(shown: pd.DataFrame) -> str:
    """Return how many processes are shorter than what their provider bills at least, in words; empty for none.

    `shown` are costs of one price option.
    """
    rows = shown[(shown["minimum_seconds"] > 0) & shown["billed_seconds"].notna()]
    least = rows[rows["billed_seconds"] <= rows["minimum_seconds"]]
    if least.empty:
        return ""
    many = f"All {len(rows)}" if len(least) == len(rows) else f"{len(least)} of {len(rows)}"
    return f"{many} processes lived less than {number(least['minimum_seconds'].max())} s: each is billed that."


def old_prices(prices: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Return which prices are `OLD_DAYS` and more older than the newest run, in words; empty for none.

    `prices` are rows of one price option, of prices or of costs. What runs of others were priced at is of their time.
    """
    days = runs["started_at"].dropna()
    known = sorted({str(day) for day in prices["price_as_of"] if len(str(day)) == len("YYYY-MM-DD")})
    if days.empty or not known:
        return ""
    newest = pd.Timestamp(days.max()[:10])
    old = [day for day in known if (newest - pd.Timestamp(day)).days >= OLD_DAYS]
    if not old:
        return ""
    return f"Prices of {' and '.join(old)} are up to {(newest - pd.Timestamp(old[0])).days} days older than the runs."
