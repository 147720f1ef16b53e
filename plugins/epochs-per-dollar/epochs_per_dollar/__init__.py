"""Measures any training for a minute, and says what the whole costs.

In a loop whose progress cannot be read from what it prints: `for batch in epochs_per_dollar.watch(loader): ...`
"""

from __future__ import annotations

from epochs_per_dollar import callbacks
from epochs_per_dollar.watching import watch

__all__ = ["callbacks", "watch"]
__version__ = "0.1.0"
