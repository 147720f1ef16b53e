"""What was committed of trials is what the committed facts say, and pages and quotes are made from it."""

import pytest

from scripts.document import estimates as document
from scripts.estimate import transfers, trial
from scripts.workflow import estimates


def test_trials_are_of_the_facts_that_are_here() -> None:
    assert estimates.trials()["inputs_sha256"] == estimates.inputs_sha256(), "run: make simulate"


def test_every_question_that_a_quote_is_widened_by_was_tried() -> None:
    factors = estimates.trials()["factors"]
    assert {*trial.QUESTIONS, *transfers.QUESTIONS} == set(factors)
    assert all(0.5 <= factor <= 2.5 for of in factors.values() for factor in of.values())


@pytest.mark.slow
@pytest.mark.nightly
def test_trials_that_are_made_anew_are_those_committed() -> None:
    found, kept = document.trials(), estimates.trials()
    for question, of in kept["factors"].items():
        assert found["factors"][question] == pytest.approx(of, rel=1e-6)
    for one, other in zip(found["questions"], kept["questions"], strict=True):
        assert (one["question"], one["kind"], one["points"]) == (other["question"], other["kind"], other["points"])
        assert list(one["error"]) == pytest.approx(other["error"], rel=1e-6)
        assert one["coverage"] == pytest.approx(other["coverage"], abs=1e-6)
    assert found["picks"]["cases"] == kept["picks"]["cases"]


def test_one_rate_is_nearly_everything_and_better_than_the_trivial_rules() -> None:
    """Error of one rate, and the cheapest machine, both beside the trivial rules."""
    kept = estimates.trials()
    rows = {(row["question"], row["kind"]): row for row in kept["questions"]}
    for question in ("another card", "another precision"):
        row = rows[question, "dense"]
        assert row["error"][0] < 1.12
        assert row["error"][1] < row["simple"][1]
    rules = kept["picks"]["rules"]
    assert rules["this model"]["among three"] >= rules["same share of the peak"]["among three"]
    assert rules["this model"]["regret"][0] <= 0.02
