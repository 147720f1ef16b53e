"""End the jobs of a study, and with them their machines: of a Snakemake that was killed, or that runs still."""

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.records.machine import KIT
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import grid
from scripts.workflow import locks, running


@dataclass(frozen=True)
class Bucket:
    """Where the jobs of a profile for Google Batch run, and where in a bucket their runs go."""

    project: str
    region: str
    prefix: str


def other_profiles(name: str, settings: Mapping[str, Any], profile: str) -> list[str]:
    """Return the profiles that train on other machines of a study. Raises InputError where this one reaches none.

    `settings` are those of the study.
    """
    catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
    study = grid.planned(name, dict(settings), catalogue)
    grid.check_reach(study, catalogue, profile)
    reached = {each for cell in study.cells for each in catalogue[cell.hardware].get("clusters", {"local": {}})}
    return sorted(reached - {profile, KIT})


def find(study: str, profile: str, bucket: Bucket | None) -> tuple[str, list[running.Running]]:
    """Return where the profile's jobs are looked for, in words, and those of the study."""
    if profile == "local":
        return "this machine", list(running.here(Path.cwd(), study))
    if profile == "slurm":
        jobs = running.on_slurm(Path.cwd(), study)
        # One that was ended a moment ago is listed until its node is free.
        return f"this Slurm, from {Path.cwd()}", [job for job in jobs if job.state != "COMPLETING"]
    if bucket:
        from snakemake_executor_plugin_gcebatch import clients

        place = (bucket.project, bucket.region, bucket.prefix)
        found = list(running.on_batch(clients.batch_client(), *place, study))
        return f"Google Batch, {', '.join(place)}", found
    raise InputError(f"profile {profile!r}: its jobs are not known here: its cluster's own commands end them")


def end(job: running.Running) -> tuple[bool, str]:
    """End a job, and return whether that was possible, and a line that says so."""
    about = f"{job.run} ({job.name}, {job.state})"
    try:
        job.end()
    except InputError as error:
        return False, f"NOT ENDED: {about}: {error}"
    return True, f"ended: {about}"


def print_vms_left(project: str, study: str) -> None:
    """Name the VMs that carry the study's label and that no job of Google Batch has."""
    from snakemake_executor_plugin_gcebatch import clients, spec

    try:
        left = clients.vms_without_job(project, {"study": spec.label(study)})
    except Exception as error:
        print(f"note: whether VMs are left could not be asked: {' '.join(str(error).split())[:200]}")
        return
    for zone, name in left:
        print(f"VM without a job, it may still cost: gcloud compute instances delete {name} --zone {zone}")


def stop(study: str, profile: str, bucket: Bucket | None) -> bool:
    """End the jobs of a study, a line for each, and return whether all of them were ended."""
    if working := locks.others(Path.cwd()):
        print(
            f"note: another snakemake works in this folder (process {', '.join(map(str, working))}): it may submit "
            "again what is ended here; Ctrl-C there ends it and its jobs",
            file=sys.stderr,
        )
    place, found = find(study, profile, bucket)
    # All at once: a machine takes minutes to go.
    failed = 0
    with ThreadPoolExecutor(20) as pool:
        for is_ended, line in pool.map(end, found):
            print(line, flush=True)
            failed += not is_ended
    if not found:
        print(f"study {study}: no job runs or waits on {place}")
    if bucket:
        print_vms_left(bucket.project, study)
    return not failed
