"""Write docs/tables.md, the columns of every table, from config/schemas/tables.yaml."""

from pathlib import Path

from scripts import errors, tables
from scripts.files import write_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tables.md"

_INTRODUCTION = """\
# The tables of a study

`results/<study>/` holds each table as `.parquet` for programs and `.csv` for people. This page is made from
`config/schemas/tables.yaml`, against which the tables are checked; `make docs` writes it.
"""

_MEANING = {
    "runs": "One row per run, from its `run.json`.",
    "epochs": "One row per epoch of each run, from its `epochs.csv`.",
    "costs": "One row per run that is done and purchase option of its machine.",
}


def text() -> str:
    """Return the page."""
    parts = [_INTRODUCTION]
    for table, meaning in _MEANING.items():
        parts += [f"## {table}\n", f"{meaning}\n", "| column | type | unit | meaning |\n| --- | --- | --- | --- |"]
        parts += [
            f"| `{name}` | {about['type']} | {about.get('unit', '')} | {about['meaning']} |"
            for name, about in tables.columns(table).items()
        ]
        parts.append("")
    return "\n".join(parts)


def main() -> int:
    write_text(PAGE, text())
    return 0


if __name__ == "__main__":
    errors.run(main)
