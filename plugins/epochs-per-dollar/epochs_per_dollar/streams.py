"""One of a command's streams: passed on to ours as it comes, and cut into lines."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from typing import Callable

#: So much is read at once, and a pipe holds so much, where Linux grants it.
_BUFFER_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031

#: What a terminal holds, and a pipe where nobody says it.
TERMINAL_BYTES, _PIPE_BYTES = 4096, 16384

#: Text that is looked at in a second. Of more, so many readings are looked at by their ends alone: what a program
#: prints before it goes on with its work stands there.
_LOOKED_AT_BYTES, _END_BYTES, _ENDS = 64 << 10, 2 << 10, 8

#: So much of the end of a stream is kept, for who asks why the command failed.
_TAIL_BYTES = 4 << 10


class Stream:
    """One of the command's streams, passed on to ours, cut into lines."""

    def __init__(self, source: int, target: int, see: Callable[[float, str], None], holds: int) -> None:
        self.source, self.target, self._see, self.holds = source, target, see, holds
        self.is_terminal = os.isatty(source)
        self._rest = self.tail = b""
        self._second, self._looked = -1.0, 0
        self.passed_at = 0.0

    def pass_on(self) -> int:
        """Pass on what there is; return its bytes, -1 at the end of the stream."""
        try:
            chunk = os.read(self.source, _BUFFER_BYTES)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                return 0
            chunk = b""  # The other end of a terminal has gone.
        if not chunk:
            return -1
        now = self.passed_at = time.monotonic()
        self.tail = (self.tail + chunk[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        _write(self.target, chunk)
        if now - self._second >= 1:
            self._second, self._looked = now, 0
        if self._looked < _LOOKED_AT_BYTES + _ENDS * _END_BYTES:
            end = chunk[-(_END_BYTES if self._looked >= _LOOKED_AT_BYTES else _LOOKED_AT_BYTES) :]
            self._looked += len(end)
            if len(end) < len(chunk):
                # What is left of a line that was cut has other numbers than the line.
                self._rest, end = b"", re.split(rb"[\r\n]", end, maxsplit=1)[-1]
            self._look(now, end)
        else:
            self._rest = b""
        return len(chunk)

    def pass_on_rest(self) -> None:
        """Pass on what the command printed last; not more than the pipe holds, as others may still write to it."""
        passed = 0
        while passed < _BUFFER_BYTES and (count := self.pass_on()) > 0:
            passed += count

    def _look(self, now: float, chunk: bytes) -> None:
        # A bar rewrites its line: what stands before a carriage return is a line too, and so is what has no end yet.
        *lines, self._rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        # Of many lines of one shape that came together the last is enough.
        last = {line[:40].translate(None, b"0123456789.,"): line for line in lines if line}
        for line in last.values():
            self._see(now, line.decode("utf-8", "replace"))
        if self._rest.rstrip().endswith((b"]", b"s", b"/step")) or len(self._rest) > 4096:
            self._see(now, self._rest.decode("utf-8", "replace"))
            self._rest = b"" if len(self._rest) > 4096 else self._rest


def _write(target: int, chunk: bytes) -> None:
    """Write all of it; a reader of ours that has gone is no reason to end somebody's training."""
    while chunk:
        try:
            chunk = chunk[os.write(target, chunk) :]
        except BlockingIOError:
            select.select([], [target], [])
        except OSError:
            return


def terminal_like(ours: int) -> tuple[int, int]:
    """Return the two ends of a new terminal, of the size of ours; what is written to it stays as it is."""
    master, slave = pty.openpty()
    size = struct.pack("4H", 24, 80, 0, 0)
    if os.isatty(ours):
        size = fcntl.ioctl(ours, termios.TIOCGWINSZ, size)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST  # Our terminal turns a line's end into two characters: once is enough.
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    return master, slave


def widen(pipe: int) -> int:
    """Return the bytes that a pipe holds, more than before where the system grants it."""
    try:
        return fcntl.fcntl(pipe, _F_SETPIPE_SZ, _BUFFER_BYTES)
    except OSError:
        return _PIPE_BYTES
