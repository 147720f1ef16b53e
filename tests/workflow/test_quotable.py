"""The page of a published study leads to the machines that the front door has, and to no others."""

import pytest
import yaml

from scripts.estimate import classic
from scripts.importers import facts
from scripts.storage import tables
from scripts.studies import definition
from scripts.workflow import estimates, quotable
from tests.conftest import ROOT

PUBLISHED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["published"]


@pytest.fixture(scope="module")
def nets() -> dict:
    return definition.read(quotable.NETS, {})[1]


@pytest.fixture(scope="module")
def forms(nets: dict) -> tuple[set[str], set[str]]:
    """The machines of classic nets, and the cards."""
    rates = classic.rates(tables.records(facts.read(ROOT / nets["import"]["facts"])))
    return {card for _, _, card in rates}, {*estimates.known().cards}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_every_link_names_what_the_forms_of_the_front_door_have(
    name: str, nets: dict, forms: tuple[set[str], set[str]]
) -> None:
    machines, cards = forms
    for machine, about in quotable.machines(definition.read(name, {})[1], nets).items():
        assert about["net"] in {"", *machines}, machine
        assert about["card"] in {"", *cards}, machine


@pytest.mark.parametrize(
    ("name", "machine", "net", "card"),
    [
        ("mlperf", "h100", "h100-80gb-sxm5-x8", "H100"),
        ("mlperf", "h200", "h200-140gb-sxm-x8", "H200"),
        ("mlperf", "tpu-v2", "", ""),
        ("gpu-providers-2018", "aws-v100", "v100-16gb", ""),
        ("gpu-providers-2018", "aws-k80", "", ""),
        ("language-models", "b200-x64", "", "B200"),
        ("speedruns", "h100-x8", "h100-80gb-sxm5-x8", "H100"),
        ("fine-tuning-a10g", "a10g-x4", "", "A10G"),
        ("two-cores", "cpu2", "", ""),
        ("lambda-gpus", "rtx-3090-x2", "rtx-3090-x2", ""),
    ],
)
def test_machines_are_found_by_what_they_are_rented_as(
    name: str, machine: str, net: str, card: str, nets: dict
) -> None:
    about = quotable.machines(definition.read(name, {})[1], nets)[machine]
    assert (about["net"], about["card"]) == (net, card)


@pytest.mark.parametrize(
    ("name", "like"), [("lambda-gpus", "resnet50"), ("batch-size", "resnet50"), ("language-models", ""), ("mlperf", "")]
)
def test_a_study_of_such_nets_leads_to_the_first_of_them(name: str, like: str, nets: dict) -> None:
    found = quotable.machines(definition.read(name, {})[1], nets)
    assert {next(iter(about["nets"]), "") for about in found.values()} == {like}
