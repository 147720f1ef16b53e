"""A job of Google Cloud Scheduler, which asks Google Batch for a machine that is the study's trigger, and then gone.

Not tried on Google Cloud: the request is checked against Google's client libraries, and run on an emulator of Batch.
"""

import base64
import hashlib
import json
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.storage import environment
from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.studies import definition
from scripts.workflow import checks
from scripts.workflow.intervals import Interval
from scripts.workflow.timers import MARK, ROOT, check_lines

#: The machine that a trigger runs on: it submits and waits.
MACHINE = "n1-standard-1"

#: Batch ends no job later.
_MOST_MINUTES = 14 * 24 * 60

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PLUGIN = "plugins/snakemake-executor-plugin-gcebatch"

#: What git ignores and a trigger needs: the digests of the images, and a person's own machines.
_IGNORED = ("envs/images.yaml", "config/hardware.local.yaml")

#: What the machine does: the clone as it was when the schedule was installed, then the trigger. The image has all but
#: git and the plugin.
_SCRIPT = """\
command -v git > /dev/null || { apt-get update -qq && apt-get install -y -qq git; }
python - SOURCES << 'FETCH'
import sys, fsspec
from pathlib import Path
files, root = fsspec.url_to_fs(sys.argv[1])
for path in files.find(root):
    to = Path("sent", path.removeprefix(root).strip("/"))
    to.parent.mkdir(parents=True, exist_ok=True)
    files.get_file(path, str(to))
FETCH
git init -q clone
cd clone
git fetch -q ../sent/clone.bundle HEAD
git checkout -q FETCH_HEAD
[ ! -e ../sent/ignored ] || cp -r ../sent/ignored/. .
export PYTHONPATH="$PWD/PLUGIN${PYTHONPATH:+:$PYTHONPATH}"
exec TRIGGER
"""


@dataclass(frozen=True)
class Site:
    """Where the trigger's machine runs, as whom, and the bucket that keeps its history."""

    project: str
    region: str
    account: str
    bucket: str
    image: str

    @property
    def parent(self) -> str:
        """The place of the schedules, in Google's words."""
        return f"projects/{self.project}/locations/{self.region}"

    def sources(self, label: str) -> str:
        """Return where the clone lies that the trigger of a schedule runs."""
        return f"gs://{self.bucket}/schedules/{label}"

    @property
    def kept(self) -> str:
        """Where histories are kept between triggers."""
        return f"gs://{self.bucket}/history"


def site(framework: str) -> Site:
    """Return the site that the variables of docs/clusters.md give. Raises InputError for what is not set."""
    names = ("project", "region", "service_account")
    lacking = [f"SNAKEMAKE_GCEBATCH_{name.upper()}" for name in names if not checks.setting(None, name)]
    bucket = environment.BUCKET.read()
    lacking += [] if bucket else [environment.BUCKET.name]
    if lacking:
        raise InputError(f"by: cloud: still to be set: {', '.join(lacking)} (docs/clusters.md)")
    image = checks.setting(None, "container") or checks.image(f"{framework}-cpu")
    if not image:
        raise InputError(f"by: cloud: {checks.unbuilt([f'{framework}-cpu'])}")
    project, region, account = (str(checks.setting(None, name)) for name in names)
    return Site(project, region, account, bucket, image)


def name(label: str, at: Site) -> str:
    """Return the full name of a schedule: letters, digits, `_` and `-`, no two labels alike."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", label)
    other = "" if plain == label else f"-{hashlib.sha256(label.encode()).hexdigest()[:8]}"
    return f"{at.parent}/jobs/{MARK}-{plain}{other}"


def request(
    label: str, words: Sequence[str], variables: Mapping[str, str], every: Interval, at: Site, minutes: float
) -> dict[str, Any]:
    """Return the job of Cloud Scheduler (its JSON), whose body is the Batch job that it asks for (its JSON).

    `words` are the trigger's, without those that say where its history is kept; it is ended after so many `minutes`.
    """
    try:
        from google.cloud import batch_v1
        from snakemake_executor_plugin_gcebatch import spec
    except ImportError as error:
        raise InputError(f"by: cloud: {error.name} is not installed: make gce") from None
    check_lines("cloud", [*words, *variables.values()])
    most = min(round(minutes), _MOST_MINUTES)
    trigger = shlex.join([*words, "--keep", at.kept, "--most-minutes", str(most + definition.MORE_MINUTES)])
    script = _SCRIPT.replace("SOURCES", shlex.quote(at.sources(label)), 1).replace("PLUGIN", _PLUGIN)
    batch = spec.job(
        f"bash -euc {shlex.quote(script.replace('TRIGGER', trigger))}",
        spec.Machine(MACHINE, at.image, runtime_minutes=most),
        # Not replaced where it is lost: the next trigger resumes.
        spec.Site(at.project, at.region, spot_retries=0, service_account=at.account),
        variables,
        {"study": spec.label(label), "snakemake-rule": "schedule"},
    )
    body = batch_v1.Job.to_json(batch, use_integers_for_enums=False, always_print_fields_with_no_presence=False)
    return {
        "name": name(label, at),
        "description": f"Epochs per Dollar repeats {label} every {every.text}",
        "schedule": every.cron,
        "timeZone": "Etc/UTC",
        "attemptDeadline": "180s",
        "httpTarget": {
            "uri": f"https://batch.googleapis.com/v1/{at.parent}/jobs",
            "httpMethod": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": base64.b64encode(body.encode()).decode(),
            "oauthToken": {"serviceAccountEmail": at.account, "scope": _SCOPE},
        },
    }


def send_sources(label: str, at: Site) -> None:
    """Put the last commit of this clone, and those files that git ignores, where the trigger finds them.

    Raises InputError where files differ from the commit: they would not be what is run.
    """
    import fsspec

    told = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode or told.stdout.strip():
        lines = told.stderr.strip() or ", ".join(one[3:] for one in told.stdout.splitlines()[:5])
        raise InputError(f"by: cloud: the last commit is sent, and these differ from it: {lines}: commit them first")
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder, "clone.bundle")
        subprocess.run(["git", "bundle", "create", "-q", str(bundle), "HEAD"], cwd=ROOT, check=True)
        files, root = fsspec.url_to_fs(at.sources(label))
        files.put_file(str(bundle), f"{root}/{bundle.name}")
        for name in _IGNORED:
            there = f"{root}/ignored/{name}"
            if (ROOT / name).is_file():
                files.put_file(str(ROOT / name), there)
            elif files.exists(there):
                files.rm_file(there)


def client() -> Any:
    """Return the client of Cloud Scheduler."""
    try:
        from google.cloud import scheduler_v1
    except ImportError:
        raise InputError("by: cloud: google-cloud-scheduler is not installed: make gce") from None
    from google.auth.exceptions import GoogleAuthError

    try:
        return scheduler_v1.CloudSchedulerClient()
    except GoogleAuthError as error:
        raise InputError(f"by: cloud: no login: gcloud auth application-default login ({error})") from error


def install(label: str, asked: Mapping[str, Any], at: Site) -> str:
    """Create a schedule from its `request`, or replace the one there is; return where it is in words."""
    from google.api_core import exceptions
    from google.cloud import scheduler_v1

    speaking = client()  # before anything is sent: without a login there is nobody to send it
    send_sources(label, at)
    write_text(ROOT / "history" / label / "cloud-scheduler.json", json.dumps(asked, indent=1) + "\n")
    job = scheduler_v1.Job.from_json(json.dumps(asked))
    try:
        try:
            speaking.create_job(parent=at.parent, job=job)
        except exceptions.AlreadyExists:
            speaking.update_job(job=job)
    except exceptions.GoogleAPICallError as error:
        raise InputError(f"by: cloud: {job.name}: {error.message}") from error
    return f"cloud: {job.name} ({job.schedule})"


def _site() -> Site | None:
    """Return the site, None where this session does not speak to Google."""
    with suppress(InputError):
        return site("")
    project, region = (checks.setting(None, name) for name in ("project", "region"))
    return Site(project, region, "", "", "") if project and region else None


def remove(label: str) -> bool:
    """Delete a schedule; False too where no project is set."""
    at = _site()
    if at is None:
        return False
    from google.api_core import exceptions

    try:
        client().delete_job(name=name(label, at))
    except exceptions.NotFound:
        return False
    except exceptions.GoogleAPICallError as error:
        raise InputError(f"by: cloud: {name(label, at)}: {error.message}") from error
    return True


def installed() -> list[str]:
    """Return the schedules of the project in the region, none where no project is set."""
    at = _site()
    if at is None:
        return []
    from google.api_core import exceptions

    try:
        jobs = list(client().list_jobs(parent=at.parent))
    except exceptions.GoogleAPICallError as error:
        raise InputError(f"by: cloud: {at.parent}: {error.message}") from error
    return [f"cloud: {job.name} ({job.schedule})" for job in jobs if f"/jobs/{MARK}-" in job.name]
