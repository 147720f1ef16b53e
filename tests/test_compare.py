import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.analysis import states
from scripts.analysis.states import State, compare, counts
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.workflow import comparing
from scripts.workflow.comparing import at_one_price, read
from tests.conftest import ROOT
from tests.made import BOOK, costs, offer, price_book, run, runs
from tests.reading import EVIL, Read
from tests.simulation import states as simulation


def state(name: str, *rows: dict, book=BOOK) -> State:
    frame = runs(*rows)
    priced = costs(frame, rows=book)
    return State(name, frame, priced[priced["price_option"] == "on-demand"])


def cells(seconds: float, count: int = 6, **values) -> list[dict]:
    """Return runs of one cell that lie a percent apart."""
    times = [seconds * (1 + 0.01 * (i % 3 - 1)) for i in range(count)]
    return [run(repeat=i + 1, train_seconds=time, total_seconds=time, **values) for i, time in enumerate(times)]


def test_slower_and_dearer_are_named_and_counted() -> None:
    found = compare(state("old", *cells(100)), state("new", *cells(150)))
    (row,) = found["cells"]
    assert (row["time"]["word"], row["cost"]["word"]) == ("slower", "dearer")
    assert row["time"]["ratio"] == pytest.approx(1.5)
    assert counts(found["cells"]) == {"faster": 0, "slower": 1, "cheaper": 0, "dearer": 1}


def at(day: int, seconds: float) -> list[dict]:
    """Return six runs of one cell on a day of January."""
    return [one | {"started_at": f"2026-01-{day:02}T03:{i:02}:00+00:00"} for i, one in enumerate(cells(seconds))]


def test_noise_of_a_sitting_does_not_judge_between_two() -> None:
    """20 % between two days, of one each, may be the days'; between runs in turns it is a finding."""
    other_day = compare(state("old", *at(1, 100)), state("new", *at(2, 120)))
    assert other_day["cells"][0]["time"]["word"] == ""
    assert "their days are not known" in other_day["rule"]
    in_turns = compare(state("old", *at(1, 100)), state("new", *at(1, 120)))
    assert in_turns["cells"][0]["time"]["word"] == "slower"
    assert "in one sitting, in turns" in in_turns["rule"]


def test_days_of_a_state_say_what_days_do() -> None:
    days = range(1, 11)
    quiet = [one | {"repeat": day} for day in days for one in at(day, 100 + day % 2)]
    after = [one | {"repeat": day} for day in days for one in at(day + 10, 120 + day % 2)]
    found = compare(state("old", *quiet), state("new", *after))
    assert found["cells"][0]["time"]["word"] == "slower"
    assert "10 and 10 sittings" in found["rule"]


def test_rounds_of_one_study_did_not_change() -> None:
    """The project's own 45 cells, rounds 1 to 6 against 7 to 12: three were called faster."""
    assert simulation.halves() == {"cells": 45, "compared": 45, "changed": 0}


def test_same_again_is_not_clearly_different() -> None:
    found = compare(state("old", *cells(100)), state("new", *cells(101)))
    assert sum(counts(found["cells"]).values()) == 0


def test_price_alone_makes_one_run_dearer_and_not_slower() -> None:
    """The same runs, at twice the price: there is no noise between them."""
    dear = price_book(offer("1-core", 0.072, as_of="2026-06-01"))
    found = compare(state("old", run()), state("new", run(), book=dear))
    (row,) = found["cells"]
    assert (row["time"]["word"], row["cost"]["word"], row["cost"]["ratio"]) == ("", "dearer", 2.0)
    assert {"what": "prices of", "old": ["2026-01-02"], "new": ["2026-06-01"]} in found["changed"]


def test_other_settings_are_refused_and_named() -> None:
    found = compare(state("old", *cells(100)), state("new", *cells(50, epochs=10)))
    assert found["cells"] == []
    assert found["unlike"][0]["differs"] == ["epochs"]


def test_two_machines_are_compared_by_all_other_axes() -> None:
    found = compare(state("one", *cells(100)), state("four", *cells(50, hardware="cpu4")))
    (row,) = found["cells"]
    assert "hardware" not in row
    assert (row["time"]["word"], row["cost"]["word"]) == ("faster", "dearer"), "at four times the price"


def test_several_machines_are_not_pooled() -> None:
    two = [*cells(100), *cells(40, hardware="cpu4")]
    with pytest.raises(InputError, match=r"old: has the machines cpu1, cpu4, .* name one, as in STUDY@MACHINE"):
        compare(state("old", *two), state("new", *cells(70, hardware="box")))


def test_price_that_became_one_and_one_that_became_none_are_listed() -> None:
    free = price_book(offer("1-core", 0.0))
    for books, word in (({"book": free}, "cheaper"), ({}, "dearer")):
        other = {} if books else {"book": free}
        (row,) = compare(state("old", run(), **other), state("new", run(), **books))["cells"]
        assert row["cost"]["word"] == word
        assert json.dumps(row, allow_nan=False)


def test_cells_of_one_state_alone_and_new_versions_are_listed() -> None:
    old = state("old", *cells(100), run(framework="jax"))
    found = compare(old, state("new", *cells(100, packages="keras 4")))
    assert [one["cell"]["framework"] for one in found["only"]] == ["jax"]
    assert {"what": "packages", "old": ["keras 3"], "new": ["keras 4"]} in found["changed"]


def called(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True)


def kept(folder: Path, *rows: dict) -> Path:
    """Write the tables of a study into a folder."""
    frame = runs(*rows)
    folder.mkdir()
    tables.write(frame, "runs", folder / "runs.parquet")
    tables.write(costs(frame), "costs", folder / "costs.parquet")
    return folder


@pytest.mark.slow
def test_page_json_and_exit_code(tmp_path: Path) -> None:
    old, new = kept(tmp_path / "old", *cells(100)), kept(tmp_path / "new", *cells(150, packages=f"keras {EVIL}"))
    done = called(
        "scripts.epd", "compare", f"{old}:on-demand", f"{new}:on-demand", "--output", str(tmp_path / "page.html")
    )
    assert done.returncode == 1, "something got worse"
    assert "1 configuration compared: 0 faster, 1 slower, 0 cheaper, 1 dearer" in done.stdout
    written = json.loads((tmp_path / "page.json").read_text())
    assert written["counts"][states.SLOWER] == 1
    html = (tmp_path / "page.html").read_text()
    assert EVIL not in html
    assert "MNIST · MLP" in Read(html).text
    back = called("scripts.epd", "compare", str(new), str(old), "--output", str(tmp_path / "page.html"))
    assert back.returncode == 0


def test_date_of_an_earlier_repetition_is_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "history" / "tiny").mkdir(parents=True)
    kept(tmp_path / "history" / "tiny" / "2026-11-23T021015Z", *cells(100))
    monkeypatch.chdir(tmp_path)
    found = read("old", "tiny@2026-11-23T021015Z:spot")
    assert (len(found.runs), set(found.costs["price_option"])) == (6, {"spot"})
    with pytest.raises(InputError, match="old: history/tiny/2026-11-24T021015Z: no such folder"):
        read("old", "tiny@2026-11-24T021015Z")


@pytest.mark.slow
def test_costs_that_a_state_lacks_are_not_called_equal(tmp_path: Path) -> None:
    old = kept(tmp_path / "old", *cells(100), run(framework="jax"))
    new = kept(tmp_path / "new", *cells(150))
    for file in new.glob("costs.*"):
        file.unlink()
    done = called("scripts.epd", "compare", str(old), str(new), "--output", str(tmp_path / "page.html"))
    assert f"0 faster, 1 slower; costs are not compared: {new} has none" in done.stdout
    assert "dearer" not in done.stdout
    assert f"not compared: 1 configuration in {old} only" in done.stdout
    assert "dearer" not in json.loads((tmp_path / "page.json").read_text())["counts"]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone in which nothing was made yet: only what is committed."""
    monkeypatch.setattr(comparing, "_FOLDERS", comparing._FOLDERS[1:])


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
def test_costs_of_a_study_that_is_committed_are_compared_by_default() -> None:
    """As the claims of its page say: two cores are dearer than one in 11 of 12 pairs, and the other is too close."""
    old, new, at = at_one_price(read("old", "two-cores@cpu1"), read("new", "two-cores@cpu2"))
    counted = counts(compare(old, new)["cells"])
    assert at == "costs at on-demand"
    assert (counted["cheaper"], counted["dearer"]) == (0, 11)


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
def test_price_of_a_study_that_is_committed_can_be_named() -> None:
    old, new, at = at_one_price(read("old", "two-cores@cpu1:spot"), read("new", "two-cores@cpu1:on-demand"))
    assert at == "costs at spot and on-demand"
    assert {row["cost"]["word"] for row in compare(old, new)["cells"] if row["cost"]} == {"dearer"}
    old, new, at = at_one_price(read("old", "two-cores@cpu1:spot"), read("new", "two-cores@cpu2"))
    assert (at, set(new.costs["price_option"])) == ("costs at spot", {"spot"})
    with pytest.raises(InputError, match="old: none: two-cores has the prices on-demand, spot, owned"):
        read("old", "two-cores@cpu1:none")


@pytest.mark.usefixtures("fresh")
def test_articles_that_are_committed_as_facts_are_compared_too() -> None:
    """The article of November 2017: the P100 is faster than the K80 in all tests, at 3.03 times its price an hour."""
    old, new, at = at_one_price(read("old", "gpus-2017@k80"), read("new", "gpus-2017@p100"))
    assert at == "costs at as-published"
    rows = [row for row in compare(old, new)["cells"] if row["workload"] != "text_generator_keras"]
    assert all(row["time"]["ratio"] < 1 for row in rows)
    assert all(row["cost"]["ratio"] / row["time"]["ratio"] == pytest.approx(1.5075 / 0.4975) for row in rows)


def test_prices_without_a_name_in_common_are_not_compared() -> None:
    old, new = state("a", *cells(100)), state("b", *cells(150))
    old, new, at = at_one_price(old, replace(new, costs=new.costs.assign(price_option="july")))
    assert old.costs.empty
    assert at == "costs are not compared: a has on-demand, b has july: name one of each by :PRICE"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "says"),
    [
        ("", "old: '': must be STUDY or FOLDER, then @MACHINE and :PRICE if wanted"),
        ("nowhere", "old: nowhere: no such folder with runs.parquet or runs.csv, and no study with results"),
        ("nowhere", "; with results there are batch-size, "),
        ("two-cores@cpu9", "old: cpu9: two-cores has the machines cpu1, cpu2, cpu2-again"),
        ("a@b@c", "old: 'a@b@c': must be STUDY or FOLDER, then @MACHINE and :PRICE if wanted"),
    ],
)
def test_bad_state_is_a_line(old: str, says: str, tmp_path: Path) -> None:
    done = called("scripts.epd", "compare", old, "two-cores", "--output", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
