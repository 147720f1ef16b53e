"""Whether there is an account, and what lets a dry run begin without one. Asks nothing of any network."""

import os
from collections.abc import MutableMapping
from pathlib import Path

#: Nobody listens there. Google's storage client takes it for an emulator, and asks for no credentials.
NOWHERE = "http://127.0.0.1:9"

_PRODUCT = Path("/sys/class/dmi/id/product_name")


def has_credentials(variables: MutableMapping[str, str] = os.environ) -> bool:
    """Return whether Google's libraries will find credentials: a file that is named, gcloud's, or a VM of Google."""
    given = variables.get("GOOGLE_APPLICATION_CREDENTIALS")
    if given:
        return Path(given).is_file()
    folder = Path(variables.get("CLOUDSDK_CONFIG") or Path(variables.get("HOME", "/")) / ".config" / "gcloud")
    on_google = _PRODUCT.is_file() and "Google" in _PRODUCT.read_text(encoding="utf-8", errors="replace")
    return on_google or (folder / "application_default_credentials.json").is_file()


def let_storage_begin(variables: MutableMapping[str, str] = os.environ) -> None:
    """Let Snakemake's Google storage be made where there are no credentials: it is made before any file is read.

    Without, a dry run ends in a traceback. What would really use the storage fails: the workflow is to look for
    `NOWHERE` in `STORAGE_EMULATOR_HOST` before it submits anything.
    """
    if "STORAGE_EMULATOR_HOST" not in variables and not has_credentials(variables):
        variables["STORAGE_EMULATOR_HOST"] = NOWHERE
