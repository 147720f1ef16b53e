"""The clock at the beginning of a console's lines, as programs write it; pure.

`[2023-05-12 10:01:02,123]`, `05/12/2023 10:01:02`, `[05/12/23 10:01:02]`, and without a year, or without a day:
`11/25 12:00:00 - mmengine`, `I1125 12:00:00.123456`, `Nov 25 12:00:00`, `[12:34:56]`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

#: Letters of a line in which a clock is looked for.
_HEAD = 80

_DAY, _YEAR = 86_400.0, 365 * 86_400.0

#: Years of clocks that have none. The first has no 29 February.
_NO_YEAR, _LEAP = 2001, 2000

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_AT = r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?(?![\d:])"

#: Each form, and after how long it begins anew (s); 0 for one that never does.
_FORMS: tuple[tuple[re.Pattern[str], float], ...] = tuple(
    (re.compile(form), period)
    for form, period in (
        (rf"(?<!\d)(?P<year>\d{{4}})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T_,-]{_AT}", 0.0),
        (rf"(?<!\d)(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{{4}}|\d\d),? {_AT}", 0.0),
        (rf"(?<![\d/])(?P<month>\d\d)/(?P<day>\d\d) {_AT}", _YEAR),
        (rf"^[IWEF](?P<month>\d\d)(?P<day>\d\d) {_AT}", _YEAR),
        (rf"(?<!\w)(?P<month>{'|'.join(_MONTHS)}) +(?P<day>\d{{1,2}}) {_AT}", _YEAR),
        (rf"^\W{{0,2}}(?:rank ?\d+\W+)?{_AT}", _DAY),
    )
)


def clock() -> Callable[[str], float | None]:
    """Return what reads the clock of a log's lines, one after the other: UNIX time, taken for UTC; None for none.

    The form of the first line that has one is that of all. Where it has no year or no day, a time that goes back by
    more than half of that is of the next one.
    """
    form: re.Pattern[str] | None = None
    period = before = passed = 0.0

    def read(line: str) -> float | None:
        nonlocal form, period, before, passed
        head = line[:_HEAD]
        for one, its_period in _FORMS if form is None else ((form, period),):
            if (found := one.search(head)) and (at := _moment(found)) is not None:
                form, period = one, its_period
                if period and at + passed < before - period / 2:
                    passed += period
                before = at + passed
                return before
        return None

    return read


def _moment(found: re.Match[str]) -> float | None:
    parts = found.groupdict()
    month = parts.get("month") or "1"
    numbers = [int(_MONTHS.index(month) + 1 if month in _MONTHS else month), int(parts.get("day") or 1)]
    numbers += [int(parts[name]) for name in ("hour", "minute", "second")]
    year = int(parts.get("year") or (_LEAP if numbers[:2] == [2, 29] else _NO_YEAR))
    try:
        at = datetime(year + 2000 if year < 100 else year, *numbers, tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        return None  # no such day
    return at.timestamp() + float(f"0.{parts['part'] or 0}")
