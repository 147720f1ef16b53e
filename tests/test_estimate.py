"""`epd estimate` as a person and a program call it: whatever the day, as facts and prices grow old."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from concurrent.futures import ThreadPoolExecutor
from io import RawIOBase
from pathlib import Path

import pytest

from scripts.storage import schemas
from tests.conftest import ROOT
from tests.test_epd import call

LLAMA = ("--model", "Llama 3 8B", "--tokens", "2e9")


@pytest.mark.slow
def test_a_person_reads_rates_prices_notes_and_one_sentence() -> None:
    done = call("estimate", *LLAMA, "--on", "H100=10400", "--cards", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Llama 3 8B (8.03 billion): pretraining on 2,000,000,000 tokens in bf16, sequences of 4,096" in done.stdout
    assert "taken for granted: software: none was named" in done.stdout
    assert "not answered: V100: it has no bf16: its data sheet has fp16" in done.stdout
    # 16 bytes x 8.03 billion parameters, in eight cards of 80 GB
    assert "128 of 640 GB" in done.stdout
    assert "a steady run: no start, failure, restart, evaluation or checkpoint is counted" in done.stdout
    begins = ("Cheapest of the ", "Too close to call", "No cloud offers ")
    lines = done.stdout.splitlines()
    (first,) = [place for place, line in enumerate(lines) if line.startswith(begins)]
    assert all(line.endswith(".") for line in lines[first:]), "a sentence each, and nothing after them"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_figure_is_cut_or_wrapped_in_a_terminal(width: int) -> None:
    """What a pipe reads, whose lines have no end, has the same words: none is cut, and no line is longer."""
    words = ("estimate", *LLAMA, "--on", "H100=10400", "--cards", "8")
    whole = call(*words).stdout
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with open(reader, "rb", buffering=0) as read, ThreadPoolExecutor(1) as pool:
        shown = pool.submit(lambda: b"".join(iter(lambda: _read(read), b"")))
        env = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm"}
        command, nothing = [str(ROOT / "epd"), *words], subprocess.DEVNULL
        done = subprocess.run(command, stdin=nothing, stdout=terminal, stderr=nothing, env=env, check=False)
        os.close(terminal)
        text = re.sub(r"\x1b\[[0-9;]*m", "", shown.result().decode())
    assert done.returncode == 0
    assert max(map(len, text.splitlines())) <= width
    assert {one for one in whole.split() if re.search(r"\d", one)} - {*text.split()} == set()


def _read(file: RawIOBase) -> bytes:
    try:
        return file.read(65536) or b""
    except OSError:  # its other end was closed
        return b""


@pytest.mark.slow
def test_a_program_reads_what_the_schema_says() -> None:
    done = call("estimate", *LLAMA, "--on", "H100=10400", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    schemas.validate(found, "estimate", "epd estimate --json")
    own = next(one for one in found["answers"] if one["card"] == "H100")
    assert own["basis"] == "measured"
    assert own["tokens_per_second_per_card"]["middle"] == pytest.approx(10400, rel=0.03)
    (given,) = found["asked"]["measured"]
    assert given.pop("without_it") == pytest.approx(10400, rel=0.3)
    assert given == (
        {"card": "H100", "precision": "bf16", "tokens_per_second_per_card": 10400, "cards": 1, "is_carried": True}
    )


@pytest.mark.slow
def test_a_card_of_two_sizes_is_taken_for_one_and_that_is_said() -> None:
    done = call("estimate", *LLAMA, "--on", "A100=4000", "--cards", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "taken for granted: A100: read as A100 80 GB, and not as A100 40 GB" in done.stdout
    assert "GH200" in done.stdout.partition("ARM host: wheels may be missing")[0].splitlines()[-1]


@pytest.mark.slow
def test_no_machine_is_named_that_does_not_hold_the_model() -> None:
    """405.85 billion parameters at 16 bytes are 6,494 GB: 91 H100 with a tenth for activations, by the card."""
    words = ("--model", "Llama 3.1 405B", "--tokens", "2B", "--json")
    found = json.loads(call("estimate", *words, "--cards", "8").stdout)
    assert (found["answers"], found["choice"]) == ([], None)
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    assert reasons["H100"].endswith("need 91 cards of 80 GB")
    whole = json.loads(call("estimate", *words).stdout)["answers"]
    assert next(one for one in whole if one["card"] == "H100")["cards"] == 96  # twelve machines of eight
    assert all(0.9 * one["memory_gb"] >= 6494 * 0.999 for one in whole)
    less = json.loads(call("estimate", *words, "--cards", "64", "--bytes-per-parameter", "8").stdout)
    assert any(one["card"] == "H100" for one in less["answers"])


@pytest.mark.slow
def test_names_of_a_hub_and_large_numbers_are_understood_and_providers_left_out() -> None:
    words = (
        "--tokens",
        "2B",
        "--json",
        "--without",
        "lambda",
        "--without",
        "Vast.ai",
        "--without",
        "gcp",
        "--without",
        "AMAZON",
    )
    found = json.loads(call("estimate", "--model", "meta-llama/Meta-Llama-3-8B-Instruct", *words).stdout)
    assert (found["asked"]["model"], found["asked"]["tokens"]) == ("Llama 3 8B", 2e9)
    bills = [one[way] for one in found["answers"] for way in ("on_demand", "spot", "market") if one[way]]
    assert bills
    assert not {"lambda", "vast", "gce", "aws"} & {bill["cheapest"]["provider"] for bill in bills}


@pytest.mark.slow
def test_where_no_card_can_be_answered_the_reasons_are_and_code_1() -> None:
    done = call("estimate", "--model", "DeepSeek V3", "--tokens", "1e12", "--precision", "nvfp4", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    schemas.validate(found, "estimate", "epd estimate --json")
    assert (found["answers"], found["choice"]) == ([], None)
    assert all(one["reason"] for one in found["refused"])


@pytest.mark.slow
def test_a_persons_own_cards_are_quoted_apart_or_decide(tmp_path: Path) -> None:
    """730,000 USD over 10 months of 73 hours are 1,000 an hour, of eight cards 125 each; at 7,300,000 hours nothing."""
    mine = tmp_path / "mine.yaml"
    entry = "H100: {cards: 8, acquisition_usd: %s, life_months: 10, hours_per_month: 73, power_watts: 0, "
    mine.write_text(entry % 730_000 + "usd_per_kwh: 0, as_of: 2026-11, source: an invoice}\n")
    words = (*LLAMA, "--on", "H100=10000", "--cards", "8", "--json", "--owned", str(mine))
    apart = json.loads(call("estimate", *words).stdout)
    own = next(one for one in apart["answers"] if one["card"] == "H100")
    # 2e9 tokens at 10,000 a second and card are 55.6 hours of a card, within the noise of the rate
    assert own["owned"]["usd"]["cheapest"] == pytest.approx(55.6 * 125, rel=0.03)
    assert not apart["choice"] or "owned" not in apart["choice"]["sentence"]
    refused = call("estimate", *words, "--without", "h100")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"--without: H100 is a card of --owned {mine}: leave out the providers that rent it" in refused.stderr
    mine.write_text(entry % 0.73 + "usd_per_kwh: 0, as_of: 2026-11, source: an invoice}\n")
    decided = json.loads(call("estimate", *words, "--owned-decides").stdout)
    assert decided["choice"]["card"] == "H100"
    assert "8 x H100 owned, figures of 2026-11" in decided["choice"]["sentence"]


@pytest.mark.slow
def test_spot_says_what_is_assumed_of_preemptions() -> None:
    done = call("estimate", *LLAMA, "--on", "H100=10400", "--preemptions", "0.1")
    assert done.returncode == 0
    if "spot:" in done.stdout:  # where an offer is young enough
        assert "spot: 0.1 preemptions an hour of each machine (--preemptions), one of several stops all" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "Lama 3 8B", "--tokens", "2e9"], "'Lama 3 8B' is unknown: did you mean Llama 3 8B"),
        (["--model", "Llama 3 8B"], "--tokens: must be given"),
        ([*LLAMA, "--cards", "16", "--sequences", "8"], "--sequences: 8 on 16 cards is less than one a card and step"),
        ([*LLAMA, "--sequences", "0.5"], "--sequences: 0.5 must be a whole number from 1"),
        (["--model", "Llama 3 8B", "--tokens", "1"], "--tokens: 1 are less than one sequence of 4096 (--length)"),
        ([*LLAMA, "--sequences", "-1"], "--sequences: -1 must be sequences of a step on all cards, more than 0"),
        ([*LLAMA, "--cards", "0"], "--cards: 0 must be a whole number from 1 to 4,096"),
        ([*LLAMA, "--cards", "1000000"], "--cards: 1,000,000 must be a whole number from 1 to 4,096"),
        (["--model", "Llama 3 8B", "--tokens", "1e6", "--cards", "4096"], "--cards: 4,096 with a sequence each take"),
        ([*LLAMA, "--on", "8xH100=83200/4"], "--on: '8xH100=83200/4': is it the rate of 8 cards or of 4?"),
        (
            ["--model", "Jamba", "--tokens", "2e9"],
            "'Jamba' is a hybrid (Mamba), and how fast that is follows from no table",
        ),
        ([*LLAMA, "--on", "H100=1"], "is it in tokens a second, and not in samples or steps?"),
        ([*LLAMA, "--on", "H100=10400", "--on", "H100=5000"], "--on: H100 in bf16 has two rates: give one"),
        ([*LLAMA, "--on", "H100=10400", "--on", "H200=3000"], "by the other rates given it is about"),
        ([*LLAMA, "--without", "vst"], "--without: 'vst' is unknown: did you mean vast? it is one of akash"),
        ([*LLAMA, "--without", "H10"], "--without: 'H10' is unknown: did you mean H100"),
        ([*LLAMA, "--without", "Amazn"], "--without: 'Amazn' is unknown: did you mean aws"),
        (["--model", "gpt2", "--tokens", "2e9", "--length", "2048"], "GPT-2 124M has 1,024 positions, and a sequence"),
        ([*LLAMA, "--preemptions", "-1"], "--preemptions: -1 must be preemptions an hour of one machine, 0 or more"),
        ([*LLAMA, "--task", "qlora", "--precision", "fp8"], "--precision: fp8: qlora keeps weights in 4 bits"),
        ([*LLAMA, "--owned", "nowhere.yaml"], "nowhere.yaml"),
        ([*LLAMA, "--owned-decides"], "--owned-decides: --owned FILE must name your own cards"),
        ([*LLAMA, "--bytes-per-parameter", "0"], "--bytes-per-parameter: 0 must be"),
        (
            ["--billion", "8", "--layers", "1", "--width", "10", "--tokens", "2e9"],
            "--layers: 1 must be a whole number from 3 to 252",
        ),
        ([*LLAMA, "--on", "H100=104000"], "TFLOP/s of Llama 3 8B, and H100 has 989 in bf16"),
        (["--model", "Llama 3 8B", "--tokens", "2 apples"], "--tokens: '2 apples' is no number: as 2e9, or 2B"),
        ([*LLAMA, "--cards", "many"], "--cards: 'many' is no number"),
        ([*LLAMA, "--cards", "1.5"], "--cards: 1.5 must be a whole number from 1 to 4,096"),
        (["--billion", "8x", "--tokens", "2B"], "--billion: '8x' is no number"),
        ([*LLAMA, "--length", "4q"], "--length: '4q' is no number: as 8192, or 8k"),
        ([*LLAMA, "--preemptions", "few"], "--preemptions: 'few' is no number"),
        (
            ["--model", "stablelm-base", "--tokens", "2B"],
            "'stablelm-base' is unknown: did you mean StableLM base alpha 3B",
        ),
        (["--model", "stablelm-9", "--tokens", "2B"], "'stablelm-9' is unknown: did you mean StableLM base alpha 3B"),
        ([*LLAMA, "--on", "H100=10400 samples/s"], "is no number: tokens a second and card, without a unit"),
    ],
)
def test_bad_input_is_a_line_and_code_2(words: list[str], says: str) -> None:
    done = call("estimate", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
