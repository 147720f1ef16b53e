"""What a call of the workflow does: cells, runs and files, told from config, catalogue and studies. Pure but for files.

The rules take its `get_*` as input functions: each gets the wildcards of a job (`study`, `workload`, `hardware`,
`framework`, `variant`, `repeat`, as far as the rule has them).
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts import workloads
from scripts.measurement.cell import LARGEST, Cell
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import grid
from scripts.workflow import code

#: What of a study's config is the page's alone: its charts are drawn again for no new title, claim or other chart.
_OF_THE_PAGE = ("title", "summary", "claims", "charts", "beside", "targets", "tiers")

#: What of it only charts of costs show.
_OF_MONEY = ("book", "price", "prices")


@dataclass(repr=False)
class Plan:
    """One call: its study and those that it shows, the machines, the profile, and which runs are its own.

    `asked` is the study as it was asked for, a name or a path. `runs` are the folders of the runs that this call trains
    where they are missing, in order; `others_runs` those that other profiles have trained; `remeasured` the numbers of
    the runs that an unstable cell gets once more.
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
    remeasured: range = range(0)

    @classmethod
    def of(cls, config: Mapping[str, Any], kind_for: Callable[[str], Callable[[str], str]]) -> "Plan":
        """Return the plan of a config (of config/config.yaml, with what the command line says).

        `kind_for(policy)` returns what tells `real` or `synthetic` for a data set. Raises InputError for bad input.
        """
        catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
        name, settings = grid.read(config["study"], dict(config))
        studies = dict(grid.read(study, {}) for study in config["published"])
        studies[name] = settings
        studies = grid.beside(studies) | studies
        plan = cls(name, config["study"], studies, catalogue, grid.profile(dict(config)), list(config["published"]))
        if grid.is_trained_here(settings):
            plan._expand(kind_for(settings["data"]))
        return plan

    def _expand(self, kind: Callable[[str], str]) -> None:
        cores = len(os.sched_getaffinity(0))
        study = grid.expand(self.name, self.settings, self.catalogue, cores=cores, kind=kind)
        self.cells = {cell.path: cell for cell in study.cells}
        self.tiers = {cell.path: study.tier(cell) for cell in study.cells}
        self.runs = [self.folder(cell, repeat) for cell, repeat in study.runs() if self.is_reached(cell.hardware)]
        self.remeasured = study.again()
        self.others_runs = [
            folder
            for cell in study.cells
            if not self.is_reached(cell.hardware)
            for repeat in range(1, self.remeasured.stop)
            if Path(folder := self.folder(cell, repeat), "run.json").is_file()
        ]
        # Without a run here, a kit can be packed still.
        if not self.runs and not self.others_runs and not grid.is_for_kit(study, self.catalogue):
            grid.check_reach(study, self.catalogue, self.profile)

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

    @cached_property
    def brought(self) -> list[str]:
        """The studies whose tables were supplied."""
        return [name for name, study in self.studies.items() if grid.is_grid(study) and study["tables"]]

    @cached_property
    def imported(self) -> list[str]:
        """The studies that show logs or figures of others."""
        return [name for name, study in self.studies.items() if not grid.is_grid(study)]

    @property
    def is_judged(self) -> bool:
        """Whether cells are looked at for a second measurement: a single run has no spread."""
        return bool(self.runs) and self.settings["repeats"] > 1

    def find_cell(self, run: str) -> Cell:
        """Return the cell of a run's folder."""
        return self.cells[str(Path(run).parent.relative_to(f"results/{self.name}"))]

    def get_cell(self, wildcards: Any) -> Cell:
        """Return the cell of a job. Raises InputError if the study has none such."""
        path = f"{wildcards.workload}/{wildcards.hardware}/{wildcards.framework}/{wildcards.variant}"
        if path not in self.cells:
            raise InputError(f"study {self.name} has no cell {path}; `snakemake -n` lists them")
        return self.cells[path]

    def get_report(self, wildcards: Any) -> str:
        """Return the report. Raises InputError if the study has no run to report."""
        if self.cells and not self.runs and not self.others_runs:
            raise InputError(
                f"study {self.name}: no profile trains on {', '.join(sorted(self.unreached))}: "
                f"`make kit STUDY={self.asked}` packs what is carried there, `snakemake take_kit --config file=...` "
                "takes in what comes back"
            )
        return f"results/{self.name}/report.html"

    def study(self, wildcards: Any) -> dict[str, Any]:
        """Return the config of a job's study."""
        return self.studies[wildcards.study]

    def get_study(self, wildcards: Any) -> str:
        """Return the study's config as one string, so that any change of it is seen."""
        return json.dumps(self.study(wildcards))

    def get_pricing(self, wildcards: Any) -> str:
        """Return what of a study's config decides what its runs cost."""
        return json.dumps({key: self.study(wildcards)[key] for key in ("machines", "book", "prices")})

    def get_charted(self, wildcards: Any) -> str:
        """Return what of a study's config a chart shows."""
        hidden = {*_OF_THE_PAGE, *(() if self._shows_money(wildcards) else _OF_MONEY)}
        return json.dumps({key: value for key, value in self.study(wildcards).items() if key not in hidden})

    def get_names(self, wildcards: Any) -> str:
        """Return what a study's machines are called: a price in their entries draws no chart again."""
        machines = grid.machines(self.study(wildcards), self.catalogue)
        return json.dumps({name: about["label"] for name, about in machines.items()})

    def get_money(self, wildcards: Any) -> list[str]:
        """Return the tables of costs and prices for a chart that shows them."""
        tables = ("costs", "prices") if self._shows_money(wildcards) else ()
        return [f"results/{wildcards.study}/{table}.parquet" for table in tables]

    def get_chart_code(self, wildcards: Any) -> list[str]:
        """Return the code of a chart."""
        return code.code_of("scripts.chart", f"scripts.charts.{wildcards.chart.partition('.')[0]}")

    def _shows_money(self, wildcards: Any) -> bool:
        return code.reads(f"scripts.charts.{wildcards.chart.partition('.')[0]}", ("costs", "tables"))

    def get_import(self, wildcards: Any) -> str:
        """Return what of a study's config decides how its logs are read: a new price or chart reads none again."""
        study = self.study(wildcards)
        return json.dumps({"import": study["import"], "machines": list(study["machines"])})

    def get_books(self, wildcards: Any) -> list[str]:
        """Return the files of the price books that a study names."""
        study = self.study(wildcards)
        named = [study["book"], *(option.get("book", []) for option in study["prices"].values())]
        names = [name for books in named for name in ([books] if isinstance(books, str) else books)]
        return [name if name.endswith(".csv") else f"config/prices/{name}.csv" for name in dict.fromkeys(names)]

    def get_brought(self, table: str) -> Callable[[Any], str]:
        """Return what tells where a table of a study lies that was trained before."""
        return lambda wildcards: f"{self.study(wildcards)['tables']}/{table}"

    def get_charts(self, wildcards: Any) -> list[str]:
        """Return the folders of a study's charts, in order."""
        return [f"results/{wildcards.study}/charts/{chart}" for chart in self.study(wildcards)["charts"]]

    def workload_file(self, workload: str) -> str:
        """Return the file of a workload: the project's, or the user's own."""
        return self.settings["workload_files"].get(workload, f"scripts/workloads/{workload}.py")

    def get_arguments(self, wildcards: Any) -> str:
        """Return the arguments of a training as one string, so that any change of the cell is seen.

        It is the command that a person could type.
        """
        cell = self.get_cell(wildcards)
        target = "" if cell.target is None else f" --target {cell.target:g}"
        return (
            f"--workload {self.settings['workload_files'].get(cell.workload, cell.workload)} "
            f"--hardware {cell.hardware} "
            f"--framework {cell.framework} --batch-size {cell.batch_size} --mode {cell.mode} "
            f"--precision {cell.precision} --devices {cell.devices} --epochs {cell.epochs} --samples {cell.samples:g} "
            f"--data {'real' if cell.data == 'own' else cell.data} --repeat {wildcards.repeat} "
            f"--seed {cell.seed(int(wildcards.repeat))}{target}"
        )

    def get_code(self, wildcards: Any) -> str:
        """Return a checksum of the code that decides how a job's run is trained: see `code.training`."""
        return self.code_of_cell(self.get_cell(wildcards))

    def code_of_cell(self, cell: Cell) -> str:
        """Return a checksum of the code that decides how a cell's runs are trained."""
        file, dataset = Path(self.workload_file(cell.workload)), workloads.workload(cell.workload).DATASET
        return code.training(file, dataset, cell.framework, Path(self.lock(cell)))

    def is_current(self, run: str) -> bool:
        """Return whether a run is there, and was trained by the code as it is now; a record that does not tell is."""
        record = Path(run, "run.json")
        if not record.is_file():
            return False
        trained_by = json.loads(record.read_text(encoding="utf-8"))["provenance"].get("code")
        return trained_by in (None, self.code_of_cell(self.find_cell(run)))

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
        dataset = workloads.workload(cell.workload).DATASET
        return f"data/{cell.data}/{dataset}.npz" if dataset else []

    def get_searched(self, wildcards: Any) -> str | list[str]:
        """Return the first run of a cell with the largest batch size: it searches, the others take what it found."""
        cell = self.get_cell(wildcards)
        is_later = cell.batch_size == LARGEST and wildcards.repeat != "1"
        return f"<trained>/{self.name}/{cell.path}/r1/run.json" if is_later else []

    def get_image_name(self, wildcards: Any) -> str:
        """Return the name of the image that a job's framework comes in on a cluster."""
        gpus = "gpus" in self.catalogue[wildcards.hardware]["machine"]
        return f"{wildcards.framework}-{'gpu' if gpus else 'cpu'}"

    def get_labels(self, wildcards: Any) -> str:
        """Return what a bill can be split by."""
        return ",".join(f"{name}={value}" for name, value in [("study", self.name), *wildcards.items()])

    def submission(self) -> dict[str, Callable[[Any], Any]]:
        """Return the resources that the profile in use asks of the machines that it reaches: name -> its function."""
        names = [name for entry in self.catalogue.values() for name in entry.get("clusters", {}).get(self.profile, {})]
        return {name: self._get_submission(name) for name in names}

    def _get_submission(self, name: str) -> Callable[[Any], Any]:
        # Without a word of it nothing is asked for: of a size that is 0, as Snakemake converts its unit.
        nothing = 0 if name in ("mem_mb", "disk_mb") else None
        return lambda wildcards: self.catalogue[wildcards.hardware]["clusters"][self.profile].get(name, nothing)

    @cached_property
    def kit_data(self) -> list[str]:
        """The real data sets that a kit of the study holds."""
        return sorted({name for name, kind in self.kinds.items() if kind == "real"})

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Which data each data set of the study has, `real` or `synthetic`."""
        kinds = {workloads.workload(cell.workload).DATASET: cell.data for cell in self.cells.values()}
        return {name: kind for name, kind in kinds.items() if name}

    def get_kinds(self, wildcards: Any) -> str:
        """Return `kinds` as JSON."""
        return json.dumps(self.kinds, sort_keys=True)

    def _import(self, wildcards: Any) -> dict[str, Any]:
        return self.study(wildcards).get("import", {})

    def get_facts(self, wildcards: Any) -> str | list[str]:
        """Return the table of an imported study's runs: given, made from logs, or none for a study of figures."""
        given = self._import(wildcards)
        return given.get("facts", f"results/{wildcards.study}/facts.csv") if given else []

    def get_problems(self, wildcards: Any) -> str | list[str]:
        """Return what the importer refused, where the logs are read here."""
        return f"results/{wildcards.study}/problems.txt" if self._reads_logs(wildcards) else []

    def get_log_epochs(self, wildcards: Any) -> str | list[str]:
        """Return the epochs of an imported study, where the logs are read here: committed facts keep totals."""
        return f"results/{wildcards.study}/log-epochs.parquet" if self._reads_logs(wildcards) else []

    def _reads_logs(self, wildcards: Any) -> bool:
        given = self._import(wildcards)
        return bool(given) and "facts" not in given

    def get_importer_code(self, wildcards: Any) -> list[str]:
        """Return the code that reads a study's logs: its own format's, and none of another."""
        return code.code_of("scripts.import_logs", f"scripts.importers.formats.{self._import(wildcards)['format']}")

    def get_logs(self, wildcards: Any) -> list[str]:
        """Return every log file in the folder of an imported study: a new or changed one is read again."""
        folder = self._import(wildcards).get("folder")
        found = sorted(Path(folder).rglob("*")) if folder else []
        return [str(file) for file in found if file.is_file()]

    def get_others(self, wildcards: Any) -> list[str]:
        """Return the facts of other studies, for an imported one: a log of one may be a log of another."""
        if not self._import(wildcards):
            return []
        shown = [self.studies[name].get("import", {}) for name in self.published]
        return [about["facts"] for about in shown if "facts" in about] + self._import(wildcards).get("others", [])

    def get_words(self, wildcards: Any) -> str | list[str]:
        """Return the words of the tables that a study derives, if somebody wrote any."""
        words = f"reports/words/{wildcards.study}.yaml"
        return words if Path(words).is_file() else []

    def get_report_arguments(self, wildcards: Any, input: Any) -> list[str]:
        """Return what the report is given of some studies only: words, and where imported runs are from."""
        words = ["--words", input.words] if input.words else []
        problems = ["--problems", input.problems] if input.problems else []
        facts = ["--facts", input.facts, "--others", *input.others] if input.facts else []
        return [*words, *problems, *facts]

    def _beside(self, wildcards: Any) -> dict[str, dict[str, Any]]:
        return grid.beside({"": self.study(wildcards)})

    def get_beside(self, wildcards: Any) -> list[str]:
        """Return the runs of the studies that stand beside a study."""
        return [f"results/{name}/runs.parquet" for name in self._beside(wildcards)]

    def get_beside_facts(self, wildcards: Any) -> list[str]:
        """Return the committed facts of these studies: the report says which of their logs are those of others."""
        given = [study.get("import", {}) for study in self._beside(wildcards).values()]
        return [file for about in given if "facts" in about for file in (about["facts"], *about.get("others", []))]

    def get_beside_arguments(self, wildcards: Any, input: Any) -> list[str]:
        """Return what the report is told of the studies beside it; nothing where there are none."""
        keys = ("title", "published", "machines", "import")
        others = [{key: study[key] for key in keys if key in study} for study in self._beside(wildcards).values()]
        return ["--beside", json.dumps(others), *input.beside] if others else []
