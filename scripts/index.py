"""Write the index of the published studies, from the verdicts on each."""

import argparse
import json
from pathlib import Path

from scripts.analysis.claims import WORDS
from scripts.pages import render
from scripts.storage import errors
from scripts.storage.files import write_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("claims", nargs="+", type=Path, help="claims.json of each study, in order")
    options = parser.parse_args()
    studies = []
    for path in options.claims:
        study = json.loads(path.read_text(encoding="utf-8"))
        words = [claim["word"] for claim in study["claims"]]
        studies.append(
            study
            | {"tally": {word: words.count(word) for word in WORDS if word in words}}
            | {"doubtful": [claim for claim in study["claims"] if claim["word"] != "holds"]}
        )
    write_text(options.output, render.environment().get_template("index.html.j2").render(studies=studies))
    return 0


if __name__ == "__main__":
    errors.run(main)
