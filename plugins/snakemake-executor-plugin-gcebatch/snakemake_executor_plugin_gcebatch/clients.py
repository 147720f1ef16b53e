"""What speaks to Google: Batch, the log, and Compute Engine's list of zones.

With `GCEBATCH_EMULATOR_GRPC` (host:port) and `GCEBATCH_EMULATOR_HTTP` (http://host:port) in the environment, all of
it goes there, without credentials.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.cloud import batch_v1 as batch

from snakemake_executor_plugin_gcebatch import ending

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def batch_client() -> batch.BatchServiceClient:
    """Return the client of Google Batch. Raises google.auth.exceptions.DefaultCredentialsError without a login."""
    emulator = os.environ.get("GCEBATCH_EMULATOR_GRPC")
    if not emulator:
        return batch.BatchServiceClient()
    import grpc
    from google.cloud.batch_v1.services.batch_service.transports import BatchServiceGrpcTransport

    return batch.BatchServiceClient(transport=BatchServiceGrpcTransport(channel=grpc.insecure_channel(emulator)))


def log_lines(project: str, job_uid: str, most: int) -> list[str]:
    """Return the last lines that the tasks of a Batch job wrote, at most so many, oldest first."""
    from google.cloud import logging

    emulator = os.environ.get("GCEBATCH_EMULATOR_HTTP")
    options: dict[str, Any] = {}
    if emulator:
        options = {
            "credentials": AnonymousCredentials(),
            "client_options": {"api_endpoint": emulator},
            "_use_grpc": False,
        }
    client = logging.Client(project=project, **options)
    entries = client.list_entries(
        filter_=f'logName="projects/{project}/logs/batch_task_logs" labels.job_uid="{job_uid}"',
        order_by=logging.DESCENDING,
        page_size=most,
        max_results=most,
    )
    return [str(entry.payload).rstrip() for entry in entries][::-1]


def vms_without_job(project: str, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (zone, name) of the VMs with these labels, and this plugin's, that no job of Batch has, in any region."""
    at_work = {
        job.labels.get("snakemake-output")
        for job in batch_client().list_jobs(parent=f"projects/{project}/locations/-")
        if job.status.state.name in ending.WITH_VM
    }
    wanted = " ".join(f"labels.{key}={value}" for key, value in labels.items())
    found = []
    for scope, vm in _aggregated(project, "instances", wanted):
        carried = vm.get("labels", {})
        is_asked = "snakemake-output" in carried and labels.items() <= carried.items()
        if is_asked and carried["snakemake-output"] not in at_work and vm.get("status") != "STOPPING":
            found.append((scope, vm["name"]))
    return sorted(found)


def zones_with(project: str, gpu_model: str | None, machine_type: str) -> list[str]:
    """Return the zones, of all regions, that offer an accelerator type, or else a machine type."""
    kind, name = ("acceleratorTypes", gpu_model) if gpu_model else ("machineTypes", machine_type)
    return sorted({zone for zone, _ in _aggregated(project, kind, f"name={name}")})


def _aggregated(project: str, kind: str, wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (zone, resource) of what a project has, or may have, of a kind of Compute Engine; `wanted` is a filter."""
    import google.auth
    from google.auth.transport.requests import AuthorizedSession

    emulator = os.environ.get("GCEBATCH_EMULATOR_HTTP")
    credentials = AnonymousCredentials() if emulator else google.auth.default(scopes=[_SCOPE])[0]
    asked = {"filter": wanted, "returnPartialSuccess": "true"}
    with AuthorizedSession(credentials) as session:
        while True:
            answer = session.get(
                f"{emulator or 'https://compute.googleapis.com'}/compute/v1/projects/{project}/aggregated/{kind}",
                params=asked,
                timeout=20,
            )
            answer.raise_for_status()
            page = answer.json()
            for scope, found in page.get("items", {}).items():
                for one in found.get(kind, []):
                    yield scope.removeprefix("zones/"), one
            if not page.get("nextPageToken"):
                return
            asked["pageToken"] = page["nextPageToken"]
