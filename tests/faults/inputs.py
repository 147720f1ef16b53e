"""Every file that a person can give or damage, with one thing in it changed: each is read as its verb reads it."""

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import yaml

from scripts.analysis import contradictions, pricing, runs
from scripts.costs import book
from scripts.importers import Layout
from scripts.importers import audit as audits
from scripts.importers import facts as facts_of
from scripts.importers.formats import keras_csv, mllog, tf_cnn
from scripts.measurement import checkpoint, record
from scripts.storage import schemas, tables
from scripts.studies import definition, grid
from tests import made
from tests.faults import mutations, trial
from tests.importers.formats import test_mllog, test_tf_cnn

ROOT = definition.ROOT
PRICES = ROOT / "config" / "prices"
OWN = ROOT / "reports" / "published" / "tables" / "two-cores"

#: A folder to write into, and chance -> what was changed, and what meets it.
Change = Callable[[Path, Random], trial.Fault]

CELL = Path("mnist_mlp/cpu1/jax/b128/r1")


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def study(folder: Path, rng: Random) -> trial.Fault:
    """A study's file, read and expanded as a call does."""
    file = rng.choice(sorted((ROOT / "config" / "studies").glob("*.yaml")))
    if rng.random() < 0.5:
        changed, what = mutations.of_value(yaml.safe_load(file.read_text()), rng)
        text = _yaml(changed)
    else:
        text, what = mutations.of_text(file.read_text(), rng)
    path = folder / "mine.yaml"
    path.write_text(text, errors="surrogatepass")

    def read() -> None:
        name, config = definition.read(str(path), {})
        catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
        if definition.is_trained_here(config):
            grid.planned(name, config, catalogue).runs()

    return f"{file.name}: {what}", read


def catalogue(folder: Path, rng: Random) -> trial.Fault:
    """The catalogue of machines, read and priced for the study that everybody begins with."""
    machines = yaml.safe_load((ROOT / "config" / "hardware.yaml").read_text())
    changed, what = mutations.of_value(machines, rng)
    path = folder / "hardware.yaml"
    path.write_text(_yaml(changed))

    def read() -> None:
        _, config = definition.read("local", {})
        entries = definition.machines(config, schemas.read_yaml(path, "hardware"))
        pricing.price_table(config, entries, set(entries))

    return what, read


def prices(folder: Path, rng: Random) -> trial.Fault:
    """A price book, read and used for the machines of the catalogue."""
    file = rng.choice(
        [path for path in sorted(PRICES.glob("*.csv")) if path.stem in ("current", "gce-2017-11", "listed")]
    )
    text, what = mutations.of_text(file.read_text(), rng)
    path = folder / "mine.csv"
    path.write_text(text, errors="surrogatepass")
    return f"{file.name}: {what}", lambda: book.read([path])


def _record(folder: Path) -> Path:
    samples = [record.telemetry.Sample(95.0 + i, "train", 90.0, 256.0, 50.0, 1.0) for i in range(20)]
    record.write(folder / CELL, made.record(), made.epochs(), samples)
    return folder / CELL


def run_json(folder: Path, rng: Random) -> trial.Fault:
    """A run's record, collected."""
    path = _record(folder) / "run.json"
    if rng.random() < 0.6:
        changed, what = mutations.of_value(json.loads(path.read_text()), rng)
        text = json.dumps(changed, allow_nan=True)
    else:
        text, what = mutations.of_text(path.read_text(), rng)
    path.write_text(text, errors="surrogatepass")
    return what, lambda: _collect(folder)


def _collect(folder: Path) -> None:
    of_runs, epochs, attempts = runs.collect(folder, [folder / CELL / "run.json"], 1)
    for table, frame in (("runs", of_runs), ("epochs", epochs), ("attempts", attempts)):
        tables.write(frame, table, folder / f"{table}.parquet")


def beside_it(folder: Path, rng: Random) -> trial.Fault:
    """The epochs or the telemetry of a run, collected."""
    path = _record(folder) / rng.choice(("epochs.csv", "telemetry.csv"))
    text, what = mutations.of_text(path.read_text(), rng)
    path.write_text(text, errors="surrogatepass")
    return f"{path.name}: {what}", lambda: _collect(folder)


def supplied(folder: Path, rng: Random) -> trial.Fault:
    """Tables of a study that others trained, as they are taken."""
    for name in ("runs", "epochs"):
        lines = (OWN / f"{name}.csv").read_text().splitlines(keepends=True)
        (folder / f"{name}.csv").write_text("".join(lines[: 1 + 6 * (2 if name == "epochs" else 1)]))
    path = folder / rng.choice(("runs.csv", "epochs.csv"))
    text, what = mutations.of_text(path.read_text(), rng)
    path.write_text(text, errors="surrogatepass")

    def read() -> None:
        frames = {name: tables.read_csv(name, folder / f"{name}.csv") for name in ("runs", "epochs")}
        contradictions.of_tables(frames["runs"], frames["epochs"])

    return f"{path.name}: {what}", read


_KERAS = "epoch,elapsed,loss,acc,val_loss,val_acc\n0,9,0.9,0.5,0.8,0.6\n1,2,0.7,0.6,0.6,0.7\n2,4,0.5,0.7,0.5,0.75\n"
_LOGS = {
    keras_csv: ("k80/mnist_mlp_tensorflow.csv", _KERAS),
    mllog: ("k80/result_0.txt", "\n".join(test_mllog.run(*test_mllog.EPOCHS)) + "\n"),
    tf_cnn: ("k80/resnet50.log", test_tf_cnn.RUN),
}


def logs(folder: Path, rng: Random) -> trial.Fault:
    """Logs of others, imported and audited."""
    importer = rng.choice(list(_LOGS))
    name, text = _LOGS[importer]
    changed, what = mutations.of_text(text, rng)
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(changed, errors="surrogatepass")

    def read() -> None:
        imported = importer.read(folder, Layout({"k80": "k80"}, {"k80": "tensorflow"}, "resnet50"))
        audits.findings(imported.runs)
        facts_of.write(imported.runs, folder / "facts.csv")

    return f"{name}: {what}", read


def attempts(folder: Path, rng: Random) -> trial.Fault:
    """The attempts at a run that was preempted, which the next one counts."""
    place = checkpoint.Place(str(folder), "cell")
    checkpoint.Attempts(place, "vm-1").alive(5.0)
    path = folder / "attempts.json"
    text, what = mutations.of_text(path.read_text(), rng)
    path.write_text(text, errors="surrogatepass")
    return what, lambda: checkpoint.Attempts(place, "vm-2").to_json("done", 9.0)


def _each(change: Change) -> Callable[[Path, Random], Iterator[trial.Fault]]:
    """Return a kind's faults: one change after the other, each in a folder that holds nothing else."""

    def faults(folder: Path, rng: Random) -> Iterator[trial.Fault]:
        while True:
            own = Random(rng.getrandbits(64))
            with tempfile.TemporaryDirectory(dir=folder) as place:
                what, run = change(Path(place), own)
                yield what, lambda place=Path(place), run=run: _alone(place, run)

    return faults


def _alone(folder: Path, run: Callable[[], Any]) -> None:
    """Meet a fault; nothing may have been run by it, or be left of files half-written."""
    try:
        run()
    finally:
        strays = [path.name for path in folder.rglob(".*") if path.is_file()]
        assert not strays, f"left {strays}"
        assert not Path("injected").exists(), "ran what was typed"
        assert not (ROOT / "injected").exists(), "ran what was typed"


def cut_at_every_byte(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Each file of a record, cut after each of its bytes: none of these is a record."""
    whole = _record(folder)
    for name in ("run.json", "epochs.csv"):
        content = (whole / name).read_bytes()
        for size in range(len(content) - 1):

            def read(name: str = name, size: int = size, content: bytes = content) -> None:
                (whole / name).write_bytes(content[:size])
                try:
                    of_run, _, _ = runs.collect(folder, [whole / "run.json"], 1)
                    seconds = float(of_run["train_seconds"].iloc[0])
                    assert math.isclose(seconds, 13.0, abs_tol=0.02), f"taken as {seconds} s"
                finally:
                    (whole / name).write_bytes(content)

            yield f"{name} cut at {size}", read


KINDS = [
    *(
        trial.Kind(name, 250, _each(change))
        for name, change in {
            "study": study,
            "machines": catalogue,
            "price book": prices,
            "run.json": run_json,
            "epochs.csv, telemetry.csv": beside_it,
            "tables of others": supplied,
            "logs of others": logs,
            "attempts.json": attempts,
        }.items()
    ),
    trial.Kind("cut at every byte", None, cut_at_every_byte),
]
