"""The ledger as one page that needs no network: a chart of promised against paid, and every row. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from epochs_per_dollar import ledger, words
from epochs_per_dollar.ledger import Row
from epochs_per_dollar.page import STYLE

#: Seconds that an axis names.
_TICKS = (1, 5, 20, 60, 180, 600, 1800, 3600, 4 * 3600, 12 * 3600, 86_400, 3 * 86_400, 10 * 86_400, 30 * 86_400)

_SIZE, _LEFT, _BELOW, _RIGHT = 420, 80, 46, 16


def page(rows: Sequence[Row]) -> str:
    """Return the page of one row or more."""
    said = ledger.summary(rows)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Promised and paid</title>
<style>{STYLE} figure {{ max-width: 30rem; }} td {{ white-space: nowrap; }}</style></head><body>
<h1>Promises were {escape(said)}</h1>
<p class="faint">What the minute of each training promised of its whole, and what that took and cost.</p>
{_chart([row for row in rows if row.paid_seconds is not None])}
{_table(rows)}
</body></html>
"""


def _table(rows: Sequence[Row]) -> str:
    heads = (
        "Date",
        "Read from",
        "Machine",
        "Measured",
        "Promised",
        "Paid",
        "USD promised",
        "USD paid",
        "Factor",
        "Minute",
    )
    body = ""
    for row in rows:
        measured = None if row.measured_minutes is None else 60 * row.measured_minutes
        known = (measured, row.promised_seconds, row.paid_seconds)
        times = ["" if value is None else words.seconds(value) for value in known]
        dollars = ["" if value is None else words.usd(value) for value in (row.promised_usd, row.paid_usd)]
        cells = (row.date, row.read_from, row.machine, *times, *dollars, f"{row.factor:.2f}", row.kind)
        body += f"<tr>{''.join(f'<td>{escape(cell)}' for cell in cells)}"
    return f'<div class="wide"><table><tr>{"".join(f"<th>{head}" for head in heads)}{body}</table></div>'


def _chart(rows: Sequence[Row]) -> str:
    """Return a dot for each row on two equal logarithmic axes, the line of promises kept, and the band that is near."""
    if not rows:
        return ""
    pairs = [(row.promised_seconds, row.paid_seconds or row.promised_seconds) for row in rows]
    fills = ["var(--main)" if row.kind == "quiet" else "none" for row in rows]
    low = floor(log10(min(map(min, pairs))) * 2) / 2 - 0.1
    high = ceil(log10(max(map(max, pairs))) * 2) / 2 + 0.1
    each, near = (_SIZE - _LEFT - _RIGHT) / (high - low), log10(ledger.NEAR)

    def at(promised: float, paid: float) -> str:
        """Return the place of two logarithms."""
        return f"{_LEFT + (promised - low) * each:.1f} {_SIZE - _BELOW - (paid - low) * each:.1f}"

    dots = "".join(
        '<circle cx="{}" cy="{}" r="3.5" stroke="var(--main)" fill="{}"/>'.format(
            *at(log10(promised), log10(paid)).split(), fill
        )
        for (promised, paid), fill in zip(pairs, fills)
    )
    ticks = ""
    for seconds in _TICKS:
        place = log10(seconds)
        if low <= place <= high:
            (x, _), (_, y) = at(place, low).split(), at(low, place).split()
            ticks += f'<text x="{x}" y="{_SIZE - _BELOW + 16}" text-anchor="middle">{words.seconds(seconds)}</text>'
            ticks += f'<text x="{_LEFT - 6}" y="{y}" text-anchor="end">{words.seconds(seconds)}</text>'
    edges = ((low, low + near), (high - near, high), (high, high), (high, high - near), (low + near, low))
    band = "L".join(at(*edge) for edge in edges)
    top = _SIZE - _BELOW - (high - low) * each
    return f"""<figure><svg viewBox="0 0 {_SIZE} {_SIZE}" role="img" aria-label="paid by promised, seconds">
<path d="M{_LEFT} {top:.1f}V{_SIZE - _BELOW}H{_SIZE - _RIGHT}" fill="none" stroke="var(--line)"/>
<path d="M{band}L{at(low, low)}Z" fill="var(--line)" opacity=".5"/>
<path d="M{at(low, low)}L{at(high, high)}" stroke="var(--faint)"/>{dots}{ticks}
<text x="{_SIZE - _RIGHT}" y="{_SIZE - 8}" text-anchor="end">promised (log)</text>
<text x="{_LEFT + 6}" y="{top + 12:.1f}">paid (log)</text>
</svg><figcaption>n = {len(rows)} runs. The line is a promise kept, the band a factor of {ledger.NEAR:g};
open dots: the minute was disturbed, or in doubt otherwise.
</figcaption></figure>"""
