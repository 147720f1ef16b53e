"""Check the records that a kit brought back, put them into their study, and propose the machine's catalogue entry."""

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from scripts.analysis import runs as recorded
from scripts.kit import records
from scripts.records import stored
from scripts.records.cell import Cell
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.storage.files import check_place, locked, sweep, undone, write_bytes
from scripts.storage.words import printable
from scripts.studies import definition, grid
from scripts.workflow import asked

CATALOGUE = Path("config/hardware.yaml")
RESULTS = Path("results")

_WITH_WHAT_IT_WAS_PACKED = "take it with the same --config KEY=VALUE that it was packed with"


def check(source: Path, path: str, folder: Path, study: grid.Study, machine: str) -> None:
    """Raise InputError unless the files of a run, in `folder`, are whole, and of that path, machine and study.

    It names file, run and what is wrong.
    """
    try:
        run = recorded.complete(stored.read(folder / "run.json"))
    except InputError as error:
        raise InputError(f"{source}: {str(error).replace(f'{folder}/', f'{path}/')}") from error
    cell = Cell(**run["cell"])
    named = f"{cell.path}/r{run['repeat']}"
    if named != path:
        raise InputError(f"{source}: {path}: its record is of {named}")
    if cell.hardware != machine:
        raise InputError(f"{source}: {path}: is of {cell.hardware}, and {records.MACHINE} describes {machine}")
    if run["seed"] != cell.seed(run["repeat"]):
        raise InputError(f"{source}: {path}: seed {run['seed']} is not that of the run, {cell.seed(run['repeat'])}")
    planned = {one.path: one for one in (replace(one, hardware=cell.hardware) for one in study.cells)}
    if cell.path not in planned:
        raise InputError(f"{source}: {path}: study {study.name} has no such configuration: {_WITH_WHAT_IT_WAS_PACKED}")
    if run["repeat"] > (repeats := study.config["repeats"]):
        raise InputError(
            f"{source}: {path}: repeat {run['repeat']}: study {study.name} has repeats: {repeats}: say repeats: "
            f"{run['repeat']} there, or {_WITH_WHAT_IT_WAS_PACKED}"
        )
    allowed = _kinds(planned[cell.path], study)
    if cell.data not in allowed:
        raise InputError(f"{source}: {path}: data {cell.data}: study {study.name} has {' or '.join(allowed)}")
    expected = replace(planned[cell.path], data=cell.data)
    for key, value in asdict(expected).items():
        if (found := getattr(cell, key)) != value:
            raise InputError(
                f"{source}: {path}: {key} {found} is not that of the study, {value}: it was trained at another size"
            )


def _kinds(cell: Cell, study: grid.Study) -> list[str]:
    """Return which data a configuration of a study may be trained on."""
    return ["own"] if cell.data == "own" else study.config["data"].split("-or-")


def take(source: Path, results: Path, given: str, pairs: Sequence[str] = ()) -> str:
    """Put the records of a kit's file below `results`, all or none, and return what was done and what to do next.

    `given` is the study that was asked for, a name or a path: that of the kit, if it is one of the reader's own;
    `pairs`, as KEY=VALUE, are what the kit was packed with in place of what the study says. The archive names a study,
    and no file: what is in it never decides what code is run.
    Raises InputError where a record is not whole, or its run has another record already.
    """
    runs, beside = records.read(source)
    packed = records.about(beside[records.ABOUT], str(source))["study"]
    machine, entry = records.machine(beside[records.MACHINE], str(source))
    given = given if Path(given).stem == packed else packed
    try:
        name, config = definition.read(given, asked.given(pairs))
    except InputError as error:
        raise InputError(f"{error}: name the file of study {packed}: epd kit take {source} --study PATH") from error
    catalogue = schemas.read_yaml(CATALOGUE, "hardware")
    study = grid.planned(name, config, catalogue)
    whole = {path: files for path, files in runs.items() if "run.json" in files}
    _check_all(source, whole, study, machine)
    with locked(results / "kit" / ".take.lock"):  # of two at once the second would not see what the first writes
        new, known = _put(source, whole, results / name)
    there_already = f", {len(known)} were there already" if known else ""
    lines = [f"{source}: {len(new)} runs taken into {results / name}{there_already}"]
    if whole and machine not in catalogue:
        lines += [f"{CATALOGUE} lacks {machine}; proposed, to be given a `rent` or `own`:"]
        lines += ["", *map(printable, entry.splitlines())]
    if whole and machine not in config["hardware"]:
        lines += [f"study {name}: hardware: add {machine}"]
    more = "".join(f" --config {shlex.quote(pair)}" for pair in pairs)
    lines += [f"then: ./epd report {shlex.quote(given)}{more}"]
    return "\n".join(lines)


def _check_all(source: Path, runs: Mapping[str, Mapping[str, bytes]], study: grid.Study, machine: str) -> None:
    """Raise InputError for the first of a machine's runs (path -> files) that is not right; see `check`."""
    with tempfile.TemporaryDirectory() as folder:
        for path, files in runs.items():
            (Path(folder) / path).mkdir(parents=True)
            for file, content in files.items():
                (Path(folder) / path / file).write_bytes(content)
            check(source, path, Path(folder) / path, study, machine)


def _put(source: Path, runs: Mapping[str, Mapping[str, bytes]], results: Path) -> tuple[list[str], list[str]]:
    """Write the records of runs (path -> files) below `results`, all or none.

    Return the runs that are new, and those that were there. Raises InputError as `take` does.
    """
    new: list[str] = []
    known: list[str] = []
    for path, files in runs.items():
        there = results / path / "run.json"
        if not there.is_file():
            new.append(path)
            continue
        known.append(path)
        for file in records.FILES:  # of a take that was killed, if its run was whole soon after
            sweep(there.with_name(file), within=results)
        before = records.files_of(there.parent)
        if differing := [file for file in records.FILES if before.get(file) != files.get(file)]:
            raise InputError(
                f"{source}: {path}: {there} is the record of another run: nothing was taken; "
                f"its {differing[-1]} is another; to take this one, move {results} away"
            )
    # run.json comes last of its run.
    places = {results / path / file: runs[path][file] for path in new for file in records.FILES if file in runs[path]}
    for place in places:
        check_place(place, within=results)
    try:
        with undone(places):
            for place, content in places.items():
                write_bytes(place, content, within=results)
    except InputError as error:
        raise InputError(f"{error}: nothing was taken") from error
    return new, known
