from pathlib import Path

import pytest

from scripts.storage import errors
from scripts.storage.errors import InputError


def raising(error: BaseException):
    def main() -> int:
        raise error

    return main


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
