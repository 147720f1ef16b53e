"""A workflow of GitHub Actions, which trains on the service's machine and keeps the history in a branch."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.workflow.intervals import Interval
from scripts.workflow.timers import MARK, ROOT, check_lines

#: Where PyTorch's CPU builds are.
_TORCH = "https://download.pytorch.org/whl/cpu"

#: GitHub's shortest.
_LEAST_SECONDS = 300

#: GitHub's longest job, and what of it the training may take: a job that is late is cancelled and keeps nothing, a step
#: that is late has failed, after which the history is kept.
_JOB_MINUTES, _REPEAT_MINUTES = 360, 330


def _file(label: str) -> Path:
    return ROOT / ".github" / "workflows" / f"{MARK}-{label}.yml"


def branch(label: str) -> str:
    """Return the branch that keeps the history: one commit, replaced every time."""
    return f"{MARK}-history/{label}"


# A branch that is not there is no error, one that cannot be fetched is: what follows would write over it.
_FETCH = """\
found=0
git ls-remote --exit-code --heads origin refs/heads/{branch} > /dev/null || found=$?
if [ "$found" -ne 2 ]; then
  git fetch --quiet --depth 1 origin refs/heads/{branch}
  git archive FETCH_HEAD | tar -x
fi
"""

_KEEP = """\
export GIT_INDEX_FILE="$PWD/.git/{mark}-index"
rm -f "$GIT_INDEX_FILE"
for folder in history/{label} results/{label}; do
  if [ -e "$folder" ]; then git add --force "$folder"; fi
done
tree=$(git write-tree)
commit=$(git -c user.name={mark} -c user.email={mark}@localhost commit-tree -m "History of {label}" "$tree")
git push --quiet --force origin "$commit:refs/heads/{branch}"
"""


def workflow(label: str, words: Sequence[str], frameworks: Sequence[str], every: Interval) -> dict[str, Any]:
    """Return the workflow; `words` are those after `python -m scripts.repeat`."""
    if every.seconds < _LEAST_SECONDS:
        raise InputError(f"every: {every.text}: GitHub Actions calls every 5 minutes at most")
    check_lines("github", words)
    if expanded := [word for word in words if "${{" in word]:
        raise InputError(f"by: github: {expanded[0]!r}: GitHub would put a value of its own in the place of ${{{{")
    named = sorted(frameworks)
    names = {"label": label, "branch": branch(label), "mark": MARK}
    return {
        "name": f"Epochs per Dollar: {label}",
        "on": {"schedule": [{"cron": every.cron}], "workflow_dispatch": {}},
        "permissions": {"contents": "write"},
        "concurrency": {"group": f"{MARK}-{label}", "cancel-in-progress": False},
        "jobs": {
            "repeat": {
                "runs-on": "ubuntu-latest",
                "timeout-minutes": _JOB_MINUTES,
                "steps": [
                    {"uses": "actions/checkout@v4"},
                    {"uses": "actions/setup-python@v5", "with": {"python-version": "3.12"}},
                    {
                        "name": "Install",
                        "run": f'make FRAMEWORKS="{" ".join(named)}" .venv/report-{"-".join(named)}\n',
                        "env": {"PIP_EXTRA_INDEX_URL": _TORCH if "torch" in named else ""},
                    },
                    {"name": "Fetch the history", "id": "fetch", "run": _FETCH.format(**names)},
                    {
                        "name": "Repeat",
                        "timeout-minutes": _REPEAT_MINUTES,
                        "run": f".venv/bin/python -m scripts.repeat {shlex.join(words)}\n",
                    },
                    {
                        "name": "Keep the history",
                        "if": "${{ !cancelled() && steps.fetch.outcome == 'success' }}",
                        "run": _KEEP.format(**names),
                    },
                    {
                        "uses": "actions/upload-artifact@v4",
                        "if": "${{ !cancelled() }}",
                        "with": {"name": f"history-{label}", "path": f"history/{label}/history.html"},
                    },
                ],
            }
        },
    }


def install(label: str, words: Sequence[str], frameworks: Sequence[str], every: Interval) -> str:
    """Write the workflow's file, in the place of the one there was; return where it is in words."""
    text = yaml.safe_dump(workflow(label, words, frameworks, every), sort_keys=False, width=1000)
    write_text(_file(label), f"# Made by `./epd schedule add`; `./epd schedule remove` removes it.\n{text}")
    return f"github: {_file(label)}: commit it and push it to the default branch, from which GitHub reads schedules"


def remove(label: str) -> bool:
    """Remove the workflow's file."""
    there = _file(label).exists()
    _file(label).unlink(missing_ok=True)
    return there


def installed() -> list[str]:
    """Return the workflows of this clone."""
    return [f"github: {path}" for path in sorted(_file("x").parent.glob(f"{MARK}-*.yml"))]
