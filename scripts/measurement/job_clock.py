"""When a process began, and how long a cluster has had a machine before: billed, and nothing is trained in it."""

import os
import time
from pathlib import Path

import psutil

from scripts.storage import environment

#: Set for each task, whose VM is its own: https://cloud.google.com/batch/docs/reference/rest/v1/projects.locations.jobs
_BATCH_TASK = "BATCH_TASK_INDEX"

#: Seconds since 1970, from Slurm 22.05 on: https://slurm.schedmd.com/sbatch.html
_SLURM_START = "SLURM_JOB_START_TIME"


def began() -> float:
    """Return what `perf_counter` showed when this process began, to a hundredth of a second."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.perf_counter() - age


def before() -> dict[str, float]:
    """Return the `boot_seconds` and `wait_seconds` of this attempt where they are recorded: not on one's own machine.

    On Google Batch booting ends, driver and image loaded, when the container starts; a node of Slurm is up already.
    """
    if not environment.JOB.read():
        return {}
    if _BATCH_TASK in os.environ:
        up = psutil.Process(1).create_time() - psutil.boot_time()
        return {"boot_seconds": up, "wait_seconds": time.clock_gettime(time.CLOCK_BOOTTIME) - up}
    if os.environ.get(_SLURM_START, "").isdecimal():
        return {"wait_seconds": max(0.0, time.time() - int(os.environ[_SLURM_START]))}
    return {}
