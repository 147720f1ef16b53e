"""Train the most informative runs of a kit's study on this machine, as many as end within some minutes.

Needs a Python with the frameworks and nothing else: no network, no Snakemake. Every run is packed into one file as soon
as it has ended; with that file the same command goes on, on a machine that was wiped, too. Exit codes: 0 nothing is
left, or nothing that ends in time; 1 stopped before (the cards are in use, the disk is full); 2 this machine or
what was typed does not fit; 130 ended by a signal.
"""

import argparse
import json
import lzma
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

if __package__ in (None, ""):  # `python kit/scripts/run_kit.py`: Python puts scripts/ on the path, not its parent
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.kit import records, wheels
from scripts.storage import environment, errors
from scripts.storage.errors import InputError
from scripts.storage.files import locked, replacing, write_text

ROOT = Path(__file__).resolve().parents[1]

#: Free space (MiB) without which nothing is started: data, packages and records of a kit take less.
_NEEDED_MIB = 512


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def parse(arguments: list[str] | None, study: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bash kit/run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=_minutes, required=True, help="nothing is started that would not end in time")
    parser.add_argument("--study", choices=[study], default=study, help="(default: the kit's)")
    parser.add_argument(
        "--records",
        type=Path,
        default=Path(f"{study}-records.zip"),
        help=f"the file that grows run by run, from which a later call goes on (default {study}-records.zip)",
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="train what has failed again, in place of its record"
    )
    parser.add_argument("--cpu", action="store_true", help="measure the processor: also where there is no card")
    return parser.parse_args(arguments)


def _unpack_data() -> None:
    for packed in sorted((ROOT / "data").glob("*/*.npz.xz")):
        data = packed.with_suffix("")
        if not data.exists():
            print(f"unpacking {data.name}", flush=True)
            with replacing(data) as temporary, lzma.open(packed) as source, temporary.open("wb") as target:
                shutil.copyfileobj(source, target, 2**20)


def _check_machine(about: Mapping[str, Any], cpu: bool) -> tuple[str, dict[str, str]]:
    """Print a line for each thing a training needs; return the machine's name, and why a framework cannot train.

    Raises InputError where nothing can be trained.
    """
    from scripts.kit import machine
    from scripts.kit.session import say
    from scripts.measurement import hardware
    from scripts.storage import schemas

    found = hardware.detect()
    if cpu:
        found |= {"gpus": [], "gpu_driver": None}
    elif not found["gpus"]:
        why = "no NVIDIA driver answers" if found["gpu_driver"] is None else f"driver {found['gpu_driver']} shows none"
        raise InputError(f"card: {why}; --cpu measures the processor instead")
    elif used := machine.in_use():
        raise InputError(f"{used}: what is measured beside them would be wrong")
    for index, gpu in enumerate(found["gpus"]):
        say(f"card {index}: {gpu['model']}, {gpu['memory_mib']} MiB, driver {found['gpu_driver']}")
    say(f"processor: {found['cpu_model']}, {found['cores']} cores, {found['memory_mib']} MiB")
    if (free := machine.disk_free_mib(ROOT)) < _NEEDED_MIB:
        raise InputError(f"disk: {free:.0f} MiB free at {ROOT}, {_NEEDED_MIB} are needed")
    catalogue_file = ROOT / "config" / "hardware.yaml"
    catalogue = schemas.read_yaml(catalogue_file, "hardware")
    name, entry = machine.entry(catalogue, found)
    text = machine.entry_text(name, entry, found)
    if name not in catalogue:
        write_text(catalogue_file, catalogue_file.read_text(encoding="utf-8") + text)
    write_text(ROOT / records.MACHINE, text)
    say(f"catalogue: {name}: {entry['label']}{'' if name in catalogue else ' (new)'}")
    asked = list(dict.fromkeys(run["cell"]["framework"] for run in about["runs"]))
    say(f"starting {', '.join(asked)}: some seconds")
    problems = {}
    for probed in machine.probe(asked, entry["machine"]["cores"], 1 if found["gpus"] else 0):
        versions = ", ".join(f"{package} {number}" for package, number in probed.versions.items())
        if probed.problem:
            problems[probed.framework] = probed.problem
            say(f"missing: {probed.framework}: {probed.problem}: its runs are left out")
        else:
            say(f"framework {probed.framework}: {versions} on {', '.join(probed.devices)}")
    if len(problems) == len(asked):
        raise InputError(f"none of {', '.join(asked)} can train here")
    return name, problems


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the kit's folder: two at once would measure each other."""
    with locked(ROOT / ".running", wait=False) as held:
        if held is None:
            raise InputError(f"{ROOT}: another call of this kit is training")
        yield


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _about() -> dict[str, Any]:
    try:
        return json.loads((ROOT / records.ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{ROOT / records.ABOUT}: {why}: this is not an unpacked kit (make kit)") from error


def _prepare(about: Mapping[str, Any]) -> None:
    """Unpack packages and data, and say to the trainings where they are."""
    brought = wheels.unpack(ROOT / "wheels", ROOT / "site", about["study"])
    print(f"Python {sys.version.split()[0]}; from the kit: {', '.join(brought) or 'no package'}", flush=True)
    path = [str(ROOT / "site"), os.environ.get("PYTHONPATH", "")]
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        environment.COMMIT.name: json.dumps(about["commit"]),
        "XDG_CACHE_HOME": str(ROOT / ".cache"),
    }
    _unpack_data()


def main(arguments: list[str] | None = None) -> int:
    began = monotonic()
    signal.signal(signal.SIGTERM, _interrupt)
    about = _about()
    options = parse(arguments, about["study"])
    archive = options.records.resolve()
    if not archive.parent.is_dir():
        raise InputError(f"--records: {archive.parent}: no such folder")
    if archive.exists():
        records.read(archive)  # a damaged one is refused before anything takes time
    with _alone():
        print(f"kit {about['study']} of commit {(about['commit'] or ['unknown'])[0][:12]}, {about['made_at']}")
        _prepare(about)
        name, problems = _check_machine(about, options.cpu)
        from scripts.kit import machine
        from scripts.kit.session import Session, Stopped, runs_of, say

        runs = [run for run in runs_of(about, name) if run.cell.framework not in problems]
        session = Session(about, archive, name, began + 60 * options.minutes, runs, options.retry_failed)
        session.restore()
        code, why = 0, ""
        try:
            why = session.work((lambda: None) if options.cpu else machine.in_use)
        except (Stopped, InputError, OSError) as error:
            code, why = 1, str(error)
        except KeyboardInterrupt:
            code, why = 130, "ended by a signal"
        say(why)
        for run, reason in session.lost.items():
            say(f"without a record: {run.path}: {reason}")
        left = len(session.runs) - session.done()
        say(f"{session.done()} of {len(session.runs)} runs are in {archive}; {left} are left for the same command")
        return code


if __name__ == "__main__":
    errors.run(main)
