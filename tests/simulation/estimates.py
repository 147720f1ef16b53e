"""How good quotes of machines that nobody measured are: every committed fact predicted from tables without its like.

`python -m tests.simulation.estimates` writes `reports/estimates.json`: the widening of intervals that quotes use, and
what docs/estimating.md shows.
"""

import json

from scripts.document import estimates as document
from scripts.storage.files import write_text
from scripts.workflow import estimates


def main() -> None:
    write_text(estimates.TRIALS, json.dumps(document.trials(), indent=1) + "\n")


if __name__ == "__main__":
    main()
