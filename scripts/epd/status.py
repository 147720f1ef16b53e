"""What of a study is done, running, failed and missing."""

from scripts.epd import _call

#: An attempt gives a sign of life every minute (s).
_ALIVE_SECONDS = 120


def is_alive(checkpoints: str, run: str) -> bool:
    """Return whether an attempt at a run, on any machine, gave a sign of life of late."""
    from datetime import UTC, datetime

    from scripts.measurement import checkpoint

    attempts = checkpoint.Place(f"{checkpoints}/{run}").attempts() if checkpoints else []
    if not attempts or attempts[-1]["ended"]:
        return False
    return (datetime.now(UTC) - datetime.fromisoformat(attempts[-1]["seen_at"])).total_seconds() < _ALIVE_SECONDS


def command(
    study: _call.Study = None, profile: _call.Profile = "local", config: _call.Config = None, json: _call.Json = False
) -> int:
    """Print what of a study's grid is done, running, failed and missing, also while a Snakemake trains.

    With --json: study, price, and of each configuration its path (cell), hardware, states (state -> runs), reason,
    hours, usd, and how many of its runs are outdated: trained by other code than that of now, and trained again.

    \b
    ./epd status
    ./epd status gce --profile gce-gpu
    ./epd status full --json
    """
    from functools import partial

    from rich.console import Console

    from scripts.studies import definition
    from scripts.workflow import asked, status

    given = asked.config(profile, config, _call.study_here(study))
    name, settings = definition.read(given["study"], given)
    found = status.cells(name, settings, partial(is_alive, asked.checkpoints(given, profile, name)))
    if json:
        keys = ("cell", "hardware", "states", "reason", "hours", "usd", "outdated")
        _call.print_json(
            {"study": name, "price": settings["price"], "cells": [{k: row[k] for k in keys} for row in found]}
        )
        return 0
    console = Console(markup=False, highlight=False)
    console.print(status.table(f"{name} ({settings['price']})", found))
    console.print(status.total(found))
    if again := status.outdated(found):
        console.print(again, soft_wrap=True)
    return 0
