"""What a study shows beside its runs: derived tables, and named figures for its claims."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.analysis import card_prices, cards, mlperf, rounds
from scripts.costs import billing, book, office, ownership, schedule
from scripts.importers.given import Given
from scripts.storage.errors import InputError
from scripts.storage.tables import records

#: A printed efficiency or rate may be off by half of its last digit.
_HALF = 0.5

#: What a row of a printed table need not have: class, memory of a GPU, how the provider calls it, GPUs of the machine.
_PRINTED: dict[str, Any] = {"type": "", "gpu_memory_gb": None, "instance": "", "gpus": 1}

#: What people read of a printed table beside its costs.
_RENTED = ["hardware", "type", "gpu_memory_gb", "instance", "gpus", "gpus_used", "gpu_percent", "unused_share"]

_HOURS_PER_DAY = 24

#: What figures are given that are worked out of a study's tables alone.
_NOTHING = Given()

#: Days of the spans for which a rent is shown; the month is that of the articles.
_RENT_DAYS = {"day": 1, "week": 7, "month": 30.5}


def printed(study: Mapping[str, Any], runs: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return the printed cost of each machine beside the derived one, and whether their roundings meet.

    The derived cost has the range of the printed time's rounding and of the price; the printed one that
    of its own. Columns: hardware, type, gpu_memory_gb, instance (empty where it is not printed), gpus, gpus_used,
    gpu_percent, unused_share, train_seconds, val_acc, usd_per_hour, billed_seconds, derived_usd, derived_usd_low,
    derived_usd_high, printed_usd, within, agrees, price_inferred.

    `unused_share` is the part of the bill for GPUs that did nothing: 1 - (GPUs used / GPUs) x their use, which is
    taken to be that of the one that was sampled.
    """
    about = study["printed"]
    rows = costs[costs["price_option"] == about["price"]].merge(
        runs[["run", "train_seconds", "val_acc", "gpu_percent"]], on="run"
    )
    shown = [
        _PRINTED | {"hardware": name, "gpus_used": row.get("gpus", 1)} | row for name, row in about["rows"].items()
    ]
    rows = rows.merge(pd.DataFrame(shown).rename(columns={"usd": "printed_usd"}), on="hardware")
    rows["unused_share"] = 1 - rows["gpus_used"] / rows["gpus"] * rows["gpu_percent"].astype("Float64") / 100
    off = about["seconds_within"]
    rows["derived_usd"] = rows["billed_usd"]
    for bound, sign in (("low", -1), ("high", 1)):
        used = (rows["train_seconds"] + sign * off).clip(lower=0).astype(float)
        billed = billing.billed_seconds(used, rows["increment_seconds"], rows["minimum_seconds"])
        rows[f"derived_usd_{bound}"] = billing.cost_usd(billed, rows[f"usd_per_hour_{bound}"])
    rows["agrees"] = (rows["derived_usd_low"] <= rows["printed_usd"] + rows["within"]) & (
        rows["derived_usd_high"] >= rows["printed_usd"] - rows["within"]
    )
    keep = [*_RENTED, "train_seconds", "val_acc", "usd_per_hour", "billed_seconds", "derived_usd"]
    table: pd.DataFrame = rows[
        [*keep, "derived_usd_low", "derived_usd_high", "printed_usd", "within", "agrees", "price_inferred"]
    ]
    return table


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


def _reckoned(known: Mapping[str, Any], bases: Mapping[str, float], box: ownership.Machine) -> dict[str, float]:
    """Return the hourly prices of the box that a printed gain may stand for: at another use only the derived one."""
    if "days" in known:
        return {"owned": float(ownership.usd_per_hour(box, known["days"] * _HOURS_PER_DAY))}
    return dict(bases)


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
                "at_days": known.get("days", own["hours_per_month"] / _HOURS_PER_DAY),
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
                "gpus": known.get("gpus"),
                "single": float(at["samples_per_second"][known["workload"]]),
            }
            for against, known in about["gains"].items()
            for base, at_usd in _reckoned(known, bases, box).items()
        ]
    )
    of_own_use = gains[gains["at_days"] == own["hours_per_month"] / _HOURS_PER_DAY]
    # Without one the charts of the use have nothing to draw.
    use = {"use": office.gain(box, of_own_use, [day / 4 for day in range(4, 121)])} if len(of_own_use) else {}
    return {
        "breakdown": office.breakdown(box, own["hours_per_month"]),
        "scaling": efficiencies,
        "scaling_means": mean.assign(printed=shown),
        "estimate": estimate,
        "samples_per_usd": office.per_usd(estimate, hourly),
        "to_train": office.to_samples(largest, samples, hourly),
        **use,
        "gains": gains,
        "rents": rents[["hardware", "price_option", "usd_per_hour"]].assign(break_even_days=hours / 24),
    }


def _schedule(study: Mapping[str, Any], prices: pd.DataFrame, given: Given) -> dict[str, pd.DataFrame]:
    about = study["schedule"]
    hourly = prices[prices["hardware"] == about["machine"]].set_index("price_option")["usd_per_hour"]
    if study["price"] not in hourly:
        raise InputError(f"schedule: machine: {about['machine']!r} has no price of option {study['price']}")
    table = schedule.monthly(about, given.rows, given.terms, float(hourly[study["price"]]))
    if "today" in hourly:  # the rule of the study's own day, the machine's price of today
        first = next(iter(about["rules"]))
        rules = {"today": about["rules"][first] | {"label": study["prices"]["today"].get("label", "today")}}
        again = schedule.monthly({**about, "rules": rules}, given.rows, given.terms, float(hourly["today"]))
        table = pd.concat([table, again], ignore_index=True)
    return {"monthly": table}


def _mlperf(study: Mapping[str, Any], prices: pd.DataFrame, given: Given) -> dict[str, pd.DataFrame]:
    about, option = study["mlperf"], study["price"]
    scored = mlperf.scored(given.results, given.series)
    priced = list(card_prices.hourly(prices, option, about["accelerators"]))
    labels = {**given.cards} | {name: machine["label"] for name, machine in study["machines"].items()}
    found = {
        "generations": rounds.generations(scored, about, prices, option),
        "cheapest": rounds.cheapest(scored, about, prices, option),
        "trainings": rounds.trainings(scored, about, prices, option),
        "software": rounds.software(scored, about["submitter"]),
        "scale": rounds.scale(scored),
        "spread": rounds.spread(scored),
        "clocks": rounds.clocks(scored),
        "providers": card_prices.providers(prices, about),
        "owned": card_prices.owned(scored, about, prices, option, study["machines"]),
        "rounds": rounds.counts(scored, priced),
        "omitted": rounds.omitted(scored, priced, labels, card_prices.elsewhere(prices, about, priced)),
    }
    return {
        name: table.assign(
            **{column: table[column].map(labels) for column in ("card", "new", "old") if column in table.columns}
        )
        for name, table in found.items()
    }


def tables(
    study: Mapping[str, Any],
    runs: pd.DataFrame,
    costs: pd.DataFrame,
    prices: pd.DataFrame,
    given: Given = _NOTHING,
) -> dict[str, pd.DataFrame]:
    """Return the derived tables of a study by name: `printed`, of `office`, `monthly`, `mlperf`, and of its cards."""
    found: dict[str, pd.DataFrame] = {}
    if "printed" in study:
        found["printed"] = printed(study, runs, costs)
    if "several_gpus" in study:
        found["several_gpus"] = several_gpus(study, runs)
    if "office" in study:
        found |= _office(study, runs, prices)
    if "schedule" in study:
        found |= _schedule(study, prices, given)
    if "mlperf" in study:
        found |= _mlperf(study, prices, given)
    if cards.models(study.get("machines", {})):
        found |= cards.tables(study["machines"], runs)
    return found


def readable(derived: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the derived tables as people read them: a column for each batch size or workload, rents by the day,
    week and month.

    A printed table is shown as two: what it costs, and `rented`, what is paid for and used.
    """
    shown = dict(derived)
    if "scaling" in derived:
        keys = ["single", "multi", "gpus", "workload", "setup"]
        wide = derived["scaling"].pivot_table(index=keys, columns="batch_size", values="efficiency", sort=False)
        shown["scaling"] = wide.rename(columns=lambda size: f"batch {size}").reset_index()
    if "printed" in derived:
        shown["rented"] = derived["printed"][_RENTED]
    if "rents" in derived:
        hourly = derived["rents"]["usd_per_hour"]
        rents = {f"usd_per_{name}": hourly * 24 * days for name, days in _RENT_DAYS.items()}
        shown["rents"] = derived["rents"].assign(**rents)
    return shown | cards.readable(derived)


def _rate(cut: Mapping[str, Any], name: str, rows: book.Rows, purchase: str) -> float:
    """Return an item's hourly rate in a price book. Raises InputError if it has none, or several."""
    wanted = {"provider": cut["provider"], "item": cut["item"], "purchase": purchase, "per": "hour"}
    rates = [row["rate"] for row in rows if wanted.items() <= row.items()]
    if len(rates) != 1:
        raise InputError(f"price_cuts: {cut['item']!r}: book {name} has {len(rates)} {purchase} rates, not one")
    return float(rates[0])


def figures(
    study: Mapping[str, Any],
    derived: Mapping[str, pd.DataFrame],
    prices: pd.DataFrame,
    runs: pd.DataFrame,
    given: Given = _NOTHING,
) -> dict[str, float]:
    """Return the named figures that a study's claims may point at."""
    longest = runs.groupby("hardware", sort=False)["train_seconds"].max().dropna() / billing.SECONDS_PER_HOUR
    found = {f"longest_hours_{name}": float(hours) for name, hours in longest.items()}
    for name, cut in study.get("price_cuts", {}).items():
        before = _rate(cut, cut["before"], given.cuts[cut["before"]], "on-demand")
        after = _rate(cut, cut["after"], given.cuts[cut["after"]], cut.get("after_purchase", "on-demand"))
        found[f"price_cut_{name}"] = 1 - after / before
    for row in records(prices):
        name, hourly = f"{row['hardware']}_{row['price_option']}", float(row["usd_per_hour"])
        found |= {f"usd_per_hour_{name}": hourly, f"usd_a_month_{name}": hourly * billing.HOURS_PER_MONTH}
        found |= {f"usd_per_hour_{end}_{name}": float(row[f"usd_per_hour_{end}"]) for end in ("low", "high")}
        shown = prices[(prices["hardware"] == row["hardware"]) & (prices["price_option"] == study["price"])]
        if len(shown) and shown["usd_per_hour"].iloc[0] > 0:
            found[f"price_share_{name}"] = hourly / float(shown["usd_per_hour"].iloc[0])
    if "printed" in derived:
        found["printed_rows_that_agree"] = float(derived["printed"]["agrees"].sum())
        shares = derived["printed"].dropna(subset="unused_share").set_index("hardware")["unused_share"]
        found |= {f"unused_share_{name}": float(share) for name, share in shares.items()}
    if "estimate" in derived:
        found["estimates_that_agree"] = float(derived["estimate"]["agrees"].sum())
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
    if "monthly" in derived:
        for row in records(derived["monthly"]):
            name = f"{row['rule']}_every_{row['every_hours']:g}_hours"
            found |= {
                f"usd_a_month_{name}": float(row["total_usd"]),
                f"machine_usd_a_month_{name}": float(row["compute_usd"]),
            }
        first = derived["monthly"].groupby("every_hours", sort=False)
        base = next(iter(study["schedule"]["rules"]))
        for hours, group in first:
            totals = group.set_index("rule")["total_usd"]
            for rule in totals.index.drop([base, "today"], errors="ignore"):
                found[f"more_usd_a_month_{rule}_every_{hours:g}_hours"] = float(totals[rule] - totals[base])
                found[f"more_share_{rule}_every_{hours:g}_hours"] = float(totals[rule] / totals[base] - 1)
    return found | (rounds.figures(derived) if "generations" in derived else {})
