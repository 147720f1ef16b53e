"""What the tables, charts and reports of each study are made of, without Snakemake."""

import json
from pathlib import Path
from types import SimpleNamespace

from scripts.storage.code import code_of
from scripts.workflow.analyses import Analyses
from scripts.workflow.plan import Plan
from tests.conftest import ROOT


def made(plan: Plan) -> Analyses:
    return Analyses(plan.studies, plan.catalogue, plan.published)


def job(chart: str) -> SimpleNamespace:
    return SimpleNamespace(study="small", chart=chart)


def test_charts_see_no_title_and_only_those_of_costs_see_prices(make) -> None:
    analyses = made(make())
    time, cost = job(chart="relative_time"), job(chart="relative_cost.spot")
    assert analyses.get_money(time) == []
    assert analyses.get_money(cost) == ["results/small/costs.parquet", "results/small/prices.parquet"]
    assert {"prices", "title", "charts"}.isdisjoint(json.loads(analyses.get_charted(time)))
    assert "prices" in json.loads(analyses.get_charted(cost))
    assert "scripts/charts/relative_cost.py" in analyses.get_chart_code(cost)
    assert "scripts/charts/relative_cost.py" not in analyses.get_chart_code(time)
    assert json.loads(analyses.get_names(time))["cpu1"] == "1 vCPU"


def test_which_charts_show_money_is_read_from_their_code() -> None:
    """The charts that draw nothing without costs or derived tables, and no others."""
    from scripts.storage import code
    from scripts.studies.charts import modules_by_name

    shown = {name for name, module in modules_by_name().items() if code.reads(module, ("costs", "tables"))}
    assert {"bill", "pareto", "relative_cost", "ownership", "monthly", "gain", "to_train", "samples_per_usd"} <= shown
    assert shown.isdisjoint({"relative_time", "learning", "spread", "by_mode", "by_precision", "utilisation"})


def wing(files: list[str]) -> set[str]:
    """Return the articles that files are of."""
    return {Path(file).parts[2] for file in files if file.startswith("scripts/articles/") and file.count("/") > 2}


def test_an_edit_in_an_article_makes_again_what_shows_it(make) -> None:
    analyses = made(make())
    article = {
        "gpu-providers-2018": {"price_cuts", "printed", "several_gpus"},
        "gpus-2017": {"price_cuts"},
        "cloud-or-office-2018": {"office"},
        "scheduled-2018": {"schedule"},
        "mlperf": {"mlperf", "price_cuts"},
        "lambda-gpus": {"gpus", "second_source"},
        "language-models": {"language_models", "gpus"},
        "speedruns": {"speedruns"},
        "fine-tuning-a10g": {"fine_tuning"},
    }
    assert set(article) <= set(analyses.studies)
    for name, study in analyses.studies.items():
        of = SimpleNamespace(study=name)
        assert wing(analyses.get_report_code(of)) == article.get(name, set()), name
        for chart in study["charts"]:
            code = analyses.get_chart_code(SimpleNamespace(study=name, chart=chart))
            assert wing(code) <= article.get(name, set()), (name, chart)
    assert wing(analyses.get_chart_code(SimpleNamespace(study="gpu-providers-2018", chart="time"))) == set()
    gain = analyses.get_chart_code(SimpleNamespace(study="cloud-or-office-2018", chart="gain"))
    assert {f"scripts/articles/office/{file}.py" for file in ("figures", "box", "charts/gain")} <= set(gain)
    assert "scripts/articles/office/charts/scaling.py" not in gain


def test_what_every_study_is_made_by_holds_no_article() -> None:
    for module in ("report", "chart", "price", "collect", "load_tables", "import_logs", "index"):
        assert wing(code_of(f"scripts.{module}")) == set(), module


def test_logs_and_facts_of_imported_studies(make) -> None:
    analyses = made(make())
    of = SimpleNamespace
    assert analyses.get_facts(of(study="gpus-2017")) == "reports/published/facts/gpus-2017.csv"
    assert analyses.get_problems(of(study="gpus-2017")) == []
    assert analyses.get_facts(of(study="scheduled-2018")) == []
    assert sorted(analyses.supplied) == ["batch-size", "tweets", "two-cores"]
    assert analyses.get_supplied("runs.csv")(of(study="two-cores")) == "reports/published/tables/two-cores/runs.csv"
    assert {"gpus-2017", "scheduled-2018"} <= set(analyses.imported)
    assert analyses.get_books(of(study="small")) == ["config/prices/current.csv", "config/prices/listed.csv"]
    cuts = ["config/prices/cloud-or-office-2018.csv", "config/prices/gce-2017-11.csv"]
    assert analyses.get_article_files(of(study="gpu-providers-2018")) == cuts, "its claims are of books of others"
    assert "config/prices/billing.csv" in analyses.get_article_files(of(study="scheduled-2018"))
    assert analyses.get_article_files(of(study="small")) == []


def test_report_is_given_words_and_facts_where_a_study_has_them(make, tmp_path: Path) -> None:
    analyses = made(make())
    (tmp_path / "reports").symlink_to(ROOT / "reports")
    providers, grid = SimpleNamespace(study="gpu-providers-2018"), SimpleNamespace(study="small")
    assert (analyses.get_words(providers), analyses.get_words(grid)) == ("reports/words/gpu-providers-2018.yaml", [])
    assert analyses.get_others(grid) == [], "there are no logs to compare with others"
    nothing = SimpleNamespace(words=[], problems=[], facts=[], others=[], elsewhere=[], offered=[])
    assert analyses.get_report_arguments(grid, nothing) == []
    given = SimpleNamespace(
        words="w.yaml", problems="p.txt", facts="f.csv", others=["g.csv"], elsewhere="e.json", offered=["b.csv"]
    )
    *files, option, quoted = analyses.get_report_arguments(providers, given)
    assert files == [
        *("--words", "w.yaml", "--problems", "p.txt", "--facts", "f.csv", "--others", "g.csv", "--elsewhere", "e.json"),
        *("--books", "b.csv"),
    ]
    assert option == "--quoted", "a published study leads to the front door"
    assert json.loads(quoted)["aws-v100"]["net"] == "v100-16gb"


def test_an_edit_of_the_recorders_readers_reads_logs_again(make) -> None:
    """TensorBoard, W&B and MLflow are read by its `stores.py`, consoles by its `lines.py`, which asks `etas.py`."""
    analyses = made(make())
    study = {"import": {"format": "any"}}
    object.__setattr__(
        analyses, "studies", analyses.studies | {"logs": study, "csv": {"import": {"format": "rare_json"}}}
    )
    recorder = "plugins/epochs-per-dollar/epochs_per_dollar"
    found = analyses.get_importer_code(SimpleNamespace(study="logs"))
    assert {f"{recorder}/{name}.py" for name in ("stores", "lines", "etas")} <= set(found)
    assert not [file for file in found if file.startswith(f"{recorder}/ledger")]
    assert all((ROOT / file).is_file() for file in found)
    assert not [file for file in analyses.get_importer_code(SimpleNamespace(study="csv")) if "stores" in file], (
        "this format is read without them"
    )
