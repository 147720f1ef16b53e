"""What a kit finds on the machine it was carried to: cards, frameworks, who else uses them, its catalogue entry."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pynvml
import yaml

from scripts.kit.probe import Found
from scripts.measurement import hardware
from scripts.records.machine import KIT
from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

#: A framework that does not answer for so long is not going to train in the time there is.
_PROBE_SECONDS = 120.0

#: What a driver keeps for itself on a card of today, and use that is none (MiB, %): ours.
_IDLE_MIB, _IDLE_PERCENT = 1024, 5

#: A process that has just ended may hold its memory a moment longer.
_RELEASE_SECONDS = 5.0


def probe(frameworks: Iterable[str], cores: int, gpus: int) -> list[Found]:
    """Start each framework in a process of its own, beside each other, and return what came of it."""
    with ExitStack() as stack:
        started = []
        for name in frameworks:
            output = stack.enter_context(tempfile.TemporaryFile("w+"))
            command = [sys.executable, str(ROOT / "scripts" / "kit" / "probe.py"), name, str(cores), str(gpus)]
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
            stack.callback(process.kill)
            started.append((name, process, output))
        until = monotonic() + _PROBE_SECONDS
        found = []
        for name, process, output in started:
            try:
                code = process.wait(max(0.0, until - monotonic()))
            except subprocess.TimeoutExpired:
                found.append(Found(name, problem=f"did not start in {_PROBE_SECONDS:.0f} s"))
                continue
            output.seek(0)
            found.append(_answer(name, output.read(), code))
        return found


def _answer(name: str, output: str, code: int) -> Found:
    """Return what a probe's last line says, or that it exited without output."""
    lines = [line for line in output.splitlines() if line.strip()]
    try:
        return Found(**json.loads(lines[-1]))
    except (IndexError, ValueError, TypeError):
        said = f": {lines[-1][:200]}" if lines else ""
        return Found(name, problem=f"ended with code {code} while it started{said}")


def in_use() -> str | None:
    """Return which card others use and how much, None if all are idle. Waits for what has just ended."""
    until = monotonic() + _RELEASE_SECONDS
    while (used := _in_use()) and monotonic() < until:
        sleep(0.5)
    return used


def _in_use() -> str | None:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        for index in range(pynvml.nvmlDeviceGetCount()):
            card = pynvml.nvmlDeviceGetHandleByIndex(index)
            used = pynvml.nvmlDeviceGetMemoryInfo(card).used / 2**20
            percent = _reading(pynvml.nvmlDeviceGetUtilizationRates, card)
            busy = percent.gpu if percent else 0
            # In a container the processes of others are not listed; their memory and load are seen.
            others = len(_reading(pynvml.nvmlDeviceGetComputeRunningProcesses, card) or [])
            if others or used > _IDLE_MIB or busy > _IDLE_PERCENT:
                return f"card {index} is in use by others: {others} processes, {used:.0f} MiB, {busy} % busy"
        return None
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _reading(read, card) -> Any:
    try:
        return read(card)
    except pynvml.NVMLError:
        return None  # cards differ in what they report


def _short(model: str) -> str:
    return model.removeprefix("NVIDIA ")


def entry(catalogue: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return name and catalogue entry of the machine that was found: one that is known, or a new one.

    Known is an entry that a kit reaches and whose claims the machine meets, its cards by their whole name; `found` is
    from `hardware.detect`.
    """
    for name, about in catalogue.items():
        if KIT in about.get("clusters", {}) and ("gpus" in about["machine"]) == bool(found["gpus"]):
            try:
                hardware.check(name, about["machine"], 1, dict(found))
            except InputError:
                continue
            claimed = about["machine"].get("gpus", {}).get("model", "")
            if all(_short(gpu["model"]) == _short(claimed) for gpu in found["gpus"]):
                return name, about
    machine: dict[str, Any] = {"cores": found["cores"]}
    if found["cpu_model"]:
        machine["cpu_model"] = found["cpu_model"]
    label = f"{found['cores']} cores"
    if found["gpus"]:
        model = _short(found["gpus"][0]["model"])
        count = len(found["gpus"])
        machine["gpus"] = {"model": model, "count": count}
        label = model if count == 1 else f"{count} x {model}"
    name = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
    if name in catalogue:  # a machine of that name that a profile reaches, or another processor
        name = f"kit-{name}"
    return name, {"label": label, "machine": machine, "clusters": {KIT: {}}}


def entry_text(name: str, about: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return a catalogue entry as YAML, with what was found as a comment above it."""
    cards = [f"{gpu['model']}, {gpu['memory_mib']} MiB" for gpu in found["gpus"]]
    seen = [
        *cards,
        *([f"driver {found['gpu_driver']}"] if found["gpu_driver"] else []),
        f"{found['cpu_model']}, {found['cores']} cores, {found['memory_mib']} MiB",
        found["system"],
    ]
    lines = "; ".join(" ".join(part.split()) for part in seen)
    return f"# Found by a kit: {lines}\n{yaml.safe_dump({name: dict(about)}, default_flow_style=None, sort_keys=False)}"


def disk_free_mib(folder: Path) -> float:
    """Return the free space (MiB) where `folder` lies."""
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize / 2**20
