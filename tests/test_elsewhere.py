"""A study whose program trains a language model says what the whole would cost on cards that nobody measured."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.pages import elsewhere, render
from scripts.storage import schemas
from tests.conftest import ROOT
from tests.test_estimate_record import EIGHT

STUDY = {"commands": {"gpt": {"language_model": {"model": "Llama 3 8B", "software": "llm-foundry"}}, "mlp": {}}}


def run(
    folder: Path, cell: str, *, tokens_per_second: float = 10_400, status: str = "done", card: str = "H100"
) -> Path:
    """Write the record of a run of steps of 98,304 tokens on eight cards, and return its path."""
    seen = {key: EIGHT[key] for key in ("clock", "progress", "whole", "use")}
    seen |= {
        "rate": {"units_per_second": 8 * tokens_per_second / 98_304},
        "per_step": {"each": 98_304.0, "unit": "tokens"},
    }
    gpus = [{"model": f"NVIDIA {card} 80GB HBM3", "memory_mib": 81559}] * 8
    path = folder / cell / "run.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"status": status, "observed": seen, "provenance": {"hardware": {"gpus": gpus}}}))
    return path


def estimated(tmp_path: Path, *runs: Path) -> list[dict[str, Any]]:
    output = tmp_path / "elsewhere.json"
    subprocess.run(
        [sys.executable, "-m", "scripts.elsewhere", output, "--study", json.dumps(STUDY), "--folder", tmp_path],
        input="\n".join(map(str, runs)), text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    found: list[dict[str, Any]] = json.loads(output.read_text())
    return found


@pytest.mark.slow
def test_other_cards_follow_from_the_fastest_cell_that_is_done(tmp_path: Path) -> None:
    """Of 10,300, 10,400 and 10,500 the median is 10,400; another cell is slower, and one that failed counts not."""
    fast = [
        run(tmp_path, f"gpt/h100/own/b64/r{n}", tokens_per_second=rate)
        for n, rate in enumerate((10_300, 10_400, 10_500))
    ]
    slow = run(tmp_path, "gpt/h100/own/b8/r1", tokens_per_second=5_000)
    failed = run(tmp_path, "gpt/h100/own/b128/r1", tokens_per_second=20_000, status="failed")
    (one,) = estimated(tmp_path, *fast, slow, failed, run(tmp_path, "mlp/h100/own/b1/r1"))
    assert (one["workload"], one["reasons"], one["measured"]) == ("gpt", [], [{"card": "H100 SXM", "cards": 8}])
    schemas.validate(one["answer"], "estimate", "an answer")
    assert one["answer"]["asked"]["tokens"] == pytest.approx(20_345 * 98_304)
    (own,) = one["answer"]["asked"]["measured"]
    assert own["tokens_per_second_per_card"] == pytest.approx(10_400)


@pytest.mark.slow
def test_the_page_says_what_is_estimated_and_what_was_measured(tmp_path: Path) -> None:
    (one,) = estimated(tmp_path, run(tmp_path, "gpt/h100/own/b64/r1"))
    shown = elsewhere.context(type("Inputs", (), {"elsewhere": [one]})())  # type: ignore[arg-type]
    html = render.environment().get_template("sections/elsewhere.html.j2").render(**shown)
    assert "Estimate: " in html
    assert "nothing else on this page is compared with them" in html
    rows = {row["card"]: row for row in shown["elsewhere"][0]["rows"]}
    assert rows["H100"]["is_measured"]
    assert not rows["B200"]["is_measured"]
    assert html.count('class="estimated"') == len(rows) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"card": "Riva 128"}, "is no card that is known"),
        ({"tokens_per_second": 104_000.0}, "is it the rate of one card, and of this model?"),
    ],
)
def test_what_cannot_be_estimated_has_its_reason(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    (one,) = estimated(tmp_path, run(tmp_path, "gpt/h100/own/b64/r1", **change))
    assert one["answer"] is None
    assert any(says in reason for reason in one["reasons"])
    shown = elsewhere.context(type("Inputs", (), {"elsewhere": [one]})())  # type: ignore[arg-type]
    assert "Not estimated: " in render.environment().get_template("sections/elsewhere.html.j2").render(**shown)
