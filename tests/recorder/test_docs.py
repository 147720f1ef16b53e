"""What docs/run.md says of the recorder is what it does."""

import re
from pathlib import Path

import pytest
from epochs_per_dollar import arguments, bill, callbacks

from tests.conftest import ROOT
from tests.recorder.test_bill import RECORD, WHOLE, Desk

PAGE = (ROOT / "docs" / "run.md").read_text()


@pytest.mark.parametrize("parser", [arguments.parser(), bill._parser()], ids=["run", "bill"])
def test_every_option_is_documented(parser: object) -> None:
    options = [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
    missing = [option for option in options if not re.search(rf"`[^`\n]*{option}\b[^`]*`", PAGE)]
    assert missing in (["--help"], [])


@pytest.mark.parametrize("line", re.findall(r"^\./epd bill.*$", PAGE, re.MULTILINE))
def test_documented_bills_are_paid(tmp_path: Path, line: str) -> None:
    desk = Desk(tmp_path)
    desk.keep("2026-11-25T02-03-09", RECORD)
    desk.keep("2026-11-24T02-03-09", WHOLE)
    done = desk.bill(*line.split()[2:])
    assert done.returncode == 0, done.stderr


def test_documented_callbacks_are_all_that_there_are() -> None:
    named = set(re.findall(r"epd\.callbacks\.(\w+)\(", PAGE))
    assert named == {
        name for name, value in vars(callbacks).items() if callable(value) and value.__module__ == callbacks.__name__
    } - {"_Run"}
