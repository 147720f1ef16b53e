"""The trainings that a kit starts: each ends with the kit, and shows its last line."""

import ctypes
import signal
import subprocess
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """A training ends with the kit that started it, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end(process: subprocess.Popen) -> None:
    """End a training that goes on; it leaves no record."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "starting"
