"""Units of systemd, checked by systemd itself where it is installed; systemctl is stood in for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.storage.errors import InputError
from scripts.workflow.intervals import interval
from scripts.workflow.timers import systemd

WORDS = ("/bin/echo", '50% of $it\'s "mine"', "back\\slash")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The calls of systemctl, and a home of its own."""
    (tmp_path / "bin").mkdir()
    called = tmp_path / "called"
    (tmp_path / "bin" / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {called}\n')
    (tmp_path / "bin" / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    return called


def install(every: str = "1d") -> str:
    return systemd.install("tiny", WORDS, {"EPOCHS_DATA_DIR": "/data 5%"}, interval(every))


def test_units_are_written_started_replaced_and_removed(calls: Path, tmp_path: Path) -> None:
    install()
    install("6h")
    folder = tmp_path / ".config/systemd/user"
    service, timer = sorted(folder.iterdir())
    assert "OnCalendar=0/6:00\n" in timer.read_text()
    assert 'Environment="EPOCHS_DATA_DIR=/data 5%%"\n' in service.read_text()
    assert r'''ExecStart="/bin/echo" "50%% of $$it's \"mine\"" "back\\slash"''' in service.read_text()
    assert f"--user enable --now {timer.name}" in calls.read_text()
    assert systemd.installed() == [f"systemd: {timer} (0/6:00)"]
    assert systemd.remove("tiny")
    assert list(folder.iterdir()) == []
    assert f"--user disable --now {timer.name}" in calls.read_text()
    assert not systemd.remove("tiny")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("every", ["1m", "15m", "1h", "6h", "1d", "1w"])
def test_systemd_takes_them(every: str, tmp_path: Path) -> None:
    units = systemd.units("tiny", WORDS, {"A": "b c"}, interval(every))
    for kind, text in units.items():
        (tmp_path / f"tiny.{kind}").write_text(text)
    files = [str(tmp_path / f"tiny.{kind}") for kind in units]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True)
    assert "tiny." not in done.stderr, done.stderr
    calendar = subprocess.run(["systemd-analyze", "calendar", interval(every).calendar], capture_output=True, text=True)
    assert calendar.returncode == 0, calendar.stderr


def test_systemd_that_is_not_there_is_a_line_and_leaves_nothing(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "systemctl").write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")
    with pytest.raises(InputError, match="Failed to connect to bus"):
        install()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no systemctl on this machine: take --by cron"):
        install()
    assert not (tmp_path / ".config").exists()


@pytest.mark.parametrize("text", ["/a\nExecStartPost=/bin/evil", "/a\rb", "/a\u2028b", "/a\x1bb"])
def test_what_would_be_a_line_of_its_own_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, variables in (((text,), {}), (("a",), {"A": text})):
        with pytest.raises(InputError, match=r"by: systemd: .* holds a line break or a control character"):
            systemd.units("tiny", words, variables, interval("1d"))
    monkeypatch.setattr(systemd, "ROOT", Path(text))
    with pytest.raises(InputError, match=r"by: systemd: .* holds a line break or a control character"):
        systemd.units("tiny", ("a",), {}, interval("1d"))
