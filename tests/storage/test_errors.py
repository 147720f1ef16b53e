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
