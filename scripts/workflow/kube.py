"""What a Kubernetes says to an account: whether it lets it do what a call does, and its refusals in a line."""

import json

import urllib3
from kubernetes import client, config  # type: ignore[import-untyped]

from scripts.storage.errors import InputError
from scripts.workflow import remedies

#: How long the API may take to answer (s).
SECONDS = 20

#: What asking it may end with.
ERRORS = (client.ApiException, urllib3.exceptions.HTTPError)

#: What the executor does in a namespace: verb, group, resource.
DONE = (
    ("create", "", "secrets"),
    ("delete", "", "secrets"),
    ("create", "batch", "jobs"),
    ("delete", "batch", "jobs"),
    ("get", "batch", "jobs/status"),
    ("list", "", "pods"),
    ("delete", "", "pods"),
    ("get", "", "pods/log"),
    ("list", "", "events"),
)


def is_missing(error: Exception) -> bool:
    """Return whether the API says that there is no such thing."""
    return getattr(error, "status", None) == 404


def words(error: BaseException) -> str:
    """Return what an error says, in a line: of one of the API its message, else what it was raised for."""
    for one in (error, *error.args):
        if isinstance(one, BaseException) and one is not error:
            return words(one)
    said = str(error)
    if isinstance(error, client.ApiException):
        try:
            said = json.loads(error.body)["message"]
        except (ValueError, KeyError, TypeError):
            said = f"{error.status} {error.reason}"
    return " ".join(said.split())[:600]


def check(namespace: str) -> None:
    """Refuse a call whose account is logged in nowhere, or may not do what its jobs need.

    Nothing is made. Raises InputError, a line with the cause and what to do.
    """
    where = f"Kubernetes, namespace {namespace}"
    try:
        _login()
        if lacking := _lacking(namespace):
            raise InputError(_line(where, f"is forbidden: User may not {', '.join(lacking)}"))
        secret = client.V1Secret(metadata=client.V1ObjectMeta(name="epochs-check"))
        client.CoreV1Api().create_namespaced_secret(namespace, secret, dry_run="All", _request_timeout=SECONDS)
    except client.ApiException as error:
        raise InputError(_line(where, words(error))) from error
    except urllib3.exceptions.HTTPError as error:
        raise InputError(_line(where, f"its API does not answer: {words(error)}")) from error


def _login() -> None:
    try:
        config.load_kube_config()
    except config.ConfigException as error:
        try:
            config.load_incluster_config()
        except config.ConfigException:
            raise InputError(_line("Kubernetes", f"no login: {words(error)}")) from error


def _lacking(namespace: str) -> list[str]:
    """Return what an account may not do, of what is done."""
    reviews = client.AuthorizationV1Api()
    lacking = []
    for verb, group, resource in DONE:
        name, _, part = resource.partition("/")
        asked = client.V1ResourceAttributes(
            namespace=namespace, verb=verb, group=group, resource=name, subresource=part or None
        )
        review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=asked))
        if not reviews.create_self_subject_access_review(review, _request_timeout=SECONDS).status.allowed:
            lacking.append(f"{verb} {resource}")
    return lacking


def _line(where: str, said: str) -> str:
    said = f"{where}: {said}"
    known = remedies.find(said)
    return f"{said}{f': {known[0]}; {known[1]}' if known else ''}"
