"""Runs a command as a shell would, passes on what it prints, and sees each line as it comes.

The command has the streams it would have without us: a terminal of its own where ours is one, else pipes. Its standard
input is ours. It is in a process group of its own, in the foreground of the terminal: Ctrl-C reaches it as always.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

from epochs_per_dollar.lines import plain
from epochs_per_dollar.streams import TERMINAL_BYTES, Stream, terminal_like, widen
from epochs_per_dollar.watching import STARTED, VARIABLE

#: Reads are so far apart (s), at first and at most, unless much comes: each wakes us, and that is what watching costs.
#: What is printed to a terminal stays there for little longer than the first, as it holds little.
READ_SECONDS, MOST_READ_SECONDS = 0.04, 0.1

#: How long a command may take to end after each of the signals that ask it to (s).
GRACE_SECONDS = 10.0


class NoCommandError(Exception):
    """A command that cannot be started; the text says why."""


class Child:
    """A command while it runs.

    `see` gets each line that it prints, with `time.monotonic()` of its coming, `hear` what its `watch()` sends.
    `terminal` gives it one where we have none, `cores` holds it to the first so many; it runs in `folder` (None: where
    we are) with the variables of `more` beside ours; without `foreground` the terminal stays with us, and Ctrl-C comes
    to it through us.
    Raises NoCommandError if it is not there.
    """

    def __init__(
        self,
        command: Sequence[str],
        see: Callable[[float, str], None],
        hear: Callable[[str], None] = lambda text: None,
        terminal: bool = False,
        cores: int | None = None,
        folder: Path | None = None,
        more: Mapping[str, str] | None = None,
        foreground: bool = True,
    ) -> None:
        self._cores = cores
        self._terminal = _controlling_terminal() if foreground else None
        self._streams, ends = [], []
        for number in (1, 2):
            if terminal or os.isatty(number):
                source, end = terminal_like(number)
                holds = TERMINAL_BYTES
            else:
                source, end = os.pipe()
                holds = widen(source)
            os.set_blocking(source, False)
            self._streams.append(Stream(source, number, see, holds))
            ends.append(end)
        self._errors = self._streams[1]
        self.has_terminal = terminal or os.isatty(1) or os.isatty(2)
        self.read_seconds = READ_SECONDS
        self._hear = hear
        self._folder = tempfile.TemporaryDirectory(prefix="epd-")
        self._ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ear.bind(os.path.join(self._folder.name, "ticks"))
        self._ear.setblocking(False)
        environment = {
            **os.environ,
            **(more or {}),
            VARIABLE: os.path.join(self._folder.name, "ticks"),
            STARTED: repr(time.time()),
        }
        # Python keeps back what it prints into a pipe, by the 8 KiB: ours, and that of `python train.py | tee log`.
        environment.setdefault("PYTHONUNBUFFERED", "1")
        if folder is not None:
            environment["PWD"] = str(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        self.started = time.monotonic()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdout=ends[0],
                stderr=ends[1],
                cwd=folder,
                env=environment,
                preexec_fn=self._in_the_foreground,
            )
        except OSError as error:
            for stream in self._streams:
                os.close(stream.source)
            self._ear.close()
            self._folder.cleanup()
            reason = {errno.ENOENT: "there is no such command", errno.EACCES: "it may not be run"}.get(error.errno or 0)
            raise NoCommandError(f"{command[0]}: {reason or os.strerror(error.errno or 0)}") from None
        finally:
            for end in ends:
                os.close(end)
        self.pid = self._process.pid
        self._old = {
            number: signal.signal(number, self._pass_signal)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }
        self._old[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda number, frame: self._follow_size())
        self.signalled: list[int] = []
        self._closed = 0.0

    def _in_the_foreground(self) -> None:
        """Give the command a process group of its own, and the terminal to that group."""
        os.setpgid(0, 0)
        if self._cores is not None:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: self._cores])
        if self._terminal is not None:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(self._terminal, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)

    def _pass_signal(self, number: int, frame: object) -> None:
        self.signalled.append(number)
        self.send(number)

    def _follow_size(self) -> None:
        """Give the command's terminals the size of ours, and signal the command if it has changed.

        It is asked for: the system signals the command, which is in the foreground, and not us.
        """
        for stream in self._streams:
            if not stream.is_terminal or not os.isatty(stream.target):
                continue
            with contextlib.suppress(OSError):
                size = fcntl.ioctl(stream.target, termios.TIOCGWINSZ, bytes(8))
                if size != fcntl.ioctl(stream.source, termios.TIOCGWINSZ, bytes(8)):
                    fcntl.ioctl(stream.source, termios.TIOCSWINSZ, size)
                    self.send(signal.SIGWINCH)

    def send(self, number: int) -> None:
        """Send a signal to the command and all of its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def follow(self, is_over: Callable[[float], bool], each_second: Callable[[float], None] = lambda now: None) -> None:
        """Pass on until the command has ended, or `is_over(seconds since its start)`: asked ten times a second."""
        asked = second = self.started
        while self._streams or self._process.poll() is None:
            heard: list[Any] = [*(stream.source for stream in self._streams), self._ear]
            ready, _, _ = select.select(heard, [], [], 0.1)
            is_much = False
            if self._ear in ready:
                self._listen()
            for stream in [one for one in self._streams if one.source in ready]:
                count = stream.pass_on()
                is_much = is_much or count >= stream.holds / 4
                if count < 0:
                    os.close(stream.source)
                    self._streams.remove(stream)
            now = time.monotonic()
            if now - asked >= 0.1:
                asked = now
                self._stop_with_it()
                if is_over(now - self.started):
                    return
            if now - second >= 1:
                second = now
                self._follow_size()
                each_second(now - self.started)
            if not is_much:
                time.sleep(READ_SECONDS if self.has_terminal else self.read_seconds)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._hear(self._ear.recv(200).decode("utf-8", "replace"))

    def _stop_with_it(self) -> None:
        """Stop where Ctrl-Z stopped the command, and go on with it."""
        if self._terminal is None:
            return
        try:
            pid, status = os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)
        except ChildProcessError:
            return
        if pid and os.WIFSTOPPED(status):
            _take_terminal(self._terminal, os.getpgrp())
            os.kill(0, signal.SIGSTOP)
            _take_terminal(self._terminal, self.pid)
            self.send(signal.SIGCONT)
        elif pid:
            self._process.returncode = os.waitstatus_to_exitcode(status)

    @property
    def has_ended(self) -> bool:
        """Whether the command itself has ended."""
        return self._process.poll() is not None

    @property
    def seconds(self) -> float:
        """Seconds since its start, until it was closed."""
        return (self._closed or time.monotonic()) - self.started

    @property
    def last_words(self) -> str:
        """The end of what it wrote on standard error."""
        return self._errors.tail.decode("utf-8", "replace")

    @property
    def last_line(self) -> str:
        """The last line that it printed, also one without an end: it may be a question."""
        latest = max(self._streams, key=lambda stream: stream.passed_at, default=self._errors)
        printed = re.split(r"[\r\n]", latest.tail.decode("utf-8", "replace"))
        return next((text for line in reversed(printed) if (text := plain(line))), "")

    def strays(self) -> list[int]:
        """Return the processes that it started and that have left its group: what it put into the background."""
        return [pid for pid in self._living() if _group(pid) not in (self.pid, None)]

    def _living(self) -> list[int]:
        """Return the processes that it started and that run: known by their group, or a variable that they inherited.

        Without /proc (macOS) none is known.
        """
        mark, found = f"{VARIABLE}={self._folder.name}/".encode(), []
        for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
            with contextlib.suppress(OSError):
                if name.isdigit() and _runs(name) and (os.getpgid(int(name)) == self.pid or mark in _environ(name)):
                    found.append(int(name))
        return sorted(found)

    @property
    def _lives(self) -> bool:
        """Whether it, or something that it started, still runs: a launcher may end before its workers have saved."""
        if self._process.poll() is None or (not os.path.isdir("/proc") and _group_lives(self.pid)):
            return True
        return bool(self._living())

    def end(self, first: int | None = signal.SIGINT, seconds: float = GRACE_SECONDS) -> None:
        """End the command as a person would, with Ctrl-C, and harder where that is not enough.

        `first` is the signal that comes first, with the seconds that it is given; None where it had one already.
        """
        self._closed = time.monotonic()
        for number, grace in ((first, seconds), (signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
            if number is not None:
                self.send(number)
                for stray in self.strays():
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(stray, number)
            until = time.monotonic() + grace
            self.follow(lambda _, until=until: time.monotonic() >= until)  # type: ignore[misc]
            while self._lives and time.monotonic() < until:
                time.sleep(READ_SECONDS)
            if not self._lives:
                return

    def close(self) -> int:
        """Give the terminal back; return the exit code, 128 and the signal's number where a signal ended it."""
        code = self._process.wait()
        self._closed = self._closed or time.monotonic()
        for stream in self._streams:
            stream.pass_on_rest()
            os.close(stream.source)
        self._streams = []
        self._ear.close()
        self._folder.cleanup()
        for number, handler in self._old.items():
            signal.signal(number, handler)
        if self._terminal is not None:
            _take_terminal(self._terminal, os.getpgrp())
            os.close(self._terminal)
        return 128 - code if code < 0 else code


def _controlling_terminal() -> int | None:
    """Return the terminal that we are in the foreground of, None where there is none."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return None
    if os.tcgetpgrp(terminal) != os.getpgrp():
        os.close(terminal)
        return None
    return terminal


def _take_terminal(terminal: int, group: int) -> None:
    old = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.tcsetpgrp(terminal, group)
    signal.signal(signal.SIGTTOU, old)


def _runs(name: str) -> bool:
    """Return whether a process runs: one that has ended stays in the table until its parent asks for it."""
    with open(f"/proc/{name}/stat", "rb") as file:
        return file.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _environ(name: str) -> bytes:
    with open(f"/proc/{name}/environ", "rb") as file:
        return file.read()


def _group_lives(group: int) -> bool:
    """Return whether a process of the group is left: a launcher may end before those that it started."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
