"""End the jobs of a study."""

from typing import Annotated

import typer

from scripts.epd import _call


def command(
    study: _call.Study = None,
    profile: _call.Profile = "local",
    config: _call.Config = None,
    prefix: Annotated[
        str, typer.Option(metavar="gs://BUCKET/FOLDER", help="Where the jobs' runs go, if not where the profile says.")
    ] = "",
) -> int:
    """End the jobs of a study, and with them their machines. Ends with 1 where one could not be ended.

    \b
    ./epd stop
    ./epd stop gce --profile gce-gpu
    """
    from dataclasses import replace

    from scripts.studies import definition
    from scripts.workflow import asked, stopping

    given = asked.config(profile, config, _call.study_here(study))
    name, settings = definition.read(given["study"], given)
    others = stopping.other_profiles(name, settings, given["profile"])
    bucket = asked.bucket(profile)
    if bucket and prefix:
        bucket = replace(bucket, prefix=prefix)
    code = 0 if stopping.stop(name, given["profile"], bucket) else 1
    if others:
        print(f"jobs of {name} on its other machines: the same call with --profile {' or '.join(others)}")
    return code
