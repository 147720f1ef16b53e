"""What a study shows beside its runs: derived tables, and named figures for its claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.costs import billing, book, office, ownership, schedule
from scripts.storage.errors import InputError
from scripts.storage.tables import records

#: A printed time of two decimals of an hour may be off by half of the last one.
_HALF = 0.5

#: Days of the spans for which a rent is shown; the month is that of the articles.
_RENT_DAYS = {"day": 1, "week": 7, "month": 30.5}


def printed(study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return the printed cost of each machine beside the derived one, and whether their roundings meet.

    The derived cost has the range of the printed time's rounding and of the price; the printed one that
    of its own. Columns: hardware, train_seconds, val_acc, gpu_percent, usd_per_hour, billed_seconds,
    derived_usd, derived_usd_low, derived_usd_high, printed_usd, within, agrees, price_inferred.
    """
    about = study["printed"]
    rows = costs[costs["price_option"] == about["price"]].merge(
        runs[["run", "train_seconds", "val_acc", "gpu_percent"]], on="run"
    )
    rows = rows.assign(
        printed_usd=rows["hardware"].map({name: row["usd"] for name, row in about["rows"].items()}),
        within=rows["hardware"].map({name: row["within"] for name, row in about["rows"].items()}),
    ).dropna(subset="printed_usd")
    off = about["seconds_within"]
    rows["derived_usd"] = rows["billed_usd"]
    for bound, sign in (("low", -1), ("high", 1)):
        used = (rows["train_seconds"] + sign * off).clip(lower=0).astype(float)
        billed = billing.billed_seconds(used, rows["increment_seconds"], rows["minimum_seconds"])
        rows[f"derived_usd_{bound}"] = billing.cost_usd(billed, rows[f"usd_per_hour_{bound}"])
    rows["agrees"] = (rows["derived_usd_low"] <= rows["printed_usd"] + rows["within"]) & (
        rows["derived_usd_high"] >= rows["printed_usd"] - rows["within"]
    )
    keep = ["hardware", "train_seconds", "val_acc", "gpu_percent", "usd_per_hour", "billed_seconds", "derived_usd"]
    return rows[[*keep, "derived_usd_low", "derived_usd_high", "printed_usd", "within", "agrees", "price_inferred"]]


def several_gpus(study: Mapping[str, Any], runs: pd.DataFrame) -> pd.DataFrame:
    """Return the time to train with all GPUs of a machine and with one of them: label, gpus, hours, workload."""
    hours = runs.groupby(["workload", "hardware"], sort=False)["train_seconds"].median() / billing.SECONDS_PER_HOUR
    return pd.DataFrame(
        [
            {"workload": workload, "label": pair["label"], "gpus": gpus, "hours": float(hours[workload, pair[gpus]])}
            for workload in dict.fromkeys(runs["workload"])
            for pair in study["several_gpus"]
            for gpus in ("several", "one")
        ]
    )


def _office(study: Mapping[str, Any], runs: pd.DataFrame, prices: pd.DataFrame) -> dict[str, pd.DataFrame]:
    about = study["office"]
    samples = {name: float(batch * iterations) for name, (batch, iterations) in about["to_train"].items()}
    efficiencies = office.scaling(about["scaling"], about["batch_sizes"], list(samples))
    mean = office.mean_efficiency(efficiencies)
    shown = [value for name in samples for value in about["printed_means"][name]]
    single = runs.loc[runs["hardware"] == about["single"], ["workload", "batch_size", "samples_per_second"]]
    estimate = office.estimate(single, mean, about["gpus"], _HALF * 10 ** -about["efficiency_decimals"], _HALF)
    printed_estimates = {
        (name, size): value
        for name, values in about["printed_estimates"].items()
        for size, value in zip(about["batch_sizes"], values, strict=True)
    }
    estimate["printed"] = [printed_estimates[row["workload"], row["batch_size"]] for row in records(estimate)]
    estimate["agrees"] = (estimate["estimate_low"] <= estimate["printed"] + _HALF) & (
        estimate["estimate_high"] >= estimate["printed"] - _HALF
    )
    own = study["machines"][about["owned"]]["own"]
    box = ownership.machine(own)
    hourly = {
        row["price_option"]: float(row["usd_per_hour"]) for row in records(prices[prices["hardware"] == about["owned"]])
    }
    largest = estimate[estimate["batch_size"] == max(about["batch_sizes"])]
    # A printed gain holds at the hour's price it was reckoned with: at the one that follows from the breakdown, or
    # at the one that is printed. The box itself costs what the breakdown says.
    bases = {"owned": hourly["owned"]}
    if study["price"] in hourly:
        bases["printed"] = hourly[study["price"]]
    rents = prices[(prices["hardware"] != about["owned"]) & (prices["price_option"].isin(about["rents"]))]
    hours = ownership.break_even_hours_per_month(box, rents["usd_per_hour"].astype(float).to_numpy())
    rent = prices[prices["price_option"] == study["price"]].set_index("hardware")["usd_per_hour"]
    at = largest.set_index("workload")
    gains = pd.DataFrame(
        [
            {
                "against": against,
                "label": known["label"],
                "workload": known["workload"],
                "gain": known["gain"],
                "base": base,
                "at_usd_per_hour": at_usd,
                "gain_here": known["gain"] * at_usd / hourly["owned"],
                "break_even_days": office.break_even_days(box, known["gain"] * at_usd),
                # What one GPU of the rented machine must do, in samples/s, for the gain to be true.
                "implied_per_gpu": float(at["estimate"][known["workload"]])
                / at_usd
                / known["gain"]
                * float(rent[known["machine"]])
                / known["gpus"]
                if "machine" in known
                else None,
                "single": float(at["samples_per_second"][known["workload"]]),
            }
            for against, known in about["gains"].items()
            for base, at_usd in bases.items()
        ]
    )
    return {
        "scaling": efficiencies,
        "scaling_means": mean.assign(printed=shown),
        "estimate": estimate,
        "samples_per_usd": office.per_usd(estimate, hourly),
        "to_train": office.to_samples(largest, samples, hourly),
        "use": office.gain(box, gains, [day / 4 for day in range(4, 121)]),
        "gains": gains,
        "rents": rents[["hardware", "price_option", "usd_per_hour"]].assign(break_even_days=hours / 24),
    }


def _schedule(study: Mapping[str, Any], prices: pd.DataFrame) -> dict[str, pd.DataFrame]:
    about = study["schedule"]
    rows = book.read(book.files(study["book"]))
    hourly = prices[prices["hardware"] == about["machine"]].set_index("price_option")["usd_per_hour"]
    if study["price"] not in hourly:
        raise InputError(f"schedule: machine: {about['machine']!r} has no price of option {study['price']}")
    terms = book.read_terms()
    table = schedule.monthly(about, rows, terms, float(hourly[study["price"]]))
    if "today" in hourly:  # the rule of the study's own day, the machine's price of today
        first = next(iter(about["rules"]))
        rules = {"today": about["rules"][first] | {"label": study["prices"]["today"].get("label", "today")}}
        again = schedule.monthly({**about, "rules": rules}, rows, terms, float(hourly["today"]))
        table = pd.concat([table, again], ignore_index=True)
    return {"monthly": table}


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the derived tables of a study by name: `printed`, those of `office`, `monthly`."""
    found: dict[str, pd.DataFrame] = {}
    if "printed" in study:
        found["printed"] = printed(study, runs, costs)
    if "several_gpus" in study:
        found["several_gpus"] = several_gpus(study, runs)
    if "office" in study:
        found |= _office(study, runs, prices)
    if "schedule" in study:
        found |= _schedule(study, prices)
    return found


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the derived tables as people read them: a column for each batch size, rents by the day, week and month."""
    shown = dict(derived)
    if "scaling" in derived:
        keys = ["single", "multi", "gpus", "workload"]
        wide = derived["scaling"].pivot_table(index=keys, columns="batch_size", values="efficiency", sort=False)
        shown["scaling"] = wide.rename(columns=lambda size: f"batch {size}").reset_index()
    if "rents" in derived:
        hourly = derived["rents"]["usd_per_hour"]
        rents = {f"usd_per_{name}": hourly * 24 * days for name, days in _RENT_DAYS.items()}
        shown["rents"] = derived["rents"].assign(**rents)
    return shown


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], prices: pd.DataFrame) -> dict[str, float]:
    """Return the named figures that a study's claims may point at."""
    found: dict[str, float] = {}
    for row in records(prices):
        name, hourly = f"{row['hardware']}_{row['price_option']}", float(row["usd_per_hour"])
        found |= {f"usd_per_hour_{name}": hourly, f"usd_a_month_{name}": hourly * billing.HOURS_PER_MONTH}
        shown = prices[(prices["hardware"] == row["hardware"]) & (prices["price_option"] == study["price"])]
        if len(shown) and shown["usd_per_hour"].iloc[0] > 0:
            found[f"price_share_{name}"] = hourly / float(shown["usd_per_hour"].iloc[0])
    if "printed" in derived:
        found["printed_rows_that_agree"] = float(derived["printed"]["agrees"].sum())
    if "estimate" in derived:
        found["estimates_that_agree"] = float(derived["estimate"]["agrees"].sum())
        for row in records(derived["scaling_means"]):
            found[f"mean_efficiency_{row['workload']}_{row['batch_size']}"] = float(row["efficiency"])
        for row in records(derived["gains"]):
            name = f"{row['against']}_from_{row['base']}"
            found |= {f"break_even_days_{name}": row["break_even_days"], f"gain_{name}": row["gain_here"]}
        for row in records(derived["to_train"].drop_duplicates("workload")):
            found[f"samples_to_train_{row['workload']}"] = float(row["samples"])
    if "monthly" in derived:
        for row in records(derived["monthly"]):
            found[f"usd_a_month_{row['rule']}_every_{row['every_hours']:g}_hours"] = float(row["total_usd"])
        first = derived["monthly"].groupby("every_hours", sort=False)
        base = next(iter(study["schedule"]["rules"]))
        for hours, group in first:
            totals = group.set_index("rule")["total_usd"]
            for rule in totals.index.drop([base, "today"], errors="ignore"):
                found[f"more_usd_a_month_{rule}_every_{hours:g}_hours"] = float(totals[rule] - totals[base])
                found[f"more_share_{rule}_every_{hours:g}_hours"] = float(totals[rule] / totals[base] - 1)
    return found
