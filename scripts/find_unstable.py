"""Find what is to be measured once more: cells whose runs differ by more than a limit, runs that were disturbed."""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from scripts.analysis import runs, statistics
from scripts.records import stored
from scripts.storage import errors
from scripts.storage.files import write_text


def again(folder: Path, records: list[Path], above: float, repeats: int, disturbed_too: bool) -> dict[str, str]:
    """Return the runs that are to be trained, by their paths below `folder`, in rounds, and why.

    A cell is unstable if its times to train spread more than `above`. With `disturbed_too`, runs that another process
    disturbed are measured once more by themselves, and make no cell unstable.
    """
    found: dict[str, str] = {}
    cells: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for path in records:
        run = runs.complete(stored.read(path))
        row = runs.row(str(path.parent.relative_to(folder)), run)
        # The time of a run that was resumed compares with none.
        if row["status"] == "done" and len(run.get("attempts", [])) < 2:
            cells[row["run"].rsplit("/", 1)[0], row["mode"]].append(row)
    for (cell, _), of_cell in cells.items():
        disturbed = [row for row in of_cell if disturbed_too and runs.is_disturbed(row)]
        found |= {
            runs.once_more(row["run"], repeats): f"another process used {row['other_cpu_percent']:.0f} % of a core"
            for row in disturbed
        }
        steady = [row["train_seconds"] for row in of_cell if row not in disturbed]
        if statistics.is_unstable(steady, above):
            spread = f"spread {100 * (statistics.spread(steady) or 0):.0f} %"
            found |= {f"{cell}/r{number}": spread for number in range(repeats + 1, 2 * repeats + 1)}
    return dict(sorted(found.items(), key=lambda run: int(run[0].rsplit("/r", 1)[1])))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "records",
        nargs="*",
        type=Path,
        help="run.json files of the first measurement; else lines of stdin",
    )
    parser.add_argument("--folder", required=True, type=Path, help="folder of the study, above all records")
    parser.add_argument("--above", required=True, type=float, help="share of the median")
    parser.add_argument("--repeats", required=True, type=int, help="runs of a configuration's first measurement")
    parser.add_argument(
        "--disturbed", action="store_true", help="runs beside which another process used the machine, too"
    )
    parser.add_argument("--output", required=True, type=Path, help="list to write: one run per line")
    options = parser.parse_args()
    records = options.records or [Path(line) for line in sys.stdin.read().splitlines()]
    found = again(options.folder, records, options.above, options.repeats, options.disturbed)
    write_text(options.output, "".join(f"{run}\n" for run in found))
    for run, why in found.items():
        print(f"{run}: measured once more ({why})", flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
