import re
from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest

from scripts import charts, tables
from scripts.charts import View, _theme
from scripts.workloads import Reference
from tests.made import BOOK, CATALOGUE, FAILED, costs, epoch, offer, price_book, run, runs

REFERENCE = Reference("val_acc", (0.5, 0.7, 0.9), "a log of 2017")

EVIL = "<script>4 & 'more' $x_{$</script>"

#: What `scripts.figures` derives, for the charts of a whole study.
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
    )
    return replace(seen, **values)


def curve(name: str, framework: str, *values: float | None, metric: str = "val_acc") -> list[dict]:
    """Return the epochs of one run."""
    cell = {"workload": "mnist_mlp", "hardware": "cpu1", "framework": framework, "batch_size": 128, "repeat": 1}
    return [{"run": name} | cell | epoch(i, **{metric: value}) for i, value in enumerate(values)]


def drawn(name: str, seen: View) -> charts.Chart:
    made = charts.chart(name).draw(seen)
    assert made is not None
    return made


def ratios(chart: charts.Chart) -> dict[str, float]:
    return dict(zip(chart.data["label"], chart.data["ratio"], strict=True))


THREE = (run(), run(hardware="cpu4", train_seconds=40.0), run(framework="jax", train_seconds=150.0))

#: The same as logs of others tell them: no batch size, but the use of the GPU.
TOLD = tuple(row | {"batch_size": None, "gpu_percent": 80.0, "first_step_seconds": None} for row in THREE)

OF_STUDY = [name for name in charts.names() if getattr(charts.chart(name), "SCOPE", "workload") == "study"]
BARS = ["accuracy", "bill", "relative_cost", "relative_time", "time", "utilisation"]


@pytest.mark.parametrize("name", charts.names())
def test_every_chart_says_how_to_read_it(name: str) -> None:
    module = charts.chart(name)
    assert module.TITLE
    assert module.HELP.endswith(".")
    assert module.MISSING
    assert not module.MISSING.endswith("."), "it ends a sentence of the report"
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
    assert "medians of 1 to 3 runs per cell" in chart.caption


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("relative_time", ["over that of TensorFlow · 1 vCPU (1.00× = 100 s)", "one run per cell"]),
        (
            "relative_cost",
            ["over that of TensorFlow · 1 vCPU (1.00× = 0.00100 USD)", "one run per cell", "on-demand price",
             "1 vCPU 0.036 USD/h, 4 vCPUs 0.144 USD/h", "prices of 2026-01-02"],
        ),
        ("learning", ["2 runs", "validation accuracy", "best end 0.800", "published, 3 epochs", "0.900 at their end",
                      "a log of 2017"]),
    ],
)  # fmt: skip
def test_caption_says_base_unit_and_number_of_runs(name: str, parts: list[str]) -> None:
    epochs = curve("a", "jax", 0.4, 0.6) + curve("b", "tensorflow", 0.5, 0.8)
    caption = drawn(name, view(*THREE, epochs=epochs)).caption
    assert all(part.lower() in caption.lower() for part in parts), caption


def test_caption_dates_every_price_list() -> None:
    catalogue = CATALOGUE | {
        "cpu4": {"label": "4 vCPUs", "rent": {"provider": "cloud", "items": {"old": 1}}},
    }
    priced = price_book(*BOOK.to_dict("records"), offer("old", 0.2, as_of="2025-12-31"))
    seen = view(*THREE, catalogue=catalogue, costs=costs(runs(*THREE), catalogue, rows=priced))
    assert "prices of 2025-12-31 and 2026-01-02" in drawn("relative_cost", seen).caption
    assert "4 vCPUs 0.2 USD/h" in drawn("relative_cost", seen).caption


def test_cost_is_drawn_of_the_price_option_that_is_shown() -> None:
    rows = (run(), run(framework="jax", train_seconds=50.0))
    usual, spot = drawn("relative_cost", view(*rows)), drawn("relative_cost", view(*rows, price_option="spot"))
    assert spot.data["median"].to_list() == pytest.approx((usual.data["median"] / 2).to_list())
    assert spot.data["ratio"].to_list() == usual.data["ratio"].to_list()
    assert "0.018 USD/h" in spot.caption


def test_price_option_is_named_by_its_words() -> None:
    seen = view(*THREE, price_label="what I paid & owe")
    assert (
        "× what I paid & owe, without minimum and rounding (1 vCPU 0.036 USD/h" in drawn("relative_cost", seen).caption
    )
    assert "× what I paid & owe (prices of 2026-01-02" in drawn("bill", seen).caption


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
def test_failed_cell_keeps_its_row(name: str) -> None:
    chart = drawn(name, view(*THREE, run(framework="torch", **FAILED | {"status": "out_of_memory"})))
    last = chart.data.iloc[-1]
    assert (last["label"], last["n"], last["status"]) == ("PyTorch · 1 vCPU", 0, "out_of_memory")
    assert pd.isna(last["ratio"])
    assert len(chart.data) == 4
    assert re.search("PyTorch · 1 vCPU out.of.memory", chart.description)
    assert "out of memory" in _theme.svg(chart, "chart")


def test_machine_without_a_price_keeps_its_row() -> None:
    chart = drawn("relative_cost", view(run(), run(hardware="gpu", train_seconds=5.0)))
    assert chart.data["label"].to_list() == ["TensorFlow · 1 vCPU", "TensorFlow · a card"]
    assert pd.isna(chart.data["ratio"].iloc[1])
    assert "no price" in _theme.svg(chart, "chart")


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


@pytest.mark.parametrize("name", BARS)
def test_cell_without_a_batch_size_keeps_its_row(name: str) -> None:
    chart = drawn(name, view(*TOLD))
    assert chart.data["label"].to_list() == NAMES
    assert chart.data["batch_size"].isna().all()
    assert chart.data["n"].to_list() == [1, 1, 1]
    assert all(label in _theme.svg(chart, name) for label in NAMES)


@pytest.mark.parametrize("name", ["relative_time", "relative_cost"])
def test_cell_without_a_batch_size_is_compared_with_its_base(name: str) -> None:
    factor = {"relative_time": 0.4, "relative_cost": 1.6}[name]
    assert drawn(name, view(*TOLD)).data["ratio"].to_list() == pytest.approx([1.0, factor, 1.5])


def test_runs_without_a_batch_size_are_one_cell() -> None:
    rows = [TOLD[0] | {"run": f"r{i}", "repeat": i, "train_seconds": 10.0 * i} for i in (1, 2, 6)]
    chart = drawn("relative_time", view(*rows, TOLD[1]))
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
    rows = [row | {column: value} for row, value in zip(TOLD, values, strict=True)]
    chart = drawn(name, view(*rows))
    assert chart.data["median"].to_list() == pytest.approx([float(word) for word in words])
    assert all(f"{label}{word}" in chart.description for label, word in zip(NAMES, words, strict=True))
    assert "one run per cell" in chart.caption


@pytest.mark.parametrize(
    ("name", "column"), [("time", "train_seconds"), ("accuracy", "val_acc"), ("utilisation", "gpu_percent")]
)
def test_bars_are_not_drawn_of_what_no_run_tells(name: str, column: str) -> None:
    rows = [row | {column: None} for row in TOLD]
    assert charts.chart(name).draw(view(*rows)) is None


@pytest.mark.parametrize("name", ["time", "accuracy"])
def test_run_that_is_not_done_has_no_bar(name: str) -> None:
    rows = [TOLD[0], TOLD[1] | {"status": "diverged"}]
    assert drawn(name, view(*rows)).data["label"].to_list() == NAMES[:1]


def test_time_says_its_epochs_and_accuracy_its_spread() -> None:
    rows = [TOLD[0] | {"val_acc": 0.9}, TOLD[1] | {"val_acc": 0.925, "epochs_done": 5}]
    assert "of 5, 20 epochs" in drawn("time", view(*rows)).caption
    assert "2.50 points between the best and the worst" in drawn("accuracy", view(*rows)).caption


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
    assert "1 of 2 inferred" in chart.caption


def test_front_holds_the_cells_that_none_beats_in_both() -> None:
    slow = run(framework="torch", hardware="cpu4", train_seconds=100.0)
    chart = drawn("pareto", view(*THREE, slow, run(hardware="gpu", train_seconds=1.0)))
    assert chart.data[["machine", "framework", "front"]].to_numpy().tolist() == [
        ["1 vCPU", "tensorflow", True],
        ["4 vCPUs", "tensorflow", True],
        ["1 vCPU", "jax", False],
        ["4 vCPUs", "torch", False],
    ], "a machine without a price has no place"
    assert "2 of 4 cells are on the front" in chart.caption
    assert "On the front: tensorflow 4 vCPUs, tensorflow 1 vCPU." in chart.description


def test_cells_without_a_batch_size_stand_on_the_front_too() -> None:
    assert drawn("pareto", view(*TOLD)).data["front"].to_list() == [True, True, False]


def test_front_is_not_drawn_without_a_price() -> None:
    assert charts.chart("pareto").draw(view(*THREE, price_option="owned")) is None


def test_bill_is_not_drawn_without_a_price() -> None:
    assert charts.chart("bill").draw(view(*THREE, price_option="owned")) is None


@pytest.mark.parametrize("name", OF_STUDY)
def test_chart_of_a_study_is_drawn_of_its_table_alone(name: str) -> None:
    assert charts.chart(name).draw(view(*THREE, tables={})) is None
    alone = view(runs=runs(), costs=costs(runs()))
    assert len(drawn(name, alone).data)


@pytest.mark.parametrize(
    ("name", "caption", "description"),
    [
        ("scaling", "4 figures as printed", "for 4 vCPUs. Means: vgg16 batch 16 0.500; vgg16 batch 32 0.750"),
        ("samples_per_usd", "throughput", "vgg16 · batch 16 at 1.00 USD/h 2.00 million"),
        ("to_train", "batch 64", "vgg16 at 1.10 USD/h: 110 USD, 100 h; vgg16 at 2.50 USD/h: 250 USD, 100 h"),
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
    assert caption in chart.caption
    assert description in chart.description


def test_parts_of_a_month_make_up_its_total() -> None:
    data = drawn("monthly", view()).data
    parts = data[["compute_usd", "fees_usd", "services_usd"]].sum(axis=1)
    assert parts.to_list() == pytest.approx(data["total_usd"].to_list())


def test_description_reads_the_bars_out() -> None:
    assert drawn("relative_time", view(*THREE)).description == (
        "Bar chart, relative time to train: TensorFlow · 1 vCPU 1.00×; TensorFlow · 4 vCPUs 0.40×; JAX · 1 vCPU 1.50×."
    )


def test_bars_of_today_are_said_to_have_another_price() -> None:
    assert "bill the same runs at the same price." in drawn("monthly", view()).caption
    again = TABLES["monthly"].assign(rule=["by-the-minute", "today"])
    caption = drawn("monthly", view(tables={"monthly": again})).caption
    assert "same price" not in caption
    assert "bars of today price the machine anew" in caption


def test_learning_of_imported_runs_has_no_published_line() -> None:
    rows = [row | {"data": None, "data_fraction": None, "samples_fraction": None} for row in THREE]
    for reference in (REFERENCE, None):
        chart = drawn("learning", view(*rows, epochs=curve("a", "jax", 0.4, 0.6), reference=reference))
        assert "best end 0.600" in chart.caption
        assert "Dashed" not in chart.caption


def test_learning_counts_epochs_from_1() -> None:
    chart = drawn("learning", view(*THREE, epochs=curve("a", "jax", 0.4, 0.6)))
    assert chart.data[["epoch", "value"]].to_numpy().tolist() == [[1, 0.4], [2, 0.6]]
    assert "a 0.600" in chart.description


def test_learning_without_validation_is_of_the_loss_and_its_best_is_the_smallest() -> None:
    epochs = curve("a", "jax", 2.0, 1.5, metric="loss") + curve("b", "jax", 2.0, 1.25, metric="loss")
    chart = drawn("learning", view(*THREE, epochs=epochs, reference=replace(REFERENCE, metric="loss")))
    assert chart.caption.startswith("Training loss")
    assert "best end 1.250" in chart.caption


@pytest.mark.parametrize("epochs", [[], curve("a", "jax", None)], ids=["no epoch", "no accuracy"])
def test_learning_is_not_drawn_of_nothing(epochs: list[dict]) -> None:
    assert charts.chart("learning").draw(view(*THREE, epochs=epochs)) is None


@pytest.fixture(scope="module")
def svgs() -> dict[str, str]:
    """The same page's worth of charts, with a label that tries to be markup and mathematics."""
    catalogue = CATALOGUE | {"cpu4": CATALOGUE["cpu4"] | {"label": EVIL}}
    named = {name: TABLES[name].assign(label=EVIL) for name in ("gains", "several_gpus")}
    named["monthly"] = TABLES["monthly"].assign(label=[f"{i}{EVIL}" for i in range(len(TABLES["monthly"]))])
    rows = [row | {"gpu_percent": 80.0} for row in (*THREE, run(repeat=2))]
    seen = view(*rows, catalogue=catalogue, epochs=curve("a", "jax", 0.4, 0.6), tables=TABLES | named)
    return {name: _theme.svg(drawn(name, seen), f"{name}-mnist_mlp") for name in charts.names()}


def test_svg_is_one_element_without_metadata(svgs: dict[str, str]) -> None:
    for svg in svgs.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert svg.startswith("<svg")
        assert "<metadata" not in svg
        assert "<script" not in svg


def test_svgs_of_one_page_share_no_id_and_find_their_own(svgs: dict[str, str]) -> None:
    ids = [identity for svg in svgs.values() for identity in re.findall(r'\sid="([^"]+)"', svg)]
    assert len(set(ids)) == len(ids)
    for svg in svgs.values():
        own = set(re.findall(r'\sid="([^"]+)"', svg))
        used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
        assert used
        assert used <= own


def test_svg_holds_its_words_as_text_in_the_colours_of_the_page(svgs: dict[str, str]) -> None:
    svg = svgs["relative_time"]
    words = [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]
    assert {"TensorFlow · 1 vCPU", "JAX · 1 vCPU", f"TensorFlow · {EVIL}"} <= set(words)
    assert {" 1.00×", " 0.40×", " 1.50×"} <= {f" {(word or '').strip()}" for word in words}
    assert "var(--ink" in svg


@pytest.mark.parametrize("name", charts.names())
def test_same_data_are_the_same_bytes(name: str) -> None:
    seen = view(*TOLD, epochs=curve("a", "jax", 0.4, 0.6))
    first, second = (_theme.svg(drawn(name, seen), name) for _ in range(2))
    assert first == second
