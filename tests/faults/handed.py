"""What others hand over, tables, facts, logs, a kit's file: each with its right answer, known before (`answers`)."""

import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from scripts.analysis import contradictions
from scripts.importers import Imported, Layout
from scripts.importers import facts as facts_of
from scripts.importers.formats import (
    hf_trainer,
    keras_csv,
    lightning_csv,
    mllog,
    rare_json,
    tf_cnn,
    tf_cnn_json,
    throughput_table,
)
from scripts.kit import records
from scripts.storage import schemas, tables
from scripts.studies import definition
from tests import made
from tests.faults.answers import NO_NUMBER_TEXTS, Case, accepted, kind, refused
from tests.importers.formats import test_hf_trainer as of_hf
from tests.importers.formats import test_lightning_csv as of_lightning
from tests.importers.formats import test_mllog, test_tf_cnn
from tests.importers.formats import test_rare_json as of_rare
from tests.importers.formats import test_tf_cnn_json as of_cnn_json
from tests.kit.test_records import ABOUT, ENTRY

ROOT = definition.ROOT
OWN = ROOT / "reports" / "published" / "tables" / "two-cores"
CATALOGUE = ROOT / "config" / "hardware.yaml"
CELL = Path("mnist_mlp/cpu1/jax/b128/r1")


_TABLE_NUMBERS = {
    "train_seconds": ("-5",),
    "total_seconds": ("-5", "0.01"),
    "batch_size": ("0", "-1", "1.5"),
    "epochs_done": ("-1", "99", "1.5"),
    "samples_per_second": ("-1", "99999"),
    "acc": ("1.5", "-0.1"),
    "devices": ("0", "-1"),
    "repeat": ("0", "-1"),
    "peak_memory_mib": ("-1",),
    "samples_fraction": ("0", "-1", "1.5"),
    "data_fraction": ("-1", "0", "1.5"),
    "energy_joules": ("-1",),
    "train_samples": ("-1",),
    "cores": ("0", "-1"),
}
_TABLE_TEXTS = {
    "workload": ("../x", "<b>", "a b", ""),
    "hardware": ("../x", "a/b", ""),
    "framework": ("<b>", "$(x)", ""),
    "status": ("fine", ""),
    "mode": ("fast",),
    "precision": ("float8",),
    "data": ("fake",),
    "started_at": ("yesterday", "2999-01-01T00:00:00+00:00"),
    "run": ("",),
}


@cache
def _own(table: str) -> pd.DataFrame:
    """Return three runs of a study of our own that are done, as texts."""
    frames = {name: pd.read_csv(OWN / f"{name}.csv", dtype=str, keep_default_na=False) for name in ("runs", table)}
    first = list(frames["runs"].loc[frames["runs"]["status"] == "done", "run"][:3])
    return frames[table][frames[table]["run"].isin(first)].reset_index(drop=True)


def supplied() -> Iterator[Case]:
    """Tables of a study that others trained, as they are taken: CSV and parquet."""

    def read(folder: Path) -> Any:
        frames = {name: tables.read_csv(name, folder / f"{name}.csv") for name in ("runs", "epochs")}
        wrong = contradictions.of_tables(frames["runs"], frames["epochs"], datetime.now(UTC))
        if wrong:
            raise schemas.InputError(f"{folder}/{wrong}")
        return float(frames["runs"]["train_seconds"].iloc[0])

    def changed(column: str, value: str, table: str = "runs") -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            for name in ("runs", "epochs"):
                frame = _own(name).copy()
                if name == table:
                    frame.loc[0, column] = value
                frame.to_csv(folder / f"{name}.csv", index=False)
            return read(folder)

        return run

    for column, bad in _TABLE_NUMBERS.items():
        for value in (*NO_NUMBER_TEXTS, *bad):
            yield refused(f"runs.csv: {column} = {value!r}", changed(column, value), "runs.csv")
    for column, texts in _TABLE_TEXTS.items():
        for value in texts:
            yield refused(f"runs.csv: {column} = {value!r}", changed(column, value), "runs.csv")
    for column in ("elapsed", "epoch", "samples"):
        for value in (*NO_NUMBER_TEXTS, "-5"):
            yield refused(f"epochs.csv: {column} = {value!r}", changed(column, value, "epochs"), "csv")
    yield refused(
        "epochs.csv: a run that is not there", changed("run", "x/y/z/b1/r1", "epochs"), "epochs.csv|epochs_done"
    )
    yield accepted("runs.csv", changed("reason", ""), float(_own("runs")["train_seconds"][0]))

    def as_parquet(frame: Callable[[], pd.DataFrame], column: str = "train_seconds") -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            frame().to_parquet(folder / "runs.parquet", index=False)
            return float(tables.read(folder / "runs.parquet")[column].iloc[0])

        return run

    right = made.runs(made.run())
    yield accepted("runs.parquet", as_parquet(lambda: right), 100.0)
    for what, frame in {
        "a column less": lambda: right.drop(columns="train_seconds"),
        "texts for numbers": lambda: right.assign(train_seconds="x"),
        "infinite": lambda: right.assign(train_seconds=math.inf),
        "a name that is a path": lambda: right.assign(workload="../x"),
        "lists": lambda: right.assign(train_seconds=[[1]]),
        "another status": lambda: right.assign(status="fine"),
        "negative": lambda: right.assign(train_seconds=-5.0),
        "no devices": lambda: right.assign(devices=0),
        "accuracy": lambda: right.assign(val_acc=7.0),
    }.items():
        yield refused(f"runs.parquet: {what}", as_parquet(frame), "runs.parquet")
    for what, content in {
        "empty": b" ",
        "no parquet": b"PAR1" * 9,
        "a pickle": b"\x80\x04\x95cos\nsystem\n",
        "text": b"run,x\n1,2\n",
    }.items():
        yield refused(
            f"runs.parquet: {what}",
            lambda folder, c=content: (folder / "runs.parquet").write_bytes(c) and tables.read(folder / "runs.parquet"),
            "runs.parquet",
        )

    def bomb(folder: Path) -> Any:
        parquet.write_table(pa.table({"run": pa.nulls(20_000_000, pa.string())}), folder / "runs.parquet")
        return tables.read(folder / "runs.parquet")

    yield refused("runs.parquet: more rows than memory", bomb, "runs.parquet", "rows are more")

    def whole_parquet(size: float) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            path = folder / "runs.parquet"
            right.to_parquet(path, index=False)
            content = path.read_bytes()
            path.write_bytes(content[: int(size * len(content))])
            return tables.read(path)

        return run

    for share in (0.1, 0.5, 0.9, 0.99):
        yield refused(f"runs.parquet: cut at {share}", whole_parquet(share), "runs.parquet")


_FACT_NUMBERS = {
    "train_seconds": ("-1",),
    "epochs_done": ("-1", "1.5"),
    "batch_size": ("-1", "1.5", "0"),
    "devices": ("-1", "0", "1.5"),
    "samples_per_second": ("-1",),
    "acc": ("-1", "1.5"),
    "train_samples": ("-1", "1.5"),
    "repeat": ("0", "-1"),
    "gpu_percent": ("-1", "101"),
}


def facts() -> Iterator[Case]:
    """A table of facts, handed over in the place of logs."""

    def base(folder: Path) -> pd.DataFrame:
        imported = _imported(folder, keras_csv, *_LOGS[keras_csv])
        facts_of.write(imported.runs, folder / "facts.csv")
        return pd.read_csv(folder / "facts.csv", dtype=str, keep_default_na=False)

    def changed(column: str, value: str) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            frame = base(folder)
            frame.loc[0, column] = value
            frame.to_csv(folder / "facts.csv", index=False)
            found = facts_of.read(folder / "facts.csv")[column].iloc[0]
            return float(found) if column in _FACT_NUMBERS else found

        return run

    for column, bad in _FACT_NUMBERS.items():
        for value in (*NO_NUMBER_TEXTS, *bad):
            yield refused(f"facts.csv: {column} = {value!r}", changed(column, value), r"facts\.csv", column)
        yield accepted(f"facts.csv: {column} = 1", changed(column, "1"), 1.0)
    for column, texts in _TABLE_TEXTS.items():
        if column in ("workload", "hardware", "framework", "status", "precision"):
            for value in texts:
                yield refused(f"facts.csv: {column} = {value!r}", changed(column, value), r"facts\.csv", column)


_LOGS: dict[Any, tuple[str, str]] = {
    keras_csv: (
        "k80/mnist_mlp_tensorflow.csv",
        "epoch,elapsed,loss,acc,val_loss,val_acc\n0,9,0.9,0.5,0.8,0.6\n1,2,0.7,0.6,0.6,0.7\n2,4,0.5,0.7,0.5,0.75\n",
    ),
    mllog: ("k80/result_0.txt", "\n".join(test_mllog.run(*test_mllog.EPOCHS)) + "\n"),
    tf_cnn: ("k80/resnet50.log", test_tf_cnn.RUN),
}


def _imported(folder: Path, importer: Any, name: str, text: str | bytes) -> Imported:
    (folder / "logs" / name).parent.mkdir(parents=True)
    (folder / "logs" / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return importer.read(folder / "logs", Layout({"k80": "k80"}, {"k80": "tensorflow"}, "resnet50"))


def logs() -> Iterator[Case]:
    """Logs of others: one that is wrong is listed as a problem in a line, a right one comes out with its time."""

    def read(importer: Any, text: str | bytes, column: str) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            imported = _imported(folder, importer, _LOGS[importer][0], text)
            if imported.runs.empty:
                (problem,) = imported.problems
                raise schemas.InputError(str(problem))
            assert len(imported.runs) == 1, "doubled"
            found = imported.runs[column].iloc[0]
            return str(found) if column == "status" else None if pd.isna(found) else float(found)

        return run

    keras, ml, cnn = (_LOGS[importer][1] for importer in (keras_csv, mllog, tf_cnn))
    yield accepted("keras", read(keras_csv, keras, "train_seconds"), 15.0)
    yield accepted("keras: CRLF", read(keras_csv, keras.replace("\n", "\r\n"), "train_seconds"), 15.0)
    yield accepted(
        "keras: other columns",
        read(
            keras_csv,
            keras.replace("val_acc\n", "val_acc,lr\n")
            .replace("6\n", "6,1\n")
            .replace("0.7\n", "0.7,1\n")
            .replace("5\n", "5,1\n"),
            "train_seconds",
        ),
        15.0,
    )
    yield accepted(
        "keras: diverged", read(keras_csv, keras.replace("0.5,0.7,0.5", "nan,0.7,0.5"), "status"), "diverged"
    )
    for column, place in (("elapsed", "1,2,"), ("epoch", "1,2,")):
        for value in (*NO_NUMBER_TEXTS, "-1", "1e30", ""):
            if value == "1,5":
                continue
            new = f"1,{value}," if column == "elapsed" else f"{value},2,"
            yield refused(
                f"keras: {column} = {value!r}",
                read(keras_csv, keras.replace(place, new), "train_seconds"),
                "csv:3",
                column,
            )
    for value in ("1.5", "-0.1", "90", "x", "1_0", "\u0663"):
        yield refused(
            f"keras: val_acc = {value!r}", read(keras_csv, keras.replace("0.75", value), "val_acc"), "csv:4", "val_acc"
        )
    for what, text in {
        "empty": b" ",
        "binary": b"\0" * 99,
        "UTF-16": keras.encode("utf-16"),
        "header alone": keras.splitlines()[0],
        "no header": keras.partition("\n")[2],
        "a column twice": keras.replace("acc,val_loss", "loss,val_loss"),
        "a cell less": keras.replace(",0.75", ""),
        "epochs from 1": keras.replace("\n0,", "\n1,").replace("\n2,", "\n3,"),
        "an epoch twice": keras.replace("\n2,", "\n1,"),
        "no elapsed": keras.replace("elapsed", "x"),
        "a quote": keras.replace("0.75", '"0.75'),
    }.items():
        yield refused(f"keras: {what}", read(keras_csv, text, "train_seconds"), "mnist_mlp_tensorflow.csv")
    yield accepted("mllog", read(mllog, ml, "train_seconds"), 100.0)
    yield accepted("mllog: words beside", read(mllog, "garbage \x1b[2J\n" + ml + "more\n", "train_seconds"), 100.0)
    yield accepted("mllog: bytes beside", read(mllog, b"\xff\xfe\n" + ml.encode(), "train_seconds"), 100.0)
    for what, text in {
        "no stop": ml.replace("run_stop", "run_stopped"),
        "no start": ml.replace('"run_start"', '"x"'),
        "empty": " ",
        "stops before it starts": ml.replace(str(test_mllog.START + 100_000), str(test_mllog.START - 5)),
        "time is a text": ml.replace(f'"time_ms": {test_mllog.START + 100_000}', '"time_ms": "soon"'),
        "time is huge": ml.replace(str(test_mllog.START + 100_000), "9" * 400),
        "time is NaN": ml.replace(f"{test_mllog.START + 100_000}", "NaN"),
        "time is true": ml.replace(f"{test_mllog.START + 100_000}", "true"),
    }.items():
        yield refused(f"mllog: {what}", read(mllog, text, "train_seconds"), "result_0.txt")
    yield accepted(
        "mllog: aborted", read(mllog, ml.replace('"status": "success"', '"status": "aborted"'), "status"), "failed"
    )
    yield accepted("tf_cnn", read(tf_cnn, cnn, "samples_per_second"), 64.0)
    for value in ("-1", "nan", "inf", "x", "1e999", "0", "1_000", "\u0663"):
        changed = cnn.replace("total images/sec: 64.00", f"total images/sec: {value}")
        yield refused(f"tf_cnn: {value}", read(tf_cnn, changed, "samples_per_second"), r"resnet50\.log")
    for value in ("0", "-64", "x", "9" * 400):
        yield refused(
            f"tf_cnn: batch {value:.20}",
            read(tf_cnn, cnn.replace("32.0 per device", f"{value} per device"), "batch_size"),
            r"resnet50\.log",
        )


_RUN = "mnist_mlp/h100/jax/b128/r1"


def kit() -> Iterator[Case]:
    """A file of a kit's records: what no kit writes is refused before anything is unpacked."""

    def read(make: Callable[[zipfile.ZipFile], Any], after: Callable[[bytes], bytes] = bytes) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            path = folder / "r.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr(records.ABOUT, json.dumps(ABOUT))
                packed.writestr(records.MACHINE, ENTRY)
                packed.writestr(f"{_RUN}/run.json", b"{}")
                make(packed)
            path.write_bytes(after(path.read_bytes()))
            found, beside = records.read(path)
            records.about(beside[records.ABOUT], "r.zip")
            records.machine(beside[records.MACHINE], "r.zip")
            return len(found[_RUN])

        return run

    def adds(name: str, content: bytes = b"x", **how: Any) -> Callable[[zipfile.ZipFile], Any]:
        def make(packed: zipfile.ZipFile) -> None:
            info = zipfile.ZipInfo(name)
            info.compress_type = how.get("kind", zipfile.ZIP_DEFLATED)
            info.external_attr = how.get("mode", 0o644) << 16
            packed.writestr(info, content)

        return make

    yield accepted("whole", read(lambda packed: None), 1)
    yield accepted("with its epochs", read(adds(f"{_RUN}/epochs.csv")), 2)
    for name in (
        "../run.json",
        "/etc/run.json",
        "x/../../y",
        f"{_RUN}/../../x",
        f"{_RUN}/notes.txt",
        "kit.json/x",
        f"{_RUN}/run.json/x",
        f"./{_RUN}/run.json",
        f"{_RUN}/run.json ",
        f"{_RUN}/RUN.JSON",
        "mnist_mlp\\h100\\jax\\b128\\r1\\run.json",
        f"{_RUN}/\u202enosj.nur",
        f"{_RUN}/",
        "a" * 5000,
        "mnist_mlp/h100/jax/b\u0661/r1/run.json",
        "mnist_mlp/h100/jax/b128/r\u0661/run.json",
        f"{_RUN}/cut-1e9",
        f"{_RUN}/cut--1",
        "-rf/h100/jax/b1/r1/run.json",
        ".git/h100/jax/b1/r1/run.json",
        f"{_RUN}\n/run.json",
        "machine.yaml\n",
        "machine.local.yaml",
        "config/hardware.yaml",
        "conftest.py",
        "scripts/__init__.py",
    ):
        yield refused(f"a file {name!r:.60}", read(adds(name)), r"r\.zip", "not a file of a kit")
    yield refused("a run twice", read(adds(f"{_RUN}/run.json")), r"r\.zip", "twice")
    yield refused("kit.json twice", read(adds(records.ABOUT)), r"r\.zip", "twice")
    yield refused("a bomb", read(adds(f"{_RUN}/epochs.csv", bytes(64 * 2**20))), r"r\.zip", "more than")
    yield refused("bzip2", read(adds(f"{_RUN}/epochs.csv", kind=zipfile.ZIP_BZIP2)), r"r\.zip", "compressed")
    yield refused("LZMA", read(adds(f"{_RUN}/epochs.csv", kind=zipfile.ZIP_LZMA)), r"r\.zip", "compressed")
    yield accepted(
        "a link, whose name is read as a text", read(adds(f"{_RUN}/epochs.csv", b"/etc/passwd", mode=0o120777)), 2
    )

    for share in (0.0, 0.2, 0.5, 0.8, 0.99):
        yield refused(
            f"cut at {share}",
            read(lambda packed: None, lambda raw, s=share: raw[: int(s * len(raw))] or b" "),
            r"r\.zip",
            "whole|missing",
        )

    def lies(raw: bytes) -> bytes:  # the directory names a size that differs from the real one
        at = raw.index(b"PK\x01\x02", raw.index(b"PK\x01\x02") + 4)
        return raw[: at + 24] + (1).to_bytes(4, "little") + raw[at + 28 :]

    yield refused("a size that is a lie", read(lambda packed: None, lies), r"r\.zip")

    def locked(raw: bytes) -> bytes:
        at = raw.index(b"PK\x01\x02")
        return raw[: at + 8] + b"\x01\x00" + raw[at + 10 :]

    yield refused("with a password", read(lambda packed: None, locked), r"r\.zip")
    for key, bad in {
        "study": ("../x", "a/b", "", 5, None, "x.yaml", "a\nb", "<b>"),
        "commit": ("x", [], ["x", "y"]),
        "python": (3.12, None),
        "workload_files": ({"x": 5}, [], None),
        "extra": (1,),
        "made_at": (5, None),
        "code": (5, None),
    }.items():
        for value in bad:
            content = json.dumps(ABOUT | {key: value}).encode()
            yield refused(f"kit.json: {key} = {value!r}", lambda _, c=content: records.about(c, "r.zip"), r"kit\.json")
    for content in (
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        json.dumps(ABOUT).encode()[:-1] + b', "study": "other"}',
        b"[" * 10**5,
    ):
        yield refused(f"kit.json: {content[-20:]!r}", lambda _, c=content: records.about(c, "r.zip"), r"kit\.json")

    def special(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
        return lambda folder: (make(folder / "r.zip"), records.read(folder / "r.zip"))

    for what, make in (
        ("a folder", Path.mkdir),
        ("a pipe", os.mkfifo),
        ("a device", lambda p: p.symlink_to("/dev/zero")),
        ("nothing", lambda p: None),
    ):
        yield refused(f"r.zip: {what}", special(make), r"r\.zip")


def other_logs() -> Iterator[Case]:
    """Logs of the rarer formats: one number that cannot be is a problem of its log, never of the whole import."""
    machines = {"k80": "k80", "*/RTX": "k80", "*x RTX": "k80"}
    layout = Layout(machines, {"k80": "tensorflow"}, "resnet50", {"resnet50": "resnet50"})

    def read(importer: Any, files: Mapping[str, str], column: str) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            for name, text in files.items():
                (folder / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "logs" / name).write_text(text)
            imported = importer.read(folder / "logs", layout)
            if imported.runs.empty:
                raise schemas.InputError(str(imported.problems[0]))
            facts_of.write(imported.runs, folder / "facts.csv")
            found = facts_of.read(folder / "facts.csv")[column].iloc[0]
            return None if pd.isna(found) else found if isinstance(found, str) else float(found)

        return run

    def hugging(**values: Any) -> Callable[[Path], Any]:
        history = [record | {key: new for key, new in values.items() if key in record} for record in of_hf.HISTORY]
        state = {"log_history": history} | {key: new for key, new in values.items() if key == "train_batch_size"}
        text = json.dumps(state)
        return read(hf_trainer, {"k80/trainer_state.json": text}, "train_seconds")

    yield accepted("Hugging Face", hugging(), 120.5)
    for key, bad in {
        "train_runtime": ("x", -1, 0, math.nan, math.inf, None, [], True),
        "train_samples_per_second": (-1,),
        "eval_accuracy": (1.5, -0.1),
    }.items():
        for value in bad:
            yield refused(f"Hugging Face: {key} = {value!r}", hugging(**{key: value}), "trainer_state.json")

    def lightning(old: str = "", new: str = "", column: str = "samples_per_second") -> Callable[[Path], Any]:
        return read(lightning_csv, {"k80/metrics.csv": of_lightning.LOG.replace(old, new, 1)}, column)

    yield accepted("Lightning", lightning(), 5100.0)
    rates = "train|device/samples_per_sec", "train|device/samples_per_sec,train|samples_per_sec"
    for value in (*NO_NUMBER_TEXTS, "-1", "0", "1e308"):
        if value not in ("1,5", "1e308"):
            yield refused(f"Lightning: rate {value!r}", lightning("5000.0", value), "metrics.csv:4")
    for value in ("1.5", "-0.1", "90", "1_0"):
        yield refused(f"Lightning: val_acc {value!r}", lightning("0.9,0.3", f"{value},0.3"), "metrics.csv")
    wide = "\n".join(
        f"{line},{'1e308' if number else rates[1]}" for number, line in enumerate(of_lightning.LOG.splitlines())
    )
    small = wide.replace("5000.0", "1e-308").replace("5200.0", "1e-308").replace("5100.0", "1e-308")
    huge = small.replace(rates[1], "train|samples_per_sec") + "\n"
    yield refused(
        "Lightning: beyond all numbers", read(lightning_csv, {"k80/metrics.csv": huge}, "devices"), "metrics.csv"
    )

    def table(machine: str, rate: str = "905.0", cards: str = "") -> Callable[[Path], Any]:
        head, row = f"name{',num_gpu' if cards else ''},resnet50", f"{machine}{f',{cards}' if cards else ''},{rate}"
        files = {"k80/throughput-fp16.csv": f"{head}\n{row}\n", "k80/bs-fp16.csv": f"{head}\n{row}\n"}
        return read(throughput_table, files, "samples_per_second")

    yield accepted("table", table("RTX"), 905.0)
    for cards in ("0", "-1", "1.5", "x", "9" * 400, "nan", "\u0663"):
        yield refused(f"table: {cards:.20} cards", table("RTX", cards=cards), "throughput-fp16.csv")
    yield refused("table: a machine of no cards", table("0x RTX"), "throughput-fp16.csv")
    for rate in (*NO_NUMBER_TEXTS, "-1"):
        if rate != "1,5":
            yield refused(f"table: {rate!r} a second", table("RTX", rate), "throughput-fp16.csv")

    def report(**values: Any) -> Callable[[Path], Any]:
        return read(rare_json, {"k80/a-report.json": json.dumps(of_rare.REPORT | values)}, "train_seconds")

    yield accepted("RaRe", report(), 121.25)
    for key, bad in {"time": (-1, 0, 5, "x", None, True, math.nan), "gpu_usage": (-1, 101, "x", True, [])}.items():
        for value in bad:
            yield refused(f"RaRe: {key} = {value!r}", report(**{key: value}), "a-report.json")

    def metrics(column: str = "samples_per_second", rate: Any = 64.0, **values: Any) -> Callable[[Path], Any]:
        rows = [of_cnn_json.METRICS[0], {"name": "average_examples_per_sec", "value": rate, "global_step": 100}]
        lines = "".join(f"{json.dumps(one)}\n" for one in rows)
        run = json.dumps(of_cnn_json.RUN | values)
        return read(tf_cnn_json, {"k80/metric.log": lines, "k80/benchmark_run.log": run}, column)

    yield accepted("tf_cnn JSON", metrics(), 64.0)
    yield accepted("tf_cnn JSON: no time", metrics("started_at", run_date="<b>yesterday</b>"), None)
    for rate in (-1, 0, "x", None, math.nan, math.inf, True, [], 10**400):
        yield refused(f"tf_cnn JSON: {rate!r:.30} a second", metrics(rate=rate), "metric.log")
    for name in ("../x", "<b>", "a b", "\x1b"):
        yield refused(f"tf_cnn JSON: a model {name!r}", metrics(model_name=name), "metric.log", "workload")


KINDS = [
    kind("tables of others", supplied),
    kind("facts of others", facts),
    kind("logs of others", logs),
    kind("rarer logs of others", other_logs),
    kind("records of a kit", kit),
]
