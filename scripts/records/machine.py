"""What an entry of `config/hardware.yaml` says that a run of a machine is asked by."""

from typing import Any

#: The profile of entries of config/hardware.yaml that a kit reaches: no profile of profiles/ trains there.
KIT = "kit"


def devices_of(claims: dict[str, Any]) -> tuple[int, str]:
    """Return on how many devices a machine can train, and what they are: its GPUs, or without any its cores."""
    return (claims["gpus"]["count"], "GPUs") if "gpus" in claims else (claims["cores"], "cores")
