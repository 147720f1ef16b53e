"""What is said of each card, and of which cards nothing is."""

from dataclasses import replace
from datetime import date
from math import log
from statistics import median

import pytest

from scripts.estimate import ceiling, classic, question, rates
from scripts.estimate.known import Known
from scripts.estimate.trial import WIDTH
from scripts.importers import facts
from scripts.storage import tables
from scripts.storage.numbers import rounded
from scripts.workflow import estimates
from tests.conftest import ROOT
from tests.estimate.test_linear import POINT
from tests.estimate.test_question import FACTORS, KNOWN, ask

TODAY = date(2026, 11, 25)
MODELS = [replace(POINT, model=f"model {n}", rate=8000.0 + 10 * n, published="2026-06") for n in range(20)]


def known(*points: object, **changes: object) -> Known:
    return replace(KNOWN, points=[*MODELS, *points], **changes)


def of(found: rates.Rates, card: str) -> rates.Rate:
    return next(one for one in found.answers if one.card == card)


@pytest.fixture
def no_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals are those of the linear model alone."""
    monkeypatch.setattr(ceiling, "MOST_OF_PEAK", 100.0)


def test_every_card_is_answered_or_has_a_reason() -> None:
    found = rates.rates(known(), ask(), [], TODAY)
    assert {one.card for one in found.answers} | set(found.refused) == set(KNOWN.cards)
    assert not {one.card for one in found.answers} & set(found.refused)
    assert found.covariance.shape == (len(found.answers),) * 2
    assert all(one.low < one.middle < one.high for one in found.answers)


def test_a_card_without_the_precision_is_no_error() -> None:
    assert rates.rates(known(), ask(), [], TODAY).refused["V100"] == "it has no bf16: its data sheet has fp16"
    assert "H100" in rates.rates(known(), ask(precision="nvfp4"), [], TODAY).refused


def test_what_an_answer_rests_on() -> None:
    own = replace(POINT, model="Llama 3 8B", card="H200", published="2026-06")
    fp8 = replace(POINT, model="another", card="B200", precision="fp8", published="2026-06")
    measured = ask().on("A100 80 GB", rate=4000)
    found = rates.rates(known(own, fp8), ask(software="llm-foundry"), [measured], TODAY)
    said = {one.card: one.basis for one in found.answers}
    assert said["A100 80 GB"] == "measured"
    assert said["H200"] == "tables, this model"
    assert said["H100"] == "tables"
    assert said["B200"] == "tables, other precision"
    assert said["A10G"] == "data sheet only"


@pytest.mark.usefixtures("no_ceiling")
def test_a_printed_row_of_the_same_model_counts_and_a_rate_of_ones_own_counts_more() -> None:
    """It is twice as fast as all others: so is what is said of the model, on other cards too."""
    fast = replace(POINT, model="Llama 3 8B", rate=16000, published="2026-06")
    with_it, without = (rates.rates(known(*one), ask(software="llm-foundry"), [], TODAY) for one in ([fast], []))
    assert of(with_it, "H100").middle == pytest.approx(16000, rel=0.2)
    own = [ask(software="llm-foundry").on("H100", rate=16000)]
    measured = rates.rates(known(), ask(software="llm-foundry"), own, TODAY)
    assert of(measured, "H100").middle == pytest.approx(16000, rel=0.03)
    widths = [one.high / one.middle for one in (of(measured, "H100"), of(with_it, "H100"))]
    assert widths[0] < 1.1
    assert 1.16 < widths[1] < 1.3
    assert of(with_it, "H200").middle > 1.3 * of(without, "H200").middle


def test_a_rate_of_ones_own_is_known_within_its_noise() -> None:
    found = of(rates.rates(known(), ask(), [ask().on("H100", rate=10400)], TODAY), "H100")
    assert found.middle == pytest.approx(10400, rel=0.02)
    assert found.high / found.low < 1.2


@pytest.mark.parametrize("software", ["fsdp", "llm-foundry", "nemo", "maxtext"])
def test_a_rate_of_ones_own_is_as_sure_with_its_software_named_as_without(software: str) -> None:
    """Its noise is that of another timing of the same, .04, and of the rate, .03: 6.6 % at 80 %."""
    for given in ({}, {"software": software}):
        asked = ask(**given)
        found = of(rates.rates(known(), asked, [asked.on("H100", rate=7000)], TODAY), "H100")
        assert found.middle == pytest.approx(7000, rel=1e-9)
        for end in (found.high / found.middle, found.middle / found.low):
            assert end == pytest.approx(1.066, abs=0.005)


@pytest.mark.parametrize(("times", "is_far"), [(2.9, False), (3.1, True), (10.0, True), (1 / 3.1, True)])
def test_a_rate_that_no_row_is_like_is_of_its_own_card_alone(times: float, is_far: bool) -> None:
    """Twenty models print 4,000 to 4,100 of an H100: a rate of a tenth of that is said, and moves nothing."""
    asked, tables = ask(software="llm-foundry"), replace(KNOWN, points=[replace(p, rate=p.rate / 2) for p in MODELS])
    plain = rates.rates(tables, asked, [], TODAY)
    said = of(plain, "H100").middle
    found = rates.rates(tables, asked, [asked.on("H100", rate=said / times)], TODAY)
    assert of(found, "H100").middle == pytest.approx(said / times)
    (beside,) = found.beside
    assert beside.is_far == is_far
    side = "below" if times > 1 else "above"
    assert f"a factor of {rounded(max(times, 1 / times))} {side} the {rounded(said)} that" in beside.line
    assert ("is it of this model and of one card" in beside.line) == is_far
    if is_far:
        assert [one.card for one in found.answers] == ["H100"]
        assert "so that nothing else follows from it: measure it" in found.refused["H200"]
        assert found.refused["V100"] == plain.refused["V100"], "what holds without it is said first"
    else:
        assert of(found, "H200").middle < 0.7 * of(plain, "H200").middle


def test_two_rates_are_both_said_where_one_is_too_far_to_be_carried() -> None:
    asked = ask(software="llm-foundry")
    own = [asked.on("H100", rate=800.0), asked.on("H200", rate=1000.0)]
    assert [one.card for one in rates.rates(known(), asked, own, TODAY).answers] == ["H100", "H200"]


def test_a_rate_near_the_peak_moves_other_cards_no_further_than_rows_reach() -> None:
    """At 51.4 GFLOP a token seven tenths of 989 TFLOP/s are 13,469 tokens a second; 90 % are 17,317."""
    asked = ask(software="llm-foundry")
    near, at = (rates.rates(known(), asked, [asked.on("H100", rate=rate)], TODAY) for rate in (17_317, 13_469))
    for card in ("H200", "B200", "A100 80 GB"):
        assert of(near, card).middle == pytest.approx(of(at, card).middle, rel=1e-3)
    own = of(near, "H100")
    assert own.middle == pytest.approx(17_317)
    assert own.low < 13_469, "the interval goes down to what rows reach"
    assert of(at, "H100").low == pytest.approx(13_469 / 1.066, rel=0.005)
    says = "That is 90 % of its peak, and no printed row is above 68.5 %: is it of a whole machine"
    assert says in near.beside[0].line
    assert near.beside[0].line.endswith("Other cards follow from 70 % of it")
    assert says not in at.beside[0].line


@pytest.mark.usefixtures("no_ceiling")
def test_intervals_are_widened_by_the_question_that_fits() -> None:
    """Of a model without family in the tables, what is found of families that are left out counts."""
    wide = FACTORS | {"its family": {"dense": 1.25, "moe": 1.25}}
    by_name = {"software": "llm-foundry"}
    by_numbers = by_name | {"model": "", "billion": 8}
    for given, family, times in ((by_numbers, "", 1.25), (by_name, "", 1.25), (by_name, "Llama", 1)):
        asked = replace(ask(**given), family=family)
        one, other = (of(rates.rates(known(factors=factors), asked, [], TODAY), "H100") for factors in (FACTORS, wide))
        assert (other.high / other.middle) == pytest.approx((one.high / one.middle) ** times)


@pytest.mark.usefixtures("no_ceiling")
def test_one_rate_of_a_mixture_of_experts_is_carried_with_the_wider_factor() -> None:
    narrow = {name: {"dense": 0.3, "moe": 0.3} for name in FACTORS}
    wide = narrow | {"another card and precision": {"dense": 0.6, "moe": 0.6}}
    experts = [replace(POINT, model="e", kind="moe", total_billion=30, card=card) for card in ("H100", "A100 80 GB")]
    for model, times in (("Mixtral 8x7B", 2), ("Llama 3 8B", 1)):
        asked = ask(model=model, software="llm-foundry")
        measured = [asked.on("H100", rate=3000)]
        one, other = (
            of(rates.rates(known(*experts, factors=factors), asked, measured, TODAY), "A100 80 GB")
            for factors in (narrow, wide)
        )
        assert other.high / other.middle == pytest.approx((one.high / one.middle) ** times)


@pytest.mark.usefixtures("no_ceiling")
def test_old_rows_widen_the_interval_unless_the_card_was_measured() -> None:
    later = date(2027, 12, 1)
    asked = ask(software="llm-foundry")
    now, then = (of(rates.rates(known(), asked, [], day), "H100") for day in (TODAY, later))
    assert (now.is_old, then.is_old) == (False, True)
    assert then.middle == now.middle
    assert then.high > 1.02 * now.high
    measured = [asked.on("H100", rate=10400)]
    now, then = (of(rates.rates(known(), asked, measured, day), "H100") for day in (TODAY, later))
    assert then.high == now.high


def test_an_interval_that_says_nothing_is_refused_with_its_width() -> None:
    wide = {name: {"dense": 9.0, "moe": 9.0} for name in FACTORS}
    found = rates.rates(known(factors=wide), ask(), [], TODAY)
    assert found.answers == []
    assert "either way, more than 2: measure it" in found.refused["H100"]
    assert found.covariance.shape == (0, 0)


@pytest.mark.usefixtures("no_ceiling")
def test_an_interval_that_says_little_is_said_to_be_wide() -> None:
    """That of twenty models alike is a factor of some 1.2 either way; two and a half times as wide it is one of 1.7."""
    for times, is_wide in ((1.0, False), (2.5, True)):
        factors = {name: {"dense": times, "moe": times} for name in FACTORS}
        one = of(rates.rates(known(factors=factors), ask(software="llm-foundry"), [], TODAY), "H100")
        assert one.is_wide == is_wide
        assert (one.middle / one.low > 1.5) == is_wide


def test_mixtures_of_experts_are_answered_where_a_table_has_one_alone() -> None:
    of_experts = replace(POINT, model="experts", kind="moe", total_billion=30, published="2026-06")
    asked = ask(model="Mixtral 8x7B", software="llm-foundry")
    narrow = known(of_experts, factors={name: {"dense": 0.5, "moe": 0.5} for name in FACTORS})
    refused = rates.rates(narrow, asked, [], TODAY).refused
    assert "H100" not in refused
    assert refused["A10G"] == "no table has a mixture of experts on it: measure it"
    assert "A10G" not in rates.rates(narrow, asked, [asked.on("A10G", rate=100)], TODAY).refused


def test_nvfp4_of_experts_is_refused() -> None:
    of_experts = replace(POINT, model="experts", kind="moe", card="B200", precision="mxfp8", total_billion=30)
    asked = ask(model="Mixtral 8x7B", precision="nvfp4")
    assert rates.rates(known(of_experts), asked, [], TODAY).refused["B200"].startswith("NVFP4 of a mixture of experts")


def test_software_that_no_table_has_on_a_tpu_is_refused_there() -> None:
    maxtext = replace(POINT, model="on a TPU", software="MaxText", card="TPU v5p", published="2026-06")
    for software, refused in (("fsdp", True), ("nemo", True), ("maxtext", False), ("", False)):
        assert ("TPU v5p" in rates.rates(known(maxtext), ask(software=software), [], TODAY).refused) == refused


@pytest.mark.parametrize(
    ("low", "high", "text"), [(1000.0, 1500.0, "1,200"), (1200.0, 1270.0, "1,230"), (800.0, 2000.0, "1,200")]
)
def test_number_has_the_digits_that_its_interval_bears(low: float, high: float, text: str) -> None:
    """1,234.56 within half of itself is about 1,200; only within a quarter it is 1,230."""
    assert rounded(1234.56, rates.digits_within(low, high)) == text


@pytest.mark.usefixtures("no_ceiling")
def test_qlora_is_slower_than_lora_and_less_sure_until_it_is_measured() -> None:
    """1.38 times as long, with .21 more of uncertainty (a logarithm), which a rate of one card takes from all."""
    of_task = {task: ask(task=task, software="llm-foundry") for task in ("lora", "qlora")}
    guessed = {task: of(rates.rates(known(), asked, [], TODAY), "H200") for task, asked in of_task.items()}
    assert guessed["lora"].middle / guessed["qlora"].middle == pytest.approx(1.38)
    widths = {task: log(one.high / one.middle) / WIDTH for task, one in guessed.items()}
    assert widths["qlora"] ** 2 - widths["lora"] ** 2 == pytest.approx(0.21**2)
    for asked in of_task.values():
        own = of(rates.rates(known(), asked, [], TODAY), "H100").middle
        measured = of(rates.rates(known(), asked, [asked.on("H100", rate=own)], TODAY), "H200")
        assert log(measured.high / measured.middle) / WIDTH < 0.8 * widths["lora"]


@pytest.mark.slow
@pytest.mark.parametrize(("card", "sister"), [("L40S", "rtx-6000-ada"), ("RTX 4090", "rtx-4090"), ("A10G", "a10")])
def test_a_card_without_a_table_is_not_said_to_be_faster_than_its_sister_was_timed(card: str, sister: str) -> None:
    """Beside an A100, in the median of transformers in Lambda's table, of which no language model is quoted. An
    L40S has the chip of an RTX 6000 Ada, an A10G that of an A10. These nets leave more of an A100 idle than language
    models do, so that above the interval nothing follows.
    """
    timed = classic.rates(tables.records(facts.read(ROOT / "reports" / "published" / "facts" / "lambda-gpus.csv")))
    nets = ("bert_base_squad", "bert_large_squad", "gnmt", "transformer_xl_base", "transformer_xl_large")
    said = median(timed[net, "float16", sister] / timed[net, "float16", "a100-80gb-sxm4"] for net in nets)
    of_all = estimates.known()
    found = rates.rates(of_all, question.ask(of_all, model="Llama 3 8B", task="lora", tokens=1e8), [], TODAY)
    one, beside = of(found, card), of(found, "A100 80 GB").middle
    assert one.basis == "data sheet only"
    assert one.low <= said * beside


@pytest.mark.parametrize("task", ["lora", "qlora"])
def test_adapters_on_a_tpu_are_in_no_table(task: str) -> None:
    point = replace(POINT, card="TPU v6e")
    asked = ask(task=task)
    found = rates.rates(known(*MODELS, point), asked, [], TODAY)
    assert found.refused["TPU v6e"] == "on a TPU no table has LoRA: measure it"
    assert "H100" not in found.refused or "LoRA" not in found.refused["H100"]
    assert "LoRA" not in rates.rates(known(*MODELS, point), ask(task="sft"), [], TODAY).refused.get("TPU v6e", "")
    own = rates.rates(known(*MODELS, point), asked, [asked.on("TPU v6e", rate=3000.0)], TODAY)
    assert "TPU v6e" not in own.refused


#: Of Llama 3 8B a token takes 51.4 GFLOP: seven tenths of an A100's 312 TFLOP/s are 4,249 tokens a second.
LIMIT = 4249


@pytest.mark.parametrize(
    ("software", "card"), [("nemo", "A100 80 GB"), ("", "A100 80 GB"), ("", "H100"), ("nemo", "B200")]
)
def test_a_rate_that_is_what_would_be_said_moves_no_other_card(software: str, card: str) -> None:
    """But for what is less cut off as it is surer."""
    of_all = estimates.known()
    asked = question.ask(of_all, model="Llama 3 8B", tokens=2e9, software=software)
    plain = rates.rates(of_all, asked, [], TODAY)
    given = [asked.on(card, rate=of(plain, card).middle)]
    found = rates.rates(of_all, asked, given, TODAY)
    assert f"about the {rounded(of(plain, card).middle)} that would be said without it" in found.beside[0].line
    for one in found.answers:
        if one.card in {other.card for other in plain.answers}:
            assert 0.99 < one.middle / of(plain, one.card).middle < 1.1, one.card


def test_a_rate_is_beside_what_is_in_fact_said_of_a_card_whose_like_would_pass_its_peak() -> None:
    """Of Megatron-Bridge tables make an A100 reach more than it can: what is left below that is said, and compared."""
    of_all = estimates.known()
    asked = question.ask(of_all, model="Llama 3 8B", tokens=2e9, software="nemo")
    said = of(rates.rates(of_all, asked, [], TODAY), "A100 80 GB").middle
    assert said < LIMIT
    found = rates.rates(of_all, asked, [asked.on("A100 80 GB", rate=2000.0)], TODAY)
    (beside,) = found.beside
    assert beside.said == pytest.approx(said)
    assert not beside.is_far
    assert f"a factor of {rounded(said / 2000)} below the {rounded(said)} that would be said" in beside.line
    assert "H100" in {one.card for one in found.answers}


@pytest.mark.parametrize(("times", "words"), [(1.04, "about the"), (1.06, "above the"), (0.94, "below the")])
def test_a_rate_is_said_to_be_on_the_side_on_which_it_is_read(times: float, words: str) -> None:
    asked = ask(software="llm-foundry")
    said = of(rates.rates(known(), asked, [], TODAY), "H100").middle
    (beside,) = rates.rates(known(), asked, [asked.on("H100", rate=said * times)], TODAY).beside
    assert f"{words} {rounded(said)} that would be said" in beside.line


def test_what_software_does_on_a_tpu_says_nothing_of_it_on_a_gpu() -> None:
    """Tables have MaxText on TPUs alone: a GPU is as unsure as with software that none has."""
    of_all = estimates.known()
    assert {point.card.startswith("TPU") for point in of_all.points if point.software == "MaxText"} == {True}
    known_by, unknown = (
        rates.rates(of_all, question.ask(of_all, model="Llama 3 8B", tokens=2e9, software=name), [], TODAY)
        for name in ("MaxText", "fsdp")
    )
    for card in ("H100", "B200"):
        assert of(known_by, card) == of(unknown, card)
    assert "TPU v6e" in unknown.refused
    assert of(known_by, "TPU v6e").basis == "tables, this model"
    asked = question.ask(of_all, model="Llama 3 8B", tokens=2e9, software="MaxText")
    assert "software: no table has MaxText on a GPU: the interval allows for that" in asked.assumed
