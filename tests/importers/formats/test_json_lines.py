import json
from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import any as any_log
from scripts.importers.formats import json_lines

#: LLaMA-Factory's trainer_log.jsonl.
LLAMA_FACTORY = "".join(
    json.dumps(
        {
            "current_steps": step,
            "total_steps": 30,
            "loss": loss,
            "lr": 5e-05,
            "epoch": step / 10,
            "percentage": 100 * step / 30,
        }
        | {"elapsed_time": elapsed, "remaining_time": "0:01:00", "throughput": 1234.5, "total_tokens": 4096 * step}
    )
    + "\n"
    for step, loss, elapsed in ((10, 2.0, "0:00:58"), (20, 1.5, "0:02:01"), (30, 1.25, "0:03:10"))
)

OWN = "".join(
    json.dumps({"step": step, "train/loss": 1 / step, "timestamp": 1_700_000_000 + 2 * step}) + "\n"
    for step in (10, 20, 30)
)


def read(folder: Path, text: str, name: str) -> Imported:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return json_lines.read(folder, Layout({".": "box"}, {".": "torch"}, workload="llama"))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def test_llama_factory_counts_the_time_from_the_beginning(tmp_path: Path) -> None:
    expected = {
        "train_seconds": 190.0,
        "seconds_from": "stated: elapsed_time",
        "steps_done": 30,
        "epochs_done": 3,
        "loss": 1.25,
    }
    assert facts(read(tmp_path, LLAMA_FACTORY, "trainer_log.jsonl")).items() >= expected.items()
    assert json_lines.looks(PurePosixPath("trainer_log.jsonl"), LLAMA_FACTORY)


def test_more_than_a_day_as_python_writes_it(tmp_path: Path) -> None:
    text = LLAMA_FACTORY.replace("0:03:10", "1 day, 2:03:04")
    assert facts(read(tmp_path, text, "trainer_log.jsonl"))["train_seconds"] == 86_400 + 7_384


def test_parts_of_a_resumed_training_are_added_up(tmp_path: Path) -> None:
    text = LLAMA_FACTORY.replace("0:03:10", "0:00:40")
    assert facts(read(tmp_path, text, "trainer_log.jsonl"))["train_seconds"] == 121.0 + 40.0


def test_a_training_that_goes_on_is_one_that_ends_early(tmp_path: Path) -> None:
    text = "".join(LLAMA_FACTORY.splitlines(keepends=True)[:2]) + '{"current_steps": 3'
    found = facts(read(tmp_path, text, "trainer_log.jsonl"))
    assert (found["train_seconds"], found["remarks"]) == (121.0, "ends at step 20 of 30")


def test_rows_of_ones_own_are_timed_by_their_clock(tmp_path: Path) -> None:
    found = facts(read(tmp_path, OWN, "log.jsonl"))
    assert (found["train_seconds"], found["steps_done"], found["best"]) == (pytest.approx(60.0), 30, 1 / 30)


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, OWN.replace("}\n", "\n", 1), "log.jsonl").problems
    assert str(problem).startswith("log.jsonl:1: no JSON object: ")


@pytest.mark.parametrize("text", ['{"messages": [{"role": "user"}], "id": 3}\n', "[1]\n", "text\n"])
def test_other_rows_are_no_log(text: str) -> None:
    assert not json_lines.looks(PurePosixPath("data.jsonl"), text)


def test_beside_a_state_of_the_trainer_the_lines_are_its_clock(tmp_path: Path) -> None:
    (tmp_path / "sft" / "checkpoint-30").mkdir(parents=True)
    state = {"global_step": 30, "max_steps": 30, "epoch": 3.0, "log_history": [{"loss": 1.25, "step": 30}]}
    (tmp_path / "sft" / "checkpoint-30" / "trainer_state.json").write_text(json.dumps(state))
    (tmp_path / "sft" / "trainer_log.jsonl").write_text(LLAMA_FACTORY)
    found = facts(any_log.read(tmp_path, Layout({".": "box"})))
    assert (found["read_as"], found["train_seconds"]) == ("hf_trainer", 190.0)
    assert found["seconds_from"] == "stated: elapsed_time of trainer_log.jsonl"


#: mmengine's scalars.json and mmcv's .log.json: the time of a step, which begins anew in each epoch of the latter.
MMENGINE = "".join(
    json.dumps(
        {"lr": 0.1, "data_time": 0.01, "loss": 2.0, "time": 0.5, "epoch": 1 + step // 101, "iter": step, "step": step}
    )
    + "\n"
    for step in (50, 100, 150, 200)
)
MMCV = '{"env_info": "sys.platform: linux"}\n' + "".join(
    json.dumps({"mode": "train", "epoch": epoch, "iter": step, "data_time": 0.01, "loss": 2.0, "time": 0.5}) + "\n"
    for epoch in (1, 2)
    for step in (50, 100)
)


@pytest.mark.parametrize(
    ("name", "text", "seconds"),
    [
        ("work/vis_data/scalars.json", MMENGINE, 100.0),
        ("work/20210101_120000.log.json", MMCV, 100.0),
        ("deit/log.txt", '{"train_loss": 6.9, "epoch": 0}\n{"train_loss": 6.5, "epoch": 1}\n', None),
        ("own/steps.jsonl", "".join(f'{{"step": {n}, "loss": 1, "time": {n * 2.5}}}\n' for n in (10, 20, 30)), 75.0),
    ],
)
def test_files_with_other_endings_are_json_lines_too(
    name: str, text: str, seconds: float | None, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text)
    found = facts(any_log.read(tmp_path, Layout({".": "box"})))
    assert (found["read_as"], found.get("train_seconds")) == ("json_lines", seconds)


@pytest.mark.parametrize(
    ("name", "console"),
    [
        ("work/vis_data/scalars.json", "work/20260101_120000.log"),
        ("work/20210101_120000.log.json", "work/20210101_120000.log"),
        ("out/metrics.json", "out/log.txt"),
    ],
)
def test_rows_beside_the_console_of_their_training_are_no_second_run(name: str, console: str, tmp_path: Path) -> None:
    for path, text in ((name, MMENGINE), (console, "step 1 loss 0.5 dt: 250ms\nstep 2 loss 0.4 dt: 250ms\n")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert any_log.read(tmp_path, Layout({".": "box"})).runs["file"].to_list() == [console]


def test_json_that_is_no_rows_is_none(tmp_path: Path) -> None:
    for name, text in (("config.json", '{"epoch": 3, "loss": 1}'), ("a.json", '{\n "epoch": 3,\n "loss": 1\n}\n')):
        assert not json_lines.looks(PurePosixPath(name), text)
