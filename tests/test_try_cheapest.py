import io
import json
from pathlib import Path

import pytest

from scripts import try_cheapest
from scripts.records import record
from scripts.try_cheapest import fails_anywhere
from tests import made


@pytest.mark.parametrize(
    ("status", "reason", "cores", "expected"),
    [
        ("failed", "ZeroDivisionError: division by zero", 4, True),
        ("done", None, 4, False),
        ("diverged", "the loss is not a finite number", 4, False),
        ("out_of_memory", "took more than 100 MiB", 4, False),
        ("timed_out", "took longer than 5 minutes", 4, False),
        ("failed", "Unsupported: mode sparse: the model trains no embedding", 4, True),
        ("failed", "UnsupportedDevice: Tesla T4 has no tf32", 4, False),
        ("failed", "not even a batch of 128 could be tried: UnsupportedDevice: Tesla T4 has no tf32", 4, False),
        ("failed", "AcceleratorError: CUDA error: no kernel image is available for execution on the device", 4, False),
        ("failed", "the machine did not answer", 0, False),
    ],
)
def test_only_what_another_machine_cannot_mend_counts(status: str, reason: str, cores: int, expected: bool) -> None:
    run = {"status": status, "reason": reason, "provenance": {"hardware": {"cores": cores}}}
    assert fails_anywhere(run) is expected


def test_variants_that_failed_are_noted_with_their_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = made.record(status="failed", reason="ValueError: a line\nand another")
    for variant, run in (("b128", made.record()), ("b256", failed)):
        record.write(tmp_path / variant / "r1", run, made.epochs(), [])
    records = "".join(f"{path}\n" for path in sorted(tmp_path.rglob("run.json")))
    monkeypatch.setattr("sys.stdin", io.StringIO(records))
    monkeypatch.setattr("sys.argv", ["try_cheapest", "--output", str(tmp_path / "note.json")])
    assert try_cheapest.main() == 0
    assert json.loads((tmp_path / "note.json").read_text()) == {"b256": failed["reason"]}
    assert "b256/r1 failed (ValueError" in capsys.readouterr().out
