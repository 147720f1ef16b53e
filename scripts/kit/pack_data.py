"""Compress a data file for a kit."""

import argparse
from pathlib import Path

from scripts.kit.contents import compress
from scripts.storage import errors
from scripts.storage.files import replacing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a data set (.npz)")
    parser.add_argument("output", type=Path, help="file to write (.npz.xz)")
    options = parser.parse_args()
    print(f"compressing {options.data} ({options.data.stat().st_size / 2**20:.0f} MiB): up to a minute", flush=True)
    with replacing(options.output) as temporary:
        temporary.write_bytes(compress(options.data))
    return 0


if __name__ == "__main__":
    errors.run(main)
