"""What a call of Snakemake was asked, as its words say it: its own settings are not there while the rules are read."""

import re
import sys
from collections.abc import Sequence

from scripts.storage import numbers

#: Snakemake's short options without a value: what follows another one's letter is its value, as in `-Rtrain`.
FLAGS = "htkfFlSDvpa"

#: What was asked of Snakemake and makes no file: what is typed in its place. For one release, after that it goes.
MOVED = {
    "status": "status",
    "stop_all": "stop",
    "compare": "compare OLD NEW",
    "history": "history",
    "schedule": "schedule add --every INTERVAL --by CALLER",
    "schedules": "schedule list",
    "unschedule": "schedule remove",
    "take_kit": "kit take FILE",
}


def moved(words: Sequence[str]) -> str:
    """Return what to type in place of a call with these words, empty for one that Snakemake takes."""
    for word in words[1:]:
        if word in MOVED:
            return f"snakemake {word}: is now ./epd {MOVED[word]}; ./epd {MOVED[word].split()[0]} --help has examples"
    return ""


def foreign(words: Sequence[str]) -> str:
    """Return what is wrong with a KEY=VALUE whose number is in digits of another script, which Snakemake would take."""
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if equals and (one := numbers.foreign(value)):
            return f"--config: {key}: {one!r}: a number is written in the digits 0 to 9"
    return ""


def is_dry_run(words: Sequence[str]) -> bool:
    """Return whether a call with these words runs nothing."""
    return any(word in ("--dry-run", "--dryrun") or re.match(rf"-[{FLAGS}]*n", word) for word in words)


def is_forced(words: Sequence[str]) -> bool:
    """Return whether a call with these words runs again what it has run already, each time that it is made."""
    return any(re.match(rf"--force|-[{FLAGS}]*[fFR]", word) for word in words)


def wildcards_of_job() -> dict[str, str]:
    """Return the wildcards of the job for which a cluster has started this process; none for a call of a person."""
    if "--target-jobs" not in sys.argv[:-1]:
        return {}
    wildcards = sys.argv[sys.argv.index("--target-jobs") + 1].partition(":")[2]
    return dict(pair.split("=", 1) for pair in wildcards.split(",") if "=" in pair)
