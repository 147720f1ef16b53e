"""What a kit says of a run that has ended, by the raw record alone."""

from pathlib import Path

import pytest

from scripts.kit import session

RECORDS = Path(__file__).resolve().parents[1] / "records"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("trained", "done, its last epoch took 0.14 s, loss 0.8503"),
        ("out-of-memory", "out of memory: killed by Linux for want of memory"),
        ("learned-nothing", "done, its last epoch took 3.25 s, loss 2.5000"),
    ],
)
def test_result_is_said_in_raw_facts(name: str, said: str) -> None:
    assert session._result(RECORDS / "raw" / name) == said
