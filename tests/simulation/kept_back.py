"""Speeds of language models in MLPerf's logs, which no quote is made from: one row a result.

`python -m tests.simulation.kept_back FOLDER` reads the rounds unpacked in a folder, as they lie in the repositories
training_results_v*.* of github.com/mlcommons, and writes `reports/published/sources/mlperf-language-models.csv`.

The logs print when a validation ends, and how many samples (sequences) were trained by then. Between the first and the
last one lie training and validations; a sequence that is validated is counted as the forward half (LoRA) or third of
one that is trained.
"""

import csv
import io
import json
import re
import sys
from pathlib import Path
from statistics import median

from scripts.articles.mlperf import logs
from scripts.document import kept_back
from scripts.storage.files import write_text

#: Sequences of a benchmark have so many tokens, and validating one is so much of training one.
_TOKENS = 8192
_FORWARD = {"llama2_70b_lora": 1 / 2, "llama31_8b": 1 / 3, "llama31_405b": 1 / 3}

#: What `config/mlperf/cards.yaml` calls the cards that quotes are of.
_CARDS = {"gb300": "GB300", "gb200": "GB200", "b300": "B300", "b200": "B200", "h200": "H200", "h100": "H100"}


#: Other lines, in which ranks wrote over each other, are passed over.
_KEYS = re.compile(r':::MLLOG (\{.*"key": "(?:eval_accuracy|eval_samples|global_batch_size|run_stop)".*\})')


def _events(file: Path) -> list[dict]:
    return [json.loads(text) for text in _KEYS.findall(file.read_text(errors="replace"))]


def _rate(file: Path, forward: float) -> tuple[float, float] | None:
    """Return tokens a second of all cards and sequences of a step; None of a run that failed or was short."""
    events = _events(file)
    last = {event["key"]: event for event in events}
    done = [
        (event["time_ms"] / 1000, event["metadata"]["samples_count"])
        for event in events
        if event["key"] == "eval_accuracy" and event["metadata"].get("samples_count")
    ]
    ended = last.get("run_stop", {}).get("metadata", {}).get("status")
    if ended != "success" or len(done) < 3 or not {"eval_samples", "global_batch_size"} <= set(last):
        return None
    (start, before), (end, after) = done[0], done[-1]
    validated = (len(done) - 1) * float(last["eval_samples"]["value"]) * forward
    rate = (float(after) - float(before) + validated) * _TOKENS / (end - start)
    return rate, float(last["global_batch_size"]["value"])


def rows(folder: Path) -> list[dict[str, object]]:
    """Return the results of the rounds in a folder on cards that quotes are of."""
    patterns, found = logs.read_cards(), []
    for place in sorted(folder.glob("v*/*/results/*/*")):
        round_, submitter, _, system, benchmark = place.relative_to(folder).parts
        description = place.parents[2] / "systems" / f"{system}.json"
        if benchmark not in _FORWARD or not description.is_file():
            continue
        about = json.loads(description.read_text())
        card = _CARDS.get(patterns.name(str(about["accelerator_model_name"]), system))
        runs = [run for file in place.glob("result_*.txt") if (run := _rate(file, _FORWARD[benchmark]))]
        if card is None or not runs:
            continue
        cards = int(about["number_of_nodes"]) * int(about["accelerators_per_node"])
        rate = median(run[0] for run in runs) / cards
        sequences = median(run[1] for run in runs)
        found.append(dict(zip(kept_back.COLUMNS, (
            round_, submitter, system, benchmark, card, cards, f"{sequences:g}", f"{rate:.0f}", len(runs),
            f"mlcommons/training_results_{round_}:{submitter}/results/{system}/{benchmark}",
        ), strict=True)))  # fmt: skip
    return found


def main() -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, kept_back.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(Path(sys.argv[1])))
    write_text(kept_back.FILE, text.getvalue())


if __name__ == "__main__":
    main()
