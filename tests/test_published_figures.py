"""What the articles print, from the committed facts and books; literals are theirs, or plain sums of their logs."""

import sys
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, floor
from pathlib import Path

import pandas as pd
import pytest

from scripts import import_logs, importers
from scripts.analysis import claim_verdict, claims, figures
from scripts.analysis.verdicts import Judge
from scripts.costs import prices, pricing
from scripts.costs.terms import read_terms
from scripts.importers import facts
from scripts.storage import tables
from scripts.studies import articles, definition
from tests.importers.test_published import published

FACTS = definition.ROOT / "reports" / "published" / "facts"


@dataclass(frozen=True)
class Shown:
    """A published study: its config and its tables."""

    study: dict
    runs: pd.DataFrame
    costs: pd.DataFrame
    prices: pd.DataFrame
    derived: dict[str, pd.DataFrame]
    figures: dict[str, float]

    def verdict(self, says: str) -> claim_verdict.Verdict:
        """Return the verdict on the claim that begins so."""
        (claim,) = [claim for claim in self.study["claims"] if claim["says"].startswith(says)]
        labels = {name: about["label"] for name, about in self.study["machines"].items()}
        return claims.evaluate(claim, self.study, self.runs, self.costs, self.figures, labels, Judge.of(self.runs))


@cache
def shown(name: str) -> Shown:
    study = definition.read(name, {})[1]
    path = study.get("import", {}).get("facts")
    table = facts.read(definition.ROOT / path) if path else pd.DataFrame(columns=list(importers.COLUMNS))
    runs = tables.conform(facts.runs_of(table), "runs")
    rates = tables.conform(pricing.price_table(study, study["machines"], study["machines"]), "prices")
    costs = tables.conform(prices.price_runs(runs, rates), "costs")
    asked = articles.given(study)
    derived = figures.tables(study, runs, costs, rates, asked)
    return Shown(study, runs, costs, rates, derived, figures.figures(study, derived, rates, runs, asked))


# 2018-02, GPU providers: Table 1

#: Machine: train time in hours, accuracy and use of the GPU in %, cost of one run in USD, all as printed.
TABLE_1 = {
    "aws-k80": ("3.62", "82.47", 78, "3.3"),
    "aws-v100": ("1.06", "82.23", 67, "3.3"),
    "gce-k80": ("3.72", "82.54", 77, "2.4"),
    "gce-p100": ("2.07", "82.30", 71, "3.4"),
    "paperspace-p6000": ("1.82", "82.24", 76, "1.6"),
    "paperspace-v100": ("1.09", "82.59", 68, "2.5"),
    "hetzner-gtx1080": ("2.27", "82.46", 81, "0.5"),
    "softlayer-2xm60": ("3.16", "82.22", 85, "11.2"),
    "softlayer-4xk80": ("4.1", "82.57", 62, "20.1"),
    "leadergpu-2xgtx1080-both": ("2.12", "82.29", 67, "3.13"),
    "leadergpu-2xp100-both": ("2.42", "82.26", 42, "14.26"),
    "leadergpu-2xgtx1080-one": ("2.49", "82.50", 71, "3.7"),
    "leadergpu-2xp100-one": ("1.86", "82.32", 74, "11.0"),
}


def half_of_the_last_digit(text: str) -> float:
    return 0.5 * 10 ** -len(text.partition(".")[2])


@pytest.mark.parametrize("machine", TABLE_1)
def test_row_of_table_1_is_derived_to_within_its_rounding(machine: str) -> None:
    hours, accuracy, gpu_percent, usd = TABLE_1[machine]
    table = shown("gpu-providers-2018").derived["printed"]
    (row,) = table[table["hardware"] == machine].to_dict("records")
    assert row["train_seconds"] == pytest.approx(float(hours) * 3600)
    assert row["val_acc"] == pytest.approx(float(accuracy) / 100)
    assert row["gpu_percent"] == gpu_percent
    assert row["printed_usd"] == float(usd)
    off = half_of_the_last_digit(usd)
    assert row["within"] == off, "the rounding is that of the printed figure, no wider"
    assert row["derived_usd_low"] <= float(usd) + off
    assert row["derived_usd_high"] >= float(usd) - off
    assert row["agrees"]
    assert row["derived_usd_high"] / row["derived_usd_low"] < 1.03 or row["price_inferred"]


def test_all_13_rows_of_table_1_agree() -> None:
    study = shown("gpu-providers-2018")
    assert set(study.derived["printed"]["hardware"]) == set(TABLE_1)
    assert study.study["printed"]["seconds_within"] == half_of_the_last_digit("3.62") * 3600
    assert study.figures["printed_rows_that_agree"] == 13
    assert study.verdict("Table 1").word == "holds"


@pytest.mark.parametrize(
    ("machine", "usd_per_hour", "billed_seconds", "usd"),
    [
        ("aws-k80", 0.9, 13032, 3.258),
        ("aws-v100", 3.06, 3816, 3.2436),
        ("gce-k80", 0.45 + 4 * 0.0475, 13392, 2.3808),
        ("gce-p100", 1.46 + 4 * 0.0475, 7452, 3.4155),
        ("paperspace-v100", 2.3, 3924, 2.507),
        ("softlayer-2xm60", 2.8, 4 * 3600, 11.2),
        ("softlayer-4xk80", 4.02, 5 * 3600, 20.1),
    ],
)
def test_cost_is_the_printed_time_at_the_printed_rate(
    machine: str, usd_per_hour: float, billed_seconds: float, usd: float
) -> None:
    costs = shown("gpu-providers-2018").costs
    (row,) = costs[(costs["hardware"] == machine) & (costs["price_option"] == "as-published")].to_dict("records")
    assert row["usd_per_hour"] == pytest.approx(usd_per_hour)
    assert (row["billed_seconds"], row["billed_usd"]) == pytest.approx((billed_seconds, usd))


def test_table_says_which_rates_were_inferred() -> None:
    table = shown("gpu-providers-2018").derived["printed"]
    printed_in_full = {"aws-k80", "aws-v100", "paperspace-v100"}
    assert set(table.loc[table["price_inferred"] == "", "hardware"]) == printed_in_full
    for machine in (name for name in TABLE_1 if name.startswith("leadergpu")):
        assert "EUR: " in table.set_index("hardware")["price_inferred"][machine], "the exchange rate is inferred too"


def exchange_rates(usd: str, euro_per_minute: float, minutes: float) -> tuple[float, float]:
    """Return the range of USD per EUR at which so many minutes cost what is printed."""
    off = half_of_the_last_digit(usd)
    return (float(usd) - off) / (minutes * euro_per_minute), (float(usd) + off) / (minutes * euro_per_minute)


def leadergpu() -> list[tuple[str, float, float, float]]:
    """Return printed cost, EUR per minute (the lowest and the highest printed), and minutes at least and at most."""
    rows = []
    for machine, (hours, _, _, usd) in TABLE_1.items():
        if machine.startswith("leadergpu"):
            off = half_of_the_last_digit(hours)
            rate = 0.02 if "gtx" in machine else 0.08
            rows.append((usd, rate, (float(hours) - off) * 60, (float(hours) + off) * 60))
    return rows


def test_leadergpu_bills_per_second_as_no_exchange_rate_fits_whole_minutes() -> None:
    """The article: 'per minute pricing which are billed per second'."""
    whole = [
        [exchange_rates(usd, rate, minutes) for minutes in range(ceil(low), ceil(high) + 1)]
        for usd, rate, low, high in leadergpu()
    ]
    assert [len(ranges) for ranges in whole] == [2, 2, 1, 1]
    assert all(max(low for low, _ in ranges) > min(high for _, high in ranges) for ranges in product(*whole))
    begun = [[exchange_rates(usd, rate, floor(high))] for usd, rate, _, high in leadergpu()]
    assert all(max(low for low, _ in ranges) > min(high for _, high in ranges) for ranges in product(*begun))


def test_exchange_rate_is_what_fits_all_four_rows_per_second() -> None:
    fits = [
        (exchange_rates(usd, rate, high)[0], exchange_rates(usd, rate, low)[1]) for usd, rate, low, high in leadergpu()
    ]
    low, high = max(low for low, _ in fits), min(high for _, high in fits)
    euro = read_terms().exchange("EUR", "2018-02-08")
    assert (euro.usd_low, euro.usd_high) == pytest.approx((low, high), abs=1e-4)
    assert low < euro.usd < high
    assert euro.inferred


@pytest.mark.parametrize(
    ("says", "held", "cases"),
    [
        ("Dedicated servers are", 1, 1),
        ("Amongst the virtual instance providers", 1, 1),
        ("It is twice as cheap", 1, 1),
        ("GCE is significantly cheaper", 1, 1),
        ("GCE is slightly costlier", 1, 1),
        ("Higher-end GPUs are", 4, 6),
        ("There is clearly a speedup", 1, 1),
        ("The multi-GPU training took", 1, 1),
        ("There were no notable differences in accuracy", 12, 12),
        ("IBM Softlayer appears expensive", 0, 2),
        ("LeaderGPU appears expensive", 2, 2),
        ("Some of the platforms", 5, 5),
    ],
)
def test_verdicts_on_the_gpu_providers(says: str, held: int, cases: int) -> None:
    found = shown("gpu-providers-2018").verdict(says)
    assert (found.held, found.cases) == (held, cases)


# 2017: times and costs relative to the base cell

#: workload, machine, framework: relative time and cost of 2017-11; base is TensorFlow on the K80.
NOVEMBER_2017 = {
    ("mnist_mlp", "k80", "cntk"): (0.86, 0.86),
    ("mnist_mlp", "p100", "tensorflow"): (0.86, 2.59),
    ("mnist_mlp", "p100", "cntk"): (0.65, 1.96),
    ("mnist_mlp", "cpu32", "tensorflow"): (1.02, 0.49),
    ("mnist_mlp", "cpu16", "tensorflow"): (1.23, 0.30),
    ("mnist_cnn", "k80", "cntk"): (1.46, 1.46),
    ("mnist_cnn", "p100", "tensorflow"): (0.50, 1.53),
    ("mnist_cnn", "p100", "cntk"): (0.52, 1.57),
    ("mnist_cnn", "cpu32", "tensorflow"): (2.66, 1.28),
    ("mnist_cnn", "cpu16", "tensorflow"): (4.33, 1.04),
    ("cifar10_cnn", "k80", "cntk"): (1.04, 1.04),
    ("cifar10_cnn", "p100", "tensorflow"): (0.73, 2.20),
    ("cifar10_cnn", "p100", "cntk"): (0.70, 2.11),
    ("cifar10_cnn", "cpu32", "tensorflow"): (1.36, 0.66),
    ("cifar10_cnn", "cpu16", "tensorflow"): (2.01, 0.48),
    ("imdb_fasttext", "k80", "cntk"): (1.21, 1.21),
    ("imdb_fasttext", "p100", "tensorflow"): (0.35, 1.06),
    ("imdb_fasttext", "p100", "cntk"): (0.38, 1.15),
    ("imdb_fasttext", "cpu32", "tensorflow"): (3.25, 1.57),
    ("imdb_fasttext", "cpu16", "tensorflow"): (3.54, 0.85),
    ("imdb_bidirectional_lstm", "k80", "cntk"): (3.51, 3.51),
    ("imdb_bidirectional_lstm", "p100", "tensorflow"): (0.64, 1.94),
    ("imdb_bidirectional_lstm", "p100", "cntk"): (3.23, 9.78),
    ("imdb_bidirectional_lstm", "cpu32", "tensorflow"): (1.79, 0.86),
    ("imdb_bidirectional_lstm", "cpu16", "tensorflow"): (1.84, 0.44),
    ("lstm_text_generation", "k80", "cntk"): (2.08, 2.08),
    ("lstm_text_generation", "p100", "tensorflow"): (0.77, 2.32),
    ("lstm_text_generation", "p100", "cntk"): (1.90, 5.76),
    ("lstm_text_generation", "cpu32", "tensorflow"): (2.94, 1.42),
    ("lstm_text_generation", "cpu16", "tensorflow"): (3.33, 0.80),
}

#: workload, framework: relative (time, cost) on 8, 16, 32 and 64 vCPUs in 2017-07; base is the K80.
JULY_2017 = {
    ("mnist_mlp", "tensorflow"): [(2.13, 0.18), (1.46, 0.25), (1.40, 0.48), (1.41, 0.96)],
    ("mnist_mlp", "tensorflow-compiled"): [(1.35, 0.12), (1.08, 0.18), (1.50, 0.51), (1.31, 0.90)],
    ("mnist_cnn", "tensorflow"): [(6.46, 0.55), (3.57, 0.61), (2.36, 0.81), (2.88, 1.97)],
    ("mnist_cnn", "tensorflow-compiled"): [(3.67, 0.31), (2.47, 0.42), (2.30, 0.79), (2.92, 2.00)],
    ("cifar10_cnn", "tensorflow"): [(4.13, 0.35), (2.58, 0.44), (1.80, 0.61), (1.90, 1.30)],
    ("cifar10_cnn", "tensorflow-compiled"): [(2.74, 0.23), (1.78, 0.30), (1.52, 0.52), (1.68, 1.15)],
    ("imdb_fasttext", "tensorflow"): [(5.30, 0.45), (3.15, 0.54), (3.08, 1.05), (3.83, 2.62)],
    ("imdb_fasttext", "tensorflow-compiled"): [(4.00, 0.34), (3.12, 0.53), (3.41, 1.17), (3.68, 2.51)],
    ("imdb_bidirectional_lstm", "tensorflow"): [(0.51, 0.04), (0.46, 0.08), (0.41, 0.14), (0.44, 0.30)],
    ("imdb_bidirectional_lstm", "tensorflow-compiled"): [(0.47, 0.04), (0.42, 0.07), (0.45, 0.15), (0.46, 0.31)],
    ("lstm_text_generation", "tensorflow"): [(1.96, 0.17), (1.86, 0.32), (1.33, 0.45), (1.48, 1.01)],
    ("lstm_text_generation", "tensorflow-compiled"): [(1.38, 0.12), (1.30, 0.22), (1.48, 0.50), (1.41, 0.96)],
    ("text_generator_keras", "tensorflow"): [(2.58, 0.22), (1.86, 0.32), (1.35, 0.46), (1.47, 1.01)],
    ("text_generator_keras", "tensorflow-compiled"): [(1.65, 0.14), (1.26, 0.22), (1.43, 0.49), (1.40, 0.96)],
}


def relative(name: str) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the relative time and cost of each cell of a study as published, unrounded."""
    study = shown(name)
    rows = study.costs[study.costs["price_option"] == "as-published"]
    base = rows[(rows["hardware"] == "k80") & (rows["framework"] == "tensorflow")].set_index("workload")
    return {
        (row["workload"], row["hardware"], row["framework"]): (
            row["useful_seconds"] / base.loc[row["workload"], "useful_seconds"],
            row["cost_usd"] / base.loc[row["workload"], "cost_usd"],
        )
        for row in rows.to_dict("records")
    }


def test_relative_times_and_costs_of_november_2017_to_two_decimals() -> None:
    found = {cell: (round(time, 2), round(cost, 2)) for cell, (time, cost) in relative("gpus-2017").items()}
    assert {cell: found[cell] for cell in NOVEMBER_2017} == NOVEMBER_2017
    rest = set(found) - set(NOVEMBER_2017)
    assert {workload for workload, machine, framework in rest if (machine, framework) != ("k80", "tensorflow")} == {
        "text_generator_keras"
    }


def test_relative_times_and_costs_of_july_2017_to_two_decimals() -> None:
    found = {cell: (round(time, 2), round(cost, 2)) for cell, (time, cost) in relative("cpu-or-gpu-2017").items()}
    expected = {
        (workload, f"cpu{cores}", framework): values
        for (workload, framework), row in JULY_2017.items()
        for cores, values in zip((8, 16, 32, 64), row, strict=True)
    }
    assert {cell: values for cell, values in found.items() if cell[1] != "k80"} == expected


def test_bidirectional_lstm_of_june_2017() -> None:
    """Sums of `elapsed` of the two logs, and November's TensorFlow on the K80 over June's."""
    table = shown("keras-cntk-2017").runs.set_index(["workload", "framework"])["train_seconds"]
    lstm = table["imdb_bidirectional_lstm"]
    assert lstm["tensorflow"] == pytest.approx(
        286.8201458454132 + 276.42249488830566 + 272.2098560333252 + 271.13646626472473
    )
    assert lstm["cntk"] / lstm["tensorflow"] == pytest.approx(0.551, abs=5e-4)
    november = shown("gpus-2017").runs
    mine = november[(november["workload"] == "imdb_bidirectional_lstm") & (november["hardware"] == "k80")]
    assert lstm["tensorflow"] / mine.set_index("framework")["train_seconds"]["tensorflow"] == pytest.approx(
        6.38, abs=0.005
    )


VCPUS = {"cpu16": 0.120, "cpu32": 0.240}


@pytest.mark.parametrize(
    ("name", "option", "expected"),
    [
        (
            "gpus-2017",
            "as-published",
            {"k80": 0.4975, "p100": 1.5075, "k80-alone": 0.45, "p100-alone": 1.46, "aws-k80-spot": 0.175} | VCPUS,
        ),
        (
            "gpus-2017",
            "all-preemptible",
            {"k80": 0.23, "p100": 0.74, "k80-alone": 0.22, "p100-alone": 0.73, "aws-k80-spot": 0.175} | VCPUS,
        ),
        (
            "cpu-or-gpu-2017",
            "as-published",
            {"k80": 0.745} | {f"cpu{cores}": 0.060 * 1.0607 * cores / 8 for cores in (8, 16, 32, 64)},
        ),
    ],
)
def test_hourly_prices_of_2017(name: str, option: str, expected: dict[str, float]) -> None:
    table = shown(name).prices
    found = table[table["price_option"] == option].set_index("hardware")["usd_per_hour"]
    assert found.to_dict() == pytest.approx(expected)


def test_printed_prices_of_july_2017_are_the_derived_ones_rounded() -> None:
    table = shown("cpu-or-gpu-2017").prices
    found = table[table["price_option"] == "as-published"].set_index("hardware")["usd_per_hour"]
    assert [round(found[f"cpu{cores}"], 3) for cores in (16, 32, 64)] == [0.127, 0.255, 0.509]
    assert 0.2540 <= found["cpu32"] < 0.2550, "printed as 0.254: cut off"


@pytest.mark.parametrize(
    ("name", "says", "held", "cases"),
    [
        ("gpus-2017", "There is no configuration where the P100", 6, 6),
        ("gpus-2017", "The P100 is indeed faster", 12, 12),
        ("gpus-2017", "32 vCPUs should train faster", 6, 6),
        ("gpus-2017", "Update 12/17: preemptible GPUs are exactly half the price of normal GPUs: the K80", 1, 1),
        ("gpus-2017", "Update 12/17: that would put them squarely", 4, 6),
        ("cpu-or-gpu-2017", "Bi-LSTM: GPU training is twice as slow", 5, 8),
        ("cpu-or-gpu-2017", "CIFAR-10: all CPUs perform better", 4, 4),
        ("cpu-or-gpu-2017", "In all cases, the GPU", 5, 6),
        ("cpu-or-gpu-2017", "MNIST CNN: cost structures", 6, 6),
        ("cpu-or-gpu-2017", "fasttext: the benefit", 10, 12),
        (
            "cpu-or-gpu-2017",
            "LSTM text generation follows similar patterns to the other architectures, in time",
            32,
            32,
        ),
        ("gpus-2017", "MNIST MLP: the CPU performance is close", 1, 4),
        ("gpus-2017", "CIFAR-10: similar results to that of a normal MLP, in cost", 4, 5),
        ("gpus-2017", "With the price cuts", 0, 1),
        ("gpus-2017", "Amazon offers", 2, 2),
    ],
)
def test_verdicts_on_2017(name: str, says: str, held: int, cases: int) -> None:
    found = shown(name).verdict(says)
    assert (found.held, found.cases) == (held, cases)


# 2018, cloud or office


def test_averages_of_the_scaling_table() -> None:
    table = shown("cloud-or-office-2018").derived["scaling_means"]
    means = {"inception_v3": (0.80, 0.83, 0.87), "resnet50": (0.76, 0.83, 0.87), "vgg16": (0.67, 0.77, 0.84)}
    found = {name: tuple(rows["efficiency"]) for name, rows in table.groupby("workload")}
    assert set(found) == set(means)
    for name, row in means.items():
        assert found[name] == pytest.approx(row, abs=0.005 + 1e-12), "halves are rounded up: 0.865 is printed as 0.87"


def test_office_box_costs_less_than_the_article_says() -> None:
    study = shown("cloud-or-office-2018")
    hourly = study.figures["usd_per_hour_office-4x1080ti_owned"]
    assert hourly == pytest.approx(1.1028, abs=5e-5)
    assert hourly == pytest.approx((6500 / 30 + 48) / 240)
    claim = study.verdict("The office box, used 10 days a month")
    assert (claim.word, claim.details) == ("fails", ["usd per hour office-4x1080ti owned: 1.103, printed 1.3"])
    assert study.figures["usd_per_hour_office-4x1080ti_on-demand"] == 1.30, "both are shown"


def test_month_of_the_office_box_is_the_printed_one() -> None:
    found = shown("cloud-or-office-2018").figures
    printed = {"machine": "216.67", "energy": "48.00", "both": "264.67"}
    assert {part: f"{found[f'usd_a_month_of_{part}']:.2f}" for part in printed} == printed


def test_gains_at_eight_and_a_half_days_contradict_the_scaling_table_and_the_price_of_the_tpu() -> None:
    """Samples per USD are rate over price: 1.8 and 1.9 times less, at 3.06 and 12.24 USD/h, show rate over rate."""
    study = shown("cloud-or-office-2018")
    found = study.figures
    scaling = found["implied_per_gpu_p3.8xlarge_from_owned"] / found["implied_per_gpu_p3.2xlarge_from_owned"]
    assert scaling == pytest.approx(1.8 / 1.9)
    tpu = found["implied_rate_tpuv2_from_owned"] / found["implied_rate_p3.8xlarge_from_owned"]
    assert tpu == pytest.approx(6.5 / 2 / (12.24 / 1.9))
    claims = [claim for claim in study.study["claims"] if claim["says"].startswith("After about 8.5 days")]
    assert [study.verdict(claim["says"]).word for claim in claims] == ["fails", "fails"]


def test_throughput_of_four_cards_is_derived() -> None:
    table = shown("cloud-or-office-2018").derived["estimate"]
    assert table["agrees"].all()
    assert len(table) == 9


def test_samples_of_the_papers() -> None:
    found = shown("cloud-or-office-2018").figures
    samples = {"inception_v3": 128_000_000, "resnet50": 153_600_000, "vgg16": 94_720_000}
    assert {name: found[f"samples_to_train_{name}"] for name in samples} == samples


# 2018-11, cheap cron


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("usd_a_month_by-the-minute_every_4_hours", "0.76"),
        ("usd_a_month_by-the-minute_every_1_hours", "1.24"),
        ("more_usd_a_month_ten-minutes_every_4_hours", "0.24"),
        ("more_share_ten-minutes_every_4_hours", "0.316"),
        ("usd_a_month_by-the-hour_every_4_hours", "2.50"),
        ("usd_a_month_by-the-hour_every_1_hours", "8.20"),
        ("usd_a_month_n1-standard-1_as-published", "7.30"),
    ],
)
def test_month_of_a_scheduled_run(figure: str, value: str) -> None:
    found = shown("scheduled-2018").figures[figure]
    assert f"{found:.{len(value.partition('.')[2])}f}" == value


def test_parts_of_a_month_are_the_printed_ones() -> None:
    table = shown("scheduled-2018").derived["monthly"]
    (row,) = table[(table["rule"] == "by-the-minute") & (table["every_hours"] == 4)].to_dict("records")
    parts = [f"{row[name]:.2f}" for name in ("compute_usd", "fees_usd", "services_usd")]
    assert parts == ["0.06", "0.60", "0.10"]


# From the logs themselves, where they are here

needs_logs = pytest.mark.skipif(
    published() is None,
    reason="the published logs are not here: set EPOCHS_PUBLISHED_DIR to the folder of both studies",
)


@needs_logs
@pytest.mark.parametrize("name", ["cpu-or-gpu-2017", "gpus-2017"])
def test_committed_facts_are_those_of_the_logs_byte_for_byte(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "facts.csv"
    monkeypatch.setattr(sys, "argv", ["import_logs", str(output), "--study", name, "--logs-dir", str(published())])
    assert import_logs.main() == 0
    assert output.read_bytes() == (FACTS / f"{name}.csv").read_bytes()


@needs_logs
def test_relative_times_and_costs_are_those_of_the_logs() -> None:
    """Time = sum of elapsed, cost = time x price, without any code of this project."""
    hourly = {"k80": 0.450 + 0.0475, "p100": 1.460 + 0.0475, "cpu16": 0.120, "cpu32": 0.240}
    july = {"gpu": 0.745} | {
        f"cpu-{build}/cpu{cores}": 0.060 * (1 + 0.0607) * cores / 8
        for build in ("pip", "compiled")
        for cores in (8, 16, 32, 64)
    }
    for study, below, rates, base in (
        ("gpus-2017", "keras-cntk-benchmark-v2-2017-11/v2/logs", hourly, "k80"),
        ("cpu-or-gpu-2017", "deep-learning-cpu-gpu-benchmark-2017-07/logs", july, "gpu"),
    ):
        found, seen = relative(study), 0
        for folder, rate in rates.items():
            for log in sorted((published() / below / folder).glob("*.csv")):
                workload, _, framework = log.stem.rpartition("_")
                seconds = pd.read_csv(log)["elapsed"].sum()
                of_base = pd.read_csv(published() / below / base / f"{workload}_tensorflow.csv")["elapsed"].sum()
                framework = "tensorflow-compiled" if "compiled" in folder else framework
                machine = "k80" if folder == "gpu" else Path(folder).name
                expected = (seconds / of_base, seconds * rate / (of_base * rates[base]))
                assert found[workload, machine, framework] == pytest.approx(expected, rel=1e-8)
                seen += 1
        assert seen == len(found)
