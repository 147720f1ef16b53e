"""Environment variables: those by which processes of a call pass on what is no parameter, and those of a training."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One variable: its name, who writes it, who reads it."""

    name: str
    written_by: str
    read_by: str

    def read(self) -> str:
        """Return its value, empty where nobody has set it."""
        return os.environ.get(self.name, "")

    def write(self, value: str) -> None:
        """Set it for this process and for those that it starts."""
        os.environ[self.name] = value

    def write_default(self, value: str) -> None:
        """Set it unless somebody has."""
        os.environ.setdefault(self.name, value)


#: How the names of ours begin.
PREFIX = "EPOCHS_"

#: A folder that holds the data files already.
DATA_DIR = Variable("EPOCHS_DATA_DIR", "a person, rules/common.smk", "scripts.datasets")
#: The bucket that runs go through without a shared file system, and a folder in it.
BUCKET = Variable("EPOCHS_BUCKET", "a person", "profiles/gce-*, scripts.repeat, scripts.workflow.scheduling")
#: A file for the quote of a dry run, which is printed where it is not named.
QUOTE = Variable("EPOCHS_QUOTE", "scripts.epd.quote", "scripts.workflow.quotes")
#: What was chosen for each data set: JSON, its name -> `real` or `synthetic`.
DATA_KINDS = Variable("EPOCHS_DATA_KINDS", "rules/common.smk", "rules/common.smk on a machine that trains")
#: The commit and whether files differ from it: JSON, for a machine that has no history.
COMMIT = Variable("EPOCHS_COMMIT", "rules/common.smk, scripts.run_kit", "scripts.measurement.provenance")
#: The folder or URL below which a study's runs are saved, and resumed.
CHECKPOINTS = Variable("EPOCHS_CHECKPOINTS", "rules/common.smk", "scripts.train")
#: Minutes after which a run is ended, all its attempts together.
MOST_MINUTES = Variable("EPOCHS_MOST_MINUTES", "rules/common.smk", "scripts.train")
#: The profile of a cluster, each job of which has a machine, or its part of one, for itself.
JOB = Variable("EPOCHS_JOB", "rules/common.smk on a machine of a cluster", "scripts.measurement.job_clock")
#: How a run ended that got no machine: JSON, `status` and `reason`.
ENDED = Variable("EPOCHS_ENDED", "the executor for Google Batch (profiles/gce-*)", "scripts.train")
#: Code that studies bring along and that may run: checksums of `scripts.studies.trust`, or `all`; parted by commas.
TRUST = Variable("EPOCHS_TRUST", "a person, rules/common.smk, scripts.studies.trust", "scripts.studies.trust")
#: The file of checksums of what was trusted when the call began, as seen from the clone; empty: nothing is compared.
TRUSTED = Variable("EPOCHS_TRUSTED", "scripts.studies.trust", "scripts.train, scripts.observe")
#: When the call began, in seconds since 1970.
STARTED = Variable("EPOCHS_STARTED", "Snakefile", "Snakefile, scripts.workflow.progress")
#: How many runs the call trains.
TRAININGS = Variable("EPOCHS_TRAININGS", "Snakefile", "scripts.workflow.progress")
#: The process of the call on this machine, with which its trainings end.
CALLER = Variable("EPOCHS_CALLER", "rules/common.smk under profile local", "scripts.train")

#: What a training of this project sees: where programs, libraries, files and accounts are, and the language. Any other
#: variable may change what is trained and stands in no record: KERAS_MAX_EPOCHS, JAX_ENABLE_X64, XLA_FLAGS, ...
_OF_TRAINING = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|PWD|HOSTNAME|TZ|LANG|LANGUAGE|TMPDIR|TMP|TEMP|"
    "LD_LIBRARY_PATH|LIBRARY_PATH|CPATH|CC|CXX|CUDA_HOME|CUDA_PATH|NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|"
    "PYTHONPATH|PYTHONHOME|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|VIRTUAL_ENV|CONDA_PREFIX|"
    "SSL_CERT_FILE|SSL_CERT_DIR|STORAGE_EMULATOR_HOST|NO_GCE_CHECK|(HTTPS?|NO)_PROXY|(https?|no)_proxy|"
    "(LC|XDG|EPOCHS|GOOGLE|GCE|CLOUDSDK|AWS|AZURE|BATCH)_[A-Z0-9_]+"
)

#: How variables begin that steer what trains: a person who has set one wants to know that it has no effect.
_STEERING = (
    "KERAS_",
    "TF_",
    "XLA_",
    "JAX_",
    "TORCH",
    "PYTORCH_",
    "OMP_",
    "MKL_",
    "OPENBLAS_",
    "CUDA_",
    "CUDNN_",
    "NCCL_",
)


def steering(names: Iterable[str]) -> list[str]:
    """Return those of the names of variables that would steer a training, and that it does not see."""
    return sorted(name for name in names if name.startswith(_STEERING) and not _OF_TRAINING.fullmatch(name))


@contextmanager
def of_training() -> Iterator[None]:
    """Leave to what is started meanwhile the variables that a training of this project may see."""
    hidden = {name: value for name, value in os.environ.items() if not _OF_TRAINING.fullmatch(name)}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ |= hidden
