"""SkyPilot's catalogue in its repository: which versions of it there are, and when a file of it last changed."""

import json
import re
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.storage import downloads
from scripts.storage.errors import InputError

#: Where files lie as they are, and where GitHub answers questions about them.
RAW, API = "https://raw.githubusercontent.com", "https://api.github.com/repos"


def download(url: str) -> bytes:
    """Return what is at an address: it changes every day, so that no checksum is known. Raises InputError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        try:
            downloads.fetch(url, path)
        except downloads.NotFetched as error:
            raise InputError(f"{url}: could not be fetched: {error}") from error
        return path.read_bytes()


class Repository:
    """A folder of catalogues, `v<version>/<cloud>/vms.csv`, in a repository on GitHub; `url` is that of the folder."""

    def __init__(self, url: str) -> None:
        found = re.fullmatch(r"([^/]+/[^/]+)/([^/]+)/(.+?)/*", url.removeprefix(f"{RAW}/"))
        if found is None:
            raise InputError(f"--catalogue: {url}: must be {RAW}/OWNER/REPOSITORY/BRANCH/FOLDER")
        self._name, self._branch, self._folder = found.groups()

    @cached_property
    def _paths(self) -> list[str]:
        answer = self._asked(f"git/trees/{self._branch}?recursive=1")
        return [str(one["path"]) for one in answer["tree"]]

    def _asked(self, question: str) -> Any:
        url = f"{API}/{self._name}/{question}"
        try:
            return json.loads(download(url))
        except json.JSONDecodeError as error:
            raise InputError(f"{url}: is no JSON: {error}") from error

    def newest(self, cloud: str) -> str:
        """Return the path in the folder of a cloud's catalogue in the newest version that has one."""
        name = re.compile(rf"{re.escape(self._folder)}/(v(\d+)/{re.escape(cloud)}/vms\.csv)")
        found = [match for path in self._paths if (match := name.fullmatch(path))]
        if not found:
            raise InputError(f"{RAW}/{self._name}/{self._branch}/{self._folder}: no version has {cloud}/vms.csv")
        return max(found, key=lambda match: int(match[2]))[1]

    def read(self, path: str) -> tuple[str, bytes]:
        """Return where a file was read, and what it holds."""
        url = f"{RAW}/{self._name}/{self._branch}/{self._folder}/{path}"
        return url, download(url)

    def changed(self, path: str) -> str:
        """Return the day (YYYY-MM-DD) of the last commit that changed a file."""
        commits = self._asked(f"commits?sha={self._branch}&path={self._folder}/{path}&per_page=1")
        try:
            return str(commits[0]["commit"]["committer"]["date"])[:10]
        except (LookupError, TypeError) as error:
            raise InputError(f"{path}: {API}/{self._name} does not say when it last changed") from error
