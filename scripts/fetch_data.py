"""Make one data set ready: take its official files, or make the synthetic stand-in, and write one .npz.

The variable EPOCHS_DATA_DIR names a folder that holds the files already.
"""

import argparse
from pathlib import Path

from scripts import datasets
from scripts.storage import errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("kind", choices=("real", "synthetic"))
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    print(f"data set {options.name}: {options.kind}", flush=True)
    datasets.obtain(
        options.name, options.kind, options.output, datasets.given_folder(), options.output.parents[1] / "downloads"
    )
    return 0


if __name__ == "__main__":
    errors.run(main)
