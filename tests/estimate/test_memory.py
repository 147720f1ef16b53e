"""Memory that is promised, left open or refused, against every printed fine-tuning, those that ran out of it too."""

from dataclasses import replace
from datetime import date
from statistics import median
from typing import Any

import pytest

from scripts.estimate import answer, memory, question
from scripts.storage.files import read_csv
from scripts.workflow import estimates

TODAY = date(2026, 11, 25)
KNOWN = estimates.known()
TUNED = memory.of_fine_tunings([row for _, row in read_csv(estimates.FINE_TUNINGS)], KNOWN.model)


def said(run: memory.Run, of: Any = KNOWN) -> tuple[str, str]:
    """Return of a printed run, asked for as it was, why it is refused on its cards, or else whether it fits."""
    asked = question.ask(of, model=run.model, task=run.task, tokens=1e7, length=run.tokens)
    found = answer.answer(of, {}, asked, [], run.cards, TODAY)
    refused = {one["card"]: one["reason"] for one in found["refused"]}
    fits = {one["card"]: one["fits"] for one in found["answers"]}
    return refused.get(run.card, ""), fits.get(run.card, "")


def test_every_row_of_the_table_is_a_run() -> None:
    assert len(TUNED) == 53
    assert sum(run.is_out for run in TUNED) == 7
    assert {run.tokens for run in TUNED} == {512, 1024, 2048, 4096}


@pytest.mark.parametrize("run", [run for run in TUNED if run.peak_gb], ids=lambda run: run.source[-4:])
def test_what_ran_is_not_refused_for_its_memory(run: memory.Run) -> None:
    """Of four A10G it is the speed that no table has."""
    reason, fits = said(run)
    assert (
        reason.startswith("no table of speed has several cards") if run.cards > 1 else (reason, fits) == ("", "printed")
    )


@pytest.mark.parametrize("run", [run for run in TUNED if run.is_out], ids=lambda run: run.source[-4:])
def test_what_ran_out_of_memory_is_refused_with_its_row(run: memory.Run) -> None:
    reason, _ = said(run)
    assert f"{run.model} ran out of memory with {run.tokens:,.0f} tokens at once on " in reason
    assert "Lightning-AI/litgpt@26857050fe:config_hub/finetune/README.md#L" in reason


@pytest.mark.parametrize("run", [run for run in TUNED if run.is_out], ids=lambda run: run.source[-4:])
def test_what_ran_out_is_not_promised_were_its_rows_unknown(run: memory.Run) -> None:
    others = [one for one in KNOWN.memory.runs if one.model != run.model]
    reason, fits = said(run, replace(KNOWN, memory=memory.fit(others, KNOWN.askable)))
    assert reason or fits == "may run out"


def test_of_a_model_that_is_left_out_the_others_say_what_it_took() -> None:
    """State alone, which was all that was said before, is .04 to .86 of the peaks."""
    for task in memory.FORM:
        runs = [run for run in TUNED if run.task == task and run.peak_gb and run.cards == 1]
        errors = [found / (run.peak_gb or 0) for run, found in memory.left_out(task, runs, KNOWN.askable)]
        assert median(max(one, 1 / one) for one in errors) < 1.1
        assert min(errors) == pytest.approx(1 / KNOWN.memory.over[task])
        assert min(errors) > 0.75
        assert max(errors) < 1.2
        state = [
            memory.STATE_BYTES[task] * KNOWN.askable[run.model]["active_billion"] / (run.peak_gb or 0) for run in runs
        ]
        assert min(state) < 0.2


def test_a_peak_is_the_state_and_what_goes_through_the_layers() -> None:
    """Llama 2 7B with LoRA and 1,024 tokens at once took 19.77 GB, of which 13.48 are weights."""
    asked = question.ask(KNOWN, model="Llama 2 7B", task="lora", tokens=1e7, length=1024)
    peak = KNOWN.memory.peak_gb(asked)
    assert peak == pytest.approx(19.77, rel=0.03)
    assert KNOWN.memory.peak_gb(asked, 4) == pytest.approx(peak - 13.476 * 3 / 4, rel=1e-6)
    longer = KNOWN.memory.peak_gb(replace(asked, length=2048.0))
    assert longer == pytest.approx(13.476 + 2 * (peak - 13.476), rel=1e-6)


@pytest.mark.parametrize(
    ("model", "length", "refused"),
    [
        ("Gemma 2 9B", 512, True),
        ("Gemma 7B", 256, False),  # shorter than what ran out
        ("Qwen 3 8B", 512, False),  # fewer words, and parameters, than Gemma 7B
        ("Llama 3 8B", 512, False),
    ],
)
def test_only_what_takes_as_much_as_what_ran_out_is_refused(model: str, length: int, refused: bool) -> None:
    asked = question.ask(KNOWN, model=model, task="lora", tokens=1e7, length=length)
    found = answer.answer(KNOWN, {}, asked, [], 1, TODAY)
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    for card in ("A10G", "RTX 4090"):
        assert ("ran out of memory" in reasons.get(card, "")) == refused
    assert "RTX 5090" not in reasons


def test_who_measured_it_there_is_believed() -> None:
    asked = question.ask(KNOWN, model="Gemma 7B", task="lora", tokens=1e7, length=512)
    found = answer.answer(KNOWN, {}, asked, [asked.on("A10G", rate=500.0)], 1, TODAY)
    assert "A10G" in {one["card"] for one in found["answers"]}


def test_what_may_run_out_is_said_where_the_card_is_named() -> None:
    """A sequence of 32,768 tokens through Llama 3 8B is far more than what is left of 80 GB."""
    asked = question.ask(KNOWN, model="Llama 3 8B", task="lora", tokens=1e9, length=32768)
    offers = estimates.offered()
    found = answer.answer(KNOWN, {"H100": offers["H100"]}, asked, [], 1, TODAY)
    assert "1 x H100 (may run out of memory) at " in found["choice"]["sentence"]
    assert found["ways"][0].startswith("memory: all cards together hold the state")


def test_a_training_that_was_printed_fits_with_fewer_cards_than_a_rule_allows() -> None:
    """Phi-3 mini at 16 bytes a parameter are 61 GB; LitGPT kept less, and tuned all of it on one A10G of 24."""
    for length, fits in ((2048, "printed"), (4096, None)):
        asked = question.ask(KNOWN, model="Phi-3 mini", task="sft", tokens=1e8, length=length)
        found = answer.answer(KNOWN, {}, asked, [], 1, TODAY)
        assert {one["card"]: one["fits"] for one in found["answers"]}.get("A10G") == fits
