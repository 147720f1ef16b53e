"""gpuhunt's catalogue; tests/costs/gpuhunt/ was written by gpuhunt 0.1.34 itself (its models, its `storage.dump`)."""

import io
import zipfile
from pathlib import Path

import pytest

from scripts.costs import catalogue, gpuhunt
from scripts.storage.errors import InputError

WRITTEN = Path(__file__).parent / "gpuhunt"
WANTED = {
    "regions": ["east"],
    "machines": ["n1"],
    "accelerators": {"nvidia-t4": "T4"},
    "built_in": {"a2": {"A100": 1}},
    "everywhere": ["a2", "nvidia-t4"],
}
NEBIUS = "gpu-h100-sxm 8gpu-128vcpu-1600gb"


def text(provider: str, *edits: tuple[str, str]) -> str:
    """Return a written table; each edit replaces text that must be in it, once."""
    found = (WRITTEN / f"{provider}.csv").read_bytes().decode()
    for old, new in edits:
        assert old in found
        found = found.replace(old, new, 1)
    return found


def offers(provider: str, wanted: dict, *edits: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """Return 'item region purchase' -> (rate, fault)."""
    read = gpuhunt.read(text(provider, *edits), f"{provider}.csv")
    frame = catalogue.offers(read, gpuhunt.whole(wanted))
    return {
        f"{row['item']} {row['region']} {row['purchase']}": (row["rate"], row["fault"])
        for row in frame.to_dict("records")
    }


def test_machines_are_whole_and_their_zones_are_of_a_region() -> None:
    assert offers("gcp", WANTED) == {
        "n1 east on-demand": ("0.1", ""),
        "n1 east spot": ("0.06", ""),
        "a2 east on-demand": ("4", ""),
        "a2 east spot": ("2", ""),
        "a2 west on-demand": ("4.2", ""),
    }


def test_cards_that_are_added_to_a_machine_are_another_one() -> None:
    wanted = {"regions": ["east"], "machines": ["n1 + 1 x T4", "n1 + 2 x T4"]}
    assert offers("gcp", wanted) == {
        "n1 + 1 x T4 east on-demand": ("0.45", ""),
        "n1 + 2 x T4 east on-demand": ("0.8", ""),
    }


def test_what_is_sold_in_a_way_of_its_own_is_no_price_on_demand() -> None:
    """a2 stands at 1.5 with a flag, as a reservation."""
    assert "1.5" in text("gcp")
    assert offers("gcp", WANTED)["a2 east on-demand"] == ("4", "")
    assert gpuhunt.read(text("gcp"), "gcp.csv").broken == ""
    unflagged = [("gcp-dws-calendar-mode", "")]
    rate, fault = offers("gcp", WANTED, *unflagged)["a2 east on-demand"]
    assert (rate, "is not what line" in fault) == ("", True)


def test_a_price_below_its_spot_and_one_of_a_tenth_are_refused() -> None:
    wanted = {"regions": ["eu-north1", "eu-west1"], "machines": [NEBIUS]}
    assert offers("nebius", wanted)[f"{NEBIUS} eu-west1 on-demand"] == ("23.6", "")
    found = offers("nebius", wanted, ("10.0,", "25.0,"))
    assert found[f"{NEBIUS} eu-north1 spot"][1].startswith("is above the on-demand price: 25 > 23.6")
    row = next(line for line in text("nebius").splitlines() if "eu-west1" in line)
    third = f"{row}\r\n{row.replace('eu-west1', 'us-east1')}"
    found = offers("nebius", wanted, (row, third), ("eu-north1,23.6", "eu-north1,2.36"))
    assert found[f"{NEBIUS} eu-north1 on-demand"] == (
        "2.36",
        "2.36 is less than 0.6 of the 23.6 or more that 2 regions ask",
    )


def test_a_bad_row_spoils_only_itself() -> None:
    wanted = {"regions": ["eu-north1", "eu-west1"], "machines": [NEBIUS]}
    found = offers("nebius", wanted, ("23.6", "much"))
    assert found[f"{NEBIUS} eu-north1 on-demand"] == ("", "nebius.csv:2: Price 'much' is not a number above 0")
    assert found[f"{NEBIUS} eu-west1 on-demand"] == ("23.6", "")
    read = gpuhunt.read(text("nebius", ("False", "perhaps")), "nebius.csv")
    assert read.broken == "nebius.csv:2: is not a row of this table; 1 such"


def test_no_such_table() -> None:
    with pytest.raises(InputError, match=r"nebius\.csv:1: column price is missing"):
        gpuhunt.read(text("nebius", ("price", "cost")), "nebius.csv")


@pytest.mark.parametrize(
    ("version", "day"), [("20260818-42", "2026-08-18"), ("20240310", "2024-03-10"), ("20260818-7", "2026-08-18")]
)
def test_a_version_is_its_day(version: str, day: str) -> None:
    assert gpuhunt.day(version) == day


@pytest.mark.parametrize(
    "version",
    [
        "２０２６０８１８",
        f"20260818-{'9' * 5000}",
        "",
        "latest",
        "20261318-1",
        "20260818-",
        "2026-08-18",
        "20260818-42/../x",
    ],
)
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(InputError, match="is no version of its catalogue"):
        gpuhunt.day(version)


def test_of_one_day_the_last_run_is_the_newest() -> None:
    assert gpuhunt.newest(["20260818-9", "20260818-10", "20260731-99"]) == "20260818-10"


def packed(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def test_the_table_is_in_its_archive() -> None:
    assert gpuhunt.unpacked(packed("aws.csv", b"a,b\n"), "catalog.zip", "aws") == "a,b\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>", "catalog.zip: cannot be unpacked: File is not a zip file"),
        (packed("gcp.csv", b""), "catalog.zip: has no aws.csv"),
        (packed("aws.csv", b"a,b\n")[14:], "catalog.zip: cannot be unpacked: negative seek value -14"),
        (packed("aws.csv", b"\xff"), "catalog.zip: cannot be unpacked: 'utf-8' codec"),
    ],
)
def test_a_broken_archive_is_a_line(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gpuhunt.unpacked(content, "catalog.zip", "aws")


def test_a_table_without_end_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_BYTES", 3)
    with pytest.raises(InputError, match=r"catalog\.zip: aws\.csv holds 4 bytes, more than any table does \(3\)"):
        gpuhunt.unpacked(packed("aws.csv", b"a,b\n"), "catalog.zip", "aws")


def test_a_version_of_tomorrow_is_refused() -> None:
    with pytest.raises(InputError, match="gpuhunt: version 99990101-1: is of a day in the future"):
        gpuhunt.day("99990101-1")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_as_no_catalogue_is_packed_is_a_line() -> None:
    """LZMA's header alone may ask for all memory, and of two tables one would be taken in silence."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("aws.csv", "a\n")
        archive.writestr("aws.csv", "b\n")
    with pytest.raises(InputError, match=r"catalog\.zip: has 2 times aws\.csv"):
        gpuhunt.unpacked(stream.getvalue(), "catalog.zip", "aws")
    for kind in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", kind) as archive:
            archive.writestr("aws.csv", "a\n")
        with pytest.raises(InputError, match=r"catalog\.zip: aws\.csv: is compressed in another way"):
            gpuhunt.unpacked(stream.getvalue(), "catalog.zip", "aws")
