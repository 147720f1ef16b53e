"""What changed between two states of a study."""

from pathlib import Path
from typing import Annotated

import typer

from scripts.epd import _call

_STATE = "STUDY or FOLDER[@MACHINE or @DATE][:PRICE]"
_PAGE = "results/compare.html"


def _state(text: str) -> str:
    """Return a state, its folder as the clone sees it where that is one of the person's own."""
    place = text.partition("@")[0].partition(":")[0]
    return _call.from_here(text) if place and Path(_call.from_here(place)).is_dir() else text


def command(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_STATE, autocompletion=_call.studies)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Likewise.", autocompletion=_call.studies)],
    output: Annotated[str, typer.Option(help="The page to write; its JSON goes beside it.")] = _PAGE,
    json: _call.Json = False,
) -> int:
    """Compare two states of a study: what became faster, slower, cheaper, dearer.

    Ends with 1 where anything became slower or dearer, and with 2 where no configuration can be compared. With --json:
    old, new, counts, the rule, each of the configurations (cells), and what was not compared.

    \b
    ./epd compare two-cores@cpu1 two-cores@cpu2
    ./epd compare local@2026-11-23T021015Z local
    ./epd compare before/results/mine results/mine --json
    """
    import sys
    from json import dumps

    from scripts.analysis import states
    from scripts.pages import comparison
    from scripts.storage.errors import InputError
    from scripts.storage.files import write_text
    from scripts.workflow import comparing

    page = Path(output) if output == _PAGE else _call.to_write("compare: --output", output)
    if page.suffix == ".json":
        raise InputError(f"compare: --output: {output!r} names the page: its JSON goes beside it, under that name")
    one, other, at = comparing.at_one_price(comparing.read("old", _state(old)), comparing.read("new", _state(new)))
    found = states.compare(one, other)
    counts = states.counts(found["cells"])
    unpriced = one.costs.empty or other.costs.empty
    shown = {word: count for word, count in counts.items() if not unpriced or word in (states.FASTER, states.SLOWER)}
    compared = {"old": one.name, "new": other.name, "counts": shown} | found
    write_text(page.with_suffix(".json"), dumps(compared, indent=1, allow_nan=False, default=str) + "\n")
    write_text(page, comparison.page(compared, at))
    if json:
        _call.print_json(compared)
    print("\n".join([*comparison.lines(compared, at), f"page: {page}"]), file=sys.stderr if json else sys.stdout)
    if not found["cells"]:
        why = "no configuration of both was trained alike" if found["unlike"] else "no configuration is in both"
        print(f"error: {why}", file=sys.stderr)
        return 2
    return int(counts[states.SLOWER] + counts[states.DEARER] > 0)
