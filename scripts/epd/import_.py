"""Logs of others, as the facts of a study."""

from typing import Annotated

import typer

from scripts.epd import _call

IS_SNAKEMAKE = True


def command(
    study: _call.Study = None,
    logs_dir: Annotated[
        str, typer.Option(metavar="FOLDER", help="Copies of the published logs, in place of their repositories.")
    ] = "",
) -> int:
    """Read the logs of a study, one row of results/STUDY/facts.csv per run; without one those of the published studies.

    What cannot be read is listed, the rest is kept.

    \b
    ./epd import /path/to/mine.yaml
    ./epd import gpus-2017 --logs-dir logs
    ./epd import -- -n
    """
    from scripts.studies import definition

    study = _call.study_here(study)
    targets = [f"results/{definition.file(study).stem}/facts.csv"] if study else ["import_published"]
    folder = logs_dir and _call.from_here(logs_dir)
    return _call.become(_call.words(targets, "local", {"study": study, "logs_dir": folder}))
