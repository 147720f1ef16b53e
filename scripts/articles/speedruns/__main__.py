"""Write what the logs of the records of speedruns say: how long their runs took, and some learning curves."""

import argparse
from pathlib import Path

import pandas as pd

from scripts.articles.speedruns import given, logs
from scripts.storage import errors, tables
from scripts.storage.files import write_text
from scripts.studies import definition


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.articles.speedruns", description=__doc__)
    parser.add_argument("study", help="name of the study whose tables of logs are written")
    parser.add_argument("--logs-dir", required=True, type=Path, help="a folder with modded-nanogpt's `records`")
    options = parser.parse_args()
    about = definition.read(options.study, {})[1]["speedruns"]
    records = given.records(definition.ROOT / about["records"])
    drawn = [one for one in records if one["log"] and given.is_drawn(one, about)]
    found = pd.DataFrame(logs.read(options.logs_dir, records), columns=list(logs.LOGS))
    curves = pd.DataFrame(logs.curves(options.logs_dir, drawn), columns=list(logs.CURVES))
    for name, table in (("logs", found), ("curves", curves)):
        write_text(definition.ROOT / about[name], tables.to_csv(table))
    runs = sum(len(seconds.split()) for seconds in found["seconds"])
    print(f"read {runs} runs of {len(found)} records, and {len(drawn)} curves")
    return 0


if __name__ == "__main__":
    errors.run(main)
