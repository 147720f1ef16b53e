import numpy as np
import pytest

from scripts.analysis import claim_verdict, claims
from scripts.analysis.noise import UNKNOWN, Noise
from scripts.analysis.verdicts import Judge
from scripts.storage.errors import InputError
from tests.made import CATALOGUE, FAILED, JUDGE, OPTIONS, costs, offer, price_book, run, runs

#: cpu4 takes half of cpu1's time at four times its price; jax is slower; fasttext is slower on cpu4.
ROWS = runs(
    run(train_seconds=100.0),
    run(hardware="cpu4", train_seconds=50.0),
    run(framework="jax", train_seconds=200.0),
    run(hardware="cpu4", framework="jax", train_seconds=150.0),
    run(workload="imdb_fasttext", train_seconds=10.0),
    run(workload="imdb_fasttext", hardware="cpu4", train_seconds=11.0),
    run(workload="imdb_fasttext", framework="jax", **FAILED),
)
COSTS = costs(ROWS)
STUDY = {"price": "on-demand", "prices": OPTIONS}
LABELS = {name: about["label"] for name, about in CATALOGUE.items()}
FIGURES = {"hours": 2.004, "usd": 1.1}


def verdict(check: str, **claim) -> claim_verdict.Verdict:
    return claims.evaluate({"says": "So.", "check": check} | claim, STUDY, ROWS, COSTS, FIGURES, LABELS, JUDGE)


def counted(check: str, **claim) -> tuple[int, int]:
    found = verdict(check, **claim)
    assert len(found.details) == found.cases
    assert sum("(against)" in detail for detail in found.details) == found.failed
    unsure = ("(tie)", "too few", "(undecided")
    assert sum(any(word in detail for word in unsure) for detail in found.details) == found.undecided
    return found.held, found.cases


def test_cells_that_differ_in_how_they_are_trained_are_named_so() -> None:
    rows = runs(
        run(train_seconds=100.0), run(train_seconds=60.0, mode="tuned"), run(hardware="cpu4", train_seconds=9.0)
    )
    compared = {"cell": {"mode": "tuned"}, "than": {"mode": "stock"}}
    claim = {"says": "So.", "check": "less", "by": "train_seconds"} | compared
    found = claims.evaluate(claim, STUDY, rows, costs(rows), FIGURES, LABELS, JUDGE)
    assert (found.held, found.cases) == (1, 1)
    assert "TensorFlow tuned" in found.details[0]


CPU1, CPU4 = {"hardware": "cpu1"}, {"hardware": "cpu4"}
MLP = {"workload": "mnist_mlp"}


@pytest.mark.parametrize(
    ("check", "claim", "expected"),
    [
        ("less", {"cell": CPU4, "than": CPU1}, (2, 3)),
        ("less", {"cell": CPU4, "than": CPU1, "among": MLP}, (2, 2)),
        ("less", {"cell": CPU4, "than": CPU1, "among": MLP, "factor": 1.5}, (1, 2)),
        ("less", {"cell": CPU4, "than": CPU1, "among": MLP, "factor": 2}, (0, 2)),
        ("more", {"cell": CPU4, "than": CPU1}, (1, 3)),
        ("more", {"cell": CPU1, "than": CPU4, "factor": 1.5}, (1, 3)),
        ("more", {"cell": {"framework": "jax"}, "than": {"framework": "tensorflow"}}, (2, 2)),
        ("less", {"cell": CPU1 | {"framework": "jax"}, "than": CPU4 | {"framework": "tensorflow"}}, (0, 1)),
        (
            "less",
            {"cell": {"hardware": ["cpu1", "cpu4"], "framework": "jax"}, "than": CPU1 | {"framework": "tensorflow"}},
            (0, 2),
        ),
        ("less", {"cell": CPU1, "than": CPU1}, (0, 3)),
        ("more", {"cell": CPU1, "than": CPU1}, (0, 3)),
        ("ratio", {"cell": CPU4, "than": CPU1, "between": [0.5, 0.8]}, (1, 3)),
        ("ratio", {"cell": CPU4, "than": CPU1, "between": [1.0, 2.0]}, (1, 3)),
        ("ratio", {"pairs": [["cpu4", "cpu1"]], "between": [0, 1]}, (2, 3)),
        ("less", {"pairs": [["cpu4", "cpu1"], ["cpu1", "cpu4"]]}, (3, 6)),
        ("less", {"cell": CPU4, "than": CPU1, "among": MLP, "times": 2}, (1, 2)),
        ("less", {"cell": CPU4, "than": CPU1, "word": "much"}, (1, 3)),
        ("ratio", {"cell": CPU4, "than": CPU1, "word": "similar"}, (0, 3)),
        ("best", {"cell": CPU4}, (1, 2)),
        ("best", {"cell": CPU4 | {"framework": "tensorflow"}, "among": MLP}, (1, 1)),
        ("best", {"cell": {"framework": "jax"}}, (0, 1)),
        ("best", {"cell": {"framework": "jax"}, "among": {"framework": ["jax"]}}, (1, 1)),
        ("never_best", {"cell": CPU4}, (1, 2)),
        ("never_best", {"cell": {"framework": "jax"}}, (1, 1)),
    ],
)
def test_claim_about_times_is_counted_case_by_case(check: str, claim: dict, expected: tuple[int, int]) -> None:
    assert counted(check, by="train_seconds", **claim) == expected


@pytest.mark.parametrize(
    ("check", "claim", "expected"),
    [
        ("less", {"by": "cost_usd", "cell": CPU1, "than": CPU4}, (3, 3)),
        ("best", {"by": "cost_usd", "cell": CPU1}, (2, 2)),
        ("ratio", {"by": "cost_usd", "cell": CPU4, "than": CPU1, "between": [1.8, 2.2]}, (1, 3)),
        ("ratio", {"by": "usd_per_hour", "cell": CPU4, "than": CPU1, "between": [4, 4]}, (3, 3)),
        ("less", {"by": "billed_usd", "cell": CPU1, "than": CPU4, "price": "spot"}, (0, 0)),
        (
            "ratio",
            {"by": "cost_usd", "cell": CPU1, "price": "spot", "than_price": "on-demand", "between": [0.5, 0.5]},
            (3, 3),
        ),
        ("less", {"by": "cost_usd", "cell": CPU1, "price": "spot", "than_price": "on-demand"}, (3, 3)),
        ("best", {"by": "cost_usd", "cell": CPU4, "price": "spot"}, (0, 0)),
    ],
)
def test_claim_about_costs_is_counted_at_its_price(check: str, claim: dict, expected: tuple[int, int]) -> None:
    assert counted(check, **claim) == expected


def test_value_of_a_cell_is_the_median_of_its_runs_that_are_done() -> None:
    frame = runs(
        run(train_seconds=100.0),
        run(repeat=2, train_seconds=190.0),
        run(repeat=3, train_seconds=120.0),
        run(repeat=4, **FAILED),
        run(hardware="cpu4", train_seconds=150.0),
    )
    claim = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU1, "than": CPU4}
    assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS, JUDGE).held == 1
    assert claims.evaluate(claim | {"factor": 1.3}, STUDY, frame, costs(frame), {}, LABELS, JUDGE).held == 0


def undecided(check: str, seconds: float, **claim) -> tuple[int, int, str, str]:
    """Return held, undecided, word and count for cpu4 at `seconds` against the 100 s of cpu1."""
    frame = runs(run(), run(hardware="cpu4", train_seconds=seconds))
    sides = {"cell": CPU4} if check in ("best", "never_best") else {"cell": CPU4, "than": CPU1}
    about = {"says": "", "check": check, "by": "train_seconds"} | sides | claim
    found = claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS, JUDGE)
    return found.held, found.undecided, found.word, found.count


@pytest.mark.parametrize("check", ["less", "best", "never_best", "more"])
def test_gap_below_the_noise_is_for_neither_side(check: str) -> None:
    assert undecided(check, 96.0) == (0, 1, "undecided", "")
    assert undecided(check, 104.0) == (0, 1, "undecided", "")
    for seconds in (94.0, 106.0):
        assert undecided(check, seconds)[1] == 0


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [((100, 101, 99, 100), (101, 100, 102, 100), "holds"), ((100, 101, 99, 100), (140, 139, 141, 140), "fails")],
)
def test_same_is_what_runs_do_not_distinguish(ours: tuple, theirs: tuple, word: str) -> None:
    cells = {"cpu1": ours, "cpu4": theirs}
    frame = runs(*(run(hardware=k, repeat=i, train_seconds=s) for k, v in cells.items() for i, s in enumerate(v, 1)))
    about = {"says": "", "check": "same", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    assert claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS, JUDGE).word == word


def test_same_is_undecided_where_runs_show_nothing() -> None:
    """20 % apart, four runs a side, a fifth of noise: not clearly different, and no proof that they are the same."""
    ours, theirs = (100, 130, 80, 105), (120, 150, 100, 125)
    cells = {"cpu1": ours, "cpu4": theirs}
    frame = runs(*(run(hardware=k, repeat=i, train_seconds=s) for k, v in cells.items() for i, s in enumerate(v, 1)))
    about = {"says": "", "check": "same", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    noisy = Judge(Noise(variance=0.04, degrees=40.0, runs=100, cells=20, of="made-up runs"))
    assert claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS, noisy).word == "undecided"


def test_same_is_undecided_with_too_few_runs() -> None:
    assert undecided("same", 104.0)[2] == "undecided"


@pytest.mark.parametrize(
    ("seconds", "word"), [(96.0, "holds by figures"), (104.0, "holds by figures"), (107.0, "fails by figures")]
)
def test_figures_of_an_article_are_the_same_within_what_the_word_is_read_as(seconds: float, word: str) -> None:
    frame = runs(run(), run(hardware="cpu4", train_seconds=seconds))
    about = {"says": "", "check": "same", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    study = STUDY | {"import": {"format": "keras_csv"}}
    assert claims.evaluate(about, study, frame, costs(frame), {}, LABELS, JUDGE).word == word


@pytest.mark.parametrize("check", ["less", "more"])
def test_equal_is_neither_less_nor_more(check: str) -> None:
    assert undecided(check, 100.0, word="slightly")[:3] == (0, 1, "undecided")
    assert undecided(check, 100.0, word="much")[:3] == (0, 0, "fails")


@pytest.mark.parametrize("check", ["best", "never_best"])
def test_machine_that_costs_what_another_does_is_undecided(check: str) -> None:
    frame = runs(run(), run(hardware="cpu4"))
    priced = costs(frame, rows=price_book(offer("1-core", 0.036), offer("4-core", 0.036)))
    about = {"says": "", "check": check, "by": "usd_per_hour", "cell": CPU4}
    assert claims.evaluate(about, STUDY, frame, priced, {}, LABELS, JUDGE).word == "undecided"


def test_limits_the_wrong_way_round_are_a_line() -> None:
    with pytest.raises(InputError, match=r"between: \[2, 1\]: the first is above the second"):
        undecided("ratio", 96.0, between=[2, 1])


def test_limit_is_held_by_all_that_a_ratio_may_be() -> None:
    """One run a side, 1 % a run: a ratio may be 5 % off."""
    assert undecided("less", 46.0, factor=2)[:3] == (1, 0, "holds")
    for seconds in (49.0, 51.0):
        assert undecided("less", seconds, factor=2)[:3] == (0, 1, "undecided")
    assert undecided("less", 54.0, factor=2)[:3] == (0, 0, "fails")
    assert undecided("ratio", 96.0, between=[0.9, 1.02])[:3] == (1, 0, "holds")
    assert undecided("ratio", 96.0, between=[0.9, 1])[:3] == (0, 1, "undecided")


def test_limits_hold_no_more_often_by_chance_than_cells_are_called_different() -> None:
    """Cells whose truth is just beyond a limit: a claim that it is within holds in no more of them than cells alike."""
    rng, noisy = np.random.default_rng(1), Judge(Noise(0.0064, float("inf"), 100, 20, "made-up runs"))
    held = 0
    for _ in range(4000):
        cells = [100 * np.exp(0.08 * rng.standard_normal(6)), 200.2 * np.exp(0.08 * rng.standard_normal(6))]
        low, high = noisy.reach(cells[1], cells[0])
        held += high <= 2
        assert low < high
    assert held <= 0.004 * 4000
    assert noisy.reach([10.0], [10.0])[0] < noisy.reach([10.0] * 12, [10.0] * 12)[0] < 1


def test_limits_of_runs_whose_noise_nobody_knows_are_undecided() -> None:
    frame = runs(run(), run(hardware="cpu4", train_seconds=10.0))
    about = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU4, "than": CPU1, "factor": 2}
    assert claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS, Judge(UNKNOWN)).word == "undecided"


def test_median_of_the_pairs_is_one_case() -> None:
    verdict_of = {"by": "train_seconds", "cell": CPU4, "than": CPU1, "median": True}
    found = verdict("ratio", between=[0.7, 0.8], **verdict_of)
    assert (found.word, found.cases) == ("holds", 1)
    assert found.details[0] == "the median of 3 is 0.75×"
    assert len(found.details) == 4, "each pair stands below"
    assert verdict("ratio", between=[0.8, 0.9], **verdict_of).word == "fails"


def test_often_is_one_case() -> None:
    found = verdict("less", by="train_seconds", cell=CPU4, than=CPU1, often=True)
    assert (found.held, found.cases, found.details[0]) == (1, 1, "it is so in 2 of 3 cases")
    assert undecided("less", 96.0, often=True) == (0, 1, "undecided", "")
    assert undecided("less", 120.0, often=True)[:3] == (0, 0, "fails")


def test_winner_of_time_and_cost_has_the_least_product() -> None:
    """cpu4 takes .75 of the time of jax on the MLP, at four times the price: cpu1 wins."""
    about = {"says": "", "check": "best", "by": "seconds_usd", "among": MLP | {"framework": "jax"}}
    found = [
        claims.evaluate(about | {"cell": cell}, STUDY | {"import": {}}, ROWS, COSTS, {}, LABELS, JUDGE)
        for cell in (CPU1, CPU4)
    ]
    assert [(one.held, one.cases) for one in found] == [(1, 1), (0, 1)]


def test_other_side_may_be_measured_in_another_study() -> None:
    theirs = runs(run(train_seconds=700.0), run(hardware="k80", train_seconds=5.0))
    others = {"before": claims.Other("Before", theirs, costs(theirs), "on-demand")}
    about = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU1, "than": CPU1, "times": 7}
    about |= {"than_study": "before", "among": MLP}
    found = claims.evaluate(about, STUDY, ROWS, COSTS, {}, LABELS, JUDGE, (), others)
    assert (found.held, found.cases) == (1, 1), "jax has no run there"
    assert found.details[0].endswith(" TensorFlow in 'Before'")
    missing = about | {"than": {"hardware": "v100"}}
    with pytest.raises(InputError, match="than: hardware: 'v100' has no run: it is one of cpu1, k80"):
        claims.evaluate(missing, STUDY, ROWS, COSTS, {}, LABELS, JUDGE, (), others)


#: jax trains slower than the base cell on both, cpu4 faster on the MLP only.
TWO = runs(
    run(train_seconds=100.0),
    run(hardware="cpu4", train_seconds=50.0),
    run(framework="jax", train_seconds=200.0),
    run(workload="imdb_fasttext", train_seconds=10.0),
    run(workload="imdb_fasttext", hardware="cpu4", train_seconds=10.4),
    run(workload="imdb_fasttext", framework="jax", train_seconds=15.0),
)
BASED = STUDY | {"import": {}, "base": CPU1 | {"framework": "tensorflow"}}
ACROSS = {"cell": {"workload": "imdb_fasttext"}, "than": {"workload": "mnist_mlp"}}


def over_base(check: str, by: str = "relative_time", rows=TWO, **claim) -> claim_verdict.Verdict:
    return claims.evaluate({"says": "", "check": check, "by": by} | claim, BASED, rows, costs(rows), {}, LABELS, JUDGE)


def test_alike_is_on_the_same_side_of_the_base_cell_in_both_workloads() -> None:
    found = over_base("alike", **ACROSS)
    assert (found.held, found.cases, found.word) == (1, 2, "partly by figures")
    assert found.details == [
        "IMDb · fastText: 4 vCPUs TensorFlow 1.04× the base, 0.50× in MNIST · MLP (against)",
        "IMDb · fastText: 1 vCPU JAX 1.50× the base, 2.00× in MNIST · MLP",
    ]
    assert found.clear == 1, "only jax is clearly different from the base in both"
    dearer = over_base("alike", "relative_cost", **ACROSS)
    assert (dearer.held, dearer.cases) == (2, 2), "four times the price: dearer than the base on both"


def test_workloads_are_compared_by_what_a_cell_takes_over_the_base() -> None:
    assert over_base("more", **ACROSS).held == 1
    assert over_base("less", **ACROSS, among={"framework": "jax"}).held == 1
    assert over_base("ratio", **ACROSS, between=[0.7, 0.8]).held == 1
    both = TWO.assign(batch_size=[128] * 3 + [32] * 3)
    assert over_base("alike", rows=both, **ACROSS).cases == 2, "each workload has a batch size of its own"


def test_value_over_the_base_needs_a_base() -> None:
    claim = {"says": "", "check": "less", "by": "relative_time"} | ACROSS
    with pytest.raises(
        InputError, match="claims: by: 'relative_time' is over the base configuration, and the study has no base"
    ):
        claims.evaluate(claim, STUDY, TWO, costs(TWO), {}, LABELS, JUDGE)
    without = TWO[~((TWO["workload"] == "mnist_mlp") & (TWO["hardware"] == "cpu1") & (TWO["framework"] != "jax"))]
    assert over_base("alike", rows=without, **ACROSS).cases == 0, "no base there"
    free = costs(TWO).assign(cost_usd=0.0)
    claim |= {"check": "alike", "by": "relative_cost"}
    assert claims.evaluate(claim, BASED, TWO, free, {}, LABELS, JUDGE).cases == 0, "a free base has no ratio"


def test_alike_of_repeated_runs_is_undecided_where_they_are_not_clearly_different() -> None:
    times = {("mnist_mlp", "cpu1"): 100, ("mnist_mlp", "cpu4"): 50, ("imdb_fasttext", "cpu1"): 100}
    times |= {("imdb_fasttext", "cpu4"): 99}
    rows = runs(*(run(workload=w, hardware=h, repeat=n, train_seconds=t + n / 10)
                  for (w, h), t in times.items() for n in range(1, 7)))  # fmt: skip
    assert (over_base("alike", rows=rows, **ACROSS).word) == "undecided"
    slower = rows.assign(train_seconds=rows["train_seconds"].where(rows["hardware"] != "cpu4", 300.0))
    assert (over_base("alike", rows=slower, **ACROSS).word) == "holds"


def test_cells_are_chosen_by_numbers_too() -> None:
    both = runs(run(train_seconds=100.0), run(batch_size=256, train_seconds=50.0))
    about = {"says": "", "check": "less", "by": "train_seconds"}
    about |= {"cell": {"batch_size": 256}, "than": {"batch_size": 128}}
    assert claims.evaluate(about, STUDY, both, costs(both), {}, LABELS, JUDGE).held == 1
    with pytest.raises(InputError, match="batch_size: 64 has no run: it is one of 128, 256"):
        claims.evaluate(about | {"than": {"batch_size": 64}}, STUDY, both, costs(both), {}, LABELS, JUDGE)


def test_cell_on_the_front_is_beaten_by_none_in_time_and_cost() -> None:
    frame = runs(run(), run(hardware="cpu4", train_seconds=50.0), run(framework="jax", train_seconds=120.0))
    for cell, word in ((CPU1, "holds"), (CPU4, "holds"), ({"framework": "jax"}, "fails")):
        claim = {"says": "", "check": "front", "cell": cell}
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS, JUDGE).word == word


def test_what_nothing_here_can_check_says_so() -> None:
    found = verdict("unchecked", note="in a picture only")
    assert (found.word, found.count, found.cases) == ("cannot be checked", "", 0)


def test_case_with_a_doubted_log_has_a_dagger() -> None:
    doubted = {("mnist_mlp", "cpu4", "jax")}
    claim = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    found = claims.evaluate(claim, STUDY, ROWS, COSTS, FIGURES, LABELS, JUDGE, doubted)
    assert found.doubted == 1
    marked = next(detail for detail in found.details if detail.endswith(claim_verdict.DAGGER))
    assert marked.startswith("MNIST · MLP: 4 vCPUs JAX")


def test_prices_have_no_noise_and_a_run_at_two_prices_is_one_measurement() -> None:
    frame = runs(run())
    priced = costs(frame)
    priced.loc[priced["price_option"] == "spot", ["cost_usd", "usd_per_hour"]] *= 1.96
    for by in ("cost_usd", "usd_per_hour"):
        claim = {"says": "", "check": "less", "by": by, "cell": CPU1, "price": "spot", "than_price": "on-demand"}
        assert claims.evaluate(claim, STUDY, frame, priced, {}, LABELS, JUDGE).word == "holds"


@pytest.mark.parametrize(
    ("held", "undecided", "word", "count"),
    [
        (6, 0, "holds", "holds in 6 of 6"),
        (5, 1, "holds where decided", "holds in 5 of 6, undecided in 1"),
        (3, 2, "partly", "holds in 3 of 6, undecided in 2, fails in 1"),
        (0, 6, "undecided", "undecided in 6 of 6"),
        (0, 2, "fails where decided", "undecided in 2 of 6, fails in 4"),
        (0, 0, "fails", "fails in 6 of 6"),
    ],
)
def test_cases_are_counted_by_what_is_decided(held: int, undecided: int, word: str, count: str) -> None:
    verdict = claim_verdict.Verdict("", held, cases=6, details=[], undecided=undecided)
    assert (verdict.word, verdict.count) == (word, count)


@pytest.mark.parametrize(("seconds", "word"), [(96.0, "holds by figures"), (104.0, "fails by figures")])
def test_single_runs_of_an_article_are_checked_as_figures(seconds: float, word: str) -> None:
    frame = runs(run(), run(hardware="cpu4", train_seconds=seconds))
    claim = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    found = claims.evaluate(claim, STUDY | {"import": {}}, frame, costs(frame), {}, LABELS, JUDGE)
    assert (found.word, found.undecided) == (word, 0)
    assert found.sentence == f"{word}: 1 case, 0 beyond noise"
    repeated = runs(*(run(hardware=name, train_seconds=100.0, repeat=n) for name in ("cpu1", "cpu4") for n in range(6)))
    found = claims.evaluate(claim, STUDY | {"import": {}}, repeated, costs(repeated), {}, LABELS, JUDGE)
    assert (found.word, found.by_figures) == ("undecided", False)


def test_other_values_than_times_are_judged_by_their_own_noise() -> None:
    frame = runs(*(run(hardware=name, repeat=n, val_acc=acc + n / 1000)
                   for name, acc in (("cpu1", 0.5), ("cpu4", 0.9)) for n in range(6)))  # fmt: skip
    claim = {"says": "", "check": "more", "by": "val_acc", "cell": CPU4, "than": CPU1}
    assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS, JUDGE).word == "holds"
    single = frame[frame["repeat"] == 1]
    assert claims.evaluate(claim, STUDY, single, costs(single), {}, LABELS, JUDGE).word == "undecided"


def test_pairs_agree_in_the_batch_size() -> None:
    frame = runs(*(run(hardware=name, batch_size=size) for name in ("cpu1", "cpu4") for size in (32, 64)))
    for sides in ({"pairs": [["cpu4", "cpu1"]]}, {"cell": CPU4, "than": CPU1}):
        claim = {"says": "", "check": "less", "by": "train_seconds"} | sides
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS, JUDGE).cases == 2


def test_cells_without_a_batch_size_pair_too() -> None:
    frame = runs(*(run(hardware=name, batch_size=None, repeat=1) for name in ("cpu1", "cpu4")))
    for sides in ({"pairs": [["cpu4", "cpu1"]]}, {"cell": CPU4, "than": CPU1}):
        claim = {"says": "", "check": "less", "by": "train_seconds"} | sides
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS, JUDGE).cases == 1


def test_every_case_is_put_in_words() -> None:
    found = verdict("less", by="train_seconds", cell=CPU4, than=CPU1, note="a note")
    assert found.says == "So."
    assert found.note == "a note"
    assert found.details == [
        "MNIST · MLP: 4 vCPUs TensorFlow 0.50× the time to train of 1 vCPU TensorFlow",
        "MNIST · MLP: 4 vCPUs JAX 0.75× the time to train of 1 vCPU JAX",
        "IMDb · fastText: 4 vCPUs TensorFlow 1.10× the time to train of 1 vCPU TensorFlow (against)",
    ]
    assert verdict("best", by="train_seconds", cell=CPU4).details == [
        "MNIST · MLP: 4 vCPUs TensorFlow is best",
        "IMDb · fastText: 1 vCPU TensorFlow is best (against)",
    ]


@pytest.mark.parametrize(
    ("held", "cases", "word"), [(0, 0, "no data"), (2, 2, "holds"), (1, 2, "partly"), (0, 2, "fails")]
)
def test_verdict_has_a_word(held: int, cases: int, word: str) -> None:
    assert claim_verdict.Verdict("So.", held, cases, []).word == word


@pytest.mark.parametrize(
    ("figure", "printed", "within", "held"),
    [
        ("hours", 2.0, 0.005, 1),
        ("hours", 2.0, 0.003, 0),
        ("hours", 2.01, 0.005, 0),
        ("usd", 1.3, 0.05, 0),
        ("usd", 1.3, 0.2, 1),
        ("usd", 1.1, 0, 1),
    ],
)
def test_figure_is_the_printed_one_within_its_rounding(figure: str, printed: float, within: float, held: int) -> None:
    found = verdict("figure", figure=figure, printed=printed, within=within)
    assert (found.held, found.cases) == (held, 1)


def test_figure_stands_beside_the_printed_one() -> None:
    assert verdict("figure", figure="hours", printed=2.01, within=0.005).details == ["hours: 2.004, printed 2.01"]


def test_figures_may_be_several_and_lie_between_two_numbers() -> None:
    found = verdict("figure", figure=["hours", "usd"], between=[0, 2])
    assert (found.held, found.cases) == (1, 2)
    assert found.details == ["hours: 2.004, at most 2 (against)", "usd: 1.100, at most 2"]
    assert verdict("figure", figure="usd", between=[1.2, 2]).details == ["usd: 1.100, 1.2 to 2"]


def test_figure_may_be_over_another_one() -> None:
    found = verdict("figure", figure="hours", over="usd", printed=1.82, within=0.005)
    assert (found.word, found.details) == ("holds", ["hours over usd: 1.822, printed 1.82"])
    with pytest.raises(InputError, match="claims: figure: 'days' is unknown"):
        verdict("figure", figure="hours", over="days", between=[0, 1])


def test_free_side_is_no_error() -> None:
    free = COSTS.assign(cost_usd=COSTS["cost_usd"].where(COSTS["hardware"] == "cpu1", 0.0))
    claim = {"says": "", "check": "more", "by": "cost_usd", "cell": CPU1, "than": CPU4}
    assert claims.evaluate(claim, STUDY, ROWS, free, {}, LABELS, JUDGE).held == 3


TIMES = {"check": "less", "by": "train_seconds", "cell": CPU4, "than": CPU1}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (TIMES | {"by": "speed"}, "claims: by: 'speed' is unknown: it is one of cost_usd, billed_usd,"),
        (TIMES | {"by": "status"}, "claims: by: 'status' is unknown"),
        (TIMES | {"cell": {"hardware": "cpu9"}}, "claims: cell: hardware: 'cpu9' has no run: it is one of cpu1, cpu4"),
        (TIMES | {"than": {"framework": ["jax", "cntk"]}}, "claims: than: framework: 'cntk' has no run: it is one of"),
        (TIMES | {"among": {"workload": "vgg"}}, "claims: among: workload: 'vgg' has no run"),
        (TIMES | {"pairs": [["cpu1", "cpu9"]]}, "claims: pairs: hardware: 'cpu9' has no run"),
        (
            TIMES | {"by": "cost_usd", "price": "lease"},
            "claims: price: 'lease' is unknown: it is one of on-demand, spot",
        ),
        (TIMES | {"by": "cost_usd", "than_price": "lease"}, "claims: than_price: 'lease' is unknown"),
        ({"check": "less", "cell": CPU4, "than": CPU1}, "claims: 'So.': check less needs by"),
        ({"check": "less", "by": "train_seconds", "than": CPU1}, "claims: 'So.': check less needs cell"),
        ({"check": "more", "by": "train_seconds", "cell": CPU1}, "check more needs than "),
        (TIMES | {"check": "ratio"}, "check ratio needs between"),
        ({"check": "best", "by": "train_seconds"}, "check best needs cell"),
        ({"check": "figure", "figure": "hours"}, "check figure needs printed"),
        (TIMES | {"check": "alike"}, "claims: by: 'train_seconds' is not for check alike: it is one of relative_time"),
        (
            {"check": "figure", "figure": "days", "printed": 1, "within": 0},
            "claims: figure: 'days' is unknown: it is one of hours, usd",
        ),
    ],
)
def test_claim_that_cannot_be_checked_is_one_line(claim: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as fault:
        verdict(**claim)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("by", "clock"),
    [("train_seconds", "time to train"), ("total_seconds", "time of the process"), ("samples_per_second", "samples/s")],
)
def test_case_says_on_which_clock_it_is(by: str, clock: str) -> None:
    """At a reduced scale the clocks differ: a batch may be the fastest on one and take longer on another."""
    rows = runs(
        run(batch_size=16, train_seconds=100.0, total_seconds=130.0, samples_per_second=90.0),
        run(batch_size=64, train_seconds=112.0, total_seconds=120.0, samples_per_second=92.0),
    )
    claim = {"says": "It differs.", "check": "less", "by": by, "cell": {"batch_size": 64}, "than": {"batch_size": 16}}
    study = {"prices": {}, "price": "", "base": {}}
    (case,) = claims.evaluate(claim, study, rows, costs(rows), {}, {"cpu1": "1 vCPU"}, JUDGE).details
    assert f"× the {clock} of" in case
