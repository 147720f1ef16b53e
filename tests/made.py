"""Rows and tables small enough to check by hand."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.analysis import runs as recorded
from scripts.analysis.noise import Noise
from scripts.analysis.verdicts import Judge
from scripts.costs import billing, book, hourly
from scripts.costs import prices as pricing
from scripts.costs.terms import Terms
from scripts.pages.inputs import Inputs
from scripts.records import stored
from scripts.records.record import TIMES
from scripts.records.seen import Seen
from scripts.storage import tables

#: A row of a price book without its item, purchase and rate.
PRICE = {
    "provider": "cloud",
    "region": "",
    "rate_low": float("nan"),
    "rate_high": float("nan"),
    "currency": "USD",
    "per": "hour",
    "as_of": "2026-01-02",
    "source": "a price list",
    "inferred": "",
}

#: Billed per second with a minimum of a minute, since 2020 by the second only; a euro is 1.20 to 1.30 USD.
TERMS = Terms(
    [
        {"provider": "cloud", "from": "", "increment_seconds": 1.0, "minimum_seconds": 60.0},
        {"provider": "cloud", "from": "2020-01-01", "increment_seconds": 1.0, "minimum_seconds": 0.0},
        {"provider": "given", "from": "", "increment_seconds": 1.0, "minimum_seconds": 0.0},
    ],
    [
        {"currency": "USD", "as_of": "1900", "source": "by definition", "inferred": ""}
        | dict.fromkeys(("usd", "usd_low", "usd_high"), 1.0),
        {"currency": "EUR", "as_of": "2020", "source": "a bank", "inferred": "by eye"}
        | {"usd": 1.25, "usd_low": 1.20, "usd_high": 1.30},
    ],
    {("cloud", "n1-"): billing.N1_TIERS, ("cloud", "n2-"): billing.N2_TIERS},
)

#: By which two single runs that differ by 5 % are clearly different: for what is said of cells that are, or are not.
JUDGE = Judge(Noise(variance=1e-4, degrees=float("inf"), runs=100, cells=20, of="made-up runs"))

#: How the machines are bought in a study that does not say.
OPTIONS = {name: {"purchase": name} for name in ("on-demand", "spot", "owned")}


def offer(item: str, rate: float, **values) -> dict:
    """Return a row of a price book: an hour of `item` on demand."""
    return PRICE | {"item": item, "purchase": "on-demand", "rate": rate} | values


def price_book(*rows: dict) -> list[dict]:
    """Return the price book of the rows of `offer`, as `scripts.costs.book.read` does."""
    return [{key: row[key] for key in book.COLUMNS} for row in rows]


def write_book(path: Path, *rows: dict) -> None:
    """Write a price book of the rows of `offer`."""
    pd.DataFrame(price_book(*rows)).to_csv(path, index=False, lineterminator="\n")


#: At 0.036 USD/h, 100 s cost 0.001 USD.
BOOK = price_book(
    offer("1-core", 0.036),
    offer("1-core", 0.018, purchase="spot"),
    offer("4-core", 0.144),
)

#: cpu4 has no spot price, gpu has none at all.
CATALOGUE = {
    "cpu1": {
        "label": "1 vCPU",
        "local": True,
        "machine": {"cores": 1},
        "rent": {"provider": "cloud", "items": {"1-core": 1}},
    },
    "cpu4": {
        "label": "4 vCPUs",
        "local": True,
        "machine": {"cores": 4},
        "rent": {"provider": "cloud", "items": {"4-core": 1}},
    },
    "gpu": {"label": "a card", "local": True, "machine": {"cores": 4, "gpus": {"model": "K80", "count": 1}}},
}

#: Merge into `run` for a run that never trained.
FAILED = {
    "status": "killed",
    "reason": "ended by SIGKILL",
    "epochs_done": 0,
    "train_seconds": None,
    "training_seconds": None,
    "validation_seconds": None,
    "first_step_seconds": None,
    "samples_per_second": None,
    "val_acc": None,
    "packages": None,
}


def run(**values) -> dict:
    """Return a row of the runs table: mnist_mlp at full size, a million samples in 100 s."""
    row = {
        "workload": "mnist_mlp",
        "hardware": "cpu1",
        "framework": "tensorflow",
        "batch_size": 128,
        "mode": "stock",
        "precision": "float32",
        "devices": 1,
        "repeat": 1,
        "seed": 7,
        "status": "done",
        "data": "real",
        "data_fraction": 1.0,
        "samples_fraction": 1.0,
        "epochs": 20,
        "epochs_done": 20,
        "train_samples": 50_000,
        "train_seconds": 100.0,
        "first_step_seconds": 2.0,
        "samples_per_second": 10_000.0,
        "peak_memory_mib": 512.0,
        "val_acc": 0.98,
        "loss": 0.1,
        "cpu_model": "Some CPU",
        "packages": "keras 3",
        "python": "3.11",
        "system": "Linux",
        "started_at": "2026-01-02T03:04:05+00:00",
    } | values
    row = {"global_batch_size": row["batch_size"] and row["batch_size"] * (row["devices"] or 1)} | row
    path = "{workload}/{hardware}/{framework}/b{batch_size}-{mode}-{precision}-x{devices}/r{repeat}".format(**row)
    return {"run": path.replace("-stock", "").replace("-float32", "").replace("-x1/", "/")} | row


#: What no log of others records.
_UNKNOWN = (
    *("batch_size", "mode", "precision", "devices", "seed", "data", "data_fraction", "samples_fraction"),
    *("train_samples", "samples_per_second", "first_step_seconds", "peak_memory_mib", "cpu_model", "packages"),
    *("python", "system", "started_at"),
)


def log(**values) -> dict:
    """Return `run` as a log by epoch records it."""
    return run(**dict.fromkeys(_UNKNOWN) | values)


def runs(*rows: dict) -> pd.DataFrame:
    """Return the runs table of the rows of `run`."""
    return tables.conform(pd.DataFrame(rows, columns=list(tables.columns("runs"))), "runs")


def rows_of(frame: pd.DataFrame, columns: Iterable[str]) -> list[dict]:
    """Return some columns of a table as rows, None for what is missing."""
    some = frame[list(columns)].astype(object)
    return some.where(some.notna(), None).to_dict("records")


def prices(catalogue: dict = CATALOGUE, options: dict = OPTIONS, rows: book.Rows = BOOK) -> pd.DataFrame:
    """Return the prices table of a catalogue of machines under price options that all use the same book."""
    return tables.conform(pricing.table(hourly.price_rows(catalogue, options, lambda option: rows, TERMS)), "prices")


def costs(
    frame: pd.DataFrame, catalogue: dict = CATALOGUE, options: dict = OPTIONS, rows: book.Rows = BOOK
) -> pd.DataFrame:
    """Return the costs table of a runs table."""
    return tables.conform(pricing.price_runs(frame, prices(catalogue, options, rows)), "costs")


#: A price of then and one of today: what is rented today differs for cpu1; cpu4 is not offered any more.
THEN_AND_TODAY = {
    "then": {"label": "prices of 2017", "purchase": "on-demand"},
    "today": {
        "label": "today's prices",
        "purchase": "spot",
        "instead": {"cpu1": {"provider": "cloud", "items": {"host": 1, "card": 2}}},
    },
}

BOOK_OF_BOTH = price_book(
    offer("1-core", 0.036),
    offer("4-core", 0.144),
    offer("host", 0.010, purchase="spot"),
    offer("card", 0.001, purchase="spot", as_of="2025-12"),
)

#: What the page of a study reads of its config, beside its words.
STUDY = {
    "title": "Old logs",
    "summary": "One paragraph.",
    "machines": {name: CATALOGUE[name] for name in ("cpu1", "cpu4", "gpu")},
    "base": {"hardware": "cpu1", "framework": "tensorflow"},
    "price": "then",
    "prices": THEN_AND_TODAY,
    "repeats": 1,
    "unstable_above": 0.1,
    "targets": {},
    "claims": [],
}


def inputs(
    study: dict,
    frame: pd.DataFrame,
    catalogue: dict = CATALOGUE,
    rows: book.Rows = BOOK_OF_BOTH,
    **given,
) -> Inputs:
    """Return what the page of a study is made of, from its runs table and the rows of its price book."""
    options = study["prices"]
    nothing = {name: pd.DataFrame(columns=list(tables.columns(name))) for name in ("epochs", "attempts")}
    made = {name: tables.conform(given.pop(name, table), name) for name, table in nothing.items()}
    made |= {"prices": prices(catalogue, options, rows), "costs": costs(frame, catalogue, options, rows)}
    return Inputs(name="made", study=study, machines=catalogue, runs=frame, **made, **given)


def _derived(**values) -> dict:
    """Return what is recorded of a run of the two `epochs`, and worked out of it."""
    return {
        "cell": {
            "workload": "mnist_mlp",
            "hardware": "cpu1",
            "framework": "jax",
            "batch_size": 128,
            "epochs": 2,
            "samples": 0.5,
            "data": "real",
        },
        "repeat": 1,
        "seed": 7,
        "status": "done",
        "reason": None,
        "claims": {"cores": 1},
        "data": {
            "dataset": "mnist",
            "kind": "real",
            "train_samples": 30_000,
            "complete_train_samples": 60_000,
            "sha256": {},
        },
        "train_samples": 15_000,
        "validation_samples": 5_000,
        "parameters": 669_706,
        "times": {
            "import_seconds": 8.0,
            "data_seconds": 1.0,
            "build_seconds": 3.0,
            "first_step_seconds": 2.0,
            "warmup_seconds": 0.5,
            "training_seconds": 10.0,
            "validation_seconds": 1.0,
            "train_seconds": 11.0,
            "total_seconds": 30.0,
        },
        "samples_per_second": 3_000.0,
        "final": {"epochs": 2, "loss": 0.2, "acc": 0.9, "val_loss": 0.3, "val_acc": 0.8},
        "telemetry": {
            "samples": 20,
            "cpu_percent": 99.0,
            "machine_cpu_percent": 50.0,
            "peak_memory_mib": 512.0,
            "gpu_percent": None,
            "peak_gpu_memory_mib": None,
            "gpu_power_watts": None,
        },
        "provenance": {
            "started_at": "2026-01-02T03:04:05+00:00",
            "hardware": {
                "cpu_model": "Some CPU",
                "cores": 4,
                "memory_mib": 8192,
                "gpus": [],
                "gpu_driver": None,
                "system": "Linux",
            },
            "python": "3.11.7",
            "git_commit": "0123456789abcdef0123456789abcdef01234567",
            "git_dirty": False,
            "container": None,
            "load_average": 0.5,
            "devices": ["cpu:0"],
            "cores": [0],
            "packages": {"keras": "3.15.1", "jax": "0.10.2"},
        },
    } | values


def _failed(**values) -> dict:
    """Return the same of a run that died before its first step."""
    whole = _derived()
    return (
        whole
        | {
            "status": "out_of_memory",
            "reason": "killed by Linux for want of memory",
            "train_samples": None,
            "validation_samples": None,
            "parameters": None,
            "times": dict.fromkeys(whole["times"]) | {"total_seconds": 5.0},
            "samples_per_second": None,
            "final": {"epochs": 0} | dict.fromkeys(("loss", "acc", "val_loss", "val_acc")),
            "telemetry": dict.fromkeys(whole["telemetry"]) | {"samples": 0},
            "provenance": whole["provenance"]
            | dict.fromkeys(("git_commit", "git_dirty", "devices", "cores", "packages")),
        }
        | values
    )


def record(**values) -> dict:
    """Return the valid raw record of a run of the two `epochs`."""
    whole = _derived()
    derived = ("samples_per_second", "final", "telemetry")
    return (
        {name: value for name, value in whole.items() if name not in derived}
        | {
            "schema_version": 2,
            "batch_size": 128,
            "batch_search": None,
            "settings": {"loop": "model.fit"},
            "flops_per_sample": 4_012_032,
            "chance": 0.1,
            "learnable": True,
            "whole_train_samples": 30_000,
            "whole_validation_samples": 10_000,
            "reference": {"metric": "val_acc", "values": [0.8, 0.9], "source": "a paper"},
            "peak_memory_mib": 512.0,
            "times": {name: whole["times"].get(name) for name in TIMES},
            "clock_seconds": 100.0,
        }
        | values
    )


def failed_record(**values) -> dict:
    """Return the raw record of a run that died before its first step."""
    whole = _failed()
    unknown = (
        *("flops_per_sample", "settings", "chance", "learnable", "peak_memory_mib", "clock_seconds"),
        *("whole_train_samples", "whole_validation_samples"),
    )
    return (
        record()
        | {name: whole[name] for name in ("status", "reason", "train_samples", "validation_samples", "parameters")}
        | {"provenance": whole["provenance"], "times": {name: whole["times"].get(name) for name in TIMES}}
        | dict.fromkeys(unknown)
        | values
    )


def epochs() -> list[dict]:
    """Return the rows of the run of `record`."""
    first = {"first_step_seconds": 2.0, "warmup_seconds": 0.5, "warmup_samples": 1_372}
    about = {"training_seconds": 5.0, "validation_seconds": 0.5, "samples": 15_000}
    return [epoch(0, **first, **about), epoch(1, **about, loss=0.2, acc=0.9, val_loss=0.3, val_acc=0.8)]


def epoch(number: int = 0, **values) -> dict:
    """Return a row of `epochs.csv`, as long as its parts unless `elapsed` is given."""
    row = {
        "epoch": number,
        "elapsed": None,
        "loss": 0.5,
        "acc": 0.7,
        "val_loss": 0.6,
        "val_acc": 0.65,
        "first_step_seconds": 0.0,
        "warmup_seconds": 0.0,
        "training_seconds": 5.0,
        "validation_seconds": 1.5,
        "samples": 1_000,
        "warmup_samples": 0,
        "cut": 0,
    } | values
    parts = row["first_step_seconds"] + row["training_seconds"] + row["validation_seconds"]
    return row | {"elapsed": values.get("elapsed", parts)}


def timed(seconds: float, **values) -> tuple[dict, list[dict]]:
    """Return the record of a run that trained so long (s), and its two epochs."""
    rows = [epoch(i, training_seconds=seconds / 2, validation_seconds=0.0, samples=15_000) for i in range(2)]
    times = record()["times"] | {"total_seconds": seconds + 15.0}
    return record(times=times) | values, rows


def words(train: int, test: int) -> dict[str, np.ndarray]:
    """Return so many reviews of three words each, all of them different, as `scripts.datasets.imdb` stores them."""
    arrays = {}
    for split, samples in (("train", train), ("test", test)):
        arrays[f"{split}_tokens"] = np.arange(1, 3 * samples + 1, dtype=np.uint32)
        arrays[f"{split}_lengths"] = np.full(samples, 3, np.int32)
        arrays[f"{split}_labels"] = (np.arange(samples) % 2).astype(np.uint8)
    return arrays


def read_run(path: Path) -> dict:
    """Return the record of a `run.json` with all that follows from it."""
    return recorded.complete(stored.read(path))


def collect(
    folder: Path, files: Iterable[Path], repeats: int, seen: Seen | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of the records below a folder, as `scripts.collect` makes them."""
    return recorded.collect(stored.each(folder, files, recorded.rows, seen), repeats, folder)
