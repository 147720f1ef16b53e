"""The parts of what a run costs add up to what the table of costs says."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.analysis import dollars, money
from scripts.analysis.dollars import BOOT, IDLE, PAID, PREEMPTIONS, REST
from scripts.costs import prices
from scripts.storage import tables
from tests.made import JUDGE, log, offer, price_book, run, runs
from tests.made import prices as price_table

#: A process of 200 s that trains half of what is published: 7 s of it have no name.
CLOCKS = {
    "spawn_seconds": 1.0,
    "import_seconds": 4.0,
    "data_seconds": 5.0,
    "build_seconds": 6.0,
    "first_step_seconds": 7.0,
    "training_seconds": 150.0,
    "validation_seconds": 20.0,
    "train_seconds": 177.0,
    "total_seconds": 200.0,
    "train_samples": 100_000,
    "epochs_done": 8,
    "samples_per_second": 5_000.0,
    "published_samples": 1_600_000.0,
}
#: The other half: 320 s at 5,000 samples/s instead of 150 s, and 40 s of validation.
HALF = run(**CLOCKS, published_seconds=390.0)

#: What was preempted records neither time to train nor full length; its two processes had a first step each.
RESUMED = run(**CLOCKS | {"first_step_seconds": 14.0, "train_seconds": None, "total_seconds": 145.0}, repeat=2)

#: A second costs 0.0001 USD.
BOOK = price_book(offer("1-core", 0.36), offer("4-core", 1.44))

MINIMUM = pytest.mark.parametrize("minimum", [0.0, 60.0, 3600.0])


def priced(frame: pd.DataFrame, minimum: float, *attempts: dict, **preemption: float) -> pd.DataFrame:
    """Return the costs of runs on demand, billed by the second and at least for `minimum`."""
    about = {"on-demand": {"purchase": "on-demand"} | ({"preemption": preemption} if preemption else {})}
    table = price_table(options=about, rows=BOOK).assign(increment_seconds=1.0, minimum_seconds=minimum)
    tried = tables.conform(pd.DataFrame(attempts, columns=list(tables.columns("attempts"))), "attempts")
    return tables.conform(prices.price_runs(frame, table, tried), "costs")


def attempt(of: dict, **seconds: float) -> dict:
    """Return an attempt at a run that began 120 s after its machine was started, 90 s of them booting."""
    times = {"boot": 90.0, "wait": 30.0} | seconds
    return {"run": of["run"]} | {f"{name}_seconds": value for name, value in times.items()}


def seconds(frame: pd.DataFrame, costs: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the seconds of each part of the only cell that are not 0, of its cost and of its bill."""
    found = dollars.by_cell(frame, costs)
    return {
        of: {part: pytest.approx(parts[part] / 0.0001) for part in PAID if parts[part] > 1e-9}
        for of, parts in zip(found["of"], tables.records(found), strict=True)
    }


def least(minimum: float, used: float) -> float:
    """Return what is billed beyond what was used, of one machine."""
    return max(0.0, minimum - used)


START = {"start and import": 5, "data": 5, "build": 6, "first step": 7}


@MINIMUM
def test_parts_of_a_run_on_a_running_machine(minimum: float) -> None:
    frame = runs(HALF)
    parts = seconds(frame, priced(frame, minimum))
    idle, more = ({IDLE: 3600 - 390}, {IDLE: 3400}) if minimum == 3600 else ({}, {})
    assert parts["cost_usd"] == START | {"training": 320, "validation": 40, REST: 7} | idle
    assert parts["billed_usd"] == START | {"training": 150, "validation": 20, REST: 7} | more


@MINIMUM
def test_start_of_a_machine_and_waiting_are_paid(minimum: float) -> None:
    """The attempt lives 215 s, 15 of them before its process: that and the 30 s are waiting."""
    frame = runs(HALF)
    parts = seconds(frame, priced(frame, minimum, attempt(HALF, used=215.0)))
    idle = 45 + least(minimum, 90 + 30 + 15 + 390)
    assert parts["cost_usd"] == START | {BOOT: 90, "training": 320, "validation": 40, REST: 7, IDLE: idle}
    idle = 45 + least(minimum, 90 + 30 + 215)
    assert parts["billed_usd"] == START | {BOOT: 90, "training": 150, "validation": 20, REST: 7, IDLE: idle}


@MINIMUM
def test_each_preempted_attempt_is_paid_for_itself(minimum: float) -> None:
    """Two lives of 100 and 160 s; 40 s of the first were for nothing."""
    frame = runs(RESUMED)
    lives = [attempt(RESUMED, used=100.0, lost=40.0), attempt(RESUMED, boot=80.0, wait=20.0, used=160.0, lost=50.0)]
    parts = seconds(frame, priced(frame, minimum, *lives))
    once = START | {"first step": 14, "validation": 20, REST: 20, PREEMPTIONS: 40}
    longer = 30 + 20 + least(minimum, 220) + least(minimum, 260 + 160)
    whole = once | {BOOT: 170, "training": 150 + 160, IDLE: longer}
    assert parts["cost_usd"] == whole, "800,000 samples are missing of full length: the last attempt trains them"
    idle = 30 + 20 + least(minimum, 220) + least(minimum, 260)
    assert parts["billed_usd"] == once | {BOOT: 170, "training": 150, IDLE: idle}


def test_expected_preemptions_are_a_part_of_both() -> None:
    frame = runs(HALF)
    costs = priced(frame, 60.0, preemptions_per_hour=2.0, checkpoint_seconds=100.0, restart_seconds=60.0)
    parts = seconds(frame, costs)
    expected = float(costs["used_seconds"].iloc[0]) - 390
    assert expected > 20
    assert parts["cost_usd"][PREEMPTIONS] == parts["billed_usd"][PREEMPTIONS] == pytest.approx(expected)


def test_imported_logs_have_no_parts() -> None:
    frame = runs(log(), log(hardware="cpu4"))
    assert dollars.by_cell(frame, priced(frame, 60.0)).empty


def test_one_unknown_life_leaves_the_others() -> None:
    """Only runs whose clocks are known show the shares; the whole is the median of all, as in the table of costs."""
    frame = runs(HALF, run(**CLOCKS | {"total_seconds": None}, repeat=3))
    found = dollars.by_cell(frame, priced(frame, 60.0))
    assert found["n"].to_list() == [2, 2]
    assert found["total"].to_list() == pytest.approx([0.0001 * (390 + 177) / 2, 0.0001 * (200 + 177) / 2])
    assert found[list(PAID)].sum(axis=1).to_list() == pytest.approx(found["total"].to_list())


some = st.floats(0.0, 1e4)


@st.composite
def trained(draw: st.DrawFn, repeat: int) -> tuple[dict, list[dict]]:
    """Return a run whose clocks agree, and its attempts: none, one, or several of which the last ended well."""
    parts = {name: draw(some) for name in CLOCKS if name.endswith("_seconds") and name not in ("train_seconds",)}
    parts |= {"training_seconds": draw(st.floats(0.1, 1e4)), "samples_per_second": draw(st.floats(1.0, 1e5))}
    train = sum(parts[f"{name}_seconds"] for name in ("first_step", "training", "validation"))
    start = sum(parts[f"{name}_seconds"] for name in ("spawn", "import", "data", "build"))
    epochs = draw(st.sampled_from([0.5, 1.0, 2.0]))  # of the run, that are published
    total = start + train + draw(some)
    samples = parts["samples_per_second"] * parts["training_seconds"] * epochs
    published = total - train + parts["first_step_seconds"] + parts["training_seconds"] * epochs
    published += parts["validation_seconds"] * epochs
    lives = draw(st.integers(0, 3))
    resumed = {"train_seconds": None} if lives > 1 else {"train_seconds": train, "published_seconds": published}
    made = run(**CLOCKS | parts | {"total_seconds": total, "published_samples": samples} | resumed, repeat=repeat)
    lost = [draw(some) for _ in range(lives - 1)]
    useful = [part + kept for part, kept in zip(lost, [train] + [0.0] * lives, strict=False)]
    used = [*useful, total if lives > 1 else total + draw(some)][:lives]
    each = zip(used, [*lost, start], strict=False)
    return made, [attempt(made, used=life, lost=gone, boot=draw(some), wait=draw(some)) for life, gone in each]


@pytest.mark.slow
@given(st.data(), st.integers(1, 4), st.sampled_from([0.0, 60.0, 3600.0]))
def test_parts_add_up_to_what_the_table_says(data: st.DataObject, repeats: int, minimum: float) -> None:
    made = [data.draw(trained(repeat)) for repeat in range(1, repeats + 1)]
    frame = runs(*(row for row, _ in made))
    costs = priced(frame, minimum, *(one for _, attempts in made for one in attempts))
    (row,) = money.by_cell(costs, {}, JUDGE)
    for of, column in (("cost_usd", "paid_seconds"), ("billed_usd", "billed_seconds")):
        parts = dollars.by_run(frame, costs)[of]
        assert parts["run"].to_list() == costs["run"].to_list()
        sums = parts[list(PAID)].sum(axis=1).to_list()
        assert sums == pytest.approx(costs[column].astype(float).to_list(), rel=1e-12)
    found = dollars.by_cell(frame, costs).set_index("of")
    for of in ("cost_usd", "billed_usd"):
        parts = found.loc[of, list(PAID)].astype(float)
        assert parts.sum() == pytest.approx(row[of], rel=1e-12)
        assert parts.min() >= -1e-9 * row[of]
