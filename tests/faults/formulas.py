"""Formulas, each with a wrong one: what guards.py asks of guards is asked of them, but for a kind of fault.

Name, file, text, what stands there instead, and the tests that must notice.
"""

_BILLING, _SPOT, _PRICES = (f"scripts/costs/{name}.py" for name in ("billing", "spot", "prices"))

FORMULAS = [
    (
        "an increment begun is billed",
        _BILLING,
        "np.ceil(used / increment)",
        "np.rint(used / increment)",
        "tests/costs/test_billing.py",
    ),
    (
        "the minimum is billed",
        _BILLING,
        "np.maximum(billed, minimum_seconds) *",
        "billed *",
        "tests/costs/test_billing.py",
    ),
    (
        "first hours of a month are dearest",
        _BILLING,
        "used - i * part",
        "used - (len(tiers) - 1 - i) * part",
        "tests/costs/test_billing.py",
    ),
    (
        "each preemption costs a restart",
        _SPOT,
        "np.exp(per_second * restart) * np.expm1(",
        "np.expm1(",
        "tests/costs/test_spot.py",
    ),
    (
        "an hour of use takes energy",
        "scripts/costs/ownership.py",
        "hours_per_month) + machine.energy_usd_per_hour",
        "hours_per_month)",
        "tests/costs/test_ownership.py",
    ),
    (
        "runs in a row share a machine's start",
        _PRICES,
        '.mask(costs["in_a_row"].astype(bool), costs["used_seconds"])',
        "",
        "tests/costs/test_prices.py",
    ),
    (
        "what a machine takes to begin is billed",
        _PRICES,
        'kept = each["used_seconds"] + each[["boot_seconds", "wait_seconds"]].sum(axis=1)',
        'kept = each["used_seconds"]',
        "tests/costs/test_prices.py",
    ),
    (
        "a million samples of full length",
        _PRICES,
        'samples = samples.mask(is_published, costs["published_samples"].astype(float))',
        "pass",
        "tests/costs/test_prices.py",
    ),
    (
        "a budget pays for the worst",
        "scripts/costs/budget.py",
        "left -= one.worst_usd",
        "left -= one.expected_usd",
        "tests/costs/test_budget.py",
    ),
    (
        "a trigger that overlaps starts nothing",
        "scripts/costs/monthly.py",
        "(interval_seconds * taken)",
        "interval_seconds",
        "tests/costs/test_monthly.py",
    ),
    (
        "the median at the price",
        "scripts/costs/uncertainty.py",
        "np.median(runs) * usd_per_hour",
        "runs.mean() * usd_per_hour",
        "tests/costs/test_uncertainty.py",
    ),
    (
        "what is known of noise has weight",
        "scripts/analysis/noise.py",
        "(self.degrees * self.variance + squares) / (self.degrees + own)",
        "squares / max(own, 1)",
        "tests/analysis/test_verdicts.py",
    ),
    (
        "many pairs are judged together",
        "scripts/analysis/verdicts.py",
        "np.sort(p_values) > FALSE_PAGES / left",
        "np.sort(p_values) > FALSE_PAGES",
        "tests/analysis/test_verdicts.py",
    ),
    (
        "a median lies between two values",
        "scripts/analysis/statistics.py",
        "outside += 2 * comb(n, k)",
        "outside += comb(n, k)",
        "tests/analysis/test_statistics.py",
    ),
    (
        "a score has neither end",
        "scripts/analysis/statistics.py",
        "(order[0], order[-1])",
        "(order[-1],)",
        "tests/analysis/test_statistics.py",
    ),
    (
        "a batch is that of all devices",
        "scripts/analysis/derive.py",
        'raw["batch_size"] * cell.devices',
        'raw["batch_size"]',
        "tests/analysis/test_derive.py tests/analysis/test_runs.py",
    ),
    (
        "efficiency is by device",
        "scripts/analysis/comparisons.py",
        'row["ratio"] / row["devices"]',
        'row["ratio"]',
        "tests/analysis/test_comparisons.py tests/charts",
    ),
]
