"""`epd` as pip installs it: `epd run`, `epd bill` and `epd forget`. The project's own `./epd` has more."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

if __package__ in (None, ""):  # by its path: Python puts the package's folder first, not the one that it lies in
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return its exit code, 2 for one that is not there."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:
        # Nothing else is loaded before it is known what is asked for.
        from epochs_per_dollar.command import run

        return run(given[1:])
    if given[:1] == ["bill"]:
        from epochs_per_dollar.bill import run as bill

        return bill(given[1:])
    if given == ["forget"]:
        from epochs_per_dollar.record import folder, forget

        print(f"{forget()} records removed from {folder()}, and the ledger beside them")
        return 0
    asked_for_help = given[:1] in (["--help"], ["-h"])
    print(
        "usage: epd run [options] -- command ...\n       epd bill [RECORD] [options]\n       epd forget",
        file=sys.stdout if asked_for_help else sys.stderr,
    )
    return 0 if asked_for_help else 2


if __name__ == "__main__":
    sys.exit(main())
