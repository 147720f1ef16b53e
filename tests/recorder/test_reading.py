"""What is read of a record again: one line for each value that no session writes."""

from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from scripts.workflow import recorded
from tests.recorder.test_bill import RECORD, WHOLE, Desk
from tests.test_estimate_record import EIGHT, keep

HUGE = 10**400

#: Of both readers: a key, and values that cannot be.
BAD = {
    "use": [None, [], True],
    "use.cards": [HUGE, True, 0, -5, 1.5, nan, inf, "10", [], {}, None],
    "use.peak_gpu_memory_mib": [HUGE, True, -5, nan, inf, [], {}, "10"],
    "rate.units_per_second": [HUGE, True, 0, nan, "1"],
    "whole.units": [HUGE, True, 0, [], {}, None],
    "per_step.each": [HUGE, True, 0, "12", [], nan],
    "machine.cards": [{}, [3], [{"name": 3}], [{"name": "A100" * 2000}]],
    "progress.source": [3, None, "a" * 5000],
    "promised_seconds": [HUGE, True, 0, -5, nan, inf, "10", [], {}],
    "usd_per_hour": [HUGE, True, 0, nan, []],
    "seconds": [HUGE, True, 0, None, []],
    "doubts": ["text", [3]],
    "provenance.ended_at": [
        *(3, None, "12", "2026-11-25Tnoon", "2999-12-31T00:00:00+00:00", "٢٠٢٦-11-25T01:02:03+00:00"),
    ],
}
CASES = [(key, value) for key, values in BAD.items() for value in values]
STEPPED = EIGHT | {"per_step": {"each": 98_304.0, "unit": "tokens"}}


def changed(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    outer, _, key = path.rpartition(".")
    return record | ({outer: {**record[outer], key: value}} if outer else {key: value})


@pytest.mark.parametrize(("key", "value"), CASES, ids=lambda one: str(one)[:30])
def test_a_value_that_no_session_writes_is_refused_by_both(tmp_path: Path, key: str, value: Any) -> None:
    from epochs_per_dollar import bill

    file = keep(tmp_path, changed(STEPPED, key, value)) / "run.json"
    with pytest.raises(ValueError, match=rf"^{file}: {key}: .* (must be|is too large: at most) ") as by_estimate:
        recorded.read(file)
    with pytest.raises(bill.BillError) as by_bill:
        bill.billed(file, 12_000.0)
    # The project's reader of JSON refuses what no float holds before the record's rules are asked.
    if "is too large" not in str(by_estimate.value):
        assert str(by_bill.value) == str(by_estimate.value)
    assert str(by_bill.value).startswith(f"{file}: {key}: ")
    assert len(str(by_bill.value).splitlines()) == 1


def test_what_sessions_write_is_read(tmp_path: Path) -> None:
    from epochs_per_dollar import reading

    for record in (RECORD, WHOLE, STEPPED, RECORD | {"whole": None, "rate": None, "doubts": None}):
        reading.check(record)
    processor = RECORD | {"use": {"cards": 0, "peak_gpu_memory_mib": None}, "machine": {"cores": 2, "cards": []}}
    reading.check(processor)
    assert recorded.read(keep(tmp_path, STEPPED) / "run.json").tokens_per_second_per_card == pytest.approx(10_400)


def test_a_bill_of_a_bad_record_is_one_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    text = '{"clock": "observed", "seconds": 1, "seconds": 2}'
    for name, record, says in (
        ("huge", RECORD | {"promised_seconds": HUGE}, "promised_seconds: 10000"),
        ("none", WHOLE | {"promised_seconds": 0}, "promised_seconds: 0 must be a number above 0"),
        ("twice", text, "seconds: is given twice"),
    ):
        done = desk.bill(str(desk.keep(name, record)))
        assert (done.returncode, done.stdout) == (2, "")
        assert f"run.json: {says}" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not desk.ledger.exists()


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "0x5 tokens", "１２ tokens", "12 images"])
def test_a_step_is_an_amount(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"^--per-step: .* is no amount"):
        recorded.read(keep(tmp_path, EIGHT) / "run.json", text)


def test_amounts_are_products() -> None:
    from epochs_per_dollar import words

    assert words.amount("8x12 * 1024 tokens") == (98_304, "tokens")
    assert words.amount("98304") == (98_304, "")


def test_of_two_records_of_one_second_both_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one takes its name between the look and the move."""
    from epochs_per_dollar import record

    monkeypatch.setattr(record, "folder", lambda: tmp_path)
    monkeypatch.setattr(record, "of", lambda *_: {})
    move = Path.rename

    def late(part: Path, place: Path) -> Path:
        if not list(tmp_path.glob("2*")):
            place.mkdir()
            (place / "run.json").write_text("{}")
        return move(part, place)

    monkeypatch.setattr(Path, "rename", late)
    kept = record.keep(None, "")  # type: ignore[arg-type]
    assert kept is not None
    assert kept.name.endswith("-1")
    assert sorted(path.name for path in tmp_path.iterdir()) == [kept.name.removesuffix("-1"), kept.name]
