"""Find the cells of a study whose runs differ by more than a limit: they are measured once more."""

import argparse
from collections import defaultdict
from pathlib import Path

from scripts.analysis import runs, statistics
from scripts.storage import errors
from scripts.storage.files import write_text


def unstable(folder: Path, records: list[Path], above: float) -> list[str]:
    """Return the paths (below `folder`) of the cells whose times to train spread more than `above`, in order."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for path in records:
        run = runs.read(path)
        # The time of a run that was resumed compares with none.
        if run["status"] == "done" and len(run.get("attempts", [])) < 2:
            seconds[str(path.parent.parent.relative_to(folder))].append(run["times"]["train_seconds"])
    return [cell for cell, values in seconds.items() if statistics.is_unstable(values, above)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=Path, help="run.json files of the first measurement")
    parser.add_argument("--folder", required=True, type=Path, help="folder of the study, above all records")
    parser.add_argument("--above", required=True, type=float, help="share of the median")
    parser.add_argument("--output", required=True, type=Path, help="list to write: one cell per line")
    options = parser.parse_args()
    cells = unstable(options.folder, options.records, options.above)
    write_text(options.output, "".join(f"{cell}\n" for cell in cells))
    for cell in cells:
        print(f"{cell}: unstable, measured again", flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
