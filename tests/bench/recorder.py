"""What a measured part of a training promises of the whole: real programs, each run to its end.

`python -m tests.bench.recorder [--python PYTHON] [--seconds 10]`: promised when so many seconds were measured, beside
what the same process then took. Programs whose libraries are not installed are left out, and said to be. Adds a row
of each to the project's ledger, reports/ledger.csv; `docs/run.md` has the newest as a table, and a published page all.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from scripts.records import ledger

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "recorder" / "programs"
LEDGER = ROOT / "reports" / "ledger.csv"

#: What is asked beside: XGBoost's lines do not say how many there are to come, and Lightning's bar wants a terminal.
ASKED = {"xgboost_train": ["--of", "9000"], "lightning_fit": ["--terminal"]}

#: What is run, with arguments that make it last about ten times as long as it is measured; what it needs beside NumPy.
TRAININGS = {
    "plain_pytorch": ("torch", "PyTorch, a loop that prints", ["--epochs", "40"]),
    "tqdm_loop": ("tqdm", "PyTorch, tqdm", ["--epochs", "80"]),
    "nanogpt_like": ("torch", "nanoGPT's lines", ["--max_iters=4500"]),
    "keras_fit": ("keras", "Keras", ["30"]),
    "transformers_trainer": ("transformers", "Transformers' Trainer", ["8000"]),
    "lightning_fit": ("lightning", "Lightning", ["24"]),
    "flax_optax": ("flax", "Flax and Optax", ["--epochs", "150"]),
    "xgboost_train": ("xgboost", "XGBoost, --of 9000", ["9000"]),
    "sklearn_partial_fit": ("sklearn", "scikit-learn, partial_fit", ["1500"]),
    "torchrun_gloo": ("torch", "torchrun, two ranks", ["15000"]),
}


def commit() -> str:
    """Return the commit that is measured, and whether files were changed since, but for the ledger itself."""
    head, changed = (
        subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        for words in (["rev-parse", "--short=10", "HEAD"], ["status", "--porcelain", "--", ".", ":!reports/ledger.csv"])
    )
    return f"{head}, changed" if changed else head


def measured(name: str, python: str, seconds: float) -> ledger.Training | None:
    """Return what was promised and what was taken, None where the libraries are not there."""
    module, label, arguments = TRAININGS[name]
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        return None
    command = [python, str(PROGRAMS / f"{name}.py"), *arguments]
    if name.startswith("torchrun"):
        command = [python, "-m", "torch.distributed.run", "--nproc-per-node", "2", *command[1:]]
    asked = ["--whole", "--minutes", str(seconds / 60), *ASKED.get(name, [])]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "XDG_DATA_HOME": folder,
            "PYTHONPATH": str(ROOT / "plugins" / "epochs-per-dollar"),
            "OMP_NUM_THREADS": "1",
        }
        subprocess.run(
            [sys.executable, "-m", "epochs_per_dollar", "run", *asked, "--", *command],
            env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        (file,) = Path(folder).glob("epochs-per-dollar/runs/*/run.json")
        record = json.loads(file.read_text())
    return ledger.Training(
        date=date.today().isoformat(),
        commit=commit(),
        program=name,
        label=label,
        read_from=record["progress"]["source"] if record["progress"] else "",
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        measured_seconds=seconds,
        promised_seconds=record["promised_seconds"],
        taken_seconds=record["seconds"],
        doubts="; ".join(record["doubts"]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    for name in TRAININGS:
        row = measured(name, asked.python, asked.seconds)
        if row is None:
            print(f"{name}: its libraries are not installed", flush=True)
            continue
        print(row, flush=True)
        # One after the other, so that a run that is ended keeps what it has.
        ledger.write(LEDGER, ledger.with_new(ledger.read(LEDGER), [row]))


if __name__ == "__main__":
    main()
