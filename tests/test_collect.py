import hashlib
import hmac
import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from scripts.records import record
from scripts.records import seen as seen_before
from scripts.records.samples import Sample
from scripts.records.seen import Seen
from scripts.records.stored import log_tail
from scripts.storage import seal, tables
from scripts.storage.code import code_of
from scripts.storage.errors import InputError
from tests import made
from tests.conftest import ROOT
from tests.made import collect

CELL = Path("mnist_mlp/cpu1/jax/b128")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with one run that is done and one that died."""
    record.write(tmp_path / CELL / "r1", made.record(), made.epochs(), [])
    record.write(tmp_path / CELL / "r2", made.failed_record(repeat=2, seed=8), [], [])
    return tmp_path


def collected(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables as the next rule finds them."""
    runs, epochs, attempts = collect(folder, sorted(folder.rglob("run.json")), 2)
    tables.write(runs, "runs", folder / "runs.parquet")
    tables.write(epochs, "epochs", folder / "epochs.parquet")
    tables.write(attempts, "attempts", folder / "attempts.parquet")
    return tables.read(folder / "runs.parquet"), tables.read(folder / "epochs.parquet")


def test_one_row_per_run_in_the_order_given(study: Path) -> None:
    runs, _ = collected(study)
    assert runs["run"].to_list() == [f"{CELL}/r1", f"{CELL}/r2"]
    assert runs["repeat"].to_list() == [1, 2]
    assert runs["seed"].to_list() == [7, 8]


def test_row_holds_what_the_record_says(study: Path) -> None:
    row = collected(study)[0].iloc[0]
    assert row["status"] == "done"
    assert (row["samples_fraction"], row["data_fraction"], row["epochs"]) == (0.5, 0.5, 2)
    assert (row["train_seconds"], row["first_step_seconds"], row["samples_per_second"]) == (13.0, 2.0, 3_000.0)
    assert (row["loss"], row["val_acc"], row["epochs_done"]) == (0.2, 0.8, 2)
    assert (row["cores"], row["cpu_model"], row["packages"]) == (1, "Some CPU", "keras 3.15.1, jax 0.10.2")
    assert row["git_commit"] == "0123456789ab"
    assert pd.isna(row["gpu_model"])


def test_failed_run_is_a_row_with_status_and_reason(study: Path) -> None:
    row = collected(study)[0].iloc[1]
    assert (row["status"], row["reason"]) == ("out_of_memory", "killed by Linux for want of memory")
    assert (row["epochs_done"], row["total_seconds"]) == (0, 5.0)
    assert row[["train_seconds", "samples_per_second", "val_acc", "packages", "git_commit"]].isna().all()


def test_row_has_the_end_of_its_log(study: Path) -> None:
    """Of any length, with what a terminal would act upon; a run without a log has none."""
    lines = [f"epoch {number}/9000" for number in range(1, 9001)]
    (study / CELL / "r1" / "train.log").write_text("\n".join([*lines, "", "\x1b[31mred", "x" * 1000]) + "\n")
    first, second = collected(study)[0]["log_tail"]
    assert first.split(" | ")[:3] == ["epoch 8998/9000", "epoch 8999/9000", "epoch 9000/9000"]
    assert first.split(" | ")[3:] == ["\ufffd[31mred", "x" * 160]
    assert pd.isna(second)


def test_one_row_per_epoch(study: Path) -> None:
    _, epochs = collected(study)
    assert epochs["run"].to_list() == [f"{CELL}/r1"] * 2
    assert epochs["epoch"].to_list() == [0, 1]
    assert epochs["val_acc"].to_list() == [0.65, 0.8]
    assert set(epochs["hardware"]) == {"cpu1"}


def test_study_of_which_all_failed_has_tables(study: Path) -> None:
    (study / CELL / "r1" / "run.json").unlink()
    runs, epochs = collected(study)
    assert (len(runs), len(epochs)) == (1, 0)


def test_uncommitted_changes_and_cards_are_noted(tmp_path: Path) -> None:
    found = made.record()["provenance"]
    cards = [{"model": "K80", "memory_mib": 11441}] * 2
    origin = found | {"git_dirty": True, "hardware": found["hardware"] | {"gpus": cards}}
    record.write(
        tmp_path / CELL / "r1",
        made.record(provenance=origin, claims={"cores": 1, "gpus": {"model": "K80", "count": 2}}),
        made.epochs(),
        [],
    )
    row = collected(tmp_path)[0].iloc[0]
    assert (row["git_commit"], row["gpu_model"]) == ("0123456789ab+", "K80")


def test_card_that_was_hidden_from_the_run_is_not_named(tmp_path: Path) -> None:
    origin = made.record()["provenance"]
    origin = origin | {"hardware": origin["hardware"] | {"gpus": [{"model": "K80", "memory_mib": 11441}]}}
    record.write(tmp_path / CELL / "r1", made.record(provenance=origin), made.epochs(), [])
    assert collected(tmp_path)[0]["gpu_model"].isna().all()


def test_record_that_breaks_the_schema_is_named(study: Path) -> None:
    path = study / CELL / "r1" / "run.json"
    path.write_text(json.dumps(made.record(status="fine")))
    with pytest.raises(InputError, match=r"r1/run\.json: status: 'fine' is not one of"):
        collect(study, [path], 1)


def test_attempts_are_those_that_the_record_holds(study: Path) -> None:
    attempts = [
        {"used_seconds": 40.0, "started_at": "2026-01-02T03:00:00+00:00", "ended": "preempted"},
        {"used_seconds": 70.0, "started_at": "2026-01-02T03:10:00+00:00", "ended": "done"},
    ]
    path = study / CELL / "r1" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"attempts": attempts}))
    collected(study)
    table = tables.read(study / "attempts.parquet")
    assert table["run"].to_list() == [f"{CELL}/r1"] * 2, "r2 records none"
    assert table["attempt"].to_list() == [1, 2]
    assert table["used_seconds"].to_list() == [40.0, 70.0]
    assert table["ended"].to_list() == ["preempted", "done"]


def disturbed(folder: Path, *others: float) -> pd.DataFrame:
    """Return the runs of a cell of two repeats beside which others used so much of a core (%)."""
    for repeat, other in enumerate(others, 1):
        samples = [Sample(100.0 + i, "train", 90.0, 256.0, 50.0, other) for i in range(20)]
        started = made.record()["provenance"] | {"started_at": f"2026-01-02T03:0{repeat}:00+00:00"}
        run = made.record(repeat=repeat, provenance=started)
        record.write(folder / CELL / f"r{repeat}", run, made.epochs(), samples)
    return collect(folder, sorted(folder.rglob("run.json")), 2)[0]


def test_disturbed_run_that_was_measured_once_more_compares_with_nothing(tmp_path: Path) -> None:
    runs = disturbed(tmp_path, 40.0, 2.0, 3.0)
    assert runs["status"].to_list() == ["disturbed", "done", "done"]
    assert runs["reason"][0] == f"another process used 40 % of a core: measured once more as {CELL}/r3"


@pytest.mark.parametrize("others", [(40.0, 2.0), (40.0, 2.0, 50.0), (9.0, 2.0, 3.0)])
def test_what_has_no_sound_run_in_its_place_stands(tmp_path: Path, others: tuple[float, ...]) -> None:
    assert set(disturbed(tmp_path, *others)["status"]) == {"done"}


def test_a_log_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "train.log")
    assert log_tail(tmp_path / "train.log") is None


def test_only_what_has_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for repeat in (1, 2, 3):
        origin = made.record()["provenance"] | {"started_at": f"2026-01-02T03:0{repeat}:00+00:00"}
        record.write(tmp_path / CELL / f"r{repeat}", made.record(repeat=repeat, provenance=origin), made.epochs(), [])
    files, kept = sorted(tmp_path.rglob("run.json")), tmp_path / "seen.json"

    def again() -> tuple[int, list[pd.DataFrame]]:
        seen = Seen(kept)
        found = collect(tmp_path, files, 3, seen)
        seen.save()
        return seen.read, list(found)

    read, first = again()
    assert read == 3
    read, second = again()
    assert read == 0
    for one, other in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(one, other)
    path = files[1].with_name("epochs.csv")
    path.write_text(path.read_text().replace("0.9", "0.91"))
    read, third = again()
    assert (read, third[0]["acc"].to_list()) == (1, [0.9, 0.91, 0.9])
    files[2].with_name("train.log").write_text("the end\n")
    read, fourth = again()
    assert (read, fourth[0]["log_tail"].iloc[2]) == (1, "the end"), "a log that comes later"
    before = path.stat()
    path.write_text(path.read_text().replace("0.91", "0.92"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    read, fifth = again()
    assert (read, fifth[0]["acc"].to_list()) == (1, [0.9, 0.92, 0.9]), "of the same time and size"
    times = fifth[0]["train_seconds"].to_list()
    kept.write_text(re.sub(r'("train_seconds": )[\d.]+', r"\g<1>1.0", kept.read_text()))
    read, sixth = again()
    assert (read, sixth[0]["train_seconds"].to_list()) == (3, times), "what was kept was edited"
    monkeypatch.setattr(seen_before, "code", lambda: "another")
    assert again()[0] == 3, "other code"
    whole = json.loads(kept.read_text())
    damaged = ["", "{", "[]", "1", "null", "{}", "[" * 100_000, "\ud800"]
    damaged += [json.dumps(whole | change) for change in ({"rows": []}, {"rows": None}, {"seal": 1}, {"rows": {}})]
    (name, parts), *_ = whole["rows"].items()
    shapes = [[], None, 1, {name: None}, {name: parts[:1]}, {name: parts[:2]}, {name: [*parts[:1], [], [], []]}]
    shapes += [{name: [*parts[:3], [1]]}, {name: [*parts[:2], None, []]}]
    damaged += [json.dumps(whole | {"rows": rows, "seal": seal.of(json.dumps(rows))}) for rows in shapes]
    other = {name: [parts[0], parts[1] | {"train_seconds": 1.0}, *parts[2:]]}
    of_another_clone = hmac.new(b"its own", json.dumps(other).encode(), "sha256").hexdigest()
    plain = hashlib.sha256(json.dumps(other).encode()).hexdigest()
    damaged += [json.dumps(whole | {"rows": other, "seal": one, "sha256": one}) for one in (of_another_clone, plain)]
    for text in damaged:
        kept.write_bytes(text.encode(errors="surrogatepass"))
        assert again()[0] == 3, text[:20]
    kept.unlink()
    os.mkfifo(kept)
    assert Seen(kept).read == 0, "a pipe is not waited for"


def test_all_that_decides_what_a_record_comes_to_is_part_of_the_checksum() -> None:
    """But for what is worked out of all rows together: prices, and what is known of noise."""
    made_of = code_of("scripts.analysis.runs", "scripts.records.stored", discovered=False)
    later = {"costs", "importers", "__init__.py"}
    decides = {Path(file) for file in made_of if not later & set(Path(file).parts)}
    summed = {path.relative_to(ROOT) for pattern in seen_before._CODE for path in ROOT.glob(pattern)}
    assert len(decides) > 20
    assert decides <= summed
