"""Progress in files that trainings write, as their libraries write them."""

import base64
import json
import os
import time
from pathlib import Path

import pytest
from epochs_per_dollar.files import Files

#: What torch.utils.tensorboard wrote for steps 1, 2, 300 and 70,000, each `1764000000.5 + step` seconds after 1970.
EVENTS = base64.b64decode(
    "SAAAAAAAAAD+kkidCefQZ2iHwdpBGg1icmFpbi5FdmVudDoyUi4KLHRlbnNvcmJvYXJkLnN1bW1hcnkud3JpdGVyLmV2ZW50X2ZpbGVfd3JpdGVy"
    "VVVnoRoAAAAAAAAAEpvYLQkAAGBAIEnaQRABKg0KCwoEbG9zcxUAAIA/kWm9uBoAAAAAAAAAEpvYLQkAAKBAIEnaQRACKg0KCwoEbG9zcxUAAAA/"
    "qcdE3hsAAAAAAAAAGg2eEwkAACCLIEnaQRCsAioNCgsKBGxvc3MVDnRaO5MpWg0cAAAAAAAAAMjBlR0JAAAgnGRJ2kEQ8KIEKg0KCwoEbG9zcxWt"
    "rG836zNXIQ=="
)


def looked(folder: Path, at: float = 100.0, began: float | None = None) -> list[tuple[float, float, float | None]]:
    """Return seconds, count and total of what one look finds."""
    files = Files(folder, time.time() - 5 if began is None else began)
    return [(seconds, tick.done, tick.total) for seconds, tick in files.look(at)]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("log.json", '{"lr": 0.1, "step": 20, "max_steps": 90}\n{"step": 40, "max_steps": 90}\n', [(20, 90), (40, 90)]),
        ("log.txt", '{"train_loss": 0.3, "epoch": 1}\n{"train_loss": 0.2, "epoch": 2}\n', [(1, None), (2, None)]),
        ("train.log", "2026-11-25 14:00:00 INFO step 20/90 loss 0.3\nno step\n", [(20, 90)]),
        ("config.json", '{\n  "epoch": 3,\n  "step": 4\n}\n', []),
        ("notes.txt", "step 3 of 9 is to look\n", []),
    ],
)
def test_logs_that_are_written_and_not_printed(
    tmp_path: Path, name: str, text: str, found: list[tuple[float, float | None]]
) -> None:
    (tmp_path / name).write_text(text)
    assert [(done, total) for _, done, total in looked(tmp_path)] == found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trainer_state.json", b"[]"),
        ("trainer_state.json", b"[" * 100_000),
        ("metrics.csv", b"step,loss\n1," + b"9" * 200_000 + b"\n"),
        ("metrics.csv", b"step,loss\n1,\0\n"),
        ("events.out.tfevents.1", b"\xff" * 1_000),
        ("run-1.wandb", b"\xff" * 40_000),
        ("mlflow.db", b"SQLite format 3\0" + b"\xff" * 5_000),
        ("metrics/loss", b"a b c\n"),
        ("log.jsonl", b"[" * 100_000 + b"\n"),
    ],
)
def test_files_of_others_by_these_names_end_no_training(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    (tmp_path / "train.log").write_text("step 20/90\n")
    assert (20, 90) in [(done, total) for _, done, total in looked(tmp_path)]


def test_events_of_tensorboard_have_their_own_times(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "Nov24" / "events.out.tfevents.1764000000.host"
    place.parent.mkdir(parents=True)
    place.write_bytes(EVENTS)
    began = 1764000000.0
    assert looked(tmp_path, began=began) == [(1.5, 1, None), (2.5, 2, None), (300.5, 300, None), (70000.5, 70000, None)]


@pytest.mark.parametrize("cut", range(1, len(EVENTS), 7))
def test_events_that_are_half_written_come_with_the_next_look(tmp_path: Path, cut: int) -> None:
    place = tmp_path / "events.out.tfevents.1"
    place.write_bytes(EVENTS[:cut])
    files = Files(tmp_path, 1764000000.0)
    before = [tick.done for _, tick in files.look(10)]
    place.write_bytes(EVENTS)
    assert before + [tick.done for _, tick in files.look(20)] == [1, 2, 300, 70000]


def test_rows_of_a_table_are_read_once(tmp_path: Path) -> None:
    place = tmp_path / "logs" / "metrics.csv"
    place.parent.mkdir()
    place.write_text("epoch,step,loss\n0,49,1.0\n0,99,0.9\n0,14")
    files = Files(tmp_path, time.time() - 5)
    assert [tick.done for _, tick in files.look(10) if tick.unit == "step"] == [49, 99]
    with place.open("a") as file:
        file.write("9,0.8\n")
    assert [tick.done for _, tick in files.look(20) if tick.unit == "step"] == [149]


def test_yolo_s_results_count_epochs(tmp_path: Path) -> None:
    head, first, second = (
        "                  epoch,         train/box_loss",
        "                      1,  1.2",
        "   2,  1.1",
    )
    (tmp_path / "results.csv").write_text(f"{head}\n{first}\n{second}\n")
    assert [done for _, done, _ in looked(tmp_path)] == [1, 2]


def test_checkpoints_of_transformers_are_one_series(tmp_path: Path) -> None:
    for step in (500, 1000):
        place = tmp_path / "out" / f"checkpoint-{step}" / "trainer_state.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps({"global_step": step, "max_steps": 3000, "log_history": []}))
    assert sorted((done, total) for _, done, total in looked(tmp_path)) == [(500, 3000), (1000, 3000)]


def test_older_files_and_links_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("step\n1\n2\n")
    os.utime(tmp_path / "old.csv", (1, 1))
    elsewhere = tmp_path.parent / "elsewhere.csv"
    elsewhere.write_text("step\n1\n2\n")
    (tmp_path / "link.csv").symlink_to(elsewhere)
    assert looked(tmp_path) == []


@pytest.mark.parametrize("name", ["events.out.tfevents.1", "trainer_state.json", "metrics.csv", "log.jsonl"])
def test_what_is_no_such_file_is_no_progress(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(os.urandom(1000) + b"\n\xff\xfe{[\n")
    assert looked(tmp_path) == []


@pytest.mark.slow
def test_a_data_set_of_many_files_is_not_gone_through(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number:05}.csv").write_text("step\n1\n")
    assert len(looked(tmp_path)) <= 2000
