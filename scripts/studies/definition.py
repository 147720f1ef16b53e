"""A study's definition: its file and what the command line replaces, checked, with every default filled in."""

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from scripts.costs import books
from scripts.records import about
from scripts.storage import modules
from scripts.storage.axes import CELL
from scripts.storage.errors import InputError
from scripts.storage.numbers import named
from scripts.studies import articles, charts, commands

ROOT = Path(__file__).resolve().parents[2]

#: Keys of a study that is a grid to be trained; a study without them shows logs or figures of others.
_GRID = ("workloads", "hardware", "frameworks", "base")

#: A study's name is a folder of results/, and part of commands; it is no path of a file.
_NAME = re.compile(r"(?!.*\.ya?ml$)[A-Za-z0-9][\w.-]*")

#: Folders of results/ that are of no study, and those of a study that are of no workload.
_RESERVED, _RESERVED_WORKLOADS = ("kit", "logs"), ("charts", "logs")


def read(name: str, replaced: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return name and config of a study: `name` is one of `config/studies/`, or the path of a YAML file.

    `replaced` holds the axes that the command line gives. Raises InputError for a bad file or value.
    """
    path = file(name)
    if not path.is_file():
        if name.endswith((".yaml", ".yml")):
            raise InputError(f"study {name!r}: there is no such file in {Path.cwd()}")
        raise InputError(f"study {name!r} is unknown: it is one of {', '.join(_studies())}, or a path to a .yaml file")
    if path.stem in _studies() and path.resolve() != file(path.stem).resolve():
        raise InputError(
            f"{path}: {path.stem!r} is a study of the project, and results/{path.stem} would be of both: give the "
            "file another name"
        )
    if not _NAME.fullmatch(path.stem):
        raise InputError(
            f"{path}: a study's name is its file's, of letters, digits, '.', '_' and '-': {path.stem!r} is not"
        )
    if path.stem in _RESERVED:
        raise InputError(f"{path}: results/{path.stem} is not for a study's runs: give the file another name")
    from scripts.studies import kinds, model, settings  # which jobs that are handed a study have no need of

    config = model.read(path)
    if model.is_of_commands_alone(config):
        base = {"base": {"framework": about.OWN, **config["base"]}} if "base" in config else {}
        config |= {"frameworks": [about.OWN]} | base
    settings.check_config(replaced, model.AXES)
    axes = _axes(replaced, model.AXES)
    if axes:
        config |= axes
        kinds.check(config, model.of(config), "--config")
    _check_kind(path, config)
    if is_grid(config) and axes and "base" not in axes and config["base"]["framework"] not in config["frameworks"]:
        config["base"] = config["base"] | {"framework": config["frameworks"][0]}
    config = model.defaults() | config
    if "workloads" in config:
        config["commands"] = commands.taken(
            path, config["workloads"], _RESERVED_WORKLOADS, are_run=not config["tables"]
        )
        config["workloads"], config["workload_files"] = _own_files(
            path, [one for one in config["workloads"] if isinstance(one, str)]
        )
        config["workloads"] += config["commands"]
        for name, command in config["commands"].items():
            if commands.most_minutes(command) > config["max_run_minutes"]:
                raise InputError(
                    f"{path}: workloads: {name}: minutes: {command['minutes']:g}: with those of its start more "
                    f"than max_run_minutes, {config['max_run_minutes']:g}"
                )
        about.know(config)
    if "base" in config and is_grid(config):
        first = {"mode": config["modes"][0], "precision": config["precisions"][0], "devices": config["devices"][0]}
        base = first | config["base"]
        config["base"] = {axis: base[axis] for axis in ("hardware", "framework", *first)}
    _check_import(path, config)
    _check_paths(path, config)
    _check_prices(path, config)
    _check_beside(path, config)
    _check_question(path, config)
    return path.stem, config


def _axes(replaced: dict[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
    """Return what the command line gives for keys of the study, as if it stood in the file."""
    # Snakemake makes None of `--config tables=`.
    return {key: "" if replaced[key] is None else _typed(replaced[key]) for key in allowed if key in replaced}


def _check_kind(path: Path, config: dict[str, Any]) -> None:
    """Raise InputError unless the study is a grid that is complete, or shows what others measured."""
    if is_grid(config):
        missing = [key for key in _GRID if key not in config]
        if missing:
            raise InputError(f"{path}: {missing[0]!r} is a required property of a grid")
        if "import" in config:
            raise InputError(f"{path}: has {', '.join(_GRID)} and import: a study trains, or shows the logs of others")
    elif "import" not in config and not articles.stand_alone(config):
        raise InputError(f"{path}: has nothing to show: give {', '.join(_GRID)}, or import: with the logs of others")


def _check_import(path: Path, config: dict[str, Any]) -> None:
    logs = config.get("import")
    if logs is None:
        return
    formats = modules.names(str(ROOT / "scripts" / "importers" / "formats"))
    known(str(path), "import.format", [logs["format"]], formats)
    if {"facts", "hardware"}.isdisjoint(logs):
        raise InputError(f"{path}: import: 'hardware' is a required property of logs: folder of logs -> machine")
    if "hardware" in logs and "base" in config:
        known(str(path), "base.hardware", [config["base"]["hardware"]], sorted(set(logs["hardware"].values())))


def _check_paths(path: Path, config: dict[str, Any]) -> None:
    """Raise InputError for a path with a brace or <, which Snakemake takes for a name and exits without output."""
    folder = config.get("import", {}).get("folder", "")
    books = [config["book"], *(about.get("book", []) for about in config["prices"].values())]
    given = [("tables", config["tables"]), ("import.folder", folder)]
    given += [("workloads", file) for file in config.get("workload_files", {}).values()]
    given += [("book", name) for named in books for name in ([named] if isinstance(named, str) else named)]
    if folder:
        given += [("import.folder", str(file)) for file in Path(folder).rglob("*[{}<]*")]
    for key, value in given:
        if set("{}<") & set(value):
            raise InputError(f"{path}: {key}: {value!r}: Snakemake takes braces in a path, and <, for names: rename it")


def _check_prices(path: Path, config: dict[str, Any]) -> None:
    """Raise InputError for a price option that the study does not have, or a price book that is not there."""
    options = [("price", config["price"])]
    for i, claim in enumerate(config["claims"]):
        options += [(f"claims[{i}].{key}", claim[key]) for key in ("price", "than_price") if key in claim]
    for key, option in options:
        known(str(path), key, [option], list(config["prices"]))
    for option, priced in config["prices"].items():
        if priced.get("sustained_use") and (priced.get("purchase") != "on-demand" or "discount" in priced):
            raise InputError(
                f"{path}: prices: {option}: sustained_use: is for purchase on-demand without a discount: what has "
                "another one does not get it"
            )
    for given in [config["book"], *(priced.get("book", []) for priced in config["prices"].values())]:
        try:
            books.files(given)
        except InputError as error:
            raise InputError(f"{path}: book: {error}") from error
    for i, claim in enumerate(config["claims"]):
        if "between" in claim and claim["between"][0] > claim["between"][1]:
            raise InputError(f"{path}: claims[{i}].between: {claim['between']}: the lower end comes first")
    known(str(path), "charts", config["charts"], config["charts"])
    for chart in config["charts"]:
        module, _, option = chart.partition(".")
        known(str(path), "charts", [module], sorted(charts.modules_by_name()))
        if option and option not in config["prices"]:
            raise InputError(
                f"{path}: charts: {chart!r}: {option!r} is not one of prices: {', '.join(config['prices'])}"
            )


def _check_beside(path: Path, config: dict[str, Any]) -> None:
    if config["beside"] and not is_grid(config):
        raise InputError(f"{path}: beside: is for a study with {', '.join(_GRID)}: it stands in the report of these")
    named = [("beside", other) for other in config["beside"]]
    named += [("claims: than_study", claim["than_study"]) for claim in config["claims"] if "than_study" in claim]
    for key, other in named:
        if not file(other).is_file() or file(other).stem == path.stem:
            there = ", ".join(name for name in _studies() if name != path.stem)
            raise InputError(
                f"{path}: {key}: {other!r} is not another study: it is one of {there}, or a path to a .yaml file"
            )


def _check_question(path: Path, config: dict[str, Any]) -> None:
    """Raise InputError for a question of several axes, or one that names nothing to compare with."""
    asked = config.get("question", {})
    given = [axis for axis in CELL if axis in asked]
    if len(given) > 1:
        raise InputError(f"{path}: question: {' and '.join(given)}: a question is of one of them, all else alike")
    if given and "than" not in asked and given[0] not in config.get("base", {}):
        raise InputError(
            f"{path}: question: 'than' is required: base does not say with which {given[0]} it is compared"
        )


def check_machines(path: str, config: dict[str, Any], catalogue: dict[str, Any]) -> None:
    """Raise InputError where a study asks about a machine that is nowhere described."""
    asked = config.get("question", {})
    of_logs = config.get("import", {}).get("hardware", {})
    for machine in of_logs.values():
        if machine not in machines(config, catalogue):
            raise InputError(
                f"{path}: import: hardware: {machine!r} is nowhere described: it is one of machines: "
                f"({', '.join(config['machines']) or 'none here'}), or an entry of config/hardware.yaml"
            )
    if "hardware" in asked:
        there = sorted(machines(config, catalogue))
        for key in ("hardware", "than"):
            if key in asked:
                known(path, f"question.{key}", [asked[key]], there)


def is_name(text: str) -> bool:
    """Return whether a study may be called so."""
    return bool(_NAME.fullmatch(text)) and text not in _RESERVED


def is_own_name(text: str) -> bool:
    """Return whether a study that is none of the project's may be called so."""
    return is_name(text) and text not in _studies()


def file(name: str) -> Path:
    """Return the file of a study that is named, or given as a path."""
    return Path(name) if name.endswith((".yaml", ".yml")) else ROOT / "config" / "studies" / f"{name}.yaml"


def _studies() -> list[str]:
    return sorted(file.stem for file in (ROOT / "config" / "studies").glob("*.yaml"))


def _own_files(path: Path, given: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the names of workloads, and the files of those that are given as the path of a .py file.

    Raises InputError for a file whose name cannot be a workload's: it is a folder of results/, and part of commands.
    """
    files = {Path(item).stem: item for item in given if item.endswith(".py")}
    for name, file in files.items():
        if not name.isidentifier():
            raise InputError(
                f"{path}: workloads: {file!r}: a workload's name is its file's: letters, digits and '_', no digit first"
            )
        if name in _RESERVED_WORKLOADS:
            raise InputError(f"{path}: workloads: {file!r}: {name}/ of a study is not for runs: give it another name")
    return [Path(item).stem if item.endswith(".py") else item for item in given], files


def is_grid(config: dict[str, Any]) -> bool:
    """Return whether a study is a grid to be trained."""
    return any(key in config for key in _GRID[:3])


def is_trained_here(config: dict[str, Any]) -> bool:
    """Return whether a study is a grid to be trained, and not one whose tables were supplied."""
    return is_grid(config) and not config["tables"]


def is_folder(config: Mapping[str, Any]) -> bool:
    """Return whether a study shows a folder of somebody's logs, which no article describes."""
    return "folder" in config.get("import", {}) and "published" not in config


def beside(studies: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the configs of the studies that `studies` (name -> config) want beside them, by name."""
    return dict(read(other, {}) for config in studies.values() for other in config["beside"])


def compared(studies: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the configs of the studies that claims of `studies` (name -> config) compare with, by name."""
    claims = [claim for config in studies.values() for claim in config.get("claims", [])]
    return dict(
        read(name, {}) for name in dict.fromkeys(claim["than_study"] for claim in claims if "than_study" in claim)
    )


#: What a job asks for beyond the longest run (minutes): the run ends itself, this is for one that cannot.
MORE_MINUTES = 15


def most_minutes(
    config: Mapping[str, Any], machine: Mapping[str, Any], profile: str, workload: str | None = None
) -> float:
    """Return how long (minutes) a run of a study, or of one workload of it, may take on a machine.

    It is less where its jobs may not take so long, and of a command that is ended when it was watched for long enough.
    """
    runtime = machine.get("clusters", {}).get(profile, {}).get("runtime", inf)
    of_command = config.get("commands", {}).get(workload)
    watched = commands.most_minutes(of_command) if of_command else inf
    return float(min(config["max_run_minutes"], runtime - MORE_MINUTES, watched))


def machines(config: dict[str, Any], catalogue: dict[str, Any]) -> dict[str, Any]:
    """Return the machines a study may name: those of `config/hardware.yaml`, and its own."""
    return {**catalogue, **config["machines"]}


def unit(study: Mapping[str, Any], workload: str = "*") -> str:
    """Return what the samples of a workload, or of all, are: as logs say, or what a step of a program goes through."""
    if program := study.get("commands", {}).get(workload):
        return commands.unit(program)
    units = study.get("import", {}).get("units", {})
    return str(units.get(workload, units.get("*", "samples")))


def per_samples(study: Mapping[str, Any], workload: str = "*") -> str:
    """Return in words what a cost of rates alone is of: a million samples, a billion tokens."""
    return f"{named(study.get('per_samples', 10**6))} {unit(study, workload)}"


def cards(machines: Mapping[str, Any]) -> dict[str, str]:
    """Return the model of the cards by machine, of those that say it."""
    return {name: about["gpus"]["model"] for name, about in machines.items() if "gpus" in about}


def _typed(value: Any) -> Any:
    """Turn the texts that Snakemake makes of numbers in a list or a mapping (`batch_sizes=[64]`) into numbers."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    for number in (int, float):
        try:
            return number(value) if isinstance(value, str) and value.isascii() else value
        except ValueError:
            continue
    return value


def known(source: str, key: str, values: list[Any], allowed: list[Any]) -> None:
    """Raise InputError unless each of `values` is one of those `allowed`, and given once."""
    for value in values:
        if value not in allowed:
            raise InputError(f"{source}: {key}: {value!r} is unknown: it is one of {', '.join(map(str, allowed))}")
        if values.count(value) > 1:
            raise InputError(f"{source}: {key}: {value!r} is given twice")
