"""The published speeds of language models, as printed: no row is lost, none that cannot be counted is used."""

from collections import Counter

from scripts.storage.files import read_csv
from scripts.studies import definition

SOURCES = definition.ROOT / "reports" / "published" / "sources" / "language-models.csv"
COLUMNS = SOURCES.read_text(encoding="utf-8").splitlines()[0].split(",")
ROWS = [row for _, row in read_csv(SOURCES, COLUMNS, cut=False)]


def test_every_printed_row_is_there_with_its_source() -> None:
    # the counts that the note beside the collected table gives
    assert Counter(row["source"].split("@")[0] for row in ROWS) == {
        "NVIDIA-NeMo/Megatron-Bridge": 278,
        "NVIDIA-NeMo/Automodel": 16,
        "mosaicml/llm-foundry": 216,
        "AI-Hypercomputer/tpu-recipes": 47,
    }
    assert all("#L" in row["source"] and row["published"] and row["card"] for row in ROWS)


def test_a_row_has_a_throughput_or_a_reason() -> None:
    assert Counter(row["left_out"] for row in ROWS if row["left_out"]) == {
        "two figures in one cell": 14,
        "no throughput printed": 1,
    }
    assert all(bool(row["left_out"]) != bool(row["tokens_per_second_per_card"]) for row in ROWS)


def test_printed_tokens_follow_from_the_step() -> None:
    step = ("step_seconds", "global_batch", "sequence_length", "cards", "tokens_per_second_per_card")
    known = [[float(row[key]) for key in step] for row in ROWS if all(row[key] for key in step)]
    assert len(known) == 37
    for seconds, batch, length, cards, tokens in known:
        assert abs(batch * length / (seconds * cards) / tokens - 1) < 0.03
