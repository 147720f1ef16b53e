"""What this machine is, and what a command and its children use of it: /proc, and NVIDIA's library where it is.

On macOS only the names and the number of cores are known; what cannot be read is None, never zero.
"""

from __future__ import annotations

import ctypes
import os
import platform
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MIB = 1 << 20
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_STAT = "/proc/stat"


def _stolen_seconds() -> float:
    """Return the CPU seconds that other guests of the host took so far: `steal` of proc(5), 0 where there is none."""
    try:
        with open(_STAT, "rb") as file:
            return int(file.readline().split()[8]) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


@dataclass(frozen=True)
class Card:
    """A GPU as its driver names it."""

    name: str
    memory_mib: int


@dataclass(frozen=True)
class Machine:
    """Cores that a process may use, the processor's name, memory, and the cards that are visible to a program."""

    cores: int
    cpu_model: str
    memory_mib: int | None
    cards: tuple[Card, ...] = ()
    driver_version: str | None = None


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class _Utilisation(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


#: What a card's driver calls reasons for lower clocks (nvml.h). The cap of its power, at which a busy card works as it
#: is meant to, and clocks that somebody has set are none of these.
_SLOWED_BY = ((0x20 | 0x40, "heat"), (0x80, "the supply of power"), (0x08, "its hardware"))


class Nvml:
    """NVIDIA's management library, as far as it is asked here; without a card there are none.

    Which cards count: those that CUDA_VISIBLE_DEVICES names by number, or all.
    """

    def __init__(self) -> None:
        self.handles: list[Any] = []
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if self._library.nvmlInit_v2():
            return
        count = ctypes.c_uint()
        self._library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        named = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "all").split(",")]
        by_number = all(name.isdigit() for name in named)
        for number in range(count.value):
            if by_number and str(number) not in named:
                continue
            handle = ctypes.c_void_p()
            if not self._library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle)):
                self.handles.append(handle)

    def _ask(self, name: str, handle: Any, result: Any) -> Any:
        """Return a value that a card was asked for, None if it does not say."""
        function = getattr(self._library, name, None)
        return None if function is None or function(handle, ctypes.byref(result)) else result

    def cards(self) -> tuple[Card, ...]:
        found = []
        for handle in self.handles:
            name = ctypes.create_string_buffer(96)
            self._library.nvmlDeviceGetName(handle, name, 96)
            memory = self._ask("nvmlDeviceGetMemoryInfo", handle, _Memory())
            found.append(Card(name.value.decode("utf-8", "replace"), int(memory.total // _MIB) if memory else 0))
        return tuple(found)

    def driver_version(self) -> str | None:
        if not self.handles:
            return None
        version = ctypes.create_string_buffer(80)
        return None if self._library.nvmlSystemGetDriverVersion(version, 80) else version.value.decode()

    def _slowed_by(self, handle: Any) -> str | None:
        """Return what slows a card down now, None where nothing does, or it does not say."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if (reasons := self._ask(name, handle, ctypes.c_ulonglong())) is not None:
                return next((words for bits, words in _SLOWED_BY if reasons.value & bits), None)
        return None

    def read(self) -> list[dict[str, Any]]:
        """Return what each card says now: memory_mib, power_watts, busy (0 to 1), and slowed_by in words."""
        rows = []
        for handle in self.handles:
            memory = self._ask("nvmlDeviceGetMemoryInfo", handle, _Memory())
            power = self._ask("nvmlDeviceGetPowerUsage", handle, ctypes.c_uint())
            busy = self._ask("nvmlDeviceGetUtilizationRates", handle, _Utilisation())
            rows.append(
                {
                    "memory_mib": memory.used / _MIB if memory else None,
                    "power_watts": power.value / 1000 if power else None,
                    "busy": busy.gpu / 100 if busy else None,
                    "slowed_by": self._slowed_by(handle),
                }
            )
        return rows


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Hardware", "CPU part")):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def look(nvml: Nvml, cores: int | None = None) -> Machine:
    """Return what this machine is, for a command that may use so many cores (None: all)."""
    if cores is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES // _MIB
    except (ValueError, OSError):
        memory = None
    return Machine(cores, _cpu_model(), memory, nvml.cards(), nvml.driver_version())


#: Of one core, for going through all processes: those of others, and new ones.
_SHARE = 0.001


#: A process that takes so much of a core keeps it full.
_FULL = 0.9

#: A card is used whose memory has grown by so much since the first reading, or that was busy for so much of one.
_USED_MIB, _USED_BUSY = 64.0, 0.05


@dataclass
class Meter:
    """What the processes of a command use, read once a second: those of its group and all that descend from it."""

    pid: int
    nvml: Nvml
    peak_memory_mib: float | None = None
    cpu_seconds: float | None = None
    other_cpu_seconds: float | None = None
    energy_joules: float | None = None
    peak_gpu_memory_mib: float | None = None
    gpu_busy: list[float] = field(default_factory=list)
    processes: int = 0
    cards_used: set[int] = field(default_factory=set)
    #: Whether steps have begun: stalls and slowed clocks of a start are none of the training.
    is_training: bool = False
    readings: int = 0
    stalled: float = 0.0
    slowed: dict[str, int] = field(default_factory=dict)
    _memory_before: list[float | None] = field(default_factory=list)
    _spent: dict[int, float] = field(default_factory=dict)
    _all_before: float | None = None
    _read_at: float | None = None
    _next_at: float = 0.0

    def read(self, seconds: float, last: bool = False) -> None:
        """Take a reading, `seconds` after the command's start; of all processes as often as they are not dear."""
        before = dict(self._spent)
        if last or seconds >= self._next_at or not self._spent:
            spent = time.process_time()
            self._read_all()
            self._next_at = seconds + (time.process_time() - spent) / _SHARE
        else:
            self._add(self._table([str(pid) for pid in self._spent]))
        fullest = max((spent - before.get(pid, 0.0) for pid, spent in self._spent.items()), default=0.0)
        is_core_full = self._read_at is not None and fullest > _FULL * (seconds - self._read_at)
        rows = self.nvml.read() if self.nvml.handles else []
        powers = [row["power_watts"] for row in rows if row["power_watts"] is not None]
        if powers and self._read_at is not None:
            self.energy_joules = (self.energy_joules or 0.0) + sum(powers) * (seconds - self._read_at)
        memories = [row["memory_mib"] for row in rows if row["memory_mib"] is not None]
        if memories:
            self.peak_gpu_memory_mib = max(self.peak_gpu_memory_mib or 0.0, sum(memories))
        busy = [row["busy"] for row in rows if row["busy"] is not None]
        if busy:
            self.gpu_busy.append(sum(busy) / len(busy))
        self._see_which_are_used(rows)
        if self.is_training and not last:
            self._see_what_holds_it_up([rows[number] for number in self.cards_used], is_core_full)
        self._read_at = seconds

    def _see_what_holds_it_up(self, used: list[dict[str, Any]], is_core_full: bool) -> None:
        """Note a card that idles while one core is full, as it waits for its data, and one that is slowed down."""
        idle = [1 - row["busy"] for row in used if row["busy"] is not None]
        if not used:
            return
        self.readings += 1
        if idle and is_core_full:
            self.stalled += sum(idle) / len(idle)
        if slowed := next((row["slowed_by"] for row in used if row["slowed_by"]), None):
            self.slowed[slowed] = self.slowed.get(slowed, 0) + 1

    @property
    def stalled_share(self) -> float | None:
        """Return the share of the training in which cards were idle and one core full; None without a used card."""
        return self.stalled / self.readings if self.readings else None

    @property
    def slowed_share(self) -> dict[str, float]:
        """Return by what cards were slowed down, and in which share of the training."""
        return {words: count / self.readings for words, count in self.slowed.items()}

    def _see_which_are_used(self, rows: list[dict[str, Any]]) -> None:
        """Note the cards whose memory has grown, or that are busy: a machine may have more than a command uses."""
        memories = [row["memory_mib"] for row in rows]
        self._memory_before = self._memory_before or memories
        for number, (row, before) in enumerate(zip(rows, self._memory_before)):
            grown = (row["memory_mib"] or 0.0) - (before or 0.0)
            if grown > _USED_MIB or (row["busy"] or 0.0) > _USED_BUSY:
                self.cards_used.add(number)

    @staticmethod
    def _table(names: Iterable[str]) -> dict[int, tuple[int, int, float, int]]:
        """Return what processes say: parent, group, CPU seconds, pages of memory."""
        table = {}
        for name in names:
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    values = file.read().rsplit(b")", 1)[1].split()
            except OSError:
                continue
            # From state on: ppid 1, pgrp 2, utime 11, stime 12, rss 21.
            table[int(name)] = (
                int(values[1]),
                int(values[2]),
                (int(values[11]) + int(values[12])) / _TICKS,
                int(values[21]),
            )
        return table

    def _add(self, ours: dict[int, tuple[int, int, float, int]]) -> None:
        """Add what the command's processes say."""
        self.processes = max(self.processes, len(ours))
        self._spent.update({pid: row[2] for pid, row in ours.items()})
        self.cpu_seconds = sum(self._spent.values())
        memory = sum(row[3] for row in ours.values()) * _PAGE_BYTES / _MIB
        self.peak_memory_mib = max(self.peak_memory_mib or 0.0, memory)

    def _read_all(self) -> None:
        """Read all processes: those of the command are its group and all that descend from it."""
        try:
            table = self._table(name for name in os.listdir("/proc") if name.isdigit())
        except OSError:
            return
        ours = {pid for pid, row in table.items() if pid == self.pid or row[1] == self.pid or pid in self._spent}
        while more := {pid for pid, row in table.items() if row[0] in ours} - ours:
            ours |= more
        if ours:
            self._add({pid: table[pid] for pid in ours})
        apart = ours | {os.getpid()}
        others = sum(row[2] for pid, row in table.items() if pid not in apart) + _stolen_seconds()
        if self._all_before is not None:
            self.other_cpu_seconds = (self.other_cpu_seconds or 0.0) + max(0.0, others - self._all_before)
        self._all_before = others
