import json
import struct
from pathlib import Path

import pandas as pd
import pytest
from epochs_per_dollar.stores import to_varint

from scripts.importers import Imported, Layout
from scripts.importers.formats import any as any_log
from scripts.importers.formats import wandb
from tests.recorder.test_stores import WANDB


def read(folder: Path) -> Imported:
    return wandb.read(folder, Layout({".": "box"}, {".": "torch"}, workload="mlp"))


def facts(imported: Imported) -> dict[str, object]:
    assert imported.problems == []
    (row,) = imported.runs.to_dict("records")
    return {key: value for key, value in row.items() if not pd.isna(value)}


def offline(folder: Path, metadata: dict | None = None) -> Path:
    place = folder / "wandb" / "offline-run-20261125_025356-w3e44oge"
    (place / "files").mkdir(parents=True)
    (place / "run-w3e44oge.wandb").write_bytes(WANDB)
    if metadata:
        (place / "files" / "wandb-metadata.json").write_text(json.dumps(metadata))
    return folder


def test_an_offline_run_has_the_clock_of_its_rows(tmp_path: Path) -> None:
    """Its first row says that it ran for .3181 s then, the last comes .0967 s later."""
    found = facts(read(offline(tmp_path)))
    assert found["train_seconds"] == pytest.approx(0.3181 + 0.0967, abs=1e-3)
    assert (found["loss"], found["status"]) == (pytest.approx(1 / 3), "done")


@pytest.mark.parametrize(
    ("metadata", "cards"),
    [
        ({"gpu": "NVIDIA H100 80GB HBM3", "gpu_count": 8}, "8 x NVIDIA H100 80GB HBM3"),
        ({"gpu": "[NVIDIA A100-SXM4-80GB, NVIDIA A100-SXM4-80GB]", "gpu_count": 2}, "2 x NVIDIA A100-SXM4-80GB"),
        ({"gpu_nvidia": [{"name": "Tesla T4"}]}, "1 x Tesla T4"),
    ],
)
def test_cards_are_those_of_its_metadata(metadata: dict, cards: str, tmp_path: Path) -> None:
    found = facts(read(offline(tmp_path, metadata)))
    assert (found["cards"], found["devices"]) == (cards, int(cards[0]))


def test_an_export_of_its_pages(tmp_path: Path) -> None:
    text = '"_step","_runtime","_timestamp","epoch","train/loss","note"\n'
    text += '0,30,1700000030,0,1.5,"a"\n10,60,1700000060,1,1.0,\n20,95,1700000095,2,0.5,\n'
    (tmp_path / "export.csv").write_text(text)
    assert facts(read(tmp_path)).items() >= {"train_seconds": 95.0, "epochs_done": 3, "loss": 0.5}.items()


def test_an_export_without_a_clock_has_its_running_time(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text("Step,_runtime,loss\n0,30,1.5\n10,60.5,1.0\n")
    found = facts(read(tmp_path))
    assert (found["train_seconds"], found["seconds_from"]) == (60.5, "stated: _runtime")


def test_a_file_cut_at_its_beginning_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run-a.wandb").write_bytes(b":W&B\1\0\0" + b"\xff" * 64)
    (problem,) = read(tmp_path).problems
    assert "not a file of Weights & Biases: no record" in str(problem)


def field(number: int, content: bytes) -> bytes:
    """Return a field of protobuf: its number and kind, its length, its bytes."""
    tag = number << 3 | 2
    head = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return head + bytes([len(content)]) + content


def item(key: str, value: object) -> bytes:
    return field(1, field(2, key.encode()) + field(16, json.dumps(value).encode()))


def run_of(folder: Path, name: str, config: dict[str, object], later: dict[str, object], machine: bytes = b"") -> None:
    """A run as wandb 0.31 writes it offline: its configuration in the record of the run, changes in another."""
    began = field(17, field(1, name.encode()) + field(4, b"".join(item(*one) for one in config.items())))
    changed = field(5, b"".join(item(*one) for one in later.items()))
    rows = [
        field(3, item("_timestamp", 1.7e9 + at) + item("_runtime", at) + item("_step", at) + item("train/loss", 1.0))
        for at in (1, 2, 3)
    ]
    # Its first record of a machine names no cards: those come in a later one.
    environment = [field(26, field(1, b"Linux")), field(26, machine)]
    records = [began, *environment, changed, *rows]
    data = b":W&B\1\0\0" + b"".join(struct.pack("<IHB", 0, len(record), 1) + record for record in records)
    place = folder / "wandb" / f"offline-run-20261125_101949-{name}"
    (place / "files").mkdir(parents=True)
    (place / f"run-{name}.wandb").write_bytes(data)
    (place / "files" / "output.log").write_text("step 1 loss 0.5\nstep 2 loss 0.4\n")


def test_runs_of_a_sweep_are_other_cells_by_the_configuration_in_their_file(tmp_path: Path) -> None:
    run_of(tmp_path, "aaaaaaaa", {"lr": 0.1, "_wandb": {}, "batch_size": 16}, {})
    run_of(tmp_path, "bbbbbbbb", {"lr": 0.1, "_wandb": {}, "batch_size": 16}, {"lr": 0.01})
    rows = read(tmp_path).runs[["name", "workload", "batch_size", "steps_done", "train_seconds"]].values.tolist()
    assert rows == [["aaaaaaaa", "mlp+lr_0.1", 16, 3, 3.0], ["bbbbbbbb", "mlp+lr_0.01", 16, 3, 3.0]]


@pytest.mark.parametrize(
    ("machine", "cards"),
    [
        (field(18, b"NVIDIA H100 80GB HBM3") + b"\x98\x01\x08", "8 x NVIDIA H100 80GB HBM3"),
        (field(24, field(1, b"Tesla T4")) + field(24, field(1, b"Tesla T4")), "2 x Tesla T4"),
        (field(26, field(9, b"MI300X")), "1 x MI300X"),
        (field(29, field(1, b"v5e") + b"\x20\x04"), "4 x v5e"),
        (field(23, field(1, b"Apple M2")), "1 x Apple M2"),
    ],
)
def test_cards_are_those_of_the_record_of_the_machine_in_the_file(machine: bytes, cards: str, tmp_path: Path) -> None:
    """As wandb 0.31 declares the fields: gpu_type 18, gpu_count 19, apple 23, gpu_nvidia 24, gpu_amd 26, tpu 29."""
    run_of(tmp_path, "aaaaaaaa", {}, {}, machine)
    found = facts(read(tmp_path))
    assert (found["cards"], found["devices"]) == (cards, int(cards[0]))


@pytest.mark.parametrize(
    "machine",
    [b"\x90\x01\x04", field(24, b"\x08\x04"), field(29, field(1, b"v4") + b"\x20" + b"\x80" * 5 + b"\x40")],
    ids=["a card called 4", "the same in its own message", "2**41 cards"],
)
def test_a_machine_of_other_kinds_of_fields_is_a_line(machine: bytes, tmp_path: Path) -> None:
    run_of(tmp_path, "aaaaaaaa", {}, {}, machine)
    run_of(tmp_path, "bbbbbbbb", {}, {})
    found = read(tmp_path)
    assert found.runs["name"].tolist() == ["bbbbbbbb"]
    assert len(found.problems) == 1


def test_brackets_without_end_are_no_number(tmp_path: Path) -> None:
    run_of(tmp_path, "aaaaaaaa", {}, {})
    (file,) = (tmp_path / "wandb").rglob("*.wandb")
    deep = b"[" * 20_000
    value = b"\x12\x04loss\x82\x01" + to_varint(len(deep)) + deep
    row = b"\x0a" + to_varint(len(value)) + value
    row = b"\x1a" + to_varint(len(row)) + row
    file.write_bytes(file.read_bytes() + struct.pack("<IHB", 0, len(row), 1) + row)
    assert facts(read(tmp_path))["steps_done"] == 3


def test_the_console_that_it_keeps_is_no_second_run(tmp_path: Path) -> None:
    run_of(tmp_path, "aaaaaaaa", {"lr": 0.1}, {})
    assert [path.name for path in any_log.candidates(tmp_path)] == ["run-aaaaaaaa.wandb"]
