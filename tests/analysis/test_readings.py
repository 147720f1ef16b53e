from math import inf

import pytest

from scripts.analysis import readings


@pytest.mark.parametrize(
    ("claim", "limits"),
    [
        ({"check": "more", "word": "significantly"}, (1.1, inf)),
        ({"check": "less", "word": "significantly"}, (0, 1 / 1.1)),
        ({"check": "more", "word": "slightly"}, (1, 1.1)),
        ({"check": "less", "word": "slightly"}, (1 / 1.1, 1)),
        ({"check": "ratio", "word": "similar"}, (1 / 1.1, 1.1)),
        ({"check": "less", "times": 2}, (1 / 2.25, 1 / 1.75)),
        ({"check": "more", "times": 5}, (4.375, 5.625)),
        ({"check": "less", "factor": 3}, (0, 1 / 3)),
        ({"check": "ratio", "between": [0.4, 0.6]}, (0.4, 0.6)),
    ],
)
def test_words_become_limits_of_the_ratio(claim: dict, limits: tuple[float, float]) -> None:
    assert readings.limits(claim) == pytest.approx(limits)


def test_any_difference_will_do_where_nothing_is_said_of_its_size() -> None:
    assert readings.limits({"check": "less"}) is None


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"times": 2}, "2 times is read as 1.75 to 2.25"),
        ({"word": "similar"}, "similar is read as no more than 10 % apart"),
        ({"word": "significantly"}, "significantly is read as by at least 10 %"),
        ({"word": "much, much"}, "much, much is read as at least 3 times"),
        (
            {"often": True, "word": "same"},
            "same is read as no more than 5 % apart; often is read as in 50 % of the cases",
        ),
        ({"by": "seconds_usd"}, "the winner is read as the least time × cost"),
        ({"check": "alike"}, "a similar pattern is read as the same side of the base, one by one"),
        ({"factor": 2}, ""),
    ],
)
def test_reading_is_said(claim: dict, words: str) -> None:
    assert readings.words(claim) == words
