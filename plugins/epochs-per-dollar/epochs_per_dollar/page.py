"""A measured command as one page that needs no network: what it takes, what it costs where, and how it went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from html import escape

from epochs_per_dollar import offers, screen, words
from epochs_per_dollar.offers import Offer
from epochs_per_dollar.record import without_secrets
from epochs_per_dollar.session import Session

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1d2733, #e6eaef); --faint: light-dark(#5b6775, #9aa6b2);
  --line: light-dark(#d5dae0, #3a434d); --main: light-dark(#1f6fb2, #6cb2eb); }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.3; } code { overflow-wrap: anywhere; } pre { white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
td:nth-child(5), td:nth-child(6), th:nth-child(5), th:nth-child(6) { text-align: right; }
table { font-variant-numeric: tabular-nums; } caption, figcaption, .faint { color: var(--faint); }
caption { text-align: left; padding-bottom: .4rem; } figure { margin: 1.5rem 0; } svg { width: 100%; height: auto; }
svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
"""

_WIDTH, _HEIGHT, _LEFT, _BELOW = 640, 240, 60, 30


def page(session: Session, all_offers: Sequence[Offer], today: date) -> str:
    """Return the page."""
    command = escape(" ".join(without_secrets(session.command)))
    lines = escape("\n".join(screen.measured(session)))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(_answer(session, all_offers))}</title><style>{STYLE}</style></head><body>
<h1>{escape(_answer(session, all_offers))}</h1>
<p><code>{command}</code></p>
<p class="faint">Seen from outside on {today.isoformat()}: times are the recorder's, not synchronised with a device.</p>
{_chart(session)}
<pre>{lines}</pre>
{_table(session, all_offers)}
</body></html>
"""


def _answer(session: Session, all_offers: Sequence[Offer]) -> str:
    """Return the sentence that somebody came for."""
    total = session.whole_seconds
    if total is None:
        return "How long the whole takes is not known"
    if session.doubts:
        return f"The whole takes about {words.seconds(total)}, as far as this session can say"
    on_demand = [one for one in offers.of(session.machine, all_offers, session.cards) if one.purchase == "on-demand"]
    if not on_demand:
        return f"The whole takes {words.seconds(total)}"
    least = offers.by_bill(on_demand, total)[0]
    known = "" if session.machine.cards else ", if that is as fast as this one"
    costs = f"{words.usd(least.usd(total))} on {least.provider} {least.item}{known}"
    return f"The whole takes {words.seconds(total)}: {costs}"


def _table(session: Session, all_offers: Sequence[Offer]) -> str:
    total = session.whole_seconds
    same = offers.of(session.machine, all_offers, session.cards)
    if total is None or not same:
        return ""
    same = offers.cheapest_of_each(same, total, machines=True)
    what = "the same card" if session.machine.cards else "as many cores, if they are as fast as this one"
    heads = ("Provider", "Machine", "Region", "Purchase", "USD/hour", "The whole", "Price of", "Billed")
    body = ""
    for one in same:
        cells = (one.provider, one.item, one.region, one.purchase, f"{one.usd_per_hour:.4g}", words.usd(one.usd(total)))
        body += f"<tr>{''.join(f'<td>{escape(cell)}' for cell in (*cells, one.as_of, one.rounding(total)))}"
    return (
        f'<div class="wide"><table><caption>What the whole costs on machines of {what}: as billed, in '
        "increments begun and at least a minimum, which the last column says where that is more than the time; spot "
        "without interruptions; without the minutes that a machine takes to start.</caption>"
        f"<tr>{''.join(f'<th>{head}' for head in heads)}{body}</table></div>"
    )


def _chart(session: Session) -> str:
    """Return progress by time: each dot a line that was read, and the steady rate through them."""
    if session.steps is None or session.rate is None:
        return ""
    points = [point for point in session.steps.points() if point.seconds <= session.seconds]
    every = max(1, len(points) // 300)
    right, top = max(session.seconds, 1e-9), max(point.done for point in points) or 1.0

    def x(seconds: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 10) * seconds / right

    def y(done: float) -> float:
        return (_HEIGHT - _BELOW) - (_HEIGHT - _BELOW - 10) * done / top

    dots = "".join(
        f'<circle cx="{x(point.seconds):.1f}" cy="{y(point.done):.1f}" r="2" fill="var(--main)"/>'
        for point in points[::every]
    )
    unit = words.plural(session.steps.unit)
    began = x(session.rate.steady_seconds)
    return f"""<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(unit)} by seconds">
<path d="M{_LEFT} 10V{_HEIGHT - _BELOW}H{_WIDTH - 10}" fill="none" stroke="var(--line)"/>
<path d="M{began:.1f} 10V{_HEIGHT - _BELOW}" stroke="var(--line)" stroke-dasharray="3 3"/>{dots}
<text x="{_LEFT - 6}" y="18" text-anchor="end">{words.count(round(top))}</text>
<text x="{_LEFT - 6}" y="{_HEIGHT - _BELOW}" text-anchor="end">0</text>
<text x="{_LEFT}" y="{_HEIGHT - 8}">0 s</text>
<text x="{_WIDTH - 10}" y="{_HEIGHT - 8}" text-anchor="end">{words.seconds(right)}</text>
</svg><figcaption>{escape(unit.capitalize())} that were done, by time since the start. Right of the dashed line the rate
is steady: {words.rate(session.rate.units_per_second, session.steps.unit)}.</figcaption></figure>"""
