import json
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scripts import report
from tests.made import CATALOGUE, FAILED, PRICE, costs, run, runs

STUDY = {
    "title": "Do more vCPUs pay?",
    "summary": "One paragraph.",
    "workloads": ["mnist_mlp"],
    "base": {"hardware": "cpu1", "framework": "tensorflow"},
    "price": "on-demand",
}

PICTURE = {
    "workload": "mnist_mlp",
    "name": "relative_time",
    "title": "Relative time",
    "help": "Shorter is faster.",
    "caption": "Medians.",
    "description": "Bar chart.",
    "svg": "",
}

EVIL = "<script>alert('&')</script>"


class Read(HTMLParser):
    """A page as its reader meets it: its text, the rows of each section's table, what it links to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.rows: dict[str, list[list[str]]] = defaultdict(list)
        self.links: list[str] = []
        self.tags = [""]
        self._section = ""
        self.feed(html)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [given[key] or "" for key in ("href", "src") if key in given]
        if tag == "section":
            self._section = given["id"] or ""
        elif tag == "tr":
            self.rows[self._section].append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.tags[-1] in ("td", "th") and data.strip():
            self.rows[self._section][-1][-1] += data


def page(*rows: dict, catalogue: dict = CATALOGUE, pictures: dict | None = None, **study) -> str:
    frame = runs(*rows)
    return report.page(STUDY | study, catalogue, frame, costs(frame, catalogue), pictures or {})


def test_table_of_cells_shows_time_and_cost() -> None:
    read = Read(page(run(), run(hardware="cpu4", train_seconds=50.0)))
    assert [row[1:6] + row[8:] for row in read.rows["cells"][1:]] == [
        ["TensorFlow · 1 vCPU", "done", "1 of 1", "100", "2.00", "0.00100", "0.000500"],
        ["TensorFlow · 4 vCPUs", "done", "1 of 1", "50.0", "2.00", "0.00200", "—"],
    ]


def test_short_answer_names_the_fastest_and_the_cheapest() -> None:
    read = Read(page(run(), run(hardware="cpu4", train_seconds=50.0)))
    assert read.rows["short"][1] == ["mnist_mlp", "TensorFlow · 4 vCPUs", "50.0", "TensorFlow · 1 vCPU", "0.00100"]
    assert "4 vCPUs took less time in 1 of 1 cells and cost less (on-demand) in 0 of 1 ; one run each" in read.text


def test_without_prices_the_page_has_times_alone() -> None:
    unpriced = {name: {key: about[key] for key in ("label", "machine")} for name, about in CATALOGUE.items()}
    read = Read(page(run(), run(hardware="cpu4", train_seconds=50.0), catalogue=unpriced))
    assert read.rows["short"][1] == ["mnist_mlp", "TensorFlow · 4 vCPUs", "50.0", "no price", "—"]
    assert [len(row) for row in read.rows["cells"]] == [8, 8, 8], "no column of cost"
    assert "none given: times only" in read.text
    assert "cost less" not in read.text


def test_failed_run_is_shown_with_status_and_reason() -> None:
    read = Read(page(run(), run(framework="jax", **FAILED | {"status": "out_of_memory"})))
    assert "1 of 2 runs did not end as done." in read.text
    assert "mnist_mlp/cpu1/jax/b128/r1: out of memory (ended by SIGKILL)" in read.text
    assert read.rows["cells"][2][1:7] == ["JAX · 1 vCPU", "out of memory", "0 of 1", "—", "—", "—"]
    assert len(read.rows["learned"]) == 2, "head and the one that is done"


def test_study_of_which_all_failed_has_a_page() -> None:
    read = Read(page(run(**FAILED)))
    assert read.rows["short"][1] == ["mnist_mlp", "none finished", "—", "no price", "—"]
    assert "killed" in read.text


@pytest.mark.parametrize(
    ("rows", "notice", "shown"),
    [
        ([run()], "Synthetic data.", False),
        ([run(data="synthetic")], "Synthetic data. mnist_mlp trained on made-up data", True),
        ([run()], "Reduced scale.", False),
        ([run(epochs=2)], "Reduced scale.", True),
        ([run()], "One run per cell.", True),
        ([run(), run(repeat=2)], "One run per cell.", False),
        ([run()], "did not end as done", False),
    ],
)
def test_reader_is_told_what_weakens_the_numbers(rows: list[dict], notice: str, shown: bool) -> None:
    assert (notice in Read(page(*rows)).text) is shown


@pytest.mark.parametrize(
    ("values", "published"),
    [({}, ["0.9820", "20"]), ({"epochs_done": 2}, ["0.9672", "2"]), ({"data": "synthetic"}, ["—", "—"])],
)
def test_accuracy_stands_beside_the_published_one(values: dict, published: list[str]) -> None:
    row = Read(page(run(**values))).rows["learned"][1]
    assert row[2:4] == ["validation accuracy", "0.9800"]
    assert row[-2:] == published


def test_texts_of_configs_and_logs_are_escaped() -> None:
    catalogue = {
        "cpu1": {
            "label": f"machine {EVIL}",
            "prices": {"on-demand": PRICE | {"usd_per_hour": 1.0, "source": f"list {EVIL}"}},
        }
    }
    html = page(
        run(packages=f"keras {EVIL}", cpu_model=f"cpu {EVIL}"),
        run(repeat=2, **FAILED | {"reason": f"reason {EVIL}"}),
        catalogue=catalogue,
        title=f"title {EVIL}",
        summary=f"summary {EVIL}",
        pictures={"mnist_mlp": [PICTURE | {"caption": f"caption {EVIL}", "description": f'"><b>{EVIL}'}]},
    )
    read = Read(html)
    assert not {"script", "b"} & set(read.tags)
    for origin in ("machine", "list", "keras", "cpu", "reason", "title", "summary", "caption"):
        assert f"{origin} {EVIL}" in read.text


def test_page_fetches_nothing() -> None:
    links = Read(page(run(), pictures={"mnist_mlp": [PICTURE]})).links
    assert "#mnist_mlp" in links
    assert all(link.startswith(("#", "data:")) for link in links)


def test_chart_that_could_not_be_drawn_says_why(tmp_path: Path) -> None:
    missing = {"workload": "mnist_mlp", "missing": "No chart: the base cell has no time."}
    about = {"chart": "relative_time", "title": "Time", "help": "Read it.", "drawn": [missing]}
    (tmp_path / "chart.json").write_text(json.dumps(about))
    read = Read(page(run(**FAILED), pictures=report.drawn([tmp_path])))
    assert "No chart: the base cell has no time." in read.text
    assert "svg" not in read.tags


def test_drawn_charts_are_gathered_by_workload_in_the_order_of_the_study(tmp_path: Path) -> None:
    for name, workloads in (("relative_time", ["mnist_mlp", "mnist_cnn"]), ("learning", ["mnist_mlp"])):
        words = [{"workload": each, "caption": f"of {each}", "description": "Bars."} for each in workloads]
        about = {"chart": name, "title": name.title(), "help": "Read it.", "drawn": words}
        (tmp_path / name).mkdir()
        (tmp_path / name / "chart.json").write_text(json.dumps(about))
        for each in workloads:
            (tmp_path / name / f"{each}.svg").write_text(f"<svg><text>{name} {each}</text></svg>")
    pictures = report.drawn([tmp_path / "relative_time", tmp_path / "learning"])
    assert {workload: [one["name"] for one in found] for workload, found in pictures.items()} == {
        "mnist_mlp": ["relative_time", "learning"],
        "mnist_cnn": ["relative_time"],
    }
    html = page(run(), pictures=pictures)
    assert "<svg><text>learning mnist_mlp</text></svg>" in html
    assert html.index("relative_time mnist_mlp") < html.index("learning mnist_mlp")
    assert "of mnist_mlp" in Read(html).text
