import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from markupsafe import Markup

from scripts import chart, report
from scripts.analysis import runs as collected
from scripts.analysis.beside import Side
from scripts.pages import report as pages
from scripts.records import stored
from scripts.records.cell import Cell
from scripts.storage import tables
from scripts.storage.axes import CELL
from tests.conftest import ROOT
from tests.made import BOOK, CATALOGUE, FAILED, OPTIONS, costs, epoch, inputs, offer, price_book, prices, run, runs
from tests.reading import EVIL, Read

STUDY = {
    "title": "Do more vCPUs pay?",
    "summary": "One paragraph.",
    "workloads": ["mnist_mlp"],
    "workload_files": {},
    "tables": "",
    "repeats": 1,
    "unstable_above": 0.1,
    "prices": OPTIONS,
    "claims": [],
    "base": {"hardware": "cpu1", "framework": "tensorflow"},
    "price": "on-demand",
    "targets": {},
}

PICTURE = {
    "workload": "mnist_mlp",
    "name": "relative_time",
    "kind": "Relative time",
    "title": "JAX is faster",
    "headline": False,
    "help": "Shorter is faster.",
    "caption": "Medians.",
    "description": "Bar chart.",
    "svg": "",
}


def page(
    *rows: dict,
    catalogue: dict = CATALOGUE,
    book: pd.DataFrame = BOOK,
    options: dict = OPTIONS,
    epochs: pd.DataFrame | None = None,
    attempts: pd.DataFrame | None = None,
    pictures: dict | None = None,
    planned: Sequence[Cell] = (),
    others: Sequence[Side] = (),
    **study,
) -> str:
    frame = runs(*rows)
    whole = STUDY | {"prices": options} | study
    tables_given = {name: table for name, table in (("epochs", epochs), ("attempts", attempts)) if table is not None}
    given = inputs(
        whole, frame, catalogue, book, planned=planned, pictures=pictures or {}, others=others, **tables_given
    )
    return pages.page(replace(given, verdicts=report.judge(whole, given, {}, {})[0]))


def test_table_of_cells_shows_time_and_cost() -> None:
    read = Read(page(run(), run(hardware="cpu4", train_seconds=50.0)))
    assert [row[1:8] for row in read.rows["cells"][1:]] == [
        ["TensorFlow · 1 vCPU", "0.00100", "0.000500", "100", "1 of 1", "done", "2.00"],
        ["TensorFlow · 4 vCPUs", "0.00200", "—", "50.0", "1 of 1", "done", "2.00"],
    ]


def test_run_of_several_attempts_is_shown_with_what_they_cost() -> None:
    rows = [
        {"run": run()["run"], "attempt": number, "used_seconds": used, "useful_seconds": useful, "ended": ended}
        for number, used, useful, ended in ((1, 100.0, 60.0, "preempted"), (2, 200.0, 150.0, "done"))
    ]
    lives = [row | {"lost_seconds": row["used_seconds"] - row["useful_seconds"]} for row in rows]
    attempts = pd.DataFrame(lives, columns=list(tables.columns("attempts")))
    read = Read(page(run(train_seconds=None), attempts=attempts))
    (_, shown) = read.rows["attempts"]
    assert shown[1:] == ["2", "preempted 1 time", "300", "210", "90.0", "0.00300"], "at 0.036 USD/h"


def test_run_that_failed_is_shown_with_what_it_cost() -> None:
    text = Read(page(run(), run(hardware="cpu4", **FAILED | {"total_seconds": 100.0}))).text
    assert "after 100 s and 0.00400 USD" in text


def test_short_answer_names_the_fastest_and_the_cheapest() -> None:
    of_six = [
        run(hardware=name, repeat=i, train_seconds=s + i / 10)
        for name, s in (("cpu1", 100), ("cpu4", 40))
        for i in range(6)
    ]
    read = Read(page(*of_six))
    fastest, cheapest = "TensorFlow · 4 vCPUs", "TensorFlow · 1 vCPU"
    assert f"MNIST · MLP: {cheapest} is cheapest. {fastest} is fastest" in read.text
    assert f"Cheapest · on-demand {cheapest} 1.01 USD per 1,000 trainings, 100 s each · 6 runs" in read.text
    assert f"Fastest {fastest} 40.2 s each, 1.64 USD per 1,000 trainings · 6 runs" in read.text
    assert "1.62× the money for 2.49× the speed" in read.text


@pytest.mark.slow
def test_one_run_names_no_winner() -> None:
    read = Read(page(run(), run(hardware="cpu4", train_seconds=40.0)))
    few = "Too few runs to say which of 2 is"
    assert f"MNIST · MLP: {few} cheapest. {few} fastest" in read.text
    assert "Price of speed too few runs in time and cost" in read.text
    assert "4 vCPUs took less time in 0 of 1 configurations (1 undecided)" in read.text, "one run a side may be far off"
    far = Read(page(run(), run(hardware="cpu4", train_seconds=5.0)))
    assert "4 vCPUs took less time in 1 of 1 configurations" in far.text, "but not by twenty times"


def test_what_is_not_clearly_slower_than_the_fastest_is_named() -> None:
    read = Read(page(run(train_seconds=102.0), run(hardware="cpu4")))
    assert (
        "Shortest time measured TensorFlow · 4 vCPUs 100 s each, 4.00 USD per 1,000 trainings · 1 run · "
        "too few runs: "
        "TensorFlow · 1 vCPU" in read.text
    )
    assert "4 vCPUs took less time in 0 of 1 configurations (1 undecided)" in read.text
    assert "Two configurations are clearly different where their medians differ by 5 % or more" in read.text
    assert "runs of this project's own on two cores" in read.text


def test_without_prices_the_page_has_times_alone() -> None:
    unpriced = {name: {key: about[key] for key in ("label", "machine")} for name, about in CATALOGUE.items()}
    read = Read(page(run(), run(hardware="cpu4", train_seconds=50.0), catalogue=unpriced))
    assert read.rows["short"][1] == ["MNIST · MLP", "TensorFlow · 4 vCPUs", "50.0", "no price", "—"]
    assert [len(row) for row in read.rows["cells"]] == [8, 8, 8], "no column of cost"
    assert "none given: times only" in read.text
    assert "cost less" not in read.text


@pytest.mark.slow
def test_machine_without_a_price_says_who_has_one() -> None:
    rows = run(), run(hardware="cpu4", train_seconds=50.0), run(hardware="gpu", train_seconds=10.0)
    read = Read(page(*rows, price="spot"))
    assert (
        "No price of 4 vCPUs under spot: there is one under on-demand (cloud, 0.144 USD/h as of 2026-01-02)."
        in read.text
    )
    assert "No price of a card under spot, nor under another option: the books of this study have none." in read.text
    assert "No price of 1 vCPU" not in read.text
    assert "No price of 4 vCPUs" not in Read(page(*rows)).text


@pytest.mark.slow
def test_failed_run_is_shown_with_status_and_reason() -> None:
    read = Read(page(run(), run(framework="jax", **FAILED | {"status": "out_of_memory"})))
    assert "1 of 2 runs did not end as done." in read.text
    assert "batch 128, run 1: out of memory (ended by SIGKILL)" in read.text
    assert read.rows["cells"][2][1:6] == ["JAX · 1 vCPU", "—", "—", "—", "0 of 1"]
    assert read.rows["cells"][2][6] == "out of memory"
    assert len(read.rows["learned"]) == 2, "head and the one that is done"


def test_cells_without_a_run_are_named() -> None:
    planned = [Cell("mnist_mlp", hardware, "tensorflow", 128, 20, 1.0, "real") for hardware in ("cpu1", "cpu4", "gpu")]
    read = Read(page(run(status="failed", reason="bug"), planned=planned))
    assert "2 of 3 configurations have no run." in read.text
    assert "MNIST · MLP, TensorFlow, b128: none on 4 vCPUs, a card; it failed on 1 vCPU" in read.text
    assert "have no run" not in Read(page(run(), planned=planned[:1])).text


def test_study_of_which_all_failed_has_a_page() -> None:
    read = Read(page(run(**FAILED)))
    assert read.rows["short"][1] == ["MNIST · MLP", "none finished", "—", "no price", "—"]
    assert "killed" in read.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "notice", "shown"),
    [
        ([run()], "Synthetic data.", False),
        ([run(data="synthetic")], "Synthetic data. mnist_mlp trained on random data", True),
        ([run()], "Reduced scale.", False),
        ([run(epochs=2)], "Reduced scale.", True),
        ([run()], "One run of each configuration.", True),
        ([run(), run(repeat=2)], "One run of each configuration.", False),
        ([run()], "did not end as done", False),
    ],
)
def test_reader_sees_what_weakens_the_numbers(rows: list[dict], notice: str, shown: bool) -> None:
    assert (notice in Read(page(*rows)).text) is shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "published"),
    [({}, ["0.9820", "20"]), ({"epochs_done": 2}, ["0.9672", "2"])],
)
def test_accuracy_stands_beside_the_published_one(values: dict, published: list[str]) -> None:
    row = Read(page(run(**values))).rows["learned"][1]
    assert row[2:4] == ["validation accuracy", "0.9800"]
    assert row[-3:] == [*published, "—"]


def test_synthetic_data_have_no_accuracy_to_show() -> None:
    assert "learned" not in Read(page(run(data="synthetic"))).rows


def test_verdict_on_what_was_learned_is_shown() -> None:
    rows = [run(), run(repeat=2, convergence="ok"), run(repeat=3, convergence="below the reference")]
    assert Read(page(*rows)).rows["learned"][1][-1] == "ok, below the reference"


def test_modes_are_compared_with_stock() -> None:
    rows = [run(), run(mode="tuned", samples_per_second=100_000.0, settings="loop: mine")]
    read = Read(page(*rows, *(row | {"hardware": "cpu4"} for row in rows)))
    assert read.rows["axes"] == [
        ["workload", "TensorFlow · 1 vCPU", "TensorFlow · 4 vCPUs"],
        ["MNIST · MLP", "10.00×", "10.00×"],
    ]
    assert "tuned over stock" in read.text
    assert "loop: mine (mnist_mlp)" in read.text


@pytest.mark.slow
def test_utilisation_is_of_the_peak_in_the_precision() -> None:
    """10,000 samples/s of 0.2 GFLOP on a card of 8 TFLOP/s are a quarter of it."""
    machine = CATALOGUE["gpu"] | {"peak_tflops": {"float32": 8, "source": "its data sheet"}}
    rows = [run(hardware="gpu", flops_per_sample=2e8), run(flops_per_sample=2e8), run(framework="jax")]
    read = Read(page(*rows, catalogue=CATALOGUE | {"gpu": machine}))
    assert read.rows["cells"][0][-3:-1] == ["model GFLOP/s", "utilisation"]
    assert [row[-3:-1] for row in read.rows["cells"][1:]] == [["2,000", "25 %"], ["2,000", "—"], ["—", "—"]]
    assert "a card: its data sheet" in read.text
    assert "utilisation" not in Read(page(run())).text


@pytest.mark.slow
def test_scaling_is_shown_by_devices() -> None:
    read = Read(page(run(), run(devices=4, samples_per_second=30_000.0)))
    rows = read.rows["axes"]
    assert rows[-1][2:] == ["4", "128", "512", "1, 1", "30,000", "10,000", "3.00× ", "0.750"]  # one run a side
    assert "says nothing of speed" in read.text
    gpus = [run(devices=n, samples_per_second=10_000.0 * n, gpu_model="T4") for n in (1, 2)]
    assert "says nothing of speed" not in Read(page(*gpus)).text


def test_runs_that_could_not_be_compiled_are_a_cell_of_their_own(tmp_path: Path) -> None:
    """Of one cell of the grid: half of its repetitions trained where there was no compiler."""
    ways = {"stock": {"loop": "model.fit"}, "tuned": {"loop": "our own", "step": "compiled by TorchInductor"}}
    broken = ways["tuned"] | {"step": "a graph of ATen operations, not compiled (InvalidCxxCompiler)"}
    wanted = [("stock", ways["stock"])] * 4 + [("tuned", ways["tuned"]), ("tuned", broken)] * 4
    files = []
    for number, (mode, settings) in enumerate(wanted):
        variant, repeat = ("b128", number + 1) if mode == "stock" else (f"b128-{mode}", number - 3)
        folder = tmp_path / f"mnist_mlp/cpu1/torch/{variant}/r{repeat}"
        shutil.copytree(ROOT / "tests/records/raw/trained", folder)
        record = json.loads((folder / "run.json").read_text())
        record["cell"] |= {"mode": mode, "framework": "torch"}
        record["provenance"]["started_at"] = f"2026-11-01T{number:02}:00:00+00:00"
        record |= {"repeat": repeat, "settings": settings}
        (folder / "run.json").write_text(json.dumps(record))
        files.append(folder / "run.json")
    frame, _, _ = collected.collect(stored.each(tmp_path, files, collected.rows), 8, tmp_path)
    read = Read(page(*tables.records(frame), base={"hardware": "cpu1", "framework": "torch"}, repeats=8))
    names, *cells = read.rows["cells"]
    assert [(row[1], row[names.index("runs")]) for row in cells] == [
        ("PyTorch · 1 vCPU", "4 of 4"),
        ("PyTorch · 1 vCPU · tuned", "4 of 4"),
        ("PyTorch · 1 vCPU · tuned, not compiled", "4 of 4"),
    ]
    for over_stock in ("tuned over stock", "tuned, not compiled over stock"):
        assert over_stock in read.text
    assert "step: a graph of ATen operations, not compiled (InvalidCxxCompiler)" in read.text


@pytest.mark.parametrize(
    ("values", "is_said"),
    [
        ({}, True),  # 128 samples at 100,000/s: 1.28 ms
        ({"samples_per_second": 10_000.0}, False),
        ({"gpu_model": None}, False),
        ({"settings": "loop: our own, step: a CUDA graph"}, False),
        ({"settings": None}, False),  # a log of others, which does not record it
        ({"framework": "jax"}, False),
    ],
    ids=["short-steps", "long-steps", "no-gpu", "captured", "of-others", "jax"],
)
def test_short_steps_of_pytorch_on_a_gpu_are_said_beside_the_figures(values: dict, is_said: bool) -> None:
    card = {"framework": "torch", "hardware": "gpu", "gpu_model": "H200", "settings": "loop: model.fit"}
    card |= {"samples_per_second": 100_000.0} | values
    rows = [run(**card), run(**card | {"mode": "tuned", "samples_per_second": card["samples_per_second"] / 64})]
    read = Read(page(*rows, base={"hardware": "gpu", "framework": "torch"}))
    said = "1 of its 2 configurations on a GPU took less than 5.00 ms a step (from 1.28 ms)"
    assert read.text.count(said) == (2 if is_said else 0), "by the table of cells, and by how modes compare"
    caption = chart.trained(runs(*rows))
    assert ("short steps may be launch time" in caption) == is_said


def test_frameworks_are_compared_with_that_of_the_base() -> None:
    read = Read(page(run(), run(framework="jax", samples_per_second=100_000.0), run(framework="jax", hardware="cpu4")))
    assert read.rows["axes"] == [["workload", "1 vCPU"], ["MNIST · MLP", "10.00×"]]
    assert "JAX over TensorFlow" in read.text
    assert "One run a side" in read.text


def test_spread_shows_every_run_and_what_is_unstable() -> None:
    seconds = (100.0, 90.0, 120.0, 101.0, 100.0)
    read = Read(page(*(run(repeat=i, train_seconds=s) for i, s in enumerate(seconds, 1)), repeats=5))
    row = read.rows["spread"][1]
    assert row[2:6] == ["100", "no interval", "100", "30 %"]
    assert row[6] == "unstable"
    assert row[7] == "100 [90.0] [120] 101 100"


def test_warnings_are_shown_with_their_run() -> None:
    read = Read(page(run(warnings="GPU idle: used 3 % of the time, limit 50 %")))
    assert "batch 128, run 1: GPU idle: used 3 % of the time, limit 50 %" in read.text


def test_claims_of_a_grid_are_checked() -> None:
    cells = {"cell": {"hardware": "cpu4"}, "than": {"hardware": "cpu1"}}
    claim = {"says": "Four are faster.", "check": "less", "by": "train_seconds"} | cells
    read = Read(page(run(), run(hardware="cpu4", train_seconds=10.0), claims=[claim]))
    assert "1 claim: 1 holds" in read.text
    assert "Four are faster." in read.text


def test_texts_of_configs_and_logs_are_escaped() -> None:
    catalogue = {"cpu1": CATALOGUE["cpu1"] | {"label": f"machine {EVIL}"}}
    book = price_book(offer("1-core", 1.0, source=f"list {EVIL}", inferred=f"guess {EVIL}"))
    html = page(
        run(packages=f"keras {EVIL}", cpu_model=f"cpu {EVIL}"),
        run(repeat=2, **FAILED | {"reason": f"reason {EVIL}"}),
        catalogue=catalogue,
        book=book,
        title=f"title {EVIL}",
        summary=f"summary {EVIL}",
        pictures={"mnist_mlp": [PICTURE | {"caption": f"caption {EVIL}", "description": f'"><b>{EVIL}'}]},
    )
    read = Read(html)
    assert "b" not in read.tags
    assert EVIL not in html
    for origin in ("machine", "list", "1-core: guess", "keras", "cpu", "reason", "title", "summary", "caption"):
        assert f"{origin} {EVIL}" in read.text


def test_page_fetches_nothing() -> None:
    links = Read(page(run(), pictures={"mnist_mlp": [PICTURE]})).links
    assert "#seen" in links
    assert all(link.startswith(("#", "data:")) for link in links)


@pytest.mark.slow
def test_chart_that_could_not_be_drawn_says_why() -> None:
    drawn = ("caption", "description", "svg")
    missing = {key: value for key, value in PICTURE.items() if key not in drawn} | {"missing": "No chart: no time."}
    read = Read(page(run(**FAILED), pictures={"mnist_mlp": [missing]}))
    assert "No chart: no time." in read.text
    assert "svg" not in read.tags


def test_six_charts_are_seen_first_and_the_others_stand_with_their_workload_in_the_order_of_the_study() -> None:
    drawings = [PICTURE | {"name": name, "svg": Markup(f"<svg><text>{name}</text></svg>")} for name in "hgfedcba"]
    html = page(run(), pictures={"mnist_mlp": drawings})
    seen, others = ([f"<svg><text>{name}</text></svg>" for name in names] for names in ("hgfedc", "ba"))
    marks = ['<section id="seen"', *seen, '<section id="mnist_mlp"', *others]
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "Medians." in Read(html).text


SEVERAL = tuple(
    run(hardware=name, repeat=n, train_seconds=seconds)
    for name, times in (("cpu1", (100, 300, 200, 190, 210, 200)), ("cpu4", (20, 25, 24, 26, 25, 30)))
    for n, seconds in enumerate(map(float, times), 1)
)


def test_table_of_costs_shows_the_ends_and_who_is_cheaper() -> None:
    """At 0.036 USD/h 100 s cost 0.001 USD; 4 cores cost four times that."""
    read = Read(page(*SEVERAL))
    one, four = read.rows["cost"][1:3]
    assert one[1:6] == ["TensorFlow · 1 vCPU", "6", "0.00200", "0.00100", "0.00300"]
    assert one[7:10] == ["1.00", "—", "—"], "the base is not compared with itself"
    assert four[1:6] == ["TensorFlow · 4 vCPUs", "6", "0.00100", "0.000800", "0.00120"]
    assert four[7].strip() == "0.500"
    low, high = map(float, four[8].split(" to "))
    assert low < 0.5 < high < 1
    assert 0.9 < float(four[9].lstrip("> ")) < 1
    assert (one[-1], four[-1]) == ("", "●")
    assert "no probability is given" not in read.text


def test_bill_of_a_run_alone_stands_beside_its_cost() -> None:
    """The whole life of the process, 130 s, is billed."""
    read = Read(page(run(train_seconds=100.0, total_seconds=130.0)))
    assert (read.rows["cost"][1][3], read.rows["cost"][1][-2]) == ("0.00100", "0.00130")
    assert "Below six runs of a configuration no probability is given." in read.text


def test_price_that_was_inferred_or_that_assumes_preemptions_says_so() -> None:
    spot = {"purchase": "spot", "preemption": {"preemptions_per_hour": 0.5, "checkpoint_seconds": 900,
                                               "restart_seconds": 60, "source": "me"}}  # fmt: skip
    book = price_book(offer("1-core", 1.0, inferred="a guess"), offer("1-core", 0.5, purchase="spot"))
    text = Read(page(run(), book=book, options={"on-demand": {}, "spot": spot})).text
    assert "inferred: 1-core: a guess" in text
    assert text.count("preemptions an hour") == 1
    assert "0.50 preemptions an hour, a checkpoint every 900 s, 60.0 s to restart" in text


def test_owned_machine_says_from_which_use_it_pays() -> None:
    """Owned: 730 USD over 10 months and nothing else, 73 USD a month; rented for 1 USD/h: from 73 h or 3.04 days."""
    own = {"acquisition_usd": 730, "life_months": 10, "power_watts": 0, "usd_per_kwh": 0.2, "hours_per_month": 146,
           "as_of": "2026", "source": "me"}  # fmt: skip
    catalogue = {"cpu1": CATALOGUE["cpu1"] | {"own": own}, "cpu4": CATALOGUE["cpu4"]}
    book = price_book(offer("1-core", 1.0), offer("1-core", 0.01, purchase="spot"), offer("4-core", 1.0))
    rows = Read(page(run(), catalogue=catalogue, book=book)).rows["own"]
    assert rows[1:] == [
        ["1 vCPU", "on-demand", "1.00", "0.500", "146", "73.0"],
        ["1 vCPU", "spot", "0.0100", "0.500", "146", "never"],
    ]


@pytest.mark.slow
def test_time_and_cost_to_a_target() -> None:
    """The second epoch of 6.5 s reaches it: 13 s at 0.036 USD/h."""
    cell = {key: run()[key] for key in ("run", *CELL, "repeat")}
    epochs = pd.DataFrame([cell | epoch(i, val_acc=value) for i, value in enumerate((0.5, 0.9, 0.95))])
    rows = Read(page(run(), epochs=epochs, targets={"mnist_mlp": 0.9})).rows["targets"]
    assert rows[-1] == ["MNIST · MLP", "TensorFlow · 1 vCPU", "validation accuracy 0.9", "1 of 1", "13.0", "0.000130"]
    never = Read(page(run(), epochs=epochs, targets={"mnist_mlp": 0.99})).rows["targets"]
    assert never[-1][3:] == ["0 of 1", "—", "—"]


def test_page_is_written_from_files_with_machines_of_the_study_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = runs(run())
    priced = CATALOGUE | {"card": {"label": "my card", "rent": {"provider": "cloud", "items": {"4-core": 1}}}}
    made = {
        "runs": frame,
        "epochs": pd.DataFrame(columns=list(tables.columns("epochs"))),
        "costs": costs(frame, priced),
        "prices": prices(priced),
        "attempts": pd.DataFrame(columns=list(tables.columns("attempts"))),
    }
    for name, table in made.items():
        tables.write(table, name, tmp_path / f"{name}.parquet")
    (tmp_path / "hardware.yaml").write_text(yaml.safe_dump(CATALOGUE))
    (tmp_path / "time").mkdir()
    about = {
        "chart": "time",
        "title": "Time",
        "help": "Read it.",
        "drawn": [{"workload": "mnist_mlp", "missing": "No chart."}],
    }
    (tmp_path / "time.json").write_text(json.dumps(about))
    study = STUDY | {"machines": {"card": priced["card"]}, "tables": "elsewhere"}
    words = [f"--{name}={tmp_path / name}.parquet" for name in made]
    words += ["--name=mine", f"--claims={tmp_path / 'claims.json'}"]
    words += [
        f"--hardware={tmp_path / 'hardware.yaml'}",
        f"--charts={tmp_path / 'time.json'}",
        "--study",
        json.dumps(study),
    ]
    monkeypatch.setattr(sys, "argv", ["report", str(tmp_path / "report.html"), *words])
    assert report.main() == 0
    text = Read((tmp_path / "report.html").read_text()).text
    assert "my card, on-demand: 0.144 USD/h as of 2026-01-02 (a price list)" in text
    assert "No chart." in text


#: Logs of a K80 that record no samples: 200 s for 20 epochs; and a rate of another.
OTHERS = [
    Side(
        f"Logs {EVIL}",
        runs(run(hardware="k80", framework="cntk", train_seconds=204.0, first_step_seconds=None, samples_fraction=None,
                 train_samples=None, batch_size=None, mode=None, precision=None, devices=None, data=None,
                 started_at=None)),
        {"k80": "K80"},
        {"title": "An article", "by": "Somebody", "date": "2017-11-03", "url": "https://example.org/article"},
        [{"where": {"hardware": "k80"}, "says": f"an old card {EVIL}"}],
        {"mnist_mlp/k80/cntk/bNone-None-None-xNone/r1": f"same bytes {EVIL}"},
    ),
    Side(
        "Mine",
        runs(run(samples_fraction=0.5, train_samples=25_000, epochs_done=2, train_seconds=18.0)),
        {"cpu1": "my box"},
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["reduced", "doubted"])
def test_row_of_another_machine_is_marked(mark: str) -> None:
    assert page(run(hardware="cpu4"), others=OTHERS).count(f'<span class="about">{mark}</span>') == 1


@pytest.mark.slow
def test_other_machines_stand_beside_those_of_the_study() -> None:
    html = page(run(hardware="cpu4", train_seconds=100.0), others=OTHERS)
    read = Read(html)
    assert read.rows["beside"] == [
        ["machine", "samples/s", "highest here ÷ row", "runs", "highest of", "precision", "framework", "mode",
         "batch size", "measured", "study", "training", "data"],
        ["4 vCPUs", "10,000", "1.00", "1", "1", "float32", "TensorFlow", "stock", "128", "2026-01", "",
         "full, 20 epochs", "real"],
        ["K80 ", "4,902", "2.04", "1", "1", "—", "CNTK", "—", "—", "by 2017-11", f"Logs {EVIL}",
         "full, 20 epochs", "—"],
        ["my box ", "2,778", "3.60", "1", "1", "float32", "TensorFlow", "stock", "128", "2026-01", "Mine",
         "50.0 % of the samples, 2 of 20 epochs", "real"],
    ]  # fmt: skip
    assert "this one" in read.text
    assert "Samples/s by the training clock." in read.text
    assert "taken to have the 50,000 of the official data" in read.text
    assert "Reduced are runs on fewer samples" in read.text
    assert "the steady clock" not in read.text
    assert f"Logs {EVIL}: an old card {EVIL}." in read.text
    assert f"Doubted: K80, Logs {EVIL}: same bytes {EVIL}." in read.text
    assert "https://example.org/article" in read.links
    assert "#beside" in read.links
    assert EVIL not in html


@pytest.mark.slow
def test_page_without_studies_beside_it_has_no_such_section() -> None:
    for html in (page(run()), page(run(), others=[Side("Logs", runs(run(workload="resnet50")), {})])):
        assert 'id="beside"' not in html
        assert "#beside" not in html


def test_what_is_no_training_is_given_to_the_index_as_a_speed() -> None:
    """The million samples of the noise take 2,000 s: .02 USD at .036 USD/h."""
    noise = run(workload="resnet50", is_training=False, samples_per_second=500.0, total_seconds=110.0)
    given = inputs(STUDY | {"prices": {"on-demand": {"purchase": "on-demand"}}}, runs(run(), noise), rows=BOOK)
    cheapest = [one for one in report.costing(given, {}) if one["role"] == "cheapest"]
    assert [(one["workload"], one["of"], one["usd"], one["seconds"]) for one in cheapest] == [
        ("mnist_mlp", "a training", pytest.approx(0.001), 100),
        ("resnet50", "a million samples", pytest.approx(0.02), pytest.approx(2_000)),
    ]
    for_two = [run(workload="resnet50", is_training=False, batch_size=size, total_seconds=9.0) for size in (16, 32)]
    text = Read(page(*for_two)).text
    assert "A million samples, on the steady clock, on-demand" in text
    assert "0.00100 USD a million samples, 100 s" in text, "10,000/s: dollars and seconds are of as many samples"
    assert "full length" not in text.partition("How it was measured")[0]
