"""What the rules do, in milliseconds: files, arguments and codes of jobs, without Snakemake."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scripts.storage.errors import InputError
from scripts.workflow import plan as plans

MLP = {"workload": "mnist_mlp", "hardware": "cpu1", "framework": "jax", "variant": "b128"}


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


@pytest.mark.slow
def test_arguments_are_a_command_that_a_person_could_type(make) -> None:
    plan = make(scale={"samples": 0.5, "epochs": 3}, stop_at_target=True, targets={"mnist_mlp": 0.9})
    assert " ".join(plan.get_arguments(job(repeat="2"))) == (
        "--workload mnist_mlp --hardware cpu1 --framework jax --batch-size 128 --mode stock --precision float32 "
        f"--devices 1 --epochs 3 --samples 0.5 --data synthetic --repeat 2 --seed {plan.cells[path(MLP)].seed(2)} "
        "--target 0.9"
    )


def path(names: dict) -> str:
    return "/".join(names[key] for key in ("workload", "hardware", "framework", "variant"))


def test_a_cell_that_is_not_in_the_study_is_named(make) -> None:
    with pytest.raises(InputError, match="study small has no configuration mnist_mlp/cpu1/jax/b64"):
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


def test_a_run_is_current_if_its_record_names_the_code_of_today_or_none(make, tmp_path: Path) -> None:
    plan = make()
    run = plan.folder(plan.cells["mnist_mlp/cpu1/jax/b128"], 1)
    assert not plan.is_current(run)
    record = tmp_path / run / "run.json"
    record.parent.mkdir(parents=True)
    for code, current in ((None, True), ("other", False), (plan.get_code(job()), True)):
        record.write_text(json.dumps({"provenance": {"code": code}}))
        assert plan.is_current(run) is current


def test_a_run_has_other_data_only_where_record_and_data_are_there(make, tmp_path: Path) -> None:
    plan = make()
    record = tmp_path / plan.folder(plan.get_cell(job()), 1) / "run.json"
    data = tmp_path / plan.get_data(job())
    for file in (record, data):
        file.parent.mkdir(parents=True)
    about = {"dataset": "mnist", "kind": "synthetic", "train_samples": 2, "sha256": {}}
    record.write_text(json.dumps({"data": about}))
    assert not plan.has_other_data(job()), "no data"
    data.write_text("no archive")
    assert not plan.has_other_data(job()), "whoever reads it says so"
    np.savez(data, about=np.array(json.dumps(about)), x_train=np.array([1, 2]))
    assert not plan.has_other_data(job())
    np.savez(data, about=np.array(json.dumps(about | {"train_samples": 3})), x_train=np.array([1, 2, 3]))
    assert plan.has_other_data(job())
    assert not plan.has_other_data(job(repeat="2")), "no record"


def test_a_study_that_nothing_reaches_says_what_a_kit_does(make) -> None:
    plan = make(hardware=["h100"], base={"hardware": "h100", "framework": "jax"})
    with pytest.raises(InputError, match=r"no profile trains on h100: `\./epd kit pack small\.yaml` packs"):
        plan.get_report(job())
    report, *others = make().get_report(job())
    assert report == "results/small/report.html"
    assert "results/small/costs.parquet" in others
    assert {"results/small/charts/relative_time", "results/small/charts/relative_time.json"} <= set(others), "lost"


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


def test_time_limit_and_modules_of_a_machine_are_no_resources_of_it_alone(make) -> None:
    plan = make({"profile": "gce-gpu"}, max_run_minutes=60)
    assert (plan.most_minutes("gce-t4x1"), plan.get_runtime(job(hardware="gce-t4x1"))) == (60, 75)
    assert plan.load_modules("gce-t4x1") == ""
    plan.catalogue["gce-t4x1"]["clusters"]["gce-gpu"] |= {"runtime": 30, "modules": "cuda/12.4 $(touch)"}
    assert (plan.most_minutes("gce-t4x1"), plan.get_runtime(job(hardware="gce-t4x1"))) == (15, 30)
    assert "; module load cuda/12.4 '$(touch)' || exit; " in plan.load_modules("gce-t4x1")
    assert {"runtime", "modules"}.isdisjoint(plan.submission())
    plan.catalogue["gce-t4x1"]["clusters"]["gce-gpu"]["runtime"] = 600
    assert plan.get_runtime(job(hardware="gce-t4x1")) == 75, "no more than the study needs"


OWN = "DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\ndef prepare(arrays): ...\ndef build(split): ...\n"


def test_a_thousand_cells_are_planned_in_a_moment(make) -> None:
    plan = make(batch_sizes=list(range(1, 501)), hardware=["cpu1"], repeats=1)
    assert len(plan.runs) == 1000
    assert plans.code.training.cache_info().currsize < 100, "codes are worked out by workload and framework"


def test_path_of_a_workload_is_one_word_of_the_command(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPOCHS_TRUST", "all")
    folder = tmp_path / "a $(touch x) `y`; z"
    folder.mkdir()
    (folder / "mine.py").write_text(OWN)
    plan = make(workloads=[str(folder / "mine.py")], tiers=[], batch_sizes=["published"])
    arguments = plan.get_arguments(job(workload="mine", variant="b8"))
    assert arguments[arguments.index("--workload") + 1] == str(folder / "mine.py")


def test_what_a_workload_may_import_goes_where_it_goes(make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPOCHS_TRUST", "all")
    for name, text in {"mine.py": "", "parts/deep.py": "1", "notes.txt": "1", "__pycache__/mine.pyc": "1"}.items():
        (tmp_path / "nets" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nets" / name).write_text(text or OWN)
    plan = make(workloads=[str(tmp_path / "nets" / "mine.py")], tiers=[], batch_sizes=["published"])
    found = {Path(file).resolve() for file in plan.own_code}
    assert found == {tmp_path / "nets" / "mine.py", tmp_path / "nets" / "parts" / "deep.py"}
