import os
from types import SimpleNamespace

import pynvml
import pytest

from scripts.measurement import hardware
from scripts.storage.errors import InputError

FOUND = {"cpu_model": "AMD EPYC 7B12", "cores": 8, "gpus": []}
K80 = {"model": "Tesla K80", "memory_mib": 11441}
P100 = {"model": "Tesla P100-PCIE-16GB", "memory_mib": 16280}


@pytest.mark.parametrize(
    ("claims", "gpus"),
    [
        ({"cores": 8}, []),
        ({"cores": 1}, []),
        ({"cores": 1, "cpu_model": "epyc"}, []),
        ({"cores": 1}, [K80]),
        ({"cores": 8, "gpus": {"model": "K80", "count": 1}}, [K80]),
        ({"cores": 8, "gpus": {"model": "k80", "count": 2}}, [K80, K80]),
    ],
)
def test_machine_that_is_what_it_claims_passes(claims: dict, gpus: list[dict]) -> None:
    hardware.check("mine", claims, 1, FOUND | {"gpus": gpus})


@pytest.mark.parametrize(
    ("claims", "gpus", "message"),
    [
        ({"cores": 16}, [], "hardware mine: claims 16 cores, this machine has 8"),
        ({"cores": 1, "cpu_model": "Xeon"}, [], "claims cpu_model 'Xeon', this machine has 'AMD EPYC 7B12'"),
        ({"cores": 1, "gpus": {"model": "K80", "count": 1}}, [], "claims 1 x K80, this machine has no GPU"),
        ({"cores": 1, "gpus": {"model": "K80", "count": 1}}, [P100], "claims 1 x K80, this machine has Tesla P100"),
        ({"cores": 1, "gpus": {"model": "K80", "count": 1}}, [K80, K80], "1 x K80, this machine has Tesla K80, Tesla"),
        ({"cores": 1, "gpus": {"model": "K80", "count": 1}}, [K80, P100], "1 x K80, this machine has Tesla K80, Tesla"),
        ({"cores": 1, "gpus": {"model": "K80", "count": 2}}, [K80], "claims 2 x K80, this machine has Tesla K80"),
    ],
)
def test_machine_that_is_not_what_it_claims_is_refused(claims: dict, gpus: list[dict], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hardware.check("mine", claims, 1, FOUND | {"gpus": gpus})


def no_driver() -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)


def test_machine_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    found = hardware.detect()
    assert (found["gpus"], found["gpu_driver"]) == ([], None)
    assert found["memory_mib"] > 0
    hardware.check("here", {"cores": found["cores"], "cpu_model": found["cpu_model"]}, 1, found)


def test_cards_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [SimpleNamespace(name="Tesla K80", total=11441 * 2**20), SimpleNamespace(name=b"Tesla P100", total=2**34)]
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(cards),
        "nvmlDeviceGetHandleByIndex": lambda i: cards[i],
        "nvmlDeviceGetName": lambda card: card.name,
        "nvmlDeviceGetMemoryInfo": lambda card: card,
        "nvmlSystemGetDriverVersion": lambda: b"550.1",
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    found = hardware.detect()
    assert found["gpus"] == [
        {"model": "Tesla K80", "memory_mib": 11441},
        {"model": "Tesla P100", "memory_mib": 16384},
    ]
    assert found["gpu_driver"] == "550.1"


def test_cores_are_those_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3})
    assert hardware.detect()["cores"] == 2


@pytest.mark.parametrize(
    ("claims", "what"), [({"cores": 2}, "2 cores"), ({"cores": 4, "gpus": {"model": "T4", "count": 2}}, "2 GPUs")]
)
def test_more_devices_than_the_machine_has(claims: dict, what: str) -> None:
    with pytest.raises(InputError, match=f"hardware mine: has {what}, cannot train on 3 devices"):
        hardware.check("mine", claims, 3, FOUND)
