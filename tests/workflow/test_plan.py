"""What the rules do, in milliseconds: files, arguments and codes of jobs, without Snakemake."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from scripts.storage.errors import InputError
from scripts.workflow import plan as plans
from scripts.workflow.plan import Plan
from tests.conftest import ROOT

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
STUDY = {
    "title": "Small",
    "data": "synthetic",
    "workloads": ["mnist_mlp", "resnet50"],
    "hardware": ["cpu1", "gce-t4x1"],
    "frameworks": ["jax"],
    "batch_sizes": ["published", "largest"],
    "repeats": 2,
    "tiers": [[{"workload": "resnet50"}]],
    "base": {"hardware": "cpu1", "framework": "jax"},
    "charts": ["relative_time", "relative_cost"],
}
MLP = {"workload": "mnist_mlp", "hardware": "cpu1", "framework": "jax", "variant": "b128"}


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what makes a plan of a study's keys and the config's, in an empty folder with the project's config."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(ROOT / "config")

    def made(config: dict | None = None, **keys) -> Plan:
        (tmp_path / "small.yaml").write_text(yaml.safe_dump(STUDY | keys))
        return Plan.of(CONFIG | {"study": "small.yaml"} | (config or {}), lambda policy: lambda dataset: "synthetic")

    return made


def job(**names: str) -> SimpleNamespace:
    return SimpleNamespace(**({"study": "small", "repeat": "1"} | MLP | names))


def test_runs_are_those_of_the_machines_that_the_profile_reaches(make) -> None:
    local, cluster = make(), make({"profile": "gce-gpu"})
    assert {local.find_cell(run).hardware for run in local.runs} == {"cpu1"}
    assert {cluster.find_cell(run).hardware for run in cluster.runs} == {"gce-t4x1"}
    assert (local.unreached, cluster.unreached) == ({"gce-t4x1"}, {"cpu1"})
    assert local.runs[0] == "results/small/resnet50/cpu1/jax/b32/r1", "the first tier comes first"
    assert len(local.runs) == len(set(local.runs)) == 8


def test_runs_of_other_profiles_are_those_that_are_there(make, tmp_path: Path) -> None:
    folder = tmp_path / "results/small/mnist_mlp/gce-t4x1/jax/b128/r2"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    assert make().others_runs == ["results/small/mnist_mlp/gce-t4x1/jax/b128/r2"]


def test_arguments_are_a_command_that_a_person_could_type(make) -> None:
    plan = make(scale={"samples": 0.5, "epochs": 3}, stop_at_target=True, targets={"mnist_mlp": 0.9})
    assert plan.get_arguments(job(repeat="2")) == (
        "--workload mnist_mlp --hardware cpu1 --framework jax --batch-size 128 --mode stock --precision float32 "
        f"--devices 1 --epochs 3 --samples 0.5 --data synthetic --repeat 2 --seed {plan.cells[path(MLP)].seed(2)} "
        "--target 0.9"
    )


def path(names: dict) -> str:
    return "/".join(names[key] for key in ("workload", "hardware", "framework", "variant"))


def test_a_cell_that_is_not_in_the_study_is_named(make) -> None:
    with pytest.raises(InputError, match="study small has no cell mnist_mlp/cpu1/jax/b64"):
        make().get_cell(job(variant="b64"))


def test_later_runs_of_the_largest_batch_take_what_the_first_found(make) -> None:
    plan = make()
    assert plan.get_searched(job(variant="blargest")) == []
    assert (
        plan.get_searched(job(variant="blargest", repeat="2"))
        == "<trained>/small/mnist_mlp/cpu1/jax/blargest/r1/run.json"
    )
    assert plan.get_searched(job(repeat="2")) == []


def test_data_and_locks_are_those_of_the_cell(make) -> None:
    plan = make()
    assert plan.get_data(job()) == "data/synthetic/mnist.npz"
    assert plan.kinds == {"mnist": "synthetic", "imagenet_like": "synthetic"}
    assert plan.kit_data == []
    assert plan.lock(plan.cells["mnist_mlp/cpu1/jax/b128"]) == "envs/jax.lock"
    assert plan.lock(plan.cells["mnist_mlp/gce-t4x1/jax/b128"]) == "envs/jax-gpu.lock"
    assert plan.get_image_name(job(hardware="gce-t4x1")) == "jax-gpu"


def test_code_differs_by_workload_framework_and_lock_alone(make) -> None:
    plan = make(frameworks=["jax", "torch"])
    codes = {name: plan.code_of_cell(cell) for name, cell in plan.cells.items()}
    same = {key: {codes[name] for name in codes if key(name)} for key in (
        lambda name: name.startswith("mnist_mlp/cpu1/jax/"),
        lambda name: name.startswith("resnet50/cpu1/jax/"),
        lambda name: name.startswith("mnist_mlp/cpu1/torch/"),
        lambda name: name.startswith("mnist_mlp/gce-t4x1/jax/"),
    )}  # fmt: skip
    assert [len(found) for found in same.values()] == [1, 1, 1, 1]
    assert len(set.union(*same.values())) == 4


def test_a_run_is_current_if_its_record_tells_the_code_of_today_or_none(make, tmp_path: Path) -> None:
    plan = make()
    run = plan.folder(plan.cells["mnist_mlp/cpu1/jax/b128"], 1)
    assert not plan.is_current(run)
    record = tmp_path / run / "run.json"
    record.parent.mkdir(parents=True)
    for code, current in ((None, True), ("other", False), (plan.get_code(job()), True)):
        record.write_text(json.dumps({"provenance": {"code": code}}))
        assert plan.is_current(run) is current


def test_charts_see_no_title_and_only_those_of_costs_see_prices(make) -> None:
    plan = make()
    time, cost = job(chart="relative_time"), job(chart="relative_cost.spot")
    assert plan.get_money(time) == []
    assert plan.get_money(cost) == ["results/small/costs.parquet", "results/small/prices.parquet"]
    assert {"prices", "title", "charts"}.isdisjoint(json.loads(plan.get_charted(time)))
    assert "prices" in json.loads(plan.get_charted(cost))
    assert "scripts/charts/relative_cost.py" in plan.get_chart_code(cost)
    assert "scripts/charts/relative_cost.py" not in plan.get_chart_code(time)
    assert json.loads(plan.get_names(time))["cpu1"] == "1 vCPU"


def test_which_charts_show_money_is_read_from_their_code() -> None:
    """The charts that draw nothing without costs or derived tables, and no others."""
    from scripts import charts
    from scripts.workflow import code

    shown = {name for name in charts.names() if code.reads(f"scripts.charts.{name}", ("costs", "tables"))}
    assert {"bill", "pareto", "relative_cost", "ownership", "monthly", "gain", "to_train", "samples_per_usd"} <= shown
    assert shown.isdisjoint({"relative_time", "learning", "spread", "by_mode", "by_precision", "utilisation"})


def test_a_study_that_nothing_reaches_says_what_a_kit_does(make) -> None:
    plan = make(hardware=["h100"], base={"hardware": "h100", "framework": "jax"})
    with pytest.raises(InputError, match=r"no profile trains on h100: `make kit STUDY=small\.yaml` packs"):
        plan.get_report(job())
    assert make().get_report(job()) == "results/small/report.html"


def test_resources_are_those_of_the_machine_under_the_profile(make) -> None:
    plan = make({"profile": "gce-gpu"})
    asked = plan.submission()
    assert {name: get(job(hardware="gce-t4x1")) for name, get in asked.items()} == {
        "machine_type": "n1-standard-4",
        "gpu": 1,
        "gpu_model": "nvidia-tesla-t4",
        "spot": None,
    }
    assert make().submission() == {}


def test_logs_and_facts_of_imported_studies(make) -> None:
    plan = make()
    of = SimpleNamespace
    assert plan.get_facts(of(study="gpus-2017")) == "reports/published/facts/gpus-2017.csv"
    assert plan.get_problems(of(study="gpus-2017")) == []
    assert plan.get_facts(of(study="scheduled-2018")) == []
    assert plan.brought == ["two-cores"]
    assert plan.get_brought("runs.csv")(of(study="two-cores")) == "reports/published/tables/two-cores/runs.csv"
    assert {"gpus-2017", "scheduled-2018"} <= set(plan.imported)
    assert plan.get_books(of(study="small")) == ["config/prices/current.csv", "config/prices/listed.csv"]


def test_report_is_given_words_and_facts_where_a_study_has_them(make, tmp_path: Path) -> None:
    plan = make()
    (tmp_path / "reports").symlink_to(ROOT / "reports")
    providers, grid = SimpleNamespace(study="gpu-providers-2018"), SimpleNamespace(study="small")
    assert (plan.get_words(providers), plan.get_words(grid)) == ("reports/words/gpu-providers-2018.yaml", [])
    assert plan.get_others(grid) == [], "there are no logs to compare with others"
    nothing = SimpleNamespace(words=[], problems=[], facts=[], others=[])
    assert plan.get_report_arguments(grid, nothing) == []
    given = SimpleNamespace(words="w.yaml", problems="p.txt", facts="f.csv", others=["g.csv"])
    assert plan.get_report_arguments(providers, given) == [
        *("--words", "w.yaml", "--problems", "p.txt", "--facts", "f.csv", "--others", "g.csv")
    ]


def test_a_thousand_cells_are_planned_in_a_moment(make) -> None:
    plan = make(batch_sizes=list(range(1, 501)), hardware=["cpu1"], repeats=1)
    assert len(plan.runs) == 1000
    assert plans.code.training.cache_info().currsize < 100, "codes are worked out by workload and framework"
