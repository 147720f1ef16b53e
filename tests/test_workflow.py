"""What re-runs when, counted by the jobs that Snakemake ran."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import psutil
import pytest
import yaml

from tests.conftest import LIMIT_SECONDS, ROOT, Project, copy_of, copy_project, jobs, made_once, wait_for
from tests.reading import Read

pytestmark = pytest.mark.slow

MLP_JAX = "mnist_mlp/cpu1/jax/b128"
MLP_TENSORFLOW = "mnist_mlp/cpu1/tensorflow/b128"
LSTM_JAX = "imdb_bidirectional_lstm/cpu1/jax/b32"
LSTM_TENSORFLOW = "imdb_bidirectional_lstm/cpu1/tensorflow/b32"
PUBLISHED = yaml.safe_load((ROOT / "config/config.yaml").read_text())["published"]
PUBLISH = "publish under reports/published"
SHARED_LOGS = ROOT.parent / "shared" / "published"
ALL = [MLP_JAX, MLP_TENSORFLOW, LSTM_JAX, LSTM_TENSORFLOW]

DRAW = ["draw relative_cost", "draw relative_time"]
DRAW_COST = "draw relative_cost"
PRICE = "price the runs of tiny"
REPORT = "write the report of tiny"


def trainings(jobs: list[str]) -> list[str]:
    return [job.removeprefix("train ") for job in jobs if job.startswith("train ")]


def others(jobs: list[str]) -> list[str]:
    return [job for job in jobs if not job.startswith("train ")]


def test_complete_study_runs_nothing(trained: Project) -> None:
    assert trained.snakemake() == []


def test_dry_run_lists_the_cells(fresh: Project) -> None:
    assert trainings(fresh.snakemake("-n")) == sorted(ALL)


@pytest.mark.nightly
def test_large_study_is_trained_in_parts(fresh: Project) -> None:
    part = ("results/tiny/runs.csv", "--batch", "collect=1/20")
    assert 0 < len(trainings(fresh.snakemake("-n", *part))) < len(ALL)


def test_one_run_record_trains_that_cell_alone(fresh: Project) -> None:
    jobs = fresh.snakemake("-n", f"results/tiny/{MLP_JAX}/r1/run.json")
    assert trainings(jobs) == [MLP_JAX]
    assert others(jobs) == ["data set mnist (synthetic)"]


def test_cell_that_is_not_in_the_study_is_named(fresh: Project) -> None:
    done = fresh.run(
        "snakemake", "-n", "results/tiny/mnist_mlp/cpu8/jax/b128/r1/run.json", "--config", "study=tiny", check=False
    )
    assert done.returncode != 0
    assert "study tiny has no configuration mnist_mlp/cpu8/jax/b128" in done.stdout + done.stderr
    assert "KeyError" not in done.stdout + done.stderr


@pytest.mark.nightly
def test_snakemake_waits_without_looking_again_and_again(fresh: Project) -> None:
    """It would take CPU from the runs that are timed."""
    targets = [f"results/tiny/{cell}/r1/run.json" for cell in (MLP_JAX, LSTM_JAX)]
    done = fresh.run("snakemake", "--verbose", *targets, "--cores", "all", "--config", "study=tiny")
    said = done.stdout + done.stderr
    assert len(jobs(said)) == 4, "two trainings and their data"
    assert said.count("Ready jobs:") <= 4, "one of the trainings was ready all the time"


def test_forced_cell_trains_alone_and_remakes_what_follows_from_it(trained: Project) -> None:
    """In a clone with results and without data too, and whether Snakemake has notes of them or not."""
    shutil.rmtree(trained.path / "data")
    assert trained.snakemake("-n") == [], "data are fetched for trainings alone"
    notes = trained.path / ".snakemake"
    notes.rename(trained.path / "notes")
    forced = ("-R", f"results/tiny/{MLP_JAX}/r1/run.json")
    follows = ["collect the runs", "data set mnist (synthetic)", *DRAW, PRICE, REPORT]
    jobs = trained.snakemake("-n", *forced)
    assert (trainings(jobs), others(jobs)) == ([MLP_JAX], follows)
    shutil.rmtree(notes)
    (trained.path / "notes").rename(notes)
    jobs = trained.snakemake(*forced)
    assert (trainings(jobs), others(jobs)) == ([MLP_JAX], follows)
    assert trained.snakemake("-n") == [], "the same data have come back"
    data = trained.path / "data/synthetic/mnist.npz"
    with np.load(data) as archive:
        arrays = dict(archive)
    np.savez(data, **arrays | {"y_train": arrays["y_train"][::-1]})
    assert trainings(trained.snakemake("-n")) == [MLP_JAX, MLP_TENSORFLOW], "other data"


@pytest.mark.represented_by("workload")
@pytest.mark.parametrize(
    ("old", "new", "cells"),
    [
        ("[mnist_mlp, imdb_bidirectional_lstm]", "[mnist_mlp, imdb_bidirectional_lstm, lstm_text_generation]",
         ["lstm_text_generation/cpu1/jax/b128", "lstm_text_generation/cpu1/tensorflow/b128"]),
        ("hardware: [cpu1]", "hardware: [cpu1, mine]",
         ["imdb_bidirectional_lstm/mine/jax/b32", "imdb_bidirectional_lstm/mine/tensorflow/b32",
          "mnist_mlp/mine/jax/b128", "mnist_mlp/mine/tensorflow/b128"]),
        ("scale:", "batch_sizes: [published, 64]\nscale:",
         ["imdb_bidirectional_lstm/cpu1/jax/b64", "imdb_bidirectional_lstm/cpu1/tensorflow/b64",
          "mnist_mlp/cpu1/jax/b64", "mnist_mlp/cpu1/tensorflow/b64"]),
    ],
    ids=["workload", "machine", "batch size"],
)  # fmt: skip
def test_addition_to_the_grid_trains_the_new_cells(trained: Project, old: str, new: str, cells: list[str]) -> None:
    trained.edit("config/hardware.yaml", "cpu1:\n", "mine: {label: Mine, machine: {cores: 1}}\ncpu1:\n")
    trained.edit("config/studies/tiny.yaml", old, new)
    assert trainings(trained.snakemake("-n")) == cells


@pytest.mark.nightly
def test_added_framework_trains_the_new_cells(fresh: Project) -> None:
    fresh.edit("config/studies/tiny.yaml", "workloads: [mnist_mlp, imdb_bidirectional_lstm]", "workloads: [mnist_mlp]")
    fresh.edit("config/studies/tiny.yaml", "frameworks: [jax, tensorflow]", "frameworks: [tensorflow]")
    assert trainings(fresh.snakemake()) == [MLP_TENSORFLOW]
    fresh.edit("config/studies/tiny.yaml", "frameworks: [tensorflow]", "frameworks: [jax, tensorflow]")
    assert trainings(fresh.snakemake()) == [MLP_JAX]


@pytest.mark.represented_by("price row")
@pytest.mark.parametrize(
    ("file", "old", "new", "follows"),
    [
        ("config/hardware.yaml", "acquisition_usd: 1000", "acquisition_usd: 1100",
         [DRAW_COST, PRICE, REPORT]),
        ("config/prices/current.csv", "n1-standard-1,us-central1,on-demand,0.0475,",
         "n1-standard-1,us-central1,on-demand,0.05,", [DRAW_COST, PRICE, REPORT]),
        ("config/prices/billing.csv", "gce,2017-09-26,1,60,", "gce,2017-09-26,1,120,",
         [DRAW_COST, PRICE, REPORT]),
        ("config/studies/tiny.yaml", "base:",
         "prices: {on-demand: {purchase: on-demand}, half: {discount: {share: 0.5, source: a deal}}}\nbase:",
         [DRAW_COST, PRICE, REPORT]),
        ("config/studies/tiny.yaml", "title: Tiny", "title: Small", [REPORT]),
        ("config/studies/tiny.yaml", "relative_time]", "relative_time, learning]",
         ["draw learning", REPORT]),
        ("config/hardware.yaml", "label: 1 vCPU", "label: one vCPU", [*DRAW, PRICE, REPORT]),
        ("scripts/charts/relative_time.py", 'TITLE = "Relative time', 'TITLE = "Time',
         ["draw relative_time", REPORT]),
        ("reports/sections/short.html.j2", "In short", "In brief", [REPORT]),
    ],
    ids=["owned price", "price row", "billing rule", "price option", "title", "new chart", "label", "chart", "page"],
)  # fmt: skip
def test_edit_remakes_what_it_touches(trained: Project, file: str, old: str, new: str, follows: list[str]) -> None:
    trained.edit(file, old, new)
    assert trained.snakemake("-n") == follows


@pytest.mark.nightly
def test_price_of_an_own_machine_remakes_what_shows_it_and_trains_nothing(trained: Project) -> None:
    own = trained.path / "config" / "hardware.local.yaml"
    own.write_text("cpu1: {own: {acquisition_usd: 1100}}")
    assert trained.snakemake() == [DRAW_COST, PRICE, REPORT]
    own.unlink()
    assert trained.snakemake() == [DRAW_COST, PRICE, REPORT]
    assert trained.snakemake() == [], "and then all is up to date"


def test_fault_in_an_own_machine_is_one_line(fresh: Project) -> None:
    (fresh.path / "config" / "hardware.local.yaml").write_text("cpu1: {labl: mine}\n")
    done = fresh.run("snakemake", "-n", "--config", "study=tiny", check=False)
    assert done.returncode != 0
    assert "error: config/hardware.local.yaml: cpu1: 'labl' is unknown: it is one of label, " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.represented_by("workload")
@pytest.mark.parametrize(
    ("file", "old", "new", "cells"),
    [
        ("scripts/workloads/mnist_mlp.py", "layers.Dropout(0.2)", "layers.Dropout(0.1)", [MLP_JAX, MLP_TENSORFLOW]),
        ("scripts/frameworks/jax/device.py", '"NPROC": str(cores),', '"NPROC": f"{cores}",', [LSTM_JAX, MLP_JAX]),
        ("envs/jax.lock", "jax==0.10.2", "jax==0.10.3", [LSTM_JAX, MLP_JAX]),
    ],
    ids=["workload", "framework", "lock"],
)
def test_edit_trains_again_what_it_touches(trained: Project, file: str, old: str, new: str, cells: list[str]) -> None:
    trained.edit(file, old, new)
    jobs = trained.snakemake("-n")
    assert trainings(jobs) == cells
    assert others(jobs) == ["collect the runs", *DRAW, PRICE, REPORT]


@pytest.mark.represented_by("comment")
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("scripts/workloads/mnist_mlp.py", "layers.Dropout(0.2)", "layers.Dropout( 0.2 )"),
        ("scripts/measurement/loop.py", 'def fit(', '# A comment.\n\ndef fit('),
        ("scripts/datasets/mnist.py", '"""MNIST', '"""The MNIST'),
        ("scripts/storage/files.py", "def write_text(", "OTHER = 1\n\n\ndef write_text("),
        ("envs/jax.lock", "jax==0.10.2", "# what else\njax==0.10.2"),
    ],
    ids=["layout", "comment", "docstring", "ground floor", "comment in a lock"],
)  # fmt: skip
def test_edit_that_means_the_same_trains_nothing(trained: Project, file: str, old: str, new: str) -> None:
    trained.edit(file, old, new)
    assert trainings(trained.snakemake("-n")) == []


def test_statement_of_the_trainer_trains_all(trained: Project) -> None:
    trained.edit("scripts/measurement/loop.py", "CHUNK_SECONDS = ", "CHUNK_SECONDS = 0.1 + ")
    assert trainings(trained.snakemake("-n")) == sorted(ALL)


def test_files_of_other_times_train_nothing(trained: Project) -> None:
    for file in trained.path.rglob("*"):
        if file.suffix in (".py", ".lock", ".yaml", ".npz"):
            file.touch()
    assert trainings(trained.snakemake()) == []


def test_results_in_a_fresh_clone_train_nothing(trained: Project, tmp_path: Path) -> None:
    """Neither with what Snakemake has noted of them, nor without."""
    clone = copy_project(tmp_path / "clone")
    for folder in ("results", "data"):
        shutil.copytree(trained.path / folder, clone.path / folder, copy_function=shutil.copy)
    assert trainings(clone.snakemake("-n")) == []
    shutil.rmtree(clone.path / ".snakemake")
    shutil.copytree(trained.path / ".snakemake", clone.path / ".snakemake")
    assert trainings(clone.snakemake("-n")) == []


@pytest.mark.represented_by("threshold")
@pytest.mark.parametrize(
    ("file", "old", "new", "shown"),
    [
        ("validators.py", "MEMORY_PERCENT = 90", "MEMORY_PERCENT = 0.01", "MiB, limit 0.01 %"),
        ("derive.py", '"samples_per_second": throughput,', '"samples_per_second": 123_456.0,', "123,456"),
    ],
    ids=["threshold", "statistic"],
)
def test_what_is_worked_out_later_trains_nothing_and_changes_the_page(
    trained: Project, file: str, old: str, new: str, shown: str
) -> None:
    page = trained.path / "results/tiny/report.html"
    assert shown not in Read(page.read_text()).text
    trained.edit(f"scripts/analysis/{file}", old, new)
    assert trained.snakemake() == ["collect the runs", *DRAW, PRICE, REPORT]
    assert shown in Read(page.read_text()).text
    assert trained.snakemake() == []


LOG = "epoch,elapsed,loss,acc,val_loss,val_acc\n"

#: Logs in the manner of 2017 by folder; the last one is broken in its third line.
LOGS = {
    "node-a/mnist_mlp_tensorflow.csv": LOG + "0,21,0.5,0.8,0.6,0.7\n1,15,0.4,0.85,0.5,0.8\n",
    "node-a/own_net_torch.csv": LOG + "0,7.5,0.5,0.8,0.6,0.7\n",
    "node-b/mnist_mlp_tensorflow.csv": LOG + "0,40,0.5,0.8,0.6,0.7\n1,32,0.4,0.85,0.5,0.8\n",
    "node-b/own_net_torch.csv": LOG + "0,7,0.5,0.8,0.6,0.7\n1,fast,0.5,0.8,0.6,0.7\n",
}

OWN = """
title: My <b>logs</b>
import:
  format: keras_csv
  folder: FOLDER
  hardware: {node-a: big, node-b: small}
machines:
  big: {label: big one, rent: {provider: gce, region: us-central1, items: {n1-standard-8: 1}}}
  small: {label: small one, rent: {provider: gce, items: {our-own: 1}}}
base: {hardware: small, framework: tensorflow}
book: [BOOK, current]
charts: [relative_time, relative_cost]
"""

OWN_BOOK = """\
provider,item,region,purchase,rate,rate_low,rate_high,currency,per,as_of,source,inferred
gce,our-own,,on-demand,0.036,,,USD,hour,2026-01-02,what we are charged,
"""

IMPORT, COLLECT = "import the logs of mine", "collect the runs of mine"
PRICE_MINE, SHOW = "price the runs of mine", "write the report of mine"


def own_study(folder: Path, logs: str, book: str) -> None:
    """Write logs, price book and config of a study of one's own; `logs` and `book` are how the config calls them."""
    for name, text in LOGS.items():
        (folder / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "logs" / name).write_text(text)
    (folder / "our prices.csv").write_text(OWN_BOOK)
    (folder / "mine.yaml").write_text(OWN.replace("FOLDER", logs).replace("BOOK", book))


def test_logs_of_ones_own_anywhere_become_a_priced_report(fresh: Project, tmp_path: Path) -> None:
    mine = tmp_path / "not in the clone"
    own_study(mine, str(mine / "logs"), str(mine / "our prices.csv"))
    done = fresh.run("snakemake", "--cores", "all", "--config", f"study={mine / 'mine.yaml'}")
    said = done.stdout + done.stderr
    assert "not imported: node-b/own_net_torch.csv:3: elapsed: 'fast' is not a number" in said
    assert "imported 3 runs" in said
    assert jobs(said) == [COLLECT, *DRAW, IMPORT, PRICE_MINE, SHOW]
    page = fresh.path / "results" / "mine" / "report.html"
    assert f"report: {page}" in said
    read = Read(page.read_text())
    assert "My <b>logs</b>" in read.text
    assert [row[:4] + row[6:9] for row in read.rows["cells"][1:]] == [
        # Billed are 60 s at least: 0.38 USD / 60, and 8.80 times the 72 s of the other at 0.036 USD an hour.
        ["MNIST · MLP", "TensorFlow · big one", "0.00633", "8.80", "36.00", "0.500", "done"],
        ["MNIST · MLP", "TensorFlow · small one", "0.000720", "1.00", "72.00", "1.00", "done"],
        ["own net", "PyTorch · big one", "0.00633", "—", "7.500", "—", "done"],
    ]
    assert ["small one", "on-demand", "Google", "0.03600", "—", "1", "60", "2026-01-02", "what we are charged"] in [
        [cell.strip() for cell in row] for row in read.rows["prices"]
    ]
    assert not list(mine.rglob("*.parquet")), "nothing is written beside the logs"


@pytest.mark.nightly
def test_example_of_the_documentation_has_the_whole_page(fresh: Project, tmp_path: Path) -> None:
    """What a reader of docs/importing.md gets: the A100 is rented, the workstation owned, and could be rented."""
    for folder, framework, seconds in (
        ("node-a", "torch", (12, 10)),
        ("node-a", "jax", (10, 8)),
        ("node-b", "torch", (36, 30)),
        ("node-b", "jax", (30, 24)),
    ):
        log = tmp_path / "logs" / folder / f"mnist_mlp_{framework}.csv"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(LOG + "".join(f"{i},{elapsed},0.5,0.8,0.6,0.7\n" for i, elapsed in enumerate(seconds)))
    example = (ROOT / "docs" / "importing.md").read_text().split("```yaml\n")[1].split("```")[0]
    assert "/data/logs" in example
    (tmp_path / "mine.yaml").write_text(example.replace("/data/logs", str(tmp_path / "logs")))
    fresh.run("snakemake", "--cores", "all", "--config", f"study={tmp_path / 'mine.yaml'}")
    read = Read((fresh.path / "results" / "mine" / "report.html").read_text())
    assert "MNIST · MLP: Too few runs to say which of 4 is cheapest." in read.text, "one run of each"
    assert "Shortest time measured JAX · A100 18.0 s" in read.text
    costs = {row[1]: row[6].strip() for row in read.rows["cost"][1:]}
    assert costs["JAX · our workstation"] == "0.818", "54 s over the 66 s of the base"
    assert costs["PyTorch · our workstation"] == "1.00"
    ((machine, option, *_, hours),) = read.rows["own"][1:]
    assert (machine, option) == ("our workstation", "rented")
    assert 0 < float(hours) < 730
    assert {"#short", "#seen", "#cost", "#own", "#cells", "#audit", "#prices"} <= set(read.links)


@pytest.fixture(scope="session")
def own_report() -> Path:
    """A folder with the project and a study of one's own, complete, each called by its place from the other."""

    def make(folder: Path) -> None:
        own_study(folder / "mine", "../mine/logs", "../mine/our prices.csv")
        copy_project(folder / "project").snakemake(study="../mine/mine.yaml")

    return made_once("own", make)


@pytest.fixture
def own(own_report: Path, tmp_path: Path) -> Project:
    """A copy of that folder; the project of it."""
    return Project(copy_of(own_report, tmp_path) / "project")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "old", "new", "follows"),
    [
        ("../mine/our prices.csv", "0.036", "0.05", [DRAW_COST, PRICE_MINE, SHOW]),
        ("config/prices/current.csv", "n1-standard-8,us-central1,on-demand,0.38,",
         "n1-standard-8,us-central1,on-demand,0.4,", [DRAW_COST, PRICE_MINE, SHOW]),
        ("../mine/mine.yaml", "charts:",
         "prices: {on-demand: {}, half: {discount: {share: 0.5, source: a deal}}}\ncharts:",
         [DRAW_COST, PRICE_MINE, SHOW]),
        ("../mine/mine.yaml", "label: big one, ", "label: a bigger one, ", [*DRAW, PRICE_MINE, SHOW]),
        ("../mine/mine.yaml", "My <b>", "Our <b>", [SHOW]),
        ("../mine/logs/node-b/own_net_torch.csv", "fast", "6", [COLLECT, *DRAW, IMPORT, PRICE_MINE, SHOW]),
        ("scripts/importers/formats/keras_csv.py", "HELP = ", "ABOUT = HELP = ",
         [COLLECT, *DRAW, IMPORT, PRICE_MINE, SHOW]),
        ("scripts/importers/formats/mllog.py", "HELP = ", "ABOUT = HELP = ", []),
    ],
    ids=["own book", "price row", "price option", "label", "title", "log", "importer", "other importer"],
)  # fmt: skip
def test_edit_of_an_imported_study_remakes_what_follows(
    own: Project, file: str, old: str, new: str, follows: list[str]
) -> None:
    own.edit(file, old, new)
    assert own.snakemake(study="../mine/mine.yaml") == follows


@pytest.mark.nightly
def test_added_log_is_imported_with_the_others(own: Project) -> None:
    (own.path / "../mine/logs/node-b/mnist_cnn_jax.csv").write_text(LOG + "0,7,0.5,0.8,0.6,0.7\n")
    jobs = own.snakemake(study="../mine/mine.yaml")
    assert jobs == [COLLECT, *DRAW, IMPORT, PRICE_MINE, SHOW]
    assert "mnist_cnn,small,jax" in (own.path / "results/mine/facts.csv").read_text()
    assert own.snakemake(study="../mine/mine.yaml") == []


@pytest.mark.nightly
def test_removed_log_leaves_the_report(own: Project) -> None:
    (own.path / "../mine/logs/node-a/own_net_torch.csv").unlink()
    assert IMPORT in own.snakemake(study="../mine/mine.yaml")
    assert "own_net" not in (own.path / "results/mine/facts.csv").read_text()


def test_import_that_cannot_be_used_is_one_line(fresh: Project, tmp_path: Path) -> None:
    own_study(tmp_path / "mine", str(tmp_path / "nowhere"), "current")
    done = fresh.run("snakemake", "--cores", "all", "--config", f"study={tmp_path / 'mine/mine.yaml'}", check=False)
    assert done.returncode != 0
    assert f"error: {tmp_path / 'nowhere'}: no such folder" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.represented_by("keras-cntk-2017", "fine-tuning-a10g")
@pytest.mark.parametrize("study", ["keras-cntk-2017", "fine-tuning-a10g", "batch-size"])
def test_published_page_is_that_which_is_made_now(fresh: Project, study: str) -> None:
    """Of imported logs, of tables, and of runs of this project: the other pages are regenerated at night."""
    page = f"results/{study}/report.html"
    fresh.run("snakemake", page, "--cores", "all", "--config", f"study={study}")
    assert (fresh.path / page).read_bytes() == (fresh.path / f"reports/published/{study}.html").read_bytes(), (
        "run: snakemake published"
    )


@pytest.mark.nightly
def test_published_studies_are_regenerated_byte_for_byte(fresh: Project) -> None:
    """And nothing is trained or fetched, although the clone has no results; one table is read where it is committed."""
    folder = fresh.path / "reports" / "published"
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    pictures = {f"{name}.png" for name in PUBLISHED}
    assert set(before) == {f"{name}.html" for name in ("index", "ledger", *PUBLISHED)} | pictures
    (folder / "index.html").unlink()
    (folder / f"{PUBLISHED[0]}.html").write_text("spoilt")
    done = jobs((ran := fresh.run("snakemake", "published")).stdout + ran.stderr)
    steps = ("collect the runs", "price the runs", "write the report")
    trained = {path.name for path in (folder / "tables").iterdir()}
    first = {name: f"take the runs of {name} as they were trained" for name in trained}
    expected = [first.get(name, f"{steps[0]} of {name}") for name in PUBLISHED]
    expected += [f"{what} of {name}" for name in PUBLISHED for what in steps[1:]]
    expected += ["import the logs of language-models"]
    assert [job for job in done if not job.startswith("draw ")] == sorted(
        [*expected, "write the index of the published studies", "write the page of the ledger", PUBLISH]
    )
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert set(after) == set(before)
    assert [name for name in before if after[name] != before[name]] == [], "run: snakemake published"
    assert fresh.snakemake("published") == [PUBLISH], "a copy of pages that are up to date"


@pytest.mark.nightly
def test_report_of_snakemake_itself_has_page_charts_and_captions(fresh: Project) -> None:
    fresh.run("snakemake", "--config", "study=keras-cntk-2017")
    fresh.run("snakemake", "--report", "own.html", "--config", "study=keras-cntk-2017")
    text = (fresh.path / "own.html").read_text()
    assert "Measure once, price many times: trainings are expanded" in text
    shown, results = (
        json.loads(re.search(rf'<script id="{name}">\s*var {name} = (\{{.*?\}});?\n', text)[1])
        for name in ("categories", "results")
    )
    charts = [f"results/keras-cntk-2017/charts/relative_time/{name}.svg" for name in ("mnist_cnn", "mnist_mlp")]
    assert shown["keras-cntk-2017"]["page"] == ["results/keras-cntk-2017/report.html"]
    assert set(charts) < set(shown["keras-cntk-2017"]["relative_time"])
    assert "Its data lie beside it as CSV" in results[charts[0]]["caption"]


@pytest.mark.nightly
@pytest.mark.skipif(not SHARED_LOGS.is_dir(), reason=f"the published logs are not here: {SHARED_LOGS}")
def test_facts_are_made_again_from_the_published_logs_byte_for_byte(fresh: Project, tmp_path: Path) -> None:
    for path in SHARED_LOGS.iterdir():  # as clones of the repositories lie beside one another
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "deeplearning-benchmark").mkdir()
    (tmp_path / "deeplearning-benchmark" / "pytorch").symlink_to(SHARED_LOGS / "lambda")
    of_logs = ["cpu-or-gpu-2017", "gpus-2017", "lambda-gpus"]  # of June 2017 not all logs are here
    files = [f"results/{name}/facts.csv" for name in of_logs]
    done = fresh.run("snakemake", *files, "--cores", "all", "--config", f"logs_dir={tmp_path}")
    assert jobs(done.stdout + done.stderr) == [f"import the logs of {name}" for name in of_logs]
    for name in of_logs:
        made = (fresh.path / "results" / name / "facts.csv").read_bytes()
        assert made == (fresh.path / "reports" / "published" / "facts" / f"{name}.csv").read_bytes(), name


def test_runs_of_other_studies_stand_beside_those_of_one(fresh: Project) -> None:
    """Nothing is trained for it, here or there."""
    study = yaml.safe_load((fresh.path / "config/studies/two-cores.yaml").read_text())
    study |= {"charts": ["by_mode"], "claims": [], "beside": ["gpus-2017", "lambda-gpus"]}
    (fresh.path / "config/studies/ours.yaml").write_text(yaml.safe_dump(study))
    assert fresh.snakemake(study="ours") == [
        "collect the runs of gpus-2017",
        "collect the runs of lambda-gpus",
        "draw by_mode",
        "price the runs of ours",
        "take the runs of ours as they were trained",
        "write the report of ours",
    ]
    rows = Read((fresh.path / "results/ours/report.html").read_text()).rows["beside"]
    assert {"K80", "P100", "2 vCPUs "} <= {row[0] for row in rows}
    assert "K80 " in {row[0] for row in rows}, "one of its logs is doubted"
    assert fresh.snakemake(study="ours") == []
    # A call that was killed while Snakemake took away the folder of drawings, as it does before a rule writes it.
    charts = fresh.path / "results/ours/charts"
    (charts / "by_mode.json").unlink()
    next((charts / "by_mode").glob("*.svg")).unlink()
    assert fresh.snakemake("-n", study="ours") == ["draw by_mode", "write the report of ours"]
    fresh.edit("config/studies/ours.yaml", "- lambda-gpus", "- smoke")
    done = fresh.run("snakemake", "-n", "--config", "study=ours", check=False)
    assert (
        "error: study ours: 'smoke', with which it is compared, is trained here and has no runs yet"
        in done.stdout + done.stderr
    )


def test_a_folder_is_whole_if_the_file_before_it_is_there() -> None:
    """Snakemake takes away what a rule writes in its order: folders, which are taken away piece by piece, come last."""
    rules = "".join(file.read_text() for file in (ROOT / "rules").glob("*.smk"))
    outputs = re.findall(r"^    output:\n((?:^ {8}.*\n)+)", rules, re.MULTILINE)
    folders = [output for output in outputs if "directory(" in output]
    assert len(folders) == rules.count("directory(") > 1
    for output in folders:
        first = next(line for line in output.splitlines() if not line.strip().startswith("#"))
        assert "directory(" not in first
        assert first.rstrip().endswith('.json",')


def refresh(project: Project, folder: Path, as_of: str = "") -> tuple[int, str]:
    """Return exit code and words of a refresh from a folder."""
    words = ("./epd", "prices", "refresh", "--catalogue", str(folder))
    done = project.run(*words, *(["--as-of", as_of] if as_of else []), check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """A catalogue of which three of the four providers cannot be used; of the fourth two prices are new."""
    folder = tmp_path / "the catalogue"
    folder.mkdir()
    (folder / "gcp_vms.csv").write_text("<!doctype html>")
    (folder / "aws_vms.csv").write_text("")
    with (ROOT / "config/prices/current.csv").open(newline="") as file:
        rates = {row["item"]: row["rate"] for row in csv.DictReader(file) if row["provider"] == "lambda"}
    rates |= {"gpu_1x_a10": "1.19", "gpu_1x_a100": "0.19"}
    rows = "".join(f"{item},GPU,1.0,{rate},us-east-1,\n" for item, rate in rates.items())
    header = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,SpotPrice\n"
    (folder / "lambda_vms.csv").write_text(header + rows)
    return folder


def test_refresh_keeps_the_last_good_book_when_the_source_is_broken(fresh: Project, catalogue: Path) -> None:
    book = fresh.path / "config/prices/current.csv"
    before = book.read_bytes()
    (catalogue / "lambda_vms.csv").write_text("InstanceType,Price\n")
    code, said = refresh(fresh, catalogue, "2026-07-01")
    assert code != 0
    assert book.read_bytes() == before
    # The last screen says it once more. Two are of gpuhunt's catalogue alone, which is not asked beside a folder.
    assert len({line.strip() for line in said.splitlines() if "not refreshed: " in line}) == 16
    assert "config/prices/current.csv: not changed, nothing could be refreshed" in said


def prices_of(book: Path) -> dict[str, tuple[str, str]]:
    """Return 'provider item purchase' -> (rate, as_of)."""
    with book.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {f"{row['provider']} {row['item']} {row['purchase']}": (row["rate"], row["as_of"]) for row in rows}


@pytest.mark.nightly
def test_refresh_takes_what_is_good_and_refuses_what_is_not(fresh: Project, catalogue: Path) -> None:
    book = fresh.path / "config/prices/current.csv"
    before = prices_of(book)
    code, said = refresh(fresh, catalogue, "2026-07-01")
    assert code == 0, said
    assert said.count("not refreshed: ") == 5
    assert re.search(r"refused +gpu_1x_a100 ", said), "a tenth of the last price"
    changed = before | {"lambda gpu_1x_a10 on-demand": ("1.19", "2026-07-01")}
    changed |= {
        item: (rate, "2026-07-01")
        for item, (rate, _) in changed.items()
        if item.startswith("lambda ") and " gpu_1x_a100 " not in item
    }
    assert prices_of(book) == changed


@pytest.mark.nightly
def test_refresh_from_a_folder_needs_the_date_of_its_catalogue(fresh: Project, catalogue: Path) -> None:
    before = (fresh.path / "config/prices/current.csv").read_bytes()
    code, said = refresh(fresh, catalogue)
    assert code != 0
    assert "error: --as-of (catalogue_as_of): must be given for a folder" in said
    assert (fresh.path / "config/prices/current.csv").read_bytes() == before


@pytest.mark.nightly
def test_interrupted_study_leaves_nothing_half_written_and_goes_on(fresh: Project) -> None:
    folder = fresh.path / "results" / "tiny" / MLP_JAX / "r1"
    command = ["snakemake", "--cores", "all", "--config", "study=tiny"]
    workflow = subprocess.Popen(
        command, cwd=fresh.path, env=fresh.environment(), start_new_session=True, preexec_fn=interruptible,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_for(lambda: any("train.log" in str(path) for path in (fresh.path / "results").rglob("*.log")), workflow)
    os.killpg(workflow.pid, signal.SIGINT)
    workflow.communicate(timeout=LIMIT_SECONDS)
    assert workflow.returncode != 0
    left = [path.name for path in (fresh.path / "results").rglob("*") if path.is_file()]
    assert {name for name in left if not name.endswith(".log")} == set()
    assert sorted(trainings(fresh.snakemake())) == sorted(ALL)
    assert (folder / "run.json").is_file()


def test_killed_training_is_a_result(trained: Project) -> None:
    command = ["snakemake", "--cores", "all", "-R", f"results/tiny/{MLP_JAX}/r1/run.json", "--config", "study=tiny"]
    workflow = subprocess.Popen(
        command, cwd=trained.path, env=trained.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_for(lambda: spawned(workflow.pid), workflow)
    spawned(workflow.pid)[0].kill()
    output, _ = workflow.communicate(timeout=LIMIT_SECONDS)
    assert workflow.returncode == 0, output
    assert trained.record(MLP_JAX)["status"] == "killed"
    page = (trained.path / "results" / "tiny" / "report.html").read_text()
    assert "1 of 4 runs did not end as done" in page
    assert "ended by SIGKILL" in page


def interruptible() -> None:
    """Undo what a shell does to the jobs it puts into the background: they would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def spawned(pid: int) -> list[psutil.Process]:
    """Return the training processes below `pid`: those that Python's multiprocessing spawned."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


REPEATED = """
title: Rounds
data: synthetic
workloads: [mnist_mlp]
hardware: [cpu1]
frameworks: [jax]
modes: [stock, tuned]
repeats: 2
unstable_above: 0.000001
scale: {samples: 0.01, epochs: 2}
base: {hardware: cpu1, framework: jax}
charts: [by_mode, spread]
"""


@pytest.mark.nightly
def test_runs_go_in_rounds_and_what_is_unstable_is_measured_once_more(fresh: Project) -> None:
    """No two runs take the same time to a millionth: every cell is unstable, and measured twice, never more."""
    (fresh.path / "config/studies/rounds.yaml").write_text(REPEATED)
    fresh.snakemake(study="rounds")
    records = {path: json.loads(path.read_text()) for path in (fresh.path / "results/rounds").rglob("run.json")}
    in_order = sorted(records, key=lambda path: records[path]["provenance"]["started_at"])
    rounds = [records[path]["repeat"] for path in in_order]
    assert rounds == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [path.parts[-3] for path in in_order] == ["b128", "b128-tuned"] * 4, "in the order of the grid"
    read = Read((fresh.path / "results/rounds/report.html").read_text())
    assert [row[8].split(":")[0] for row in read.rows["spread"][1:]] == ["unstable", "unstable"]
    assert all(float(row[6]) > 0 for row in read.rows["spread"][1:]), "CPU seconds"
    assert read.rows["axes"][1][0] == "MNIST · MLP"
    assert fresh.snakemake(study="rounds") == []


OWN_NET = '''
"""A net of mine on numbers of mine."""
import numpy as np
from scripts.workloads import Split

DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 16, 2, None

def prepare(arrays):
    x = np.random.default_rng(1).random((320, 4), dtype=np.float32)
    return Split(x, x.sum(axis=1) > 2, x[:32], x[:32].sum(axis=1) > 2)

def build(split):
    import keras
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.SGD(2.0), "binary_crossentropy", metrics=["acc"])
    return model
'''


@pytest.mark.nightly
def test_workload_of_ones_own_lies_anywhere(fresh: Project, tmp_path: Path) -> None:
    (tmp_path / "my_net.py").write_text(OWN_NET)
    study = yaml.safe_load(REPEATED) | {"workloads": [str(tmp_path / "my_net.py")], "modes": ["stock"], "repeats": 1}
    (fresh.path / "config/studies/own.yaml").write_text(yaml.safe_dump(study | {"scale": {"samples": 0.5}}))
    fresh.run("snakemake", "--dry-run", "--quiet", "all", "--config", "study=own")  # which runs nothing of it
    refused = fresh.run("snakemake", "--profile", "profiles/local", "--config", "study=own", check=False)
    assert refused.returncode == 1
    word = refused.stderr.strip().rpartition(" ")[2]
    assert word.startswith("trust=sha256-")
    trained = fresh.run("snakemake", "--cores", "all", "--config", "study=own", word)
    assert trainings(jobs(trained.stdout + trained.stderr)) == ["my_net/cpu1/jax/b16"]
    assert trainings(fresh.snakemake(study="own")) == [], "once is enough"
    run = fresh.record("my_net/cpu1/jax/b16", study="own")
    assert (run["status"], run["data"]["kind"], run["train_samples"]) == ("done", "own", 160)
    assert len(run["provenance"]["workload_sha256"]) == 64
    assert "A net of mine on numbers of mine." in (fresh.path / "results/own/report.html").read_text()
    (tmp_path / "my_net.py").write_text(OWN_NET.replace("SGD(2.0)", "SGD(1.5)"))
    edited = fresh.run("snakemake", "--cores", "all", "--config", "study=own", "trust=all")
    assert trainings(jobs(edited.stdout + edited.stderr)) == ["my_net/cpu1/jax/b16"], "an edited file trains again"


def test_snakemake_that_is_killed_goes_on_and_trains_nothing_beside(fresh: Project) -> None:
    """Its training ends with it; the next call says what happened, and makes the report."""
    fresh.edit("config/studies/tiny.yaml", "[mnist_mlp, imdb_bidirectional_lstm]", "[mnist_mlp]")
    fresh.edit("config/studies/tiny.yaml", "frameworks: [jax, tensorflow]", "frameworks: [jax]")
    fresh.edit("config/studies/tiny.yaml", "framework: tensorflow", "framework: jax")
    command = ["snakemake", "--profile", "profiles/local", "--config", "study=tiny"]
    workflow = subprocess.Popen(
        command, cwd=fresh.path, env=fresh.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: spawned(workflow.pid), workflow)
    (training,) = spawned(workflow.pid)
    workflow.kill()
    workflow.wait()
    training.wait(timeout=LIMIT_SECONDS)
    done = fresh.run(*command)
    assert "the last call in this folder was killed; going on" in done.stderr
    assert sum(len(list(path.parent.glob("run.json"))) for path in fresh.path.rglob("train.log")) == 1
    assert (fresh.path / "results" / "tiny" / "report.html").is_file()
