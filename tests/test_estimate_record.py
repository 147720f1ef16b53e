"""`epd estimate RECORD`: the card and its rate are those of a measured minute."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.storage import schemas
from tests.recorder.test_bill import RECORD
from tests.test_epd import call, shell

#: Steps of 8 x 12 x 1,024 = 98,304 tokens, 0.8464 a second on eight H100s: 10,400 tokens a second and card. The whole
#: is 20,345 steps: 2.0e9 tokens.
EIGHT = RECORD | {
    "rate": {"units_per_second": 83_200 / 98_304},
    "whole": {"units": 20_345.0, "known_from": "tqdm's bar", "seconds": 24_000.0},
    "use": {"cards": 8, "peak_gpu_memory_mib": 8 * 60_000.0},
    "machine": {"cores": 208, "cards": [{"name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559}] * 8},
}


def keep(folder: Path, record: Any) -> Path:
    (folder / "run.json").write_text(record if isinstance(record, str) else json.dumps(record))
    return folder


@pytest.mark.slow
def test_a_minute_here_is_a_quote_everywhere(tmp_path: Path) -> None:
    record = keep(tmp_path, EIGHT)
    done = call("estimate", str(record), "--model", "Llama 3 8B", "--per-step", "8x12x1024 tokens", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    schemas.validate(found, "estimate", "epd estimate --json")
    (own,) = found["asked"]["measured"]
    assert own["card"] == "H100"
    assert own["tokens_per_second_per_card"] == pytest.approx(10_400)
    assert found["asked"]["tokens"] == pytest.approx(20_345 * 98_304)
    assert "tokens of the whole: 1,999,994,880, as of the record" in " ".join(found["assumed"])
    answers = {one["card"]: one for one in found["answers"]}
    assert answers["H100"]["basis"] == "measured"
    assert answers["H100"]["tokens_per_second_per_card"]["middle"] == pytest.approx(10_400, rel=0.03)


def test_a_minute_on_cards_that_pcie_links_is_of_as_many(tmp_path: Path) -> None:
    """Four L40S: nobody measured eight, and two have less to send one another."""
    cards = {"cards": [{"name": "NVIDIA L40S", "memory_mib": 46068}] * 4}
    four = EIGHT | {"machine": {"cores": 64} | cards, "use": {"cards": 4}, "rate": {"units_per_second": 0.06}}
    words = ("estimate", str(keep(tmp_path, four)), "--model", "Llama 3 8B", "--per-step", "8x12x1024", "--json")
    for count, is_answered in (("4", True), ("8", False)):
        found = json.loads(call(*words, "--cards", count).stdout)
        assert found["asked"]["measured"][0]["cards"] == 4
        assert ("L40S" in {one["card"] for one in found["answers"]}) == is_answered
    reasons = {one["card"]: one["reason"] for one in found["refused"]}
    assert "alone links, your rate is of 4, and this takes 8: measure it" in reasons["L40S"]


@pytest.mark.slow
def test_what_fits_follows_from_the_peak_that_was_measured(tmp_path: Path) -> None:
    """60,000 MiB a card: not into 40 GB, into 80 GB and more; on fewer cards than were measured nobody knows."""
    record = keep(tmp_path, EIGHT)
    words = ("estimate", str(record), "--model", "Llama 3 8B", "--per-step", "8x12x1024", "--json")
    answers = {one["card"]: one["fits"] for one in json.loads(call(*words, "--cards", "8").stdout)["answers"]}
    assert (answers["A100 40 GB"], answers["A100 80 GB"], answers["H200"]) == ("not as measured", "yes", "yes")
    fewer = json.loads(call(*words, "--cards", "4").stdout)["answers"]
    assert {one["fits"] for one in fewer if one["card"] != "GB200"} == {"unknown"}


def test_a_card_that_the_measured_peak_does_not_fit_is_not_named_without_that_word(tmp_path: Path) -> None:
    """60,000 MiB a card: not into 32 GB of a TPU v6e, whose spot asks least, nor into 40."""
    record = keep(tmp_path, EIGHT)
    words = ("estimate", str(record), "--model", "Llama 3 8B", "--per-step", "8x12x1024", "--json", "--cards", "8")
    found = json.loads(call(*words).stdout)
    short = [one["card"] for one in found["answers"] if one["fits"] == "not as measured"]
    assert {"TPU v6e", "A100 40 GB"} <= {*short}
    sentence = found["choice"]["sentence"]
    named = [found[0] for card in short for found in re.finditer(re.escape(card) + r"( \([^)]*\))?", sentence)]
    assert all("does not fit as measured" in one for one in named), sentence
    assert not {one["card"] for one in found["choice"]["measure"]} & {*short}


@pytest.mark.slow
def test_a_command_of_a_grid_has_its_own_step(tmp_path: Path) -> None:
    """The record of a study holds what the recorder saw under `observed`, and its cards as the training saw them."""
    seen = {key: EIGHT[key] for key in ("clock", "progress", "rate", "whole", "use")}
    run = {
        "observed": seen | {"per_step": {"each": 98_304.0, "unit": "tokens"}},
        "provenance": {"hardware": {"gpus": [{"model": "NVIDIA H100 80GB HBM3", "memory_mib": 81559}] * 8}},
    }
    done = call("estimate", str(keep(tmp_path, run)), "--model", "Llama 3 8B", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["asked"]["measured"][0]["tokens_per_second_per_card"] == pytest.approx(10_400)


@pytest.mark.slow
def test_a_minute_that_was_told_its_step_needs_it_no_more(tmp_path: Path) -> None:
    """The record of `epd run --per-step`; only its card and rate are those of another machine."""
    given = ["--per-step", "8x12x1024 tokens", "--of", "20345", "--", sys.executable, "-c"]
    loop = "import time\nfor i in range(20): print('step', i, flush=True), time.sleep(0.05)"
    done = shell("run", *given, loop, XDG_DATA_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("epochs-per-dollar/runs/*/run.json")
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {key: EIGHT[key] for key in ("rate", "use", "machine")}))
    said = call("estimate", str(file), "--model", "Llama 3 8B", "--json")
    assert said.returncode == 0, said.stderr
    asked = json.loads(said.stdout)["asked"]
    assert asked["measured"][0]["tokens_per_second_per_card"] == pytest.approx(10_400)
    assert asked["tokens"] == 20_345 * 98_304


@pytest.mark.slow
def test_a_record_is_found_by_its_name(tmp_path: Path) -> None:
    place = tmp_path / "epochs-per-dollar" / "runs" / "2026-11-25T02-03-09"
    place.mkdir(parents=True)
    keep(place, EIGHT)
    words = ("estimate", place.name, "--model", "Llama 3 8B", "--per-step", "98304")
    assert shell(*words, XDG_DATA_HOME=str(tmp_path)).returncode == 0


@pytest.mark.parametrize(
    ("change", "words", "says"),
    [
        ({}, ["--per-step", "98304"], "which model it trained is in no record: --model NAME or --billion PARAMETERS"),
        (
            {},
            ["--model", "Llama 3 8B"],
            "counts by the step: --per-step '12x1024 tokens' says what one is on all cards",
        ),
        ({}, ["--model", "Llama 3 8B", "--per-step", "12 images"], "--per-step: '12 images' is no amount"),
        ({"whole": None}, ["--model", "Llama 3 8B", "--per-step", "98304"], "--tokens: must be given"),
        ({"rate": None}, ["--model", "Llama 3 8B"], "no rate was read of it"),
        ({"machine": {"cards": []}}, ["--model", "Llama 3 8B"], "was measured without a GPU"),
        ({"machine": {"cards": [{"name": "Abacus 9"}]}}, ["--model", "Llama 3 8B"], "'Abacus 9' is no card"),
        ({"machine": 3}, ["--model", "Llama 3 8B"], "machine: 3 must be a mapping"),
        ({"machine": {}}, ["--model", "Llama 3 8B"], "is no record of epd run"),
    ],
)
def test_what_a_record_lacks_is_one_line(tmp_path: Path, change: dict[str, Any], words: list[str], says: str) -> None:
    done = call("estimate", str(keep(tmp_path, EIGHT | change)), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_rate_of_another_model_is_above_the_peak(tmp_path: Path) -> None:
    done = call("estimate", str(keep(tmp_path, EIGHT)), "--model", "Llama 3 70B", "--per-step", "4000000")
    assert done.returncode == 2
    assert "TFLOP/s of Llama 3 70B, and H100 has 989 in bf16" in done.stderr


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"observed": 3}'])
def test_what_is_no_record_is_one_line(tmp_path: Path, text: str) -> None:
    done = call("estimate", str(keep(tmp_path, text)), "--model", "Llama 3 8B")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_record_that_is_nowhere(tmp_path: Path) -> None:
    done = shell("estimate", "nowhere", "--model", "Llama 3 8B", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere: there is no such record" in done.stderr


def test_a_record_of_the_grid_counts_samples_and_no_tokens(tmp_path: Path) -> None:
    done = call("estimate", str(keep(tmp_path, {"schema_version": 2, "cell": {}})), "--model", "Llama 3 8B")
    assert done.returncode == 2
    assert "it has samples a second, and no tokens: a rate of yours is --on CARD=RATE" in done.stderr
