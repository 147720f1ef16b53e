"""Take out one guard after the other, and see who notices (reports/guards.json, shown in docs/faults.md).

python -m tests.faults.guards [--minutes 3] [--everything N] [GUARD ...]

The list is reviewed, not found: what is replaced by what, which kind of fault must notice, which tests cover it. A
guard whose text is not there, or there twice, ends this loudly.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scripts.storage.errors import InputError, run
from scripts.storage.files import write_text
from tests.conftest import ROOT
from tests.faults.formulas import FORMULAS

OUTPUT = ROOT / "reports" / "guards.json"

#: Exit codes of pytest: all passed, one failed, none was chosen.
_PASSED, _FAILED, _NONE = 0, 1, 5

#: What the tests and the faults of one guard take at most (s), those of everything apart: what takes longer hangs.
_LIMIT_SECONDS = 900

#: And of memory.
_MOST_BYTES = 6 * 2**30


@dataclass(frozen=True)
class Guard:
    """A guard: the file and its text, what stands there without it, the kind of fault that must notice, its tests.

    A formula is one that no kind of fault is asked of."""

    name: str
    file: str
    text: str
    without: str
    kind: str
    tests: str

    def changed(self, root: Path) -> str:
        """Return the text of the file below `root` without the guard. Raises InputError where it is not there once."""
        found = (root / self.file).read_text(encoding="utf-8")
        if (count := found.count(self.text)) != 1:
            raise InputError(f"{self.file}: {self.name}: its text is there {count} times: {self.text!r}")
        return found.replace(self.text, self.without)


_FILES, _TABLES, _SCHEMAS = (f"scripts/storage/{name}.py" for name in ("files", "tables", "schemas"))
_OF_FILES, _OF_BOOKS, _OF_KITS = "tests/storage/test_files.py", "tests/costs/test_book.py", "tests/kit/test_records.py"

GUARDS = [
    Guard(
        "written beside, then renamed",
        _FILES,
        "temporary.replace(place)",
        "place.write_bytes(temporary.read_bytes())",
        "verbs killed at a step",
        _OF_FILES,
    ),
    Guard(
        "content is synced",
        _FILES,
        "os.fsync(handle)\n                temporary",
        "temporary",
        "verbs without power",
        _OF_FILES,
    ),
    Guard(
        "folder is synced", _FILES, "                _sync_folder(place.parent)\n", "", "verbs without power", _OF_FILES
    ),
    Guard("half-written files go", _FILES, "stray.unlink()", "pass", "verbs killed at a step", _OF_FILES),
    Guard(
        "no link on the way",
        _FILES,
        "os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC",
        "places",
        _OF_FILES,
    ),
    Guard("no link is added to", _FILES, "os.O_APPEND | os.O_NOFOLLOW", "os.O_APPEND", "places", _OF_FILES),
    Guard(
        "no device is written", _FILES, "if place.exists() and not place.is_file():", "if False:", "places", _OF_FILES
    ),
    Guard(
        "no pipe is read",
        _FILES,
        'if path.exists() and not path.is_file():\n        raise InputError(f"{path}: is not a file")',
        'if False:\n        raise InputError(f"{path}: is not a file")',
        "run.json",
        _OF_FILES,
    ),
    Guard(
        "a cut CSV is told",
        _FILES,
        'if not cut and not text.read().endswith("\\n"):',
        "if False:",
        "cut at every byte",
        "tests/analysis/test_runs.py tests/records/test_record.py " + _OF_FILES,
    ),
    Guard(
        "unseen characters go",
        "scripts/storage/words.py",
        'return _UNSEEN.sub("\\ufffd", text)',
        "return text",
        "texts that a training prints",
        "tests/storage/test_words.py tests/workflow/test_progress.py",
    ),
    Guard(
        "digits are ASCII",
        "scripts/storage/numbers.py",
        "re.ASCII | re.IGNORECASE",
        "re.IGNORECASE",
        "epochs.csv, telemetry.csv",
        "tests/storage/test_numbers.py tests/records/test_record.py",
    ),
    Guard(
        "keys of YAML stand once",
        _SCHEMAS,
        "if key is not None and key in seen:",
        "if False:",
        "study",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "keys of JSON stand once",
        _SCHEMAS,
        "        if key in found:",
        "        if False:",
        "run.json",
        "tests/storage/test_schemas.py tests/records/test_record.py",
    ),
    Guard(
        "numbers are finite",
        _SCHEMAS,
        "if isinstance(leaf, float) and not isfinite(leaf):",
        "if False:",
        "study",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "whole numbers fit a float",
        _SCHEMAS,
        "if isinstance(leaf, int) and abs(leaf) > largest:",
        "if False:",
        "",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "whole numbers of logs fit a float",
        "scripts/importers/formats/json_lines.py",
        "    _logs.check_whole(found, line, at)\n",
        "",
        "",
        "tests/importers/test_large_numbers.py",
    ),
    Guard(
        "no quote is no answer",
        "scripts/epd/quote.py",
        "if not file.is_file():",
        "if False:",
        "",
        "tests/test_epd.py",
    ),
    Guard(
        "no trigger is fired",
        "scripts/epd/_write_cost.py",
        'stores.check_tables(known, "view", "trigger")',
        "pass",
        "",
        "tests/test_write_cost.py",
    ),
    Guard(
        "a database is read with nothing written beside it",
        "plugins/epochs-per-dollar/epochs_per_dollar/stores.py",
        '"immutable=1" if _has_log(path) and not _log_bytes(path) else "mode=ro"',
        '"mode=ro"',
        "",
        "tests/importers/formats/test_mlflow.py",
    ),
    Guard(
        "thousands of digits are no time",
        "scripts/importers/_durations.py",
        '    line = _NO_TIME.sub("#", line)\n',
        "",
        "",
        "tests/importers/test_large_numbers.py",
    ),
    Guard(
        "anchors are counted",
        _SCHEMAS,
        "if _size(value, {}) > _LARGEST:",
        "if False:",
        "study",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "what << names is counted",
        _SCHEMAS,
        "if self.merged > _MOST_MERGED:",
        "if False:",
        "",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "columns have ranges",
        _TABLES,
        "values[(values < least) | (values > most)]",
        "values[:0]",
        "tables of others",
        "tests/storage/test_tables.py",
    ),
    Guard(
        "no text is a formula",
        _TABLES,
        'return _FORMULA.sub(r"\'\\1", value) if isinstance(value, str) else value',
        "return value",
        "texts that are shown",
        "tests/storage/test_tables.py tests/importers/test_facts.py",
    ),
    Guard(
        "prices are not negative",
        "scripts/costs/fields.py",
        "if number is None or number < 0:",
        "if number is None:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "ranges lie around prices",
        "scripts/costs/fields.py",
        "if (low != low) != (high != high) or low > value or high < value:",
        "if False:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "prices are not of tomorrow",
        "scripts/costs/fields.py",
        "if value > date.today().isoformat()[: len(value)]:",
        "if False:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "names in books",
        "scripts/costs/fields.py",
        "if not NAME.fullmatch(value):",
        "if False:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "a price stands once",
        "scripts/costs/fields.py",
        "    if key in seen:",
        "    if False:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "spot is below on demand",
        "scripts/costs/book.py",
        'if row["purchase"] == "spot" and usual is not None and row["rate"] > usual:',
        "if False:",
        "price book",
        _OF_BOOKS,
    ),
    Guard(
        "names in a kit's file",
        "scripts/kit/records.py",
        "if not found and name not in (ABOUT, MACHINE):",
        "if False:",
        "records of a kit",
        _OF_KITS,
    ),
    Guard(
        "a run is in a kit's file once",
        "scripts/kit/records.py",
        "        if name in names:",
        "        if False:",
        "records of a kit",
        _OF_KITS,
    ),
    Guard(
        "sizes in a kit's file",
        "scripts/kit/records.py",
        "if member.file_size > _MOST_BYTES.get(found[2] if found else name, _MOST_OTHER_BYTES):",
        "if False:",
        "records of a kit",
        _OF_KITS,
    ),
    Guard(
        "code is trusted once",
        "scripts/studies/trust.py",
        "if content not in (*given, *kept):",
        "if False:",
        "study",
        "tests/studies/test_trust.py",
    ),
    Guard(
        "code beside it is trusted, too",
        "scripts/storage/brought.py",
        'below = _below(study, f"workloads: {file!r}", [path.parent], looked_at, of_python=False)',
        "below = iter(())",
        "study",
        "tests/studies/test_trust.py",
    ),
    Guard(
        "what a command names is trusted, too",
        "scripts/storage/brought.py",
        'found |= {f"{name}: {file.name} {number}": file for number, file in enumerate(files)}',
        "pass",
        "",
        "tests/studies/test_commands.py",
    ),
    Guard(
        "git runs no program of a folder",
        "scripts/storage/brought.py",
        '"-c", "core.fsmonitor=false", ',
        "",
        "",
        "tests/studies/test_commands.py",
    ),
    Guard(
        "code is as it was trusted",
        "scripts/storage/unchanged.py",
        "(was and brought.checksum(path) != was)",
        "False",
        "",
        "tests/storage/test_unchanged.py",
    ),
    Guard(
        "a record's git runs no filter",
        "plugins/epochs-per-dollar/epochs_per_dollar/record.py",
        'for key in ("clean=", "process=", "required=false")',
        "for key in ()",
        "",
        "tests/recorder/test_record.py",
    ),
    Guard(
        "configurations are counted first",
        "scripts/studies/grid.py",
        "if (cells := prod(counts.values())) > MOST:",
        "if (cells := prod(counts.values())) < 0:",
        "",
        "tests/studies/test_grid.py",
    ),
    Guard(
        "own code is run from its source",
        "scripts/workloads/__init__.py",
        "loader=FromSource(name, str(path))",
        "loader=None",
        "",
        "tests/workloads/test_workloads.py",
    ),
    Guard(
        "a kit is taken all or none",
        _FILES,
        "path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)",
        "pass",
        "",
        "tests/kit/test_take.py",
    ),
    Guard(
        "a changed study is not written over",
        "scripts/epd/_folder.py",
        'return file.exists() and signed((text := read_text(file)).partition("\\n")[2]) != text',
        "return False",
        "",
        "tests/test_import_folder.py",
    ),
    Guard(
        "numbers of YAML are decimal",
        _SCHEMAS,
        "if _STRANGE.fullmatch(node.value):",
        "if False:",
        "",
        "tests/storage/test_schemas.py",
    ),
    Guard(
        "digits of --config are ASCII",
        "scripts/workflow/command_line.py",
        "if equals and (one := numbers.foreign(value)):",
        "if False:",
        "",
        "tests/workflow/test_command_line.py",
    ),
    Guard(
        "what others kept is not believed",
        "scripts/records/seen.py",
        'kept["seal"] == seal.of(json.dumps(kept["rows"]))',
        "True",
        "",
        "tests/test_collect.py",
    ),
    Guard(
        "columns of a catalogue stand once",
        "scripts/costs/catalogue.py",
        "if twice := [name for name in header if header.count(name) > 1]:",
        "if twice := []:",
        "",
        "tests/costs/test_catalogue.py",
    ),
    Guard(
        "an archive is unpacked as it is packed",
        "scripts/costs/gpuhunt.py",
        "if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):",
        "if False:",
        "",
        "tests/costs/test_gpuhunt.py",
    ),
    Guard(
        "types in MLflow's database",
        "plugins/epochs-per-dollar/epochs_per_dollar/stores.py",
        """AND typeof(value) IN ('integer', 'real')\"""",
        '"',
        "",
        "tests/importers/formats/test_mlflow.py",
    ),
    Guard(
        "no pipe beside a log is read",
        "scripts/importers/_logs.py",
        "if not path.is_file() or path.stat().st_size > _LARGEST_BESIDE:",
        "if False:",
        "",
        "tests/importers/formats/test_any.py",
    ),
    Guard(
        "costs stay in the folder of their logs",
        "scripts/epd/_write_cost.py",
        "if not path.resolve().is_relative_to(folder.resolve()):",
        "if False:",
        "",
        "tests/test_write_cost.py",
    ),
    Guard(
        "all epochs of a run are there",
        "scripts/analysis/contradictions.py",
        'if run["status"] == "done" and done < asked and',
        "if False and",
        "epochs.csv, telemetry.csv",
        "tests/analysis/test_contradictions.py",
    ),
    Guard(
        "pages are escaped",
        "scripts/pages/render.py",
        "autoescape=True",
        "autoescape=False",
        "texts that are shown",
        "tests/pages",
    ),
    Guard(
        "checksums of downloads",
        "scripts/storage/downloads.py",
        "if checksum and (found := pooch.file_hash(str(temporary), alg=algorithm)) != expected:",
        "if False:",
        "network",
        "tests/storage/test_downloads.py tests/datasets/test_datasets.py",
    ),
]

GUARDS += [Guard(name, file, text, wrong, "", tests) for name, file, text, wrong, tests in FORMULAS]

#: Of which everything is asked first: one of each room.
_EVERYTHING = (
    "written beside, then renamed",
    "unseen characters go",
    "keys of YAML stand once",
    "columns have ranges",
    "prices are not negative",
)


@contextmanager
def without(guard: Guard | None) -> Iterator[Path]:
    """Yield a copy of the project without a guard."""
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, Path(folder) / name)
        subprocess.run(["git", "init", "-q", folder], check=True)
        if guard:
            (Path(folder) / guard.file).write_text(guard.changed(Path(folder)), encoding="utf-8")
        yield Path(folder)


def _call(folder: Path, *words: str, limit_seconds: float | None = _LIMIT_SECONDS) -> int:
    """Return the exit code of a module in a copy of the project; what hangs or is killed has failed."""
    variables = {name: value for name, value in os.environ.items() if name != "TESTS_SHARED"}
    command = [sys.executable, "-m", *words]

    def limit() -> None:  # what reads a device without an end
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))

    try:
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=limit_seconds, preexec_fn=limit
        )
    except subprocess.TimeoutExpired:
        return _FAILED
    if done.returncode < 0:
        return _FAILED
    if done.returncode not in (_PASSED, _FAILED, _NONE):
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        raise InputError(f"{' '.join(words)}: ended with code {done.returncode}")
    return done.returncode


def _tests(folder: Path, suite: str, *words: str) -> bool:
    """Return whether a test of a suite fails: of some files, or of all."""
    limit_seconds = _LIMIT_SECONDS if words else None
    return (
        _call(folder, "pytest", "-q", "-x", "-p", "no:xdist", "-m", suite, *words, limit_seconds=limit_seconds)
        == _FAILED
    )


_QUICK, _TEST = "not slow and not nightly", "not nightly"


def noticed(guard: Guard, minutes: float, everything: bool) -> dict[str, bool | None]:
    """Return who notices that a guard is gone: its kind of fault, the quick tests and those of `make test`."""
    with without(guard) as folder:
        by_faults = None
        if guard.kind:
            by_faults = _call(folder, "tests.faults", "--minutes", f"{minutes}", guard.kind) == _FAILED
        quick = _tests(folder, _QUICK, *guard.tests.split())
        found: dict[str, bool | None] = {"faults": by_faults, "quick": quick}
        found["test"] = quick or _tests(folder, _TEST, *guard.tests.split())
        found["everything"] = None
        if everything:
            # What notices above is a part of everything.
            found["everything"] = (
                by_faults
                or found["test"]
                or _tests(folder, _TEST)
                or _call(folder, "tests.faults", "--minutes", f"{minutes}", limit_seconds=None) == _FAILED
            )
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("guards", nargs="*", metavar="GUARD", help="names (default: all)")
    parser.add_argument("--minutes", type=float, default=3.0, help="of each kind of fault, at most (default 3)")
    parser.add_argument("--everything", type=int, default=0, metavar="N", help="ask all tests and faults of so many")
    options = parser.parse_args()
    named = {guard.name: guard for guard in GUARDS}
    if unknown := [name for name in options.guards if name not in named]:
        raise InputError(f"{unknown[0]!r} is unknown: it is one of {', '.join(named)}")
    for guard in GUARDS:
        guard.changed(ROOT)
    asked = [named[name] for name in options.guards or named]
    with without(None) as folder:
        if _tests(folder, _QUICK, *sorted({word for guard in asked for word in guard.tests.split()})):
            raise InputError("tests fail with all guards in their places")
    for guard in asked:
        found = noticed(guard, options.minutes, guard.name in _EVERYTHING[: options.everything])
        kept = json.loads(OUTPUT.read_text(encoding="utf-8")) if OUTPUT.is_file() else {}
        kept[guard.name] = found | {"kind": guard.kind, "minutes": options.minutes, "on": f"{date.today()}"}
        known = {name: kept.get(name) for name in named}
        write_text(OUTPUT, json.dumps(known, indent=1) + "\n")
        print(f"{guard.name}: {', '.join(f'{by} {answer}' for by, answer in found.items())}", flush=True)
    return 0


if __name__ == "__main__":
    run(main)
