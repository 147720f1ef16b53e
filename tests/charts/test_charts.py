import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_svg import RendererSVG
from PIL import Image

from scripts import charts
from scripts.articles.gpus import figures as cards
from scripts.charts import _theme
from scripts.charts._view import Chart, View
from scripts.records.reference import Reference
from scripts.storage import tables
from tests.made import BOOK, CATALOGUE, FAILED, JUDGE, costs, epoch, offer, price_book, run, runs

REFERENCE = Reference("val_acc", (0.5, 0.7, 0.9), "a log of 2017")

EVIL = "<script>4 & 'more' $x_{$</script>"

#: A label with it, in lines.
LINES = ("TensorFlow ·", "<script>4 & 'more'", "$x_{$</script>")

#: What `scripts.analysis.figures` derives, for the charts of a whole study.
TABLES = {
    "scaling": pd.DataFrame(
        [("cpu1", "cpu4", 4, "vgg16", 16, 0.5), ("cpu1", "cpu4", 4, "vgg16", 32, 0.75),
         ("cpu1", "cpu4", 4, "resnet50", 16, 0.25), ("cpu1", "cpu4", 4, "resnet50", 32, 0.25)],
        columns=["single", "multi", "gpus", "workload", "batch_size", "efficiency"],
    ),
    "scaling_means": pd.DataFrame(
        [("vgg16", 16, 0.5), ("vgg16", 32, 0.75), ("resnet50", 16, 0.25)],
        columns=["workload", "batch_size", "efficiency"],
    ),
    "samples_per_usd": pd.DataFrame(
        [("vgg16", 16, "owned", 1.0, 2.0e6), ("vgg16", 16, "spot", 2.5, 0.8e6)],
        columns=["workload", "batch_size", "price", "usd_per_hour", "samples_per_usd"],
    ),
    "to_train": pd.DataFrame(
        [("vgg16", 1e6, 100.0, "owned", 110.0), ("vgg16", 1e6, 100.0, "spot", 250.0)],
        columns=["workload", "samples", "hours", "price", "cost_usd"],
    ),
    "use": pd.DataFrame(
        [("eight", 1.0, 10.0, 0.2), ("eight", 10.0, 1.0, 2.0), ("eight", 30.0, 0.4, 5.0)],
        columns=["against", "days", "usd_per_hour", "gain"],
    ).assign(base="owned"),
    "gains": pd.DataFrame(
        [("eight", "owned", 1.1, "8 cards", 5.0)],
        columns=["against", "base", "at_usd_per_hour", "label", "break_even_days"],
    ),
    "rents": pd.DataFrame(
        [("cpu1", "on-demand", 0.1, 99.0), ("cpu4", "on-demand", 2.0, 5.0), ("cpu4", "spot", 2.1, 4.75),
         ("gpu", "on-demand", None, None)],
        columns=["hardware", "price_option", "usd_per_hour", "break_even_days"],
    ),
    "monthly": pd.DataFrame(
        [("by the minute", 4.0, 0.125, 0.5, 0.25, 0.875), ("by the hour", 4.0, 3.0, 0.5, 0.25, 3.75)],
        columns=["label", "every_hours", "compute_usd", "fees_usd", "services_usd", "total_usd"],
    ).assign(rule=["by-the-minute", "by-the-hour"]),
    "generations": pd.DataFrame(
        [("B", "A", "ResNet-50", 2, 1, 0.5, 0.4, 0.6, 1.1), ("B", "A", "BERT", 2, 1, 0.3, 0.2, 0.4, 0.7)],
        columns=["new", "old", "label", "new_results", "old_results", "hours", "hours_low", "hours_high", "usd"],
    ).assign(round="v1.0"),
    "cheapest": pd.DataFrame(
        [("bert", "BERT", name, day, "A", 8, "me", usd, then) for name, day, usd, then in
         (("v1.0", "2021-06-30", 9.0, None), ("v2.0", "2022-06-29", 5.0, 8.0), ("v3.0", "2023-06-27", 6.0, 9.0))],
        columns=["series", "label", "round", "published", "card", "accelerators", "submitter", "usd", "usd_then"],
    ).assign(than_first=["", "less", "less"]),
    "software": pd.DataFrame(
        [("A", "BERT", "v1.0", 1.0), ("A", "BERT", "v2.0", 1.5)], columns=["card", "label", "round", "speedup"]
    ),
    "scale": pd.DataFrame(
        [("BERT", "A", cards, cards * 0.8, 1 + cards / 100) for cards in (1.0, 8.0, 64.0)],
        columns=["label", "card", "cards", "faster", "dearer"],
    ),
    "spread": pd.DataFrame(
        [("BERT", "A", 4, 10.0, 11.0, 13.0, 1.3), ("RNN-T", "A", 5, 10.0, 10.5, 11.0, 1.1)],
        columns=["label", "card", "submitters", "fastest", "median", "slowest", "apart"],
    ),
    "card_scaling": pd.DataFrame(
        [("resnet50", "V100", "float16", 4, 0.9, 3, 3)],
        columns=["workload", "card", "precision", "devices", "efficiency", "runs", "plain_runs"],
    ).assign(framework="tf"),
    "billion": pd.DataFrame(
        [("Llama_3_8B", "A100", "BF16", 30.0, 20.0), ("Llama_3_8B", "H100", "FP8", 25.0, None)],
        columns=["workload", "card", "format", "usd_on-demand", "usd_spot"],
    ).assign(devices=8, framework="NeMo"),
    "alike": pd.DataFrame(
        [("H100", "A100", 2.0, 0.8, 0.9), ("GB300", "A100", 4.0, None, None)],
        columns=["card", "than", "faster", "usd_on-demand", "usd_spot"],
    ).assign(workload="Llama_3_8B", framework="NeMo", format="BF16", devices=8),
    "releases": pd.DataFrame(
        [
            ("A_pre-training", "moe", "NeMo-26.02", "2026-02", "NeMo-26.08", "2026-08", True, 2.0, 0.5),
            ("B_pre-training", "dense", "NeMo-26.02", "2026-02", "NeMo-26.04", "2026-04", True, 0.8, 1.25),
        ],
        columns=["workload", "kind", "than", "since", "framework", "published", "is_last", "faster", "cost"],
    ).assign(card="H100", format="BF16", devices=8, step=[2.0, 0.8]),
    "formats": pd.DataFrame(
        [("H100", "FP8", "BF16", 1.25), ("B200", "FP8", "BF16", 1.5), ("B200", "NVFP4", "FP8", 1.2)],
        columns=["card", "format", "than", "faster"],
    ),
    "tokens_scale": pd.DataFrame(
        [("H100", 8, 8, 1.0, 1.0), ("H100", 8, 64, 8.0, 1.1)], columns=["card", "fewest", "devices", "more", "dearer"]
    ).assign(workload="Llama_3_8B", framework="NeMo", precision="fp8", batch_size=8192),
    "every_record": pd.DataFrame(
        [("small", 1, "2024-05-28", 45.0, 24.0, "first"), ("small", 2, "2026-05-28", 1.5, 0.8, "last")],
        columns=["label", "record", "date", "minutes", "usd", "mark"],
    ).assign(is_retimed=False),
    "curves": pd.DataFrame(
        [("2024-10-11", 4, 125, 4.5, 0.5), ("2024-10-11", 4, 6200, 3.3, 12.0), ("2025-01-16", 20, 100, 3.4, 1.5)],
        columns=["date", "record", "step", "val_loss", "usd"],
    ).assign(seconds=1.0),
    "rows": pd.DataFrame(
        [("lora", "1xA10G", 20.0, 0.6, 1.6, 2.0), ("qlora", "1xA10G", 10.0, 0.8, 4.5, 5.1)],
        columns=["config", "machine", "minutes", "usd", "per_hour_low", "per_hour_high"],
    ),
    "implied": pd.DataFrame([("1xA10G", 2, 1, 1.6, 2.0)], columns=["machine", "rows", "agree", "low", "high"]),
    "second_source": pd.DataFrame(
        [("resnet50", "V100 16 GB", "float16", True, 0.7), ("resnet50", "V100 16 GB", "float32", False, 1.1)],
        columns=["workload", "card", "precision", "is_same_code", "ratio"],
    ).assign(by="NVIDIA", row="1"),
    "several_gpus": pd.DataFrame(
        [("mnist_mlp", "2 cards", "several", 1.5), ("mnist_mlp", "2 cards", "one", 2.0)],
        columns=["workload", "label", "gpus", "hours"],
    ),
}  # fmt: skip


def view(*rows: dict, catalogue: dict = CATALOGUE, epochs: list[dict] | None = None, **values) -> View:
    """Return what a chart sees; the base is TensorFlow on cpu1."""
    frame = runs(*rows)
    curves = pd.DataFrame(epochs or [], columns=list(tables.columns("epochs")))
    seen = View(
        workload="mnist_mlp",
        runs=frame,
        epochs=tables.conform(curves, "epochs"),
        costs=costs(frame, catalogue),
        base={"hardware": "cpu1", "framework": "tensorflow"},
        labels={name: about["label"] for name, about in catalogue.items()},
        reference=REFERENCE,
        published_batch_size=128,
        published_epochs=3,
        price_option="on-demand",
        price_label="on-demand price",
        tables=TABLES,
        prices={"on-demand": "on-demand price", "spot": "spot price"},
        judge=JUDGE,
    )
    return replace(seen, **values)


def curve(name: str, framework: str, *values: float | None, metric: str = "val_acc", **axes) -> list[dict]:
    """Return the epochs of one run."""
    cell = {"workload": "mnist_mlp", "hardware": "cpu1", "framework": framework, "batch_size": 128, "repeat": 1}
    return [{"run": name} | cell | axes | epoch(i, **{metric: value}) for i, value in enumerate(values)]


def drawn(name: str, seen: View) -> Chart:
    made = charts.chart(name).draw(seen)
    assert made is not None
    return made


def said(chart: Chart) -> str:
    """Return title, caption and notes."""
    return " ".join([chart.finding, chart.caption, *chart.notes])


def ratios(chart: Chart) -> dict[str, float]:
    return dict(zip(chart.data["label"], chart.data["ratio"], strict=True))


def words(chart: Chart) -> set[str | None]:
    svg = ElementTree.fromstring(_theme.svg(chart, "chart"))
    return {element.text for element in svg.iter() if element.tag.endswith("text")}


THREE = (run(), run(hardware="cpu4", train_seconds=40.0), run(framework="jax", train_seconds=150.0))

#: The same as logs of others record them: no batch size, but the use of the GPU.
LOGGED = tuple(row | {"batch_size": None, "gpu_percent": 80.0, "first_step_seconds": None} for row in THREE)

#: The base, and what differs from it in one axis; a second run of the base.
AXES = (
    run(gpu_percent=80.0, training_seconds=90.0, total_seconds=130.0),
    run(gpu_percent=90.0, repeat=2, training_seconds=90.0, total_seconds=130.0),
    run(mode="tuned", samples_per_second=15_000.0),
    run(precision="bfloat16", samples_per_second=8_000.0),
    run(batch_size=512, samples_per_second=12_000.0),
    run(devices=2, samples_per_second=16_000.0),
)

OF_STUDY = [name for name in charts.names() if getattr(charts.chart(name), "SCOPE", "workload") == "study"]
BARS = ["accuracy", "bill", "relative_cost", "relative_time", "time", "utilisation"]


@pytest.mark.parametrize("name", charts.names())
def test_every_chart_says_how_to_read_it(name: str) -> None:
    module = charts.chart(name)
    assert module.TITLE
    assert module.HELP.endswith(".")
    assert not getattr(module, "MISSING", "").endswith("."), "it ends a sentence of the report"
    assert getattr(module, "SCOPE", "study") == "study"


def test_time_is_relative_to_the_base() -> None:
    chart = drawn("relative_time", view(*THREE))
    assert ratios(chart) == pytest.approx(
        {"TensorFlow · 1 vCPU": 1.0, "TensorFlow · 4 vCPUs": 0.4, "JAX · 1 vCPU": 1.5}
    )
    assert chart.data["median"].to_list() == [100, 40, 150]


def test_cost_is_relative_to_the_base() -> None:
    chart = drawn("relative_cost", view(*THREE))
    assert ratios(chart) == pytest.approx(
        {"TensorFlow · 1 vCPU": 1.0, "TensorFlow · 4 vCPUs": 1.6, "JAX · 1 vCPU": 1.5}
    )
    assert chart.data["median"].to_list() == pytest.approx([0.001, 0.0016, 0.0015])


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
def test_bars_are_medians_of_the_runs_that_are_done(name: str) -> None:
    rows = [run(repeat=i, train_seconds=seconds) for i, seconds in enumerate((90.0, 100.0, 400.0), start=1)]
    jax = [run(framework="jax", train_seconds=50.0), run(framework="jax", repeat=2, **FAILED)]
    diverged = run(framework="jax", repeat=3, status="diverged", train_seconds=1.0)
    chart = drawn(name, view(*rows, *jax, diverged))
    assert chart.data["ratio"].to_list() == pytest.approx([1.0, 0.5])
    assert chart.data["n"].to_list() == [3, 1]
    assert "medians of 1 to 3 runs each" in said(chart)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("relative_time", ["× TensorFlow · 1 vCPU (100 s)", "one run each"]),
        (
            "relative_cost",
            ["× TensorFlow · 1 vCPU (0.00100 USD)", "one run each", "on-demand price",
             "1 vCPU 0.036 USD/h, 4 vCPUs 0.144 USD/h", "prices of 2026-01-02"],
        ),
        ("learning", ["2 runs", "Validation accuracy ends at 0.600 to 0.800", "published, 3 epochs",
                      "0.900 at their end", "a log of 2017"]),
    ],
)  # fmt: skip
def test_caption_says_base_unit_and_number_of_runs(name: str, parts: list[str]) -> None:
    epochs = curve("a", "jax", 0.4, 0.6) + curve("b", "tensorflow", 0.5, 0.8)
    words = said(drawn(name, view(*THREE, epochs=epochs)))
    assert all(part.lower() in words.lower() for part in parts), words


def test_caption_dates_every_price_list() -> None:
    catalogue = CATALOGUE | {
        "cpu4": {"label": "4 vCPUs", "rent": {"provider": "cloud", "items": {"old": 1}}},
    }
    priced = price_book(*BOOK, offer("old", 0.2, as_of="2025-12-31"))
    seen = view(*THREE, catalogue=catalogue, costs=costs(runs(*THREE), catalogue, rows=priced))
    assert "prices of 2025-12-31 and 2026-01-02" in said(drawn("relative_cost", seen))
    assert "4 vCPUs 0.2 USD/h" in said(drawn("relative_cost", seen))


def test_cost_is_drawn_of_the_price_option_that_is_shown() -> None:
    rows = (run(), run(framework="jax", train_seconds=50.0))
    usual, spot = drawn("relative_cost", view(*rows)), drawn("relative_cost", view(*rows, price_option="spot"))
    assert spot.data["median"].to_list() == pytest.approx((usual.data["median"] / 2).to_list())
    assert spot.data["ratio"].to_list() == usual.data["ratio"].to_list()
    assert "0.018 USD/h" in said(spot)


def test_price_option_is_named_by_its_words() -> None:
    seen = view(*THREE, price_label="what I paid & owe")
    assert "× what I paid & owe, billed alone in steps of 1 s. Rates: 1 vCPU 0.036 USD/h" in said(
        drawn("relative_cost", seen)
    )
    assert "× what I paid & owe (prices of 2026-01-02" in said(drawn("bill", seen))


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
def test_failed_cell_keeps_its_row(name: str) -> None:
    chart = drawn(name, view(*THREE, run(framework="torch", **FAILED | {"status": "out_of_memory"})))
    last = chart.data.iloc[-1]
    assert (last["label"], last["n"], last["status"]) == ("PyTorch · 1 vCPU", 0, "out_of_memory")
    assert pd.isna(last["ratio"])
    assert len(chart.data) == 4
    assert re.search("PyTorch · 1 vCPU out.of.memory", chart.description)
    assert "out of memory" in _theme.svg(chart, "chart")


@pytest.mark.slow
def test_machine_without_a_price_keeps_its_row() -> None:
    chart = drawn("relative_cost", view(run(), run(hardware="gpu", train_seconds=5.0)))
    assert chart.data["label"].to_list() == ["TensorFlow · 1 vCPU", "TensorFlow · a card"]
    assert pd.isna(chart.data["ratio"].iloc[1])
    assert "no price" in _theme.svg(chart, "chart")


def test_resumed_run_without_a_time_of_its_own_keeps_its_row() -> None:
    chart = drawn("relative_time", view(run(), run(hardware="cpu4", train_seconds=None)))
    assert pd.isna(chart.data["ratio"].iloc[1])
    assert "\u00a0no time" in words(chart), "a blank that SVG keeps"


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
@pytest.mark.parametrize(
    "rows", [(run(framework="jax"),), (run(**FAILED), run(framework="jax"))], ids=["absent", "failed"]
)
def test_nothing_is_drawn_without_the_base(name: str, rows: tuple[dict, ...]) -> None:
    assert charts.chart(name).draw(view(*rows)) is None


@pytest.mark.parametrize("option", ["spot", "owned"])
def test_no_cost_is_drawn_where_the_base_has_no_price(option: str) -> None:
    base = {"hardware": "cpu4", "framework": "tensorflow"}
    assert charts.chart("relative_cost").draw(view(*THREE, base=base, price_option=option)) is None


def test_another_batch_size_is_named_and_the_first_one_is_the_base() -> None:
    chart = drawn("relative_time", view(run(), run(batch_size=512, train_seconds=25.0)))
    assert ratios(chart) == pytest.approx({"TensorFlow · 1 vCPU": 1.0, "TensorFlow · 1 vCPU · batch 512": 0.25})


NAMES = ["TensorFlow · 1 vCPU", "TensorFlow · 4 vCPUs", "JAX · 1 vCPU"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BARS)
def test_cell_without_a_batch_size_keeps_its_row(name: str) -> None:
    chart = drawn(name, view(*LOGGED))
    assert chart.data["label"].to_list() == NAMES
    assert chart.data["batch_size"].isna().all()
    assert chart.data["n"].to_list() == [1, 1, 1]
    assert all(label in _theme.svg(chart, name) for label in NAMES)


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
def test_cell_without_a_batch_size_is_compared_with_its_base(name: str) -> None:
    factor = {"relative_time": 0.4, "relative_cost": 1.6}[name]
    assert drawn(name, view(*LOGGED)).data["ratio"].to_list() == pytest.approx([1.0, factor, 1.5])


def test_runs_without_a_batch_size_are_one_cell() -> None:
    rows = [LOGGED[0] | {"run": f"r{i}", "repeat": i, "train_seconds": 10.0 * i} for i in (1, 2, 6)]
    chart = drawn("relative_time", view(*rows, LOGGED[1]))
    assert chart.data[["median", "n"]].to_numpy().tolist() == [[20.0, 3], [40.0, 1]]
    assert chart.data["ratio"].to_list() == pytest.approx([1.0, 2.0])


@pytest.mark.parametrize("first", [None, 64])
def test_base_is_the_first_of_its_batch_sizes_known_or_not(first: int | None) -> None:
    other = 64 if first is None else None
    rows = [run(batch_size=first, train_seconds=10.0), run(batch_size=other, repeat=2, train_seconds=20.0)]
    chart = drawn("relative_time", view(*rows))
    assert chart.data["ratio"].to_list() == pytest.approx([1.0, 2.0])


def test_framework_is_left_out_where_there_is_but_one() -> None:
    chart = drawn("relative_time", view(*THREE[:2], one_framework=True))
    assert chart.data["label"].to_list() == ["1 vCPU", "4 vCPUs"]


def test_framework_that_is_not_ours_is_drawn_too() -> None:
    chart = drawn("relative_time", view(run(), run(framework="theano", train_seconds=50.0)))
    assert ratios(chart) == {"TensorFlow · 1 vCPU": 1.0, "theano · 1 vCPU": 0.5}
    assert "theano · 1 vCPU" in _theme.svg(chart, "chart")


@pytest.mark.parametrize(
    ("name", "column", "values", "words"),
    [
        ("time", "train_seconds", [3600.0, 7200.0, 900.0], [" 1.00", " 2.00", " 0.250"]),
        ("accuracy", "val_acc", [0.5, 0.25, 0.75], [" 50.0", " 25.0", " 75.0"]),
        ("utilisation", "gpu_percent", [50.0, 80.0, 97.0], [" 50.0", " 80.0", " 97.0"]),
    ],
)
def test_bars_show_the_value_in_its_unit(name: str, column: str, values: list[float], words: list[str]) -> None:
    rows = [row | {column: value} for row, value in zip(LOGGED, values, strict=True)]
    chart = drawn(name, view(*rows))
    assert chart.data["median"].to_list() == pytest.approx([float(word) for word in words])
    assert all(f"{label}{word}" in chart.description for label, word in zip(NAMES, words, strict=True))
    assert "one run each" in said(chart)


@pytest.mark.parametrize(
    ("name", "column"), [("time", "train_seconds"), ("accuracy", "val_acc"), ("utilisation", "gpu_percent")]
)
def test_bars_are_not_drawn_of_what_no_run_records(name: str, column: str) -> None:
    rows = [row | {column: None} for row in LOGGED]
    assert charts.chart(name).draw(view(*rows)) is None


@pytest.mark.parametrize("name", ["time", "accuracy"])
def test_run_that_is_not_done_has_no_bar(name: str) -> None:
    rows = [LOGGED[0], LOGGED[1] | {"status": "diverged"}]
    assert drawn(name, view(*rows)).data["label"].to_list() == NAMES[:1]


def test_time_says_its_epochs_and_accuracy_its_spread() -> None:
    rows = [LOGGED[0] | {"val_acc": 0.9}, LOGGED[1] | {"val_acc": 0.925, "epochs_done": 5}]
    assert "Hours to train 5, 20 epochs" in said(drawn("time", view(*rows)))
    assert "within 2.50 points" in said(drawn("accuracy", view(*rows)))


def test_bill_rounds_as_the_provider_does_and_spans_the_range_of_the_price() -> None:
    """Billed by the minute begun: 100.5 s and the rest of the process's life, 19.5 s, are two minutes."""
    priced = price_book(offer("1-core", 0.36, rate_low=0.18, rate_high=0.72, inferred="a guess"), offer("4-core", 3.6))
    rows = [run(train_seconds=100.5, total_seconds=120.0), run(hardware="cpu4", train_seconds=7.0)]
    bills = costs(runs(*rows), rows=priced)
    chart = drawn("bill", view(*rows, costs=bills))
    assert chart.data["median"].to_list() == pytest.approx([120 * 0.0001, 7 * 0.001])
    assert chart.data[["low", "high"]].to_numpy().tolist() == [
        pytest.approx([120 * 0.00005, 120 * 0.0002]),
        pytest.approx([0.007, 0.007]),
    ]
    assert "1 of 2 by inferred prices" in said(chart)


def test_front_holds_the_cells_that_none_beats_in_both() -> None:
    slow = run(framework="torch", hardware="cpu4", train_seconds=100.0)
    chart = drawn("pareto", view(*THREE, slow, run(hardware="gpu", train_seconds=1.0)))
    assert chart.data[["machine", "framework", "front"]].to_numpy().tolist() == [
        ["1 vCPU", "tensorflow", True],
        ["4 vCPUs", "tensorflow", True],
        ["1 vCPU", "jax", False],
        ["4 vCPUs", "torch", False],
    ], "a machine without a price has no place"
    assert "4 of 4 configurations named" in said(chart)
    assert "better than TensorFlow · 4 vCPUs or TensorFlow · 1 vCPU." in said(chart)
    assert "On the front: tensorflow 4 vCPUs, tensorflow 1 vCPU." in chart.description
    many = [run(batch_size=size, train_seconds=1000.0 + size) for size in (8, 16, 32, 64, 256)]
    assert "2 of 9 configurations named" in said(drawn("pareto", view(*THREE, slow, *many)))


def test_cells_without_a_batch_size_stand_on_the_front_too() -> None:
    assert drawn("pareto", view(*LOGGED)).data["front"].to_list() == [True, True, False]


def test_front_is_not_drawn_without_a_price() -> None:
    assert charts.chart("pareto").draw(view(*THREE, price_option="owned")) is None


def test_bill_is_not_drawn_without_a_price() -> None:
    assert charts.chart("bill").draw(view(*THREE, price_option="owned")) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_STUDY)
def test_chart_of_a_study_is_drawn_of_its_table_alone(name: str) -> None:
    assert charts.chart(name).draw(view(*THREE, tables={})) is None
    alone = view(runs=runs(), costs=costs(runs()))
    assert len(drawn(name, alone).data)


@pytest.mark.parametrize(
    ("name", "caption", "description"),
    [
        ("scaling", "4 figures as printed", "for 4 vCPUs. Means: vgg16 batch 16 0.500; vgg16 batch 32 0.750"),
        ("samples_per_usd", "throughput", "VGG16 · batch 16 at 1.00 USD/h 2.00 million"),
        ("to_train", "batch 64", "VGG16 at 1.10 USD/h: 110 USD, 100 h; VGG16 at 2.50 USD/h: 250 USD, 100 h"),
        ("gain", "owning pays: 8 cards, at 1.10 USD/h: 5.0", "from these days: 8 cards, at 1.10 USD/h: 5.0"),
        ("ownership", "1 of 3 rents are drawn",
         "1 vCPU (on-demand), 0.100: never; 4 vCPUs (on-demand), 2.00: from 5.0 days; "
         "4 vCPUs (spot), 2.10: from 4.8 days"),
        ("monthly", "on-demand price", "every 4 h · by the minute: 0.88 USD; every 4 h · by the hour: 3.75 USD"),
        ("several_gpus", "one run each", "2 cards, all GPUs used: 1.50 hours; 2 cards, one GPU used: 2.00 hours"),
    ],
)  # fmt: skip
def test_chart_of_a_study_says_its_figures(name: str, caption: str, description: str) -> None:
    chart = drawn(name, view(*THREE))
    assert caption in said(chart)
    assert description in chart.description


def test_parts_of_a_month_make_up_its_total() -> None:
    data = drawn("monthly", view()).data
    parts = data[["compute_usd", "fees_usd", "services_usd"]].sum(axis=1)
    assert parts.to_list() == pytest.approx(data["total_usd"].to_list())


def test_description_reads_the_bars_out() -> None:
    assert drawn("relative_time", view(*THREE)).description == (
        "Bar chart, relative time to train: TensorFlow · 1 vCPU 1.00×; TensorFlow · 4 vCPUs 0.40×; JAX · 1 vCPU 1.50×."
    )


@pytest.mark.slow
def test_bars_of_today_are_said_to_have_another_price() -> None:
    assert "bill the same runs at the same price." in said(drawn("monthly", view()))
    again = TABLES["monthly"].assign(rule=["by-the-minute", "today"])
    anew = said(drawn("monthly", view(tables={"monthly": again})))
    assert "same price" not in anew
    assert "bars of today price the machine anew" in anew


def test_learning_of_imported_runs_has_no_published_line() -> None:
    rows = [row | {"data": None, "data_fraction": None, "samples_fraction": None} for row in THREE]
    for reference in (REFERENCE, None):
        chart = drawn("learning", view(*rows, epochs=curve("a", "jax", 0.4, 0.6), reference=reference))
        assert "ends at 0.600" in said(chart)
        assert "Dashed" not in said(chart)


def test_learning_counts_epochs_from_1() -> None:
    chart = drawn("learning", view(*THREE, epochs=curve("a", "jax", 0.4, 0.6)))
    assert chart.data[["epoch", "value"]].to_numpy().tolist() == [[1, 0.4], [2, 0.6]]
    assert "a 0.600" in chart.description


def test_learning_without_validation_is_of_the_loss_and_its_best_is_the_smallest() -> None:
    epochs = curve("a", "jax", 2.0, 1.5, metric="loss") + curve("b", "jax", 2.0, 1.25, metric="loss")
    chart = drawn("learning", view(*THREE, epochs=epochs, reference=replace(REFERENCE, metric="loss")))
    assert chart.caption.startswith("Training loss")
    assert "ends at 1.250 to 1.500" in said(chart)


@pytest.mark.parametrize("epochs", [[], curve("a", "jax", None)], ids=["no epoch", "no accuracy"])
def test_learning_is_not_drawn_of_nothing(epochs: list[dict]) -> None:
    assert charts.chart("learning").draw(view(*THREE, epochs=epochs)) is None


def tuned(framework: str, stock: float, tuned: float, **values) -> list[dict]:
    """Return a cell in two modes, with these throughputs (samples/s)."""
    made = {"framework": framework} | values
    return [run(samples_per_second=stock, **made), run(samples_per_second=tuned, **made | {"mode": "tuned"})]


@pytest.mark.parametrize(
    ("name", "axis", "value", "plain"),
    [("by_mode", "mode", "plain_lstm", "stock"), ("by_precision", "precision", "bfloat16", "float32")],
)
def test_throughput_is_relative_to_the_cell_that_is_plain_on_the_axis(
    name: str, axis: str, value: str, plain: str
) -> None:
    rows = [run(), run(samples_per_second=16_000.0, **{axis: value})]
    rows += [row | {"hardware": "cpu4", "samples_per_second": row["samples_per_second"] ** 2 / 1e4} for row in rows]
    chart = drawn(name, view(*rows))
    assert ratios(chart) == pytest.approx({"TensorFlow · 1 vCPU": 1.6, "TensorFlow · 4 vCPUs": 2.56})
    assert f"its {axis} alone, {plain}; one run each" in said(chart)
    words = value.replace("_", " ")
    assert chart.description.endswith(
        f"of {words} over {plain}: TensorFlow · 1 vCPU 1.60×; TensorFlow · 4 vCPUs 2.56×."
    )
    assert f"throughput of {words}, × {plain}" in _theme.svg(chart, name)


def test_mode_is_compared_within_its_cell_and_named_where_there_are_several() -> None:
    rows = [*tuned("jax", 100.0, 150.0), *tuned("jax", 300.0, 240.0, batch_size=512)]
    rows.append(run(framework="jax", mode="sparse", samples_per_second=102.0))
    chart = drawn("by_mode", view(*rows))
    assert ratios(chart) == pytest.approx(
        {"JAX · 1 vCPU · tuned": 1.5, "JAX · 1 vCPU · batch 512 · tuned": 0.8, "JAX · 1 vCPU · sparse": 1.02}
    )
    assert chart.data["mark"].to_list() == ["", "", "tie"]
    assert "sparse ≈ 1.02×" in chart.description
    assert "≈: not clearly different." in said(chart)


def test_mode_is_compared_by_medians_and_shows_the_runs_of_both() -> None:
    rows = [row | {"repeat": i, "run": f"{row['mode']}{i}"} for i in (1, 2, 3) for row in tuned("jax", 10.0 * i, 40.0)]
    chart = drawn("by_mode", view(*rows))
    assert chart.data[["plain", "value", "ratio"]].to_numpy().tolist() == [[20.0, 40.0, 2.0]]
    assert "medians of 3 runs each. Ticks are the single runs of both." in said(chart)
    assert _theme.svg(chart, "by_mode").count("stroke: var(--faint") == 6


def test_mode_that_cannot_be_compared_keeps_its_row() -> None:
    failed = run(framework="torch", mode="tuned", **FAILED | {"status": "out_of_memory"})
    alone = run(hardware="cpu4", mode="tuned")
    chart = drawn("by_mode", view(*tuned("jax", 10.0, 20.0), run(framework="torch"), failed, alone))
    assert chart.data["ratio"].isna().to_list() == [False, True, True]
    assert "PyTorch · 1 vCPU out of memory; TensorFlow · 4 vCPUs no stock run" in chart.description
    assert "out of memory" in _theme.svg(chart, "by_mode")


def sizes(*batch_sizes: int, **values) -> list[dict]:
    """Return runs that train 100 samples/s for each sample of the batch."""
    return [run(batch_size=size, samples_per_second=100.0 * size, **values) for size in batch_sizes]


def test_throughput_by_batch_size_is_that_of_the_batch_of_all_devices() -> None:
    chart = drawn("by_batch_size", view(*sizes(32, 64), *sizes(32, 64, devices=2)))
    assert chart.data[["global_batch_size", "median"]].to_numpy().tolist() == [
        [32, 3200], [64, 6400], [64, 3200], [128, 6400],
    ]  # fmt: skip
    assert "Samples/s by the samples of one step" in said(chart)
    assert "TensorFlow · 1 vCPU · 2 devices at 128: 6,400" in chart.description
    assert {"devices: 1", "devices: 2"} <= words(chart)


def test_largest_batch_is_marked_and_one_that_did_not_fit_stands_at_0() -> None:
    failed = run(batch_size=256, **FAILED | {"status": "out_of_memory"})
    chart = drawn("by_batch_size", view(*sizes(32), *sizes(128, largest_batch=True), failed))
    assert chart.data["kind"].to_list() == ["median", "largest that fits", "did not train"]
    assert chart.data["n"].to_list() == [1, 1, 0]
    assert "at 128: 12,800 (largest that fits); TensorFlow · 1 vCPU at 256: out of memory." in chart.description
    assert {"largest that fits", "did not train"} <= words(chart)
    assert "did not train" not in words(drawn("by_batch_size", view(*sizes(32, 64))))


@pytest.mark.slow
def test_lines_by_batch_size_have_a_panel_for_each_machine() -> None:
    chart = drawn("by_batch_size", view(*sizes(32, 64), *sizes(32, 64, hardware="cpu4")))
    assert {"1 vCPU", "4 vCPUs"} <= words(chart)
    assert chart.height > drawn("by_batch_size", view(*sizes(32, 64))).height


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (sizes(32, 256), "Batch 256 trains 8.00× as many samples/s as 32"),
        ([*sizes(32, 256), *sizes(64, 512, hardware="cpu4")], "8× the batch trains 8.00× as many samples/s"),
    ],
)
def test_batch_sizes_are_named_where_all_lines_have_the_same(rows: list[dict], said: str) -> None:
    assert drawn("by_batch_size", view(*rows)).finding == said


def repeats(*seconds: float, **values) -> list[dict]:
    return [run(repeat=i, train_seconds=value, **values) for i, value in enumerate(seconds, start=1)]


def test_spread_shows_every_run_over_its_median() -> None:
    rows = [*repeats(95.0, 100.0, 104.0), *repeats(80.0, 100.0, 101.0, framework="jax"), run(framework="torch")]
    chart = drawn("spread", view(*rows))
    assert chart.data["ratio"].to_list() == pytest.approx([0.95, 1.0, 1.04, 0.8, 1.0, 1.01, 1.0])
    assert "1 of 3 configurations unstable: above 10 % within one measurement." in said(chart)
    assert chart.description.endswith(
        "TensorFlow · 1 vCPU 9.0 %; JAX · 1 vCPU 21.0 % unstable; PyTorch · 1 vCPU one run."
    )
    assert "second" not in words(chart)


def test_limit_of_the_spread_is_that_of_the_study() -> None:
    rows = repeats(95.0, 100.0, 104.0)
    assert "1 of 1 configurations unstable: above 5 %" in said(drawn("spread", view(*rows, unstable_above=0.05)))


def test_second_measurement_has_its_own_shape_and_is_judged_alone() -> None:
    chart = drawn("spread", view(*repeats(100.0, 104.0, 120.0, 124.0), repeats=2))
    assert chart.data["measurement"].to_list() == ["first measurement"] * 2 + ["second"] * 2
    assert "0 of 1 configurations unstable" in said(chart)
    assert "Triangles are the second measurement." in said(chart)
    assert {"first measurement", "second"} <= words(chart)


def test_runs_that_are_not_done_have_no_spread() -> None:
    rows = [run(), run(repeat=2, **FAILED), run(repeat=3, status="diverged", train_seconds=500.0)]
    assert charts.chart("spread").draw(view(*rows)) is None


@pytest.mark.parametrize("name", ["by_mode", "by_precision", "by_batch_size", "spread"])
@pytest.mark.parametrize(
    "rows", [THREE, [row | dict.fromkeys(("mode", "precision", "devices", "global_batch_size")) for row in LOGGED]]
)
def test_axis_with_one_value_or_none_is_not_drawn(name: str, rows: list[dict]) -> None:
    assert charts.chart(name).draw(view(*rows)) is None


def test_front_names_what_differs() -> None:
    short = drawn("pareto", view(*THREE, run(framework="torch", train_seconds=10.0)))
    assert short.data["label"].to_list() == short.data["machine"].to_list()
    batch = drawn("pareto", view(*THREE, run(batch_size=512, train_seconds=10.0)))
    assert batch.data["label"].to_list() == ["1 vCPU", "4 vCPUs", "1 vCPU", "1 vCPU · batch 512"]
    fast = drawn("pareto", view(*THREE, run(mode="tuned", train_seconds=10.0)))
    assert "On the front: tensorflow 1 vCPU · tuned." in fast.description
    assert {"TensorFlow · 1 vCPU ·", "tuned"} <= words(fast)


def test_learning_distinguishes_modes_where_there_are_two() -> None:
    stock, other = curve("a", "jax", 0.4, 0.6, mode="stock"), curve("b", "jax", 0.5, 0.7, mode="plain_lstm")
    assert {"stock", "plain lstm"} <= words(drawn("learning", view(*THREE, epochs=stock + other)))
    assert "stock" not in words(drawn("learning", view(*THREE, epochs=stock)))


@pytest.fixture(scope="module")
def svgs() -> dict[str, str]:
    """The same page's worth of charts, with a label that tries to be markup and mathematics."""
    catalogue = CATALOGUE | {"cpu4": CATALOGUE["cpu4"] | {"label": EVIL}}
    named = {name: TABLES[name].assign(label=EVIL) for name in ("gains", "several_gpus")}
    named["monthly"] = TABLES["monthly"].assign(label=[f"{i}{EVIL}" for i in range(len(TABLES["monthly"]))])
    rows = (*AXES, *THREE[1:], run(hardware="cpu4", mode="tuned"))
    seen = view(*rows, catalogue=catalogue, epochs=curve("a", "jax", 0.4, 0.6, 0.7), tables=TABLES | named)
    return {name: _theme.svg(drawn(name, seen), f"{name}-mnist_mlp") for name in charts.names()}


@pytest.mark.slow
def test_svg_is_one_element_without_metadata(svgs: dict[str, str]) -> None:
    for svg in svgs.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert svg.startswith("<svg")
        assert "<metadata" not in svg
        assert "<script" not in svg


@pytest.mark.slow
def test_svgs_of_one_page_share_no_id_and_find_their_own(svgs: dict[str, str]) -> None:
    ids = [identity for svg in svgs.values() for identity in re.findall(r'\sid="([^"]+)"', svg)]
    assert len(set(ids)) == len(ids)
    for svg in svgs.values():
        own = set(re.findall(r'\sid="([^"]+)"', svg))
        used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
        assert used
        assert used <= own


def test_ids_of_a_svg_do_not_follow_the_last_digit_of_a_coordinate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processors round differently: a page that one made is that which the other makes."""
    chart = drawn("pareto", view(*AXES))
    first = _theme.svg(chart, "one")
    make_id = RendererSVG._make_id
    monkeypatch.setattr(RendererSVG, "_make_id", lambda self, kind, content: make_id(self, kind, f"{content}1"))
    assert _theme.svg(chart, "one") == first


@pytest.mark.slow
def test_svg_of_a_name_with_markup_has_plain_ids() -> None:
    svg = _theme.svg(drawn("relative_time", view(*AXES)), 'x"><img src=x onerror=alert(1)>')
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()} & {"img"} == set()
    ids = re.findall(r'\sid="([^"]+)"', svg)
    assert ids
    assert all(re.fullmatch(r"[\w.-]+", identity) for identity in ids)


@pytest.mark.slow
def test_svg_holds_its_words_as_text_in_the_colours_of_the_page(svgs: dict[str, str]) -> None:
    svg = svgs["relative_time"]
    words = [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]
    assert {"TensorFlow · 1 vCPU", "JAX · 1 vCPU", *LINES} <= set(words)
    assert {" 1.00×", " 0.40×", " 1.50×"} <= {f" {(word or '').strip()}" for word in words}
    assert "var(--ink" in svg
    assert [name for name, svg in svgs.items() if "#000000" in svg] == [], "not seen on the dark page"


@pytest.mark.represented_by("pareto", "relative_cost", "dollars", "by_mode")
@pytest.mark.slow
@pytest.mark.parametrize("name", charts.names())
def test_same_data_are_the_same_bytes(name: str) -> None:
    seen = view(*AXES, epochs=curve("a", "jax", 0.4, 0.6, 0.7))
    first, second = (_theme.svg(drawn(name, seen), name) for _ in range(2))
    assert first == second


def test_dollars_are_those_of_the_cost_and_of_the_bill() -> None:
    """10 s of 100 are not training; billed by the minute, 20 s are for nothing."""
    once = run(training_seconds=90.0, first_step_seconds=2.0, train_seconds=92.0, total_seconds=100.0)
    frame = runs(once)
    bills = costs(frame).assign(increment_seconds=60.0, minimum_seconds=60.0, boot_seconds=5.0)
    bills = bills.assign(billed_seconds=120.0, billed_usd=0.0012, used_seconds=100.0)
    bills = bills.assign(paid_seconds=120.0, cost_usd=0.0012)
    chart = drawn("dollars", view(once, costs=bills))
    cost, bill = chart.data.to_dict("records")
    assert (cost["of"], cost["total"], cost["boot"], cost["idle"]) == (
        *("cost_usd", pytest.approx(0.0012)),
        *(pytest.approx(0.00005), pytest.approx(0.00015)),
    )
    assert (bill["of"], bill["total"], bill["training"]) == ("billed_usd", pytest.approx(0.0012), pytest.approx(0.0009))
    assert (bill["boot"], bill["idle"]) == (pytest.approx(0.00005), pytest.approx(0.00015))
    assert "Prices: on-demand price (prices of 2026-01-02)." in said(chart)
    assert "billed alone in steps of 60 s, at least 60 s. Below: the run as it was, likewise. 1 of 1 runs" in said(
        chart
    )
    assert "0.00120" in " ".join(filter(None, words(chart)))
    assert "No run records what its machine took to start" in said(drawn("dollars", view(once)))


def test_logs_of_others_have_no_chart_of_dollars() -> None:
    module = charts.chart("dollars")
    assert module.draw(view(*LOGGED)) is None
    assert module.draw(view(AXES[0], price_option="owned")) is None, "without a price"
    assert not module.MISSING, "there is no empty box"


def test_parts_of_a_process_make_up_its_life() -> None:
    """Nothing is lost between start and exit: what has no name is the rest."""
    parts = {
        "spawn": 0.5,
        "import": 3.5,
        "data": 1.0,
        "build": 2.0,
        "first_step": 3.0,
        "training": 80.0,
        "validation": 7.0,
    }
    times = {f"{name}_seconds": seconds for name, seconds in parts.items()}
    chart = drawn("process", view(run(**times, train_seconds=90.0, total_seconds=100.0)))
    (cell,) = chart.data.to_dict("records")
    assert [cell[name] for name in ("start and import", "first step", "training", "exit and rest")] == [4, 3, 80, 3]
    assert "Training is 80% of the time" in said(chart)
    assert charts.chart("process").draw(view(run(total_seconds=None))) is None


#: Two machines with cards of one kind, which CATALOGUE prices: 0.036 and 0.144 USD an hour.
CARDS = {"cpu1": "V100", "cpu4": "V100"}


def test_dollar_buys_what_the_best_machine_with_a_card_does() -> None:
    rows = [
        run(samples_per_second=10.0, train_seconds=None),
        run(samples_per_second=60.0, train_seconds=None, hardware="cpu4", devices=8),
    ]
    seen = view(*rows, cards=CARDS, prices={"on-demand": "rented", "spot": "spot"}, unit="images")
    chart = drawn("per_usd", seen)
    found = chart.data.set_index("price_option")
    assert found["hardware"].to_dict() == {"on-demand": "cpu4", "spot": "cpu1"}
    assert found["millions"].to_dict() == pytest.approx({"on-demand": 60 * 3600 / 0.144 / 1e6, "spot": 2.0})
    assert "million images per USD" in " ".join(filter(None, words(chart)))
    assert "Prices of 2026-01-02" in said(chart)


def test_machine_that_does_more_than_its_cards_can_buys_nothing() -> None:
    rows = [
        run(samples_per_second=10.0, train_seconds=None),
        run(samples_per_second=600.0, train_seconds=None, hardware="cpu4", devices=4),
    ]
    chart = drawn("per_usd", view(*rows, cards=CARDS, prices={"on-demand": "rented"}))
    assert set(chart.data["hardware"]) == {"cpu1"}
    assert "Left out, as they exceed their cards' peak: 4 vCPUs." in said(chart)


@pytest.mark.parametrize("precision", ["float32", None])
def test_more_cards_are_drawn_by_workload_and_what_is_no_scaling_is_named(precision: str | None) -> None:
    gpus = {"one": {"gpus": {"model": "V100"}}, "four": {"gpus": {"model": "V100"}}}
    rates = {("resnet50", "one"): 100.0, ("resnet50", "four"): 360.0, ("ncf", "one"): 1.0, ("ncf", "four"): 400.0}
    rows = [
        run(workload=work, hardware=name, devices=4 if name == "four" else 1)
        | {"samples_per_second": rate, "precision": precision}
        for (work, name), rate in rates.items()
    ]
    derived = cards.tables({"machines": gpus}, runs(*rows), pd.DataFrame(), pd.DataFrame(), None)
    chart = drawn("card_scaling", view(*rows, tables=derived))
    assert chart.data[["workload", "devices", "efficiency"]].values.tolist() == [
        ["ResNet-50", 1, 1.0],
        ["ResNet-50", 4, 0.9],
    ]
    assert said(chart).endswith("Not drawn, as what was measured is no scaling: NCF.")
    assert f"those on one{f', in {precision}' if precision else ''}; medians of 1 to 1 runs" in chart.caption


def test_preview_of_a_high_chart_is_its_top_and_breaks_its_title() -> None:
    """Forty rows pressed into the picture of a link cannot be read; a title of 90 letters is wider than it."""
    chart = replace(drawn("time", view(run())), finding="word " * 18)
    high, low = (replace(chart, height=inches) for inches in (12.0, 5.0))
    pictures = [Image.open(io.BytesIO(_theme.png(one, "Time", "of a day"))) for one in (high, low)]
    assert [picture.size for picture in pictures] == [(1200, 630)] * 2
    # Of the high one the panel goes on below the picture: its axis, at the end of the low one, is not in it.
    ends = [np.asarray(picture.convert("L"))[-60:].min() for picture in pictures]
    assert ends[0] > ends[1]
    assert np.asarray(pictures[1].convert("L"))[:, -6:].min() == 255, "nothing is cut at the right"
