"""A small study in a folder, imported or trained, and the command line of each verb that makes a part of it."""

import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import yaml

from scripts.records import record
from scripts.records.samples import Sample
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import definition
from scripts.workflow.analyses import Analyses
from tests import made

ROOT = definition.ROOT

BOOK = """\
provider,item,region,purchase,rate,rate_low,rate_high,currency,per,as_of,source,inferred
gce,box,,on-demand,0.1,,,USD,hour,2026-01-02,a page,a guess
gce,box,,spot,0.05,,,USD,hour,2026-01-02,a page,
"""

_OWN = {"acquisition_usd": 4200, "life_months": 36, "power_watts": 600, "usd_per_kwh": 0.25, "hours_per_month": 200}

#: What a study of logs says, each text that a person can give among it.
IMPORTED: dict[str, Any] = {
    "title": "Old logs",
    "summary": "One paragraph.",
    "published": {"title": "An article", "by": "Them", "date": "2026", "url": "http://localhost", "licence": "MIT"},
    "machines": {
        "k80": {"label": "K80", "rent": {"provider": "gce", "items": {"box": 1}}},
        "own": {"label": "our own", "own": _OWN | {"as_of": "2026-01-02", "source": "invoice 1", "inferred": "all"}},
    },
    "base": {"hardware": "k80", "framework": "tensorflow"},
    "price": "as-it-is",
    "prices": {
        "as-it-is": {"label": "as it is"},
        "committed": {
            "label": "for a year",
            "purchase": "on-demand",
            "instead": {"own": {"provider": "gce", "items": {"box": 2}}},
            "discount": {"share": 0.3, "source": "a page"},
        },
        "spot": {
            "label": "what is left over",
            "purchase": "spot",
            "preemption": {"preemptions_per_hour": 0.1, "restart_seconds": 60, "source": "a page"},
        },
    },
    "claims": [
        {"says": "Half.", "check": "ratio", "by": "train_seconds", "cell": {"hardware": "own"},
         "than": {"hardware": "k80"}, "between": [0.4, 0.6], "note": "a note"},
        {"says": "Cheaper.", "check": "less", "by": "cost_usd", "cell": {"hardware": "own"},
         "than": {"hardware": "k80"}},
    ],
    "charts": ["relative_time", "pareto", "learning"],
}  # fmt: skip

_LOG = "epoch,elapsed,loss,acc,val_loss,val_acc\n0,{0},0.9,0.5,0.8,0.6\n1,{0},0.7,0.6,0.6,0.7\n2,{0},0.5,0.7,0.5,0.75\n"

#: Path of a log -> its text.
LOGS = {f"{folder}/mnist_mlp_{name}.csv": _LOG.format(seconds) for folder, name, seconds in (
    ("k80", "tensorflow", 9), ("k80", "jax", 7), ("own", "tensorflow", 4.5), ("own", "jax", 5),
)}  # fmt: skip

#: The trained one: two cells on machines of the catalogue.
TRAINED: dict[str, Any] = {
    "title": "Our runs",
    "summary": "One paragraph.",
    "published": {"title": "Our runs", "by": "us", "date": "2026"},
    "workloads": ["mnist_mlp"],
    "hardware": ["cpu1", "cpu2"],
    "frameworks": ["jax"],
    "scale": {"samples": 0.5, "epochs": 2},
    "base": {"hardware": "cpu1", "framework": "jax"},
    "charts": ["relative_time", "relative_cost"],
}


@dataclass
class Stage:
    """A study's folder of results and the words of each verb's command line, in the order in which they are called."""

    results: Path
    calls: dict[str, list[str]]
    #: What each verb writes, below `results`.
    writes: dict[str, tuple[str, ...]]
    #: What a verb reads from standard input, and what stands in the place of the clone and the clock.
    typed: str = ""
    instead: dict[str, Any] = field(default_factory=dict)

    def call(self, step: str) -> None:
        """Call a verb as its rule does, or a sub-command of `epd`.

        Raises InputError where it does not end well without saying so itself.
        """
        verb, *words = step.split()
        module = importlib.import_module(f"scripts.{verb}" if verb != "epd" else "scripts.epd.__main__")
        with ExitStack() as stack:
            said = [*(words if verb == "epd" else ()), *self.calls[step]]
            stack.enter_context(mock.patch.object(sys, "argv", [step, *said]))
            stack.enter_context(mock.patch.object(sys, "stdin", StringIO(self.typed)))
            for name, value in self.instead.items():
                stack.enter_context(mock.patch(name, value))
            code = module.main()
        if code:
            raise InputError(f"{step} ended with code {code}")

    @property
    def _kept(self) -> Path:
        return self.results.with_name(f"{self.results.name}-kept")

    def keep(self) -> None:
        """Keep the files as they are, for `restored`."""
        shutil.copytree(self.results, self._kept, symlinks=True)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Bring back the files that were kept where a check fails: what is tried next is not to be blamed for it."""
        try:
            yield
        except AssertionError:
            shutil.rmtree(self.results)
            shutil.copytree(self._kept, self.results, symlinks=True)
            raise

    def all(self) -> None:
        """Call all verbs."""
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            for step in self.calls:
                with chdir(os.curdir):  # `epd` goes to the folder of the project
                    self.call(step)


def _tables(folder: Path, *names: str) -> list[str]:
    return [f"--{name}={folder / name}.parquet" for name in names]


_TABLES = ("runs.parquet", "runs.csv", "epochs.parquet", "epochs.csv", "attempts.parquet", "attempts.csv")


def _read(file: Path, study: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(dict(study), sort_keys=False, allow_unicode=True), errors="surrogatepass")
    return definition.read(str(file), {})


def _after(stage: Stage, name: str, settings: dict[str, Any], more: list[str]) -> Stage:
    """Add what is done with the tables of a study: price, chart, report, index."""
    place, catalogue = stage.results, schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    analyses = Analyses({name: settings}, catalogue, [])
    hardware = f"--hardware={ROOT / 'config' / 'hardware.yaml'}"
    of_all = SimpleNamespace(study=name)
    words = [f"{place}/runs.parquet", f"--attempts={place}/attempts.parquet", hardware]
    stage.calls["price"] = [*words, "--study", analyses.get_pricing(of_all), *_tables(place, "costs", "prices")]
    stage.writes["price"] = ("costs.parquet", "costs.csv", "prices.parquet", "prices.csv")
    for chart in settings["charts"]:
        one = SimpleNamespace(study=name, chart=chart)
        words = [chart, "--study", analyses.get_charted(one), "--names", analyses.get_names(one)]
        words += ["--controls", *analyses.get_controls(one)]
        words += [*_tables(place, "runs", "epochs"), "--money", f"{place}/costs.parquet", f"{place}/prices.parquet"]
        stage.calls[f"chart {chart}"] = [*words, f"--output={place}/charts/{chart}"]
        stage.writes[f"chart {chart}"] = (f"charts/{chart}.json", f"charts/{chart}")
    words = [f"{place}/report.html", "--name", name, f"--claims={place}/claims.json", hardware]
    words += ["--study", analyses.get_study(of_all), *_tables(place, "runs", "epochs", "costs", "prices", "attempts")]
    words += ["--charts", *(f"{place}/charts/{chart}.json" for chart in settings["charts"])]
    stage.calls["report"] = [*words, *more]
    stage.writes["report"] = ("report.html", "claims.json")
    stage.calls["index"] = [f"{place}/published.html", f"{place}/claims.json"]
    stage.calls["ledger"] = [str(ROOT / "reports" / "ledger.csv"), f"{place}/ledger.html"]
    stage.writes["ledger"] = ("ledger.html",)
    kept = str(ROOT / "reports" / "ledger.csv")
    stage.calls["quote"] = [f"{place}/quote.html", "lambda-gpus", kept]
    stage.writes["quote"] = ("quote.html",)
    stage.writes["index"] = ("published.html",)
    stage.calls["summarise"] = [f"{place}/claims.json", f"{place}/summary.md"]
    stage.writes["summarise"] = ("summary.md",)
    stage.calls["epd compare"] = [str(place), str(place), f"--output={place}/compare.html"]
    stage.writes["epd compare"] = ("compare.html", "compare.json")
    return stage


def imported(
    folder: Path, study: Mapping[str, Any] = IMPORTED, logs: Mapping[str, str] = LOGS, book: str = BOOK
) -> Stage:
    """Write a study of logs into a folder. Raises InputError where its file is refused."""
    for path, text in logs.items():
        (folder / "logs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "logs" / path).write_text(text, errors="surrogatepass")
    (folder / "book.csv").write_text(book, errors="surrogatepass")
    given = {"format": "keras_csv", "folder": str(folder / "logs"), "hardware": {"k80": "k80", "own": "own"}}
    about = dict(study) | {"import": given | study.get("import", {}), "book": str(folder / "book.csv")}
    name, settings = _read(folder / "mine.yaml", about)
    place = folder / "results"
    facts = [f"{place}/facts.csv", f"--epochs={place}/log-epochs.parquet", f"--problems={place}/problems.txt"]
    calls = {
        "import_logs": [*facts, "--study", json.dumps(settings)],
        "collect_facts": [f"{place}/facts.csv", f"--log-epochs={place}/log-epochs.parquet",
                          *_tables(place, "runs", "epochs", "attempts")],
    }  # fmt: skip
    writes = {"import_logs": ("facts.csv", "log-epochs.parquet", "problems.txt"), "collect_facts": _TABLES}
    more = [f"--problems={place}/problems.txt", f"--facts={place}/facts.csv", "--others"]
    return _after(Stage(place, calls, writes), name, settings, more)


def as_it_is(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record unchanged."""
    return record


def trained(
    folder: Path, study: Mapping[str, Any] = TRAINED, change: Callable[[dict[str, Any]], dict[str, Any]] = as_it_is
) -> Stage:
    """Write a study of two runs into a folder, whose records are as `change` returns them."""
    name, settings = _read(folder / "mine.yaml", study)
    place = folder / "results"
    samples = [Sample(95.0 + i, "train", 90.0, 256.0, 50.0, 1.0) for i in range(20)]
    files = []
    for number, hardware in enumerate(("cpu1", "cpu2"), start=1):
        whole, rows = made.timed(9.0 + number)
        cell = whole["cell"] | {"hardware": hardware}
        about = whole["provenance"] | {"started_at": f"2026-01-02T03:0{number}:05+00:00"}
        where = f"mnist_mlp/{hardware}/jax/b128/r1"
        run = change(whole | {"cell": cell, "claims": {"cores": number}, "seed": number, "provenance": about})
        record.write(place / where, run, rows, samples)
        files.append(f"{place / where}/run.json")
    tables = _tables(place, "runs", "epochs", "attempts")
    calls = {"collect": [*files, "--folder", str(place), "--repeats=1", *tables]}
    calls["find_unstable"] = [*files, f"--folder={place}", "--above=0.1", "--repeats=1", f"--output={place}/again.txt"]
    calls["try_cheapest"] = [*files, f"--output={place}/tried.json"]
    writes: dict[str, tuple[str, ...]] = {"collect": (*_TABLES, "logs/seen.json")}
    writes |= {"find_unstable": ("again.txt",), "try_cheapest": ("tried.json",)}
    return _after(Stage(place, calls, writes), name, settings, [])
