"""Check the records that a kit brought back, put them into their study, and propose the machine's catalogue entry."""

import argparse
import json
import tempfile
from pathlib import Path

from scripts import collect, frameworks, workloads
from scripts.analysis import runs as recorded
from scripts.kit import records
from scripts.measurement import record
from scripts.measurement.cell import Cell
from scripts.storage import errors, schemas
from scripts.storage.errors import InputError
from scripts.storage.files import replacing
from scripts.studies import grid

CATALOGUE = Path("config/hardware.yaml")


def check(source: str, path: str, folder: Path, study: str) -> Cell:
    """Return the cell of a run whose files lie in `folder`, checked as `collect` does.

    Raises InputError that names file, key and value where it is not the run of that name.
    """
    run = recorded.read(folder / "run.json")
    cell = Cell(**run["cell"])
    named = f"{cell.path}/r{run['repeat']}"
    if named != path:
        raise InputError(f"{source}: {path}: its record is of {named}")
    if cell.workload not in workloads.names():
        raise InputError(f"{source}: {path}: workload {cell.workload!r} is unknown; study {study} must name its file")
    if cell.framework not in frameworks.names():
        raise InputError(f"{source}: {path}: framework {cell.framework!r} is unknown")
    if run["seed"] != cell.seed(run["repeat"]):
        raise InputError(f"{source}: {path}: seed {run['seed']} is not that of the run, {cell.seed(run['repeat'])}")
    record.read_epochs(folder / "epochs.csv")
    collect.run_row(path, run)
    return cell


def take(source: Path, results: Path, given: str) -> str:
    """Put the records of a kit's file below `results`, all or none, and return what was done and what to do next.

    `given` is the study that was asked for, a name or a path: that of the kit, if it is one of the reader's own.
    Raises InputError where a record is not whole, or its run has another record already.
    """
    runs, beside = records.read(source)
    study = json.loads(beside[records.ABOUT])["study"]
    name, config = grid.read(given if Path(given).stem == study else study, {})
    whole = {path: files for path, files in runs.items() if "run.json" in files}
    new: list[str] = []
    known: list[str] = []
    machines: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for path, files in whole.items():
            (Path(folder) / path).mkdir(parents=True)
            for file, content in files.items():
                (Path(folder) / path / file).write_bytes(content)
            machines.add(check(str(source), path, Path(folder) / path, name).hardware)
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
    catalogue = schemas.read_yaml(CATALOGUE, "hardware")
    if missing := sorted(machines - set(catalogue)):
        lines += [f"{CATALOGUE} lacks {', '.join(missing)}; proposed, to be given a `rent` or `own`:"]
        lines += ["", beside[records.MACHINE].decode()]
    if machines - set(config["hardware"]):
        lines += [f"study {name}: hardware: add {', '.join(sorted(machines - set(config['hardware'])))}"]
    lines += [f"next: snakemake --profile profiles/local --config study={given if given.endswith('.yaml') else name}"]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the file of records (.zip)")
    parser.add_argument("--study", required=True, help="name or path of the study, if it is not the project's")
    parser.add_argument("--results", type=Path, default=Path("results"), help="(default: results)")
    options = parser.parse_args()
    print(take(options.file, options.results, options.study), flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
