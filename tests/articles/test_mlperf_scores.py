from math import inf

import pytest

from scripts.articles.mlperf import scores


@pytest.mark.parametrize(
    ("benchmark", "minutes", "expected"),
    [
        ("resnet", [10, 11, 12, 13, 99], 12.0),
        ("maskrcnn", [10, 11, 12, 13, inf], 12.0),
        ("bert", [1, *[5.0] * 8, 100], 5.0),
        ("unet3d", [*[1.0] * 4, *[20.0] * 32, *[inf] * 4], 20.0),
        ("gpt3", [40, 50, 60], 50.0),
        ("ncf", [*[0.1] * 25, *[2.0] * 50, *[inf] * 25], 2.0),
    ],
)
def test_fastest_and_slowest_are_dropped(benchmark: str, minutes: list[float], expected: float) -> None:
    assert scores.score(benchmark, minutes).minutes == pytest.approx(expected)


@pytest.mark.parametrize(
    ("benchmark", "minutes", "why"),
    [
        ("resnet", [10, 11, 12, 13], "4 runs, 5 are needed"),
        ("bert", [5.0] * 8 + [inf] * 2, "2 runs failed, 1 may"),
        ("unet3d", [5.0] * 35 + [inf] * 5, "5 runs failed, 4 may"),
        ("chess", [5.0], "no rule is known for chess"),
    ],
)
def test_what_makes_no_result_says_why(benchmark: str, minutes: list[float], why: str) -> None:
    found = scores.score(benchmark, minutes)
    assert (found.minutes, found.why) == (None, why)


def test_score_is_multiplied_by_its_factor() -> None:
    assert scores.score("resnet", [10.0] * 5, factor=1.0044).minutes == pytest.approx(10.044)
