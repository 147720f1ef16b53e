"""The environment variables by which the processes of a call tell each other what is no parameter of a rule."""

import os
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


#: A folder that holds the data files already.
DATA_DIR = Variable("EPOCHS_DATA_DIR", "a person, rules/common.smk", "scripts.datasets")
#: The bucket that runs go through without a shared file system, and a folder in it.
BUCKET = Variable("EPOCHS_BUCKET", "a person", "profiles/gce-*, scripts.repeat, scripts.schedule")
#: What was chosen for each data set: JSON, its name -> `real` or `synthetic`.
DATA_KINDS = Variable("EPOCHS_DATA_KINDS", "rules/common.smk", "rules/common.smk on a machine that trains")
#: The commit and whether files differ from it: JSON, for a machine that has no history.
COMMIT = Variable("EPOCHS_COMMIT", "rules/common.smk, scripts.run_kit", "scripts.measurement.provenance")
#: The folder or URL below which a study's runs are saved, and resumed.
CHECKPOINTS = Variable("EPOCHS_CHECKPOINTS", "rules/common.smk", "scripts.train, scripts.status")
#: Minutes after which a run is ended, all its attempts together.
MOST_MINUTES = Variable("EPOCHS_MOST_MINUTES", "rules/common.smk", "scripts.train")
#: The profile of a cluster, each job of which has a machine, or its part of one, for itself.
JOB = Variable("EPOCHS_JOB", "rules/common.smk on a machine of a cluster", "scripts.measurement.job_clock")
#: How a run ended that got no machine: JSON, `status` and `reason`.
ENDED = Variable("EPOCHS_ENDED", "the executor for Google Batch (profiles/gce-*)", "scripts.train")
#: When the call began, in seconds since 1970.
STARTED = Variable("EPOCHS_STARTED", "Snakefile", "Snakefile, scripts.workflow.progress")
#: How many runs the call trains.
TRAININGS = Variable("EPOCHS_TRAININGS", "Snakefile", "scripts.workflow.progress")
#: The process of the call on this machine, with which its trainings end.
CALLER = Variable("EPOCHS_CALLER", "rules/common.smk under profile local", "scripts.train")
