import re

import pytest

from scripts.storage.errors import InputError
from scripts.workflow.intervals import interval


@pytest.mark.parametrize(
    ("text", "seconds", "cron", "calendar"),
    [
        ("1m", 60, "* * * * *", "*:0/1"),
        ("15m", 900, "*/15 * * * *", "*:0/15"),
        ("1h", 3_600, "0 * * * *", "0/1:00"),
        ("6h", 21_600, "0 */6 * * *", "0/6:00"),
        ("1d", 86_400, "0 0 * * *", "*-*-* 00:00:00"),
        ("1w", 604_800, "0 0 * * 0", "Sun *-*-* 00:00:00"),
    ],
)
def test_allowed_intervals(text: str, seconds: int, cron: str, calendar: str) -> None:
    found = interval(text)
    assert (found.seconds, found.cron, found.calendar) == (seconds, cron, calendar)


@pytest.mark.parametrize(
    "text", ["", "7m", "60m", "5h", "24h", "2d", "1y", "0m", "-1h", "1.5h", "1d; rm", "١m", "1d\n"]
)
def test_others_are_refused_in_a_line(text: str) -> None:
    with pytest.raises(InputError, match=re.escape("must be minutes that divide 60 (5m), hours that divide 24 (6h)")):
        interval(text)
