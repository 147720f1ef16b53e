"""Write the summary of a study in ten lines of Markdown, for a pull request or a message."""

import argparse
import json
from pathlib import Path

from scripts.pages import summary
from scripts.storage import errors
from scripts.storage.files import write_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", type=Path, help="what the report says of the study (claims.json)")
    parser.add_argument("output", type=Path, help="summary to write (.md)")
    options = parser.parse_args()
    text = "\n".join(summary.lines(json.loads(options.claims.read_text(encoding="utf-8")))) + "\n"
    write_text(options.output, text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    errors.run(main)
