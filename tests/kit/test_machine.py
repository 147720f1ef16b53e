"""What a kit says of the machine that it finds."""

from types import SimpleNamespace

import pynvml
import pytest
import yaml

from scripts.costs import hourly
from scripts.kit import machine
from scripts.storage import schemas
from scripts.studies import definition
from tests.conftest import ROOT

CATALOGUE = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
H100 = {
    "cpu_model": "Intel(R) Xeon(R) Platinum 8481C",
    "cores": 16,
    "memory_mib": 128_000,
    "gpus": [{"model": "NVIDIA H100 80GB HBM3", "memory_mib": 81559}],
    "gpu_driver": "580.159.04",
    "system": "Linux-6.18-x86_64",
}
#: Cards that somebody lends, by the names that NVIDIA's drivers give them, and their entries.
KNOWN = {
    "NVIDIA L4": "l4",
    "NVIDIA A10G": "a10g",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm-40gb",
    "NVIDIA A100-SXM4-80GB": "a100-sxm-80gb",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H100 80GB HBM3": "h100",
    "NVIDIA H200": "h200",
    "NVIDIA GH200 480GB": "gh200",
    "NVIDIA B200": "b200",
}
#: Others whose names hold one of those.
OTHERS = {"NVIDIA L40S": "l40s", "NVIDIA H200 NVL": "h200-nvl", "NVIDIA H100 NVL": "h100-nvl"}
L4 = {"model": "NVIDIA L4", "memory_mib": 23034}


@pytest.mark.parametrize(("model", "name"), [*KNOWN.items(), *OTHERS.items()])
def test_a_known_card_has_its_entry_and_another_one_a_new(model: str, name: str) -> None:
    named, about = machine.entry(CATALOGUE, H100 | {"gpus": [{"model": model, "memory_mib": 1}]})
    assert named == name
    assert (about == CATALOGUE.get(name)) == (model in KNOWN)


@pytest.mark.parametrize("name", KNOWN.values())
def test_card_has_a_price_in_the_study_of_cards(name: str) -> None:
    """From the committed books: under its default option, or under one that the page then names."""
    study = definition.read("card", {})[1]
    offered = {row["price_option"] for row in hourly.of_study(study, CATALOGUE, {name})}
    assert offered
    assert study["price"] in offered or name in {"l4", "a10g", "a100-sxm-80gb", "h200"}, (
        "which Lambda does not rent alone"
    )


@pytest.mark.parametrize(
    ("changed", "name", "claimed"),
    [
        ({"cores": 8}, "h100-80gb-hbm3", {"cores": 8, "gpus": {"model": "H100 80GB HBM3", "count": 1}}),
        ({"gpus": [L4, L4]}, "2-x-l4", {"gpus": {"model": "L4", "count": 2}}),
        ({"gpus": [], "gpu_driver": None}, "16-cores", {"cores": 16}),
        ({"gpus": [L4 | {"model": "NVIDIA GCE T4x1"}]}, "kit-gce-t4x1", {}),
    ],
)
def test_another_machine_gets_an_entry_that_it_meets(changed: dict, name: str, claimed: dict) -> None:
    found = H100 | changed
    named, about = machine.entry(CATALOGUE, found)
    assert named == name
    assert about["machine"].items() >= claimed.items()
    text = machine.entry_text(named, about, found)
    assert yaml.safe_load(text) == {named: about}
    schemas.validate(CATALOGUE | yaml.safe_load(text), "hardware", "proposed")
    again, _ = machine.entry(CATALOGUE | {named: about}, found)
    assert again == named, "the next call of the kit finds its own entry"


def test_the_entry_says_what_was_found() -> None:
    entry = machine.entry_text(*machine.entry({}, H100), H100)
    for fact in ("NVIDIA H100 80GB HBM3, 81559 MiB", "driver 580.159.04", "16 cores", "Platinum 8481C"):
        assert fact in entry.splitlines()[0]


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A made-up idle card, whose figures can be changed."""
    figures = SimpleNamespace(used=600, percent=0, processes=0)
    monkeypatch.setattr(machine, "_RELEASE_SECONDS", 0.0)
    for name, answer in {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda card: SimpleNamespace(used=figures.used * 2**20),
        "nvmlDeviceGetUtilizationRates": lambda card: SimpleNamespace(gpu=figures.percent),
        "nvmlDeviceGetComputeRunningProcesses": lambda card: [None] * figures.processes,
    }.items():
        monkeypatch.setattr(pynvml, name, answer)
    return figures


def test_an_idle_card_is_not_in_use(card: SimpleNamespace) -> None:
    assert machine.in_use() is None


@pytest.mark.parametrize("sign", [{"used": 12_000}, {"percent": 97}, {"processes": 2}])
def test_a_card_in_use_by_others_is_seen_by_memory_load_or_processes(card: SimpleNamespace, sign: dict) -> None:
    vars(card).update(sign)
    assert str(machine.in_use()).startswith("card 0 is in use by others")


def test_a_framework_that_dies_while_it_starts_is_a_line() -> None:
    assert machine._answer("jax", "", -11).problem == "ended with code -11 while it started"
    assert "no CUDA" in str(machine._answer("jax", "boom\nno CUDA\n", 1).problem)
    said = machine._answer("jax", 'noise\n{"framework": "jax", "devices": ["cuda:0"]}\n', 0)
    assert (said.problem, said.devices) == (None, ["cuda:0"])
