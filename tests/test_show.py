import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts import show
from scripts.importers import COLUMNS, facts
from scripts.storage import tables
from tests.made import CATALOGUE, FAILED, costs, offer, price_book, prices, run, runs
from tests.reading import EVIL, Read

#: What is rented under `today` differs for cpu1; cpu4 is not offered any more.
OPTIONS = {
    "then": {"label": "prices of 2017", "purchase": "on-demand"},
    "today": {
        "label": "today's prices",
        "purchase": "spot",
        "instead": {"cpu1": {"provider": "cloud", "items": {"host": 1, "card": 2}}},
    },
}

BOOK = price_book(
    offer("1-core", 0.036),
    offer("4-core", 0.144),
    offer("host", 0.010, purchase="spot"),
    offer("card", 0.001, purchase="spot", as_of="2025-12"),
)

STUDY = {
    "title": "Old logs",
    "summary": "One paragraph.",
    "machines": {name: CATALOGUE[name] for name in ("cpu1", "cpu4", "gpu")},
    "base": {"hardware": "cpu1", "framework": "tensorflow"},
    "price": "then",
    "prices": OPTIONS,
    "claims": [],
}

LABELS = {name: about["label"] for name, about in CATALOGUE.items()}

#: The runs as logs of others tell them: no batch size.
ROWS = (
    run(batch_size=None),
    run(batch_size=None, hardware="cpu4", train_seconds=50.0),
    run(batch_size=None, framework="jax", train_seconds=200.0),
    run(batch_size=None, workload="mnist_cnn", hardware="cpu4", train_seconds=10.0, val_acc=None),
)


def priced(frame: pd.DataFrame, options: dict = OPTIONS, rows: pd.DataFrame = BOOK) -> pd.DataFrame:
    return costs(frame, CATALOGUE, options, rows)


def cells(*rows: dict, options: dict = OPTIONS, **study) -> list[dict]:
    frame = runs(*rows)
    return show.cells(STUDY | {"prices": options} | study, frame, priced(frame, options), LABELS)


def test_then_and_now_are_two_prices_of_the_same_machine() -> None:
    assert show.then_and_now(STUDY, prices(CATALOGUE, OPTIONS, BOOK)) == [
        {
            "hardware": "cpu1",
            "then": 0.036,
            "now": pytest.approx(0.012),
            "ratio": pytest.approx(1 / 3),
            "what": "cloud host + 2 card, spot",
            "as_of": "2025-12",
        },
        {
            "hardware": "cpu4",
            "then": 0.144,
            "now": None,
            "ratio": None,
            "what": "not offered in today's books",
            "as_of": "—",
        },
    ], "a machine that had no price then has no row"


def test_machine_is_named_as_it_is_rented_where_nothing_stands_in_for_it() -> None:
    options = OPTIONS | {"today": {"purchase": "on-demand"}}
    found = show.then_and_now(STUDY | {"prices": options}, prices(CATALOGUE, options, BOOK))
    assert [(row["what"], row["ratio"]) for row in found] == [
        ("cloud 1-core, on-demand", 1.0),
        ("cloud 4-core, on-demand", 1.0),
    ]


def test_owned_machine_has_a_price_of_now_too() -> None:
    own = {"acquisition_usd": 730, "life_months": 10, "power_watts": 0, "usd_per_kwh": 0.2, "hours_per_month": 146,
           "as_of": "2026", "source": "me"}  # fmt: skip
    machines = {"box": {"label": "box", "own": own}}
    options = {"then": {"purchase": "owned"}, "today": {"purchase": "owned"}}
    (row,) = show.then_and_now(STUDY | {"machines": machines, "prices": options}, prices(machines, options, BOOK))
    assert (row["then"], row["now"], row["what"]) == (pytest.approx(0.5), pytest.approx(0.5), "own, owned")


@pytest.mark.parametrize("options", [{"then": OPTIONS["then"]}, {"then": {"purchase": "month"}, "today": {}}])
def test_study_without_both_has_no_then_and_now(options: dict) -> None:
    assert show.then_and_now(STUDY | {"prices": options}, prices(CATALOGUE, options, BOOK)) == []


def test_cells_without_a_batch_size_keep_their_rows_and_costs() -> None:
    found = cells(*ROWS)
    assert [(row["workload"], row["name"]) for row in found] == [
        ("mnist_mlp", "TensorFlow · 1 vCPU"),
        ("mnist_mlp", "TensorFlow · 4 vCPUs"),
        ("mnist_mlp", "JAX · 1 vCPU"),
        ("mnist_cnn", "TensorFlow · 4 vCPUs"),
    ]
    assert [row["relative_time"] for row in found] == [1.0, 0.5, 2.0, None], "mnist_cnn has no base cell"
    assert [row["relative_costs"]["then"] for row in found] == [1.0, pytest.approx(2.0), pytest.approx(2.0), None]
    assert [row["costs"]["then"] for row in found] == pytest.approx([0.001, 0.002, 0.002, 0.0004])
    assert [pd.isna(row["costs"]["today"]) for row in found] == [False, True, False, True], "cpu4 is not offered"
    assert found[0]["costs"]["today"] == pytest.approx(0.001 / 3)
    assert [row["relative_costs"]["today"] for row in found] == [1.0, None, pytest.approx(2.0), None]
    assert [pd.isna(row["accuracy"]) for row in found] == [False, False, False, True]


def test_cell_is_the_median_of_its_runs_that_are_done() -> None:
    rows = [
        run(batch_size=None, repeat=i, run=f"r{i}", train_seconds=seconds, val_acc=accuracy)
        for i, (seconds, accuracy) in enumerate([(90.0, 0.9), (100.0, 0.8), (400.0, 0.7)])
    ]
    (row,) = cells(*rows, run(batch_size=None, repeat=9, **FAILED))
    assert (row["train_seconds"], row["accuracy"]) == (100.0, 0.8)
    assert row["costs"]["then"] == pytest.approx(0.001)
    assert row["status"] == "killed", "of the last run"


def test_batch_size_that_is_known_is_part_of_the_name_and_the_first_is_the_base() -> None:
    found = cells(run(batch_size=16), run(batch_size=64, train_seconds=25.0))
    assert [row["name"] for row in found] == ["1 vCPU · batch 16", "1 vCPU · batch 64"], "one framework"
    assert [row["relative_time"] for row in found] == [1.0, 0.25]


def test_base_that_failed_leaves_the_others_without_a_ratio() -> None:
    found = cells(run(**FAILED), run(framework="jax"))
    assert [row["relative_time"] for row in found] == [None, None]
    assert found[1]["costs"]["then"] == pytest.approx(0.001)


def test_study_without_a_base_has_its_cells() -> None:
    frame = runs(*ROWS)
    study = {key: value for key, value in STUDY.items() if key != "base"}
    found = show.cells(study, frame, priced(frame), LABELS)
    assert [row["relative_time"] for row in found] == [None] * 4
    assert found[0]["costs"]["then"] == pytest.approx(0.001)


def test_short_runs_are_those_below_what_is_billed_at_least() -> None:
    """Before 2020 the least was a minute: 10 s cost a sixth of their bill, 59 s nearly all of it."""
    book = price_book(offer("1-core", 0.36, as_of="2019"), offer("4-core", 0.36, as_of="2019"))
    rows = [run(train_seconds=10.0), run(hardware="cpu4", train_seconds=59.0), run(framework="jax", train_seconds=60.0)]
    text = show.short_runs(STUDY, priced(runs(*rows), rows=book))
    assert text.startswith("2 of 3 runs are shorter than the 60.0 s that their provider billed at least")
    assert "cost up to 6.00 times what is shown" in text


@pytest.mark.parametrize(
    ("as_of", "seconds"), [("2019", 60.0), ("2020-01-01", 1.0)], ids=["long enough", "no minimum any more"]
)
def test_nothing_is_said_where_no_run_is_short(as_of: str, seconds: float) -> None:
    book = price_book(offer("1-core", 0.36, as_of=as_of))
    assert show.short_runs(STUDY, priced(runs(run(train_seconds=seconds)), rows=book)) == ""


def test_short_runs_are_counted_at_the_price_that_is_shown() -> None:
    book = price_book(offer("1-core", 0.36), offer("host", 0.1, purchase="spot", as_of="2019"), offer(
        "card", 0.1, purchase="spot", as_of="2019"))  # fmt: skip
    bills = priced(runs(run(train_seconds=1.0)), rows=book)
    assert show.short_runs(STUDY, bills) == ""
    assert "1 of 1 runs are shorter" in show.short_runs(STUDY | {"price": "today"}, bills)


def column(name: str, key: str, **row) -> str:
    """Return what a derived table shows of one value; all other columns hold a 1."""
    columns = show.TABLES[name][2]
    frame = pd.DataFrame([dict.fromkeys([*columns, "single"], 1) | {key: row[key]} | row])
    table = show._table(name, frame, {"k80": "Tesla <K80>"})
    return dict(zip(columns, table["rows"][0], strict=True))[key]


@pytest.mark.parametrize(
    ("name", "key", "value", "shown"),
    [
        ("printed", "hardware", "k80", "Tesla <K80>"),
        ("printed", "agrees", True, "yes"),
        ("printed", "agrees", False, "no"),
        ("printed", "derived_usd", 3.25812, "3.258"),
        ("printed", "train_seconds", 13032.0, "13,032"),
        ("scaling", "workload", "vgg16", "vgg16"),
        ("gains", "break_even_days", 30.6, "never"),
        ("gains", "break_even_days", float("inf"), "never"),
        ("gains", "break_even_days", 5.04, "5.04"),
        ("monthly", "total_usd", 0.7581, "0.76"),
        ("monthly", "total_usd", 3.0, "3.00"),
        ("to_train", "samples", 128e6, "128,000,000"),
    ],
)
def test_value_of_a_derived_table_is_shown_with_its_digits(name: str, key: str, value: object, shown: str) -> None:
    assert column(name, key, **{key: value}) == shown


@pytest.mark.parametrize("name", show.TABLES)
def test_derived_table_has_a_cell_for_each_of_its_columns(name: str) -> None:
    columns = show.TABLES[name][2]
    table = show._table(name, pd.DataFrame([dict.fromkeys([*columns, "single"], 1)] * 2), {})
    assert (table["name"], len(table["rows"])) == (name.replace("_", "-"), 2)
    assert [len(row) for row in table["rows"]] == [len(table["columns"])] * 2
    assert all(column["title"] for column in table["columns"])
    assert table["title"]
    assert table["about"].endswith(".")


def test_scaling_has_a_column_for_each_batch_size() -> None:
    long = pd.DataFrame(
        [("b", 2, 16, 0.9), ("b", 2, 32, 0.95), ("a", 4, 16, 0.39), ("a", 4, 32, 0.52)],
        columns=["multi", "gpus", "batch_size", "efficiency"],
    ).assign(single="one", workload="vgg16")
    table = show._table("scaling", show.by_batch_size(long), {"a": "four cards"})
    assert [column["title"] for column in table["columns"]][-2:] == ["batch 16", "batch 32"]
    assert table["rows"] == [
        ["one", "b", "2", "vgg16", "0.90", "0.95"],
        ["one", "four cards", "4", "vgg16", "0.39", "0.52"],
    ]


CLAIMS = [
    {"says": f"Half {EVIL}", "check": "ratio", "by": "train_seconds", "cell": {"hardware": "cpu4"},
     "than": {"hardware": "cpu1"}, "between": [0.4, 0.6]},
    {"says": "JAX is slower.", "check": "more", "by": "train_seconds", "cell": {"framework": "jax"},
     "than": {"framework": "tensorflow"}, "note": f"a note {EVIL}"},
    {"says": "The 4 vCPUs are cheapest.", "check": "best", "by": "cost_usd", "cell": {"hardware": "cpu4"}},
    {"says": "An hour costs 0.04 USD.", "check": "figure", "figure": "usd_per_hour_cpu1_then", "printed": 0.04,
     "within": 0.005},
    {"says": "An hour costs 1 USD.", "check": "figure", "figure": "usd_per_hour_cpu1_then", "printed": 1,
     "within": 0.005},
]  # fmt: skip

#: The word of each: cpu4 is cheapest in one of two workloads, where it is alone.
WORDS = ["holds", "holds", "partly", "holds", "fails"]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that writes the page of a study and returns (the page, claims.json)."""

    def write(*rows: dict, **study) -> tuple[str, dict]:
        study = STUDY | {"import": {"format": "keras_csv"}} | study
        frame = runs(*rows)
        table = frame.reindex(columns=list(COLUMNS)).assign(
            file=frame["run"] + ".csv", sha256=[f"{i:064x}" for i in range(len(frame))], missing_columns=""
        )
        facts.write(table.astype(COLUMNS), tmp_path / "facts.csv")
        machines = study["machines"]
        tables.write(frame, "runs", tmp_path / "runs.parquet")
        tables.write(costs(frame, machines, study["prices"], BOOK), "costs", tmp_path / "costs.parquet")
        tables.write(prices(machines, study["prices"], BOOK), "prices", tmp_path / "prices.parquet")
        (tmp_path / "hardware.yaml").write_text(yaml.safe_dump({"cpu8": CATALOGUE["cpu4"]}))
        (tmp_path / "time").mkdir(exist_ok=True)
        drawn = [{"workload": name, "missing": "No chart."} for name in dict.fromkeys(frame["workload"])]
        about = {"chart": "time", "title": "Time", "help": "Read it.", "drawn": drawn}
        (tmp_path / "time" / "chart.json").write_text(json.dumps(about))
        words = [f"--{name}={tmp_path / name}.parquet" for name in ("runs", "costs", "prices")]
        words += ["--facts", str(tmp_path / "facts.csv"), "--others", str(tmp_path / "facts.csv"), "--name", "old"]
        words += [f"--hardware={tmp_path / 'hardware.yaml'}", f"--charts={tmp_path / 'time'}"]
        words += [f"--claims={tmp_path / 'claims.json'}", "--study", json.dumps(study)]
        monkeypatch.setattr(sys, "argv", ["show", str(tmp_path / "report.html"), *words])
        assert show.main() == 0
        return (tmp_path / "report.html").read_text(), json.loads((tmp_path / "claims.json").read_text())

    return write


def test_each_claim_has_its_verdict_on_the_page_and_for_the_index(written) -> None:
    page, told = written(*ROWS, claims=CLAIMS)
    assert [claim["word"] for claim in told["claims"]] == WORDS
    assert (told["name"], told["runs"], told["published"]) == ("old", 4, None)
    spoken = re.findall(r'<li class="([\w-]+)">\s*<span class="verdict">(\w[^<]*)</span>', page)
    assert spoken == [
        ("holds", "holds"),
        ("holds", "holds"),
        ("partly", "partly, 1 of 2"),
        ("holds", "holds"),
        ("fails", "fails"),
        ("no-data", "no data"),
    ], "the last one is the claim about cost at today's prices, at which cpu4 is not offered"
    text = Read(page).text
    assert "5 claims: 3 holds; 1 partly; 1 fails" in text
    assert "What would become of the claims about cost at today's prices" in text


def test_claim_that_no_run_can_show_has_no_data(written) -> None:
    claim = CLAIMS[0] | {"by": "val_loss"}
    page, told = written(*ROWS, claims=[claim])
    assert told["claims"][0]["word"] == "no data"
    assert '<li class="no-data">' in page


def test_difference_within_the_noise_is_a_tie_for_the_reader_too(written) -> None:
    rows = [ROWS[0], ROWS[1] | {"train_seconds": 98.0}]
    claim = {key: value for key, value in CLAIMS[0].items() if key != "between"} | {"check": "less"}
    page, told = written(*rows, claims=[claim])
    assert told["claims"][0]["word"] == "tie"
    assert '<li class="tie">' in page
    text = Read(page).text
    assert "1 claim: 1 tie" in text
    assert "differ by less than 5 % are a tie" in text


def test_page_shows_the_cells_the_prices_and_then_and_now(written) -> None:
    read = Read(written(*ROWS)[0])
    assert read.rows["cells"][2] == [
        "mnist_mlp", "TensorFlow · 4 vCPUs", "done", "50.00", "0.500", "10,000", "0.9800",
        "0.00200", "2.00", "—", "—",
    ]  # fmt: skip
    assert read.rows["now"][1:] == [
        ["1 vCPU", "0.03600", "0.01200", "0.33×", "cloud host + 2 card, spot", "2025-12"],
        ["4 vCPUs", "0.1440", "—", "—", "not offered in today's books", "—"],
    ]
    assert [row[:2] for row in read.rows["prices"][1:]] == [
        ["1 vCPU", "then"],
        ["4 vCPUs", "then"],
        ["1 vCPU", "today"],
    ]
    assert "The base cell is TensorFlow · 1 vCPU." in read.text
    assert "No chart." in read.text


def test_log_that_was_refused_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "problems.txt").write_text("a.csv:3: no number\nb.csv: empty\n")
    found = show.audited(None, [], tmp_path / "problems.txt", {})
    assert [(one["kind"], one["message"]) for one in found] == [
        ("refused log", "a.csv:3: no number"),
        ("refused log", "b.csv: empty"),
    ]


def test_findings_of_the_audit_stand_beside_the_charts_and_in_a_table(written) -> None:
    unlike = [{"where": {"framework": "jax"}, "says": f"a toy {EVIL}"}]
    page, told = written(*ROWS, **{"import": {"format": "keras_csv", "unlike": unlike}})
    read = Read(page)
    kinds = [row[0] for row in read.rows["audit"][1:]]
    assert "missing run" in kinds
    assert "single runs" in kinds
    assert told["findings"] == len(kinds)
    section = page[page.index('<section id="mnist_cnn">') :]
    assert "Missing run." in section[: section.index("</section>")]


def test_study_without_a_base_or_a_price_of_today_has_a_page(written) -> None:
    page, _ = written(*ROWS, base={}, prices={"then": OPTIONS["then"]})
    assert "The base cell" not in page
    assert 'id="now"' not in page


def test_texts_of_configs_and_logs_are_escaped(written) -> None:
    machines = STUDY["machines"] | {"cpu1": CATALOGUE["cpu1"] | {"label": f"machine {EVIL}"}}
    options = OPTIONS | {"then": OPTIONS["then"] | {"label": f"option {EVIL}"}}
    about = {"title": f"article {EVIL}", "by": f"author {EVIL}", "date": "2017", "url": "https://example.org/?a&b"}
    unlike = [{"where": {"framework": "jax"}, "says": f"toy {EVIL}"}]
    page, told = written(
        *ROWS,
        run(batch_size=None, workload=f"work {EVIL}"),
        title=f"title {EVIL}",
        summary=f"summary {EVIL}",
        machines=machines,
        prices=options,
        published=about,
        claims=CLAIMS,
        **{"import": {"format": "keras_csv", "unlike": unlike}},
    )
    read = Read(page)
    assert not {"script", "b"} & set(read.tags)
    for origin in ("title", "summary", "machine", "option", "article", "author", "toy", "work", "Half", "a note"):
        assert f"{origin} {EVIL}" in read.text, origin
    assert told["claims"][0]["says"] == f"Half {EVIL}", "the index escapes it itself"


def test_page_fetches_nothing(written) -> None:
    links = Read(written(*ROWS, claims=CLAIMS)[0]).links
    assert {"#claims", "#cells", "#audit", "#prices", "#now", "#mnist_mlp", "#mnist_cnn"} <= set(links)
    assert all(link.startswith(("#", "data:")) for link in links)


def test_contents_lead_to_sections_that_are_there(written) -> None:
    page, _ = written(*ROWS, claims=CLAIMS)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in Read(page).links if link.startswith("#")} <= set(ids)
