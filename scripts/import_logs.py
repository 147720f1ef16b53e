"""Read somebody's logs into a table of facts, one row per run. What cannot be read is listed, the rest is kept."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts import importers
from scripts.importers import facts, sources
from scripts.storage import errors
from scripts.storage.files import replacing, write_text
from scripts.studies import definition


def folder_of(study: Mapping[str, Any], given: Path | None) -> Path:
    """Return the folder of a study's logs.

    That is `folder` of its import; or, for logs of a repository, `given`/<repository>*/<below>, or else the
    files of the committed facts and those of `also`, fetched at the pinned commit and checked against their checksums.
    """
    about = study["import"]
    if "folder" in about:
        return Path(about["folder"])
    if not {"repository", "commit"} <= about.keys():
        raise errors.InputError("import: give folder, or repository and commit")
    below = about.get("below", ".")
    name = about["repository"].partition("/")[2]
    if given is not None:
        found = sorted(path for path in given.glob(f"{name}*/{below}") if path.is_dir())
        if not found:
            raise errors.InputError(f"{given}: holds no folder {name}*/{below}")
        return found[0]
    if "facts" not in about:
        raise errors.InputError("import: facts: is missing: it names the files to fetch, and their checksums")
    known = facts.read(definition.ROOT / about["facts"])
    named = {str(row.file): str(row.sha256) for row in known.itertuples()} | about.get("also", {})
    files = {f"{below}/{file}": sha256 for file, sha256 in named.items()}
    return sources.fetch(about["repository"], about["commit"], files, Path(".cache/logs")) / below


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="table of facts to write (.csv)")
    parser.add_argument("--study", required=True, help="name of a study, or its config (JSON)")
    parser.add_argument("--epochs", type=Path, help="table of the epochs in the logs, to write (.parquet)")
    parser.add_argument("--problems", type=Path, help="list of what could not be read, to write")
    parser.add_argument("--logs-dir", help="a folder that holds the published logs already")
    options = parser.parse_args()
    study = json.loads(options.study) if options.study.startswith("{") else definition.read(options.study, {})[1]
    about = study.get("import", {})
    if "hardware" not in about:
        raise errors.InputError("import: hardware: is missing: give folder of logs -> machine")
    given = Path(options.logs_dir) if options.logs_dir else None
    imported = importers.importer(about["format"]).read(folder_of(study, given), importers.layout(about))
    for problem in imported.problems:
        print(f"not imported: {problem}", file=sys.stderr)
    if options.problems:
        write_text(options.problems, "".join(f"{problem}\n" for problem in imported.problems))
    unknown = sorted(set(about["hardware"].values()) - set(study["machines"]))
    if unknown:
        raise errors.InputError(
            f"import: hardware: {unknown[0]!r} is not one of machines: {', '.join(study['machines'])}"
        )
    if imported.runs.empty:
        raise errors.InputError(f"import: no run could be read ({len(imported.problems)} problems)")
    facts.write(facts.in_order(imported.runs, study), options.output)
    if options.epochs:
        with replacing(options.epochs) as temporary:
            imported.epochs.to_parquet(temporary, index=False)
    refused = len(imported.problems)
    print(f"imported {len(imported.runs)} runs, {refused} problem{'' if refused == 1 else 's'}")
    return 0


if __name__ == "__main__":
    errors.run(main)
