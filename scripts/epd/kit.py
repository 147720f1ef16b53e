"""Carry a study to a machine without network, and take in what comes back."""

from typing import Annotated

import typer

from scripts.epd import _call

IS_SNAKEMAKE = True

app = typer.Typer(rich_markup_mode=None)


@app.command()
def pack(
    study: _call.Study = None,
    python: Annotated[
        str, typer.Option(help="The Python of that machine; 3.12-aarch64 for ARM (GH200).", show_default="3.12")
    ] = "",
    config: _call.Config = None,
) -> int:
    """Pack one archive, results/kit/STUDY-kit.tar, with all that the runs of a study need but the framework.

    \b
    ./epd kit pack card
    ./epd kit pack card --python 3.12-aarch64
    """
    from scripts.kit import contents
    from scripts.studies import definition

    given = {"study": _call.study_here(study), "kit_python": python}
    if given["study"]:
        contents.check_programs(*definition.read(given["study"], {}))
    return _call.become(_call.words(["kit"], "local", given, config))


@app.command()
def take(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file of records that the kit wrote (.zip).")],
    study: Annotated[str, typer.Option(help="The study's file, where it is none of the project's.")] = "",
    config: _call.Config = None,
) -> int:
    """Check the records that a kit brought back, and put them into their study, all or none.

    \b
    ./epd kit take card-records.zip
    ./epd kit take mine-records.zip --study /path/to/mine.yaml
    ./epd kit take card-records.zip --config repeats=3    (as it was packed)
    """
    from pathlib import Path

    from scripts.kit import take as taking

    given = _call.study_here(study or None) or ""
    print(taking.take(Path(_call.from_here(file)), taking.RESULTS, given, config or ()), flush=True)
    return 0
