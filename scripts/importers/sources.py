"""Published logs from the repository of their author, at a fixed commit, checksums checked."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from rich.console import Console
from rich.progress import track

from scripts.storage import downloads
from scripts.storage.errors import InputError

_HOST = "https://raw.githubusercontent.com"


def fetch(repository: str, commit: str, files: Mapping[str, str], cache: Path, host: str = _HOST) -> Path:
    """Return the folder `cache`/`repository`/`commit`, in which `files` then lie under their own paths.

    `repository` is owner/name, `files` path -> SHA-256. What is there already is checked, not fetched again.
    Raises InputError that names the file and what to do when one cannot be had or is another one.
    """
    folder = cache / repository / commit
    bar = track(files.items(), f"{repository} {commit[:7]}", console=Console(stderr=True), transient=True)
    for path, sha256 in bar:
        place = folder / PurePosixPath(path)
        if not place.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{repository}: {path} lies outside the repository")
        url = f"{host}/{repository}/{commit}/{quote(path)}"
        try:
            downloads.fetch(url, place, f"sha256:{sha256}")
        except downloads.NotFetched as error:
            raise InputError(
                f"{repository}: {path} could not be fetched from {url} ({error}): clone the repository, check out "
                f"{commit} and give its folder"
            ) from error
    return folder
