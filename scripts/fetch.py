"""Make one data set ready: take its official files, or make the synthetic stand-in, and write one .npz."""

import argparse
from pathlib import Path

from scripts import datasets, errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("kind", choices=("real", "synthetic"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--data-dir", help="folder that holds the files already; empty for none")
    options = parser.parse_args()
    data_dir = Path(options.data_dir) if options.data_dir else None
    datasets.obtain(options.name, options.kind, options.output, data_dir, options.output.parents[1] / "downloads")
    return 0


if __name__ == "__main__":
    errors.run(main)
