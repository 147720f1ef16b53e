"""What a measured part of a training promises of the whole: real programs, each run to its end.

`python -m tests.bench.recorder [--python PYTHON] [--seconds 10]`: promised when so many seconds were measured, beside
what the same process then took. Programs whose libraries are not installed are left out, and said to be. Writes
reports/recorder.json; `docs/run.md` has it as a table.
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

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "recorder" / "programs"

#: What is run, with arguments that make it last about ten times as long as it is measured; what it needs beside NumPy.
TRAININGS = {
    "plain_pytorch": ("torch", "PyTorch, a loop that prints", ["--epochs", "40"]),
    "tqdm_loop": ("tqdm", "PyTorch, tqdm", ["--epochs", "80"]),
    "nanogpt_like": ("torch", "nanoGPT's lines", ["--max_iters=4500"]),
    "keras_fit": ("keras", "Keras", ["30"]),
    "transformers_trainer": ("transformers", "Transformers' Trainer", ["8000"]),
    "lightning_fit": ("lightning", "Lightning", ["24"]),
    "flax_optax": ("flax", "Flax and Optax", ["--epochs", "150"]),
    "xgboost_train": ("xgboost", "XGBoost", ["9000"]),
    "sklearn_partial_fit": ("sklearn", "scikit-learn, partial_fit", ["1500"]),
    "torchrun_gloo": ("torch", "torchrun, two ranks", ["15000"]),
}


def measured(name: str, python: str, seconds: float) -> dict | None:
    """Return what was promised and what was taken, None where the libraries are not there."""
    module, label, arguments = TRAININGS[name]
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        return None
    command = [python, str(PROGRAMS / f"{name}.py"), *arguments]
    if name.startswith("torchrun"):
        command = [python, "-m", "torch.distributed.run", "--nproc-per-node", "2", *command[1:]]
    asked = ["--whole", "--minutes", str(seconds / 60), *(["--terminal"] if name.startswith("lightning") else [])]
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
    return {
        "program": name,
        "label": label,
        "source": record["progress"] and record["progress"]["source"],
        "promised_seconds": record["promised_seconds"],
        "seconds": record["seconds"],
        "doubts": record["doubts"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    rows, left_out = [], []
    for name in TRAININGS:
        row = measured(name, asked.python, asked.seconds)
        if row is None:
            left_out.append(name)
            continue
        rows.append(row)
        print(json.dumps(row), flush=True)
    found = {
        "measured_seconds": asked.seconds,
        "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "left_out": left_out,
        "rows": rows,
    }
    (ROOT / "reports" / "recorder.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
