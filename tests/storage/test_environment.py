"""What a training sees of the environment is a short list: the rest would change it and stand in no record."""

import os
import subprocess
import sys

import pytest

from scripts.storage import environment

#: Each changed what was trained, or its speed, and stood in no record.
CHANGES = {
    "KERAS_MAX_EPOCHS": "1",
    "KERAS_MAX_STEPS_PER_EPOCH": "1",
    "KERAS_BACKEND": "torch",
    "JAX_ENABLE_X64": "1",
    "TF_XLA_FLAGS": "--tf_xla_auto_jit=2",
    "XLA_FLAGS": "--xla_backend_optimization_level=0",
    "OMP_NUM_THREADS": "7",
    "LD_PRELOAD": "",
    "PYTHONHASHSEED": "3",
    "SOMETHING_NEW": "x",
}
STAYS = {"PATH": os.environ["PATH"], "LC_ALL": "C", "CUDA_HOME": "/usr/local/cuda", "EPOCHS_JOB": "slurm", "CXX": "g++"}


def test_what_is_started_sees_the_allowed_variables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (CHANGES | STAYS).items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    script = "import os; print(*sorted(os.environ))"
    with environment.of_training():
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert STAYS.keys() <= names
    assert not CHANGES.keys() & names
    assert dict(os.environ) == before


def test_variables_come_back_also_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_MAX_EPOCHS", "1")
    with pytest.raises(RuntimeError), environment.of_training():
        raise RuntimeError
    assert os.environ["KERAS_MAX_EPOCHS"] == "1"


def test_those_that_would_steer_a_training_are_named() -> None:
    assert environment.steering([*CHANGES, *STAYS]) == [
        "JAX_ENABLE_X64",
        "KERAS_BACKEND",
        "KERAS_MAX_EPOCHS",
        "KERAS_MAX_STEPS_PER_EPOCH",
        "OMP_NUM_THREADS",
        "TF_XLA_FLAGS",
        "XLA_FLAGS",
    ]
