"""The two states of a study that a person names, with their tables and prices."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import clocks, states
from scripts.costs import prices, pricing
from scripts.importers import facts
from scripts.storage import schemas, tables
from scripts.storage.errors import InputError
from scripts.studies import definition

#: A study, or a folder with its tables; one of its machines, or the date of an earlier repetition; one of its price
#: options.
_STATE = re.compile(r"(?P<place>[^@:]+)(?:@(?P<machine>[^@:]+))?(?::(?P<option>[^@:]+))?")

#: Where the tables of a study lie: those of its last call, or those that are committed.
_FOLDERS = ("results/{}", "reports/published/tables/{}")

#: An earlier repetition, in the place of a machine: no machine is called so.
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z")


def read(key: str, text: str) -> states.State:
    """Return the state that a person names as `old` or `new`, at the price that it names, or at all of them.

    The price that a study shows is the first. A study whose tables are committed has no costs among them: it is priced
    by its books. Raises InputError that says what is allowed.
    """
    found = _STATE.fullmatch(text)
    if found is None:
        raise InputError(f"{key}: {text!r}: must be STUDY or FOLDER, then @MACHINE and :PRICE if wanted")
    place, machine, option = found.group("place", "machine", "option")
    if machine and _DATE.fullmatch(machine):
        place, machine = f"history/{place}/{machine}", None
    runs, costs, study = _tables(key, place)
    if machine:
        if machine not in set(runs["hardware"]):
            price = f"; a price option is given as {place}:{machine}" if machine in set(costs["price_option"]) else ""
            has = ", ".join(sorted(set(runs["hardware"])))
            raise InputError(f"{key}: {machine}: {place} has the machines {has}{price}")
        runs = runs[runs["hardware"] == machine]
    shown = study["price"] if study else ""
    costs = costs.sort_values("price_option", key=lambda names: names != shown, kind="stable")
    if option:
        if option not in (options := _options(costs)):
            raise InputError(f"{key}: {option}: {place} has the prices {', '.join(options) or 'none'}")
        costs = costs[costs["price_option"] == option]
    return states.State(text, runs, costs)


def _tables(key: str, place: str) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any] | None]:
    """Return runs and costs of a folder or a study, and its config; what is committed is priced by its books."""
    study = _study(place)
    folders = [Path(place), *(definition.ROOT / folder.format(place) for folder in _FOLDERS)]
    folder = next((one for one in folders if _table(one, "runs")), None)
    if folder and (study is None or _table(folder, "costs")):
        return _read(folder, "runs"), _read(folder, "costs"), study
    if folder and study:
        runs = clocks.complete(_read(folder, "runs"))
        return runs, _priced(study, runs, _read(folder, "attempts")), study
    if study and "facts" in study.get("import", {}):
        runs = tables.conform(facts.runs_of(facts.read(definition.ROOT / study["import"]["facts"])), "runs")
        return runs, _priced(study, runs, None), study
    there = {path.parent.name for one in _FOLDERS for path in definition.ROOT.glob(one.format("*/runs.*"))}
    known = f"; with results there are {', '.join(sorted(there))}" if there else ""
    raise InputError(f"{key}: {place}: no such folder with runs.parquet or runs.csv, and no study with results{known}")


def _study(place: str) -> dict[str, Any] | None:
    """Return the config of a study of the project, None of a folder or of a study that lies elsewhere."""
    is_ours = "/" not in place and definition.file(place).is_file()
    return definition.read(place, {})[1] if is_ours else None


def _priced(study: Mapping[str, Any], runs: pd.DataFrame, attempts: pd.DataFrame | None) -> pd.DataFrame:
    machines = definition.machines(
        dict(study), schemas.read_yaml(definition.ROOT / "config" / "hardware.yaml", "hardware")
    )
    table = pricing.price_table(study, machines, set(runs["hardware"]))
    return tables.conform(prices.price_runs(runs, table, attempts), "costs")


def _options(costs: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(costs["price_option"]))


def at_one_price(old: states.State, new: states.State) -> tuple[states.State, states.State, str]:
    """Return two states at prices that can be compared, and in words at which, or why there are none.

    Prices that both states name are taken as they are, else those of one name that both have, that of `old` first.
    """
    has = [_options(state.costs) for state in (old, new)]
    if not all(_named(state) for state in (old, new)):
        shared = [name for name in has[0] if name in has[1]]
        old, new = (replace(state, costs=_at(state.costs, shared[:1])) for state in (old, new))
        if not shared:
            without = [state.name for state, names in zip((old, new), has, strict=True) if not names]
            both = (f"{state.name} has {', '.join(names)}" for state, names in zip((old, new), has, strict=True))
            why = f"{' and '.join(without)} has none" if without else f"{', '.join(both)}: name one of each by :PRICE"
            return old, new, f"costs are not compared: {why}"
    names = dict.fromkeys(name for state in (old, new) for name in _options(state.costs))
    return old, new, f"costs at {' and '.join(names)}"


def _named(state: states.State) -> bool:
    found = _STATE.fullmatch(state.name)
    return found is not None and found["option"] is not None


def _at(costs: pd.DataFrame, options: Sequence[str]) -> pd.DataFrame:
    return costs[costs["price_option"].isin(options)]


def _table(folder: Path, name: str) -> Path | None:
    return next((path for end in ("parquet", "csv") if (path := folder / f"{name}.{end}").is_file()), None)


def _read(folder: Path, name: str) -> pd.DataFrame:
    path = _table(folder, name)
    if path is None:
        return tables.conform(pd.DataFrame(columns=list(tables.columns(name))), name)
    return tables.read(path) if path.suffix == ".parquet" else tables.read_csv(name, path)
