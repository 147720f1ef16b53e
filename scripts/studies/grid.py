"""From a study's settings to its cells."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from scripts.records import about
from scripts.records.cell import MODES, PRECISIONS, Cell
from scripts.records.machine import KIT, devices_of
from scripts.storage.errors import InputError
from scripts.studies import commands
from scripts.studies.definition import known

#: More configurations, or runs of them, than any study has, and than Snakemake could plan.
MOST = 100_000

#: Times that a configuration is held against an entry of exclude, overrides or tiers.
_MOST_LOOKS = 10_000_000

#: The axes whose values are combined.
_AXES = ("frameworks", "batch_sizes", "modes", "precisions", "devices")


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
        """Return the numbers of the runs that measure a cell, or some of its runs, once more."""
        return range(self.config["repeats"] + 1, 2 * self.config["repeats"] + 1)


def expand(
    name: str, config: dict[str, Any], catalogue: dict[str, Any], cores: int, kind: Callable[[str], str]
) -> Study:
    """Return the study with its cells: workload x hardware x framework x batch size.

    Args:
        name: of the study.
        config: from `read`.
        catalogue: content of `config/hardware.yaml`.
        cores: of this machine, for `hardware: local`.
        kind: returns `real` or `synthetic` for a data set's name.

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
    _check_size(source, config, hardware)
    _check(source, config, hardware, catalogue)
    cells: dict[str, Cell] = {}
    for cell in _product(config, hardware, kind):
        if any(_matches(cell, where) for where in config["exclude"]):
            continue
        for override in config["overrides"]:
            if _matches(cell, override["where"]):
                cell = replace(cell, **override["set"])
        _check_devices(source, cell.hardware, catalogue[cell.hardware]["machine"], cell.devices)
        cells.setdefault(cell.path, cell)
    if not hardware:
        raise InputError(f"{source}: hardware: no local entry of config/hardware.yaml fits {cores} cores")
    if not cells:
        raise InputError(f"{source}: exclude: leaves no configuration")
    if (runs := len(cells) * config["repeats"]) > MOST:
        raise InputError(
            f"{source}: repeats: {config['repeats']:,} of {len(cells):,} configurations are {runs:,} runs: at most "
            f"{MOST:,} are allowed"
        )
    study = Study(name, config, list(cells.values()))
    base = config["base"]
    if not any(_matches(cell, base) for cell in study.cells):
        given = " ".join(str(base[key]) for key in base)
        there = sorted({" ".join(str(getattr(cell, key)) for key in base) for cell in study.cells})
        raise InputError(
            f"{source}: base: no configuration has {', '.join(base)} {given!r}; there are {', '.join(there)}"
        )
    return study


def _check_size(source: str, config: dict[str, Any], hardware: list[str]) -> None:
    """Raise InputError where the axes have more combinations than are looked at, before the first is."""
    counts = {"workloads": len(config["workloads"]), "hardware": len(hardware)}
    counts |= {axis: len(config[axis]) for axis in _AXES}
    if (cells := prod(counts.values())) > MOST:
        shown = " x ".join(f"{count:,} {axis}" for axis, count in counts.items() if count > 1)
        raise InputError(
            f"{source}: {shown} are {cells:,} configurations: at most {MOST:,} are allowed, before exclude"
        )
    rules = {key: len(config[key]) for key in ("exclude", "overrides")} | {"tiers": sum(map(len, config["tiers"]))}
    for key, count in rules.items():
        if count * cells > _MOST_LOOKS:
            raise InputError(
                f"{source}: {key}: {count:,} entries for {cells:,} configurations: at most {_MOST_LOOKS // cells:,} "
                "are allowed"
            )


def _check(source: str, config: dict[str, Any], hardware: list[str], catalogue: dict[str, Any]) -> None:
    """Raise InputError for a name that an axis, or a rule over cells, does not know."""
    known(source, "workloads", config["workloads"], about.workloads())
    known(source, "hardware", hardware, list(catalogue))
    frameworks = [*about.frameworks(), *([about.OWN] if config["commands"] else [])]
    known(source, "frameworks", config["frameworks"], frameworks)
    known(source, "targets", list(config["targets"]), about.workloads())
    allowed: dict[str, list[Any]] = {
        "workload": about.workloads(),
        "hardware": list(catalogue),
        "framework": frameworks,
        "mode": list(MODES),
        "precision": list(PRECISIONS),
        "devices": config["devices"],
        "batch_size": [
            "published",
            *config["batch_sizes"],
            *(about.workload(name).batch_size for name in config["workloads"]),
        ],
    }
    rules = [(f"exclude[{i}]", where) for i, where in enumerate(config["exclude"])]
    rules += [(f"tiers[{i}][{j}]", where) for i, tier in enumerate(config["tiers"]) for j, where in enumerate(tier)]
    rules += [(f"overrides[{i}].where", rule["where"]) for i, rule in enumerate(config["overrides"])]
    for key, where in rules:
        for axis, values in where.items():
            known(source, f"{key}.{axis}", _listed(values), allowed[axis])


def _product(config: dict[str, Any], hardware: list[str], kind: Callable[[str], str]) -> Iterator[Cell]:
    """Yield the cells of all axes, before what the study excludes or overrides."""
    for name, command in config["commands"].items():
        for machine in hardware:
            for values in commands.cells(name, command, config):
                yield Cell(workload=name, hardware=machine, epochs=1, samples=1.0, data="own", **values)
    scale = {} if config["scale"] == "full" else config["scale"]
    for workload, machine, framework, batch_size, mode, precision, devices in product(
        [name for name in config["workloads"] if name not in config["commands"]],
        hardware,
        *(config[axis] for axis in _AXES),
    ):
        work = about.workload(workload)
        yield Cell(
            workload=workload,
            hardware=machine,
            framework=framework,
            batch_size=work.batch_size if batch_size == "published" else batch_size,
            epochs=scale.get("epochs", work.epochs),
            samples=float(scale.get("samples", 1.0)),
            data="own" if work.dataset is None else kind(work.dataset),
            mode=mode,
            precision=precision,
            devices=devices,
            target=config["targets"].get(workload) if config["stop_at_target"] else None,
        )


def planned(name: str, config: dict[str, Any], catalogue: dict[str, Any]) -> Study:
    """Return the study as `expand` does for this machine, without looking where its data are."""
    return expand(name, config, catalogue, cores=len(os.sched_getaffinity(0)), kind=lambda dataset: "real")


def check_reach(study: Study, catalogue: dict[str, Any], profile: str) -> None:
    """Raise InputError unless one of the study's machines is reached by `profile`, one that is known."""
    clusters = {cell.hardware: list(catalogue[cell.hardware].get("clusters", {"local": {}})) for cell in study.cells}
    profiles = {"local", *(name for about in catalogue.values() for name in about.get("clusters", {}))}
    known("--config", "profile", [profile], sorted(profiles))
    if not any(profile in reached for reached in clusters.values()):
        there = "; ".join(f"{name}: {', '.join(reached)}" for name, reached in clusters.items())
        raise InputError(f"study {study.name}: hardware: none is reached by profile {profile!r}: {there}")


def is_for_kit(study: Study, catalogue: dict[str, Any]) -> bool:
    """Return whether all of a study's machines are ones that a kit is carried to."""
    return all(KIT in catalogue[cell.hardware].get("clusters", {}) for cell in study.cells)


def _check_devices(source: str, machine: str, claims: dict[str, Any], devices: int) -> None:
    there, what = devices_of(claims)
    if devices > there:
        leave_out = f"{{hardware: {machine}, devices: {devices}}}"
        raise InputError(f"{source}: devices: {machine} has {there} {what}, not {devices}; exclude: [{leave_out}]")


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _matches(cell: Cell, where: dict[str, Any]) -> bool:
    """Return whether a cell has one of the values of each axis; a batch size may be called `published`."""
    published = {"published": about.workload(cell.workload).batch_size}
    return all(
        getattr(cell, axis) in [published.get(value, value) for value in _listed(values)]
        for axis, values in where.items()
    )
