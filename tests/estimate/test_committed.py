"""What was committed of trials is what the committed facts say, and pages and quotes are made from it."""

import json
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from scripts.document import estimates as document
from scripts.estimate import linear, question, rates, transfers, trial
from scripts.estimate.answer import ROOM
from scripts.storage.files import read_csv
from scripts.workflow import estimates
from tests.estimate.test_linear import CARD, POINT


def test_trials_are_of_the_facts_that_are_here() -> None:
    assert estimates.trials()["inputs_sha256"] == estimates.inputs_sha256(), "run: make simulate"


def test_every_question_that_a_quote_is_widened_by_was_tried() -> None:
    factors = estimates.trials()["factors"]
    assert {*trial.QUESTIONS, *transfers.QUESTIONS} == set(factors)
    assert all(0.5 <= factor <= 2.5 for of in factors.values() for factor in of.values())


@pytest.mark.slow
@pytest.mark.nightly
def test_trials_that_are_made_anew_are_those_committed() -> None:
    found, kept = document.trials(), estimates.trials()
    for name, of in kept["factors"].items():
        assert found["factors"][name] == pytest.approx(of, rel=1e-6)
    for one, other in zip(found["questions"], kept["questions"], strict=True):
        assert (one["question"], one["kind"], one["points"]) == (other["question"], other["kind"], other["points"])
        assert list(one["error"]) == pytest.approx(other["error"], rel=1e-6)
        assert one["coverage"] == pytest.approx(other["coverage"], abs=1e-6)
    assert found["picks"]["cases"] == kept["picks"]["cases"]
    for one, other in zip(found["kept_back"], kept["kept_back"], strict=True):
        assert one["said"] == pytest.approx(other["said"], rel=1e-6)


def test_one_rate_is_nearly_everything_and_better_than_the_trivial_rules() -> None:
    """Error of one rate, and the cheapest machine, both beside the trivial rules."""
    kept = estimates.trials()
    rows = {(row["question"], row["kind"]): row for row in kept["questions"]}
    for name in ("another card", "another precision"):
        row = rows[name, "dense"]
        assert row["error"][0] < 1.12
        assert row["error"][1] < row["simple"][1]
    rules = kept["picks"]["rules"]
    assert rules["this model"]["among three"] >= rules["same share of the peak"]["among three"]
    assert rules["this model"]["regret"][0] <= 0.02


def test_no_trial_is_as_far_off_as_a_rate_that_is_not_carried() -> None:
    farthest = estimates.trials()["farthest"]
    assert 0.9 * rates.FARTHEST < farthest < rates.FARTHEST


def test_the_fitted_model_speaks_without_this_program() -> None:
    """What its file says of a dense model of 8 billion, in bf16 on an H100 with llm-foundry, by hand and by Python."""
    model = json.loads(document.MODEL.read_text())
    point = {"kind": "dense", "software": "llm-foundry", "card": "H100", "precision": "bf16", "task": "pretrain"}
    size = log(8.03 / 8)
    numbers = {"constant": 1.0, "size": size, "size above 1 billion": size, "attention": 1 - 6 * 8.03 / 51.4}
    x = np.array(
        [
            all(point[key] == value for key, value in one.get("is", {}).items())
            * (numbers.get(one["number"], 0.0) if "number" in one else 1.0)
            for one in model["columns"]
        ]
    )
    covariance = np.zeros((len(x), len(x)))
    covariance[np.tril_indices(len(x))] = model["covariance"]
    covariance += np.tril(covariance, -1).T
    own = sum(deviation**2 for _, deviation in model["own"])
    tflops = 396 * np.exp(x @ model["weights"])
    deviation = np.sqrt(x @ covariance @ x + own + model["noise"] ** 2)

    facts = estimates.points()
    fitted = linear.fit(facts, CARD)
    asked = replace(POINT, model="another", active_billion=8.03, total_billion=8.03, gflop=51.4)
    (expected,), (spread,) = linear.predict(fitted, [asked])
    assert tflops / 51.4 * 1000 == pytest.approx(np.exp(expected), rel=1e-4)
    assert deviation == pytest.approx(spread, rel=1e-4)


def test_the_fitted_model_is_small() -> None:
    assert document.MODEL.stat().st_size < 90_000


def test_printed_trainings_keep_what_quotes_say_they_keep() -> None:
    """Of all rows with a number of cards one breaks the rule, a 70B on 32 TPUs: 14.5 GB a billion parameters."""
    known = estimates.known()
    names = {name: model for model, about in known.models.items() for name in about["names"]}
    kept, broken = 0, []
    for row in estimates.rows():
        about = known.models.get(names.get(row["model"], ""), {})
        total = about.get("total_billion", about.get("active_billion"))
        if not total or not row["cards"]:
            continue
        room = ROOM * known.cards[known.card("a table", row["card"])]["memory_gb"] * float(row["cards"])
        if total * question.STATE_BYTES[row["task"]] <= room:
            kept += 1
        else:
            broken.append((row["model"], row["card"], row["cards"]))
    assert kept > 440
    assert broken == [("Llama3.1-70B", "TPU v6e", "32")]


def test_speeds_that_no_quote_is_made_from_lie_in_the_interval() -> None:
    """MLPerf's logs of a sequence a card and step or more; of less, which is refused, hardly any do."""
    kept = estimates.trials()["kept_back"]
    assert len(kept) > 150
    whole, parts = ([one for one in kept if one["is_whole"] is is_whole] for is_whole in (True, False))
    held = [sum(one["low"] <= one["logged"] <= one["high"] for one in of) / len(of) for of in (whole, parts)]
    assert held[0] > 0.73
    assert held[1] < 0.5
    middle, tenth = trial.spread([log(one["said"] / one["logged"]) for one in whole])
    assert middle < 1.15
    assert tenth < 1.5


def test_what_lies_outside_the_intervals_of_most_logs_is_said() -> None:
    """A B300 in NVFP4: its data sheet has half as much again as a B200's, of which nine results show little."""
    known = estimates.known()
    assert list(known.off_logs) == [("B300", "nvfp4")]
    assert 1.25 < known.off_logs["B300", "nvfp4"] < 1.5


def test_a_result_of_mlperf_is_worked_out_from_two_validations(tmp_path: Path) -> None:
    """192 sequences of 8,192 tokens and 160 validated ones, a third each, in 100 s on eight cards: 2,512 each."""
    from tests.simulation import kept_back

    run = tmp_path / "v5.1" / "Somebody" / "results" / "one" / "llama31_8b"
    run.mkdir(parents=True)
    (tmp_path / "v5.1" / "Somebody" / "systems").mkdir()
    about = {"accelerator_model_name": "NVIDIA H200", "number_of_nodes": "1", "accelerators_per_node": "8"}
    (tmp_path / "v5.1" / "Somebody" / "systems" / "one.json").write_text(json.dumps(about))
    lines = [("global_batch_size", 0, 16, {}), ("eval_samples", 0, 80, {})]
    lines += [
        ("eval_accuracy", 1000 * at, 3.0, {"samples_count": count}) for at, count in ((50, 96), (100, 192), (150, 288))
    ]
    lines += [("run_stop", 151_000, None, {"status": "success"})]
    text = [
        ":::MLLOG " + json.dumps({"namespace": "", "time_ms": at, "key": key, "value": value, "metadata": more})
        for key, at, value, more in lines
    ]
    (run / "result_0.txt").write_text("\n".join([*text, ":::MLLOG {broken"]))
    (row,) = kept_back.rows(tmp_path)
    assert (row["card"], row["cards"], row["sequences"], row["runs"]) == ("H200", 8, "16", 1)
    assert int(row["tokens_per_second_per_card"]) == round((192 + 160 / 3) * 8192 / 100 / 8)


def test_few_steps_and_many_cards_are_counted_in_committed_tables() -> None:
    sources = estimates.ROOT / "reports" / "published" / "sources"
    steps = [int(row["steps"]) for _, row in read_csv(sources / "speedrun-logs.csv") if row["steps"]]
    assert min(steps) == question.FEWEST_STEPS
    assert max(float(row["cards"] or 0) for row in estimates.rows()) == question.MOST_PRINTED
