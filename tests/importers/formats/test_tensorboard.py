import struct
from pathlib import Path

import pandas as pd
import pytest

from scripts.importers import Imported, Layout
from scripts.importers.formats import tensorboard

BEGAN = 1_700_000_000.0


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    head, value = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + varint(value) if value else bytes([head])


def event(at: float, step: int = 0, **values: float) -> bytes:
    """An event as SummaryWriter writes it; `tensor` values as Keras does. The checksums are not looked at."""
    summary = b""
    for tag, value in values.items():
        name = tag.replace("__", "/")
        if tag.startswith("epoch_"):
            tensor = b"\x08\x01" + message(4, struct.pack("<f", value))
            summary += message(1, message(1, name.encode()) + message(8, tensor))
        else:
            summary += message(1, message(1, name.encode()) + b"\x15" + struct.pack("<f", value))
    body = b"\x09" + struct.pack("<d", BEGAN + at) + (b"\x10" + varint(step) if step else b"")
    body += message(5, summary) if summary else message(3, b"brain.Event:2")
    return struct.pack("<Q", len(body)) + bytes(4) + body + bytes(4)


def write(folder: Path, *events: bytes, name: str = "events.out.tfevents.1700000000.box.1.0") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"".join(events))


def read(folder: Path) -> Imported:
    return tensorboard.read(folder, Layout({".": "box"}, {".": "torch"}, workload="mlp"))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def test_time_runs_from_the_file_s_beginning_to_the_last_event(tmp_path: Path) -> None:
    rows = [event(30.0 * n, 10 * n, train__loss=1 / n, train__epoch=n / 2) for n in range(1, 5)]
    write(tmp_path / "a", event(0), *rows, event(150.0, 40, eval__loss=0.75))
    expected = {"train_seconds": 150.0, "epochs_done": 2, "loss": 0.25, "val_loss": 0.75, "status": "done"}
    assert facts(read(tmp_path)).items() >= expected.items()


def test_keras_writes_training_and_validation_beside_each_other(tmp_path: Path) -> None:
    """Two epochs of 50 s; the validation's numbers come 5 s after each."""
    write(tmp_path / "train", event(0), *(event(50.0 * n + 45, n, epoch_loss=1.0 - n / 2) for n in range(2)))
    write(tmp_path / "validation", event(50), *(event(50.0 * n + 50, n, epoch_loss=2.0 - n) for n in range(2)))
    expected = {"train_seconds": 100.0, "epochs_done": 2, "loss": 0.5, "val_loss": 1.0}
    assert facts(read(tmp_path)).items() >= expected.items()


def test_files_of_one_folder_are_one_training_that_was_resumed(tmp_path: Path) -> None:
    first = [event(0), *(event(60.0 * n, n, loss=1.0) for n in range(1, 6))]
    later = [event(90_000), *(event(90_000 + 60.0 * n, 5 + n, loss=0.5) for n in range(1, 6))]
    write(tmp_path, *first)
    write(tmp_path, *later, name="events.out.tfevents.1700090000.box.2.0")
    found = facts(read(tmp_path))
    assert found["train_seconds"] == pytest.approx(600.0)
    assert "a pause of 24.9 h after step 5: not counted" in str(found["remarks"])


def test_events_beside_a_state_of_the_trainer_are_its_clock(tmp_path: Path) -> None:
    write(tmp_path / "out" / "runs" / "Nov25", event(0), event(60, 10, train__loss=0.5))
    (tmp_path / "out" / "checkpoint-10").mkdir()
    (tmp_path / "out" / "checkpoint-10" / "trainer_state.json").write_text("{}")
    imported = read(tmp_path)
    assert (len(imported.runs), imported.problems) == (0, [])


def test_an_unfinished_record_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, event(0), event(60, 10, loss=0.5), event(90, 20, loss=0.25)[:-9])
    assert facts(read(tmp_path))["train_seconds"] == 60.0


#: An event of a scalar that is called 9.
TAG_OF_A_NUMBER = b"\x09" + struct.pack("<d", 1.7e9) + b"\x2a\x06\x0a\x04\x08\x09\x10\x03"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([event(0)], "holds no number that was logged"),
        ([struct.pack("<Q", 17) + bytes(4) + TAG_OF_A_NUMBER + bytes(4)], "a number where a text must be"),
        ([struct.pack("<Q", 3) + bytes(4) + b"\xff\xff\xff" + bytes(4)], "not a file of events"),
    ],
)
def test_what_holds_no_numbers_is_refused(events: list[bytes], said: str, tmp_path: Path) -> None:
    write(tmp_path, *events)
    (problem,) = read(tmp_path).problems
    assert said in str(problem)
