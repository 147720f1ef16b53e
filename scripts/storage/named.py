"""Files and folders that a command names: whatever they are called and wherever they lie, in any part of its words.

A word may be an option with its value, a list, or what a shell is given to run: each part of it that begins and ends
where a name can is looked for, in the command's folder and in the folders that it names, with and without the quotes
and the signs that a shell takes away.
"""

import os
import re
import shlex
from collections.abc import Iterator
from glob import escape, glob, has_magic
from pathlib import Path

from scripts.storage.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

#: A name in braces, which stands for a value; in two pairs of them, for itself in one.
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")

#: Where the programs and libraries of a system lie, and those that the project was installed with.
_OF_THE_SYSTEM = [
    *map(
        Path, ("/bin", "/lib", "/lib64", "/sbin", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/sbin", "/usr/local/bin")
    ),
    (ROOT / ".venv").resolve(),
]

#: At which a name in a word can begin or end, and what a shell takes away of it.
_BETWEEN = re.compile(r"[\s;&|=,:'\"()<>\[\]{}@#!%^`]")
_OF_SHELLS = re.compile(r"['\"\\]")

#: How a path begins that is not only a name.
_OF_PATH = re.compile(r"(?<![\w/.~])(?:~|\.{0,2})/|(?<=[A-Za-z])(?:~|\.{1,2})/|(?<=[A-Za-z])/")

#: In folders of a path a wildcard is looked through this often: each is as many folders more.
_MOST_WILDCARDS = 2

#: More places than these are not looked at: parts of the words, in each folder.
_MOST = 200_000


def named(place: str, folder: Path, command: str) -> tuple[list[Path], list[Path]]:
    """Return the files and the folders that a command names which is run in a folder, but none of the system.

    Links of folders are followed, those of files are not. Raises InputError, of a `place` in a study, for a command
    that has too many parts.
    """
    parts = list(dict.fromkeys(part for word in shlex.split(command) for part in _parts(place, word)))
    folders = [folder.resolve()]
    for part in parts:
        for base in list(folders):
            new = [path.resolve() for path in _there(place, base, part) if path.is_dir()]
            folders += [path for path in dict.fromkeys(new) if path not in folders and not is_of_the_system(path)]
        _check(place, len(parts) * len(folders))
    files = [path for base in folders for part in parts for path in _there(place, base, part) if path.is_file()]
    places = dict.fromkeys(path.parent.resolve() / path.name for path in files)
    return [path for path in places if not is_of_the_system(path)], folders[1:]


def is_of_the_system(path: Path) -> bool:
    """Return whether a file or folder lies among the system's programs."""
    return any(path.is_relative_to(above) for above in _OF_THE_SYSTEM)


def _check(place: str, count: int) -> None:
    if count > _MOST:
        raise InputError(
            f"{place}: command: its words have {count:,} parts that could be names of files: at most {_MOST:,} are "
            "looked for: write it into a script and run that"
        )


def _parts(place: str, word: str) -> Iterator[str]:
    """Yield what of a word could be a name."""
    ends = [*(found.start() for found in _BETWEEN.finditer(word)), len(word)]
    _check(place, len(ends) ** 2)
    begins = [0, *(end + 1 for end in ends[:-1])]
    # An option's value stands behind one letter or several, and a path begins anywhere: -C../other, -sCother, +~/run.
    begins += [place for begin in begins if word[begin : begin + 1] == "-" for place in range(begin + 2, begin + 8)]
    begins += [found.start() for found in _OF_PATH.finditer(word)]
    for begin in sorted(set(begins)):
        for end in ends:
            if begin < end:
                yield word[begin:end]


def _there(place: str, base: Path, part: str) -> Iterator[Path]:
    """Yield what is there by a name in a folder: with any value for its placeholders, and as a shell reads it.

    Raises InputError, of a `place` in a study, for wildcards in many of its folders.
    """
    literal = "*".join(map(escape, PLACEHOLDER.split(part)[:: PLACEHOLDER.groups + 1]))
    for pattern in dict.fromkeys((literal, part, _OF_SHELLS.sub("", part))):
        expanded = os.path.expandvars(os.path.expanduser(pattern))
        if sum(has_magic(part) for part in Path(expanded).parts[:-1]) > _MOST_WILDCARDS:
            raise InputError(
                f"{place}: command: {part[:80]!r} has wildcards in more than {_MOST_WILDCARDS} of its folders: write "
                "it into a script and run that"
            )
        yield from map(Path, sorted(glob(os.path.join(escape(str(base)), expanded), include_hidden=True)))
