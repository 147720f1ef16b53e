"""Runs of MLflow: folders of `mlruns`, and its database (`mlflow.db`).

A run has a beginning and an end, and each number that was logged has its moment. The clock is that of the metric with
the most rows, between the beginning of the run and its end. The workload is the experiment, and the model that the
parameters name, with those parameters in which its runs differ. The parent of other runs is none: its time is theirs.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from math import nan
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, _logs, _metrics, naming
from scripts.importers._logs import Log, Refused, Runs, finite, shown
from scripts.importers._recorder import stores
from scripts.importers._seconds import Said

HELP = "runs of MLflow: mlruns/<experiment>/<run>/meta.yaml, or mlflow.db"

FILE, DATABASES = "meta.yaml", (".db", ".sqlite", ".sqlite3")

#: As meta.yaml numbers them, and the database names them -> ours. A run that is not closed may have ended all the same.
_STATUS = {"4": "failed", "FAILED": "failed", "5": "killed", "KILLED": "killed"}
_OPEN = ("1", "2", "RUNNING", "SCHEDULED")

#: Parameters that name a model.
_MODEL = ("model_name", "model", "arch", "architecture", "model_type", "name_or_path")

_SYSTEM = "system/"

#: What is written back by `epd import --write-cost`, and no metric of a training.
COST = "cost_usd"

PARENT = "mlflow.parentRunId"

_RUNS = (
    "SELECT runs.*, experiments.name AS experiment FROM runs LEFT JOIN experiments USING (experiment_id) "
    "WHERE runs.lifecycle_stage = 'active' ORDER BY runs.start_time, runs.run_uuid"
)

#: A row more than there are runs: of an experiment that is there twice. MLflow's own tables have keys.
_MORE = "SELECT 1 FROM runs LEFT JOIN experiments USING (experiment_id) LIMIT 1 OFFSET (SELECT count(*) FROM runs)"

#: What of parameters and tags are words: SQLite lets any column hold any type.
_TEXTS = "typeof(key) = 'text' AND typeof(value) = 'text'"

#: Names of frameworks in tags and parameters -> ours.
_FRAMEWORKS = {"pytorch": "torch", "torch": "torch", "lightning": "torch", "transformers": "torch", "fastai": "torch"}
_FRAMEWORKS |= {name: name for name in ("keras", "tensorflow", "jax", "sklearn", "xgboost", "lightgbm")}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of MLflow below `folder`. Raises InputError if there is no such folder."""
    _logs.check(folder)
    names = _logs.log_names(folder, (".yaml", *DATABASES))
    runs = [name for name in names if looks(name, _beginning(folder / name))]
    return _logs.read_each(folder, layout, [(name, runs_of) for name in runs], "meta.yaml of runs, mlflow.db")


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(4096).decode("utf-8", "replace")


def looks(name: PurePosixPath, text: str) -> bool:
    """Return whether a file is one of these, by its name and its beginning."""
    if name.suffix in DATABASES:
        return text.startswith("SQLite format 3")
    return name.name == FILE and "lifecycle_stage" in text and ("run_id" in text or "run_uuid" in text)


def runs_of(log: Log) -> Runs:
    """Yield the run of a folder, or those of a database."""
    return _at_rest(log.path) if log.name.suffix in DATABASES else _of_folder(log)


def _of_folder(log: Log) -> Iterator[dict[str, Any]]:
    about = _logs.from_yaml(log.text, log.name.name)
    if not isinstance(about, dict):
        raise Refused("must be the keys of a run")
    place = log.path.parent
    rows: dict[str, list[stores.Logged]] = {}
    for path in sorted(path for path in (place / "metrics").rglob("*") if path.is_file()):
        name = path.relative_to(place / "metrics").as_posix()
        try:
            rows[name] = list(stores.metric(path.read_text(encoding="utf-8").splitlines(), name))
        except (OSError, ValueError) as error:
            raise Refused(f"metrics/{name}: must be lines of milliseconds, value and step") from error
    children = _children(place.parent, place.parent.stat().st_mtime_ns)[place.name]
    yield _run(about, rows, _texts(place / "params"), _texts(place / "tags"), _experiment(place.parent), children)


@lru_cache(maxsize=64)
def _children(experiment: Path, changed: int) -> Counter[str]:
    """Return how many runs of an experiment are those of another one, by its name; `changed` is when its folder was."""
    return Counter(
        file.read_text(encoding="utf-8", errors="replace").strip()
        for file in experiment.glob(f"*/tags/{PARENT}")
        if file.is_file()
    )


def _texts(folder: Path) -> dict[str, str]:
    """Return the parameters or tags of a run: a file each."""
    if not folder.is_dir():
        return {}
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")[:200] for path in files
    }


def _experiment(folder: Path) -> str:
    return str(_logs.beside(folder / FILE).get("name", ""))


def _at_rest(path: Path) -> Iterator[dict[str, Any] | Refused]:
    try:
        with stores.at_rest(path) as place:
            yield from _of_database(place)
    except OSError as error:
        raise Refused(f"its log {path.name}-wal cannot be read: {error.strerror}") from error


def _of_database(path: Path) -> Iterator[dict[str, Any] | Refused]:
    try:
        with closing(stores.connect(path)) as known:
            known.row_factory = sqlite3.Row
            if known.execute(_MORE).fetchone():
                raise Refused("experiments: one of them is there twice")
            runs = known.execute(_RUNS).fetchall()
            twice = {name for name, count in Counter(run["run_uuid"] for run in runs).items() if count > 1}
            named = {
                table: known.execute(f"SELECT run_uuid, key, value FROM {table} WHERE {_TEXTS}").fetchall()  # noqa: S608
                for table in ("params", "tags")
            }
            strange = f"SELECT DISTINCT run_uuid FROM metrics WHERE NOT ({stores.METRIC})"  # noqa: S608
            broken = {row[0] for row in known.execute(strange)}
    except sqlite3.Error as error:
        raise Refused(f"no database of MLflow: {error}") from error
    children = Counter(row["value"] for row in named["tags"] if row["key"] == PARENT)
    texts: dict[str, dict[str, dict[str, str]]] = {table: {} for table in named}
    for table, rows_of in named.items():
        for row in rows_of:
            found = texts[table].setdefault(row["run_uuid"], {})
            if found.setdefault(row["key"], row["value"]) != row["value"]:
                twice.add(row["run_uuid"])
    for run in runs:
        if run["run_uuid"] in twice:
            yield Refused(f"run {shown(str(run['run_uuid']))}: it, or one of its parameters or tags, is there twice")
            continue
        if run["run_uuid"] in broken:
            yield Refused(
                f"run {shown(str(run['run_uuid']))}: metrics: must be a name, milliseconds, a step and a value"
            )
            continue
        about = {key: None if isinstance(run[key], bytes) else run[key] for key in run.keys()}  # noqa: SIM118
        experiment = run["experiment"] if isinstance(run["experiment"], str) else ""
        rows: dict[str, list[stores.Logged]] = {}
        for one in stores.database(path, -1.0, run["run_uuid"], most=-1):
            rows.setdefault(next(iter(one.values)), []).append(one)
        parameters, tags = (texts[table].get(run["run_uuid"], {}) for table in ("params", "tags"))
        try:
            yield _run(about, rows, parameters, tags, experiment, children[run["run_uuid"]])
        except Refused as refused:
            yield refused


def run_ids(known: sqlite3.Connection) -> list[str]:
    """Return the names that a database has for its runs, in the order in which they are read."""
    known.row_factory = sqlite3.Row
    ids = [str(row["run_uuid"]) for row in known.execute(_RUNS)]
    known.row_factory = None
    return ids


def _run(
    about: Mapping[str, Any],
    rows: Mapping[str, Sequence[stores.Logged]],
    parameters: Mapping[str, str],
    tags: Mapping[str, str],
    experiment: str,
    children: int,
) -> dict[str, Any]:
    """Return the facts of a run. Raises Refused for one that was deleted, or is no training."""
    if about.get("lifecycle_stage") == "deleted":
        raise Refused("the run was deleted")
    if children:
        raise Refused(f"the parent of {children} runs: its time is theirs")
    own = {name: logged for name, logged in rows.items() if logged and name != COST and not name.startswith(_SYSTEM)}
    began, ended = (finite(about.get(key)) for key in ("start_time", "end_time"))
    if not own and ended is None:
        raise Refused("nothing was logged, and the run has no end")
    longest = max(own.values(), key=len, default=[])
    status = str(about.get("status"))
    values = {
        name: [row.values.get(name, nan) for row in sorted(logged, key=lambda row: (row.step, row.at))]
        for name, logged in own.items()
    }
    cards = {name.split("_")[1] for name in rows if name.startswith(f"{_SYSTEM}gpu_")}
    epochs = _metrics.epochs(values)
    facts = _metrics.last(values)
    return {
        **facts,
        "workload": _workload(experiment, parameters),
        "settings": parameters,
        "name": about.get("run_name") or about.get("name") or tags.get("mlflow.runName"),
        "framework": _framework(tags, parameters),
        "batch_size": _metrics.batch_size(parameters),
        "devices": len(cards) or None,
        "status": _STATUS.get(status, facts["status"]),
        "epochs_done": _metrics.whole(epochs),
        "steps_done": _metrics.steps(row.step for row in longest),
        "notes": ["the run was never closed: it has no end"] if status in _OPEN or ended is None else [],
        "said": Said(
            clock=[(row.at, row.step) for row in longest],
            began=began / 1000 if began else None,
            ended=ended / 1000 if ended else None,
            epochs=epochs,
            lacks="the run has no beginning and no end, and its numbers are of one moment",
        ),
    }


def _workload(experiment: str, parameters: Mapping[str, str]) -> str | None:
    """Return the experiment and the model that a run names; None where it names neither."""
    named = {naming.plain(name): value for name, value in parameters.items()}
    model = next((named[key].rpartition("/")[2] for key in _MODEL if named.get(key)), "")
    parts = ["" if experiment in ("Default", "") else naming.slug(experiment), naming.slug(model)]
    return "-".join(filter(None, parts))[:100] or None


def _framework(tags: Mapping[str, str], parameters: Mapping[str, str]) -> str | None:
    """Return the framework that a run names: MLflow's own logging of it, or a parameter; None where it names none."""
    names = [tags.get("mlflow.autologging", ""), parameters.get("framework", ""), tags.get("framework", "")]
    words = " ".join(names).lower()
    return next((ours for word, ours in _FRAMEWORKS.items() if word in words), None)
