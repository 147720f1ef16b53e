import argparse
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from scripts.storage import errors
from scripts.storage.errors import InputError


def raising(error: BaseException):
    def main() -> int:
        raise error

    return main


def test_a_terminal_that_lacks_a_character_shows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii", write_through=True))
    with pytest.raises(SystemExit) as ended:
        errors.run(lambda: print("\N{BOX DRAWINGS LIGHT HORIZONTAL} 3 USD") or 0)
    assert (ended.value.code, written.getvalue()) == (0, b"? 3 USD\n")


def test_bad_input_is_one_line_and_code_2(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as exit_:
        errors.run(raising(InputError("config.yaml: repeats: 0 is too few")))
    assert exit_.value.code == 2
    assert capsys.readouterr().err == "error: config.yaml: repeats: 0 is too few\n"


def test_what_the_system_refuses_is_one_line_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as end:
        errors.run(lambda: (tmp_path / ("x" * 300)).stat().st_size)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.endswith("File name too long\n")
    assert len(said.splitlines()) == 1
    assert errors.line(OSError("no name")) == "no name"


def test_what_is_printed_of_others_is_no_command_to_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder's name, as one that is imported from may have."""
    evil = tmp_path / "a\x1b]52;c;eA==\x07b\u202egp.exe\udcff"

    def main() -> int:
        print(f"not imported: {evil}")
        print(f"at {evil}", file=sys.stderr, flush=True)
        Console(markup=False, width=500, force_terminal=True).print(Text("bold", style="bold"))
        argparse.ArgumentParser(prog=str(evil)).parse_args(["--x"])
        return 0

    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(SystemExit):
        errors.run(main)
    out, err = capsys.readouterr()
    assert "\x1b[1mbold" in out, "colours of our own"
    for text in (out.replace("\x1b[1m", "").replace("\x1b[0m", ""), err):
        assert text.replace("\n", "").isprintable() or "\ufffd" in text
        assert not {"\x1b", "\x07", "\u202e", "\udcff"} & set(text)


@pytest.mark.parametrize("code", [0, 3])
def test_exit_code_is_that_of_main(code: int) -> None:
    with pytest.raises(SystemExit) as exit_:
        errors.run(lambda: code)
    assert exit_.value.code == code


def test_ctrl_c_exits_as_a_shell_expects(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as exit_:
        errors.run(raising(KeyboardInterrupt()))
    assert exit_.value.code == 130
    assert capsys.readouterr().err == ""


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        errors.run(raising(ZeroDivisionError()))
