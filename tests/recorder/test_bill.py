"""`epd bill`: what was promised beside what was paid, in a ledger."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.recorder.test_command import COUNTS, Recorder

#: A minute of a training on one H100 that cost 3.60 USD an hour: a dollar is 1,000 s.
RECORD = {
    "schema_version": 3,
    "clock": "observed",
    "command": ["python", "/secret/place/train.py"],
    "ended_by": "the minute",
    "exit_code": 130,
    "seconds": 75.0,
    "progress": {"series": "", "unit": "step", "source": "tqdm's bar", "points": []},
    "whole": {"units": 5000.0, "known_from": "tqdm's bar", "seconds": 10_000.0},
    "promised_seconds": None,
    "measured_seconds": None,
    "usd_per_hour": 3.6,
    "use": {"cards": 1},
    "machine": {"cores": 26, "cards": [{"name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559}]},
    "provenance": {"ended_at": "2026-11-20T10:00:00+00:00"},
}

#: The same that went on to its end.
WHOLE = RECORD | {
    "ended_by": "itself",
    "exit_code": 0,
    "seconds": 11_000.0,
    "whole": {"units": 5000.0, "known_from": "tqdm's bar", "seconds": 11_000.0},
    "promised_seconds": 10_000.0,
    "measured_seconds": 66.0,
    "provenance": {"ended_at": "2026-11-21T10:00:00+00:00"},
}


class Desk:
    """A data folder with records, and `epd bill` on it."""

    def __init__(self, path: Path) -> None:
        self.data = path / "data"
        self.runs = self.data / "epochs-per-dollar" / "runs"
        self.ledger = self.data / "epochs-per-dollar" / "ledger.csv"
        self.environment = os.environ | {"XDG_DATA_HOME": str(self.data)}

    def keep(self, name: str, record: Any) -> Path:
        (self.runs / name).mkdir(parents=True)
        (self.runs / name / "run.json").write_text(record if isinstance(record, str) else json.dumps(record))
        return self.runs / name

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [ROOT / "epd", "bill", *arguments], env=self.environment, text=True, stdout=-1, stderr=-1
        )

    def bill(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = self.start(*arguments)
        out, err = done.communicate()
        return subprocess.CompletedProcess(arguments, done.returncode, out, err)

    def rows(self) -> list[dict[str, str]]:
        with self.ledger.open(newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_went_on_elsewhere_is_billed_by_its_seconds(desk: Desk) -> None:
    desk.keep("first", RECORD)
    done = desk.bill("first", "--seconds", "12000")
    assert done.returncode == 0, done.stderr
    (row,) = desk.rows()
    expected = {
        "date": "2026-11-20", "read_from": "tqdm's bar", "machine": "1 x H100 SXM", "measured_minutes": "1.25",
        "promised_seconds": "10000", "paid_seconds": "12000", "promised_usd": "10", "paid_usd": "12", "factor": "1.2",
    }  # fmt: skip
    assert row.items() >= expected.items()
    assert "secret" not in desk.ledger.read_text()
    assert "promised  2 h 46 min, 10.00 USD, when 1 min 15 s were measured" in done.stdout


def test_invoice_alone_is_set_beside_the_dollars_that_were_promised(desk: Desk) -> None:
    desk.keep("first", RECORD)
    assert desk.bill("--usd", "12.40").returncode == 0
    (row,) = desk.rows()
    assert (row["paid_seconds"], row["paid_usd"], row["factor"]) == ("", "12.4", "1.24")


def test_invoice_of_another_rate_is_remarked(desk: Desk) -> None:
    """3.60 USD an hour were promised: 12.40 USD for 12,000 s are 3.72 an hour, and 124 USD are 37.2."""
    desk.keep("first", RECORD)
    assert "!" not in desk.bill("first", "--seconds", "12000", "--usd", "12.40").stdout
    assert "37.20 USD an hour were paid, and 3.60 USD were promised" in desk.bill(
        "first", "--seconds", "12000", "--usd", "124"
    ).stdout  # fmt: skip
    assert "!" not in desk.bill("first", "--usd", "12.40").stdout
    assert (
        "if it took as long as was promised, 44.64 USD an hour were paid" in desk.bill("first", "--usd", "124").stdout
    )


def test_invoice_is_of_the_newest_that_was_measured_to_its_end(desk: Desk) -> None:
    """A record that is newer and was not is left alone, and the factor is that of the time."""
    desk.keep("2026-11-21", WHOLE)
    desk.keep("2026-11-22", RECORD)
    assert desk.bill("--usd", "12.40").returncode == 0
    (row,) = desk.rows()
    assert (row["date"], row["paid_seconds"], row["paid_usd"], row["factor"]) == ("2026-11-21", "11000", "12.4", "1.1")
    assert row["measured_minutes"] == "1.1"


def test_a_record_that_is_billed_again_keeps_one_row(desk: Desk) -> None:
    desk.keep("first", RECORD)
    assert "a row of its own" in desk.bill("first", "--seconds", "12000").stdout
    assert "was replaced" in desk.bill("first", "--seconds", "9000").stdout
    (row,) = desk.rows()
    assert row["factor"] == "0.9"


def test_ledger_says_how_well_promises_held(desk: Desk) -> None:
    """Factors 1.1, 1.25 and 0.5: off by 1.1, 1.25 and 2, so 1.25 in the median, and one of three is near."""
    assert "empty" in desk.bill().stdout
    for number, seconds in enumerate(("11000", "12500", "5000")):
        desk.keep(f"run-{number}", RECORD | {"seconds": 75.0 + number})
        assert desk.bill(f"run-{number}", "--seconds", seconds).returncode == 0
    done = desk.bill()
    said = "off by a factor of 1.25 in the median where nothing was in doubt (1 of 3 within 1.15)"
    assert done.stdout.splitlines()[-2] == said
    assert len(done.stdout.splitlines()) == 6
    page = desk.ledger.with_suffix(".html").read_text()
    assert page.count("<circle") == 3
    assert f"Promises were {said}" in page
    assert "http" not in page


def test_disturbed_minutes_are_judged_apart(desk: Desk) -> None:
    """Factors 1.1 of a quiet one, and 2 of one that its record says was disturbed: that is said wherever it stands."""
    doubts = ["disturbed: other programs kept 0.5 cores busy"]
    desk.keep("quiet", RECORD)
    desk.keep("disturbed", RECORD | {"seconds": 76.0, "doubts": doubts})
    desk.bill("quiet", "--seconds", "11000")
    assert f"!  {doubts[0]}" in desk.bill("disturbed", "--seconds", "20000").stdout
    assert [row["doubts"] for row in desk.rows()] == ["", *doubts]
    done = desk.bill()
    assert (
        "off by a factor of 1.10 in the median where nothing was in doubt (1 of 1 within 1.15); "
        "off by a factor of 2.00 in the median where other programs disturbed it (0 of 1 within 1.15)"
    ) in done.stdout
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:3]] == ["quiet", "disturbed"]
    page = desk.ledger.with_suffix(".html").read_text()
    assert page.count("<td>disturbed") == page.count('r="3.5" stroke="var(--main)" fill="none"') == 1


def test_a_ledger_from_before_there_were_doubts_is_read(desk: Desk) -> None:
    desk.keep("one", RECORD)
    desk.bill("one", "--seconds", "11000")
    old = [line.rsplit(",", 1)[0] for line in desk.ledger.read_text().splitlines()]
    assert old[0].endswith(",factor")
    desk.ledger.write_text("\n".join(old) + "\n")
    assert "1 of 1 within 1.15" in desk.bill().stdout


def test_what_a_record_says_is_text_in_the_page(desk: Desk) -> None:
    desk.keep("one", RECORD | {"progress": RECORD["progress"] | {"source": "<script>"}})
    desk.bill("one", "--seconds", "9000")
    desk.bill()
    assert "<script>" not in desk.ledger.with_suffix(".html").read_text()


@pytest.mark.parametrize("text", ["\x1b]0;x\x07", "a\u202eb", "=1+1", "@SUM(1)", "a\nb"])
def test_what_a_record_says_moves_no_terminal_and_no_table(desk: Desk, text: str) -> None:
    desk.keep("one", RECORD | {"progress": RECORD["progress"] | {"source": text}, "doubts": [text]})
    said = desk.bill("one", "--seconds", "9000").stdout
    (row,) = desk.rows()
    for shown in (row["read_from"], row["doubts"], *said.splitlines()):
        assert shown.isprintable()
        assert shown[:1] not in ("=", "@")
    assert len(desk.ledger.read_text().splitlines()) == 2


@pytest.mark.parametrize("place", [".ledger.csv.lock", "ledger.csv"])
def test_what_is_no_file_is_never_written_to_or_waited_for(desk: Desk, tmp_path: Path, place: str) -> None:
    """A link where the lock is could name anything; a pipe would never end."""
    (tmp_path / "precious").write_text("mine")
    desk.keep("one", RECORD)
    path = desk.ledger.with_name(place)
    path.symlink_to(tmp_path / "precious") if "lock" in place else os.mkfifo(path)
    done = desk.bill("one", "--seconds", "9000")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "precious").read_text() == "mine"


def test_ledger_that_others_may_not_read_stays_so(desk: Desk) -> None:
    desk.keep("one", RECORD)
    desk.bill("one", "--seconds", "9000")
    desk.ledger.chmod(0o600)
    desk.bill("one", "--seconds", "8000")
    assert desk.ledger.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("whole", [5, [], "x", {}])
def test_records_that_are_none_are_passed_over(desk: Desk, whole: Any) -> None:
    desk.keep("2026-11-21", RECORD | {"whole": whole})
    desk.keep("2026-11-20", RECORD)
    assert desk.bill("--usd", "12.40").returncode == 0


@pytest.mark.slow
def test_two_at_once_lose_nothing(desk: Desk) -> None:
    names = [f"run-{number}" for number in range(8)]
    for number, name in enumerate(names):
        desk.keep(name, RECORD | {"seconds": 75.0 + number})
    calls = [desk.start(name, "--seconds", "9000") for name in names]
    for call in calls:
        _, err = call.communicate()
        assert call.returncode == 0, err
    assert len(desk.rows()) == 8


def test_what_killed_calls_left_half_written_is_removed(desk: Desk) -> None:
    desk.keep("one", RECORD)
    assert desk.bill("one", "--seconds", "9000").returncode == 0

    def left(*words: str) -> list[str]:
        parts = [desk.ledger.with_name(f".ledger.{kind}-123") for kind in ("csv", "html")]
        for part in parts:
            part.write_text("date")
        assert subprocess.run([ROOT / "epd", *words], env=desk.environment, capture_output=True).returncode == 0
        return [part.name for part in parts if part.exists()]

    assert left("bill", "one", "--seconds", "9000") == [".ledger.html-123"]
    assert left("bill") == [".ledger.csv-123"]
    assert left("forget") == []


@pytest.mark.parametrize(
    ("record", "arguments", "said"),
    [
        (RECORD, ["nowhere"], "nowhere: there is no such record"),
        (RECORD, ["one"], "it was not measured to its end: give --seconds or --usd"),
        (RECORD | {"usd_per_hour": None}, ["one", "--usd", "3"], "it promised no dollars: give --usd-per-hour"),
        (RECORD | {"whole": None}, ["one", "--seconds", "3"], "it promised nothing"),
        (RECORD | {"whole": None}, ["--seconds", "3"], "has promised anything"),
        (WHOLE, ["one", "--seconds", "3"], "--seconds: it was measured to its end"),
        (RECORD, ["one", "--seconds", "-3"], "argument --seconds: '-3' is not a number above 0"),
        (RECORD, ["one", "--usd", "1_0"], "argument --usd: '1_0' is not a number above 0"),
        (RECORD, ["one", "--usd", "\u0663"], "is not a number above 0"),
        (RECORD, ["one", "--usd", "nan"], "argument --usd: 'nan' is not a number above 0"),
        (RECORD, ["one", "--seconds"], "argument --seconds: expected one argument"),
        (RECORD, ["one", "two"], "unrecognized arguments: two"),
        ("{", ["one", "--seconds", "3"], "it is no record"),
        ("[" * 100_000, ["one", "--seconds", "3"], "it is no record"),
        ("[1]", ["one", "--seconds", "3"], "it is no record of epd run"),
        ({"clock": "observed"}, ["one", "--seconds", "3"], "it is no record of epd run"),
        (RECORD | {"whole": {"seconds": float("nan")}}, ["one", "--seconds", "3"], "whole.seconds: NaN must be"),
        (RECORD | {"machine": 3}, ["one", "--seconds", "3"], "machine: 3 must be a mapping"),
    ],
)
def test_what_cannot_be_billed_is_a_line(desk: Desk, record: Any, arguments: list[str], said: str) -> None:
    desk.keep("one", record)
    done = desk.bill(*arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("epd: ")
    assert said in line
    assert not desk.ledger.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: a ledger begins with date,record,"),
        ("a,b\n", "line 1: a ledger begins with date,record,"),
        ("{head}\n1,2\n", "line 2: it has 2 values, and 11 columns"),
        ("{head}\n2026-01-02,r,s,m,,-1,2,,,1,\n", "line 2: promised_seconds must be a number above 0"),
        ("{head}\n2026-01-02,r,s,m,,5,1_0,,,2,\n", "line 2: paid_seconds must be a number above 0"),
        ("{head}\n2026-01-02,r,s,m,,5,\u0663,,,2,\n", "line 2: paid_seconds must be a number above 0"),
        ("{head}\n2026-01-02,r,s,m,,5,2,,,,\n", "line 2: factor must be a number above 0"),
        ("{head}\n2026-01-02,r,\x1b[2J,m,,5,2,,,1,\n", "line 2: read_from holds what a terminal or a table would obey"),
        ("{head}\n2026-01-02,r,=1+1,m,,5,2,,,1,\n", "line 2: read_from holds what a terminal or a table would obey"),
        ("{head}\n2999-01-02,r,s,m,,5,2,,,1,\n", "line 2: date must be a day (YYYY-MM-DD) that is not to come"),
        ("{head}\n12,r,s,m,,5,2,,,1,\n", "line 2: date must be a day"),
        ("\x00\xff", "line 1: a ledger begins with"),
    ],
)
def test_what_is_no_ledger_is_left_as_it_is(desk: Desk, text: str, said: str) -> None:
    desk.keep("one", RECORD)
    desk.bill("one", "--seconds", "9000")
    text = text.replace("{head}", desk.ledger.read_text().splitlines()[0])
    desk.ledger.write_text(text)
    for arguments in ([], ["one", "--seconds", "9000"]):
        done = desk.bill(*arguments)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert said in line
    assert desk.ledger.read_text() == text


@pytest.mark.slow
def test_a_training_that_was_measured_to_its_end_has_its_row(tmp_path: Path) -> None:
    recorder, desk = Recorder(tmp_path), Desk(tmp_path)
    recorder.run("--minutes", "0.01", "--", *recorder.program(COUNTS.format(n=200)))
    assert not desk.ledger.exists(), "a minute pays for nothing"
    shutil.rmtree(desk.runs)
    asked = ["--whole", "--minutes", "0.01", "--usd-per-hour", "3.6"]
    done = recorder.run(*asked, "--", *recorder.program(COUNTS.format(n=200)))
    assert "a row of the ledger" in done.stderr
    record, (row,) = recorder.record(), desk.rows()
    assert float(row["paid_seconds"]) == pytest.approx(record["seconds"], rel=1e-4)
    assert float(row["promised_seconds"]) == pytest.approx(record["promised_seconds"], rel=1e-4)
    assert float(row["paid_usd"]) == pytest.approx(record["seconds"] / 1000, rel=1e-4)
    assert 0.01 <= float(row["measured_minutes"]) < float(row["paid_seconds"]) / 60
    done = subprocess.run(
        [sys.executable, "-m", "scripts.epd", "bill"], env=desk.environment, cwd=ROOT, capture_output=True, text=True
    )
    assert "1 of 1 within 1.15" in done.stdout or "0 of 1 within 1.15" in done.stdout
    subprocess.run([ROOT / "epd", "forget"], env=desk.environment, check=True, capture_output=True)
    assert not desk.ledger.exists()
