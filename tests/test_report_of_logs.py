import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts import report
from scripts.importers import COLUMNS, facts
from scripts.storage import tables
from tests.made import BOOK_OF_BOTH as BOOK
from tests.made import CATALOGUE, STUDY, costs, prices, run, runs
from tests.made import THEN_AND_TODAY as OPTIONS
from tests.reading import EVIL, Read

#: The runs as logs of others record them: no batch size.
ROWS = (
    run(batch_size=None),
    run(batch_size=None, hardware="cpu4", train_seconds=50.0),
    run(batch_size=None, framework="jax", train_seconds=200.0),
    run(batch_size=None, workload="mnist_cnn", hardware="cpu4", train_seconds=10.0, val_acc=None),
)


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
WORDS = ["holds by figures", "holds by figures", "partly by figures", "holds", "fails"]


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
        frame = tables.conform(facts.runs_of(facts.read(tmp_path / "facts.csv")), "runs")
        tables.write(frame, "runs", tmp_path / "runs.parquet")
        tables.write(costs(frame, machines, study["prices"], BOOK), "costs", tmp_path / "costs.parquet")
        tables.write(prices(machines, study["prices"], BOOK), "prices", tmp_path / "prices.parquet")
        (tmp_path / "hardware.yaml").write_text(yaml.safe_dump({"cpu8": CATALOGUE["cpu4"]}))
        (tmp_path / "time").mkdir(exist_ok=True)
        drawn = [{"workload": name, "missing": "No chart."} for name in dict.fromkeys(frame["workload"])]
        about = {"chart": "time", "title": "Time", "help": "Read it.", "drawn": drawn}
        (tmp_path / "time.json").write_text(json.dumps(about))
        for name in ("epochs", "attempts"):
            tables.write(pd.DataFrame(columns=list(tables.columns(name))), name, tmp_path / f"{name}.parquet")
        names = ("runs", "epochs", "costs", "prices", "attempts")
        words = [f"--{name}={tmp_path / name}.parquet" for name in names]
        words += ["--facts", str(tmp_path / "facts.csv"), "--others", str(tmp_path / "facts.csv"), "--name", "old"]
        words += [f"--hardware={tmp_path / 'hardware.yaml'}", f"--charts={tmp_path / 'time.json'}"]
        words += [f"--claims={tmp_path / 'claims.json'}", "--study", json.dumps(study)]
        monkeypatch.setattr(sys, "argv", ["report", str(tmp_path / "report.html"), *words])
        assert report.main() == 0
        return (tmp_path / "report.html").read_text(), json.loads((tmp_path / "claims.json").read_text())

    return write


@pytest.mark.slow
def test_each_claim_has_its_verdict_on_the_page_and_for_the_index(written) -> None:
    page, verdicts = written(*ROWS, claims=CLAIMS)
    assert [claim["word"] for claim in verdicts["claims"]] == WORDS
    assert (verdicts["name"], verdicts["runs"], verdicts["published"]) == ("old", 4, None)
    spoken = re.findall(r'<li class="([\w-]+)">\s*<span class="verdict">(?:<span.*?</span>)?(\w[^<]*)</span>', page)
    assert spoken == [
        ("holds", "holds"),
        ("fails", "fails"),
        ("holds-by-figures", "holds by figures: 1 case, 0 beyond noise"),
        ("holds-by-figures", "holds by figures: 1 case, 0 beyond noise"),
        ("partly-by-figures", "partly: 1 of 2 pairs agree, 0 beyond noise"),
        ("no-data", "no data"),
    ], "the last one is the claim about cost at today's prices, at which cpu4 is not offered"
    text = Read(page).text
    assert "5 claims: 1 holds; 1 fails; 2 hold by figures; 1 partly by figures" in text
    assert "What would become of the claims about cost at today's prices" in text


@pytest.mark.slow
def test_claim_that_no_run_can_show_has_no_data(written) -> None:
    claim = CLAIMS[0] | {"by": "val_loss"}
    page, verdicts = written(*ROWS, claims=[claim])
    assert verdicts["claims"][0]["word"] == "no data"
    assert '<li class="no-data">' in page


@pytest.mark.slow
def test_single_runs_of_logs_are_checked_as_figures(written) -> None:
    rows = [ROWS[0], ROWS[1] | {"train_seconds": 98.0}]
    claim = {key: value for key, value in CLAIMS[0].items() if key != "between"} | {"check": "less"}
    page, verdicts = written(*rows, claims=[claim])
    assert verdicts["claims"][0]["word"] == "holds by figures"
    assert '<li class="holds-by-figures">' in page
    text = Read(page).text
    assert "holds by figures: 1 case, 0 beyond noise" in text
    assert "checked on these figures, which cannot show more" in text


@pytest.mark.slow
def test_page_shows_the_cells_the_prices_and_then_and_now(written) -> None:
    read = Read(written(*ROWS)[0])
    assert read.rows["cells"][2] == [
        "MNIST · MLP", "TensorFlow · 4 vCPUs", "0.00200", "2.00", "—", "—", "50.00", "0.500", "done", "0.9800",
        "10,000",
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
    assert "The base is TensorFlow · 1 vCPU." in read.text
    assert "No chart." in read.text


@pytest.mark.slow
def test_a_folder_of_logs_lacks_no_run(tmp_path: Path, written) -> None:
    """The rows of the study lack one: mnist_cnn was not trained with JAX, nor on the first machine."""
    written(*ROWS)
    folder = STUDY | {"import": {"format": "any", "folder": "/data"}}
    kinds = [one["kind"] for one in report.audited(tmp_path / "facts.csv", [], None, STUDY | {"import": {}})]
    assert "missing run" in kinds
    assert [one["kind"] for one in report.audited(tmp_path / "facts.csv", [], None, folder)] == [
        kind for kind in kinds if kind != "missing run"
    ]


def test_log_that_was_refused_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "problems.txt").write_text("a.csv:3: no number\nb.csv: empty\n")
    found = report.audited(None, [], tmp_path / "problems.txt", {})
    assert [(one["kind"], one["message"]) for one in found] == [
        ("refused log", "a.csv:3: no number"),
        ("refused log", "b.csv: empty"),
    ]


@pytest.mark.slow
def test_findings_of_the_audit_stand_beside_the_charts_and_in_a_table(written) -> None:
    unlike = [{"where": {"framework": "jax"}, "says": f"a toy {EVIL}"}]
    page, verdicts = written(*ROWS, **{"import": {"format": "keras_csv", "unlike": unlike}})
    read = Read(page)
    kinds = [row[0] for row in read.rows["audit"][1:]]
    assert "missing run" in kinds
    assert "single runs" in kinds
    assert verdicts["findings"] == len(kinds)
    section = page[page.index('<section id="mnist_cnn"') :]
    assert "Missing run." in section[: section.index("</section>")]


@pytest.mark.slow
def test_study_without_a_base_or_a_price_of_today_has_a_page(written) -> None:
    page, _ = written(*ROWS, base={}, prices={"then": OPTIONS["then"]})
    assert "The base is" not in page
    assert 'id="now"' not in page


@pytest.mark.slow
def test_texts_of_configs_and_logs_are_escaped(written) -> None:
    machines = STUDY["machines"] | {"cpu1": CATALOGUE["cpu1"] | {"label": f"machine {EVIL}"}}
    options = OPTIONS | {"then": OPTIONS["then"] | {"label": f"option {EVIL}"}}
    about = {"title": f"article {EVIL}", "by": f"author {EVIL}", "date": "2017", "url": "https://example.org/?a&b"}
    unlike = [{"where": {"framework": "jax"}, "says": f"toy {EVIL}"}]
    page, verdicts = written(
        *ROWS,
        title=f"title {EVIL}",
        summary=f"summary {EVIL}",
        machines=machines,
        prices=options,
        published=about,
        claims=CLAIMS,
        **{"import": {"format": "keras_csv", "unlike": unlike}},
    )
    read = Read(page)
    assert "b" not in read.tags
    assert EVIL not in page
    for origin in ("title", "summary", "machine", "option", "article", "author", "toy", "Half", "a note"):
        assert f"{origin} {EVIL}" in read.text, origin
    assert verdicts["claims"][0]["says"] == f"Half {EVIL}", "the index escapes it itself"


@pytest.mark.slow
def test_page_fetches_nothing(written) -> None:
    links = Read(written(*ROWS, claims=CLAIMS)[0]).links
    assert {"#claims", "#cells", "#audit", "#prices", "#now", "#mnist_mlp", "#mnist_cnn"} <= set(links)
    assert all(link.startswith(("#", "data:")) for link in links)


@pytest.mark.slow
def test_contents_lead_to_sections_that_are_there(written) -> None:
    page, _ = written(*ROWS, claims=CLAIMS)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in Read(page).links if link.startswith("#")} <= set(ids)
