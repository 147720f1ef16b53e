import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from scripts import chart
from scripts.storage import code, tables
from scripts.storage.errors import InputError
from scripts.studies.charts import modules_by_name
from tests.made import BOOK, CATALOGUE, JUDGE, OPTIONS, costs, offer, prices, run, runs, write_book

GRID = {
    "workloads": ["mnist_mlp"],
    "hardware": ["cpu1", "cpu4"],
    "frameworks": ["tensorflow", "jax"],
    "base": {"hardware": "cpu1", "framework": "tensorflow"},
    "repeats": 1,
    "unstable_above": 0.1,
    "machines": {},
    "price": "on-demand",
    "prices": {name: about | {"label": f"what {name} costs"} for name, about in OPTIONS.items()},
}

LOGS = {key: GRID[key] for key in ("base", "repeats", "unstable_above", "machines", "price", "prices")} | {
    "import": {"format": "keras_csv"},
    "published": {"title": "An article", "by": "Somebody", "date": "2017-07", "url": "https://example.org"},
}

SCHEDULE = {
    "machine": "cpu1",
    "provider": "cloud",
    "month_days": 30,
    "seconds_each": 120,
    "every_hours": [4],
    "rules": {"gce": {"provider": "gce", "date": "2018-11-19", "label": "by the second"}},
    "fees": {},
    "seconds_per_start": {},
}

ROWS = (run(), run(hardware="cpu4", train_seconds=50.0), run(workload="own_net", batch_size=64, hardware="cpu4"))


@pytest.fixture
def draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that draws a chart of a study and returns (its folder, what is said of it)."""

    def made(
        name: str, study: dict, *rows: dict, book: pd.DataFrame = BOOK, controls: Sequence[str] = ()
    ) -> tuple[Path, dict]:
        frame = runs(*rows)
        machines = CATALOGUE | study["machines"]
        written = {
            "runs": frame,
            "epochs": pd.DataFrame(columns=list(tables.columns("epochs"))),
            "costs": costs(frame, machines, study["prices"], book),
            "prices": prices(machines, study["prices"], book),
        }
        for table, content in written.items():
            tables.write(content, table, tmp_path / f"{table}.parquet")
        words = [f"--{table}={tmp_path / table}.parquet" for table in ("runs", "epochs")]
        # As the rules give them: a chart that shows no costs is drawn without any.
        if code.reads(modules_by_name()[name.partition(".")[0]], ("costs", "tables")):
            words += ["--money", *(f"{tmp_path / table}.parquet" for table in ("costs", "prices"))]
        else:
            study = {key: value for key, value in study.items() if key not in ("book", "price", "prices")}
        labels = {machine: about["label"] for machine, about in machines.items()}
        words += ["--names", json.dumps(labels), f"--output={tmp_path / 'out'}", "--controls", *controls]
        monkeypatch.setattr(sys, "argv", ["chart", name, "--study", json.dumps(study), *words])
        assert chart.main() == 0
        return tmp_path / "out", json.loads((tmp_path / "out.json").read_text())

    return made


@pytest.mark.slow
def test_control_of_noise_is_in_the_chart_of_noise_alone(draw) -> None:
    """It is the fastest, and no finding: of the other two runs of a cell the spread is known."""
    rows = [
        run(hardware=machine, repeat=i, train_seconds=seconds + i)
        for machine, seconds in (("cpu1", 100), ("cpu4", 10))
        for i in (1, 2, 3)
    ]
    for name, machines in (("spread", {"1 vCPU", "4 vCPUs"}), ("pareto", {"1 vCPU"}), ("process", {"1 vCPU"})):
        folder, _ = draw(name, GRID, *rows, controls=["cpu4"])
        text = (folder / "mnist_mlp.csv").read_text()
        assert {one for one in ("1 vCPU", "4 vCPUs") if one in text} == machines, name


def test_chart_of_each_workload_has_a_drawing_its_data_and_its_words(draw) -> None:
    folder, about = draw("relative_time", GRID, *ROWS)
    assert {path.name for path in folder.iterdir()} == {"mnist_mlp.svg", "mnist_mlp.csv"}
    assert (about["chart"], about["title"]) == ("relative_time", "Relative time to train")
    (one,) = about["drawn"]
    assert one["workload"] == "mnist_mlp"
    assert one["notes"][-1].endswith("20 epochs; trained 2026-01-02 on Some CPU.")
    assert one["caption"].endswith("Trained 2026-01-02.")
    assert one["finding"] == "Too few runs to say which of 2 trains fastest"
    assert pd.read_csv(folder / "mnist_mlp.csv")["ratio"].to_list() == [1.0, 0.5]


def test_study_of_logs_draws_every_workload_that_they_hold(draw) -> None:
    folder, about = draw("relative_time", LOGS, *ROWS)
    assert [(one["workload"], "missing" in one) for one in about["drawn"]] == [("mnist_mlp", False), ("own_net", True)]
    assert about["drawn"][0]["notes"][-1] == "Figures of Somebody, 2017-07: An article."
    assert about["drawn"][0]["caption"].endswith("Somebody, 2017-07.")
    assert about["drawn"][1]["missing"] == "No chart: the base has no time to compare with."
    assert not (folder / "own_net.svg").exists()


def test_study_of_own_logs_names_no_article(draw) -> None:
    _, about = draw("relative_time", {key: value for key, value in LOGS.items() if key != "published"}, *ROWS)
    assert about["drawn"][0]["caption"].endswith("one run each.")


def test_study_without_a_base_says_that_there_is_none(draw) -> None:
    folder, about = draw("relative_time", {key: value for key, value in LOGS.items() if key != "base"}, *ROWS)
    assert ["missing" in one for one in about["drawn"]] == [True, True]
    assert list(folder.iterdir()) == [], "which Snakemake expects"


@pytest.mark.slow
def test_chart_of_another_price_option_has_its_own_name_title_and_ids(draw) -> None:
    folder, usual = draw("relative_cost", GRID, *ROWS)
    ids = (folder / "mnist_mlp.svg").read_text()
    folder, spot = draw("relative_cost.spot", GRID, *ROWS)
    assert (usual["chart"], usual["title"]) == ("relative_cost", "Relative cost")
    assert (spot["chart"], spot["title"]) == ("relative_cost-spot", "Relative cost: what spot costs")
    assert "what on-demand costs" in usual["drawn"][0]["notes"][0]
    assert "what spot costs, billed alone in steps of 1 s." in spot["drawn"][0]["notes"][0]
    assert "1 vCPU 0.018 USD/h" in spot["drawn"][0]["notes"][1]
    assert 'id="relative_cost-mnist_mlp-' in ids
    assert 'id="relative_cost-spot-mnist_mlp-' in (folder / "mnist_mlp.svg").read_text()


def test_price_option_without_words_of_its_own_goes_by_its_name(draw) -> None:
    _, about = draw("relative_cost.spot", GRID | {"prices": OPTIONS}, *ROWS)
    assert about["title"] == "Relative cost: spot"


def test_chart_of_a_whole_study_is_drawn_once(draw, tmp_path: Path) -> None:
    book = [offer("1-core", 0.036)]
    write_book(tmp_path / "book.csv", *book)
    study = LOGS | {"book": str(tmp_path / "book.csv"), "schedule": SCHEDULE}
    folder, about = draw("monthly", study, book=book)
    assert [one["workload"] for one in about["drawn"]] == [""]
    assert {path.name for path in folder.iterdir()} == {"study.svg", "study.csv"}
    assert pd.read_csv(folder / "study.csv")["total_usd"].to_list() == pytest.approx([180 * 120 * 0.036 / 3600])


@pytest.mark.slow
def test_chart_that_logs_cannot_have_leaves_no_empty_box(draw) -> None:
    assert draw("dollars", LOGS, *ROWS)[1]["drawn"] == []


def test_chart_of_a_whole_study_without_its_table_says_so(draw) -> None:
    _, about = draw("monthly", LOGS, *ROWS)
    assert about["drawn"] == [{"workload": "", "missing": "No chart: the study has no schedule."}]


def seen(study: dict, *rows: dict, workload: str = "mnist_mlp") -> chart.View:
    frames = {name: runs(*rows) for name in ("runs", "epochs", "costs")}
    return chart.view(study, {}, workload, frames, "on-demand", {}, JUDGE)


@pytest.mark.parametrize(
    ("study", "rows", "size"),
    [
        (GRID, [run(batch_size=64)], 128),
        (LOGS, [run(batch_size=64)], 64),
        (LOGS, [run(batch_size=64), run(batch_size=32)], None),
        (LOGS, [run(batch_size=None)], None),
        (LOGS, [run(batch_size=64), run(batch_size=16, workload="own_net")], 64),
    ],
    ids=["the workload's own", "the only one", "several", "unknown", "of this workload"],
)
def test_batch_size_that_goes_without_saying(study: dict, rows: list[dict], size: int | None) -> None:
    assert seen(study, *rows).published_batch_size == size


def test_workload_that_is_not_ours_has_no_published_training() -> None:
    view = seen(LOGS, *ROWS, workload="own_net")
    assert (view.reference, view.published_epochs, len(view.runs)) == (None, None, 1)


def test_frameworks_are_named_in_a_grid_and_where_there_are_several() -> None:
    one, two = (run(),), (run(), run(framework="jax"))
    assert [seen(*given).one_framework for given in ((GRID, *one), (LOGS, *one), (LOGS, *two))] == [False, True, False]


@pytest.mark.parametrize("workload", ["../../stolen", "/tmp/stolen", '"><img src=x onerror=alert(1)>'])
def test_a_workload_of_others_is_no_path_and_no_part_of_a_page(draw, tmp_path: Path, workload: str) -> None:
    (tmp_path / "stolen.csv").write_text("untouched")
    rows = (run(workload=workload), run(workload=workload, hardware="cpu4"))
    with pytest.raises(InputError, match=r"runs\.parquet: workload: .* is not a name"):
        draw("relative_time", LOGS, *rows)
    assert (tmp_path / "stolen.csv").read_text() == "untouched"


def test_a_chart_is_written_into_its_folder_alone(draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a name had come past the table's reader."""
    monkeypatch.setattr(tables, "check", lambda frame, source: None)
    rows = (run(workload="../stolen"), run(workload="../stolen", hardware="cpu4"))
    with pytest.raises(InputError, match="lies outside"):
        draw("relative_time", LOGS, *rows)
    assert not (tmp_path / "stolen.svg").exists()


@pytest.mark.slow
def test_of_a_folder_of_many_logs_the_longest_are_drawn_and_it_says_so(draw) -> None:
    """Of the six of the least time one has no price, so a seventh is drawn; who lists the workloads wants all."""
    rows = [run(workload=f"log{index}", train_seconds=100.0 + index) for index in range(1, 10)]
    rows[-1] |= {"hardware": "gpu"}
    folder = {key: value for key, value in LOGS.items() if key != "published"}
    folder |= {"import": {"format": "any", "folder": "/data/logs"}}
    _, about = draw("pareto", folder, *rows)
    assert [one["workload"] for one in about["drawn"]] == [f"log{index}" for index in (8, 7, 6, 5, 4, 3)]
    said = "Of 9 workloads the 6 with the longest runs are drawn; all are in the table."
    assert all(said in one["notes"] for one in about["drawn"])
    named = folder | {"import": folder["import"] | {"workloads": [row["workload"] for row in rows]}}
    assert len(draw("pareto", named, *rows)[1]["drawn"]) == 9
