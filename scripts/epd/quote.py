"""What a report would train, take and cost."""

from typing import Any

from scripts.epd import _call

IS_SNAKEMAKE = True


def command(
    study: _call.Study = None, profile: _call.Profile = "local", config: _call.Config = None, json: _call.Json = False
) -> int:
    """Print what a report of a study would train, how long that takes, and what it costs. Trains nothing.

    Ends with 1 where a budget refuses it, or Snakemake does. With --json: study, profile, price, refused (why, or
    empty), and of each of the machines, and of all, runs, hours, expected_usd, worst_usd, unknown runs and their hours.

    \b
    ./epd quote full
    ./epd quote gce --profile gce-gpu --config budget_usd=20
    ./epd quote gce --profile gce-gpu --json
    """
    import sys
    import tempfile
    from json import loads
    from pathlib import Path

    from rich.console import Console

    from scripts.workflow import quotes

    words = _call.words(["--dry-run", "--quiet", "all"], profile, {"study": _call.study_here(study)}, config)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "quote.json")
        if code := _call.run_quietly(words, EPOCHS_QUOTE=str(file)):
            return code
        if not file.is_file():  # Snakemake's own exit code knows nothing of a fault at the end of a dry run
            print("error: no quote could be made: what is printed above says why", file=sys.stderr)
            return 1
        found: dict[str, Any] = loads(file.read_text(encoding="utf-8"))
    if json:
        _call.print_json(found)
    elif found["machines"]:
        Console(markup=False, highlight=False).print(quotes.table(found["machines"], found["price"]))
    else:
        print("nothing is to be trained")
    if found["refused"]:
        print(f"error: {found['refused']}", file=sys.stderr)
    return 1 if found["refused"] else 0
