"""`epd run` as a person calls it, on programs of a few lines."""

import csv
import errno
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import textwrap
import zipapp
from datetime import date
from pathlib import Path

import psutil
import pytest

from tests.conftest import ROOT
from tests.recorder.conftest import PACKAGE

pytestmark = pytest.mark.slow

#: Counts to so many, with a line each.
COUNTS = """
import sys, time
for i in range(1, {n} + 1):
    print(f"step {{i}}/{n} loss 0.5", flush=True)
    time.sleep(0.01)
"""


class Recorder:
    """The recorder, with a data folder of its own, in an empty folder."""

    def __init__(self, path: Path) -> None:
        self.folder, self.data = path / "work", path / "data"
        self.folder.mkdir()
        self.environment = os.environ | {"XDG_DATA_HOME": str(self.data), "PYTHONPATH": str(PACKAGE)}

    def program(self, text: str) -> list[str]:
        """Return the command that runs a program, which lies elsewhere."""
        file = self.folder.parent / "program.py"
        file.write_text(textwrap.dedent(text))
        return [sys.executable, str(file)]

    def run(self, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "epochs_per_dollar", "run", *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, **given,
        )  # fmt: skip

    def record(self) -> dict:
        (file,) = (self.data / "epochs-per-dollar" / "runs").glob("*/run.json")
        return json.loads(file.read_text())


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def test_pattern_that_matches_nothing_is_named(recorder: Recorder) -> None:
    """Also where the program leaves a file that is read in its place, nobody believes that the pattern did."""
    done = recorder.run(r"--pattern", r"iteration (\d+)", "--", *recorder.program(COUNTS.format(n=30)))
    assert "--pattern matches none of the lines that it prints; the last of them: 'step 30/30 loss 0.5'" in done.stderr
    silent = recorder.run(r"--pattern", r"iteration (\d+)", "--", *recorder.program("pass"))
    assert "--pattern matches none of the lines that it prints: it prints none" in silent.stderr
    right = recorder.run(r"--pattern", r"step (\d+)", "--", *recorder.program(COUNTS.format(n=30)))
    assert "--pattern matches none" not in right.stderr


def test_a_loop_gives_rate_whole_and_dollars(recorder: Recorder) -> None:
    done = recorder.run("--minutes", "0.02", "--usd-per-hour", "3.6", "--", *recorder.program(COUNTS.format(n=100_000)))
    assert done.returncode == 0
    assert "100,000 steps (log lines)" in done.stderr
    record = recorder.record()
    assert record["ended_by"] == "the minute"
    assert record["whole"]["units"] == 100_000
    rate = record["rate"]["units_per_second"]
    assert 0 < rate < 100
    # The first steps, fewer than 1,000, may have been faster than the steady rate.
    assert record["whole"]["seconds"] >= 99_000 / rate
    # 3.6 USD an hour are a tenth of a cent a second.
    dollars = float(next(line for line in done.stderr.splitlines() if "costs here" in line).split()[2])
    assert dollars == pytest.approx(record["whole"]["seconds"] / 1000, rel=0.01)
    assert list(recorder.folder.iterdir()) == []


def test_streams_are_those_of_the_command(recorder: Recorder) -> None:
    text = """
    import sys
    sys.stdout.buffer.write(bytes(range(256)) * 400)
    sys.stderr.write("to the side\\n")
    print(input())
    """
    command = [sys.executable, "-m", "epochs_per_dollar", "run", "--", *recorder.program(text)]
    done = subprocess.run(
        command, cwd=recorder.folder, env=recorder.environment, input=b"asked\n", capture_output=True, timeout=600
    )
    assert done.stdout == bytes(range(256)) * 400 + b"asked\n"
    assert b"to the side\n" in done.stderr


def test_much_that_is_printed_comes_whole(recorder: Recorder) -> None:
    done = recorder.run("--", *recorder.program("print(('x' * 99 + '\\n') * 100_000)"))
    assert len(done.stdout) == 100 * 100_000 + 1


@pytest.mark.parametrize(("text", "code"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_exit_code_is_that_of_the_command(recorder: Recorder, text: str, code: int) -> None:
    done = recorder.run("--", *recorder.program(text))
    assert done.returncode == code
    assert f"ended by itself with exit code {code}" in done.stderr
    assert "Traceback" not in done.stderr


def test_command_that_is_not_there(recorder: Recorder) -> None:
    done = recorder.run("--", "no-such-program", "--epochs", "3")
    assert (done.returncode, done.stderr) == (127, "epd: no-such-program: there is no such command\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--minutes", "0", "--", "true"], "'0' is not a number above 0"),
        (["--minutes", "nan", "--", "true"], "'nan' is not a number above 0"),
        (["--pattern", "step (", "--", "true"], "'step (' is no regular expression"),
        (["--pattern", "step", "--", "true"], "'step' has no group"),
        ([], "which command?"),
    ],
)
def test_what_cannot_be_asked_for_is_a_line(recorder: Recorder, arguments: list[str], said: str) -> None:
    done = recorder.run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def test_command_that_wants_no_ctrl_c_is_ended_harder(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    from epochs_per_dollar import child, measuring

    monkeypatch.setattr(child, "GRACE_SECONDS", 0.2)
    monkeypatch.setenv("XDG_DATA_HOME", str(recorder.data))
    text = "import signal\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n" + COUNTS.format(n=100_000)
    said: list[str] = []
    found = measuring.Measurement(measuring.Asked(recorder.program(text), 0.5), said.append).run()
    assert (found.ended_by, found.exit_code) == ("the minute", 128 + signal.SIGKILL)
    assert found.rate is not None


def test_signal_reaches_the_command(recorder: Recorder) -> None:
    """What it prints then comes to its end, and what had been measured until then is said."""
    save = "import signal\nsignal.signal(15, lambda *_: (print('x' * 200_000, 'saved', flush=True), exit(3)))\n"
    text = save + COUNTS.format(n=100_000)
    command = [sys.executable, "-m", "epochs_per_dollar", "run", "--", *recorder.program(text)]
    with subprocess.Popen(
        command, cwd=recorder.folder, env=recorder.environment, stdout=-1, stderr=-1, text=True
    ) as ran:
        for line in ran.stdout:
            if line.startswith("step 30/"):
                ran.send_signal(signal.SIGTERM)
                break
        out, err = ran.stdout.read(), ran.stderr.read()
    assert out.endswith("x saved\n")
    assert len(out) > 200_000
    assert "steady rate" in err
    assert ran.returncode == 3


def test_program_has_a_terminal_where_there_is_one(recorder: Recorder) -> None:
    """Both of its streams are one, with the size of ours, and its lines are read."""
    text = "import os, sys\nprint(os.isatty(1), os.isatty(2), os.get_terminal_size().columns)\n" + COUNTS.format(n=50)
    command = [sys.executable, "-m", "epochs_per_dollar", "run", "--", *recorder.program(text)]
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(recorder.folder)
        os.execvpe(command[0], ["stty", *command][1:], recorder.environment)
    screen = b""
    try:
        while chunk := os.read(master, 65536):
            screen += chunk
    except OSError:
        pass  # The other end has gone: it has ended.
    os.waitpid(pid, 0)
    assert b"True True" in screen
    assert recorder.record()["progress"]["unit"] == "step"
    assert b"\r\r\n" not in screen


def test_size_of_the_terminal_is_followed(recorder: Recorder) -> None:
    """The system signals the command, which is in the foreground; what it then asks for is the new size."""
    text = """
    import os, signal, sys, time
    print("at first", os.get_terminal_size().columns, flush=True)
    while os.get_terminal_size().columns != 91: signal.sigtimedwait([signal.SIGWINCH], 0.1)
    print("then", os.get_terminal_size().columns, flush=True)
    """
    command = [sys.executable, "-m", "epochs_per_dollar", "run", "--", *recorder.program(text)]
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(recorder.folder)
        os.execvpe(command[0], command, recorder.environment)
    screen = b""
    try:
        while chunk := os.read(master, 65536):
            screen += chunk
            if b"at first" in screen:
                termios.tcsetwinsize(master, (30, 91))
    except OSError:
        pass  # The other end has gone: it has ended.
    os.waitpid(pid, 0)
    assert b"then 91" in screen


def test_end_by_a_signal_has_its_line_where_nothing_was_read(recorder: Recorder) -> None:
    text = "import time\nprint('loading', flush=True)\ntime.sleep(600)"
    command = [sys.executable, "-m", "epochs_per_dollar", "run", "--", *recorder.program(text)]
    with subprocess.Popen(
        command, cwd=recorder.folder, env=recorder.environment, stdout=-1, stderr=-1, text=True
    ) as ran:
        assert ran.stdout.readline() == "loading\n"
        ran.send_signal(signal.SIGTERM)
        said = ran.stderr.read()
    assert ran.returncode == 128 + signal.SIGTERM
    assert "ended by a signal to epd" in said
    assert "no progress could be read" in said


def test_own_estimate_of_a_program_that_contradicts_is_said(recorder: Recorder) -> None:
    text = COUNTS.format(n=100_000).replace("loss 0.5", "eta: 40 days")
    done = recorder.run("--minutes", "0.02", "--", *recorder.program(text))
    assert "the program itself says that 40 d are left, and this says" in done.stderr


def test_quiet_program_is_said_to_end_when(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    from epochs_per_dollar import measuring

    monkeypatch.setattr(measuring, "_QUIET_SECONDS", 0.2)
    monkeypatch.setattr(measuring, "_SET_UP_SECONDS", 0.5)
    said: list[str] = []
    found = measuring.Measurement(measuring.Asked(["sleep", "600"], 0.5), said.append).run()
    assert found.ended_by == "the minute"
    assert re.search(r"no progress has been read yet; if none comes it is ended at \d\d:\d\d:\d\d", said[0])


def test_terminal_is_given_where_it_is_asked_for(recorder: Recorder) -> None:
    done = recorder.run("--terminal", "--", *recorder.program("import sys; print(sys.stdout.isatty())"))
    assert done.stdout == "True\n"
    assert recorder.run("--", *recorder.program("import sys; print(sys.stdout.isatty())")).stdout == "False\n"


def test_loop_that_prints_nothing_is_watched_by_a_line_in_it(recorder: Recorder) -> None:
    text = """
    import time, epochs_per_dollar as epd
    for epoch in range(2):
        for batch in epd.watch(range(40)): time.sleep(0.01)
    """
    done = recorder.run("--", *recorder.program(text))
    assert "read watch() in its loop" in done.stderr
    assert recorder.record()["progress"]["points"][-1][1] == 80


def test_watched_loop_without_a_recorder_is_a_loop(recorder: Recorder) -> None:
    text = (
        "import epochs_per_dollar as epd\nw = epd.watch([1, 2, 3])\nprint(len(w), list(w), list(epd.watch(iter('ab'))))"
    )
    done = subprocess.run(recorder.program(text), env=recorder.environment, capture_output=True, text=True, check=True)
    assert done.stdout == "3 [1, 2, 3] ['a', 'b']\n"


def test_whole_training_is_set_beside_what_a_part_of_it_promised(recorder: Recorder) -> None:
    done = recorder.run("--whole", "--minutes", "0.01", "--", *recorder.program(COUNTS.format(n=200)))
    record = recorder.record()
    assert record["ended_by"] == "itself"
    assert record["promised_seconds"] > 0
    assert "the whole is expected to take" in done.stderr
    assert "measured: it ended by itself, promised" in done.stderr


def test_what_ended_early_is_not_the_whole(recorder: Recorder) -> None:
    """A program that was interrupted, or has stopped early, may end as if nothing were."""
    recorder.run(
        "--",
        *recorder.program(COUNTS.format(n=100).replace("time.sleep(0.01)", "time.sleep(0.01)\n    if i == 40: break")),
    )
    record = recorder.record()
    assert record["whole"]["seconds"] > 1.5 * record["seconds"]


def test_secrets_and_the_home_folder_are_not_kept(recorder: Recorder) -> None:
    home = Path.home()
    recorder.run(
        "--",
        *recorder.program("print(1)"),
        "--api-key",
        "abc123",
        "--token=xyz",
        f"{home}/data",
        "hf_AbC",
        "--lr",
        "0.1",
    )
    command = recorder.record()["command"]
    assert command[2:] == ["--api-key", "***", "--token=***", "~/data", "***", "--lr", "0.1"]
    assert "abc123" not in json.dumps(recorder.record())


def test_children_of_a_launcher_are_counted_and_ended(recorder: Recorder) -> None:
    text = f"""
    import subprocess, sys
    two = [subprocess.Popen([sys.executable, "-c", {COUNTS.format(n=100_000)!r}]) for _ in range(2)]
    open({str(recorder.folder.parent / "pids")!r}, "w").write(" ".join(str(one.pid) for one in two))
    for one in two: one.wait()
    """
    recorder.run("--minutes", "0.03", "--", *recorder.program(text))
    assert recorder.record()["use"]["processes"] >= 3
    for pid in (recorder.folder.parent / "pids").read_text().split():
        # Whoever inherits what has ended may not have asked for its exit code yet.
        assert not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE


def test_pipeline_of_a_shell_is_one_run(recorder: Recorder) -> None:
    """Its lines come as they are printed, its processes are counted, its exit code is the shell's, and all end."""
    program = " ".join(recorder.program(COUNTS.format(n=100_000).replace(", flush=True", "")))
    done = recorder.run("--minutes", "0.03", "--", "bash", "-c", f"{program} | tee log")
    record = recorder.record()
    assert done.returncode == 0
    assert record["progress"]["unit"] == "step"
    assert len(record["progress"]["points"]) > 10
    assert record["use"]["processes"] >= 3
    assert done.stdout.startswith("step 1/100000")
    assert (recorder.folder / "log").read_text().startswith("step 1/100000")
    assert not [one for one in psutil.process_iter(["cmdline"]) if program in " ".join(one.info["cmdline"] or [])]


def test_ctrl_c_ends_all_of_a_pipeline(recorder: Recorder) -> None:
    program = " ".join(recorder.program(COUNTS.format(n=100_000)))
    words = [sys.executable, "-m", "epochs_per_dollar", "run", "--", "bash", "-c", f"{program} | tee log"]
    with subprocess.Popen(words, cwd=recorder.folder, env=recorder.environment, stdout=-1, stderr=-1, text=True) as ran:
        for line in ran.stdout:
            if line.startswith("step 30/"):
                ran.send_signal(signal.SIGINT)
                break
        ran.stdout.read()
        said = ran.stderr.read()
    assert ran.returncode == 128 + signal.SIGINT
    assert "steady rate" in said
    assert not [one for one in psutil.process_iter(["cmdline"]) if program in " ".join(one.info["cmdline"] or [])]


@pytest.mark.parametrize(("shell", "code"), [("set -o pipefail; ", 7), ("", 0)])
def test_exit_code_of_a_pipeline_is_the_shell_s(recorder: Recorder, shell: str, code: int) -> None:
    program = " ".join(recorder.program("print('step 1', flush=True); raise SystemExit(7)"))
    assert recorder.run("--", "bash", "-c", f"{shell}{program} | cat").returncode == code


#: Leaves its own group, as a program does that puts itself into the background.
LEAVES = "import os, sys, time\nif os.fork(): os._exit(0)\nos.setsid()\n"


def test_what_leaves_and_goes_on_printing_is_measured_and_ended(recorder: Recorder) -> None:
    text = LEAVES + f"open({str(recorder.folder.parent / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    recorder.run("--minutes", "0.02", "--", *recorder.program(text + COUNTS.format(n=100_000)))
    assert recorder.record()["whole"]["units"] == 100_000
    pid = int((recorder.folder.parent / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_what_leaves_in_silence_is_named_and_no_whole(recorder: Recorder) -> None:
    text = LEAVES + "for n in (0, 1, 2): os.close(n)\ntime.sleep(600)"
    done = recorder.run("--", *recorder.program(text))
    pid = int(re.search(r"left processes in the background \((\d+)\)", done.stderr)[1])
    os.kill(pid, signal.SIGKILL)
    assert "measured: it ended by itself" not in done.stderr
    assert recorder.record()["whole"] is None


def test_question_that_nobody_answers_is_repeated(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    from epochs_per_dollar import measuring

    monkeypatch.setattr(measuring, "_QUIET_SECONDS", 0.2)
    monkeypatch.setattr(measuring, "_SET_UP_SECONDS", 0.5)
    said: list[str] = []
    words = ["bash", "-c", "echo 'wandb: (1) Create an account'; printf 'wandb: Enter your choice: '; exec sleep 600"]
    measuring.Measurement(measuring.Asked(words, 0.5), said.append).run()
    assert said[1] == "the last that it printed: 'wandb: Enter your choice:'"


def test_disturbed_minute_says_so_everywhere_and_names_no_winner(recorder: Recorder) -> None:
    """What is read off a program of 2 s, beside other programs that took half a core: terminal, page, ledger, sweep."""
    from epochs_per_dollar import bill, page, record, screen, session, sweep
    from epochs_per_dollar.lines import Tick
    from epochs_per_dollar.machine import Machine, Meter, Nvml
    from epochs_per_dollar.offers import read
    from epochs_per_dollar.progress import Progress

    def seen(other_cores: float) -> session.Session:
        progress, meter = Progress(), Meter(0, Nvml())
        meter.other_cpu_seconds = 60 * other_cores
        for step in range(600):
            progress.add(step / 10, [Tick("step", "step", step, 1000, "log lines")])
        return session.look(["train"], progress, 60.0, "the minute", 130, Machine(2, "x", 8000), meter)

    said = "disturbed: other programs (or other guests of the host) kept 0.5 cores busy"
    today, disturbed, quiet = date(2026, 11, 25), seen(0.5), seen(0.01)
    for one, is_said in ((disturbed, True), (quiet, False)):
        assert (said in screen.report(one, read(), None, today)) == is_said
        shown = page.page(one, read(), today)
        assert (said in shown) == is_said
        # The title names the least offer only where nothing is in doubt.
        assert ("as far as this session can say</title>" in shown) == is_said
        assert (" on gce " in shown[: shown.index("</title>")]) != is_said
        kept = recorder.folder / f"{is_said}.json"
        kept.write_text(json.dumps(record.of(one)))
        assert bill.billed(kept, 100.0).kind == ("disturbed" if is_said else "quiet")
    small, large = (sweep.Point((("--batch", size),)) for size in "12")
    table = sweep.report([(small, disturbed), *((point, quiet) for point in (small, large) for _ in range(4))], None)
    assert "some are in doubt (disturbed): nothing is said to be faster" in table


def test_time_that_is_left_is_all_that_is_known_of_a_bar_without_a_count(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from epochs_per_dollar import measuring, screen

    monkeypatch.setattr(measuring, "_SET_UP_SECONDS", 0.5)
    words = ["bash", "-c", "echo '[==>    ] ETA: 0:10:00'; exec sleep 600"]
    found = measuring.Measurement(measuring.Asked(words, 0.5), lambda text: None).run()
    assert "it says itself that 10 min are left: 10 min in all" in "\n".join(screen.measured(found))


def test_what_grows_in_the_folder_is_read_where_nothing_is_printed(recorder: Recorder) -> None:
    text = """
    import time
    with open("metrics.csv", "w") as file:
        file.write("step,loss\\n")
        for step in range(100_000):
            file.write(f"{step},1.0\\n")
            file.flush()
            time.sleep(0.01)
    """
    done = recorder.run("--minutes", "0.1", "--of", "100000", "--", *recorder.program(text))
    assert "read the table metrics.csv" in done.stderr
    assert recorder.record()["whole"]["units"] == 100_000
    assert [path.name for path in recorder.folder.iterdir()] == ["metrics.csv"]


def test_budget_ends_it_by_the_signal_that_saves_it(recorder: Recorder) -> None:
    """3,600 USD an hour are a dollar a second: of three, one is left for saving."""
    text = "import signal, sys\nsignal.signal(signal.SIGUSR1, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
    asked = ["--budget", "3", "--usd-per-hour", "3600", "--save-signal", "USR1", "--save-seconds", "1"]
    done = recorder.run(*asked, "--", *recorder.program(text + COUNTS.format(n=100_000)))
    assert done.stdout.endswith("saved\n")
    record = recorder.record()
    assert record["ended_by"] == "the budget"
    assert 2 <= record["seconds"] < 3
    assert "of 3.00 USD are spent; the whole is expected to cost" in done.stderr


def test_budget_without_a_price_is_a_line(recorder: Recorder) -> None:
    done = recorder.run("--budget", "3", "--", "true")
    assert done.returncode == 2
    assert "give --usd-per-hour too" in done.stderr.splitlines()[-1]


def test_budget_says_at_the_start_that_nothing_saves_it(recorder: Recorder) -> None:
    done = recorder.run("--budget", "3", "--usd-per-hour", "1", "--", "true")
    assert "not saved (--save-signal): 3 h are bought, 10 s of them kept for the end" in done.stderr.splitlines()[0]


def test_budget_that_buys_less_than_an_end_takes_starts_nothing(recorder: Recorder) -> None:
    """Of 8 s, which 0.008 USD buy at 3.6 USD an hour, 10 would be kept."""
    done = recorder.run("--budget", "0.008", "--usd-per-hour", "3.6", "--", sys.executable, "-c", "print('began')")
    assert done.returncode == 2
    assert "--budget: it buys 8.0 s, and 10 s are kept for the end: more than 0.01 USD" in done.stderr
    assert "began" not in done.stdout


def test_lines_further_apart_than_what_is_measured_are_waited_for(recorder: Recorder) -> None:
    """A line a second, and a tenth of a second to measure: the third line is waited for, and the whole is known."""
    text = """
    import time
    for epoch in range(1, 31):
        time.sleep(1)
        print(f"Epoch {epoch}/30 loss 0.5", flush=True)
    """
    done = recorder.run("--minutes", "0.002", "--", *recorder.program(text))
    assert "its lines are far apart, and a rate takes 3: the next is waited for" in done.stderr
    assert recorder.record()["whole"]["units"] == 30
    assert recorder.record()["whole"]["seconds"] == pytest.approx(30, rel=0.3)


def test_what_a_resumed_training_had_left_is_what_is_promised_and_paid(recorder: Recorder) -> None:
    """From step 4,000 of 4,300 on: 300 steps of 10 ms, 3 s; of a start at 0 it is 43 s."""
    text = """
    import time
    for step in range(4001, 4301):
        time.sleep(0.01)
        print(f"step {step}/4300 loss 0.5", flush=True)
    """
    done = recorder.run("--whole", "--minutes", "0.015", "--", *recorder.program(text))
    record = recorder.record()
    assert record["promised_seconds"] == pytest.approx(record["seconds"], rel=0.5)
    assert record["whole"]["process_seconds"] == record["seconds"] < 10
    assert record["whole"]["seconds"] > 40
    assert re.search(r"what was left\s+[\d.]+ s\s+measured: it ended by itself", done.stderr)
    with (recorder.data / "epochs-per-dollar" / "ledger.csv").open(newline="") as ledger:
        (row,) = csv.DictReader(ledger)
    assert 0.5 < float(row["factor"]) < 2


def test_training_that_was_resumed_is_not_counted_as_done_here(recorder: Recorder) -> None:
    text = COUNTS.format(n=5_000).replace("range(1, 5000 + 1)", "range(4000, 5001)")
    assert "range(4000" in text
    recorder.run("--minutes", "0.03", "--", *recorder.program(text))
    record = recorder.record()
    # Lines that came before the first reading are one with it.
    assert 4000 <= record["rate"]["resumed_at"] < 4100
    assert record["whole"]["seconds"] >= 5_000 / record["rate"]["units_per_second"]


def test_page_needs_no_network_and_escapes_what_programs_print(recorder: Recorder) -> None:
    text = COUNTS.format(n=300).replace("step {i}", "<script>alert(1)</script> step {i}")
    recorder.run("--", *recorder.program(text), "<img src=x>")
    (page,) = (recorder.data / "epochs-per-dollar" / "runs").glob("*/report.html")
    shown = page.read_text()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "http" not in shown
    assert "&lt;script&gt;" in shown


def test_forget_removes_what_was_kept(recorder: Recorder) -> None:
    recorder.run("--", "true")
    done = subprocess.run(
        [sys.executable, "-m", "epochs_per_dollar", "forget"],
        env=recorder.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("1 records removed")
    assert list((recorder.data / "epochs-per-dollar" / "runs").iterdir()) == []


def test_sweep_sets_arguments_in_rounds_and_names_no_winner_of_few(recorder: Recorder) -> None:
    text = "import os, sys\nprint(sys.argv[1:], len(os.sched_getaffinity(0)), file=sys.stderr)\n" + COUNTS.format(n=30)
    asked = ["--repeats", "2", "--sweep", "--batch=8,16", "--cores", "1"]
    done = recorder.run(*asked, "--", *recorder.program(text), "--batch", "4", "--lr=1")
    given = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert given == [f"['--batch', '{size}', '--lr=1'] 1" for size in (8, 16, 8, 16)]
    table = done.stderr[done.stderr.index("4 sessions") :]
    assert "--batch=8 cores=1" in table
    assert "with 2 of each nothing is said to be faster" in table
    assert len(list((recorder.data / "epochs-per-dollar" / "runs").iterdir())) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sweep", "batch"], "'batch' is no ARGUMENT=A,B"),
        (["--sweep", "--batch=8,,16"], "is no ARGUMENT=A,B"),
        (["--cores", "100000"], "100000"),
        (["--cores", "0"], "'0' is not a whole number above 0"),
        (["--repeats", "1.5"], "'1.5' is not a whole number above 0"),
        (
            [word for name in "abcdefghi" for word in ("--sweep", f"--{name}=0,1,2,3,4,5,6,7,8,9")],
            "--sweep, --cores and --repeats: they ask for 1,000,000,000 sessions: at most 10,000",
        ),
    ],
)
def test_sweep_that_cannot_be_is_a_line(recorder: Recorder, arguments: list[str], said: str) -> None:
    done = recorder.run(*arguments, "--", "true")
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("call", [["./epd"], [sys.executable, "-m", "scripts.epd"]])
def test_command_of_the_project_runs_it_where_the_person_is(recorder: Recorder, call: list[str]) -> None:
    """And by its path a Python without anything else will do."""
    if call == ["./epd"]:
        call, environment = [str(ROOT / "epd")], recorder.environment
    else:
        environment = recorder.environment | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*call, "run", "--minutes", "1", "--", sys.executable, "-c", "import os; print(os.getcwd())"],
        cwd=recorder.folder, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.stdout == f"{recorder.folder}\n"
    assert recorder.record()["command"][1] == "-c"


def test_rate_is_said_in_what_a_step_goes_through(recorder: Recorder) -> None:
    done = recorder.run("--per-step", "12x1024 tokens", "--", *recorder.program(COUNTS.format(n=50)))
    said = re.search(r"([\d,.]+) tokens/s +12,288 a step", done.stderr)
    rate = recorder.record()["rate"]["units_per_second"]
    assert float(said[1].replace(",", "")) == pytest.approx(12_288 * rate, rel=0.01)
    assert recorder.record()["per_step"] == {"each": 12_288, "unit": "tokens"}


def test_amount_of_a_step_says_nothing_of_a_percent(recorder: Recorder) -> None:
    text = COUNTS.format(n=50).replace("step {i}/50 loss 0.5", "Progress: {2 * i}%")
    done = recorder.run("--per-step", "12x1024 tokens", "--", *recorder.program(text))
    assert "--per-step is not used: the program counts by the percent" in done.stderr
    assert "tokens/s" not in done.stderr
    assert recorder.record()["per_step"] is None


@pytest.mark.parametrize("text", ["tokens", "12", "12xx4 tokens", "-3 tokens"])
def test_amount_that_is_none_is_a_line(recorder: Recorder, text: str) -> None:
    done = recorder.run(f"--per-step={text}", "--", "true")
    assert done.returncode == 2
    assert "is no amount, as '12x1024 tokens'" in done.stderr.splitlines()[-1]


def test_one_file_carries_it(recorder: Recorder, tmp_path: Path) -> None:
    file = tmp_path / "epd.pyz"
    zipapp.create_archive(
        PACKAGE, file, main="epochs_per_dollar.__main__:main", filter=lambda path: "cache" not in str(path)
    )
    assert file.stat().st_size < 2 << 20
    done = subprocess.run(
        [sys.executable, str(file), "run", "--", *recorder.program(COUNTS.format(n=30))],
        cwd=recorder.folder, env=recorder.environment | {"PYTHONPATH": ""}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "n1-standard" in done.stderr, "the offers are in the file"


def test_record_is_whole_or_not_there(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full, or a kill while it is written, leaves no half of one."""
    from epochs_per_dollar import measuring, record

    monkeypatch.setenv("XDG_DATA_HOME", str(recorder.data))
    found = measuring.Measurement(measuring.Asked(["true"]), lambda text: None).run()

    def full(self: Path, text: str, encoding: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        assert record.keep(found, "a page") is None
    assert list(record.folder().iterdir()) == []
    first, second = (record.keep(found, "a page") for _ in range(2))
    assert first is not None
    assert second is not None
    assert first != second
    assert sorted(path.name for path in record.folder().iterdir()) == sorted([first.name, second.name])
    assert record.forget() == 2


def test_data_folder_that_cannot_be_written_is_said(recorder: Recorder) -> None:
    recorder.data.write_text("a file")
    done = recorder.run("--", "true")
    assert done.returncode == 0
    assert "your data folder cannot be written: nothing is kept" in done.stderr
