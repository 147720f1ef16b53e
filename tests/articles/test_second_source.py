"""NVIDIA's rows beside Lambda's: literals are figures as the READMEs at 729963dd47 and Lambda's tables print them."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from scripts.articles.second_source import figures
from scripts.importers import facts
from scripts.pages import article
from scripts.storage import schemas, tables
from scripts.studies import articles, definition
from tests.importers.test_published import published
from tests.made import run, runs

LAMBDA = definition.ROOT / "reports" / "published" / "facts" / "lambda-gpus.csv"

#: The committed material that the rows were taken from, where it is here.
MATERIAL = (published() or definition.ROOT) / "deeplearningexamples" / "tables.json"


@pytest.fixture(scope="module")
def shown() -> SimpleNamespace:
    """The published study's rows of the second source, and its tables."""
    study = definition.read("lambda-gpus", {})[1]
    rows = articles.given(study)["second_source"]
    done = tables.conform(facts.runs_of(facts.read(LAMBDA)), "runs")
    empty = pd.DataFrame()
    return SimpleNamespace(study=study, rows=rows, **figures.tables(study, done, empty, empty, rows))


def figure(rows: pd.DataFrame, place: str, row: int, precision: str) -> dict[str, Any]:
    of = rows[rows["source"].str.endswith(place) & rows["row"].eq(str(row)) & rows["kind"].eq("throughput")]
    (found,) = of[of["precision"] == precision].to_dict("records")
    return found


#: File and line of the table, its row, arithmetic; the card, how many, batch of one card, rate and unit.
BY_HAND = [
    ("PyTorch/Classification/ConvNets/resnet50v1.5/README.md#L604", 2, "mixed", "V100 16 GB", 8, "", 8322, "images/s"),
    ("MxNet/Classification/RN50v1.5/README.md#L650", 3, "tf32", "A100 80 GB", 8, "", 8247.44, "images/s"),
    ("PyTorch/Detection/SSD/README.md#L663", 6, "mixed", "V100 16 GB", 8, "64", 2520.5, "images/s"),
    ("PyTorch/LanguageModeling/BERT/README.md#L862", 1, "fp32", "V100 32 GB", 1, "8", 12, "sequences/s"),
    ("PyTorch/LanguageModeling/BART/README.md#L595", 2, "bf16", "A100 80 GB", 160, "200", 52459.02, ""),
    (
        "PyTorch/LanguageModeling/Transformer-XL/README.md#L1585",
        4,
        "mixed",
        "V100 32 GB",
        128,
        "4",
        1189700,
        "tokens/s",
    ),
    ("PyTorch/Recommendation/NCF/README.md#L823", 1, "fp32", "V100 16 GB", 1, "1048576", 10.42e6, "samples/s"),
    ("PyTorch/SpeechSynthesis/Tacotron2/README.md#L738", 3, "fp32", "V100 16 GB", 8, "48", 58703, "mels/s"),
    ("PyTorch/SpeechSynthesis/Tacotron2/README.md#L702", 1, "tf32", "A100 40 GB", 1, "4", 67581, "audio samples/s"),
    ("TensorFlow/Translation/GNMT/README.md#L642", 2, "fp32", "V100 16 GB", 8, "128", 93688, "tokens/s"),
    ("TensorFlow2/LanguageModeling/BERT/README.md#L811", 2, "tf32", "A100 80 GB", 8, "38", 341.31, "sequences/s"),
    (
        "DGLPyTorch/DrugDiscovery/SE3Transformer/README.md#L502",
        3,
        "mixed",
        "A100 80 GB",
        8,
        "240",
        21.42,
        "molecules/ms",
    ),
]


@pytest.mark.parametrize(("place", "row", "precision", "card", "cards", "batch", "rate", "unit"), BY_HAND)
def test_figures_are_as_the_source_prints_them(
    place: str,
    row: int,
    precision: str,
    card: str,
    cards: int,
    batch: str,
    rate: float,
    unit: str,
    shown: SimpleNamespace,
) -> None:
    found = figure(shown.rows, place, row, precision)
    assert [found[key] for key in ("card", "cards", "batch_per_card", "rate", "unit")] == [
        card,
        cards,
        batch,
        rate,
        unit,
    ]


def test_every_row_is_shown_and_counted_once(shown: SimpleNamespace) -> None:
    """167 tables by the material's README, of which one is a line of a log and has no row."""
    keys = shown.rows[["source", "row"]].drop_duplicates()
    assert (len(keys), keys["source"].nunique()) == (698, 166)
    assert len(shown.second_source_rows) == 698
    assert shown.second_source_rows["source"].is_unique
    fate = shown.second_source_counts.set_index("what")
    assert fate["rows"].sum() == 698
    assert fate["figures"].sum() == shown.rows["rate"].notna().sum() == 1368
    left_out = shown.second_source_rows.dropna(subset="left_out")
    assert len(left_out) >= fate["rows"].iloc[2:].sum(), "who is left out has a reason"
    assert fate.loc["set beside", "rows"] == 65


def test_the_page_has_every_row_with_its_place(shown: SimpleNamespace) -> None:
    words = schemas.read_yaml(definition.ROOT / "reports" / "words" / "lambda-gpus.yaml", "words")
    page = article.table("second_source_rows", shown.second_source_rows, words["second_source_rows"], {})
    places = shown.rows["source"].str.partition(":")[2] + ", row " + shown.rows["row"]
    assert [line[-1] for line in page["rows"]] == list(dict.fromkeys(places))
    (line,) = [line for line in page["rows"] if line[-1] == "PyTorch/Detection/SSD/README.md#L663, row 6"]
    assert line[:8] == ["SSD300", "—", "PyTorch", "V100 16 GB", "8", "—", "2,520.5", "images/s"]


@pytest.mark.parametrize(
    ("place", "row", "reason"),
    [
        ("MxNet/Classification/RN50v1.5/README.md#L650", "1", "its printed speed-up is not that of its figures"),
        ("PyTorch/SpeechRecognition/Jasper/README.md#L644", "1", "no unit in its table or headings"),
        ("PyTorch/Classification/ConvNets/README.md#L69", "5", "no number of cards in its table"),
        ("PyTorch/SpeechSynthesis/Tacotron2/README.md#L713", "1", "no card in its headings"),
        ("TensorFlow2/Recommendation/SIM/README.md#L1048", "1", "speed-ups alone, no rate"),
        ("PyTorch/Classification/ConvNets/efficientnet/README.md#L627", "4", "more than as many single cards can do"),
        ("CUDA-Optimized/FastSpeech/README.md#L391", "1", "no figure in it"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_its_reason(
    place: str, row: str, reason: str, shown: SimpleNamespace
) -> None:
    of = shown.rows[shown.rows["source"].str.endswith(place) & shown.rows["row"].eq(row)]
    assert set(of["left_out"]) == {reason}
    assert not shown.second_source["source"].str.endswith(place)[shown.second_source["row"].eq(row)].any()
    (line,) = shown.second_source_rows[shown.second_source_rows["source"] == f"{place}, row {row}"].to_dict("records")
    assert line["left_out"] == reason


def test_arithmetic_is_that_of_the_card(shown: SimpleNamespace) -> None:
    """Where a table of an A100 is headed FP32, another of its columns says TF32."""
    read = shown.rows[shown.rows["rate"].notna()]
    assert set(read.loc[read["card"].str.startswith("V100"), "precision"]) == {"fp32", "mixed", ""}
    assert set(read.loc[read["card"].str.startswith("A100"), "precision"]) == {"tf32", "mixed", "bf16"}


def test_what_is_set_beside_is_the_same_net_task_unit_and_card(shown: SimpleNamespace) -> None:
    pairs = shown.second_source.set_index(["workload", "card", "devices", "precision", "framework"])
    assert pairs.index.is_unique
    by_hand = {
        ("resnet50", "V100 16 GB", 1, "float16", "PyTorch"): 833 / 1200,
        ("resnet50", "A100 80 GB", 8, "float32", "PaddlePaddle"): 7397 / 8013,
        ("ssd", "V100 16 GB", 8, "float16", "PyTorch"): 1715 / 2520.5,  # of 2153.96 and 2520.50
        ("bert_large_squad", "A100 80 GB", 8, "float32", "PyTorch"): 251 / 469.8,
        ("transformer_xl_large", "V100 16 GB", 8, "float32", "PyTorch"): 16482 / 24595,
        ("tacotron2", "V100 16 GB", 4, "float32", "PyTorch"): 41341 / 32035,
        ("ncf", "V100 16 GB", 1, "float16", "PyTorch"): 23476979 / 21.84e6,
    }
    for key, ratio in by_hand.items():
        assert pairs.loc[key, "ratio"] == pytest.approx(ratio), key
    assert set(shown.second_source["card"]) == {"V100 16 GB", "A100 80 GB"}, "of the A100 40 GB the form differs"
    assert not shown.second_source["source"].str.contains("TensorFlow/Detection/SSD").any(), "SSD320 is another net"
    assert shown.second_source["is_same_code"].sum() == 56


STUDY = {
    "machines": {"one": {"label": "V100", "gpus": {"model": "V100 PCIe", "count": 1}}, "cpu": {"label": "no card"}},
    "second_source": {
        "by": "Maker",
        "code": "PyTorch",
        "cards": {"V100 PCIe": "V100"},
        "workloads": {"mnist_mlp": {"nets": ["MLP"], "task": "digits", "unit": "images/s"}},
    },
}


def printed(rate: float, **values: Any) -> dict[str, Any]:
    about = {
        "source": "a/b@1:README.md#L1",
        "row": "1",
        "published": "2020-01-01",
        "framework": "PyTorch",
        "net": "MLP",
    }
    about |= {"task": "digits", "system": "", "card": "V100", "cards": 1, "precision": "mixed", "batch_per_card": "8"}
    about |= {"unit": "images/s", "unit_from": "table", "kind": "throughput", "note": "", "left_out": ""}
    return about | {"rate": rate} | values


def test_median_here_over_the_highest_rate_there() -> None:
    mine = [
        run(hardware="one", devices=1, precision="float16", batch_size=8, samples_per_second=rate, repeat=n)
        for n, rate in enumerate((90.0, 100.0, 120.0), 1)
    ]
    theirs = [printed(100.0), printed(125.0, row="2", batch_per_card="16"), printed(400.0, row="3", framework="MXNet")]
    unlike = [
        {"task": "letters"},
        {"unit": "rows/s"},
        {"card": "A100"},
        {"cards": 2},
        {"left_out": "why"},
        {"net": "CNN"},
    ]
    theirs += [printed(900.0, row=str(n), **other) for n, other in enumerate([*unlike, {"kind": "hours to train"}], 4)]
    found = figures.beside(STUDY, runs(*mine), pd.DataFrame(theirs))
    assert found[["rate", "theirs", "batch_per_card", "framework", "is_same_code", "ratio"]].values.tolist() == [
        [100.0, 125.0, "16", "PyTorch", True, 0.8],
        [100.0, 400.0, "8", "MXNet", False, 0.25],
    ]


@pytest.mark.skipif(not MATERIAL.is_file(), reason="the tables that the rows were taken from are not here")
def test_each_figure_stands_in_the_row_that_it_names(shown: SimpleNamespace) -> None:
    """Read anew, by the characters of the cells alone."""
    there = {
        (table["source"], str(at)): {plain(cell) for cell in cells}
        for table in json.loads(MATERIAL.read_text(encoding="utf-8"))
        for at, cells in enumerate(table["rows"], 1)
    }
    taken = shown.rows.dropna(subset="rate")
    assert set(zip(shown.rows["source"], shown.rows["row"], strict=True)) == set(there)
    for source, row, rate in zip(taken["source"], taken["row"], taken["rate"], strict=True):
        assert rate in there[source, row], (source, row, rate)


def plain(cell: str) -> float | None:
    found = re.fullmatch(r"~?([\d.]+)(M?)", re.sub(r"img/s|hours|[ ,]", "", cell))
    return float(found[1]) * (1e6 if found[2] else 1) if found else None
