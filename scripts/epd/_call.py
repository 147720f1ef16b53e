"""What the sub-commands share: paths from where they are called, their common options, and a call of Snakemake."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

ROOT = Path(__file__).resolve().parents[2]

#: Where the person is: what they name lies there, and not in the clone.
_FROM = Path.cwd()

#: The words after `--`, which are for Snakemake.
MORE: list[str] = []


def from_here(path: str) -> str:
    """Return a path as the clone's folder sees it, unchanged where the person is in it."""
    return path if _FROM == ROOT else str(_FROM / path)


def to_write(option: str, file: str) -> Path:
    """Return a file that a person wants written. Raises InputError where it is a folder, or its own is not there."""
    from scripts.storage.errors import InputError

    path = Path(from_here(file))
    if path.is_dir():
        raise InputError(f"{option}: {file!r} is a folder: name a file")
    if not path.parent.is_dir():
        raise InputError(f"{option}: {path.parent}: no such folder")
    return path


def study_here(study: str | None) -> str | None:
    """Return a study by its name, or its path as the clone's folder sees it. Raises InputError for an unknown one."""
    if study is None:
        return None
    from scripts.studies import definition

    study = from_here(study) if study.endswith((".yaml", ".yml")) else study
    if not definition.file(study).is_file():
        definition.read(study, {})  # it says which there are
    return study


def studies(incomplete: str) -> list[str]:
    """Return the studies of the project whose names begin so, for the shell."""
    return sorted(
        file.stem for file in (ROOT / "config" / "studies").glob("*.yaml") if file.stem.startswith(incomplete)
    )


def profiles(incomplete: str) -> list[str]:
    """Return the profiles whose names begin so, for the shell."""
    names = sorted(file.parent.name for file in (ROOT / "profiles").glob("*/config.yaml"))
    return [name for name in names if name != "default" and name.startswith(incomplete)]


Study = Annotated[
    str | None,
    typer.Argument(
        metavar="STUDY",
        help="A study of config/studies, or the path of its file; that of the profile if none is named.",
        autocompletion=studies,
        show_default=False,
    ),
]
Profile = Annotated[
    str,
    typer.Option("--profile", "-p", help="Which machines: a folder of profiles/, or a path.", autocompletion=profiles),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config", "-C", metavar="KEY=VALUE", help="As of Snakemake, may stand several times.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on standard output.")]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def print_json(found: Any) -> None:
    """Print what a program reads: null for a number that is none, or without end."""
    print(json.dumps(_finite(found), indent=1, allow_nan=False, default=str))


def words(
    targets: Sequence[str], profile: str, config: Mapping[str, Any], pairs: Sequence[str] | None = None
) -> list[str]:
    """Return a call of Snakemake; a setting that is None or empty is not said.

    Raises InputError for a bad profile, study or pair.
    """
    from scripts.storage.errors import InputError
    from scripts.studies import definition
    from scripts.workflow import asked

    pairs = pairs or ()
    replaced = asked.given(pairs)
    if study := config.get("study"):  # refused before Snakemake writes its first log
        definition.read(study, replaced)
    if {"--config", "-C"} & set(MORE):
        raise InputError("--: name what is for --config before it: epd ... --config KEY=VALUE")
    said = [*(f"{key}={value}" for key, value in config.items() if value), *pairs]
    folder = asked.profile_folder(profile)
    return ["--profile", str(folder), *targets, *MORE, *(["--config", *said] if said else [])]


def snakemake(call: Sequence[str], **variables: str) -> list[str]:
    """Say a call of Snakemake on standard error, set the variables that it needs, and return its command.

    Raises InputError where the clone may only be read: Snakemake would end without a word of it.
    """
    from scripts.storage.errors import InputError

    notes = ROOT / ".snakemake"
    if not os.access(notes if notes.is_dir() else ROOT, os.W_OK | os.X_OK):
        raise InputError(f"{notes}: cannot be written: Snakemake keeps its notes there, in a clone of your own")
    print(f"$ snakemake {shlex.join(call)}", file=sys.stderr, flush=True)
    # Its rules call `python`: this one, also where nobody has activated .venv.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.environ.update(variables)
    return [sys.executable, "-m", "snakemake", *call]


def become(call: Sequence[str]) -> int:
    """Let Snakemake take the place of this process: its exit code, Ctrl-C and other signals are its own."""
    command = snakemake(call)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606, no shell is wanted


def run_quietly(call: Sequence[str], **variables: str) -> int:
    """Run Snakemake and return its exit code; where it fails, its standard output comes on standard error."""
    done = subprocess.run(snakemake(call, **variables), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout, end="", file=sys.stderr)
    return done.returncode
