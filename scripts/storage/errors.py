"""What is said to a user whose input cannot be used: one line, no traceback."""

import sys
from collections.abc import Callable


class InputError(ValueError):
    """Bad input: a config value, a data file, a log. The message names file, key and what is allowed."""


def run(main: Callable[[], int]) -> None:
    """Run a command line's `main` and exit with its code; an `InputError` is one line and code 2."""
    try:
        code = main()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
