"""End the jobs of a study, and with them their machines: of a Snakemake that was killed, or that runs still."""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.storage import errors
from scripts.storage.errors import InputError
from scripts.workflow import locks, running


def find(options: argparse.Namespace) -> tuple[str, list[running.Running]]:
    """Return where the profile's jobs are looked for, in words, and those of the study."""
    if options.profile == "local":
        return "this machine", list(running.here(Path.cwd(), options.study))
    if options.profile == "slurm":
        jobs = running.on_slurm(Path.cwd(), options.study)
        # One that was ended a moment ago is listed until its node is free.
        return f"this Slurm, from {Path.cwd()}", [job for job in jobs if job.state != "COMPLETING"]
    if options.project:
        from snakemake_executor_plugin_gcebatch import clients

        place = (options.project, options.region, options.prefix)
        found = list(running.on_batch(clients.batch_client(), *place, options.study))
        return f"Google Batch, {', '.join(place)}", found
    raise InputError(f"profile {options.profile!r}: its jobs are not known here: its cluster's own commands end them")


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", help="its name")
    parser.add_argument("--profile", required=True, help="whose jobs are ended")
    parser.add_argument("--others", nargs="*", default=[], help="profiles that train other machines of the study")
    parser.add_argument("--project", help="of Google Cloud")
    parser.add_argument("--region", help="of Google Cloud")
    parser.add_argument("--prefix", help="where the runs of the jobs go in a bucket")
    options = parser.parse_args()
    if working := locks.others(Path.cwd()):
        print(
            f"note: another snakemake works in this folder (process {', '.join(map(str, working))}): it may submit "
            "again what is ended here; Ctrl-C there ends it and its jobs",
            file=sys.stderr,
        )
    place, found = find(options)
    # All at once: a machine takes minutes to go.
    failed = 0
    with ThreadPoolExecutor(20) as pool:
        for is_ended, line in pool.map(end, found):
            print(line, flush=True)
            failed += not is_ended
    if not found:
        print(f"study {options.study}: no job runs or waits on {place}")
    if options.project:
        print_vms_left(options.project, options.study)
    if options.others:
        others = " or ".join(options.others)
        print(f"jobs of {options.study} on its other machines: the same call with --profile {others}")
    return 1 if failed else 0


if __name__ == "__main__":
    errors.run(main)
