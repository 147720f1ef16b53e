"""What a measured minute says, in the lines of a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from epochs_per_dollar import offers, words
from epochs_per_dollar.offers import Offer
from epochs_per_dollar.session import Session
from epochs_per_dollar.steady import Pauses

#: More offers than these are in the page and not on the screen.
_MOST_OFFERS = 8


#: Characters of a line of the program that are repeated.
_MOST_OF_A_LINE = 100

#: A share of the session that its first steps took less than later ones, from which on it is said.
_FASTER = 0.02

#: A share of the time that a card waits for one core, from which on it is said.
_STALLED = 0.1

#: What to do where no progress could be read.
_READINGS = (
    "  a bar that is drawn on terminals only: --terminal",
    "  lines that lie further apart than what was measured: --minutes 10",
    "  lines of another form: --pattern 'step (?P<count>\\d+)', as they are",
    "  nothing is printed: `import epochs_per_dollar as epd`, and `for batch in epd.watch(loader)` in its loop",
)


def report(session: Session, all_offers: Sequence[Offer], usd_per_hour: float | None, today: date) -> str:
    """Return the lines of a report: what was read, what it took, how long the whole is, and what that costs."""
    return "\n".join([*measured(session), *_dollars(session, all_offers, usd_per_hour, today)])


def measured(session: Session) -> list[str]:
    """Return the lines of a report but for dollars."""
    return [*_measured(session), *(f"  !  {doubt}" for doubt in session.doubts), *_whole(session)]


def _row(name: str, value: str, note: str = "") -> str:
    return f"  {name:<14}{value:<22}{note}".rstrip()


def _measured(session: Session) -> Iterator[str]:
    rate, steps = session.rate, session.steps
    if session.unmatched is not None:
        last = (
            f"; the last of them: {session.unmatched[:_MOST_OF_A_LINE]!r}" if session.unmatched else ": it prints none"
        )
        yield f"--pattern matches none of the lines that it prints{last}"
    if rate is None or steps is None:
        yield f"watched for {words.seconds(session.seconds)}: no progress could be read from what it prints"
        if session.left_running:
            pids = ", ".join(map(str, session.left_running))
            yield f"  it ended and left processes in the background ({pids}): start it in the foreground, without nohup"
            return
        if session.said_left is not None and session.ended_by != "itself":
            at, left = session.said_left
            yield f"  it says itself that {words.seconds(left)} are left: {words.seconds(at + left)} in all"
        yield from _READINGS
    else:
        named = f" ({steps.name!r})" if steps.name else ""
        done = f"{words.count(rate.observed_units - rate.resumed_at)} {words.plural(steps.unit)}"
        yield f"read {steps.source}{named}: {done} in {words.seconds(session.seconds)}"
        apart = "" if rate.apart != rate.apart else f"three thirds of it lie {rate.apart:.1%} apart"
        yield _row("steady rate", words.rate(rate.units_per_second, steps.unit), apart)
        if session.per_step is not None:
            each = session.per_step
            yield _row("", words.rate(rate.units_per_second * each.each, each.unit), f"{words.count(each.each)} a step")
        yield _row("paid once", words.seconds(rate.once_seconds), "start, set-up, compilation, first steps")
        if rate.faster_seconds >= _FASTER * session.seconds:
            yield _row("first steps", f"{words.seconds(rate.faster_seconds)} less", "than they take at the steady rate")
        if rate.resumed_at:
            yield _row("resumed", f"at {words.count(rate.resumed_at)}", "the whole is that of a start at 0")
        if not rate.pauses and not session.came_to_its_end:
            yield _row("pauses", "none seen", "what comes less often than was measured is not in the whole")
        for pauses in rate.pauses:
            yield _row(
                "pauses", f"{pauses.count} of {words.seconds(pauses.each_seconds)}", _cadence(pauses, steps.unit)
            )
    meter = session.meter
    if meter.peak_memory_mib is not None:
        cores = (
            f"{meter.cpu_seconds / session.seconds:.1f} of {session.machine.cores} cores busy"
            if meter.cpu_seconds and session.seconds
            else ""
        )
        yield _row("memory", f"{meter.peak_memory_mib / 1024:.2f} GiB at most", cores)
    if meter.peak_gpu_memory_mib is not None:
        busy = f"GPU busy {sum(meter.gpu_busy) / len(meter.gpu_busy):.0%} of the time" if meter.gpu_busy else ""
        yield _row("GPU memory", f"{meter.peak_gpu_memory_mib / 1024:.1f} GiB at most", busy)
    if meter.stalled_share is not None and meter.stalled_share >= _STALLED:
        waits = "while one core was full: it waits for the processor, mostly for its data"
        yield _row("stalls", f"GPU idle {meter.stalled_share:.0%} of the time", waits)
    if meter.energy_joules is not None:
        yield _row("GPU energy", f"{meter.energy_joules / 3600:.2f} Wh", "")


def _cadence(pauses: Pauses, unit: str) -> str:
    each = f"{words.count(pauses.every_units)} {words.plural(unit)}"
    return {
        "laps": f"at the end of each {each}: evaluation, saving",
        "regular": f"every {each}: evaluation, saving",
        "once": f"seen once, taken to come every {each}",
        "irregular": f"irregular, on average every {each}",
    }[pauses.known_by]


def _whole(session: Session) -> Iterator[str]:
    total = session.whole_seconds
    resumed = bool(session.rate and session.rate.resumed_at)
    if session.came_to_its_end:
        promised = session.promised_seconds
        note = (
            f", promised {words.seconds(promised)} ({session.seconds / promised:.2f} x)"
            if promised and promised == promised
            else ""
        )
        what = "what was left" if resumed else "the whole"
        yield _row(what, words.seconds(session.seconds), f"measured: it ended by itself{note}")
        if resumed and total is not None:
            yield _row("the whole", words.seconds(total), "of a start at 0, expected")
    elif session.rate and session.steps and session.whole and total is not None:
        length = f"{words.count(session.whole.units)} {words.plural(session.steps.unit)} ({session.whole.known_from})"
        paused = session.rate.pause_seconds_of(session.whole.units)
        done, unit = session.rate.observed_units, words.plural(session.steps.unit)
        if session.ended_by == "itself":
            yield _row(
                "stopped", f"at {words.seconds(session.seconds)}", f"after {words.count(done)} {unit}, before its end"
            )
        note = f", {words.seconds(paused)} of it pauses" if paused >= 0.5 else ""
        yield _row("the whole", words.seconds(total), f"{length}{note}")
        if resumed:
            left = max(0.0, session.whole.units - done)
            seconds = left / session.rate.units_per_second + session.rate.pause_seconds_of(left)
            yield _row("what is left", words.seconds(seconds), f"from {words.count(done)} on")
    elif session.rate and session.steps:
        yield _row(
            "the whole", "unknown", f"of how many {words.plural(session.steps.unit)} is it? Give --of N, or --epochs N"
        )


def _dollars(session: Session, all_offers: Sequence[Offer], usd_per_hour: float | None, today: date) -> Iterator[str]:
    total, machine = session.whole_seconds, session.machine
    if machine.cards:
        name = offers.card(machine.cards[0].name)
        what = f"{session.cards} x {machine.cards[0].name}"
        notes = [f"of {len(machine.cards)} that are there"] if session.cards < len(machine.cards) else []
        yield _row("machine", what, ", ".join([*notes, f"priced as {session.cards} x {name}" if name else "not known"]))
    else:
        name = None
        yield _row("machine", f"{machine.cores} cores, no GPU", machine.cpu_model)
    if total is None:
        return
    if usd_per_hour is not None:
        yield _row("costs here", words.usd(usd_per_hour * total / 3600), f"at {usd_per_hour:g} USD an hour")
    same = offers.cheapest_of_each(offers.of(machine, all_offers, session.cards), total)
    if not same:
        yield _row(
            "offers",
            "none known",
            f"of {name or (machine.cards[0].name if machine.cards else f'{machine.cores} cores')}: give --usd-per-hour",
        )
        return
    yield (
        ""
        if machine.cards
        else "  what it costs on rented machines with as many cores, if they are as fast as this one:"
    )
    yield f"  {'provider':<12}{'machine':<34}{'purchase':<11}{'USD/hour':>9}{'the whole':>14}   price of"
    for offer in same[:_MOST_OFFERS]:
        billed = f"  ({rounding})" if (rounding := offer.rounding(total)) else ""
        whole = f"{offer.usd_per_hour:>9.4g}{words.usd(offer.usd(total)):>14}   {offer.as_of}{billed}"
        yield f"  {offer.provider:<12}{offer.item:<34}{offer.purchase:<11}{whole}"
    if len(same) > _MOST_OFFERS:
        yield f"  and {len(same) - _MOST_OFFERS} more"
    if any(offer.purchase == "spot" for offer in same):
        yield "  spot without interruptions; without the minutes that a rented machine takes to start"
    else:
        yield "  without the minutes that a rented machine takes to start"
    newest = max(offer.as_of for offer in same)
    yield f"  prices are as old as their dates: the newest of {newest}, today is {today.isoformat()}"
