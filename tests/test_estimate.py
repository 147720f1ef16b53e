"""`epd estimate` as a person and a program call it: whatever the day, as facts and prices grow old."""

import json

import pytest

from scripts.storage import schemas
from tests.test_epd import call

LLAMA = ("--model", "Llama 3 8B", "--tokens", "2e9")


def test_a_person_reads_rates_prices_notes_and_one_sentence() -> None:
    done = call("estimate", *LLAMA, "--on", "H100=10400", "--cards", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Llama 3 8B (8.03 billion): pretraining on 2,000,000,000 tokens in bf16, sequences of 4,096" in done.stdout
    assert "taken for granted: software: none was named" in done.stdout
    assert "not answered: V100: it has no bf16: its data sheet has fp16" in done.stdout
    assert "fits: unknown, as no table of language models prints memory" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(("Cheapest of the ", "Too close to call", "No offer: "))


def test_a_program_reads_what_the_schema_says() -> None:
    done = call("estimate", *LLAMA, "--on", "H100=10400", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    schemas.validate(found, "estimate", "epd estimate --json")
    own = next(one for one in found["answers"] if one["card"] == "H100")
    assert own["basis"] == "measured"
    assert own["tokens_per_second_per_card"]["middle"] == pytest.approx(10400, rel=0.03)
    assert found["asked"]["measured"] == [{"card": "H100", "precision": "bf16", "tokens_per_second_per_card": 10400}]


def test_where_no_card_can_be_answered_the_reasons_are_and_code_1() -> None:
    done = call("estimate", "--model", "DeepSeek V3", "--tokens", "1e12", "--precision", "nvfp4", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    schemas.validate(found, "estimate", "epd estimate --json")
    assert (found["answers"], found["choice"]) == ([], None)
    assert all(one["reason"] for one in found["refused"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "Lama 3 8B", "--tokens", "2e9"], "'Lama 3 8B' is unknown: did you mean Llama 3 8B"),
        (["--model", "Llama 3 8B"], "--tokens: must be given"),
        ([*LLAMA, "--cards", "16", "--sequences", "8"], "--sequences: 8 on 16 cards is less than one a card and step"),
        ([*LLAMA, "--sequences", "-1"], "--sequences: -1 must be sequences of a step on all cards, more than 0"),
        ([*LLAMA, "--cards", "0"], "--cards: 0 must be a whole number from 1"),
        ([*LLAMA, "--on", "H100=104000"], "TFLOP/s of Llama 3 8B, and H100 has 989 in bf16"),
        (["--model", "Llama 3 8B", "--tokens", "2 billion"], "--tokens"),
        ([*LLAMA, "--on", "H100=10400 samples/s"], "is no number: tokens a second and card, without a unit"),
    ],
)
def test_bad_input_is_a_line_and_code_2(words: list[str], says: str) -> None:
    done = call("estimate", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
