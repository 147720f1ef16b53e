"""Schedules in a crontab, with what stands for the program; test_scheduling.py has the command."""

import subprocess
from pathlib import Path
from threading import Thread

import pytest

from scripts.storage.errors import InputError
from scripts.workflow.intervals import interval
from scripts.workflow.timers import cron

#: Stands for crontab: one file, and the words of Debian's where there is none.
STAND_IN = """#!/bin/sh
case "$1" in
-l) [ -e {table} ] && cat {table} || {{ echo "no crontab for me" >&2; exit 1; }} ;;
-) cat > {table} ;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crontab of a user without one, and a clone with all that a shell and cron would take otherwise."""
    path, programs = tmp_path / "table", tmp_path / "bin"
    programs.mkdir()
    (programs / "crontab").write_text(STAND_IN.format(table=path))
    (programs / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    clone = tmp_path / "a clone, 100% 'mine' $HOME"
    clone.mkdir()
    monkeypatch.setattr(cron, "ROOT", clone)
    return path


def install(label: str = "tiny", every: str = "1d", words: tuple[str, ...] = ("echo", "50% of it's $mine")) -> str:
    return cron.install(label, words, {"EPOCHS_DATA_DIR": "/data of 'us' 5%"}, interval(every))


def test_line_does_what_it_says_when_cron_runs_it(table: Path) -> None:
    install(words=("python3", "-c", "import os; print(os.getcwd(), os.environ['EPOCHS_DATA_DIR'], '5%')"))
    (line,) = table.read_text().splitlines()
    fields, command = line.split(" ", 5)[:5], line.split(" ", 5)[5]
    assert " ".join(fields) == "0 0 * * *"
    assert "%" not in command.replace(r"\%", ""), "cron ends a command there"
    done = subprocess.run(["/bin/sh", "-c", command.replace(r"\%", "%")], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (cron.ROOT / "history/tiny/cron.log").read_text() == f"{cron.ROOT} /data of 'us' 5% 5%\n"


def test_installed_again_it_is_replaced_and_what_others_wrote_stays(table: Path) -> None:
    table.write_text("# mine\n5 * * * * backup\n")
    install()
    install(every="6h")
    install(label="other")
    lines = table.read_text().splitlines()
    assert lines[:2] == ["# mine", "5 * * * * backup"]
    assert [line.split(" cd ")[0] for line in lines[2:]] == ["0 */6 * * *", "0 0 * * *"]
    assert len(cron.installed()) == 2


def test_removed_is_that_of_this_clone_alone(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    with monkeypatch.context() as other:
        other.setattr(cron, "ROOT", tmp_path / "b")
        install()
        assert len(cron.installed()) == 1
    assert cron.remove("tiny")
    assert not cron.remove("tiny")
    (line,) = table.read_text().splitlines()
    assert line.endswith(f"of {tmp_path / 'b'}")
    assert cron.installed() == []


def test_no_cron_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match="there is no crontab on this machine: install cron, or take --by systemd"):
        install()
    assert cron.installed() == []
    assert not cron.remove("tiny")


def test_crontab_that_refuses_is_a_line(table: Path) -> None:
    program = table.parent / "bin" / "crontab"
    program.write_text("#!/bin/sh\necho 'you are not allowed' >&2\nexit 1\n")
    with pytest.raises(InputError, match="you are not allowed"):
        install()


#: What Python would take for more lines than one.
ODD = b"1 2 * * * echo a\x0cb \xe2\x80\xa8 \x0b \x1c \xc2\x85 c\r\n# not UTF-8: \xff\n"


def test_lines_of_others_stay_to_the_byte(table: Path) -> None:
    table.write_bytes(ODD)
    install()
    assert table.read_bytes().startswith(ODD)
    assert cron.remove("tiny")
    assert table.read_bytes() == ODD


def test_of_three_installed_at_once_none_is_lost(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others begin when the first has read the table, and has not written it."""
    write, others = cron._write, [Thread(target=install, args=(label,)) for label in ("second", "third")]

    def begin(lines: list[str]) -> None:
        for other in others:
            if not other.ident:
                other.start()
                other.join(0.2)  # as long as it likes, were there no lock
        write(lines)

    monkeypatch.setattr(cron, "_write", begin)
    install("first")
    for other in others:
        other.join()
    assert {line.split(" # ")[1].split()[1] for line in cron.installed()} == {"first", "second", "third"}


@pytest.mark.parametrize("text", ["/a\nb", "/a\rb", "/a\x0cb", "/a\u2028b", "/a\x1bb", "/a\u202eb", "/a\0b"])
def test_what_is_more_than_a_part_of_a_line_is_refused(table: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"by: cron: .* holds a line break or a control character"):
        install(words=("echo", text))
    monkeypatch.setattr(cron, "ROOT", Path(text))
    with pytest.raises(InputError, match=r"by: cron: .* holds a line break or a control character"):
        install()
    assert not table.exists()


def test_its_lock_is_where_no_other_user_can_put_anything(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    install()
    assert cron.remove("tiny")
    assert list(shared.iterdir()) == []
    assert [path.name for path in (tmp_path / "home").rglob("*.lock")] == ["crontab.lock"]
