"""What a study's runs cost: measured once, priced many times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.costs import billing, hourly, outcomes, spot

#: What a bill needs of an attempt (a row of the attempts table), and its types.
ATTEMPT = {"run": "string"} | dict.fromkeys(("boot_seconds", "wait_seconds", "used_seconds", "lost_seconds"), float)

RUN = ["run", "workload", "hardware", "framework", "batch_size", "mode", "precision", "devices", "repeat"]


def table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows of `hourly.price_rows` as a table, columns as in `hourly.COLUMNS`."""
    return pd.DataFrame(rows, columns=hourly.COLUMNS)


def useful_seconds(runs: pd.DataFrame) -> pd.Series:
    """Return how long (s) a training of full length keeps a machine busy; of a log, its time to train.

    Missing where a run at a reduced scale does not record its rate, and of a speed test, which is no training.
    """
    unknown = runs["published_seconds"].isna() & runs["total_seconds"].notna() & _is_short(runs)
    return runs["published_seconds"].fillna(runs["train_seconds"]).mask(unknown | _is_speed_test(runs))


def price_runs(runs: pd.DataFrame, prices: pd.DataFrame, attempts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return one row per run and price option, with what its training cost (USD).

    What has no `useful_seconds` has no cost but that of a million samples, by its rate. `used_seconds` adds what
    preemptions are expected to take (`spot.expected_seconds`), or what they took where attempts were recorded.
    `cost_usd` is what a training of full length is billed alone on a machine (`paid_seconds`): used_seconds
    and, where a cluster records it, what its machines took until its processes began, each attempt rounded as the
    provider does; under a price option that is `in_a_row`, used_seconds alone. `billed_usd` is the bill of the run as
    it was.

    Args:
        runs: the runs table. A run that did not train to its end, or whose machine has no price, has no row.
        prices: from `table`.
        attempts: the attempts table; None or less than two rows for a run: one attempt.
    """
    tries = pd.DataFrame(columns=list(ATTEMPT)) if attempts is None else attempts.reindex(columns=list(ATTEMPT))
    tries = tries.astype(ATTEMPT)
    # A run of one attempt took what its process did.
    several = tries[tries.duplicated("run", keep=False)]
    known = runs["train_seconds"].notna() | runs["samples_per_second"].notna() | runs["run"].isin(several["run"])
    done = runs[(runs["status"] == "done") & known]
    keep = [
        *RUN,
        "global_batch_size",
        "train_samples",
        "epochs_done",
        "samples_per_second",
        "total_seconds",
        "is_training",
        "published_samples",
        "published_seconds",
        "train_seconds",
        "observed_seconds",
    ]
    done = done if "observed_seconds" in done else done.assign(observed_seconds=np.nan)
    costs = done[keep].assign(useful_seconds=useful_seconds(done)).merge(prices, on="hardware")
    useful = costs["useful_seconds"].astype(float)
    lived = costs[["total_seconds", "train_seconds"]].astype(float).max(axis=1).fillna(useful)
    # A command was ended when enough of it was seen: the rest of its times is expected, and was not paid.
    lived = costs["observed_seconds"].astype(float).fillna(lived)
    expected = spot.expected_seconds(
        useful.to_numpy(), *(costs[key].to_numpy(dtype=float) for key in hourly.PREEMPTION)
    )
    costs["used_seconds"] = np.where(costs["preemptions_per_hour"] > 0, expected, useful)
    costs["lost_seconds"] = np.where(costs["preemptions_per_hour"] > 0, expected - useful, 0.0)
    costs["lived_seconds"] = lived + costs["lost_seconds"]
    costs = _with_job_clock(costs, tries[~tries["run"].isin(several["run"])])
    if len(several):
        done_samples = (costs["train_samples"] * costs["epochs_done"]).astype(float)
        # A run that was resumed has no clock of its own: what it lacks of full length follows from its rate.
        missing = (costs["published_samples"].astype(float) - done_samples) / costs["samples_per_second"].astype(float)
        more = (useful - lived).where(costs["published_seconds"].notna(), missing).clip(lower=0)
        unknown = _is_short(costs) | _is_speed_test(costs)
        costs = _bill_attempts(costs, several, more.where(more.notna() | unknown, 0.0))
    costs["paid_seconds"] = costs["paid_seconds"].mask(costs["in_a_row"].astype(bool), costs["used_seconds"])
    for bound in ("", "_low", "_high"):
        costs[f"cost_usd{bound}"] = billing.cost_usd(costs["paid_seconds"], costs[f"usd_per_hour{bound}"])
    costs["billed_usd"] = billing.cost_usd(costs["billed_seconds"], costs["usd_per_hour"])
    samples = (costs["train_samples"] * costs["epochs_done"]).astype(float)
    is_published = costs["published_samples"].notna() & costs["cost_usd"].notna() & costs["total_seconds"].notna()
    samples = samples.mask(is_published, costs["published_samples"].astype(float))
    by_rate = outcomes.usd_per_million_samples(costs["usd_per_hour"], costs["samples_per_second"].astype(float))
    per_million = (costs["cost_usd"] / samples * 1e6).where(samples.notna() & costs["cost_usd"].notna(), by_rate)
    costs["usd_per_million_samples"] = per_million
    costs["samples_per_usd"] = 1e6 / per_million.where(per_million > 0)
    return costs.drop(columns=keep[len(RUN) :])


def _is_speed_test(runs: pd.DataFrame) -> pd.Series:
    return runs["is_training"].eq(False).fillna(False).astype(bool)


def _is_short(runs: pd.DataFrame) -> pd.Series:
    """Return which runs trained less than the full length; none of those that do not record it."""
    done = (runs["train_samples"] * runs["epochs_done"]).astype(float)
    return done < runs["published_samples"].astype(float) * (1 - 1e-9)


def _with_job_clock(costs: pd.DataFrame, single: pd.DataFrame) -> pd.DataFrame:
    """Add `boot_seconds`, `billed_seconds` and `paid_seconds` of runs of one attempt.

    The attempt begins before its process: what a cluster records of its start is billed up to there.
    """
    recorded = single[single["wait_seconds"].notna()].set_index("run")
    boot = costs["run"].map(recorded["boot_seconds"]).astype(float)
    before = costs["run"].map(recorded["wait_seconds"]).astype(float) + boot.fillna(0.0)
    of_attempt = costs["run"].map(recorded["used_seconds"]).astype(float) + costs["lost_seconds"]
    kept = costs["lived_seconds"].where(~(of_attempt > costs["lived_seconds"]), of_attempt) + before.fillna(0.0)
    billed, paid = (
        billing.billed_seconds(seconds.to_numpy(), costs["increment_seconds"], costs["minimum_seconds"])
        for seconds in (kept, costs["used_seconds"] + kept - costs["lived_seconds"])
    )
    return costs.assign(boot_seconds=boot, billed_seconds=billed, paid_seconds=paid)


def _bill_attempts(costs: pd.DataFrame, attempts: pd.DataFrame, more: pd.Series) -> pd.DataFrame:
    """Replace expected by recorded seconds, each attempt rounded for itself; one unknown makes all unknown.

    `more` is what a training of full length takes beyond the run as it was.
    """
    costs = costs.assign(more_seconds=more)
    wanted = ["run", "price_option", "increment_seconds", "minimum_seconds", "more_seconds"]
    each = costs[wanted].merge(attempts, on="run")
    is_last = ~each.duplicated(["run", "price_option"], keep="last")
    kept = each["used_seconds"] + each[["boot_seconds", "wait_seconds"]].sum(axis=1)
    whole = kept + each["more_seconds"].where(is_last, 0.0)
    for column, seconds in (("billed_seconds", kept), ("paid_seconds", whole)):
        each[column] = billing.billed_seconds(seconds.to_numpy(), each["increment_seconds"], each["minimum_seconds"])
    # What the last attempt does beside training is no loss: it would have done so, too, as the first.
    each["lost_seconds"] = each["lost_seconds"].mask(is_last, 0.0)
    keys = each.groupby(["run", "price_option"])
    real = keys[["used_seconds", "billed_seconds", "paid_seconds", "lost_seconds"]].sum(skipna=False)
    real["boot_seconds"] = keys["boot_seconds"].sum(min_count=1)
    real["lived_seconds"] = real["used_seconds"]
    costs = costs.merge(
        real.add_prefix("real_").reset_index(), on=["run", "price_option"], how="left", indicator="recorded"
    )
    recorded = costs["recorded"] == "both"
    for column in map(str, real):
        costs[column] = costs[column].mask(recorded, costs[f"real_{column}"])
    costs["used_seconds"] = costs["used_seconds"] + costs["more_seconds"].where(recorded, 0.0)
    return costs.drop(columns=[*map("real_{}".format, real), "recorded", "more_seconds"])


def spent(runs: pd.DataFrame, attempts: pd.DataFrame, prices: pd.DataFrame) -> pd.DataFrame:
    """Return what runs took and cost whatever became of them: run, hardware, used_seconds, usd.

    Args:
        runs, attempts: the tables; a run without attempts was one, of its process's life. Where a cluster records it,
            usd holds what an attempt's machine took until it began.
        prices: rows of `table` under one price option; usd is NaN where a machine has none.
    """
    tries = attempts[["run", "used_seconds"]].assign(before=attempts[["boot_seconds", "wait_seconds"]].sum(axis=1))
    tries = tries.merge(runs[["run", "hardware"]], on="run")
    used = runs["total_seconds"]
    used = runs["observed_seconds"].fillna(used) if "observed_seconds" in runs else used
    single = runs.assign(used_seconds=used).loc[~runs["run"].isin(tries["run"]), ["run", "hardware", "used_seconds"]]
    each = pd.concat([tries, single], ignore_index=True)
    each = each.astype({"used_seconds": float, "before": float}).fillna({"before": 0.0})
    each = each.merge(
        prices[["hardware", "usd_per_hour", "increment_seconds", "minimum_seconds"]], on="hardware", how="left"
    )
    known = each["usd_per_hour"].notna()
    billed = billing.billed_seconds(
        (each["used_seconds"] + each["before"]).to_numpy(),
        each["increment_seconds"].where(known, 1.0).to_numpy(dtype=float),
        each["minimum_seconds"].where(known, 0.0).to_numpy(dtype=float),
    )
    each["usd"] = billing.cost_usd(billed, each["usd_per_hour"].astype(float))
    return each.groupby(["run", "hardware"], sort=False, as_index=False)[["used_seconds", "usd"]].sum(skipna=False)
