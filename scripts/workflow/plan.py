"""What a call of the workflow does: cells, runs and files, from config, catalogue and studies. Pure but for files.

The rules take its `get_*` as input functions: each gets the wildcards of a job (`study`, `workload`, `hardware`,
`framework`, `variant`, `repeat`, as far as the rule has them).
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from math import ceil
from pathlib import Path
from typing import Any

from scripts.records import about
from scripts.records.cell import LARGEST, Cell
from scripts.records.data_file import are_same, describe
from scripts.storage import brought, code, schemas
from scripts.storage.errors import InputError
from scripts.studies import commands, definition, grid

#: What of a cell is not its machine: workload, framework, variant.
Configuration = tuple[str, str, str]

#: Workload and framework. The configurations of a family share code and image, and wait for all their first runs
#: together: each wait has Snakemake go through all jobs once, and there are far fewer families than configurations.
Family = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Plan:
    """One call: its study and those that it shows, the machines, the profile, and which runs are its own.

    `asked` is the study as it was asked for, a name or a path. `runs` are the folders of the runs that this call trains
    where they are missing, in order; `others_runs` those that other profiles have trained.
    """

    name: str
    asked: str
    studies: dict[str, dict[str, Any]]
    catalogue: dict[str, Any]
    profile: str
    published: list[str]
    cells: dict[str, Cell] = field(default_factory=dict)
    tiers: dict[str, int] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    others_runs: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, config: Mapping[str, Any], kind_for: Callable[[str], Callable[[str], str]]) -> "Plan":
        """Return the plan of a config (of config/config.yaml, with what the command line says).

        `kind_for(policy)` returns what says `real` or `synthetic` for a data set. Raises InputError for bad input.
        """
        catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
        name, settings = definition.read(config["study"], dict(config))
        studies = dict(definition.read(study, {}) for study in config["published"])
        studies[name] = settings
        definition.check_machines(f"study {name}", settings, catalogue)
        studies = definition.beside(studies) | definition.compared(studies) | studies
        plan = cls(name, config["study"], studies, catalogue, config["profile"], list(config["published"]))
        return plan._expanded(kind_for(settings["data"])) if definition.is_trained_here(settings) else plan

    def _expanded(self, kind: Callable[[str], str]) -> "Plan":
        cores = len(os.sched_getaffinity(0))
        study = grid.expand(self.name, self.settings, self.catalogue, cores=cores, kind=kind)
        runs = [self.folder(cell, repeat) for cell, repeat in study.runs() if self.is_reached(cell.hardware)]
        others_runs = [
            folder
            for cell in study.cells
            if not self.is_reached(cell.hardware)
            for repeat in range(1, study.again().stop)
            if Path(folder := self.folder(cell, repeat), "run.json").is_file()
        ]
        # Without a run here, a kit can be packed still.
        if not runs and not others_runs and not grid.is_for_kit(study, self.catalogue):
            grid.check_reach(study, self.catalogue, self.profile)
        return replace(
            self,
            cells={cell.path: cell for cell in study.cells},
            tiers={cell.path: study.tier(cell) for cell in study.cells},
            runs=runs,
            others_runs=others_runs,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The config of the study that is asked for, with every default."""
        return self.studies[self.name]

    def folder(self, cell: Cell, repeat: int | str) -> str:
        """Return where the record of a run lies."""
        return f"results/{self.name}/{cell.path}/r{repeat}"

    def is_reached(self, hardware: str) -> bool:
        """Return whether the profile in use trains on a machine."""
        clusters = self.catalogue[hardware].get("clusters", {})
        return self.profile in clusters or (self.profile == "local" and not clusters)

    @cached_property
    def unreached(self) -> set[str]:
        """The machines of the study that the profile in use does not reach."""
        return {cell.hardware for cell in self.cells.values() if not self.is_reached(cell.hardware)}

    @property
    def is_judged(self) -> bool:
        """Whether cells are looked at for runs to be measured once more: not those of one run."""
        return bool(self.runs) and self.settings["repeats"] > 1

    def find_cell(self, run: str) -> Cell:
        """Return the cell of a run's folder."""
        return self.cells[str(Path(run).parent.relative_to(f"results/{self.name}"))]

    def configuration(self, run: str) -> Configuration:
        """Return the configuration of a run."""
        cell = self.find_cell(run)
        return cell.workload, cell.framework, cell.variant

    def note(self, family: Family) -> str:
        """Return where it is noted which variants of a family failed on the cheapest machine, and why (JSON)."""
        return f"results/{self.name}/tried/{self.profile}/{'/'.join(family)}.json"

    def is_given_up(self, run: str) -> bool:
        """Return whether a run waits until what failed on a cheaper machine is mended."""
        workload, framework, variant = self.configuration(run)
        note = Path(self.note((workload, framework)))
        failed = _read_note(note, note.stat().st_mtime_ns) if note.is_file() else {}
        return variant in failed and not Path(run, "run.json").is_file()

    def get_cell(self, wildcards: Any) -> Cell:
        """Return the cell of a job. Raises InputError if the study lacks it."""
        path = f"{wildcards.workload}/{wildcards.hardware}/{wildcards.framework}/{wildcards.variant}"
        if path not in self.cells:
            raise InputError(f"study {self.name} has no configuration {path}; `snakemake -n` lists them")
        return self.cells[path]

    def get_report(self, wildcards: Any) -> list[str]:
        """Return the report, its charts and its tables. Raises InputError if the study has no run to report.

        A report alone would not bring back a table or a chart that was lost, as in a call that was killed: it is
        newer than what it was made of, and asks for nothing.
        """
        if self.cells and not self.runs and not self.others_runs:
            raise InputError(
                f"study {self.name}: no profile trains on {', '.join(sorted(self.unreached))}: "
                f"`./epd kit pack {self.asked}` packs what is carried there, `./epd kit take FILE` takes in what "
                "comes back"
            )
        folder = f"results/{self.name}"
        tables = [f"{folder}/{table}.parquet" for table in ("runs", "epochs", "attempts", "costs", "prices")]
        charts = [f"{folder}/charts/{chart}" for chart in self.settings["charts"]]
        return [f"{folder}/report.html", *tables, *charts, *(f"{chart}.json" for chart in charts)]

    def workload_file(self, workload: str) -> str:
        """Return the file of a workload: the project's, or the user's own."""
        return self.settings["workload_files"].get(workload, f"scripts/workloads/{workload}.py")

    def get_module(self, wildcards: Any) -> str:
        """Return what trains a job's run: ourselves, or a program that is watched from outside."""
        return "scripts.observe" if wildcards.workload in self.commands else "scripts.train"

    @property
    def commands(self) -> dict[str, dict[str, Any]]:
        """The workloads of the study that are programs, by name."""
        return self.settings.get("commands", {})

    def _asked_of_command(self, cell: Cell, repeat: int) -> dict[str, Any]:
        return commands.asked(self.commands[cell.workload], cell, cell.seed(repeat))

    def get_arguments(self, wildcards: Any) -> list[str]:
        """Return the arguments of a training, so that any change of the cell is seen.

        With `python -m` and `get_module` before them they are the command that a person could type.
        """
        cell = self.get_cell(wildcards)
        if cell.workload in self.commands:
            repeat = int(wildcards.repeat)
            command = json.dumps(self._asked_of_command(cell, repeat))
            return ["--cell", json.dumps(asdict(cell)), "--repeat", str(repeat), "--command", command]
        workload = self.settings["workload_files"].get(cell.workload, cell.workload)
        return cell.arguments(int(wildcards.repeat), workload)

    def get_code(self, wildcards: Any) -> str:
        """Return a checksum of the code that decides how a job's run is trained: see `code.training`."""
        return self.code_of_cell(self.get_cell(wildcards))

    def code_of_cell(self, cell: Cell) -> str:
        """Return a checksum of the code that decides how a cell's runs are trained; of a command, see there."""
        if cell.workload in self.commands:
            return commands.code(self._asked_of_command(cell, 1))
        file, dataset = Path(self.workload_file(cell.workload)), about.workload(cell.workload).dataset
        return code.training(file, dataset, cell.framework, Path(self.lock(cell)))

    def is_current(self, run: str) -> bool:
        """Return whether a run is there, and was trained by the code as it is now; a record that does not say is."""
        record = Path(run, "run.json")
        if not record.is_file():
            return False
        try:
            trained_by = json.loads(record.read_text(encoding="utf-8"))["provenance"].get("code")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return True  # what is wrong with it is said when it is collected
        return trained_by in (None, self.code_of_cell(self.find_cell(run)))

    def has_other_data(self, wildcards: Any) -> bool:
        """Return whether a job's run was trained on other samples than those that are here; where both are, that is."""
        record = Path(self.folder(self.get_cell(wildcards), wildcards.repeat), "run.json")
        data = self.get_data(wildcards)
        if not isinstance(data, str) or not record.is_file() or not Path(data).is_file():
            return False
        try:
            trained_on = json.loads(record.read_text(encoding="utf-8"))["data"]
            return not are_same(trained_on, describe(Path(data)))
        except (OSError, ValueError, KeyError, TypeError):
            return False  # what is wrong with it is said when it is collected, or trained on

    def lock(self, cell: Cell) -> str:
        """Return what a cell's framework was installed from: for GPUs its CUDA build."""
        gpu = "-gpu" if "gpus" in self.catalogue[cell.hardware]["machine"] else ""
        return f"envs/{cell.framework}{gpu}.lock"

    def get_claims(self, wildcards: Any) -> str:
        """Return what a job's machine claims to be."""
        return json.dumps(self.catalogue[wildcards.hardware]["machine"], sort_keys=True)

    def get_data(self, wildcards: Any) -> str | list[str]:
        """Return the data file of a job's run, none for a workload that brings its own."""
        cell = self.get_cell(wildcards)
        dataset = about.workload(cell.workload).dataset
        return f"data/{cell.data}/{dataset}.npz" if dataset else []

    def get_searched(self, wildcards: Any) -> str | list[str]:
        """Return the first run of a cell with the largest batch size: it searches, the others take what it found."""
        cell = self.get_cell(wildcards)
        is_later = cell.batch_size == LARGEST and wildcards.repeat != "1"
        return f"<trained>/{self.name}/{cell.path}/r1/run.json" if is_later else []

    def get_image_name(self, wildcards: Any) -> str:
        """Return the name of the image that a job's framework comes in on a cluster; of a command, its own image."""
        if wildcards.workload in self.commands:
            return self.commands[wildcards.workload].get("image", "")
        gpus = "gpus" in self.catalogue[wildcards.hardware]["machine"]
        return f"{wildcards.framework}-{'gpu' if gpus else 'cpu'}"

    def get_labels(self, wildcards: Any) -> str:
        """Return what a bill can be split by."""
        return ",".join(f"{name}={value}" for name, value in [("study", self.name), *wildcards.items()])

    def submission(self) -> dict[str, Callable[[Any], Any]]:
        """Return the resources that the profile in use asks of the machines that it reaches: name -> its function."""
        names = [name for entry in self.catalogue.values() for name in entry.get("clusters", {}).get(self.profile, {})]
        return {name: self._get_submission(name) for name in names if name not in ("runtime", "modules")}

    def most_minutes(self, hardware: str, workload: str | None = None) -> float:
        """Return how long (minutes) a run, of any workload or of one, may take on a machine, in all its attempts."""
        return definition.most_minutes(self.settings, self.catalogue[hardware], self.profile, workload)

    def get_runtime(self, wildcards: Any) -> int:
        """Return the minutes that a job asks for."""
        return ceil(self.most_minutes(wildcards.hardware, wildcards.workload)) + definition.MORE_MINUTES

    def load_modules(self, hardware: str) -> str:
        """Return what a job's shell begins with on a machine whose entry names environment modules, else nothing.

        The Python that the clone was set up with stays the first one. The shell is strict only then, as the scripts
        of many clusters that say what `module` is are not.
        """
        modules = self.catalogue[hardware].get("clusters", {}).get(self.profile, {}).get("modules", "")
        if not modules:
            return ""
        here = shlex.quote(str(Path(sys.executable).parent))
        return (
            "type module > /dev/null 2>&1 || . /etc/profile; "
            f"module load {shlex.join(modules.split())} || exit; export PATH={here}:$PATH; set -euo pipefail; "
        )

    def _get_submission(self, name: str) -> Callable[[Any], Any]:
        # Without a word of it nothing is asked for: of a size that is 0, as Snakemake converts its unit.
        nothing = 0 if name in ("mem_mb", "disk_mb") else None
        return lambda wildcards: self.catalogue[wildcards.hardware]["clusters"][self.profile].get(name, nothing)

    @cached_property
    def own_code(self) -> list[str]:
        """The files of the study's own workloads, and the code that they may import from their folders."""
        each = self.settings.get("workload_files", {}).items()
        found = [brought.carried(definition.file(self.asked), {name: file}) for name, file in each]
        return sorted({os.path.relpath(path) for files in found for path in files.values()})

    @cached_property
    def kit_data(self) -> list[str]:
        """The real data sets that a kit of the study holds."""
        return sorted({name for name, kind in self.kinds.items() if kind == "real"})

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Which data each data set of the study has, `real` or `synthetic`."""
        kinds = {about.workload(cell.workload).dataset: cell.data for cell in self.cells.values()}
        return {name: kind for name, kind in kinds.items() if name}

    def get_kinds(self, wildcards: Any) -> str:
        """Return `kinds` as JSON."""
        return json.dumps(self.kinds, sort_keys=True)

    def get_cores(self, wildcards: Any) -> int:
        """Return the cores of a job's machine."""
        return self.catalogue[wildcards.hardware]["machine"]["cores"]

    def get_files(self, wildcards: Any, input: Any) -> list[str]:
        """Return the arguments for what the machine that trains finds where Snakemake has put it."""
        given = {"--data-file": input.data, "--searched": input.searched}
        return [word for option, file in given.items() if file for word in (option, str(file))]


@cache
def _read_note(note: Path, changed_ns: int) -> dict[str, str]:
    """Return the reasons of a note by variant; read once for thousands of runs, and again when it has changed."""
    return reasons(note.read_text(encoding="utf-8", errors="replace"))


def reasons(note: str) -> dict[str, str]:
    """Return variant -> reason of a note's text; none of one that is no such, so that what it held back is trained."""
    try:
        found = json.loads(note)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and all(isinstance(why, str) for why in found.values()) else {}
