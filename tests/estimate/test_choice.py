"""Which card costs least, and which is worth a minute, by rules that hold for any costs."""

import numpy as np
import pytest

from scripts.estimate import choice


def choose(usd: np.ndarray, covariance: np.ndarray, minute: float = 0.0) -> choice.Choice:
    return choice.choose(usd, covariance, np.full(len(usd), minute))


def test_what_cards_share_decides_nothing_and_hides_nothing() -> None:
    """Both may be off by half, but by the same half: 10 % dearer is dearer."""
    shared = np.full((2, 2), 0.16) + np.diag([1e-4, 1e-4])
    found = choose(np.array([110.0, 100.0]), shared)
    assert (found.first, found.rivals) == (1, [])
    assert found.chances[1] > 0.99


def test_the_same_apart_is_too_close_to_call() -> None:
    found = choose(np.array([110.0, 100.0]), np.diag([0.16, 0.16]))
    assert found.rivals == [0]
    assert 0.5 < found.chances[1] < 0.65
    assert found.chances.sum() == pytest.approx(1)


def test_a_minute_on_a_card_that_is_known_saves_nothing() -> None:
    found = choose(np.array([100.0, 105.0, 400.0]), np.diag([1e-6, 0.04, 0.04]))
    assert next(iter(found.falls)) == 1
    assert found.falls.get(0, 0) == pytest.approx(0, abs=0.1)
    assert found.falls.get(2, 0) == pytest.approx(0, abs=0.1)


def test_the_fall_is_that_of_the_textbook() -> None:
    """Of a sure 100 and a lognormal of mean 100, sd s, the gain of knowing is that of a call: 100 (2 N(s/2) - 1)."""
    from statistics import NormalDist

    spread = 0.3
    found = choose(np.array([100.0, 100 * np.exp(-(spread**2) / 2)]), np.diag([1e-12, spread**2]))
    assert found.falls[1] == pytest.approx(100 * (2 * NormalDist().cdf(spread / 2) - 1), rel=0.02)


def test_the_same_question_has_the_same_answer() -> None:
    costs, covariance = np.array([3.0, 2.0, 2.1]), np.diag([0.1, 0.05, 0.02])
    one, other = (choose(costs, covariance) for _ in range(2))
    assert (one.chances == other.chances).all()
    assert one.falls == other.falls


def test_a_minute_that_costs_more_than_it_saves_is_not_asked_for() -> None:
    costs, covariance = np.array([100.0, 100.0]), np.diag([1e-6, 0.04])
    free, dear = choose(costs, covariance), choose(costs, covariance, 50.0)
    assert free.falls[1] - choose(costs, covariance, 1.0).falls[1] == pytest.approx(1)
    assert dear.falls == {}
    assert dear.rivals


def test_a_minute_that_saves_less_than_a_persons_minute_or_a_thousandth_is_not_asked_for() -> None:
    """Two that cost the same, one of them not known: what is saved is 8 % of the cost, of 10 USD 0.8."""
    spread = np.diag([1e-6, 0.04])
    small, larger = (choose(np.full(2, usd), spread) for usd in (10.0, 20.0))
    assert small.falls == {}
    assert 1.0 < larger.falls[1] < 2.0
    assert choose(np.full(2, 10_000.0), np.diag([1e-9, 6.4e-5])).falls == {}, "8 USD of 10,000: less than a thousandth"
    assert choose(np.full(2, 10_000.0), np.diag([1e-9, 1e-4])).falls[1] > 10
