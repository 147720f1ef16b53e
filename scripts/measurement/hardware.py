"""What this machine is, and whether it is what a hardware entry claims."""

import os
import platform
from pathlib import Path
from typing import Any

import psutil
import pynvml

from scripts.records.machine import devices_of
from scripts.storage.errors import InputError


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _gpus() -> tuple[list[dict[str, Any]], str | None]:
    """Return model and memory of each NVIDIA GPU, and the driver's version (None without a driver)."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return [], None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        gpus = [
            {
                "model": _text(pynvml.nvmlDeviceGetName(handle)),
                "memory_mib": pynvml.nvmlDeviceGetMemoryInfo(handle).total // 2**20,
            }
            for handle in handles
        ]
        return gpus, _text(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError:  # a driver that does not answer is none
        return [], None
    finally:
        pynvml.nvmlShutdown()


def detect() -> dict[str, Any]:
    """Return the machine's processor, cores (logical CPUs this process may use), memory and GPUs."""
    gpus, driver = _gpus()
    return {
        "cpu_model": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mib": psutil.virtual_memory().total // 2**20,
        "gpus": gpus,
        "gpu_driver": driver,
        "system": platform.platform(),
    }


#: In place of what `detect` returns, of a machine that never was there.
NOT_SEEN: dict[str, Any] = {
    "cpu_model": "",
    "cores": 0,
    "memory_mib": 0,
    "gpus": [],
    "gpu_driver": None,
    "system": "",
}


def check(name: str, claims: dict[str, Any], devices: int, found: dict[str, Any]) -> None:
    """Raise InputError unless the machine found is the one that hardware entry `name` claims, with so many devices.

    `claims` may hold `cores` (at least so many), `cpu_model` (part of the name) and `gpus` (`model`,
    part of each name, and `count`, exactly so many). Without `gpus` a run is held to the CPU, and
    GPUs that are there are hidden from it.
    """
    there, what = devices_of(claims)
    if devices > there:
        raise InputError(f"hardware {name}: has {there} {what}, cannot train on {devices} devices")
    if found["cores"] < claims["cores"]:
        raise InputError(f"hardware {name}: claims {claims['cores']} cores, this machine has {found['cores']}")
    if claims.get("cpu_model", "").lower() not in found["cpu_model"].lower():
        raise InputError(
            f"hardware {name}: claims cpu_model {claims['cpu_model']!r}, this machine has {found['cpu_model']!r}"
        )
    if "gpus" in claims:
        wanted = claims["gpus"]
        models = [gpu["model"] for gpu in found["gpus"]]
        if len(models) != wanted["count"] or any(wanted["model"].lower() not in model.lower() for model in models):
            raise InputError(
                f"hardware {name}: claims {wanted['count']} x {wanted['model']}, "
                f"this machine has {', '.join(models) or 'no GPU'}"
            )
