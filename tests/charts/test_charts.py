import re
from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest

from scripts import charts, tables
from scripts.charts import View, _theme
from scripts.workloads import Reference
from tests.made import CATALOGUE, FAILED, PRICE, costs, epoch, run, runs

REFERENCE = Reference("val_acc", (0.5, 0.7, 0.9), "a log of 2017")


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


@pytest.mark.parametrize("name", charts.names())
def test_every_chart_says_how_to_read_it(name: str) -> None:
    module = charts.chart(name)
    assert module.TITLE
    assert module.HELP.endswith(".")


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
             "1 vCPU 0.0360 USD/h, 4 vCPUs 0.144 USD/h", "prices of 2026-01-02"],
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
        "cpu4": {"label": "4 vCPUs", "prices": {"on-demand": PRICE | {"usd_per_hour": 0.2, "as_of": "2025-12-31"}}}
    }
    assert "prices of 2025-12-31 and 2026-01-02" in drawn("relative_cost", view(*THREE, catalogue=catalogue)).caption


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


def test_description_reads_the_bars_out() -> None:
    assert drawn("relative_time", view(*THREE)).description == (
        "Bar chart, relative time to train: TensorFlow · 1 vCPU 1.00×; TensorFlow · 4 vCPUs 0.40×; JAX · 1 vCPU 1.50×."
    )


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
    catalogue = CATALOGUE | {"cpu4": CATALOGUE["cpu4"] | {"label": "<script>4 & 'more' $x_{$</script>"}}
    seen = view(*THREE, run(repeat=2), catalogue=catalogue, epochs=curve("a", "jax", 0.4, 0.6))
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
    assert {"TensorFlow · 1 vCPU", "JAX · 1 vCPU", "TensorFlow · <script>4 & 'more' $x_{$</script>"} <= set(words)
    assert {" 1.00×", " 0.40×", " 1.50×"} <= {f" {(word or '').strip()}" for word in words}
    assert "var(--ink" in svg


@pytest.mark.parametrize("name", charts.names())
def test_same_data_are_the_same_bytes(name: str) -> None:
    seen = view(*THREE, epochs=curve("a", "jax", 0.4, 0.6))
    first, second = (_theme.svg(drawn(name, seen), name) for _ in range(2))
    assert first == second
