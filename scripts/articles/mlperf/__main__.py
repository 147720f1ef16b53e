"""Read rounds of MLPerf Training into a table of results. What cannot be read is listed, the rest is kept."""

import argparse
import sys
from pathlib import Path

from scripts.articles.mlperf import logs
from scripts.storage import errors, tables
from scripts.storage.files import write_text


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.articles.mlperf", description=__doc__)
    parser.add_argument("output", type=Path, help="table of results to write (.csv)")
    parser.add_argument(
        "--logs-dir", required=True, type=Path, help="a folder with a folder or an archive (.tar.xz) for each round"
    )
    options = parser.parse_args()
    results, problems = logs.read(options.logs_dir, logs.read_cards())
    for problem in problems:
        print(f"not as it should be: {problem}", file=sys.stderr)
    write_text(options.output, tables.to_csv(results))
    runs = sum(len(seconds.split()) for seconds in results["seconds"])
    print(f"read {runs} runs of {len(results)} results in {results['round'].nunique()} rounds")
    return 0


if __name__ == "__main__":
    errors.run(main)
