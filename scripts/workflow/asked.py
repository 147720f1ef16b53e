"""What a person asks for without Snakemake: the config of a profile and of a command line, as Snakemake merges it."""

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from scripts.storage import environment, numbers
from scripts.storage.errors import InputError
from scripts.studies import definition, settings
from scripts.workflow import stopping

ROOT = definition.ROOT


def profiles() -> list[str]:
    """Return the names of the profiles of this clone."""
    return sorted(
        path.parent.name for path in (ROOT / "profiles").glob("*/config.yaml") if path.parent.name != "default"
    )


def profile_folder(name: str) -> Path:
    """Return the folder of a profile: a name of profiles/, or a path. Raises InputError that says what is near."""
    for folder in (Path("profiles") / name, Path(name)):
        if (ROOT / folder / "config.yaml").is_file():
            return folder
    near = get_close_matches(name, profiles(), 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"--profile: {name!r} is unknown: {hint}it is one of {', '.join(profiles())}, or a folder")


def _mapping(file: Path) -> dict[str, Any]:
    return yaml.safe_load((ROOT / file).read_text(encoding="utf-8")) or {}


def given(pairs: Sequence[str]) -> dict[str, Any]:
    """Return what KEY=VALUE pairs set, each a text or a list of texts. Raises InputError for what is none."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise InputError(f"--config: {pair!r}: must be KEY=VALUE")
        try:
            found[key] = yaml.load(value, yaml.BaseLoader)  # noqa: S506, texts and lists of them
        except yaml.YAMLError:
            raise InputError(f"--config: {key}: {value!r} is no value of YAML") from None
        if one := numbers.foreign(value):
            raise InputError(f"--config: {key}: {one!r}: a number is written in the digits 0 to 9")
    return found


def config(profile: str, pairs: Sequence[str] | None = None, study: str | None = None) -> dict[str, Any]:
    """Return the config of a call with a profile, KEY=VALUE pairs, and a study if it is named."""
    files = _mapping(profile_folder(profile) / "config.yaml").get("configfile", [])
    merged = _mapping(Path("config/config.yaml"))
    for file in [files] if isinstance(files, str) else files:
        merged |= _mapping(Path(file))
    merged |= given(pairs or ()) | ({"study": study} if study else {})
    merged |= settings.texts(merged)
    if merged["data_dir"]:
        environment.DATA_DIR.write(merged["data_dir"])
    if merged["trust"]:
        environment.TRUST.write(merged["trust"])
    return merged


def bucket(profile: str) -> stopping.Bucket | None:
    """Return where a profile for Google Batch sends its jobs, None for another one or where that is not set."""
    values = _mapping(profile_folder(profile) / "config.yaml")
    prefix = os.path.expandvars(values.get("default-storage-prefix", ""))
    if values.get("executor") != "gcebatch":
        return None
    found = {
        name: str(values.get(f"gcebatch-{name}") or os.environ.get(f"SNAKEMAKE_GCEBATCH_{name.upper()}", ""))
        for name in ("project", "region")
    }
    lacking = [f"SNAKEMAKE_GCEBATCH_{name.upper()}" for name, value in found.items() if not value]
    lacking += [environment.BUCKET.name] * (not prefix or "$" in prefix)
    if lacking:
        raise InputError(f"profile {profile}: still to be set: {', '.join(lacking)} (docs/clusters.md)")
    return stopping.Bucket(found["project"], found["region"], prefix)


def checkpoints(merged: Mapping[str, Any], profile: str, study: str) -> str:
    """Return where the runs of a study are saved, by a `config`; empty where nowhere."""
    saved = merged["checkpoints"]
    if not saved and merged["profile"].startswith("gce-"):
        there = bucket(profile)
        saved = f"{there.prefix}/checkpoints" if there else ""
    return f"{saved}/{study}" if saved else ""
