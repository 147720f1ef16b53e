"""Machines that no list names: a refresh takes those whose rows say how many of which card they have.

tests/costs/gpuhunt/cards/ was written by gpuhunt 0.1.34 (its `CatalogItem`, its `storage.dump`): names and columns are
as its providers write them, prices are made up.
"""

import csv
import io
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest

from scripts import refresh_prices
from scripts.costs import book, books, card_history, card_names, cards, catalogue, offers, terms
from tests.conftest import ROOT

WRITTEN = ROOT / "tests" / "costs" / "gpuhunt" / "cards"
PROVIDERS = sorted(path.stem for path in WRITTEN.glob("*.csv"))

#: A provider that has a card in one form alone.
FORMS = {"verda": "\n  forms: {A100: SXM, H100: SXM}"}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[str]:
    """The address of a server on this machine, laid out as gpuhunt's bucket."""
    for provider in PROVIDERS:
        place = tmp_path / "served" / "v3" / provider / "20261118-7"
        place.mkdir(parents=True)
        (place.parent / "version").write_text("20261118-7\n")
        with zipfile.ZipFile(place / "catalog.zip", "w") as archive:
            archive.write(WRITTEN / f"{provider}.csv", f"{provider}.csv")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "served")) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v3"
        server.shutdown()


def refresh(folder: Path, host: str, providers: list[str], *, ends_with: int = 0) -> str:
    """Refresh a book in the folder of these providers, each by its cards alone; return what was said."""
    wanted = folder / "catalogue.yaml"
    wanted.write_text("".join(f'{one}:\n  gpuhunt: {one}\n  cards: "*"{FORMS.get(one, "")}\n' for one in providers))
    options = ["--gpuhunt", host, "--catalogue", str(folder), "--wanted", str(wanted)]
    return run(folder, *options, ends_with=ends_with)


def run(folder: Path, *options: str, ends_with: int = 0) -> str:
    words = ["refresh_prices", "--book", str(folder / "now.csv"), *options]
    said = io.StringIO()
    with patch.object(sys, "argv", words), redirect_stdout(said):
        assert refresh_prices.main() == ends_with
    return said.getvalue()


def rates(folder: Path) -> dict[str, str]:
    with (folder / "now.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {f"{row['provider']} {row['item']} {row['purchase']}": row["rate"] for row in rows}


#: By hand, from the written tables.
HAVE = {
    "aws 4x L40S (g6e.12xlarge) on-demand": "10.49264",
    "aws 4x L40S (g6e.12xlarge) spot": "4.2",
    "aws 8x B200 (p6-b200.48xlarge) on-demand": "113.9328",
    "aws 8x B200 (p6-b200.48xlarge) spot": "41.5",
    "azure 2x H100 NVL (Standard_NC80adis_H100_v5) on-demand": "13.96",
    "azure 8x H200 SXM (Standard_ND96isr_H200_v5) on-demand": "97.52",
    "azure 8x H200 SXM (Standard_ND96isr_H200_v5) spot": "31.2",
    "cloudrift 1x RTX 5090 (rtx59-16c-nr.1) on-demand": "0.65",
    "cloudrift 1x RTX PRO 6000 (rtxpro-16c.1) on-demand": "1.15",
    "cloudrift 2x RTX 4090 (rtx49-7c-kn.2) on-demand": "0.78",
    "crusoe 4x GB200 (gb200-186gb-nvl-ib.4x) on-demand": "42",
    "crusoe 4x L40S (l40s-48gb.4x) on-demand": "4",
    "crusoe 8x H100 SXM (h100-80gb-sxm-ib.8x) on-demand": "31.2",
    "daytona 1x B300 (gpu-B300-1) on-demand": "7.5",
    "digitalocean 1x L40S (gpu-l40sx1-48gb) on-demand": "1.57",
    "digitalocean 8x H200 SXM (gpu-h200x8-1128gb) on-demand": "27.52",
    "jarvislabs 1x RTX PRO 6000 (RTXPRO6000-1x) on-demand": "2.19",
    "jarvislabs 8x H200 SXM (H200-8x) on-demand": "36.72",
    "lambdalabs 1x H100 PCIe (gpu_1x_h100_pcie) on-demand": "3.29",
    "lambdalabs 8x B200 (gpu_8x_b200_sxm6) on-demand": "53.52",
    "lambdalabs 8x H100 SXM (gpu_8x_h100_sxm5) on-demand": "31.92",
    "nebius 1x L40S (gpu-l40s-a 1gpu-8vcpu-32gb) on-demand": "1.5484",
    "nebius 8x B200 (gpu-b200-sxm 8gpu-160vcpu-1792gb) on-demand": "44",
    "nebius 8x B300 (gpu-b300-sxm 8gpu-192vcpu-2768gb) on-demand": "48.8",
    "nebius 8x H100 SXM (gpu-h100-sxm 8gpu-128vcpu-1600gb) on-demand": "23.6",
    "nebius 8x H100 SXM (gpu-h100-sxm 8gpu-128vcpu-1600gb) spot": "10",
    "nebius 8x H200 SXM (gpu-h200-sxm 8gpu-128vcpu-1600gb) on-demand": "28",
    "oci 4x GB200 (BM.GPU.GB200.4) on-demand": "64",
    "oci 4x GB300 (BM.GPU.GB300.4) on-demand": "72",
    "oci 8x B200 (BM.GPU.B200.8) on-demand": "112",
    "oci 8x V100 16GB (BM.GPU3.8) on-demand": "23.6",
    "seeweb 1x L40S (ECS1GPU7) on-demand": "0.85",
    "seeweb 4x H200 SXM (ECS4GPU10) on-demand": "10.4",
    "verda 1x A100 SXM 80GB (1A100.22V) on-demand": "1.29",
    "verda 1x H100 SXM (1H100.80S.32V) on-demand": "2.29",
    "verda 1x H100 SXM (1H100.80S.32V) spot": "0.8015",
    "verda 1x V100 16GB (1V100.6V) on-demand": "0.1381",
    "verda 4x B300 (4B300.120V) on-demand": "27.96",
    "verda 8x B200 (8B200.240V) on-demand": "39.12",
    "verda 8x B200 (8B200.240V) spot": "13.69",
    "vultr 1x GH200 (vbm-72c-480gb-gh200-gpu) on-demand": "1.99",
    "vultr 8x B200 (vcg-b200-248c-2826g-1536vram) on-demand": "23.92",
}

LEFT_OUT = [
    "1: A100 may be A100 PCIe 40GB or A100 SXM 40GB (p4d.24xlarge)",
    "1: L4 is no card of config/cards.yaml (g6f.large)",
    "1: H100 may be H100 NVL or H100 PCIe or H100 SXM (BM.GPU.H100.8)",
    "1: it is sold as oci-spot (VM.GPU3.1)",
    "1: it is sold as hotaisle-bm (bm-mi300x-8)",
    "1: MI300X is no card of config/cards.yaml (vm-mi300x-1)",
    "1: v6e-8 is no card of config/cards.yaml (v6e-8)",
]


@pytest.mark.slow
def test_machines_of_fifteen_providers_are_named_by_what_their_rows_say(tmp_path: Path, host: str) -> None:
    said = refresh(tmp_path, host, PROVIDERS)
    assert rates(tmp_path) == HAVE
    assert len({row.partition(" ")[0] for row in HAVE}) == 13, "Google's rows are no use, Hot Aisle's are AMD's"
    assert len(PROVIDERS) == 15
    for line in LEFT_OUT:
        assert f"  left out  {line}\n" in said
    assert refresh(tmp_path, host, PROVIDERS).count("  new") == 0, "the same again is confirmed"


@pytest.mark.slow
def test_offers_of_a_refreshed_book_are_priced_as_others(tmp_path: Path, host: str) -> None:
    refresh(tmp_path, host, PROVIDERS)
    rows = book.read([tmp_path / "now.csv"])
    asked = {offer.provider: offer.usd_per_hour for offer in cards.for_cards(cards.offers(rows, "B200"), 8)}
    assert asked == {"aws": 14.2416, "lambdalabs": 6.69, "nebius": 5.5, "oci": 14, "verda": 4.89, "vultr": 2.99}
    assert cards.called("prices card", "GB300", cards.known(rows)) == ["GB300"]
    (day,) = card_history.days(cards.offers(rows, "GB300"))
    assert (day.as_of, day.lowest.provider, day.lowest.usd_per_hour) == ("2026-11-18", "oci", 18)


#: A row of a machine with cards of each file of SkyPilot's catalogue: names as they stand there, prices are made up.
SKYPILOT = {
    "gcp": "tpu-v6e-8,tpu-v6e-8,1,,21.6,us-central1,us-central1-a",
    "aws": "p6-b300.48xlarge,B300,8,,142,us-east-1,use1-az1",
    "lambda": "gpu_8x_b300_sxm6,B300,8,,55,us-east-1,",
    "paperspace": "H100,H100,1,H100,5.95,East Coast (NY2),",
    "verda": "8B200.240V,B200,8,MiB': 184320,39.12,FIN-03,",
    "oci": "BM.GPU.GB300.4,GB300,4,MiB': 284672,72,us-ashburn-1,US-ASHBURN-1-AD-1",
    "hyperstack": "n3-H100-SXM5x8,H100-80G-SXM5,8,SizeInMiB': 81920,19.2,US-1,",
    "cudo": "sapphire-rapids-h100_8x96v192gb,H100-SXM,8,SizeInMiB': 81920,15.5,no-kristiansand-1,",
    "jarvislabs": "8x_H200_224V_2400G,H200,8,SizeInMiB': 144384,36.72,IN2,",
    "seeweb": "ECS4GPU7,L40S,8,SizeInMiB': 49152,6.8,it-fr2,",
    "do": "gpu-h200x8-1128gb,H200,8,SizeInMiB': 144384,27.52,nyc2,",
    "yotta": "8x112v952g_NVIDIA_GeForce_RTX_5090_32G_SECURE,RTX5090,8,SizeInMiB': 32607,5.2,us-east-2,",
    "runpod": "8x_B200_SECURE,B200,8,SizeInMiB': 180,43.9,US,US-KS-1",
}


@pytest.mark.slow
def test_the_projects_own_list_has_sixteen_providers(tmp_path: Path, host: str) -> None:
    header = "InstanceType,AcceleratorName,AcceleratorCount,GpuInfo,Price,Region,AvailabilityZone,SpotPrice\n"
    for cloud, row in SKYPILOT.items():
        (tmp_path / "served" / cloud).mkdir()
        (tmp_path / "served" / cloud / "vms.csv").write_text(f"{header}{row},\n")
    at = host.removesuffix("/v3")
    said = run(tmp_path, "--gpuhunt", host, "--catalogue", at, "--as-of", "2026-11-20")
    assert "not refreshed" not in said
    has = {row.partition(" ")[0] for row in rates(tmp_path)}
    assert len(has) == 15
    assert has == {*wanted()} - {"gce"}, "Google's machines are listed"
    assert rates(tmp_path)["oci 4x GB300 (BM.GPU.GB300.4) on-demand"] == "72"
    assert "not compared" not in said, "Verda and Oracle are in both"


def wanted() -> dict:
    return refresh_prices.read_wanted(books.FOLDER / "catalogue.yaml")


def test_each_provider_of_the_list_has_a_billing_rule() -> None:
    rows = [
        {"provider": one, "item": "8x B200 (it)", "region": "", "purchase": "on-demand", "per": "hour"}
        | {"currency": "USD", "rate": 8.0, "as_of": "2026-11-18"}
        for one in wanted()
    ]
    found = offers.newest(rows, cards.named_by_cards(rows), terms.read_terms())
    assert [row["provider"] for row in found] == list(wanted())


def test_what_falls_out_of_a_catalogue_is_gone_and_half_of_it_is_not_believed(tmp_path: Path, host: str) -> None:
    refresh(tmp_path, host, ["verda"])
    before = (tmp_path / "now.csv").read_text()
    rows = (WRITTEN / "verda.csv").read_text().splitlines(keepends=True)
    gone = "gone     1x V100 16GB (1V100.6V) on-demand: is not offered any more"
    lost = "verda.csv: 5 of the book's 7 prices are not in it; all 7 prices kept from the last book"
    for lines, says, code in (
        ([one for one in rows if "V100" not in one], gone, 0),
        (rows[:3] + rows[-1:], lost, 1),
    ):
        (tmp_path / "now.csv").write_text(before)
        with zipfile.ZipFile(tmp_path / "served" / "v3" / "verda" / "20261118-7" / "catalog.zip", "w") as archive:
            archive.writestr("verda.csv", "".join(lines))
        assert says in refresh(tmp_path, host, ["verda"], ends_with=code)


@pytest.mark.parametrize(
    ("name", "told", "memory", "machine", "is_card", "why"),
    [
        ("A100-80GB", "A100 PCIe", None, "1x_A100-80GB_SECURE", "A100 PCIe 80GB", ""),
        ("H100", "NVIDIA-H100-80GB-HBM3", 79.6, "1x-H100-75-722", "H100 SXM", ""),
        ("H100-SXM", "", 80, "sapphire-rapids-h100_1x2v4gb", "H100 SXM", ""),
        ("A100", "", 80, "intel-ice-lake-a100-pci_1x2v4gb", "A100 PCIe 80GB", ""),
        ("RTX PRO 6000 96GB", "", None, "ECS1GPU12", "RTX PRO 6000", ""),
        ("V100-32GB", "", None, "V1", "V100 32GB", ""),
        ("V100", "", None, "V1", "", "V100 may be V100 16GB or V100 32GB"),
        ("A100", "", None, "gpu-a100-sxm", "", "A100 may be A100 SXM 40GB or A100 SXM 80GB"),
        ("H200NVL", "", 141, "x", "", "H200NVL as NVL is no card of config/cards.yaml"),
        ("H100-80G-PCIe-NVLink", "", 80, "x", "", "H100-80G-PCIe-NVLink is no card of config/cards.yaml"),
        ("RTXPRO6000", "", 24, "g4-standard-12", "", "RTXPRO6000 with 24 GB is no whole card of config/cards.yaml"),
        ("H100NVL", "", 12, "x", "", "H100NVL with 12 GB is no whole card of config/cards.yaml"),
        ("B300", "", 268, "1B300.30V", "B300", ""),
    ],
)
def test_a_card_is_what_a_row_says_and_never_a_guess(
    name: str, told: str, memory: float | None, machine: str, is_card: str, why: str
) -> None:
    assert card_names.card_of(name, told, memory, machine, {}) == (is_card, why)


def test_a_part_of_a_card_and_a_host_of_strangers_are_left_out() -> None:
    text = """\
InstanceType,AcceleratorName,AcceleratorCount,GpuInfo,Price,Region,SpotPrice
4x_L40S_SECURE,L40S,4.0,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 49152}}]}",4,any,
half_SECURE,L40S,0.5,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 49152}}]}",0.5,any,
1x_L40S_COMMUNITY,L40S,1.0,"{'Gpus': [{'Name': 'L40S', 'MemoryInfo': {'SizeInMiB': 49152}}]}",0.7,any,
"""
    named, left_out = card_names.named(catalogue.read(text, "vms.csv", zones=False), {"cards": "*_SECURE"})
    assert named == {"4x L40S (4x_L40S_SECURE)": "4x_L40S_SECURE"}
    assert left_out == {
        "it has a part of a card": ["half_SECURE"],
        "its name is not like *_SECURE": ["1x_L40S_COMMUNITY"],
    }


def test_a_price_of_one_card_is_not_that_of_eight() -> None:
    header = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,SpotPrice\n"
    text = f"{header}one,B200,1.0,5,any,\nfour,B200,4.0,20,any,\neight,B200,8.0,5,any,\nalone,L40S,8.0,1,any,\n"
    table = catalogue.read(text, "vms.csv", zones=False)
    wanted = {"cards": "*"} | {"named": card_names.named(table, {"cards": "*"})[0]}
    faults = {row["item"]: row["fault"] for row in catalogue.offers(table, wanted).to_dict("records")}
    assert faults == {
        "1x B200 (one)": "",
        "4x B200 (four)": "",
        "8x B200 (eight)": "0.625 a card-hour is more than 5 times from the 5 that 2 other machines ask in the middle",
        "8x L40S (alone)": "",
    }
