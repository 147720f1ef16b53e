"""What is said to a user whose input cannot be used: one line, no traceback."""

import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOWrapper

from scripts.storage.words import Harmless, printable

#: What is longer nobody reads: a value that somebody pasted.
_LONGEST = 1000


class InputError(ValueError):
    """Bad input: a config value, a data file, a log. The message names file, key and what is allowed, in one line."""

    def __init__(self, message: str) -> None:
        line = printable(" ".join(message.split()))
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}")


def line(error: InputError | OSError) -> str:
    """Return an error in one line: bad input, or what the system refuses, such as a name that is too long."""
    if not isinstance(error, OSError):
        return str(error)
    return str(InputError(": ".join(str(part) for part in (error.filename, error.strerror) if part) or str(error)))


def run(main: Callable[[], int]) -> None:
    """Run a command line's `main` and exit with its code; bad input or what the system refuses is a line and code 2.

    What it prints is printable, wherever it comes from.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that lacks a character shows another
            stream.reconfigure(errors="replace")
    with redirect_stdout(Harmless(sys.stdout)), redirect_stderr(Harmless(sys.stderr)):
        try:
            code = main()
        except (InputError, OSError) as error:
            print(f"error: {line(error)}", file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            code = 130
    sys.exit(code)
