"""Numbers of hundreds of digits in a log: it is refused in one line, and the other logs of its folder are read."""

import json
from pathlib import Path

import pytest

from scripts.importers import Layout, _durations, facts
from scripts.importers.formats import any as any_format
from scripts.importers.formats import hf_trainer

#: A whole number that no float holds.
TOO_LARGE = 10**309

GOOD = "".join(f'{{"step": {n}, "loss": 1.5, "elapsed": {n * 9}}}\n' for n in range(1, 9))


@pytest.mark.parametrize("key", ["loss", "step", "elapsed", "batch_size"])
@pytest.mark.parametrize("line", [1, 5])
def test_lines_with_one_are_refused_and_the_others_are_read(tmp_path: Path, key: str, line: int) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "good" / "a.jsonl").write_text(GOOD)
    rows = [json.loads(row) for row in GOOD.replace("1.5", "1.25").splitlines()]
    rows[line - 1][key] = TOO_LARGE
    (tmp_path / "bad" / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    layout = Layout({".": "box"}, framework={".": "torch"}, workload="net")
    _, found = any_format.look(tmp_path, layout)
    assert list(found.runs["file"]) == ["good/a.jsonl"]
    (problem,) = map(str, found.problems)
    assert problem.startswith(f"bad/b.jsonl:{line}: {key}: 100000000... of 310 digits is too large")


def test_a_loss_that_overflowed_is_none_and_its_run_is_priced(tmp_path: Path) -> None:
    rows = [json.loads(row) for row in GOOD.splitlines()]
    rows[-1]["loss"] = 1.7976931348623157e308
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, found = any_format.look(tmp_path, Layout({".": "box"}, framework={".": "torch"}, workload="net"))
    facts.write(found.runs, tmp_path / "facts.csv")
    assert len(found.runs) == 1
    assert "inf" not in (tmp_path / "facts.csv").read_text()


def test_a_state_with_one_is_refused(tmp_path: Path) -> None:
    state = {"global_step": 9, "log_history": [{"step": 9, "loss": TOO_LARGE}]}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    found = hf_trainer.read(tmp_path, Layout({".": "box"}, workload="net"))
    (problem,) = map(str, found.problems)
    assert "log_history.0.loss: 100000000... of 310 digits is too large" in problem


@pytest.mark.parametrize("form", ["%s", "%s s/it", "step %s | time: 2 s", "| %s ms |"])
def test_a_line_of_thousands_of_digits_is_read_at_once(form: str) -> None:
    """With each digit tried as the beginning of a number it would take hours."""
    found = list(_durations.read(form % ("9" * 50_000)))
    assert [one.seconds for one in found] == ([2.0] if "2 s" in form else [])
