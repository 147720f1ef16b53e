from pathlib import Path

import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import token_table

ROW = {
    "source": "x/y@1:a.md#L7",
    "published": "2026-08",
    "software": "NeMo 26.08 (Megatron-Bridge)",
    "task": "pretrain",
    "model": "LLAMA3_8B",
    "card": "H100",
    "cards": "8",
    "precision": "FP8",
    "sequence_length": "4096",
    "global_batch": "128",
    "tokens_per_second_per_card": "1000",
}
HARDWARE = {"speeds/H100/8": "h100-x8", "speeds/TPU v5p": "tpu"}


def read(folder: Path, *rows: dict, hardware: dict = HARDWARE, columns: dict | None = None) -> Imported:
    lines = [",".join(token_table.COLUMNS)]
    lines += [",".join((ROW | row).get(name, "") for name in token_table.COLUMNS) for row in rows]
    (folder / "speeds.csv").write_text("\n".join(lines) + "\n")
    return token_table.read(folder, Layout(hardware, columns=columns or {}))


def test_row_is_a_run_whose_samples_are_tokens(tmp_path: Path) -> None:
    imported = read(tmp_path, {}, columns={"LLAMA3_8B": "Llama_3_8B"})
    (problem,) = imported.problems
    assert str(problem) == "speeds/TPU v5p: is in the mapping, but no row is of such a machine"
    (run,) = imported.runs.to_dict("records")
    assert run["run"] == "speeds#2"
    assert (run["workload"], run["hardware"]) == ("Llama_3_8B_pre-training_at_4096", "h100-x8")
    assert (run["framework"], run["precision"], run["devices"]) == ("NeMo-26.08", "fp8", 8)
    assert run["batch_size"] == 128 * 4096 / 8, "tokens a step and card"
    assert run["samples_per_second"] == 8000, "of all cards"


def test_what_a_row_does_not_say_stays_empty(tmp_path: Path) -> None:
    without = dict.fromkeys(("cards", "precision", "sequence_length", "global_batch"), "")
    row = {"card": "TPU v5p", "software": "MaxText", "model": "Llama3.1-8B", **without}
    imported = read(tmp_path, row, hardware={"speeds/TPU v5p": "tpu"})
    (run,) = imported.runs.astype(object).where(imported.runs.notna(), None).to_dict("records")
    assert [run[key] for key in ("devices", "precision", "batch_size")] == [None, None, None]
    assert run["workload"] == "Llama3.1-8B_pre-training_at_a_length_not_stated"
    assert run["samples_per_second"] == 1000, "of one card"


def test_a_folder_of_the_source_may_name_the_arithmetic(tmp_path: Path) -> None:
    sources = [{"source": f"x/y@1:GPT3/{name}/README.md#L7", "precision": ""} for name in ("bf16", "fp8", "fast")]
    imported = read(tmp_path, *sources, hardware={"speeds/H100/8": "h100-x8"})
    assert imported.runs["precision"].fillna("").to_list() == ["bfloat16", "fp8", ""]
    assert imported.runs["repeat"].to_list() == [1, 1, 1]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"tokens_per_second_per_card": "", "note": "37556 (36108)", "left_out": "two figures in one cell"},
         "LLAMA3_8B on 8 × H100, x/y@1:a.md#L7: two figures in one cell: 37556 (36108)"),
        ({"step_seconds": "60"}, "1000 tokens a second, but 1092.27 by its step of 60 s"),
        ({"tokens_per_second_per_card": "fast"}, "'fast' is not a number of tokens a second"),
        ({"cards": "16"}, "'speeds/H100/16' is not in the mapping of rows to machines"),
        ({"precision": "INT8"}, "'INT8' is no arithmetic that is known"),
        ({"global_batch": "1.5"}, "global_batch: '1.5' is no count"),
    ],
)  # fmt: skip
def test_row_that_cannot_be_right_is_refused_and_the_others_are_kept(tmp_path: Path, row: dict, says: str) -> None:
    imported = read(tmp_path, row, {}, hardware={"speeds/H100/8": "h100-x8"})
    (problem,) = imported.problems
    assert (problem.file, problem.line) == ("speeds.csv", 2)
    assert says in problem.message
    assert imported.runs["run"].to_list() == ["speeds#3"]


def test_step_that_agrees_is_no_contradiction(tmp_path: Path) -> None:
    imported = read(tmp_path, {"step_seconds": "65.5"}, hardware={"speeds/H100/8": "h100-x8"})
    assert imported.problems == []


def test_tables_that_no_key_names_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "others.csv").write_text("a,b\n1,2\n")
    imported = read(tmp_path, {}, hardware={"speeds/H100/8": "h100-x8"})
    assert (len(imported.runs), imported.problems) == (1, [])
