from statistics import median

import numpy as np
import pytest

from scripts.analysis import noise, scale_ups, trainings
from scripts.analysis.noise import Noise
from scripts.analysis.verdicts import Judge
from tests.made import BOOK, JUDGE, costs, run, runs

FOUR = trainings.Question("hardware", "cpu4", "cpu1")


@pytest.mark.parametrize(
    ("pairs", "cheaper", "dearer", "word"),
    [
        (12, 0, 0, "Undecided"),
        (12, 6, 0, "Yes"),
        (12, 5, 0, "Undecided"),
        (12, 0, 5, "Undecided"),
        (12, 0, 10, "No"),
        (12, 6, 1, "It depends"),
        (12, 1, 6, "It depends"),
    ],
)
def test_word_of_an_answer(pairs: int, cheaper: int, dearer: int, word: str) -> None:
    assert trainings.verdict(pairs, cheaper, dearer) == word


def test_machine_pays_where_it_is_faster_than_its_price_is_higher() -> None:
    """cpu4 costs four times as much an hour: five times as fast pays, three times does not."""
    rows = [
        run(train_seconds=100.0),
        run(hardware="cpu4", train_seconds=20.0),
        run(framework="jax", train_seconds=90.0),
        run(framework="jax", hardware="cpu4", train_seconds=30.0),
        run(framework="torch", train_seconds=90.0),
    ]
    found = trainings.by_workload(costs(runs(*rows)), "on-demand", lambda cell: cell["framework"])
    answer = trainings.pays(found, FOUR, JUDGE)
    assert answer is not None
    assert (answer.pairs, answer.cheaper, answer.dearer, answer.undecided, answer.faster) == (2, 1, 1, 0, 2)
    assert (answer.word, answer.price, answer.speedup) == ("It depends", pytest.approx(4), pytest.approx(5))
    assert answer.where == "MNIST · MLP: tensorflow"


def test_machines_without_a_training_in_common_have_no_answer() -> None:
    found = trainings.by_workload(costs(runs(run(), run(hardware="cpu4", framework="jax"))), "on-demand", str)
    assert trainings.pays(found, FOUR, JUDGE) is None


def test_rates_alone_are_compared_for_a_million_samples() -> None:
    rows = [run(train_seconds=None, total_seconds=None, samples_fraction=None, samples_per_second=1000.0)]
    priced = costs(runs(*rows))
    assert trainings.by_workload(priced, "on-demand", str) == {}
    ((cell,),) = trainings.by_workload_of_rates(priced, "on-demand", str).values()
    assert (cell["seconds"], cell["usd"]) == (pytest.approx(1000), pytest.approx(0.01))


def test_framework_or_batch_size_is_asked_about_too() -> None:
    rows = [
        run(train_seconds=100.0),
        run(framework="jax", train_seconds=50.0),
        run(hardware="cpu4", train_seconds=90.0),
        run(batch_size=512, train_seconds=100.0),
    ]
    found = trainings.by_workload(costs(runs(*rows)), "on-demand", lambda cell: cell["framework"])
    answer = trainings.pays(found, trainings.Question("framework", "jax", "tensorflow"), JUDGE)
    assert answer is not None
    assert (answer.pairs, answer.word, answer.price, answer.speedup) == (1, "Yes", pytest.approx(1), pytest.approx(2))
    answer = trainings.pays(found, trainings.Question("batch_size", 512, 128), JUDGE)
    assert answer is not None
    assert (answer.pairs, answer.word, answer.where) == (1, "Undecided", "")


def test_question_of_a_study_is_of_one_axis() -> None:
    study = {"base": {"hardware": "cpu1"}, "question": {"asks": "Does it pay?", "hardware": "cpu4"}}
    assert trainings.Question.of(study) == FOUR
    asked = trainings.Question.of({"question": {"asks": "Does it?", "batch_size": 64, "than": 16}})
    assert asked == trainings.Question("batch_size", 64, 16)
    assert asked.name(64, {}) == "batch 64"
    assert trainings.Question("framework", "jax", "cntk").name("cntk", {}) == "CNTK"
    assert trainings.Question("mode", "tuned", "stock").name("tuned", {}) == "tuned"
    assert trainings.Question.of({"question": {"asks": "Do newer cards?"}}) is None


@pytest.mark.parametrize(("slower", "near"), [(1.2, 1), (1.6, 0)])
def test_best_value_is_judged_as_the_times_are(slower: float, near: int) -> None:
    """Seconds x USD vary as the square of a time: what times do not decide, it does not either."""
    noisy = Judge(Noise(variance=0.02, degrees=float("inf"), runs=100, cells=20, of="made-up runs"))
    sides = (("jax", 100.0), ("tensorflow", 100.0 * slower))
    frame = runs(*(run(framework=name, repeat=i, train_seconds=s + i) for name, s in sides for i in range(1, 4)))
    cells = trainings.by_workload(costs(frame), "on-demand", lambda row: row["framework"])["mnist_mlp"]
    assert [one["not_told"] for one in trainings.best(cells, noisy)] == [near] * 3


def test_of_those_that_are_billed_the_same_the_shortest_is_named() -> None:
    """56 s and 28 s, each billed for a minute: the price of speed is that beside the one of 28 s."""
    frame = runs(run(train_seconds=56.0), run(framework="jax", train_seconds=28.0))
    cells = trainings.by_workload(costs(frame), "on-demand", lambda row: row["framework"])["mnist_mlp"]
    billed = [cell | {"usd": 0.01, "of": cell["of"] | {"usd": np.array([0.01])}} for cell in cells]
    assert {one["machine"] for order in (billed, billed[::-1]) for one in trainings.best(order, JUDGE)} == {"jax"}


@pytest.mark.parametrize(
    ("seconds", "count", "settled"),
    [(101.0, 3, "4 runs or more of each"), (101.0, 5, "more runs of each, on several machines of a kind")],
)  # fmt: skip
def test_what_would_settle_it_follows_from_the_runs(seconds: float, count: int, settled: str) -> None:
    noisy = Judge(Noise(variance=0.02, degrees=float("inf"), runs=100, cells=20, of="made-up runs"))
    sides = (("jax", 100.0), ("tensorflow", seconds))
    frame = runs(*(run(framework=name, repeat=i, train_seconds=s) for name, s in sides for i in range(count)))
    cells = trainings.by_workload(costs(frame), "on-demand", lambda row: row["framework"])["mnist_mlp"]
    assert {one["settled_by"] for one in trainings.best(cells, noisy)} == {settled}


@pytest.mark.parametrize(
    ("share", "slow", "why", "marks"),
    [
        (1.0, [56.0, 57.0, 58.0, 59.0], "equal", {"equal"}),
        (1.0, [56.0, 57.0, 58.0, 61.0], "too close to call", {"near"}),  # one run is billed 61 s
        (0.01, [56.0, 57.0, 58.0, 59.0], "too close to call", {"near"}),  # the whole may take longer than a minute
        (0.01, [29.0, 29.0, 30.0, 30.0], "equal", {"equal"}),
    ],
)
def test_equal_are_those_alone_that_are_surely_billed_the_minimum(
    share: float, slow: list[float], why: str, marks: set[str]
) -> None:
    """A minute is billed at least. From a hundredth, the whole takes at most 1.6 times what is extrapolated."""
    known = scale_ups.reach(share)
    assert known is not None
    assert known[1] == 1 if share == 1 else 1.1 < known[1] < 2
    noisy = Judge(Noise(variance=0.02, degrees=float("inf"), runs=100, cells=20, of="made-up runs"))
    sides = {"jax": [28.0, 28.0, 28.0, 28.0], "tensorflow": slow}
    frame = runs(
        *(run(framework=name, repeat=i, train_seconds=s) for name, of in sides.items() for i, s in enumerate(of))
    )
    paid = costs(frame, rows=[row | {"as_of": "2019"} for row in BOOK])
    shares = dict.fromkeys(frame["run"], share)
    cells = trainings.by_workload(paid, "on-demand", lambda row: row["framework"], shares)["mnist_mlp"]
    cheapest, fastest, _ = trainings.best(cells, noisy)
    assert (cheapest["machine"], cheapest["why"]) == ("jax", why)
    assert cheapest["settled_by"].startswith("nothing" if why == "equal" else "more runs")
    assert (cheapest["said"] == "2 cost the same") == (why == "equal")
    assert fastest["why"] != "equal", "no two times are known to be equal"
    assert set(trainings.marks(cells, noisy).values()) == {"best"} | marks


def test_machine_pays_below_the_price_that_the_page_names() -> None:
    """At a little less the answer is yes, at a little more not: each pair is priced anew and judged by the rule."""
    times = {"tensorflow": (100.0, 30.0), "jax": (90.0, 40.0), "torch": (90.0, 30.0)}
    rows = [
        run(framework=framework, hardware=hardware, repeat=i, train_seconds=seconds * (1 + i / 1000))
        for framework, both in times.items()
        for hardware, seconds in zip(("cpu1", "cpu4"), both, strict=True)
        for i in range(6)
    ]
    found = trainings.by_workload(costs(runs(*rows)), "on-demand", lambda cell: cell["framework"])
    answer = trainings.pays(found, FOUR, JUDGE)
    assert answer is not None
    (flip,) = answer.flips
    assert (answer.word, flip.now, flip.than) == ("No", pytest.approx(0.144), "cpu1")
    assert 0 < flip.below < flip.now
    for share, word in ((0.999, "Yes"), (1.001, "Undecided")):
        again = trainings.pays(cheaper(found, "cpu4", share * flip.below / flip.now), FOUR, JUDGE)
        assert again is not None
        assert (again.word == "Yes") == (word == "Yes"), share
    half = median(other["usd"] / one["usd"] for _, one, other in trainings.pairs(found, FOUR))
    assert flip.even == pytest.approx(0.144 * half), "there two of three cost as little"


def cheaper(found: dict, hardware: str, share: float) -> dict:
    """Return the configurations with another price of a machine."""
    return {
        workload: [
            cell | {"usd": cell["usd"] * share, "of": cell["of"] | {"usd": cell["of"]["usd"] * share}}
            if cell["cell"]["hardware"] == hardware
            else cell
            for cell in cells
        ]
        for workload, cells in found.items()
    }


def test_another_machine_wins_below_the_price_that_a_panel_names() -> None:
    rows = [
        run(hardware=hardware, repeat=i, train_seconds=seconds * (1 + i / 1000))
        for hardware, seconds in (("cpu1", 100.0), ("cpu4", 50.0))
        for i in range(6)
    ]
    cells = trainings.by_workload(costs(runs(*rows)), "on-demand", str)["mnist_mlp"]
    flip = trainings.flip(cells, JUDGE)
    assert flip is not None
    assert (flip.hardware, flip.even) == ("cpu4", pytest.approx(0.144 / 2, rel=0.02)), (
        "twice as fast, four times the price"
    )
    for share, role in ((0.999, "cheapest"), (1.001, "lowest cost measured")):
        (again,) = cheaper({"mnist_mlp": cells}, "cpu4", share * flip.below / flip.now).values()
        assert trainings.best(again, JUDGE)[0]["head"] == role
    assert trainings.flip([cell for cell in cells if cell["cell"]["hardware"] == "cpu1"], JUDGE) is None


def test_what_single_runs_leave_open_is_not_called_close() -> None:
    rows = [run(hardware=hardware, train_seconds=seconds) for hardware, seconds in (("cpu1", 100.0), ("cpu4", 500.0))]
    cells = trainings.by_workload(costs(runs(*rows)), "on-demand", str)["mnist_mlp"]
    unknown = Judge(noise.UNKNOWN)
    assert {one["why"] for one in trainings.best(cells, unknown)} == {"too few runs"}
    flip = trainings.flip(cells, unknown)
    assert flip is not None
    assert flip.below == 0, "no price decides it"
    found = trainings.by_workload(costs(runs(*rows)), "on-demand", str)
    answer = trainings.pays(found, FOUR, unknown)
    assert answer is not None
    assert (answer.word, answer.undecided, answer.few) == ("Undecided", 1, 1)
