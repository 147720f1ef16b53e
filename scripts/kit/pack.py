"""Pack a study into a kit: one archive for a machine without network, with all that its runs need but the framework."""

import argparse
import json
from pathlib import Path

from scripts.kit import contents
from scripts.measurement import provenance
from scripts.records import about
from scripts.storage import errors, schemas
from scripts.storage.files import replacing
from scripts.studies import grid


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="archive to write (.tar)")
    parser.add_argument("--name", required=True, help="name of the study")
    parser.add_argument("--study", required=True, help="the study's config (JSON)")
    parser.add_argument("--kinds", required=True, help="which data each data set has: name -> real or synthetic (JSON)")
    parser.add_argument("--hardware", required=True, type=Path, help="catalogue of machines (.yaml)")
    parser.add_argument("--wheels", required=True, type=Path, help="folder of the packages")
    parser.add_argument("--python", required=True, help="the Python that they are for")
    parser.add_argument("--data", nargs="*", default=[], type=Path, help="data files (.npz), real ones")
    parser.add_argument("--packed", nargs="*", default=[], type=Path, help="the same, compressed, in their order")
    options = parser.parse_args()
    study, kinds = json.loads(options.study), json.loads(options.kinds)
    contents.check_programs(options.name, study)
    about.add(study["workload_files"])
    catalogue = schemas.read_yaml(options.hardware, "hardware")
    planned = grid.expand(options.name, study, catalogue, cores=1, kind=kinds.__getitem__)
    described = contents.describe(
        options.name, planned.runs(), study["workload_files"], provenance.commit(), options.python
    )
    packed = {data.stem: (data, small) for data, small in zip(options.data, options.packed, strict=True)}
    with replacing(options.output) as temporary:
        text = contents.write(
            temporary, described, sorted(options.wheels.glob("*.whl")), packed, study["workload_files"]
        )
    print(text)
    print(f"{options.output}: {options.output.stat().st_size / 2**20:.1f} MiB", flush=True)
    return 0


if __name__ == "__main__":
    errors.run(main)
