"""What there is: the keys of a study and of a call, the columns of every table, what can be rented today."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from scripts.costs import book, books, cards, offers, terms
from scripts.storage import tables
from scripts.storage.files import read_csv
from scripts.studies import describe, settings
from scripts.studies.model import AXES, whole

ROOT = Path(__file__).resolve().parents[2]

_SCHEMA = ROOT / "config" / "schemas" / "hardware.schema.json"


#: The price books of today.
_TODAY = ("current", "listed", "accelerators")


_TABLES = """\
# The tables of a study

`results/<study>/` holds each table as `.parquet` for programs and `.csv` for people. This page is made from
`config/schemas/tables.yaml`, against which the tables are checked; `make docs` writes it.
"""


_STUDIES = """# The keys of a study

A study is a file of `config/studies/`, or a YAML file anywhere ([how one begins](adding.md#a-study)). This page, the
schema `config/schemas/study.schema.json` for editors, the defaults and the checks come from one model,
[scripts/studies/model.py](../scripts/studies/model.py); `python -m scripts.document` writes the first two.
"""


_CONFIG = """## Settings of a call

Keys of `config/config.yaml`, and of `snakemake --config`, where these keys of a study may stand too: {axes}.
""".format(axes=", ".join(f"`{name}`" for name in AXES))


_MEANING = {
    "runs": "One row per run, worked out of its `run.json`, `epochs.csv` and `telemetry.csv`.",
    "epochs": "One row per epoch of each run, from its `epochs.csv`.",
    "attempts": "One row per recorded attempt of a run: those that were preempted have several.",
    "costs": "One row per run that is done and price option that its machine is offered under.",
    "prices": "One row per machine and price option that it is offered under.",
}


def tables_page() -> str:
    """Return the page."""
    parts = [_TABLES]
    for table, meaning in _MEANING.items():
        parts += [f"## {table}\n", f"{meaning}\n", "| column | type | unit | meaning |\n| --- | --- | --- | --- |"]
        parts += [
            f"| `{name}` | {about['type']} | {about.get('unit', '')} | {about['meaning']} |"
            for name, about in tables.columns(table).items()
        ]
        parts.append("")
    return "\n".join(parts)


def hardware_schema() -> str:
    """Return the schema of the catalogue, whose machines are rented and owned as those of a study are."""
    known = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    parts = describe.schema(whole())["$defs"]
    return _json(known | {"$defs": known["$defs"] | {"rent": parts["Rent"], "own": parts["Own"]}})


def _json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def config_file() -> str:
    """Return `config/config.yaml`: the settings from their model, the published studies as they are."""
    published = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))["published"]
    return "\n".join(settings.file(published)) + "\n"


def studies_page() -> str:
    """Return the page of the keys of a study."""
    config = describe.tables(describe.schema(settings.Settings), "##")
    return "\n".join([_STUDIES, *describe.tables(describe.schema(whole()), "##"), _CONFIG, *config])


def study_schema() -> str:
    """Return the schema of a study."""
    return _json(describe.schema(whole()))


def offers_file() -> str:
    """Return the offers of today that the recorder carries, from the books that pages of today are priced by."""
    rows = [row for name in _TODAY for row in book.read([books.path(name)])]
    listed = [row for _, row in read_csv(ROOT / "config" / "machines.csv", offers.COLUMNS[:5])]
    machines = [*listed, *cards.named_by_cards(rows)]
    text = io.StringIO()
    writer = csv.DictWriter(text, offers.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(offers.newest(rows, machines, terms.read_terms()))
    return text.getvalue()
