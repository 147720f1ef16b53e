"""The trend of a cell over repetitions that are made up, and the rule for changes on noise that is known."""

import json
from math import inf

import numpy as np
import pytest

from scripts.analysis import noise, trends
from scripts.analysis.noise import Noise
from scripts.analysis.trends import Repetition, cells, changes, judge
from scripts.analysis.verdicts import Judge
from tests.made import BOOK, JUDGE, costs, offer, price_book, run, runs
from tests.simulation import trends as simulation
from tests.simulation.verdicts import kinds

DEAR = price_book(offer("1-core", 0.072, as_of="2026-06-01"))


def repetition(number: int, seconds: float, book=BOOK, **values) -> Repetition:
    frame = runs(*(run(repeat=i + 1, train_seconds=seconds * (1 + 0.01 * i), **values) for i in range(3)))
    mine, today = (costs(frame, rows=rows) for rows in (book, DEAR))
    own = [table[table["price_option"] == "on-demand"] for table in (mine, today)]
    return Repetition(f"2026-11-{number:02}T000000Z", frame, *own)


def test_step_is_marked_with_what_changed_there() -> None:
    before = [repetition(day, 100 + day % 2) for day in range(1, 6)]
    after = [repetition(day, 130 + day % 2, packages="keras 4") for day in range(6, 11)]
    (cell,) = cells([*before, *after], JUDGE)
    (change,) = cell["changes"]
    assert (change["place"], change["word"]) == (5, "slower")
    assert change["repetition"] == "2026-11-06T000000Z"
    assert change["ratio"] == pytest.approx(1.3, rel=0.02)
    assert {"what": "packages", "old": ["keras 3"], "new": ["keras 4"]} in change["versions"]


def test_price_change_is_no_slowdown() -> None:
    found = [repetition(day, 100 + day % 2, book=BOOK if day < 6 else DEAR) for day in range(1, 11)]
    (cell,) = cells(found, JUDGE)
    assert cell["changes"] == []
    (repriced,) = cell["repriced"]
    assert (repriced["place"], repriced["ratio"]) == (5, 2.0)
    assert (repriced["old"], repriced["new"]) == ("2026-01-02", "2026-06-01")
    own, today = ([point[key] for point in cell["points"]] for key in ("usd", "usd_today"))
    assert own[0] == pytest.approx(today[0] / 2, rel=0.02)
    assert own[-1] == today[-1]


def test_level_that_lasted_one_repetition_is_not_marked() -> None:
    values = [100, 101, 100, 150, 100, 101, 100, 101]
    assert changes(values, Judge(Noise(1e-4, 4, 100, 20, "made-up runs"))) == []
    assert changes(values, Judge(noise.project())) == []


def test_two_steps_are_two_changes_the_noise_of_each_side_alone() -> None:
    found = changes([100, 101, 100, 101, 100, 101, 150, 151, 150, 151, 150, 151, 90, 91, 90, 91, 90, 91], JUDGE)
    assert [place for place, _ in found] == [6, 12]
    assert [one.word for _, one in found] == ["more", "less"]


def test_cells_of_other_settings_are_no_trend_of_one() -> None:
    found = cells([repetition(1, 100), repetition(2, 50, epochs=10)], JUDGE)
    assert [len(cell["points"]) for cell in found] == [1, 1]


def test_runs_that_failed_are_no_points() -> None:
    frame = runs(run(status="killed", train_seconds=None))
    nothing = costs(frame).iloc[:0]
    assert cells([Repetition("2026-11-01T000000Z", frame, nothing, nothing)], JUDGE) == []


def test_step_between_repetitions_is_no_noise_of_the_page() -> None:
    """Pooled over both levels it would hide the step."""
    found = [repetition(day, 100 if day < 6 else 200) for day in range(1, 11)]
    assert judge(found).noise == noise.project()


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [2, 4, 6, 10, 30])
def test_stable_histories_are_seldom_marked(repetitions: int) -> None:
    """2 % over all kinds of noise of the simulation; 150 of each here, with room for chance."""
    project = Judge(noise.project())
    stable = {kind: draw for kind, draw in kinds().items() if "drifting" not in kind}
    false = [simulation.shares(project, draw, repetitions, 150, seed=7)[0] for draw in stable.values()]
    assert np.mean(false) <= 0.025


def test_step_of_20_percent_is_found_with_enough_repetitions() -> None:
    _, found = simulation.shares(Judge(noise.project()), kinds()["real"], 20, 100, seed=7)
    assert found > 0.6


def test_what_the_documents_say_of_the_rule_is_good_enough() -> None:
    rows = json.loads(simulation.OUTPUT.read_text())["rows"]
    stable = [row for row in rows if "drifting" not in row["kind"]]
    assert {row["repetitions"] for row in rows} == set(simulation.REPETITIONS)
    assert max(row["false_changes"] for row in stable) <= 0.025
    assert np.mean([row["false_changes"] for row in stable]) <= 0.01
    assert min(row["found"] for row in stable if row["repetitions"] >= 20) > 0.5


def test_no_noise_at_all_marks_what_is_exact() -> None:
    exact = Judge(Noise(1e-12, inf, 10, 5, "made-up runs"))
    assert [place for place, _ in changes([100] * 5 + [120] * 5, exact)] == [5]
    assert trends.changes([100.0] * 10, exact) == []
