"""From a study's config to its cells."""

import os
import re
import subprocess
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from scripts import frameworks, workloads
from scripts.costs import book
from scripts.measurement.cell import MODES, PRECISIONS, Cell
from scripts.measurement.hardware import KIT, devices_of
from scripts.storage import modules, schemas
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

#: Keys of a study that the command line may replace: snakemake --config 'frameworks=[jax]'
AXES = (
    "workloads",
    "hardware",
    "frameworks",
    "batch_sizes",
    "modes",
    "precisions",
    "devices",
    "repeats",
    "data",
    "scale",
    "base",
    "price",
    "book",
    "trained",
)

#: Keys of config/config.yaml.
_SETTINGS = (
    "study",
    "reach",
    "data_dir",
    "checkpoints",
    "budget_usd",
    "published",
    "logs_dir",
    "catalogue",
    "catalogue_as_of",
    "kit_python",
    "file",
)

#: Keys of a study that is a grid to be trained; a study without them shows logs or figures of others.
_GRID = ("workloads", "hardware", "frameworks", "base")

_DEFAULTS: dict[str, Any] = {
    "summary": "",
    "data": "real",
    "batch_sizes": ["published"],
    "modes": ["stock"],
    "precisions": ["float32"],
    "devices": [1],
    "repeats": 1,
    "unstable_above": 0.1,
    "max_run_minutes": 480,
    "stop_at_target": False,
    "beside": [],
    "trained": "",
    "scale": "full",
    "exclude": [],
    "tiers": [],
    "overrides": [],
    "book": ["current", "listed"],
    "price": "on-demand",
    "prices": {
        "on-demand": {"purchase": "on-demand"},
        "spot": {"purchase": "spot"},
        "owned": {"purchase": "owned"},
    },
    "machines": {},
    "targets": {},
    "claims": [],
    "charts": ["relative_time", "relative_cost", "pareto", "learning"],
}


#: A study's name is a folder of results/, and part of commands.
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Study:
    """A study's config with every default filled in, and its cells in the order of the grid."""

    name: str
    config: dict[str, Any]
    cells: list[Cell]

    def runs(self) -> list[tuple[Cell, int]]:
        """Return (cell, repeat) tier by tier, each in rounds, A B C A B C: drift of the machine meets cells alike."""
        rounds = [(cell, repeat) for repeat in range(1, self.config["repeats"] + 1) for cell in self.cells]
        return sorted(rounds, key=lambda run: self.tier(run[0]))

    def tier(self, cell: Cell) -> int:
        """Return the position in `tiers` of the first list that a cell matches, their number if none does."""
        tiers = self.config["tiers"]
        matching = (place for place, tier in enumerate(tiers) if any(_matches(cell, where) for where in tier))
        return next(matching, len(tiers))

    def again(self) -> range:
        """Return the numbers of the runs of an unstable cell's second measurement."""
        return range(self.config["repeats"] + 1, 2 * self.config["repeats"] + 1)


def read(name: str, replaced: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return name and config of a study: `name` is one of `config/studies/`, or the path of a YAML file.

    `replaced` holds the axes that the command line gives. Raises InputError for a bad file or value.
    """
    path = _file(name)
    if not path.is_file():
        raise InputError(f"study {name!r} is unknown: it is one of {', '.join(_studies())}, or a path to a .yaml file")
    if not _NAME.fullmatch(path.stem):
        raise InputError(
            f"{path}: a study's name is its file's, of letters, digits, '.', '_' and '-': {path.stem!r} is not"
        )
    config = schemas.read_yaml(path, "study")
    unknown = sorted(set(replaced) - {*AXES, *_SETTINGS})
    if unknown:
        raise InputError(f"--config: {unknown[0]!r} is unknown: it is one of {', '.join((*_SETTINGS, *AXES))}")
    # Snakemake makes None of `--config trained=`.
    axes = {key: "" if replaced[key] is None else _typed(replaced[key]) for key in AXES if key in replaced}
    if axes:
        config |= axes
        schemas.validate(config, "study", "--config")
    if is_grid(config):
        missing = [key for key in _GRID if key not in config]
        if missing:
            raise InputError(f"{path}: {missing[0]!r} is a required property of a grid")
        if "import" in config:
            raise InputError(f"{path}: has {', '.join(_GRID)} and import: a study trains, or shows the logs of others")
        if axes and "base" not in axes and config["base"]["framework"] not in config["frameworks"]:
            config["base"] = config["base"] | {"framework": config["frameworks"][0]}
    elif {"import", "office", "schedule"}.isdisjoint(config):
        raise InputError(f"{path}: has nothing to show: give {', '.join(_GRID)}, or import: with the logs of others")
    if "import" in config:
        _known(
            str(path),
            "import.format",
            [config["import"]["format"]],
            modules.names(str(ROOT / "scripts" / "importers" / "formats")),
        )
        if {"facts", "hardware"}.isdisjoint(config["import"]):
            raise InputError(f"{path}: import: 'hardware' is a required property of logs: folder of logs -> machine")
    config = _DEFAULTS | config
    if "workloads" in config:
        config["workloads"], config["workload_files"] = _own_files(config["workloads"])
        workloads.add(config["workload_files"])
    if "base" in config and is_grid(config):
        first = {"mode": config["modes"][0], "precision": config["precisions"][0], "devices": config["devices"][0]}
        base = first | config["base"]
        config["base"] = {axis: base[axis] for axis in ("hardware", "framework", *first)}
    options = [("price", config["price"])]
    for i, claim in enumerate(config["claims"]):
        options += [(f"claims[{i}].{key}", claim[key]) for key in ("price", "than_price") if key in claim]
    for key, option in options:
        _known(str(path), key, [option], list(config["prices"]))
    if config["beside"] and not is_grid(config):
        raise InputError(f"{path}: beside: is for a study with {', '.join(_GRID)}: it stands in the report of these")
    for other in config["beside"]:
        if not _file(other).is_file() or _file(other).stem == path.stem:
            known = ", ".join(name for name in _studies() if name != path.stem)
            raise InputError(
                f"{path}: beside: {other!r} is not another study: it is one of {known}, or a path to a .yaml file"
            )
    for given in [config["book"], *(about.get("book", []) for about in config["prices"].values())]:
        book.files(given)
    if "import" in config and "hardware" in config["import"] and "base" in config:
        _known(
            str(path), "base.hardware", [config["base"]["hardware"]], sorted(set(config["import"]["hardware"].values()))
        )
    for chart in config["charts"]:
        module, _, option = chart.partition(".")
        _known(str(path), "charts", [module], modules.names(str(ROOT / "scripts" / "charts")))
        if option and option not in config["prices"]:
            raise InputError(
                f"{path}: charts: {chart!r}: {option!r} is not one of prices: {', '.join(config['prices'])}"
            )
    return path.stem, config


def _file(name: str) -> Path:
    """Return the file of a study that is named, or given as a path."""
    return Path(name) if name.endswith((".yaml", ".yml")) else ROOT / "config" / "studies" / f"{name}.yaml"


def _studies() -> list[str]:
    return sorted(file.stem for file in (ROOT / "config" / "studies").glob("*.yaml"))


def _own_files(given: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the names of workloads, and the files of those that are given as the path of a .py file."""
    files = {Path(item).stem: item for item in given if item.endswith(".py")}
    return [Path(item).stem if item.endswith(".py") else item for item in given], files


def is_grid(config: dict[str, Any]) -> bool:
    """Return whether a study is a grid to be trained."""
    return any(key in config for key in _GRID[:3])


def is_trained_here(config: dict[str, Any]) -> bool:
    """Return whether a study is a grid to be trained, and not one whose tables were supplied."""
    return is_grid(config) and not config["trained"]


def beside(studies: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the configs of the studies that `studies` (name -> config) want beside them, by name."""
    return dict(read(other, {}) for config in studies.values() for other in config["beside"])


def check_beside(name: str, config: dict[str, Any], results: Path) -> None:
    """Raise InputError unless each study beside `name` has runs: trained in `results`, supplied, or of logs."""
    for other, about in beside({name: config}).items():
        if is_trained_here(about) and not (results / other / "runs.parquet").is_file():
            raise InputError(
                f"study {name}: beside: {other!r} is trained here and has no runs yet: snakemake --config study={other}"
            )


def machines(config: dict[str, Any], catalogue: dict[str, Any]) -> dict[str, Any]:
    """Return the machines a study may name: those of `config/hardware.yaml`, and its own."""
    return catalogue | config["machines"]


def _typed(value: Any) -> Any:
    """Turn the texts that Snakemake makes of numbers within a list (`--config batch_sizes=[64]`) into numbers."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    for number in (int, float):
        try:
            return number(value) if isinstance(value, str) else value
        except ValueError:
            continue
    return value


def expand(name: str, config: dict[str, Any], catalogue: dict[str, Any], cores: int, kind) -> Study:
    """Return the study with its cells: workload x hardware x framework x batch size.

    Args:
        name: of the study.
        config: from `read`.
        catalogue: content of `config/hardware.yaml`.
        cores: of this machine, for `hardware: local`.
        kind: tells `real` or `synthetic` for a data set's name.

    Raises InputError that names file, key and value, and what is allowed.
    """
    source = f"study {name}"
    hardware = config["hardware"]
    if hardware == "local":
        hardware = [
            entry
            for entry, about in catalogue.items()
            if about.get("local") and about["machine"]["cores"] <= cores and "gpus" not in about["machine"]
        ]
    _known(source, "workloads", config["workloads"], workloads.names())
    _known(source, "hardware", hardware, list(catalogue))
    _known(source, "frameworks", config["frameworks"], frameworks.names())
    _known(source, "targets", list(config["targets"]), workloads.names())
    known: dict[str, list] = {
        "workload": workloads.names(),
        "hardware": list(catalogue),
        "framework": frameworks.names(),
        "mode": list(MODES),
        "precision": list(PRECISIONS),
        "devices": config["devices"],
        "batch_size": [
            "published",
            *config["batch_sizes"],
            *(workloads.workload(name).BATCH_SIZE for name in config["workloads"]),
        ],
    }
    rules = [(f"exclude[{i}]", where) for i, where in enumerate(config["exclude"])]
    rules += [(f"tiers[{i}][{j}]", where) for i, tier in enumerate(config["tiers"]) for j, where in enumerate(tier)]
    rules += [(f"overrides[{i}].where", rule["where"]) for i, rule in enumerate(config["overrides"])]
    for key, where in rules:
        for axis, values in where.items():
            _known(source, f"{key}.{axis}", _listed(values), known[axis])

    scale = {} if config["scale"] == "full" else config["scale"]
    cells: dict[str, Cell] = {}
    for workload in config["workloads"]:
        work = workloads.workload(workload)
        for machine in hardware:
            for framework in config["frameworks"]:
                for batch_size, mode, precision, devices in product(
                    config["batch_sizes"], config["modes"], config["precisions"], config["devices"]
                ):
                    cell = Cell(
                        workload=workload,
                        hardware=machine,
                        framework=framework,
                        batch_size=work.BATCH_SIZE if batch_size == "published" else batch_size,
                        epochs=scale.get("epochs", work.EPOCHS),
                        samples=float(scale.get("samples", 1.0)),
                        data="own" if work.DATASET is None else kind(work.DATASET),
                        mode=mode,
                        precision=precision,
                        devices=devices,
                        target=config["targets"].get(workload) if config["stop_at_target"] else None,
                    )
                    if any(_matches(cell, where) for where in config["exclude"]):
                        continue
                    for override in config["overrides"]:
                        if _matches(cell, override["where"]):
                            cell = replace(cell, **override["set"])
                    _check_devices(source, machine, catalogue[machine]["machine"], devices)
                    cells.setdefault(cell.path, cell)
    if not hardware:
        raise InputError(f"{source}: hardware: no local entry of config/hardware.yaml fits {cores} cores")
    if not cells:
        raise InputError(f"{source}: exclude: leaves no cell")
    study = Study(name, config, list(cells.values()))
    base = config["base"]
    if not any(_matches(cell, base) for cell in study.cells):
        given = " ".join(str(base[key]) for key in base)
        there = sorted({" ".join(str(getattr(cell, key)) for key in base) for cell in study.cells})
        raise InputError(f"{source}: base: no cell has {', '.join(base)} {given!r}; there are {', '.join(there)}")
    return study


def planned(name: str, config: dict[str, Any], catalogue: dict[str, Any]) -> Study:
    """Return the study as `expand` does for this machine, without looking where its data are."""
    return expand(name, config, catalogue, cores=len(os.sched_getaffinity(0)), kind=lambda dataset: "real")


def check_reach(study: Study, catalogue: dict[str, Any], reach: str) -> None:
    """Raise InputError unless one of the study's machines is reached by `reach`, a profile that is known."""
    clusters = {cell.hardware: list(catalogue[cell.hardware].get("clusters", {"local": {}})) for cell in study.cells}
    known = {"local", *(name for about in catalogue.values() for name in about.get("clusters", {}))}
    _known("--config", "reach", [reach], sorted(known))
    if not any(reach in reached for reached in clusters.values()):
        there = "; ".join(f"{name}: {', '.join(reached)}" for name, reached in clusters.items())
        raise InputError(f"study {study.name}: hardware: none is reached by profile {reach!r}: {there}")


def is_for_kit(study: Study, catalogue: dict[str, Any]) -> bool:
    """Return whether all of a study's machines are ones that a kit is carried to."""
    return all(KIT in catalogue[cell.hardware].get("clusters", {}) for cell in study.cells)


def check_bucket(prefix: str, files: list[str]) -> None:
    """Raise InputError unless the bucket is named, and the files that a run needs are sent with it: git knows them."""
    if "$" in prefix:
        raise InputError(
            f"{prefix}: the variable is not set: a bucket, and a folder in it if you like: my-bucket/epochs"
        )
    paths = [
        ROOT / "config" / "studies" / f"{file}.yaml" if "." not in Path(file).name else Path(file) for file in files
    ]
    for path in paths:
        asked = ["git", "ls-files", "--error-unmatch", str(path)]
        if subprocess.run(asked, cwd=ROOT, capture_output=True).returncode:
            raise InputError(f"{path}: git does not know it, so it is not sent to the machines: git add {path}")


def _known(source: str, key: str, values: list, allowed: list) -> None:
    for value in values:
        if value not in allowed:
            raise InputError(f"{source}: {key}: {value!r} is unknown: it is one of {', '.join(map(str, allowed))}")
        if values.count(value) > 1:
            raise InputError(f"{source}: {key}: {value!r} is given twice")


def _check_devices(source: str, machine: str, claims: dict[str, Any], devices: int) -> None:
    there, what = devices_of(claims)
    if devices > there:
        leave_out = f"{{hardware: {machine}, devices: {devices}}}"
        raise InputError(f"{source}: devices: {machine} has {there} {what}, not {devices}; exclude: [{leave_out}]")


def _listed(values: Any) -> list:
    return values if isinstance(values, list) else [values]


def _matches(cell: Cell, where: dict[str, Any]) -> bool:
    """Return whether a cell has one of the values of each axis; a batch size may be called `published`."""
    published = {"published": workloads.workload(cell.workload).BATCH_SIZE}
    return all(
        getattr(cell, axis) in [published.get(value, value) for value in _listed(values)]
        for axis, values in where.items()
    )
