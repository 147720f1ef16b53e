"""Published logs from the repository of their author, at a fixed commit, checksums checked."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pooch
import requests
from rich.console import Console
from rich.progress import track

from scripts.storage.errors import InputError

_HOST = "https://raw.githubusercontent.com"


def fetch(repository: str, commit: str, files: Mapping[str, str], cache: Path, host: str = _HOST) -> Path:
    """Return the folder `cache`/`repository`/`commit`, in which `files` then lie under their own paths.

    `repository` is owner/name, `files` path -> SHA-256. What is there already is checked, not fetched again.
    Raises InputError that names the file and what to do when one cannot be had or is another one.
    """
    folder = cache / repository / commit
    pooch.get_logger().setLevel("WARNING")  # one bar for all files instead of two lines for each
    bar = track(files.items(), f"{repository} {commit[:7]}", console=Console(stderr=True), transient=True)
    for path, sha256 in bar:
        place = folder / PurePosixPath(path)
        if not place.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{repository}: {path} lies outside the repository")
        url = f"{host}/{repository}/{commit}/{quote(path)}"
        try:
            pooch.retrieve(url, f"sha256:{sha256}", fname=place.name, path=place.parent)
        except requests.RequestException as error:
            raise InputError(
                f"{repository}: {path} could not be fetched from {url} ({type(error).__name__}): "
                f"clone the repository, check out {commit} and give its folder"
            ) from error
        except OSError as error:
            raise InputError(f"{place}: cannot be written: {error.strerror or error}") from error
        except ValueError as error:  # pooch: the checksum of what came is wrong
            raise InputError(f"{repository}: {path} from {url} is not the file that was imported: {error}") from error
    return folder
