"""The seal of what this clone keeps for itself: what came from elsewhere has none, and is not believed."""

import hashlib
import hmac
import secrets
from functools import cache
from pathlib import Path

from scripts.storage.errors import InputError
from scripts.storage.files import replacing

#: Never leaves the clone.
_KEY = Path(__file__).resolve().parents[2] / ".cache" / "key"

_BYTES = 32


@cache
def _key() -> bytes:
    if _KEY.is_file() and len(kept := _KEY.read_bytes()) == _BYTES:
        return kept
    key = secrets.token_bytes(_BYTES)
    try:
        with replacing(_KEY) as temporary:
            temporary.chmod(0o600)
            temporary.write_bytes(key)
    except InputError:  # of a clone that cannot be written to, each process has its own
        return key
    return key


def of(text: str) -> str:
    """Return the seal of a text."""
    return hmac.new(_key(), text.encode(), hashlib.sha256).hexdigest()
