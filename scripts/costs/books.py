"""Where price books lie. Here and not in `book`, as what names one reads none, and has no need of pandas."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.storage.errors import InputError

FOLDER = Path(__file__).resolve().parents[2] / "config" / "prices"

#: Files of the folder that are no books.
_TABLES = ("billing", "currencies", "sustained-use")

#: What providers bill besides a rate, as rules name it.
TERMS = tuple(f"config/prices/{table}.csv" for table in _TABLES)


def path(name: str) -> Path:
    """Return the file of a book: `name` is one of `config/prices/`, or the path of a .csv file."""
    return Path(name) if name.endswith(".csv") else FOLDER / f"{name}.csv"


def files(names: str | Iterable[str]) -> list[Path]:
    """Return the files of a config's `book`: one name, or several. Raises InputError for one that is not there."""
    found = [path(name) for name in ([names] if isinstance(names, str) else names)]
    for file in found:
        check(file)
    return found


def every() -> list[Path]:
    """Return the files of all books of `config/prices/`, by name."""
    return sorted(book for book in FOLDER.glob("*.csv") if book.stem not in _TABLES)


def listed(*named: str | Sequence[str]) -> list[str]:
    """Return the files of price books as rules name them, each once: of names, or lists of them, as in a config."""
    names = [name for books in named for name in ([books] if isinstance(books, str) else books)]
    return [name if name.endswith(".csv") else f"config/prices/{name}.csv" for name in dict.fromkeys(names)]


def check(file: Path) -> None:
    """Raise InputError for a book that is not there."""
    if not file.is_file():
        known = ", ".join(book.stem for book in every())
        raise InputError(f"price book {file}: there is no such file; config/prices/ has {known}")
