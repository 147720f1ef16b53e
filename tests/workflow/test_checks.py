"""What is refused before anything is submitted to a cluster."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.records.cell import Cell
from scripts.storage.errors import InputError
from scripts.workflow import checks
from scripts.workflow.plan import Plan

SQUEUE = SimpleNamespace(status_command="squeue", array_jobs=None)


def plan(*machines: str, **settings) -> Plan:
    """Return a plan with one run on each of some machines of a Slurm, each in a partition of its name."""
    study = {"repeats": 1, "batch_sizes": ["published"], "max_run_minutes": 60} | settings
    catalogue = {name: {"clusters": {"slurm": {"slurm_partition": name}}} for name in machines}
    cells = {cell.path: cell for name in machines for cell in [Cell("a", name, "jax", 128, 1, 1.0, "synthetic")]}
    runs = [f"results/s/{path}/r1" for path in cells]
    return Plan("s", "s", {"s": study}, catalogue, "slurm", [], cells=cells, runs=runs)


def show(*, cancelling: str = "") -> object:
    """Return what stands for scontrol: one partition, or the whole cluster, may cancel what it preempts."""

    def answer(*what: str) -> str:
        mode = "CANCEL" if what[-1] == cancelling else "REQUEUE"
        return f"SlurmctldPort = 6817\nPreemptMode             = {mode}\nPreemptType = x\n"

    return answer


def check(plan: Plan, settings, show) -> None:
    """Check a plan where Slurm has two partitions."""
    checks.check_slurm(plan, settings, show, lambda: ["cpu", "gpu"])


def test_partition_that_is_not_there_is_named_with_those_that_are() -> None:
    words = r"a100: slurm_partition: 'a100' is unknown: it is one of cpu, gpu; name yours in config/hardware.local.ya"
    with pytest.raises(InputError, match=words):
        check(plan("cpu", "a100"), SQUEUE, show())
    elsewhere = plan("a100")
    elsewhere.catalogue["a100"]["clusters"]["slurm"]["clusters"] = "other"
    check(elsewhere, SQUEUE, show())


def test_every_partition_of_a_list_is_looked_at() -> None:
    several = plan("cpu")
    several.catalogue["cpu"]["clusters"]["slurm"]["slurm_partition"] = "cpu,gpu"
    with pytest.raises(InputError, match="partition gpu has PreemptMode=CANCEL"):
        check(several, SQUEUE, show(cancelling="gpu"))


def test_machine_whose_jobs_are_short_fits_a_short_partition() -> None:
    def show(*what: str) -> str:
        return "PartitionName=gpu MaxTime=00:30:00" if what[0] == "partition" else "PreemptMode = REQUEUE"

    short = plan("gpu")
    with pytest.raises(InputError, match="at most 15 there, in the study or by `runtime: 30` of gpu"):
        check(short, SQUEUE, show)
    short.catalogue["gpu"]["clusters"]["slurm"]["runtime"] = 30
    check(short, SQUEUE, show)


def test_partition_that_starts_no_jobs_is_refused_unless_another_may() -> None:
    def show(*what: str) -> str:
        return f"PartitionName={what[-1]} State={'DOWN' if what[-1] == 'gpu' else 'UP'} PreemptMode=OFF"

    with pytest.raises(InputError, match="gpu: slurm_partition: gpu is DOWN and starts no jobs: `sinfo -R` says why"):
        check(plan("cpu", "gpu"), SQUEUE, show)
    either = plan("cpu")
    either.catalogue["cpu"]["clusters"]["slurm"]["slurm_partition"] = "cpu,gpu"
    check(either, SQUEUE, show)


def test_account_that_a_partition_does_not_allow_is_refused() -> None:
    def show(*what: str) -> str:
        return "PartitionName=cpu State=UP AllowAccounts=physics,maths PreemptMode=OFF"

    ours = plan("cpu")
    check(ours, SQUEUE, show)
    for account, is_allowed in (("lab", False), ("lab,maths", True), ("physics", True)):
        ours.catalogue["cpu"]["clusters"]["slurm"]["slurm_account"] = account
        if is_allowed:
            check(ours, SQUEUE, show)
            continue
        with pytest.raises(InputError, match="cpu: slurm_account: lab: partition cpu allows physics,maths alone"):
            check(ours, SQUEUE, show)


def test_a_cluster_that_requeues_is_taken() -> None:
    check(plan("cpu", "gpu"), SQUEUE, show())


@pytest.mark.parametrize(("place", "named"), [("config", "this Slurm"), ("gpu", "partition gpu")])
def test_what_cancels_is_refused_by_its_name(place: str, named: str) -> None:
    with pytest.raises(InputError, match=rf"{named} has PreemptMode=CANCEL"):
        check(plan("cpu", "gpu"), SQUEUE, show(cancelling=place))
    if place != "config":
        check(plan("cpu"), SQUEUE, show(cancelling=place))


def test_sacct_is_refused() -> None:
    with pytest.raises(InputError, match="squeue is needed"):
        check(plan("cpu"), SimpleNamespace(status_command="sacct", array_jobs=None), show())


@pytest.mark.parametrize("asked", ["all", "train", "collect, train"])
def test_an_array_is_of_one_machine(asked: str) -> None:
    with pytest.raises(InputError, match=r"an array is of one machine.*\(cpu, gpu\)"):
        checks.check_arrays(plan("cpu", "gpu"), asked)
    checks.check_arrays(plan("cpu"), asked)
    checks.check_arrays(plan("cpu", "gpu"), "collect")


def test_an_array_waits_for_no_search() -> None:
    with pytest.raises(InputError, match="batch size `largest`"):
        checks.check_arrays(plan("cpu", repeats=2, batch_sizes=["largest"]), "all")


def test_an_image_that_nobody_has_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "images.yaml").write_text("jax-cpu: registry/jax-cpu@sha256:0\n")
    checks.check_images(["jax-cpu"])
    with pytest.raises(InputError, match=r"there is no jax-gpu torch-gpu: run envs/images\.sh jax-gpu torch-gpu"):
        checks.check_images(["torch-gpu", "jax-cpu", "jax-gpu"])


def test_study_beside_needs_runs(tmp_path: Path) -> None:
    """Those of logs and of tables that were supplied are made; what is trained here must have been trained."""
    given = plan("gce-t4x1", beside=["gpus-2017", "two-cores", "smoke"])
    said = "^study s: 'smoke', with which it is compared, is trained here and has no runs yet: ./epd report"
    with pytest.raises(InputError, match=said):
        checks.check_beside(given, tmp_path)
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "runs.parquet").touch()
    checks.check_beside(given, tmp_path)


def test_a_bucket_has_a_name_and_is_sent_what_git_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^gs://\$EPOCHS_BUCKET: the variable is not set"):
        checks.check_bucket("gs://$EPOCHS_BUCKET", plan("gce-t4x1", beside=[]))
    given = plan("gce-t4x1", beside=["gpus-2017"], workload_files={})
    checks.check_bucket("gs://bucket", replace(given, asked="local"))
    (tmp_path / "mine.yaml").touch()
    with pytest.raises(InputError, match=r"mine.yaml: git does not know it"):
        checks.check_bucket("gs://bucket", replace(given, asked=str(tmp_path / "mine.yaml")))


def test_prices_of_another_region_than_that_of_the_jobs_are_named() -> None:
    made = plan("t4", "l4", "mine")
    for name, region in (("t4", "us-central1"), ("l4", "europe-west4")):
        made.catalogue[name]["rent"] = {"provider": "gce", "region": region}
    assert "prices t4 in us-central1: set their `region:` to europe-west4" in checks.elsewhere(made, "europe-west4")
    assert checks.elsewhere(plan("mine"), "europe-west4") == checks.elsewhere(made, None) == ""


SET = SimpleNamespace(project="p", region="us-central1")
NO_ACCOUNT = {"STORAGE_EMULATOR_HOST": checks._NO_ACCOUNT}


@pytest.mark.parametrize(
    ("settings", "prefix", "variables", "lacking"),
    [
        (SET, "gs://b/epochs", {}, []),
        (SimpleNamespace(project=None), "gs://$EPOCHS_BUCKET", NO_ACCOUNT, ["PROJECT", "REGION", "BUCKET", "login"]),
        (None, "gs://b", {}, ["PROJECT", "REGION"]),
        (SET, "gs://b", NO_ACCOUNT, ["gcloud auth application-default login"]),
        (SET, "gs://b", {"STORAGE_EMULATOR_HOST": "http://localhost:4443"}, []),
    ],
)
def test_what_is_still_to_be_set_is_listed(settings, prefix: str, variables: dict, lacking: list[str]) -> None:
    lines = checks.unset(settings, prefix, variables)
    assert len(lines) == len(lacking)
    assert all(word in line for word, line in zip(lacking, lines, strict=True))


def test_dry_run_has_the_variables_only() -> None:
    variables = {"SNAKEMAKE_GCEBATCH_PROJECT": "p", "SNAKEMAKE_GCEBATCH_REGION": "europe-west4"}
    assert checks.unset(None, "gs://b", variables) == []
    assert checks.setting(None, "region", variables) == "europe-west4"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("MaxTime=UNLIMITED", None),
        ("MaxTime=1-00:00:00", None),
        ("MaxTime=01:15:00", None),
        ("MaxTime=01:00:00", "60 minutes.*at most 45 there"),
        ("MaxTime=00:10:00", "at most 0 there"),
    ],
)
def test_partition_that_ends_jobs_too_soon_is_named(limits: str, said: str | None) -> None:
    def show(*what: str) -> str:
        return f"PartitionName={what[-1]} {limits} MinNodes=0" if what[0] == "partition" else "PreemptMode = REQUEUE"

    if said is None:
        check(plan("gpu"), SQUEUE, show)
    else:
        with pytest.raises(InputError, match=f"partition gpu .*{said}"):
            check(plan("gpu"), SQUEUE, show)


def test_file_that_git_does_not_know_is_not_sent_anywhere() -> None:
    checks.check_known_to_git([Path("README.md"), Path("config/studies/smoke.yaml")])
    with pytest.raises(
        InputError, match=r"config/studies/unknown\.yaml: git does not know it.*: git add config/studies/"
    ):
        checks.check_known_to_git([Path("README.md"), Path("config/studies/unknown.yaml")])
