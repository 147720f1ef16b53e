import pytest

from scripts.analysis import claims
from scripts.storage.errors import InputError
from tests.made import CATALOGUE, FAILED, OPTIONS, costs, run, runs

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


def verdict(check: str, **claim) -> claims.Verdict:
    return claims.evaluate({"says": "So.", "check": check} | claim, STUDY, ROWS, COSTS, FIGURES, LABELS)


def counted(check: str, **claim) -> tuple[int, int]:
    found = verdict(check, **claim)
    assert len(found.details) == found.cases
    assert sum("(against)" in detail for detail in found.details) == found.cases - found.held - found.ties
    assert sum("tie" in detail for detail in found.details) == found.ties
    return found.held, found.cases


def test_cells_that_differ_in_how_they_are_trained_are_named_so() -> None:
    rows = runs(
        run(train_seconds=100.0), run(train_seconds=60.0, mode="tuned"), run(hardware="cpu4", train_seconds=9.0)
    )
    compared = {"cell": {"mode": "tuned"}, "than": {"mode": "stock"}}
    claim = {"says": "So.", "check": "less", "by": "train_seconds"} | compared
    found = claims.evaluate(claim, STUDY, rows, costs(rows), FIGURES, LABELS)
    assert (found.held, found.cases) == (1, 1)
    assert "tensorflow tuned" in found.details[0]


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
        ("ratio", {"cell": CPU4, "than": CPU1, "between": [0.5, 0.8]}, (2, 3)),
        ("ratio", {"cell": CPU4, "than": CPU1, "between": [1.0, 2.0]}, (1, 3)),
        ("ratio", {"pairs": [["cpu4", "cpu1"]], "between": [0, 1]}, (2, 3)),
        ("less", {"pairs": [["cpu4", "cpu1"], ["cpu1", "cpu4"]]}, (3, 6)),
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
        ("ratio", {"by": "cost_usd", "cell": CPU4, "than": CPU1, "between": [1.99, 2.01]}, (1, 3)),
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
        run(repeat=2, train_seconds=300.0),
        run(repeat=3, train_seconds=120.0),
        run(repeat=4, **FAILED),
        run(hardware="cpu4", train_seconds=130.0),
    )
    claim = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU1, "than": CPU4}
    assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS).held == 1
    assert claims.evaluate(claim | {"factor": 1.2}, STUDY, frame, costs(frame), {}, LABELS).held == 0


def tied(check: str, seconds: float, **claim) -> tuple[int, int, str, str]:
    """Return held, ties, word and count for cpu4 at `seconds` against the 100 s of cpu1."""
    frame = runs(run(), run(hardware="cpu4", train_seconds=seconds))
    sides = {"cell": CPU4} if check in ("best", "never_best") else {"cell": CPU4, "than": CPU1}
    about = {"says": "", "check": check, "by": "train_seconds"} | sides | claim
    found = claims.evaluate(about, STUDY, frame, costs(frame), {}, LABELS)
    return found.held, found.ties, found.word, found.count


@pytest.mark.parametrize("check", ["less", "best", "never_best", "more"])
def test_gap_below_the_noise_is_for_neither_side(check: str) -> None:
    assert tied(check, 96.0) == (0, 1, "tie", "")
    assert tied(check, 104.0) == (0, 1, "tie", "")
    for seconds in (94.0, 106.0):
        assert tied(check, seconds)[1] == 0


def test_limit_that_somebody_chose_has_no_ties() -> None:
    assert tied("less", 49.0, factor=2)[:3] == (1, 0, "holds")
    assert tied("less", 51.0, factor=2)[:3] == (0, 0, "fails")
    assert tied("ratio", 96.0, between=[0.9, 1])[:3] == (1, 0, "holds")


def test_median_of_the_pairs_is_one_case() -> None:
    verdict_of = {"by": "train_seconds", "cell": CPU4, "than": CPU1, "median": True}
    found = verdict("ratio", between=[0.7, 0.8], **verdict_of)
    assert (found.word, found.cases) == ("holds", 1)
    assert found.details[0] == "the median of 3 is 0.75×"
    assert len(found.details) == 4, "each pair stands below"
    assert verdict("ratio", between=[0.8, 0.9], **verdict_of).word == "fails"


def test_cell_on_the_front_is_beaten_by_none_in_time_and_cost() -> None:
    frame = runs(run(), run(hardware="cpu4", train_seconds=50.0), run(framework="jax", train_seconds=120.0))
    for cell, word in ((CPU1, "holds"), (CPU4, "holds"), ({"framework": "jax"}, "fails")):
        claim = {"says": "", "check": "front", "cell": cell}
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS).word == word


def test_what_nothing_here_can_tell_says_so() -> None:
    found = verdict("unchecked", note="in a picture only")
    assert (found.word, found.count, found.cases) == ("cannot be checked", "", 0)


def test_case_with_a_doubted_log_has_a_dagger() -> None:
    doubted = {("mnist_mlp", "cpu4", "jax")}
    claim = {"says": "", "check": "less", "by": "train_seconds", "cell": CPU4, "than": CPU1}
    found = claims.evaluate(claim, STUDY, ROWS, COSTS, FIGURES, LABELS, doubted)
    assert found.doubted == 1
    marked = next(detail for detail in found.details if detail.endswith(claims.DAGGER))
    assert marked.startswith("mnist_mlp: 4 vCPUs jax")


def test_prices_have_no_noise_and_a_run_at_two_prices_is_one_measurement() -> None:
    frame = runs(run())
    priced = costs(frame)
    priced.loc[priced["price_option"] == "spot", ["cost_usd", "usd_per_hour"]] *= 1.96
    for by in ("cost_usd", "usd_per_hour"):
        claim = {"says": "", "check": "less", "by": by, "cell": CPU1, "price": "spot", "than_price": "on-demand"}
        assert claims.evaluate(claim, STUDY, frame, priced, {}, LABELS).word == "holds"


def test_ties_are_counted_beside_what_holds() -> None:
    verdict = claims.Verdict("", held=5, cases=6, details=[], ties=1)
    assert (verdict.word, verdict.count) == ("holds or ties", "5 of 6, 1 tie")
    verdict = claims.Verdict("", held=3, cases=6, details=[], ties=2)
    assert (verdict.word, verdict.count) == ("partly", "3 of 6, 2 ties")


def test_pairs_agree_in_the_batch_size() -> None:
    frame = runs(*(run(hardware=name, batch_size=size) for name in ("cpu1", "cpu4") for size in (32, 64)))
    for sides in ({"pairs": [["cpu4", "cpu1"]]}, {"cell": CPU4, "than": CPU1}):
        claim = {"says": "", "check": "less", "by": "train_seconds"} | sides
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS).cases == 2


def test_cells_without_a_batch_size_pair_too() -> None:
    frame = runs(*(run(hardware=name, batch_size=None, repeat=1) for name in ("cpu1", "cpu4")))
    for sides in ({"pairs": [["cpu4", "cpu1"]]}, {"cell": CPU4, "than": CPU1}):
        claim = {"says": "", "check": "less", "by": "train_seconds"} | sides
        assert claims.evaluate(claim, STUDY, frame, costs(frame), {}, LABELS).cases == 1


def test_every_case_is_told_in_words() -> None:
    found = verdict("less", by="train_seconds", cell=CPU4, than=CPU1, note="a note")
    assert found.says == "So."
    assert found.note == "a note"
    assert found.details == [
        "mnist_mlp: 4 vCPUs tensorflow 0.50× 1 vCPU tensorflow",
        "mnist_mlp: 4 vCPUs jax 0.75× 1 vCPU jax",
        "imdb_fasttext: 4 vCPUs tensorflow 1.10× 1 vCPU tensorflow (against)",
    ]
    assert verdict("best", by="train_seconds", cell=CPU4).details == [
        "mnist_mlp: 4 vCPUs tensorflow is best",
        "imdb_fasttext: 1 vCPU tensorflow is best (against)",
    ]


@pytest.mark.parametrize(
    ("held", "cases", "word"), [(0, 0, "no data"), (2, 2, "holds"), (1, 2, "partly"), (0, 2, "fails")]
)
def test_verdict_has_a_word(held: int, cases: int, word: str) -> None:
    assert claims.Verdict("So.", held, cases, []).word == word


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


def test_figure_is_told_beside_the_printed_one() -> None:
    assert verdict("figure", figure="hours", printed=2.01, within=0.005).details == ["hours: 2.004, printed 2.01"]


def test_free_side_is_no_error() -> None:
    free = COSTS.assign(cost_usd=COSTS["cost_usd"].where(COSTS["hardware"] == "cpu1", 0.0))
    claim = {"says": "", "check": "more", "by": "cost_usd", "cell": CPU1, "than": CPU4}
    assert claims.evaluate(claim, STUDY, ROWS, free, {}, LABELS).held == 3


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
        ({"check": "more", "by": "train_seconds", "cell": CPU1}, r"check more needs than \(or than_price, or pairs\)"),
        (TIMES | {"check": "ratio"}, "check ratio needs between"),
        ({"check": "best", "by": "train_seconds"}, "check best needs cell"),
        ({"check": "figure", "figure": "hours"}, "check figure needs printed"),
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
