"""An owned machine against rented ones: what scaling, estimate and printed gains come to."""

from collections.abc import Mapping
from math import ceil, floor
from typing import Any

import pandas as pd

from scripts.articles.office import box
from scripts.costs import ownership
from scripts.storage.tables import records

#: A printed efficiency or rate may be off by half of its last digit.
_HALF = 0.5

_HOURS_PER_DAY = 24

#: Days of the spans for which a rent is shown; the month is that of the articles.
_RENT_DAYS = {"day": 1, "week": 7, "month": 30.5}


def _reckoned(known: Mapping[str, Any], bases: Mapping[str, float], owned: ownership.Machine) -> dict[str, float]:
    """Return the hourly prices of the box that a printed gain may stand for: at another use only the derived one."""
    if "days" in known:
        return {"owned": float(ownership.usd_per_hour(owned, known["days"] * _HOURS_PER_DAY))}
    return dict(bases)


def tables(
    study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame, prices: pd.DataFrame, given: None
) -> dict[str, pd.DataFrame]:
    """Return how the machines scale, what the owned one is estimated to do, and what that is worth by its use."""
    about = study["office"]
    samples = {name: float(batch * iterations) for name, (batch, iterations) in about["to_train"].items()}
    efficiencies = box.scaling(about["scaling"], about["batch_sizes"], list(samples))
    mean = box.mean_efficiency(efficiencies)
    shown = [value for name in samples for value in about["printed_means"][name]]
    single = runs.loc[runs["hardware"] == about["single"], ["workload", "batch_size", "samples_per_second"]]
    estimate = box.estimate(single, mean, about["gpus"], _HALF * 10 ** -about["efficiency_decimals"], _HALF)
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
    owned = ownership.machine(own)
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
    hours = ownership.break_even_hours_per_month(owned, rents["usd_per_hour"].astype(float).to_numpy())
    rent = prices[prices["price_option"] == study["price"]].set_index("hardware")["usd_per_hour"]
    at = largest.set_index("workload")
    gains = pd.DataFrame(
        [
            {
                "against": against,
                "label": known["label"],
                "workload": known["workload"],
                "gain": known["gain"],
                "at_days": known.get("days", own["hours_per_month"] / _HOURS_PER_DAY),
                "base": base,
                "at_usd_per_hour": at_usd,
                "gain_here": known["gain"] * at_usd / hourly["owned"],
                "break_even_days": box.break_even_days(owned, known["gain"] * at_usd),
                # What one GPU of the rented machine must do, in samples/s, for the gain to be true.
                "implied_per_gpu": float(at["estimate"][known["workload"]])
                / at_usd
                / known["gain"]
                * float(rent[known["machine"]])
                / known["gpus"]
                if "machine" in known
                else None,
                "gpus": known.get("gpus"),
                "single": float(at["samples_per_second"][known["workload"]]),
            }
            for against, known in about["gains"].items()
            for base, at_usd in _reckoned(known, bases, owned).items()
        ]
    )
    of_own_use = gains[gains["at_days"] == own["hours_per_month"] / _HOURS_PER_DAY]
    # Without one the charts of the use have nothing to draw.
    use = {"use": box.gain(owned, of_own_use, [day / 4 for day in range(4, 121)])} if len(of_own_use) else {}
    return {
        "breakdown": box.breakdown(owned, own["hours_per_month"]),
        "scaling": efficiencies,
        "scaling_means": mean.assign(printed=shown),
        "estimate": estimate,
        "samples_per_usd": box.per_usd(estimate, hourly),
        "to_train": box.to_samples(largest, samples, hourly),
        **use,
        "gains": gains,
        "rents": rents[["hardware", "price_option", "usd_per_hour"]].assign(break_even_days=hours / 24),
    }


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the scaling with a column for each batch size, and the rents by the day, week and month."""
    keys = ["single", "multi", "gpus", "workload", "setup"]
    wide = derived["scaling"].pivot_table(index=keys, columns="batch_size", values="efficiency", sort=False)
    hourly = derived["rents"]["usd_per_hour"]
    rents = {f"usd_per_{name}": hourly * 24 * days for name, days in _RENT_DAYS.items()}
    return {
        "scaling": wide.rename(columns=lambda size: f"batch {size}").reset_index(),
        "rents": derived["rents"].assign(**rents),
    }


def figures(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame], given: None) -> dict[str, float]:
    """Return the means, gains, days and amounts that the article prints, as they are derived here."""
    found = {"estimates_that_agree": float(derived["estimate"]["agrees"].sum())}
    for row in records(derived["scaling_means"]):
        found[f"mean_efficiency_{row['workload']}_{row['batch_size']}"] = float(row["efficiency"])
    for row in records(derived["gains"]):
        name = f"{row['against']}_from_{row['base']}"
        found |= {f"break_even_days_{name}": row["break_even_days"], f"gain_{name}": row["gain_here"]}
        if pd.notna(row["implied_per_gpu"]):
            per_gpu = float(row["implied_per_gpu"])
            found |= {f"implied_per_gpu_{name}": per_gpu, f"implied_rate_{name}": per_gpu * row["gpus"]}
    for row in records(derived["breakdown"]):
        found[f"usd_a_month_of_{row['part']}"] = row["usd_per_month"]
    for row in records(derived["to_train"].drop_duplicates("workload")):
        found[f"samples_to_train_{row['workload']}"] = float(row["samples"])
    return found


def minute(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what a reader asks first: which is cheapest, how surely, at which price another is, and of N samples."""
    hours = derived["gains"]["break_even_days"].astype(float) * _HOURS_PER_DAY
    low, high = floor(hours.min()), ceil(hours.max())
    return {
        "which": f"The owned box from {high} hours of use a month; a rented machine below {low}; between, it depends.",
        "sure": "Each gain is printed once: no spread is known.",
        "price": f"By hours of use: even with the first rented machine at {low} a month, with the last at {high}. Each "
        "pair has its own line below.",
        "samples": "Unknown here: the article reckons by the month of use.",
    }


def answer(study: Mapping[str, Any], derived: Mapping[str, pd.DataFrame]) -> tuple[str, str]:
    """Return from how many hours of use a month the owned machine costs less than the rented ones for the same work.

    By the printed gains, which have no spread: of a gain that may be read in two ways, both count.
    """
    gains, own = derived["gains"], study["machines"][study["office"]["owned"]]["own"]
    hours = gains["break_even_days"].astype(float) * _HOURS_PER_DAY
    first, last = (gains["label"].iloc[place] for place in (hours.argmin(), hours.argmax()))
    return f"Yes, from {ceil(hours.max())} hours of use a month", (
        f"By the printed gains the same work then costs less on it than on each of {gains['against'].nunique()} rented "
        f"machines; below {floor(hours.min())} hours it costs more than on any. The first to cost more is {first}, the "
        f"last {last}. "
        f"The article reckons with {own['hours_per_month']:g} hours. Each gain is printed once: no spread is known."
    )
