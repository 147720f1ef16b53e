"""Check the records that a kit brought back, put them into their study, and propose the machine's catalogue entry."""

import argparse
import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from scripts.analysis import runs as recorded
from scripts.kit import records
from scripts.measurement import record
from scripts.measurement.cell import Cell
from scripts.storage import errors, schemas
from scripts.storage.errors import InputError
from scripts.storage.files import replacing
from scripts.studies import definition, grid

CATALOGUE = Path("config/hardware.yaml")


def check(source: Path, path: str, folder: Path, study: grid.Study) -> Cell:
    """Return the cell of a run whose files lie in `folder`: whole, the run of that path, and one of the study.

    Raises InputError that names file, run and what is wrong.
    """
    try:
        run = recorded.read(folder / "run.json")
        record.read_epochs(folder / "epochs.csv")
    except InputError as error:
        raise InputError(f"{source}: {str(error).replace(f'{folder}/', f'{path}/')}") from error
    cell = Cell(**run["cell"])
    named = f"{cell.path}/r{run['repeat']}"
    if named != path:
        raise InputError(f"{source}: {path}: its record is of {named}")
    if run["seed"] != cell.seed(run["repeat"]):
        raise InputError(f"{source}: {path}: seed {run['seed']} is not that of the run, {cell.seed(run['repeat'])}")
    planned = {replace(one, hardware=cell.hardware, data=cell.data).path: one for one in study.cells}
    if cell.path not in planned:
        raise InputError(f"{source}: {path}: study {study.name} has no such cell")
    expected = replace(planned[cell.path], hardware=cell.hardware, data=cell.data)
    for key, value in asdict(expected).items():
        if (found := getattr(cell, key)) != value:
            raise InputError(
                f"{source}: {path}: {key} {found} is not that of the study, {value}: it was trained at another size"
            )
    return cell


def take(source: Path, results: Path, given: str) -> str:
    """Put the records of a kit's file below `results`, all or none, and return what was done and what to do next.

    `given` is the study that was asked for, a name or a path: that of the kit, if it is one of the reader's own.
    Raises InputError where a record is not whole, or its run has another record already.
    """
    runs, beside = records.read(source)
    packed = json.loads(beside[records.ABOUT])["study"]
    given = given if Path(given).stem == packed else packed
    try:
        name, config = definition.read(given, {})
    except InputError as error:
        raise InputError(f"{error}: name the file of study {packed}: --config study=PATH file={source}") from error
    catalogue = schemas.read_yaml(CATALOGUE, "hardware")
    study = grid.planned(name, config, catalogue)
    whole = {path: files for path, files in runs.items() if "run.json" in files}
    new: list[str] = []
    known: list[str] = []
    machines: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for path, files in whole.items():
            (Path(folder) / path).mkdir(parents=True)
            for file, content in files.items():
                (Path(folder) / path / file).write_bytes(content)
            machines.add(check(source, path, Path(folder) / path, study).hardware)
            there = results / name / path / "run.json"
            if there.is_file() and there.read_bytes() != files["run.json"]:
                raise InputError(
                    f"{source}: {path}: {there} is the record of another run: nothing was taken; "
                    f"to take this one, move {results / name} away"
                )
            (known if there.is_file() else new).append(path)
    for path in new:
        for file in records.FILES:  # run.json comes last
            if file in whole[path]:
                with replacing(results / name / path / file) as temporary:
                    temporary.write_bytes(whole[path][file])
    there_already = f", {len(known)} were there already" if known else ""
    lines = [f"{source}: {len(new)} runs taken into {results / name}{there_already}"]
    if missing := sorted(machines - set(catalogue)):
        lines += [f"{CATALOGUE} lacks {', '.join(missing)}; proposed, to be given a `rent` or `own`:"]
        lines += ["", beside[records.MACHINE].decode()]
    if machines - set(config["hardware"]):
        lines += [f"study {name}: hardware: add {', '.join(sorted(machines - set(config['hardware'])))}"]
    lines += [f"then: snakemake --profile profiles/local --config study={given}"]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the file of records (.zip)")
    parser.add_argument("--study", required=True, help="name or path of the study, if it is not the project's")
    parser.add_argument("--results", type=Path, default=Path("results"), help="(default: results)")
    options = parser.parse_args()
    if not options.file:
        raise InputError("which records? snakemake take_kit --config file=PATH")
    print(take(Path(options.file), options.results, options.study), flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
