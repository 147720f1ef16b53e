import csv
import hashlib
import json
import os
import re
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pooch
import pytest

from scripts import refresh_prices
from scripts.costs import book, books, catalogue, renewal, repository
from scripts.storage import errors
from tests.conftest import ROOT

WANTED = """
gce:
  catalogue: gcp
  regions: [east]
  machines: [n1]
  built_in: {a2: {A100: 1}}
aws:
  catalogue: aws
  regions: [us]
  machines: [p3]
lambda:
  catalogue: lambda
  note: by hand
  machines: [gpu]
"""

FILES = {
    "gcp": """\
InstanceType,vCPUs,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice
n1,1.0,,,east,east-a,0.1,0.04
n1,1.0,,,east,east-b,0.1,0.06
a2,12.0,,,east,east-a,1,0.5
,,A100,1.0,east,east-a,3,1.5
""",
    "aws": "Price,SpotPrice,InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Arch\n"
    "3.06,3.06,p3,V100,1.0,us,us-1,x86_64\n",
    "lambda": "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,SpotPrice\ngpu,A10,1.0,1.29,north,\n",
}

HEADER = "provider,item,region,purchase,rate,rate_low,rate_high,currency,per,as_of,source,inferred\n"


def source(cloud: str) -> str:
    return f"SkyPilot catalogue {cloud}_vms.csv, sha256 {hashlib.sha256(FILES[cloud].encode()).hexdigest()[:8]}"


BOOK = f"""{HEADER}\
aws,p3,us,on-demand,3.06,,,USD,hour,2026-02-01,"{source("aws")}",
gce,a2,east,on-demand,4,,,USD,hour,2026-02-01,"{source("gcp")}",
gce,a2,east,spot,2,,,USD,hour,2026-02-01,"{source("gcp")}",
gce,n1,east,on-demand,0.1,,,USD,hour,2026-02-01,"{source("gcp")}",
gce,n1,east,spot,0.05,0.04,0.06,USD,hour,2026-02-01,"{source("gcp")}",
lambda,gpu,,on-demand,1.29,,,USD,hour,2026-02-01,"{source("lambda")} (by hand)",
"""


class Desk:
    """A folder with a catalogue, a list of what is wanted, and a book."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
        self.folder, self.wanted, self.book = (
            path / "catalogue",
            path / "catalogue.yaml",
            path / "books" / "current.csv",
        )
        self.monkeypatch, self.capsys = monkeypatch, capsys
        self.folder.mkdir()
        self.wanted.write_text(WANTED)
        for cloud, text in FILES.items():
            (self.folder / f"{cloud}_vms.csv").write_text(text)

    def edit(self, cloud: str, old: str, new: str) -> None:
        """Replace text in a file of the catalogue; it must be there."""
        path = self.folder / f"{cloud}_vms.csv"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def run(self, *options: str, root: str | None = None) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr of a refresh."""
        words = ["--catalogue", root or str(self.folder), "--wanted", str(self.wanted), "--book", str(self.book)]
        self.monkeypatch.setattr(sys, "argv", ["refresh_prices", *words, *options])
        with pytest.raises(SystemExit) as exit_:
            errors.run(refresh_prices.main)
        said = self.capsys.readouterr()
        if self.book.parent.is_dir():
            assert list(self.book.parent.iterdir()) in ([], [self.book]), "something half-written is left"
        return exit_.value.code, said.out, said.err

    def rows(self) -> dict[str, tuple[str, str]]:
        """Return 'item purchase' -> (rate, as_of) of the book."""
        with self.book.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return {f"{row['item']} {row['purchase']}": (row["rate"], row["as_of"]) for row in rows}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Desk:
    return Desk(tmp_path, monkeypatch, capsys)


@pytest.fixture
def kept(desk: Desk) -> Desk:
    """A desk whose book is that of the last month."""
    desk.book.parent.mkdir()
    desk.book.write_text(BOOK)
    return desk


def test_first_book(desk: Desk) -> None:
    code, said, _ = desk.run("--as-of", "2026-02-01")
    assert code == 0
    assert desk.book.read_text() == BOOK
    assert "gce, catalogue of 2026-02-01\n  new      a2 east on-demand: 4\n" in said
    assert said.endswith("current.csv: 6 prices, 6 new\n")
    assert len(book.read([desk.book])) == 6


def test_same_catalogue_makes_the_same_book(kept: Desk) -> None:
    code, said, _ = kept.run("--as-of", "2026-02-01")
    assert code == 0
    assert kept.book.read_text() == BOOK
    assert said.endswith("current.csv: 6 prices, 6 confirmed\n")


def test_a_month_later(kept: Desk) -> None:
    kept.edit("gcp", "east,east-a,3,1.5", "east,east-a,3.5,")
    kept.edit("lambda", "1.29", "2.5")
    kept.edit("aws", "3.06,3.06", "3.06,1")
    code, said, _ = kept.run("--as-of", "2026-03-01")
    assert code == 0
    assert kept.rows() == {
        "p3 on-demand": ("3.06", "2026-03-01"),
        "p3 spot": ("1", "2026-03-01"),
        "a2 on-demand": ("4.5", "2026-03-01"),
        "n1 on-demand": ("0.1", "2026-03-01"),
        "n1 spot": ("0.05", "2026-03-01"),
        "gpu on-demand": ("1.29", "2026-02-01"),
    }
    assert f'"{source("lambda")} (by hand)"' in kept.book.read_text(), "the source is that of the price"
    assert said.splitlines() == [
        "gce, catalogue of 2026-03-01",
        "  changed  a2 east on-demand: 4 -> 4.5 (+12.5 %)",
        "  gone     a2 east spot: is not offered any more; it was 2",
        "aws, catalogue of 2026-03-01",
        "  new      p3 us spot: 1",
        "lambda, catalogue of 2026-03-01",
        "  refused  gpu on-demand 2.5: was 1.29: moved by more than 50%; if that is right, delete its row and refresh "
        "again; kept 1.29 of 2026-02-01",
        f"{kept.book}: 6 prices, 3 confirmed, 1 new, 1 changed, 1 gone, 1 refused",
    ]


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (
            lambda desk: (desk.folder / "gcp_vms.csv").unlink(),
            "must have one of gcp/vms.csv, gcp_vms*.csv, v*/gcp/vms.csv; there is none",
        ),
        (lambda desk: (desk.folder / "gcp_vms_2.csv").touch(), "there are gcp_vms.csv, gcp_vms_2.csv"),
        (lambda desk: (desk.folder / "gcp_vms.csv").write_text(""), "gcp_vms.csv:1: column InstanceType is missing"),
        (lambda desk: desk.edit("gcp", "SpotPrice", "Spot"), "gcp_vms.csv:1: column SpotPrice is missing"),
        (lambda desk: desk.edit("gcp", "AvailabilityZone", "Zone"), "column AvailabilityZone is missing"),
        (lambda desk: (desk.folder / "gcp_vms.csv").write_bytes(b"\xff\xfe"), "not text: invalid start byte at byte 0"),
        (lambda desk: desk.edit("gcp", "n1,", "n9,"), None),
        (lambda desk: [desk.edit("gcp", "n1,", "n9,"), desk.edit("gcp", "a2,", "a9,")], "4 of the book's 4 prices are"),
    ],
)
def test_prices_of_a_provider_that_fails_are_kept(kept: Desk, break_it, reason: str | None) -> None:
    break_it(kept)
    code, said, _ = kept.run("--as-of", "2026-03-01")
    assert code == 0
    assert kept.rows()["gpu on-demand"] == ("1.29", "2026-03-01"), "the others are refreshed"
    if reason is None:  # half of them may go
        assert "n1 spot" not in kept.rows()
    else:
        line = next(line for line in said.splitlines() if "not refreshed:" in line)
        assert reason in line
        assert line.endswith("; all 4 prices kept from the last book")
        assert said.endswith("2 confirmed, 1 of 3 providers not refreshed\n")
        old, new = BOOK.splitlines(), kept.book.read_text().splitlines()
        assert [row for row in new if row.startswith("gce")] == [row for row in old if row.startswith("gce")]


def test_nothing_could_be_refreshed(kept: Desk) -> None:
    for path in kept.folder.iterdir():
        path.write_text("")
    code, said, _ = kept.run("--as-of", "2026-03-01")
    assert code == 1
    assert said.endswith("not changed, nothing could be refreshed; its newest price is of 2026-02-01\n")
    assert kept.book.read_text() == BOOK


def test_older_catalogue_replaces_nothing(kept: Desk) -> None:
    code, said, _ = kept.run("--as-of", "2026-01-31")
    assert code == 1
    assert "gcp_vms.csv: is of 2026-01-31, older than the book's 2026-02-01" in said
    assert kept.book.read_text() == BOOK


def test_dates_and_notes_may_differ_by_provider(desk: Desk) -> None:
    code, said, _ = desk.run("--as-of", "2026-03-01", "--as-of", "aws=2025-10", "--note", "aws=undated", "--note", "n")
    assert code == 0
    assert "aws, catalogue of 2025-10\n" in said
    with desk.book.open(newline="") as file:
        found = {row["provider"]: (row["as_of"], row["source"]) for row in csv.DictReader(file)}
    assert found == {
        "aws": ("2025-10", f"{source('aws')} (undated)"),
        "gce": ("2026-03-01", f"{source('gcp')} (n)"),
        "lambda": ("2026-03-01", f"{source('lambda')} (by hand; n)"),
    }


def test_provider_that_is_not_wanted_any_more(kept: Desk) -> None:
    kept.wanted.write_text(WANTED[: WANTED.index("lambda")])
    code, said, _ = kept.run("--as-of", "2026-03-01")
    assert code == 0
    assert "lambda\n  dropped  is not wanted any more\n" in said
    assert "gpu on-demand" not in kept.rows()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            "--as-of (catalogue_as_of): must be given for a folder or a plain address: the date of its catalogue",
        ),
        (["--as-of", "gce=2026-02-01"], "the date of its catalogue of aws"),
        (["--as-of", "yesterday"], "--as-of: 'yesterday' is not a date (YYYY-MM-DD, YYYY-MM or YYYY)"),
        (["--as-of", "2026-02-30"], "'2026-02-30' is not a date"),
        (["--as-of", "２０２６"], "'２０２６' is not a date"),
        (["--as-of", "2999-01"], "--as-of: 2999-01 is in the future"),
        (["--as-of", "azure=2026-02-01"], "--as-of: 'azure' is unknown: it is one of gce, aws, lambda"),
        (["--as-of", "2026-02-01", "--catalogue", "/none"], "--catalogue: /none: no such folder"),
    ],
)
def test_mistake_on_the_command_line(kept: Desk, options: list[str], message: str) -> None:
    code, _, said = kept.run(*options)
    assert code == 2
    assert said.startswith("error: ")
    assert message in said
    assert said.count("\n") == 1
    assert kept.book.read_text() == BOOK


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("catalogue: gcp", "catalogue: v8/gcp", "gce.catalogue: 'v8/gcp' does not match"),
        ("[n1]", "[n1, n1]", "gce.machines: ['n1', 'n1'] has non-unique elements"),
        ("[n1]", "[n1, a2]", "catalogue.yaml: gce: 'a2' is given twice"),
        ("[n1]", "['n1, n2']", "gce.machines[0]: 'n1, n2' does not match"),
        ("{A100: 1}", "{A100: 0}", "gce.built_in.a2.A100: 0 is less than the minimum of 1"),
        ("[east]", "[east]\n  elsewhere: {west: [n2]}", "gce.elsewhere.west: 'n2' is not one of its items"),
        ("[east]", "[east]\n  everywhere: [n2]", "gce.everywhere: 'n2' is not one of its items"),
        (
            "  machines: [p3]\n",
            "  machine: [p3]\n",
            "'machine' is unknown: it is one of catalogue, ",
        ),
        ("  note: by hand\n", "  everywhere: [gpu]\n", "'regions' is a dependency of 'everywhere'"),
    ],
)
def test_mistake_in_what_is_wanted(kept: Desk, old: str, new: str, message: str) -> None:
    assert old in WANTED
    kept.wanted.write_text(WANTED.replace(old, new))
    code, _, said = kept.run("--as-of", "2026-03-01")
    assert code == 2
    assert message in said


def test_broken_book_is_not_overwritten(kept: Desk) -> None:
    broken = BOOK.replace(",0.1,", ",much,")
    kept.book.write_text(broken)
    code, _, said = kept.run("--as-of", "2026-03-01")
    assert code == 2
    assert "current.csv:5: rate: 'much' must be a number >= 0" in said
    assert kept.book.read_text() == broken


def test_ctrl_c_half_way_leaves_the_last_book(kept: Desk) -> None:
    done = []

    def interrupted(*arguments):
        if done:
            raise KeyboardInterrupt
        done.append(arguments)
        return real(*arguments)

    real = renewal.renew
    kept.monkeypatch.setattr(renewal, "renew", interrupted)
    code, said, _ = kept.run("--as-of", "2026-03-01")
    assert code == 130
    assert "gce, catalogue of" in said
    assert kept.book.read_text() == BOOK


def test_full_disk_leaves_the_last_book(kept: Desk) -> None:
    def full(*_):
        raise OSError(28, "No space left on device")

    kept.monkeypatch.setattr(Path, "replace", full)
    code, _, said = kept.run("--as-of", "2026-03-01")
    assert code == 2
    assert "current.csv: cannot be written: No space left on device" in said
    assert kept.book.read_text() == BOOK


#: What the repository holds: a version that lacks a provider, versions that are older, files that are no catalogue.
SERVED = {
    "v8/gcp": FILES["gcp"],
    "v10/gcp": FILES["gcp"],
    "v9/gcp": "an older one",
    "v8/aws": FILES["aws"],
    "v10/aws-old": "another provider",
}
CHANGED = {"v10/gcp": "2026-03-01T23:59:59Z", "v8/aws": "2026-02-20T01:02:03Z"}


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a catalogue's folder on a server on this machine that answers as GitHub does; none of lambda."""
    folder = tmp_path / "served" / "raw" / "owner" / "repo" / "main" / "catalogs"
    for name, text in SERVED.items():
        path = folder / name / "vms.csv"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    tree = [{"path": f"catalogs/{name}/vms.csv"} for name in SERVED] + [{"path": "v11/gcp/vms.csv"}]

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_) -> None:
            pass

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if not path.startswith("/api/owner/repo/"):
                super().do_GET()
                return
            asked = parse_qs(query).get("path", [""])[0]
            of_file = asked.removeprefix("catalogs/").removesuffix("/vms.csv")
            dated = [{"commit": {"committer": {"date": day}}} for name, day in CHANGED.items() if name == of_file]
            answer = {"tree": tree} if path.endswith("git/trees/main") else dated
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "served")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setattr(repository, "RAW", f"{at}/raw")
        monkeypatch.setattr(repository, "API", f"{at}/api")
        yield f"{at}/raw/owner/repo/main/catalogs"
        server.shutdown()


def test_download_is_of_the_newest_version_and_of_the_day_of_its_file(
    kept: Desk, github: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept.monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    code, said, _ = kept.run(root=github)
    assert code == 0
    assert "gce, catalogue of 2026-03-01\n" in said
    assert f"lambda not refreshed: {github}: no version has lambda/vms.csv; all 1 prices kept" in said
    rows = kept.rows()
    assert rows["n1 on-demand"] == ("0.1", "2026-03-01")
    assert rows["p3 on-demand"] == ("3.06", "2026-02-20")
    assert rows["gpu on-demand"] == ("1.29", "2026-02-01")
    digest = hashlib.sha256(FILES["gcp"].encode()).hexdigest()[:8]
    assert f"SkyPilot catalogue v10/gcp/vms.csv, sha256 {digest}" in kept.book.read_text()
    assert caplog.records == [], "pooch would advise to write the checksum down"


def test_what_is_older_than_the_book_is_never_made_new_by_downloading_it(kept: Desk, github: str) -> None:
    kept.monkeypatch.setitem(CHANGED, "v10/gcp", "2024-03-05T00:00:00Z")
    _, said, _ = kept.run(root=github)
    assert "is of 2024-03-05, older than the book's 2026-02-01" in said
    assert kept.rows()["n1 on-demand"] == ("0.1", "2026-02-01")


def test_day_that_is_not_stated_is_not_invented(kept: Desk, github: str) -> None:
    kept.monkeypatch.delitem(CHANGED, "v10/gcp")
    _, said, _ = kept.run(root=github)
    assert "does not say when it last changed; all 4 prices kept" in said


def test_plain_address_needs_a_date(kept: Desk, github: str) -> None:
    code, _, said = kept.run(root=github.replace("/raw/", "/other/"))
    assert code == 2
    assert "--as-of (catalogue_as_of): must be given for a folder or a plain address" in said


def test_newest_version_of_a_folder_counts(kept: Desk, github: str, tmp_path: Path) -> None:
    folder = tmp_path / "served" / "raw" / "owner" / "repo" / "main" / "catalogs"
    assert refresh_prices.find(folder, "gcp") == folder / "v10" / "gcp" / "vms.csv"


def test_no_network(kept: Desk) -> None:
    code, said, _ = kept.run("--as-of", "2026-03-01", root="http://127.0.0.1:9")
    assert code == 1
    assert "http://127.0.0.1:9/gcp/vms.csv: could not be fetched: ConnectionError; all 4 prices kept" in said
    assert kept.book.read_text() == BOOK


#: As gpuhunt 0.1.34 wrote them: tests/costs/test_gpuhunt.py.
HUNTED = ROOT / "tests" / "costs" / "gpuhunt"
NEBIUS = "gpu-h100-sxm 8gpu-128vcpu-1600gb"


def hunt(folder: Path, provider: str, version: str, *edits: tuple[str, str]) -> None:
    """Lay a version of a provider's catalogue where gpuhunt has it."""
    text = (HUNTED / f"{provider}.csv").read_bytes().decode()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = folder / provider / version / "catalog.zip"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{provider}.csv", text)


@pytest.fixture
def hunted(kept: Desk, tmp_path: Path) -> Path:
    """A folder of gpuhunt's catalogue: Google and Lambda have both, Nebius is of gpuhunt alone."""
    both = WANTED.replace("catalogue: gcp\n", "catalogue: gcp\n  gpuhunt: gcp\n")
    both = both.replace("catalogue: lambda\n", "catalogue: lambda\n  gpuhunt: lambdalabs\n")
    kept.wanted.write_text(f"{both}nebius:\n  gpuhunt: nebius\n  regions: [eu-north1]\n  machines: [{NEBIUS}]\n")
    folder = tmp_path / "gpuhunt"
    for provider in ("gcp", "lambdalabs", "nebius"):
        hunt(folder, provider, "20260218-42")
    return folder


def test_two_catalogues_that_disagree_are_shown(kept: Desk, hunted: Path) -> None:
    code, said, _ = kept.run("--as-of", "2026-02-01", "--gpuhunt", str(hunted))
    assert code == 0
    assert "  differs  gpu on-demand: 1.29 of 2026-02-01, 1.99 in gpuhunt of 2026-02-18 (+54.3 %)\n" in said
    assert said.count("differs") == 1, "n1 and a2 are the same in both"
    assert kept.rows()["gpu on-demand"] == ("1.29", "2026-02-01"), "the first catalogue's price stays"


def test_a_provider_of_gpuhunt_alone_has_the_day_of_its_version(kept: Desk, hunted: Path) -> None:
    hunt(hunted, "nebius", "20260219-7", ("23.6", "24.8"))
    code, said, _ = kept.run("--as-of", "2026-02-01", "--gpuhunt", str(hunted))
    assert code == 0
    assert "nebius, catalogue of 2026-02-19\n" in said
    assert kept.rows()[f"{NEBIUS} on-demand"] == ("24.8", "2026-02-19")
    assert kept.rows()[f"{NEBIUS} spot"] == ("10", "2026-02-19")
    content = (hunted / "nebius" / "20260219-7" / "catalog.zip").read_bytes()
    assert f"gpuhunt catalogue nebius/20260219-7/catalog.zip, sha256 {hashlib.sha256(content).hexdigest()[:8]}" in (
        kept.book.read_text()
    )


def test_an_older_version_of_gpuhunt_replaces_nothing(kept: Desk, hunted: Path, tmp_path: Path) -> None:
    kept.run("--as-of", "2026-02-01", "--gpuhunt", str(hunted))
    hunt(tmp_path / "older", "nebius", "20260117-1", ("23.6", "24.8"))
    _, said, _ = kept.run("--as-of", "2026-02-01", "--gpuhunt", str(tmp_path / "older"))
    assert "is of 2026-01-17, older than the book's 2026-02-18; all 2 prices kept" in said
    assert f"  lambda not compared: {tmp_path / 'older'}: must have lambdalabs/<version>/catalog.zip" in said
    assert kept.rows()[f"{NEBIUS} on-demand"] == ("23.6", "2026-02-18")


def test_what_cannot_be_right_in_gpuhunts_catalogue_is_refused(kept: Desk, hunted: Path) -> None:
    kept.run("--as-of", "2026-02-01", "--gpuhunt", str(hunted))
    hunt(hunted, "nebius", "20260301-1", ("eu-north1,23.6", "eu-north1,2.36"))
    _, said, _ = kept.run("--as-of", "2026-02-01", "--gpuhunt", str(hunted))
    assert f"refused  {NEBIUS} eu-north1 on-demand" in said
    assert "kept 23.6 of 2026-02-18" in said
    assert kept.rows()[f"{NEBIUS} on-demand"] == ("23.6", "2026-02-18")


def test_gpuhunt_is_not_asked_beside_a_folder(kept: Desk, hunted: Path) -> None:
    code, said, _ = kept.run("--as-of", "2026-02-01")
    assert code == 0
    assert "nebius not refreshed: gpuhunt's catalogue is not asked beside a folder of SkyPilot's" in said
    assert "differs" not in said
    assert "not compared" not in said


def test_a_book_of_the_past_is_of_one_version(kept: Desk, hunted: Path, tmp_path: Path) -> None:
    hunt(hunted, "nebius", "20260219-7", ("23.6", "24.8"))
    kept.book = tmp_path / "books" / "past.csv"
    (tmp_path / "books" / "current.csv").unlink()
    code, said, _ = kept.run("--past", "20260218-42", "--gpuhunt", str(hunted))
    assert code == 0, said
    assert kept.rows() == {
        "a2 on-demand": ("4", "2026-02-18"),
        "a2 spot": ("2", "2026-02-18"),
        "n1 on-demand": ("0.1", "2026-02-18"),
        "n1 spot": ("0.06", "2026-02-18"),
        "gpu on-demand": ("1.99", "2026-02-18"),
        f"{NEBIUS} on-demand": ("23.6", "2026-02-18"),
        f"{NEBIUS} spot": ("10", "2026-02-18"),
    }


def test_gpuhunts_newest_version_is_asked_of_its_address(kept: Desk, hunted: Path, github: str, tmp_path: Path) -> None:
    """A server on this machine, laid out as gpuhunt's bucket."""
    served = tmp_path / "served" / "v3"
    hunted.rename(served)
    for provider in ("gcp", "lambdalabs", "nebius"):
        (served / provider / "version").write_text("20260218-42\n")
    at = github.partition("/raw/")[0]
    code, said, _ = kept.run("--gpuhunt", f"{at}/v3", root=github)
    assert code == 0
    assert kept.rows()[f"{NEBIUS} on-demand"] == ("23.6", "2026-02-18")
    (served / "nebius" / "version").write_text("latest\n")
    _, said, _ = kept.run("--gpuhunt", f"{at}/v3", root=github)
    assert "nebius not refreshed: gpuhunt: 'latest' is no version of its catalogue" in said
    assert "all 2 prices kept" in said


def test_the_same_catalogue_keeps_what_was_noted_of_it(kept: Desk) -> None:
    kept.run("--as-of", "2026-03-01", "--note", "gce=read by hand")
    noted = kept.book.read_text()
    assert "(read by hand)" in noted
    kept.run("--as-of", "2026-03-01")
    assert kept.book.read_text() == noted


def prices() -> Path | None:
    """Return the folder of the catalogue that the project's book was made of, None where it is not here."""
    given = os.environ.get("EPOCHS_PRICES_DIR")
    folder = Path(given) if given else ROOT.parent / "shared" / "prices"
    return folder if given or folder.is_dir() else None


here = pytest.mark.skipif(
    prices() is None, reason="the price catalogues are not here: put them in ../shared/prices or set EPOCHS_PRICES_DIR"
)

#: How config/prices/current.csv was made, beside --catalogue and --book.
MADE = [
    *("--as-of", "2026-05-20", "--as-of", "aws=2025-10", "--as-of", "paperspace=2024-03"),
    *("--note", "gce=anycloud-sh/catalog @ 62ff0a9", "--note", "lambda=anycloud-sh/catalog @ 62ff0a9"),
    *("--note", "aws=undated, about 2025-09/10; skypilot-catalog @ e385a0d"),
]


@pytest.mark.slow
@here
def test_book_of_the_project_is_what_its_catalogue_gives(desk: Desk) -> None:
    desk.wanted = books.path("current").with_name("catalogue.yaml")
    code, said, _ = desk.run(*MADE, root=str(prices() / "skypilot-catalog"))
    assert code == 0
    refused = [line.split(":")[0] for line in said.splitlines() if line.startswith("  refused")]
    assert refused == [
        "  refused  a2-highgpu-1g asia-northeast1 on-demand 2.65389",
        "  refused  a2-highgpu-8g asia-northeast1 on-demand 21.23111",
        "  refused  a2-ultragpu-1g europe-west4 on-demand 3.24335",
        "  refused  a2-ultragpu-2g us-central1 on-demand 5.89164",
        "  refused  a2-ultragpu-4g us-central1 on-demand 11.78328",
        "  refused  a2-ultragpu-8g europe-west4 on-demand 25.94681",
        "  refused  a3-highgpu-1g us-central1 on-demand 5.38327",
        "  refused  a3-highgpu-8g asia-northeast1 on-demand 45.7547",
        "  refused  a3-megagpu-8g asia-northeast1 on-demand 47.5401",
        "  refused  a3-ultragpu-8g asia-south1 on-demand 49.35922",
        "  refused  tpu-v6e-8 asia-east1 on-demand 700",
        "  refused  tpu-v6e-8 southamerica-west1 spot 700",
    ]
    assert "38 refused" in said
    assert "kept out, as in us-central1 23.56656, as in us-east4 26.54162" in said
    made, committed = desk.book.read_text(), books.path("current").read_text()
    digest = hashlib.sha256((prices() / "skypilot-catalog" / "gcp_vms.csv").read_bytes()).hexdigest()[:8]
    if f"sha256 {digest}" not in committed:
        pytest.skip("config/prices/current.csv was refreshed since from another catalogue than ../shared/prices has")
    assert made == committed


@pytest.mark.slow
@here
def test_every_wrong_price_that_is_known_of_the_catalogue_is_caught() -> None:
    """Those that ../shared/prices/README.md names, and no sound machine (the TPUs have placeholders)."""
    path = prices() / "skypilot-catalog" / "gcp_vms.csv"
    rows = catalogue.read(path.read_text(), path.name, zones=True).rows.dropna(subset="price")
    rows = rows[~rows["accelerator"].str.startswith("tpu-")]
    wrong: dict[str, set[str]] = {}
    for (machine, accelerator, _), part in rows.groupby(["machine", "accelerator", "count"]):
        judged = catalogue.judge(part.groupby("region")["price"].median())
        for region in judged.index[judged["fault"] != ""]:
            wrong.setdefault(machine + accelerator, set()).add(region)
    assert set(wrong) == {"A100", "A100-80GB", "H100", "H100-MEGA", "H200"}
    assert wrong["A100-80GB"] == {"us-central1", "europe-west4", "us-east4"}
    assert {"us-central1", "us-west1", "us-west4"} <= wrong["H100"]
    assert "us-east4" not in wrong["H100"]
    assert {"asia-south1", "europe-west1", "europe-west4", "us-south1"} <= wrong["H200"]
    assert "us-central1" not in wrong["H200"]


@here
def test_every_card_of_the_catalogues_at_hand_is_in_a_book_or_left_out_with_its_reason() -> None:
    """What is left out docs/pricing.md names; Google's cards are rows of their own, whatever machine they are in."""
    there: dict[str, set[str]] = {}
    for file in (prices() / "skypilot-catalog").glob("*.csv"):
        for row in csv.DictReader(file.open(newline="")):
            if row["AcceleratorName"] and row["Price"]:
                cloud = file.stem.partition("_")[0]
                name = row["AcceleratorName"] if cloud == "gcp" else row["InstanceType"]
                there.setdefault(cloud, set()).add(re.sub(r"^(tpu-v\w+)-\d+$", r"\1", name))
    books_have: dict[str, set[str]] = {}
    for file in books.every():
        for row in book.read([file]):
            books_have.setdefault(row["provider"], set()).add(re.sub(r"^(tpu-v\w+)-\d+$", r"\1", row["item"]))
    google = refresh_prices.read_wanted(books.FOLDER / "catalogue.yaml")["gce"]
    books_have["gcp"] = books_have["gce"] | {*google["accelerators"].values()}
    books_have["gcp"] |= {card for cards in google["built_in"].values() for card in cards}
    left_out = {cloud: names - books_have[cloud] for cloud, names in there.items()}
    assert left_out == {
        "aws": set(),
        "gcp": {"B200", "P4"},
        "lambda": {"gpu_2x_a100", "gpu_4x_a100", "gpu_8x_v100_n"},
        "paperspace": set(),
        "vast": set(),
    }


@here
def test_listed_prices_are_those_of_the_lists() -> None:
    lists = {
        "gce": ("other/gce_prices_us-central1_k8s-autoscaler-2026-06-23.csv", "name", "on_demand_usd_per_h"),
        "aws": ("other/aws_on-demand_us-east-1_karpenter-2026-07-20.csv", "InstanceType", "on_demand_usd_per_h"),
        "vast": ("skypilot-catalog/vast_vms.csv", "InstanceType", "Price"),
    }
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for provider, (name, key, rate) in lists.items():
        with (prices() / name).open(newline="") as file:
            for row in csv.DictReader(file):
                rates.setdefault((provider, row[key]), {})[row.get("Region", "")] = float(row[rate])
    listed = book.read([books.path("listed")])
    assert len(listed) == 79
    for row in listed:
        regions = rates[row["provider"], row["item"]]
        assert row["rate"] == regions.get(row["region"]) or regions == {"": row["rate"]}, row["item"]
        file = prices() / lists[row["provider"]][0]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
        assert file.name.endswith(f"{row['as_of']}.csv") or f"{file.name}, sha256 {digest}" in row["source"]


@pytest.mark.slow
@here
def test_prices_of_accelerators_are_those_of_the_lists() -> None:
    """Those of AWS of the generated list, all others of the SkyPilot catalogue."""
    generated = prices() / "other/aws_on-demand_us-east-1_karpenter-2026-07-20.csv"
    aws = {row["InstanceType"]: float(row["on_demand_usd_per_h"]) for row in csv.DictReader(generated.open(newline=""))}
    found: dict[tuple[str, str], set[float]] = {}
    for provider, name in (("gce", "gcp"), ("lambda", "lambda"), ("vast", "vast")):
        for row in csv.DictReader((prices() / f"skypilot-catalog/{name}_vms.csv").open(newline="")):
            item = row["InstanceType"] or row["AcceleratorName"]
            region = "" if provider == "lambda" else row["Region"]
            if row["Price"]:
                found.setdefault((provider, item + region), set()).add(float(row["Price"]))
    rows = book.read([books.path("accelerators")])
    assert {row["provider"] for row in rows} == {"aws", "gce", "lambda", "vast"}
    for row in rows:
        listed = {aws[row["item"]]} if row["provider"] == "aws" else found[row["provider"], row["item"] + row["region"]]
        assert listed == {row["rate"]}, row["item"]


@here
def test_prices_of_then_are_those_of_the_dated_list() -> None:
    with (prices() / "history/aws-gpu-on-demand-us-east-1.csv").open(newline="") as file:
        dated = {(row["item"], row["generated"]): float(row["usd_per_h"]) for row in csv.DictReader(file)}
    files = sorted(books.FOLDER.glob("aws-*.csv"))
    rows = [row for file in files for row in book.read([file])]
    assert len(files) == 7
    assert {(row["item"], row["as_of"]): row["rate"] for row in rows} == {
        key: rate for key, rate in dated.items() if not key[0].startswith("dl1")
    }


def test_catalogue_without_an_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "v8" / "gcp").mkdir(parents=True)
    table = tmp_path / "v8" / "gcp" / "vms.csv"
    os.mkfifo(table)
    with pytest.raises(errors.InputError, match=r"vms\.csv: is not a file"):
        refresh_prices.fetch(str(tmp_path), "gcp", None)
    table.unlink()
    with table.open("wb") as file:
        file.truncate(40 << 30)
    with pytest.raises(errors.InputError, match=r"has 42,949,672,960 bytes: at most 134,217,728 are read"):
        refresh_prices.fetch(str(tmp_path), "gcp", None)
    table.unlink()
    table.symlink_to("/dev/zero")
    with pytest.raises(errors.InputError, match=r"vms\.csv: is not a file"):
        refresh_prices.fetch(str(tmp_path), "gcp", None)
