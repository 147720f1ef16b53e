"""Schedule a study, or the refresh of prices."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from scripts.epd import _call

app = typer.Typer(rich_markup_mode=None)

_Prices = Annotated[bool, typer.Option("--prices", help="The refresh of the price book, in place of a study.")]


def _asked(study: str | None, profile: str, pairs: list[str] | None) -> dict[str, Any]:
    """Return the runs of a study under a profile, and what is known of them, as `scheduling.install` wants it."""
    from pathlib import Path

    from scripts import datasets
    from scripts.workflow import asked, data_kinds, quotes
    from scripts.workflow.plan import Plan

    given = asked.config(profile, pairs, study)

    def kind_for(policy: str) -> Callable[[str], str]:
        return data_kinds.chooser(
            lambda name: datasets.choose(policy, name, Path("data"), datasets.given_folder()), False
        )

    plan = Plan.of(given, kind_for)
    quoted = quotes.Quotes(plan, quotes.budget_usd(given["budget_usd"]))
    return quoted.asked(quoted.limited().runs) | {"asked": given["study"]}


@app.command()
def add(
    study: _call.Study = None,
    *,
    every: Annotated[str, typer.Option(help="Minutes that divide 60 (5m), hours that divide 24 (6h), 1d or 1w.")],
    by: Annotated[str, typer.Option(help="Who calls: cron, systemd or github.")],
    profile: _call.Profile = "local",
    prices: _Prices = False,
    config: _call.Config = None,
) -> int:
    """Print what a month of it costs, then install the timer. What is installed again replaces what was.

    \b
    ./epd schedule add --every 1d --by cron
    ./epd schedule add smoke --profile gce-gpu --every 1d --by cron --config budget_usd=5
    ./epd schedule add --prices --every 1w --by systemd
    """
    from scripts.storage.errors import InputError
    from scripts.workflow import intervals, scheduling

    often = intervals.interval(every)
    if by not in scheduling.TIMERS:
        raise InputError(f"by: {by!r}: must be one of {', '.join(scheduling.TIMERS)}")
    if prices and study:
        raise InputError("--prices: is in place of a study")
    if prices:
        print(scheduling.install_refresh(often, by, config or []))
    else:
        print(scheduling.install(_asked(_call.study_here(study), profile, config), often, by, config or []))
    return 0


@app.command("list")
def list_(json: _call.Json = False) -> int:
    """List the schedules of this clone, and what became of the last trigger of each.

    \b
    ./epd schedule list
    ./epd schedule list --json
    """
    from scripts.workflow import scheduling

    lines, triggers = scheduling.installed(), scheduling.last_triggers()
    if json:
        pairs = [line.split(": ", 1) for line in lines]
        _call.print_json({"schedules": [{"by": by, "says": says} for by, says in pairs], "last_triggers": triggers})
        return 0
    print("\n".join(lines) if lines else "nothing is scheduled here")
    for name, last in triggers.items():
        print(f"{name}: last trigger {last['at']}: {last['what']}")
    return 0


@app.command()
def remove(study: _call.Study = None, prices: _Prices = False) -> int:
    """Remove the schedules of a study, whoever calls them. What they have trained stays.

    \b
    ./epd schedule remove
    ./epd schedule remove --prices
    """
    from scripts.studies import definition
    from scripts.workflow import asked, scheduling
    from scripts.workflow.repetitions import PRICES

    # Also of a study whose file is gone.
    label = PRICES if prices else definition.file(study or asked.config("local")["study"]).stem
    removed = scheduling.remove(label)
    words = f"removed from {', '.join(removed)}" if removed else "is not scheduled: nothing removed"
    print(f"{label}: {words}")
    return 0
