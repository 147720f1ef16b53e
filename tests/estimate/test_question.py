"""Questions as people ask them, and what is said of those that cannot be asked."""

import pytest

from scripts.estimate import question, transfers, trial
from scripts.estimate.known import Known, age, months
from scripts.storage.errors import InputError
from tests.estimate.test_linear import CARD, POINT
from tests.estimate.test_points import CARDS, MODELS

FACTORS = {name: {"dense": 1.0, "moe": 1.0} for name in (*trial.QUESTIONS, *transfers.QUESTIONS)}
KNOWN = Known([POINT], CARD, CARDS["names"], MODELS, FACTORS, {"dense": 0.15, "moe": 0.4})


def ask(**given: object) -> question.Question:
    return question.ask(KNOWN, **({"tokens": 2e9, "model": "Llama 3 8B"} | given))


@pytest.mark.parametrize("name", ["Llama 3 8B", "llama-3-8b", "LLAMA3_8B", "Llama3.1-8B"])
def test_a_model_is_found_by_what_people_and_tables_call_it(name: str) -> None:
    assert ask(model=name).model == "Llama 3 8B"


@pytest.mark.parametrize(
    "name", ["A100 80 GB", "a100-80gb", "A100 SXM 80GB", "NVIDIA A100-SXM4-80GB", "A100-80GB-SXM4"]
)
def test_a_card_is_found_by_what_people_and_offers_call_it(name: str) -> None:
    assert KNOWN.card("--on", name) == "A100 80 GB"


def test_a_model_by_its_numbers_has_the_work_of_its_numbers() -> None:
    """6 x 13 and 6 x 40 layers x 4096 tokens x 5120: 78 + 5.03 GFLOP a token."""
    asked = ask(model="", billion=13, layers=40, width=5120)
    assert asked.on("H100").gflop == pytest.approx(83.03, abs=0.01)
    assert asked.model == "13B"
    assert not any("layers" in line for line in asked.assumed)


def test_layers_and_width_that_nobody_said_are_those_of_the_nearest_model_and_that_is_said() -> None:
    asked = ask(model="", billion=8)
    assert (asked.layers, asked.width) == (32, 4096)
    assert "layers and width: 32 and 4096, as of Llama 3 8B" in asked.assumed


def test_fewer_active_parameters_are_a_mixture_of_experts() -> None:
    asked = ask(model="", billion=30, active=3)
    assert (asked.kind, asked.active_billion, asked.total_billion) == ("moe", 3, 30)


@pytest.mark.parametrize(
    ("said", "known"), [("NeMo", "Megatron-Bridge"), ("llm-foundry", "llm-foundry"), ("fsdp", "other"), ("", "other")]
)
def test_software_that_no_table_holds_is_one_of_its_own_and_that_is_said(said: str, known: str) -> None:
    asked = ask(software=said)
    assert (asked.software, asked.is_named) == (known, bool(said))
    assert any(line.startswith("software") for line in asked.assumed) == (known == "other")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"model": "Lama 3 8B"}, "--model: 'Lama 3 8B' is unknown: did you mean Llama 3 8B"),
        ({"model": "8B"}, "did you mean Llama 3 8B"),
        ({"model": "Nemotron"}, "of any other say --billion, --layers and --width"),
        ({"model": ""}, "--model NAME or --billion PARAMETERS must be given"),
        ({"billion": 8}, "and not both"),
        ({"active": 8}, "--active, --layers, --width and --kind go with --billion"),
        ({"tokens": -1}, "--tokens: -1 must be tokens of the whole training, more than 0"),
        ({"tokens": float("nan")}, "--tokens: nan must be"),
        ({"tokens": float("inf")}, "--tokens: inf must be"),
        ({"tokens": 1e30}, "--tokens: 1e+30 must be at most 1e+15"),
        ({"length": 0}, "--length: 0 must be tokens of a sequence, more than 0"),
        ({"length": 10_000_000}, "--length: 1e+07: tables hold sequences of"),
        ({"precision": "fp16"}, "--precision: 'fp16' is unknown: it is one of bf16, fp8, mxfp8, nvfp4"),
        ({"task": "rlhf"}, "--task: 'rlhf' is unknown"),
        ({"task": "qlora", "precision": "fp8"}, "--precision: fp8: qlora keeps weights in 4 bits and computes in bf16"),
        ({"model": "", "billion": -8}, "--billion: -8 must be billions of parameters, more than 0"),
        ({"model": "", "billion": 8000}, "tables hold models of 0.125 to 405.85 billion parameters"),
        ({"model": "", "billion": 8, "layers": -1}, "--layers: -1 must be a whole number"),
        ({"model": "", "billion": 30, "kind": "moe"}, "--active: must be given of a mixture of experts"),
        ({"model": "", "billion": 3, "active": 30}, "--active: 30 is more than all of --billion 3"),
        ({"model": "", "billion": 8, "kind": "hybrid"}, "hybrid (Mamba)"),
    ],
)
def test_what_cannot_be_asked_is_one_line(given: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as error:
        ask(**given)
    assert says in str(error.value)


def test_a_rate_is_of_a_card_and_of_the_precision_asked_for_or_another() -> None:
    point = question.measured(KNOWN, ask(), "--on", "h100=10400")
    assert (point.card, point.precision, point.rate) == ("H100", "bf16", 10400)
    assert question.measured(KNOWN, ask(), "--on", "H100:fp8=15000").precision == "fp8"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("H100", "--on: 'H100': must be CARD=RATE"),
        ("H100=10400tok/s", "--on: '10400tok/s' is no number: tokens a second and card, without a unit"),
        ("H100=nan", "--on: nan must be tokens a second and card, more than 0"),
        ("H100=-5", "--on: -5 must be"),
        ("A100=10", "--on: 'A100' is unknown: did you mean A100 40 GB or A100 80 GB"),
        ("V100=1000", "--on: V100 has no bf16: its data sheet has fp16"),
        ("A100 80 GB:fp8=1000", "A100 80 GB has no fp8"),
        ("H100:int8=1000", "--on: 'int8' is unknown"),
    ],
)
def test_a_rate_that_cannot_be_is_one_line(given: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        question.measured(KNOWN, ask(), "--on", given)
    assert says in str(error.value)


def test_a_rate_above_the_peak_is_refused_with_both_figures() -> None:
    """Llama 3 8B at 4096 tokens is 48.18 + 3.22 = 51.40 GFLOP a token; 83,200 of them a second are 4,277 TFLOP/s."""
    with pytest.raises(InputError, match=r"83200 tokens a second are 4,277 TFLOP/s of Llama 3 8B, and H100 has 989"):
        question.measured(KNOWN, ask(), "--on", "H100=83200")


def test_ages_are_in_words() -> None:
    from datetime import date

    today = date(2026, 11, 25)
    assert [age(one, today) for one in ("2026-11-24", "2026-11-09", "2026-11", "2026-08", "2024-04-22")] == [
        "1 day old", "16 days old", "a month old at most", "4 months old", "2.6 years old",
    ]  # fmt: skip
    assert months("2025-11-25", today) == pytest.approx(12, abs=0.02)
