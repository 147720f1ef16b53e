"""The settings of a call, `config/config.yaml` and `snakemake --config`, as one model; that file is made from it."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from scripts.storage.errors import InputError
from scripts.studies.describe import schema
from scripts.studies.kinds import Either, Part, Text, check, key, unknown


class Settings(Part):
    """What `snakemake` and `./epd` run."""

    study: str = key("A file of config/studies/, without .yaml, or the path of such a file", "local")
    profile: str = key("Which machines of the study are trained on: set by the profiles", "local")
    data_dir: str = key("A folder that holds the data files already (or the variable EPOCHS_DATA_DIR)", "")
    checkpoints: str = key(
        "A folder that all machines see, or a bucket (gs://...): a run that is preempted goes on where it was", ""
    )
    budget_usd: Annotated[
        str | float, Either("Dollars, 0 or more: nothing is trained that could bring the study's cost above it")
    ] = key(default="")
    logs_dir: str = key("For `snakemake import_published`: a folder that holds the published logs already", "")
    catalogue: str = key("For `snakemake refresh_prices`: a folder that holds the SkyPilot catalogue already", "")
    catalogue_as_of: str = key("The day of that catalogue, or for each provider its own: 2026-05-20,aws=2025-10", "")
    gpuhunt: str = key("For `snakemake refresh_prices`: a folder that holds the catalogue of gpuhunt already", "")
    kit_python: str = key(
        "For `snakemake kit`: the Python of the machine that it is carried to; 3.12-aarch64 for ARM (GH200)", "3.12"
    )
    trust: str = key(
        "Code that a study brings along and that may run: a checksum, as the refusal of the study says it, or all", ""
    )
    published: list[Text] = key("For `snakemake published`: the studies of the published report, in its order")


def texts(config: Mapping[str, Any]) -> dict[str, str]:
    """Return those settings that are texts, whatever else Snakemake takes them for: a number, or None for nothing."""
    names = [name for name, field in Settings.model_fields.items() if field.annotation is str and name in config]
    return {name: "" if config[name] is None else str(config[name]) for name in names}


def check_config(config: Mapping[str, Any], others: tuple[str, ...]) -> None:
    """Raise InputError for a setting that is none, nor one of the `others`, or that cannot be so."""
    known = (*Settings.model_fields, *others)
    for name in config:
        if name not in known:
            raise InputError(f"--config: {unknown(name, known)}")
    # What a budget may be, nothing or any number that was typed, `scripts.workflow.quotes` says.
    given = {name: value for name, value in config.items() if name in Settings.model_fields and name != "budget_usd"}
    check(given | texts(given), Settings, "--config")


def file(published: list[str]) -> Iterator[str]:
    """Yield the lines of `config/config.yaml`, given the published studies."""
    yield "# What `snakemake` and `./epd` run. Each key can be given on the command line: snakemake --config study=NAME"
    for name, about in schema(Settings)["properties"].items():
        value = json.dumps(about["default"]) if "default" in about else ""
        yield f"# {about['description']}"
        yield f"{name}: {value}".rstrip()
    yield from (f"  - {name}" for name in published)
