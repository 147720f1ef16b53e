"""Points of tables, against figures worked out by hand."""

from math import exp, log
from statistics import median, stdev

import pytest

from scripts.estimate import points
from scripts.storage import schemas
from scripts.storage.files import read_csv
from tests.conftest import ROOT

CARDS = schemas.read_yaml(ROOT / "config" / "cards.yaml", "cards")
MODELS = schemas.read_yaml(ROOT / "config" / "language_models.yaml", "language-models")["models"]

ROW = {
    "source": "somewhere#L1", "published": "2025-09", "software": "NeMo 25.09 (Megatron-Bridge)", "task": "pretrain",
    "model": "LLAMA3_8B", "card": "H100", "cards": "8.0", "precision": "FP8-CS", "sequence_length": "8192.0",
    "tokens_per_second_per_card": "14079.0", "model_tflops_per_card": "725.0",
}  # fmt: skip


def of(*rows: dict[str, str]) -> list[points.Point]:
    return points.of_facts(rows, MODELS, CARDS["cards"], CARDS["names"])


def test_work_of_a_token_is_six_a_parameter_and_attention() -> None:
    """6 x 8.03 = 48.18, and 6 x 32 layers x 8192 tokens x 4096 = 6.44; the table's own 725 / 14079 is 51.5."""
    (point,) = of(ROW)
    assert point.gflop == pytest.approx(48.18 + 6.442, abs=1e-2)
    assert exp(point.tflops) == pytest.approx(14079 * 54.62 / 1000, rel=1e-3)
    assert (point.precision, point.software, point.kind) == ("fp8", "Megatron-Bridge", "dense")


def test_adapters_are_two_thirds_of_the_work() -> None:
    assert points.gflop_per_token(10, 1, 1, 0, "lora") == pytest.approx(40)


def test_attention_is_the_work_that_is_for_no_parameter() -> None:
    """6.44 of 54.62 GFLOP of Llama 3 8B at 8,192 tokens, whatever the task leaves out of both."""
    assert of(ROW)[0].attention == pytest.approx(6.442 / 54.62, abs=1e-3)
    assert of(ROW | {"task": "lora"})[0].attention == pytest.approx(6.442 / 54.62, abs=1e-3)


def test_of_releases_the_newest_counts() -> None:
    newer = ROW | {"published": "2026-02", "tokens_per_second_per_card": "15000"}
    assert [point.rate for point in of(newer, ROW)] == [15000]
    assert len(of(ROW, ROW | {"sequence_length": "4096"})) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"tokens_per_second_per_card": ""},
        {"model": "wan2.1-14b"},
        {"precision": ""},
        {"precision": "FP8-CS (FP8-MX)"},
        {"precision": "NVFP4"},  # no H100 has it
        {"card": "H900"},
        {"sequence_length": "", "model_tflops_per_card": ""},
    ],
)
def test_rows_that_do_not_say_what_they_are_are_left_out(change: dict[str, str]) -> None:
    assert of(ROW | change) == []


def test_a_row_without_a_length_is_counted_by_its_publisher() -> None:
    (point,) = of(ROW | {"sequence_length": ""})
    assert point.tflops == pytest.approx(log(725))


def test_every_model_has_its_active_parameters_and_is_named_once() -> None:
    names = [name for about in MODELS.values() for name in about["names"]]
    assert len(names) == len(set(names))
    assert all(about["active_billion"] <= about.get("total_billion", 1e9) for about in MODELS.values())
    assert all("total_billion" in about for about in MODELS.values() if about["kind"] != "dense")


def test_a_card_is_no_faster_in_more_bits() -> None:
    for card in CARDS["cards"].values():
        peaks = [card["peak_tflops"][name] for name in points.PRECISIONS if name in card["peak_tflops"]]
        assert peaks == sorted(peaks)


def test_the_work_of_a_token_agrees_with_what_the_newest_tables_print() -> None:
    """Publishers count attention fully or causally; parameters, layers and widths that fit neither are wrong.

    What a publisher counts otherwise in a later release was wrong before (GPT-OSS 120B: 27.2 GFLOP, and 32.6).
    """
    known = {name: model for model, about in MODELS.items() for name in about["names"]}
    off: dict[str, list[list[float]]] = {}
    rows = [row for _, row in read_csv(ROOT / "reports" / "published" / "sources" / "language-models.csv", cut=False)]
    newest: dict[tuple[str | None, str], str] = {}
    for row in rows:
        key = known.get(row["model"]), points.software_class(row["software"])
        newest[key] = max(newest.get(key, ""), row["published"])
    for row in rows:
        model, length = known.get(row["model"]), row["sequence_length"]
        rate, tflops = row["tokens_per_second_per_card"], row["model_tflops_per_card"]
        is_newest = row["published"] == newest[model, points.software_class(row["software"])]
        if model and rate and tflops and length and is_newest:
            about, printed = MODELS[model], float(tflops) / float(rate) * 1000
            shape = (about["layers"], about["width"], float(length), row["task"])
            causal = points.gflop_per_token(about["active_billion"], *shape)
            full = causal + points.gflop_per_token(0, *shape)
            off.setdefault(model, []).append([printed / causal, printed / full])
    for model, about in MODELS.items():
        assert ("printed TFLOPs agree" in about["source"]) == (model in off), model
        if model in off:
            assert min(abs(log(median(ways))) for ways in zip(*off[model], strict=True)) < log(1.1), model


def test_four_bits_take_as_long_as_ten_pairs_of_litgpt_did() -> None:
    """Runs of one model on one A10G that differ in LoRA or QLoRA alone: the median of their minutes."""
    rows = [row for _, row in read_csv(ROOT / "reports" / "published" / "sources" / "litgpt-fine-tuning.csv")]
    minutes: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        folder, _, task = row["config"].partition("/")
        if row["machine"] == "1xA10G" and row["minutes"]:
            keys = ("epochs", "max_seq_length", "micro_batch_size")
            alike = (folder.replace("gemma2b", "gemma2-2b"), *(row[key] for key in keys))
            minutes.setdefault(alike, {})[task.removesuffix(".yaml")] = float(row["minutes"])
    times = [of["qlora"] / of["lora"] for of in minutes.values() if {"lora", "qlora"} <= set(of)]
    assert len(times) == 10
    assert [round(min(times), 2), round(max(times), 2)] == [1.08, 2.05]
    assert round(median(times), 2) == points.QUANTISED
    assert round(stdev(map(log, times)), 2) == points.QUANTISED_DEVIATION
    assert points.gflop_per_token(10, 1, 1, 0, "qlora") == pytest.approx(40 * 1.38)


@pytest.mark.parametrize("card", [card for card, about in CARDS["cards"].items() if "fp8" in about["peak_tflops"]])
def test_half_the_bits_are_twice_the_peak(card: str) -> None:
    """A figure with sparsity, or of FP16 sums, would be off by two."""
    peaks = CARDS["cards"][card]["peak_tflops"]
    assert peaks["fp8"] / peaks["bf16"] == pytest.approx(2, rel=0.02)


def test_names_of_cards_are_of_cards_that_are_there() -> None:
    assert set(CARDS["names"].values()) <= set(CARDS["cards"])
