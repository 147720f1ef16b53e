"""Tables of language models' speed: a row per configuration, tokens a second of one card.

As `reports/published/sources/language-models.csv`, which holds what makers and users print: a sample is a token. The
workload is model, task and length of the sequences, as rows of other lengths are other work; the framework is the
software with its release; the batch size is that of one card and step in tokens; the precision is the arithmetic that
the row names, or else a folder of its source. `columns` of the layout gives a model that is printed in several ways one
name.

Keys of the layout's `hardware` are <table>/<card>/<number of cards>, the number left out for a row without. Tables that
no key names are not read. A row that says why it is left out is refused with that reason, and so is one whose
tokens a second contradict its step.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.importers import Imported, Layout, Problem, _logs
from scripts.importers._logs import Log, Refused, count, finite, number, shown

HELP = "tables of language models' speed: a row per configuration, tokens a second of one card"

COLUMNS = (
    *("source", "published", "software", "task", "model", "parameters_b", "system", "card", "cards", "precision"),
    *("sequence_length", "global_batch", "micro_batch", "grad_accumulation", "tensor_parallel", "pipeline_parallel"),
    *("context_parallel", "expert_parallel", "fsdp", "tokens_per_second_per_card", "model_tflops_per_card"),
    *("step_seconds", "memory_gib", "note", "left_out"),
)

#: What printed tokens a second may differ by from those of the printed step.
_ROUNDING = 0.03

_TASKS = {"pretrain": "pre-training", "sft": "fine-tuning", "lora": "LoRA"}

#: Arithmetic as it is printed, in small letters -> as the runs table calls it. FP8-CS is FP8 by tensor with current
#: scaling, FP8-MX an older name of MXFP8.
_PRECISIONS = {
    **dict.fromkeys(("bf16", "amp_bf16"), "bfloat16"),
    **dict.fromkeys(("fp8", "fp8-cs", "fp8_full", "amp_fp8"), "fp8"),
    **dict.fromkeys(("mxfp8", "fp8-mx"), "mxfp8"),
    "nvfp4": "nvfp4",
}


def read(folder: Path, layout: Layout) -> Imported:
    """Return the runs of the tables below `folder`. Raises InputError if there is no such folder."""
    _logs.check(folder)
    named = {PurePosixPath(key).parts[0] for key in layout.hardware}
    used: set[str] = set()

    def parse(log: Log) -> Iterator[dict[str, Any] | Refused]:
        return _parse(str(log.name.with_suffix("")), log.text, layout, used)

    tables = [(name, parse) for name in _logs.log_names(folder, (".csv",)) if str(name.with_suffix("")) in named]
    imported = _logs.read_each(folder, replace(layout, hardware=dict.fromkeys(named, "")), tables, "tables, .csv")
    unused = [
        Problem(key, None, "is in the mapping, but no row is of such a machine")
        for key in sorted(set(layout.hardware) - used)
    ]
    return replace(imported, problems=imported.problems + unused)


def _parse(name: str, text: str, layout: Layout, used: set[str]) -> Iterator[dict[str, Any] | Refused]:
    """Yield the runs of one table; keys of the layout that a row has are added to `used`."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if list(reader.fieldnames or ()) != list(COLUMNS):
            raise Refused(f"the columns must be {','.join(COLUMNS)}", 1)
        for row in reader:
            if None in row or None in row.values():
                raise Refused(f"this row does not have {len(COLUMNS)} values", reader.line_num)
            try:
                yield _run(name, row, layout, used) | {"run": f"#{reader.line_num}"}
            except Refused as refused:
                yield Refused(str(refused), reader.line_num)
    except csv.Error as error:
        raise Refused(f"not CSV: {error}", reader.line_num) from error


def _run(name: str, row: Mapping[str, str], layout: Layout, used: set[str]) -> dict[str, Any]:
    """Return the run of a row. Raises Refused for one that is left out, or cannot be right."""
    key = "/".join(filter(None, (name, row["card"], row["cards"])))
    if key in layout.hardware:
        used.add(key)
    what = f"{row['model']} on {' × '.join(filter(None, (row['cards'], row['card'])))}, {row['source']}"
    if row["left_out"]:
        raise Refused(f"{what}: {row['left_out']}{': ' + row['note'] if row['note'] else ''}")
    if key not in layout.hardware:
        raise Refused(f"{shown(key)} is not in the mapping of rows to machines")
    rate = finite(number(row["tokens_per_second_per_card"]))
    if rate is None or rate <= 0:
        raise Refused(f"{what}: {shown(row['tokens_per_second_per_card'])} is not a number of tokens a second")
    cards, length, batch = (_count(row, key) for key in ("cards", "sequence_length", "global_batch"))
    folders = PurePosixPath(row["source"].partition(":")[2]).parts[:-1]
    precision = row["precision"].lower() or next((part for part in folders if part in _PRECISIONS), "")
    if precision and precision not in _PRECISIONS:
        raise Refused(f"{what}: {shown(row['precision'])} is no arithmetic that is known")
    _check_step(what, rate, row, cards, length, batch)
    return {
        "workload": _workload(row, layout.columns),
        "hardware": layout.hardware[key],
        "framework": row["software"].split(" (")[0].replace(" ", "-"),
        "batch_size": count(batch * length / cards) if batch and length and cards else None,
        "precision": _PRECISIONS.get(precision),
        "devices": cards,
        "samples_per_second": rate * (cards or 1),
        "started_at": None,
    }


def _count(row: Mapping[str, str], key: str) -> int | None:
    """Return a count that a row gives, None where it gives none."""
    if not row[key]:
        return None
    found = count(number(row[key]))
    if found is None:
        raise Refused(f"{key}: {shown(row[key])} is no count")
    return found


def _check_step(
    what: str, rate: float, row: Mapping[str, str], cards: int | None, length: int | None, batch: int | None
) -> None:
    seconds = finite(number(row["step_seconds"]))
    if seconds and cards and length and batch:
        of_step = batch * length / seconds / cards
        if abs(of_step / rate - 1) > _ROUNDING:
            raise Refused(f"{what}: {rate:g} tokens a second, but {of_step:.6g} by its step of {seconds:g} s")


def _workload(row: Mapping[str, str], names: Mapping[str, str]) -> str:
    model = names.get(row["model"]) or re.sub(r"[^A-Za-z0-9.+-]+", "_", row["model"]).strip("_")
    length = row["sequence_length"] or "a_length_not_stated"
    return f"{model}_{_TASKS.get(row['task'], row['task'])}_at_{length}"
