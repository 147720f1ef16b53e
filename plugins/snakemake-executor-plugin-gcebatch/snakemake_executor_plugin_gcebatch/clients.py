"""What speaks to Google: Batch, the log, and Compute Engine's list of zones.

With `GCEBATCH_EMULATOR_GRPC` (host:port) and `GCEBATCH_EMULATOR_HTTP` (http://host:port) in the environment, all of
it goes there, without credentials.
"""

import os
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.cloud import batch_v1 as batch

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


def zones_with(project: str, gpu_model: str | None, machine_type: str) -> list[str]:
    """Return the zones, of all regions, that offer an accelerator type, or else a machine type."""
    import google.auth
    from google.auth.transport.requests import AuthorizedSession

    kind, name = ("acceleratorTypes", gpu_model) if gpu_model else ("machineTypes", machine_type)
    emulator = os.environ.get("GCEBATCH_EMULATOR_HTTP")
    credentials = AnonymousCredentials() if emulator else google.auth.default(scopes=[_SCOPE])[0]
    with AuthorizedSession(credentials) as session:
        answer = session.get(
            f"{emulator or 'https://compute.googleapis.com'}/compute/v1/projects/{project}/aggregated/{kind}",
            params={"filter": f"name={name}", "returnPartialSuccess": "true"},
            timeout=20,
        )
        answer.raise_for_status()
    scopes = answer.json().get("items", {})
    return sorted(scope.removeprefix("zones/") for scope, found in scopes.items() if found.get(kind))
