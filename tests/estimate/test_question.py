"""Questions as people ask them, and what is said of those that cannot be asked."""

import re

import pytest

from scripts.estimate import question, transfers, trial
from scripts.estimate.known import Known, age, months
from scripts.storage.errors import InputError
from scripts.workflow import estimates
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
    ("name", "means"),
    [
        ("A100 80 GB", "A100 80 GB"),
        ("a100-80gb", "A100 80 GB"),
        ("A100-80G", "A100 80 GB"),
        ("A100 SXM 80GB", "A100 80 GB"),
        ("NVIDIA A100-SXM4-80GB", "A100 80 GB"),
        ("A100-80GB-SXM4", "A100 80 GB"),
        ("A100-SXM4-40GB", "A100 40 GB"),
        ("H100-SXM5-80GB", "H100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("h100 sxm", "H100"),
        ("L40s", "L40S"),
        ("RTX4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("RTX-4090-24GB", "RTX 4090"),
        ("GH200 480GB", "GH200"),
        ("GB200 NVL72", "GB200"),
        ("H200 141GB HBM3e", "H200"),
        ("RTX 4090 24 GB", "RTX 4090"),
        ("80GB SXM A100", "A100 80 GB"),
        ("PRO 6000 96GB", "RTX PRO 6000"),
        ("google tpu v6e", "TPU v6e"),
        ("Tesla V100-SXM2-32GB", "V100"),
    ],
)
def test_a_card_is_found_by_what_people_drivers_and_offers_call_it(name: str, means: str) -> None:
    assert KNOWN.cards_called("--on", name) == [means]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("8xH100", "'8xH100' is of 8 cards: say H100, and --cards 8"),
        ("2 x A100-80GB", "is of 2 cards: say A100 80 GB, and --cards 2"),
        ("H100x8", "is of 8 cards: say H100, and --cards 8"),
        ("v6e-8", "is of 8 cards: say TPU v6e, and --cards 8"),
        ("p5.48xlarge", "is of 8 cards: say H100, and --cards 8"),
        ("A100 80GB PCIe", "'A100 80GB PCIe': no data sheet of it is here; the nearest known is A100 80 GB"),
        ("H100 NVL", "no data sheet of it is here; the nearest known is H100"),
        ("V100-SXM2-16GB", "no data sheet of it is here; the nearest known is V100"),
        ("RTX 6000 Ada", "'RTX 6000 Ada': no data sheet of it is here: cards are V100, A10G"),
        ("RTX 6000", "did you mean RTX PRO 6000"),
        ("L4", "'L4': no data sheet of it is here: cards are V100, A10G"),
        ("MI300X", "'MI300X' is unknown: cards are V100, A10G"),
        ("H10", "did you mean H100"),
        ("", "is unknown: cards are"),
    ],
)
def test_a_card_that_is_none_here_is_one_line_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        KNOWN.card("--on", name)
    assert says in str(error.value)


def test_a_name_of_two_cards_takes_the_larger_and_says_so() -> None:
    assert KNOWN.cards_called("--on", "A100") == ["A100 80 GB", "A100 40 GB"]
    assert question.measured(KNOWN, ask(), "--on", "A100=4000").card == "A100 80 GB"
    said = ["A100: read as A100 80 GB, and not as A100 40 GB"]
    assert question.taken(KNOWN, "--on", "A100=4000") == said
    assert question.taken(KNOWN, "--on", "A100 40GB=4000") == []
    providers = {"RunPod": "runpod-secure", "RunPod, community": "runpod-community", "Lambda": "lambda"}
    assert KNOWN.left_out("--without", "runpod", providers) == ["runpod-secure", "runpod-community"]
    assert KNOWN.left_out("--without", "runpod-secure", providers) == ["runpod-secure"]
    assert KNOWN.left_out("--without", "TPU", {}) == ["TPU v5p", "TPU v6e", "TPU7x"]
    assert KNOWN.left_out("--without", "rtx", {}) == ["RTX 4090", "RTX 5090", "RTX PRO 6000"]
    assert set(KNOWN.left_out("--without", "A100", {})) == {"A100 80 GB", "A100 40 GB"}


LIMITS = [
    ({"length": 1e9}, "length", "sequences of {} to {} tokens"),
    ({"model": "", "billion": 1e9}, "billion", "token: {} to {} billion"),
    ({"model": "", "billion": 2000, "active": 1e3}, "active", "token: {} to {} billion active"),
    ({"model": "", "billion": 8, "layers": 16, "width": 2048}, "billion", "a transformer of {} to {} billion"),
    ({"model": "", "billion": 1e6, "active": 10}, "billion", "billion parameters in all: up to {} are"),
    ({"tokens": 1e16}, "tokens", "must be at most {}"),
    ({"tokens": 1.0, "length": 2048}, "tokens", "less than one sequence of {} "),
]


@pytest.mark.parametrize(("given", "name", "words"), LIMITS)
def test_a_limit_that_a_message_states_is_the_true_one(given: dict[str, float], name: str, words: str) -> None:
    """The limit itself is accepted, and a hair beyond is refused."""
    with pytest.raises(InputError) as error:
        ask(**given)
    found = re.search(re.escape(words).replace(r"\{\}", r"([\d.e+-]+)"), str(error.value))
    assert found, error.value
    low, high = (float(found[1]), float(found[2])) if found.lastindex == 2 else (None, float(found[1]))
    if "less than" in words:
        low, high = high, None
    for limit, beyond in ((low, 1 - 1e-9), (high, 1 + 1e-9)):
        if limit is not None:
            ask(**given | {name: limit})
            with pytest.raises(InputError):
                ask(**given | {name: limit * beyond})


def test_a_rate_may_be_half_a_per_cent_of_the_peak_and_the_peak() -> None:
    asked = ask()
    for share, inside, outside in ((question.LEAST_OF_PEAK, 1 + 1e-9, 1 - 1e-6), (1.0, 1 - 1e-9, 1 + 1e-6)):
        rate = share * 989 * 1000 / asked.on("H100").gflop
        question.check_rate(KNOWN, asked, "--on", "H100", "bf16", rate * inside)
        with pytest.raises(InputError):
            question.check_rate(KNOWN, asked, "--on", "H100", "bf16", rate * outside)


def test_a_step_takes_no_more_sequences_than_the_training_has() -> None:
    """A million sequences of 4,096 tokens."""
    asked = ask(tokens=4.096e6)
    question.check_steps(asked, 1000, None)
    question.check_steps(asked, 8, 1000)
    with pytest.raises(InputError, match=r"--cards: 1,001 with a sequence each take 4,100,096 tokens a step.* 1,000$"):
        question.check_steps(asked, 1001, None)
    with pytest.raises(InputError, match="--sequences: 1,001 with"):
        question.check_steps(asked, 8, 1001)


def test_a_model_by_its_numbers_has_the_work_of_its_numbers() -> None:
    """6 x 13 and 6 x 40 layers x 4096 tokens x 5120: 78 + 5.03 GFLOP a token."""
    asked = ask(model="", billion=13, layers=40, width=5120)
    assert asked.on("H100").gflop == pytest.approx(83.03, abs=0.01)
    assert asked.model == "13B"
    assert not any("layers" in line for line in asked.assumed)


def test_layers_and_width_that_nobody_said_are_those_of_the_nearest_model_and_that_is_said() -> None:
    asked = ask(model="", billion=8)
    assert (asked.layers, asked.width) == (32, 4096)
    assert "layers and width: 32 and 4096, as Llama 3 8B has" in asked.assumed


def test_fewer_active_parameters_are_a_mixture_of_experts() -> None:
    asked = ask(model="", billion=30, active=3)
    assert (asked.kind, asked.active_billion, asked.total_billion) == ("moe", 3, 30)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("NeMo", "Megatron-Bridge"),
        ("llm-foundry", "llm-foundry"),
        ("LLM Foundry", "llm-foundry"),
        ("max text", "MaxText"),
        ("fsdp", "other"),
        ("", "other"),
    ],
)
def test_software_that_no_table_holds_is_one_of_its_own_and_that_is_said(said: str, known: str) -> None:
    asked = ask(software=said)
    assert (asked.software, asked.is_named) == (known, bool(said))
    says = ("software: none was named", "software: no table holds")
    assert any(line.startswith(says) for line in asked.assumed) == (known == "other")


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
        ({"length": 10_000_000}, "--length: 1e+07: sequences of 2048 to 4096 tokens are answered for"),
        ({"precision": "fp16"}, "--precision: 'fp16' is unknown: it is one of bf16, fp8, mxfp8, nvfp4"),
        ({"task": "rlhf"}, "--task: 'rlhf' is unknown"),
        ({"task": "qlora", "precision": "fp8"}, "--precision: fp8: qlora keeps weights in 4 bits and computes in bf16"),
        ({"model": "", "billion": -8}, "--billion: -8 must be billions of parameters, more than 0"),
        ({"model": "", "billion": 8000}, "--billion: 8000 billion parameters a token: 0.0625 to 811.7 billion"),
        ({"model": "", "billion": 8, "layers": -1}, "--layers: -1 must be a whole number from 3 to 252"),
        ({"model": "", "billion": 8, "layers": 0}, "--layers: 0 must be a whole number from 3 to 252"),
        ({"model": "", "billion": 8, "layers": 32.5}, "--layers: 32.5 must be a whole number"),
        (
            {"model": "", "billion": 8, "width": 99999999},
            "--width: 99,999,999 must be a whole number from 384 to 40,960",
        ),
        ({"model": "", "billion": 30, "active": 3, "width": 1e9}, "--width: 1,000,000,000 must be a whole number"),
        (
            {"model": "", "billion": 8, "layers": 3},
            "--layers: 3 layers of width 4,096 (--width is taken from Llama 3 8B) are a transformer of 0.151 to 4.83 "
            "billion parameters, and --billion is 8",
        ),
        ({"model": "", "billion": 8, "width": 40960}, "--width: 32 layers of width 40,960 (--layers is taken from"),
        ({"model": "", "billion": 3e6, "active": 3}, "--billion: 3,000,000 billion parameters in all: up to 2080 are"),
        (
            {"model": "", "billion": 30, "active": 3, "layers": 200, "width": 8000},
            "--layers, --width: 200 layers of width 8,000 are a transformer of 9.6 to 1230 billion active parameters, "
            "and --active is 3",
        ),
        ({"model": "", "billion": 30, "kind": "moe"}, "--active: must be given of a mixture of experts"),
        ({"model": "", "billion": 3, "active": 30}, "--active: 30 is more than all of --billion 3"),
        ({"model": "", "billion": 8, "kind": "hybrid"}, "hybrid (Mamba)"),
    ],
)
def test_what_cannot_be_asked_is_one_line(given: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as error:
        ask(**given)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("2e9", 1, 2e9),
        ("2,000,000,000", 1, 2e9),
        ("2_000_000_000", 1, 2e9),
        ("2B", 1, 2e9),
        ("2b", 1, 2e9),
        ("2 billion", 1, 2e9),
        ("1.5 T", 1, 1.5e12),
        ("7B", 1e9, 7),
        ("500M", 1e9, 0.5),
        ("7", 1e9, 7),
        (".5k", 1, 500),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, unit: float, number: float) -> None:
    assert question.number_of("--tokens", text, unit) == number


@pytest.mark.parametrize("text", ["1,5", "2G", "2 apples", "", "B", "1e999", "0x10", "1,00,000", "nan", "2e"])
def test_what_is_no_number_is_one_line(text: str) -> None:
    with pytest.raises(InputError, match=r"--tokens: .* is no number: as 2e9, or 2B"):
        question.number_of("--tokens", text)


def test_a_k_of_a_sequence_is_1024() -> None:
    lengths = {"4k": 4096, "128K": 131072, "8 k": 8192, "0.5k": 512, "8192": 8192, "8,192": 8192}
    assert {text: question.length_of("--length", text) for text in lengths} == lengths
    with pytest.raises(InputError, match="--length: '4q' is no number: as 8192, or 8k"):
        question.length_of("--length", "4q")


def test_a_rate_of_several_cards_is_parted_among_them() -> None:
    one, four = (question.measured(KNOWN, ask(), "--on", f"H100={text}") for text in ("10400", "41600/4"))
    assert (one.rate, one.cards) == (10400, None)
    assert (four.rate, four.cards) == (10400, 4)
    for text in ("10400/0", "10400/5000"):
        with pytest.raises(InputError, match=r"--on: .* must be a whole number from 1 to 4,096"):
            question.measured(KNOWN, ask(), "--on", f"H100={text}")


def test_a_rate_is_of_a_card_and_of_the_precision_asked_for_or_another() -> None:
    point = question.measured(KNOWN, ask(), "--on", "h100=10400")
    assert (point.card, point.precision, point.rate) == ("H100", "bf16", 10400)
    assert question.measured(KNOWN, ask(), "--on", "H100:fp8=15000").precision == "fp8"


@pytest.mark.parametrize(
    "given", ["8xH100=83200", "H100=83200/8", "8xH100=83200/8", "8 x H100=83,200", "H100:8=83200", "p5.48xlarge=83200"]
)
def test_a_rate_of_eight_cards_is_an_eighth_each(given: str) -> None:
    point = question.measured(KNOWN, ask(), "--on", given)
    assert (point.card, point.precision, point.cards, point.rate) == ("H100", "bf16", 8, 10400)


def test_a_rate_of_several_cards_may_be_of_another_precision() -> None:
    point = question.measured(KNOWN, ask(), "--on", "8xH100:fp8=120000")
    assert (point.precision, point.cards, point.rate) == ("fp8", 8, 15000)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("H100", "--on: 'H100': must be CARD=RATE"),
        ("H100=10400tok/s", "--on: '10400tok/s' is no number: tokens a second and card, without a unit"),
        ("H100=nan", "--on: 'nan' is no number: tokens a second and card, without a unit"),
        ("H100=-5", "--on: -5 must be"),
        ("A10=10", "--on: 'A10': no data sheet of it is here: cards are V100, A10G"),
        ("8xH100=83200/4", "--on: '8xH100=83200/4': is it the rate of 8 cards or of 4?"),
        ("8xH900=83200", "--on: '8xH900' is unknown"),
        ("9000xH100=83200", "--on: 9,000 must be a whole number from 1 to 4,096"),
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


def test_software_that_is_read_as_another_is_said_once() -> None:
    for name, says in (("nemo", True), ("megatron-bridge", False), ("Megatron-Bridge", False)):
        asked = ask(software=name)
        assert asked.software == "Megatron-Bridge"
        assert [line for line in asked.assumed if "is read as" in line] == (
            ["software: 'nemo' is read as Megatron-Bridge"] if says else []
        )


def test_rates_deny_each_other_by_what_a_card_can_reach() -> None:
    """By 11,000 of an H100 an A100 would do 4,900, of which it can 4,250: 3,000 is not denied by that, and 1,500 is."""
    of_all = estimates.known()
    asked = question.ask(of_all, model="Llama 3 8B", tokens=2e9, software="nemo")
    other = asked.on("H100", rate=11_000.0)
    question.check_alike(of_all, [other, asked.on("A100 80 GB", rate=3000.0)])
    with pytest.raises(InputError, match="by the other rates given it is about"):
        question.check_alike(of_all, [other, asked.on("A100 80 GB", rate=1500.0)])
