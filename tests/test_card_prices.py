"""`epd prices card` and `epd prices --check`, in a clone whose only book is the test's."""

import json
import re
import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests.conftest import ROOT, Project

pytestmark = pytest.mark.slow

HEADER = "provider,item,region,purchase,rate,rate_low,rate_high,currency,per,as_of,source,inferred\n"
#: Far enough from any day on which somebody runs this; no price is of the future.
PAST, TODAY = "1999-06-01", date.today().isoformat()


@pytest.fixture
def clone(fresh: Project) -> Project:
    """A clone with one book of cards."""
    folder = fresh.path / "config" / "prices"
    for book in folder.glob("*.csv"):
        if book.stem not in ("billing", "currencies", "sustained-use"):
            book.unlink()
    return fresh


def write(clone: Project, *rows: str) -> None:
    """Write the book: each row `PROVIDER,ITEM,REGION,PURCHASE RATE DATE`."""
    lines = []
    for row in rows:
        key, rate, day = row.rsplit(" ", 2)
        lines.append(f"{key},{rate},,,USD,hour,{day},a list,\n")
    (clone.path / "config" / "prices" / "cards.csv").write_text(HEADER + "".join(lines))


def epd(clone: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return clone.run("./epd", *words, check=False)


def test_old_prices_are_one_line_and_code_1(clone: Project) -> None:
    write(clone, f"nebius,1x B200 180GB,,on-demand 7.15 {PAST}", f"aws,g6.xlarge,us-east-1,on-demand 0.8 {PAST}")
    done = epd(clone, "prices", "--check")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"prices: 2 of 2 cards have no price of the last 60 days; days since the newest: B200 \d+, L4 \d+\n",
        done.stderr,
    )


def test_fresh_prices_are_code_0(clone: Project) -> None:
    write(clone, f"nebius,1x B200 180GB,,on-demand 7.15 {TODAY}")
    done = epd(clone, "prices", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "prices: all 1 cards have a price of the last 60 days\n",
        "",
    )


def test_the_step_of_the_documents_warns_and_fails_nothing(clone: Project) -> None:
    recipe = re.search(r"```yaml\n- run: (.*)\n```", (ROOT / "docs" / "pricing.md").read_text())
    assert recipe
    for day, warns in ((PAST, True), (TODAY, False)):
        write(clone, f"nebius,1x B200 180GB,,on-demand 7.15 {day}")
        done = clone.run("bash", "-eo", "pipefail", "-c", recipe[1], check=False)  # as a step of GitHub is run
        assert done.returncode == 0
        assert ("::warning::" in done.stdout) is warns


def test_our_own_checks_do_not_fail_by_the_calendar(clone: Project) -> None:
    """The last line of .ci/run, under its `set -euo pipefail`."""
    write(clone, f"nebius,1x B200 180GB,,on-demand 7.15 {PAST}")
    last = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert "epd prices --check" in last
    done = clone.run("bash", "-euo", "pipefail", "-c", last, check=False)
    assert done.returncode == 0
    assert "prices: 1 of 1 cards" in done.stderr


ROWS = (
    "nebius,1x B200 180GB,,on-demand 7.15 2026-09-25",
    "coreweave,8x B200 180GB,north-america,on-demand 68.8 2026-09-20",
    "coreweave,8x B200 180GB,north-america,spot 34.11 2026-09-20",
    "akash,1x B200 180GB,,on-demand 5 2026-09-20",
)


def test_offers_are_by_provider_and_region(clone: Project) -> None:
    write(clone, *ROWS)
    done = epd(clone, "prices", "card", "B200", "--offers", "--json")
    found = {one["provider"]: one for one in json.loads(done.stdout)}
    assert list(found) == ["akash", "nebius", "coreweave"]
    assert found["akash"]["is_market_place"]
    coreweave = found["coreweave"]
    assert (coreweave["region"], coreweave["cards"]) == ("north-america", 8)
    assert coreweave["on_demand"]["usd_per_hour"] == pytest.approx(8.6)
    assert coreweave["spot"] == {
        "usd_per_hour": pytest.approx(4.26375),
        "as_of": "2026-09-20",
        "item": "8x B200 180GB",
        "source": "a list",
    }
    shown = epd(clone, "prices", "card", "B200", "--offers").stdout
    (line,) = [line for line in shown.splitlines() if "coreweave" in line]
    assert [cell.strip() for cell in line.strip("│").split("│")][:8] == [
        *("B200", "coreweave", "8", "north-america", "8.60", "2026-09-20", "4.26", "2026-09-20")
    ]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_history_is_drawn(clone: Project, tmp_path: Path, kind: str) -> None:
    write(clone, *ROWS)
    done = epd(clone, "prices", "card", "B200", "--chart", str(tmp_path / f"b200.{kind}"))
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / f"b200.{kind}").read_bytes()
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<svg")
    if kind == "svg":
        assert b"median of clouds" in drawn
