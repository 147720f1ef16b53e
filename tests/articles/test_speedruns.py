"""Speedruns in dollars: literals are minutes and prices as their sources print them, and plain arithmetic."""

import csv
import html
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from scripts.analysis import figures
from scripts.articles.speedruns import given, logs
from scripts.articles.speedruns.figures import of_day
from scripts.costs import pricing
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.studies import articles, definition
from tests.reading import LEAD

PUBLISHED = definition.ROOT / "reports" / "published"
SOURCE = PUBLISHED / "sources" / "speedruns.csv"


@pytest.fixture(scope="module")
def shown() -> SimpleNamespace:
    """The published study: its tables and the figures of its claims."""
    study = definition.read("speedruns", {})[1]
    rates = tables.conform(pricing.price_table(study, study["machines"], study["machines"]), "prices")
    none, asked = pd.DataFrame(), articles.given(study)
    derived = figures.tables(study, none, none, rates, asked)
    runs = pd.DataFrame(columns=list(tables.columns("runs")))
    return SimpleNamespace(study=study, derived=derived, figures=figures.figures(study, derived, rates, runs, asked))


#: Line of the README, time as printed there, USD: minutes / 60 x 31.92 USD (Lambda, eight H100, 2026-05-20).
BY_HAND = [
    ("README.md#L114", "45 min", 23.94),  # 0.75 h x 31.92
    ("README.md#L115", "31.4 min", 16.7048),
    ("README.md#L117", "22.3 min", 11.8636),
    ("README.md#L125", "5.03 min", 2.67596),
    ("README.md#L134", "2.933 min", 1.560356),
    ("README.md#L135", "2.997 min", 1.594404),  # the same record on the stricter clock
    ("README.md#L155", "2.358 min", 1.254456),
    ("README.md#L177", "1.655 min", 0.88046),
    ("README.md#L204", "1.23 min", 0.65436),
    ("README.md#L285", "5.8 h", 185.136),
    ("README.md#L286", "29.3 min", 15.5876),
    ("README.md#L302", "17.35 min", 9.2302),
    ("README.md#L16", "168 h", 43008.0),  # x 32 TPU v3 at 8 USD an hour each
    ("README.md#L17", "3.04 h", 97.0368),
    ("README.md#L22", "1.65 h", 52.668),
]


@pytest.mark.parametrize(("line", "time", "usd"), BY_HAND)
def test_dollars_of_a_record_by_hand(line: str, time: str, usd: float, shown: SimpleNamespace) -> None:
    table = shown.derived["every_record"]
    (row,) = table[table["source"].str.endswith(f":{line}")].to_dict("records")
    amount, unit = time.split()
    assert row["seconds"] == pytest.approx(float(amount) * {"min": 60, "h": 3600}[unit])
    assert row["usd"] == pytest.approx(usd, rel=1e-6)


def test_then_and_now(shown: SimpleNamespace) -> None:
    table = shown.derived["then_now"].set_index("track")
    small = table.loc["GPT-2 small"]
    assert small["times"] == pytest.approx(45 / 1.23)  # the same machine at the same price: 36.6
    # The 13 runs of the newest record's program took 79.653 s in the median: 79.653 / 3600 x 31.92 USD.
    assert (small["log_runs"], small["log_usd"]) == (13, pytest.approx(0.70626, abs=1e-5))
    assert small["log_times"] == pytest.approx(2700 / 79.653)
    assert table.loc["GPT-2 medium", "times"] == pytest.approx(348 / 17.35)
    assert table.loc["nanochat", "times"] == pytest.approx(168 * 256 / (1.65 * 31.92))
    assert list(table["records"]) == [89, 17, 7]
    word, words = figures.answer(shown.study, shown.derived)
    assert word == "23.9 USD then, 0.654 USD now, as printed"
    assert "36.6 times less from 2024-05-28 to 2026-07-17, 33.9 times by" in words
    assert len(f"{word}. {words}") <= LEAD
    assert (
        "on eight H100 at Lambda's list of May 2026: GPT-2 small to a loss of 3.28, 0.654 USD"
        in (figures.minute(shown.study, shown.derived)["which"])
    )
    more = figures.further(shown.study, shown.derived)
    assert "185 USD (2024-05-28, which ended at 2.9282) and 9.23" in more
    assert "at AWS's list of its day 1.13 (of the first's day none was read within 90 days)" in more


#: Row, AWS's list of that day: minutes / 60 x 55.04 USD; None where it was not read within 90 days.
OF_THEIR_DAY = [
    ("GPT-2 small", 1, None),  # 2024-05-28: read in August 2023, and then in June 2025
    ("GPT-2 small", 24, None),  # 2025-05-30: it had another price before it was read on 2025-06-23
    ("GPT-2 small", 25, 2.896 / 60 * 55.04),  # 2025-07-13
    ("GPT-2 small", 38, 2.476 / 60 * 55.04),  # 2025-09-29: read in June and in October, and the same
    ("GPT-2 small", 56, None),  # 2025-12-31: 91 days after October
    ("GPT-2 small", 81, 1.363 / 60 * 55.04),  # 2026-04-22: 89 days before it was read again, and the same
    ("GPT-2 small", 89, 1.23 / 60 * 55.04),
    ("nanochat", 0, 168 * 256.0),
    ("nanochat", 6, None),
]


@pytest.mark.parametrize(("track", "record", "usd"), OF_THEIR_DAY)
def test_price_of_a_records_day(track: str, record: int, usd: float | None, shown: SimpleNamespace) -> None:
    table = shown.derived["every_record"]
    row = table[(table["track"] == track) & (table["record"] == record)].iloc[0]
    assert (None if pd.isna(row["usd_then"]) else row["usd_then"]) == (usd if usd is None else pytest.approx(usd))


def test_price_of_a_day_between_two_readings_that_differ_is_unknown() -> None:
    readings = [(date(2025, 1, 1), 98.0), (date(2025, 6, 1), 55.0), (date(2026, 6, 1), 55.0)]
    assert of_day(readings, date(2024, 12, 31)) is None
    assert of_day(readings, date(2025, 4, 1)) == 98.0
    assert of_day(readings, date(2025, 4, 2)) is None
    assert of_day(readings, date(2025, 5, 31)) is None
    assert of_day(readings, date(2025, 8, 30)) == 55.0
    assert of_day(readings, date(2025, 8, 31)) is None
    assert of_day(readings, date(2026, 3, 3)) == 55.0


def test_every_printed_row_is_on_the_page(shown: SimpleNamespace) -> None:
    with SOURCE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    tracks = [row["track"] for row in rows]
    assert [tracks.count(name) for name in ("GPT-2 small", "GPT-2 medium", "nanochat")] == [91, 17, 7]
    assert len({row["source"] for row in rows}) == len(rows) == 115
    assert list(shown.derived["every_record"]["source"]) == [row["source"] for row in rows]
    page = html.unescape((PUBLISHED / "speedruns.html").read_text(encoding="utf-8"))
    cells = set(re.findall(r'<td class="wrap">([^<]*)</td>', page))
    assert [row["source"] for row in rows if row["source"] not in cells] == []
    assert "<dt>Record 11 of GPT-2 medium</dt>" in page


def test_what_was_found_in_the_rows(shown: SimpleNamespace) -> None:
    found = shown.derived["found"].set_index("what")

    def of(begin: str) -> tuple[int, str]:
        (row,) = found[found.index.str.startswith(begin)].to_dict("records")
        return row["rows"], row["which"]

    assert of("GPT-2 medium: rows") == (17, "11")
    assert of("Old records") == (2, "GPT-2 small 21, 21")
    assert of("AWS's list was not read")[0] == 66
    assert of("No seconds of its own: names no log") == (3 + 7, "GPT-2 small 3, 66, 86; nanochat 0, 1, 2, 3, 4, 5, 6")
    assert of("No seconds of its own: 10 runs of 8 x NVIDIA H200") == (1, "GPT-2 small 82")
    assert of("No seconds of its own: 10 runs of 1 x NVIDIA H100 80GB HBM3") == (1, "GPT-2 small 88")
    assert of("No seconds of its own: its log has no clock")[0] == 3
    assert of("Own runs more than 5 %")[1] == "GPT-2 small 80, 83, 84, 89; GPT-2 medium 17"
    assert of("Its description names another time") == (1, "GPT-2 medium 8")
    rows = shown.derived["every_record"]
    timed = rows[(rows["track"] == "GPT-2 small") & rows["date"].gt("2026") & rows["log_off"].notna()]
    assert (len(timed), (timed["log_off"] > 0).sum()) == (28, 21), "the page says so of its limits"
    assert timed["log_off"].max() == pytest.approx(0.098, abs=5e-4)
    # 2.933 minutes and 2.997: 0.064 x 60 s
    assert shown.figures["seconds_of_new_timing"] == pytest.approx(3.84)


def test_curves_are_the_losses_of_the_named_logs(shown: SimpleNamespace) -> None:
    curves = shown.derived["curves"]
    assert sorted(set(curves["record"])) == [4, 12, 20, 40, 62, 89]
    last = curves.groupby("record").tail(1).set_index("record")
    # step:6200/6200 val_loss:3.2785 train_time:1339067ms, as the log of record 4 ends
    assert (last.loc[4, "step"], last.loc[4, "val_loss"]) == (6200, 3.2785)
    assert last.loc[4, "usd"] == pytest.approx(1339.067 / 3600 * 31.92)


CARDS = "".join(f"|   {n}  NVIDIA H100 80GB HBM3          On  |   00000000:0{n}:00.0 Off |\n" for n in range(8))


def log(program: str, seconds: float, done: int = 100, cards: str = CARDS) -> str:
    steps = (
        f"step:0/100 val_loss:10.8 train_time:0ms\nstep:{done}/100 val_loss:3.27 train_time:{1000 * seconds:.0f}ms\n"
    )
    return f"{program}\n{'=' * 40}\n{cards}{steps}"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A study of three records and their logs, as somebody may write it."""
    texts = {
        "a/named.txt": log("one", 60),
        "a/repeat.txt": log("one", 62),
        "a/other.txt": log("two", 10),
        "a/ended.txt": log("one", 5, done=50),
        "a/single.txt": log("one", 400, cards=CARDS.splitlines(keepends=True)[0]),
        "b/x/one.txt": log("one", 30),
        "b/two.txt": log("two", 31),
        "c/main.log": "s:99 trl:3.3\ns:100 tel:3.2722\n",
    }
    for name, text in texts.items():
        (tmp_path / "records" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "records" / name).write_text(text)
    study = yaml.safe_load((definition.ROOT / "config" / "studies" / "speedruns.yaml").read_text(encoding="utf-8"))
    study["speedruns"] |= {name: str(tmp_path / f"{name}.csv") for name in ("records", "logs", "curves")}
    study["speedruns"]["curves_of"] = [1]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    rows = [
        ("records/a/named.txt", 1, 61, ""),
        ("records/b", 2, 31, ""),
        ("records/c/main.log", 3, 30, ""),
        ("records/d/gone.txt", 4, 29, ""),
        ("", 4, 28, "not a new record, timed anew"),
    ]
    with (tmp_path / "records.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(given.COLUMNS)
        for name, record, seconds, note in rows:
            writer.writerow(["x", "GPT-2 small", record, "2025-01-01", seconds, "8 x H100", "", name, note])
    return tmp_path


@pytest.mark.slow
def test_logs_are_read_by_program_cards_and_steps(made: Path) -> None:
    command = (sys.executable, "-m", "scripts.articles.speedruns", str(made / "mine.yaml"), "--logs-dir", str(made))
    done = subprocess.run(command, cwd=definition.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "read 2 runs of 4 records, and 1 curves"
    with (made / "logs.csv").open(newline="") as file:
        rows = {row["record"]: row for row in csv.DictReader(file)}
    assert (rows["1"]["seconds"], rows["1"]["cards"]) == ("60 62", "8 x NVIDIA H100 80GB HBM3")
    assert rows["2"]["lacks"] == "it names a folder of 2 programs, and not which of them"
    assert (rows["3"]["lacks"], rows["3"]["val_losses"]) == ("its log has no clock", "3.2722")
    assert rows["4"]["lacks"] == "its log is not among those that were read"
    with (made / "curves.csv").open(newline="") as file:
        assert [row["val_loss"] for row in csv.DictReader(file)] == ["10.8", "3.27"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (",61,", ",fast,", r"records.csv:2: seconds: 'fast' must be a number above 0"),
        ("8 x H100,,records/c", "9 x H100,,records/c", r"records.csv: system: '9 x H100' is not one of 8 x H100"),
        ("GPT-2 small,2", "GPT-2 smal,2", r"records.csv: track: 'GPT-2 smal' is not one of GPT-2 small"),
    ],
)
def test_a_row_that_cannot_be_is_one_line(made: Path, old: str, new: str, says: str) -> None:
    path = made / "records.csv"
    path.write_text(path.read_text().replace(old, new))
    for name, columns in (("logs", logs.LOGS), ("curves", logs.CURVES)):
        (made / f"{name}.csv").write_text(",".join(columns) + "\n")
    with pytest.raises(InputError, match=says):
        articles.given(definition.read(str(made / "mine.yaml"), {})[1])
