"""A study on an emulated Google Batch, whose jobs really train, and on a real Slurm of this machine."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest
from filelock import FileLock

from tests.clusters import kubernetes, slurm
from tests.conftest import ROOT, Project, copy_project, made_once, on_every_core, wait_for

sys.path.insert(0, str(ROOT / "plugins" / "snakemake-executor-plugin-gcebatch" / "tests"))

from emulator import Emulator, machines_boot  # noqa: F401, found by the line above

#: What the image of JAX for CPUs is made of, see envs/images.sh.
LOCKS = "workflow gce jax"

#: Machines without GPUs, one of which is asked for as if it had one.
MACHINES = """
vm-cpu:
  label: a CPU
  machine: {cores: 1}
  clusters: {gce-cpu: {machine_type: n1-standard-1}}
  rent: {provider: gce, region: us-central1, items: {n1-standard-1: 1}}
vm-gpu:
  label: a GPU
  machine: {cores: 1}
  clusters: {gce-gpu: {machine_type: n1-standard-4, gpu: 1, gpu_model: nvidia-tesla-t4, spot: 1}}
  rent: {provider: gce, region: us-central1, items: {n1-standard-4: 1, nvidia-tesla-t4: 1}}
"""

STUDY = """
title: On two machines
data: synthetic
workloads: [mnist_mlp]
hardware: [vm-cpu, vm-gpu]
frameworks: [jax]
modes: [tuned]
scale: {samples: 0.02, epochs: 2}
base: {hardware: vm-cpu, framework: jax}
charts: [relative_time]
"""

IMAGE = "registry/epochs-jax@sha256:0123"


@dataclass
class Cloud:
    """A clone of the project, beside the services that its profiles send jobs to."""

    project: Project
    emulator: Emulator
    variables: dict[str, str]

    def snakemake(
        self, profile: str, *arguments: str, config: tuple[str, ...] = (), check: bool = True
    ) -> subprocess.CompletedProcess:
        command = ["snakemake", "--profile", profile, "--seconds-between-status-checks", "1", *arguments]
        return self.project.run(*command, "--config", "study=small", *config, check=check, **self.variables)

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a file of the clone: what git does not know is not sent to the machines."""
        self.project.edit(file, old, new)
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "an edit"],
            cwd=self.project.path,
            check=True,
        )

    def start(self, profile: str, *arguments: str) -> subprocess.Popen:
        """Begin a call, and return when it has a machine."""
        command = ["snakemake", "--profile", profile, "--seconds-between-status-checks", "1", *arguments]
        process = subprocess.Popen(
            [*command, "--config", "study=small"],
            cwd=self.project.path,
            env=self.project.environment(**self.variables),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        wait_for(self.emulator.running, process)
        return process


@dataclass
class Cluster:
    """A clone of the project, beside a Slurm that its profile sends jobs to."""

    project: Project
    slurm: slurm.Slurm
    plugins: Path

    def write(self, workload: str = "mnist_mlp", samples: float = 0.02, epochs: int = 2) -> None:
        study = (
            slurm.STUDY.replace("WORKLOAD", workload).replace("SAMPLES", str(samples)).replace("EPOCHS", str(epochs))
        )
        (self.project.path / "config" / "studies" / "small.yaml").write_text(study)

    def start(self, *arguments: str, config: tuple[str, ...] = ("study=small",), **variables: str) -> subprocess.Popen:
        command = ["snakemake", "--profile", "slurm", "--latency-wait", "5", *arguments, "--config", *config]
        environment = self.project.environment(**{"PYTHONPATH": str(self.plugins / "slurm")} | variables)
        return subprocess.Popen(
            command, cwd=self.project.path, env=environment, text=True, preexec_fn=on_every_core,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def wait_for_epoch(self, cell: str, number: int, process: subprocess.Popen) -> None:
        log = self.project.path / "results/small" / cell / "r1/train.log"
        wait_for(lambda: log.is_file() and f"epoch {number}/" in log.read_text(), process)

    def job_on(self, partition: str) -> str:
        (found,) = [job for job, _, where in self.slurm.jobs() if where == partition]
        return found


@dataclass
class Pods:
    """A clone of the project, set up as the documents say, beside what stands for a Kubernetes."""

    project: Project
    api: kubernetes.Kubernetes
    variables: dict[str, str]
    vms: Emulator

    def let_run(self) -> None:
        """Let the API run the containers of its jobs, by what stands for their image."""
        self.api.programs, self.api.variables = self.vms.images[IMAGE], self.vms.variables
        self.api.folder = self.vms.folder

    def start(self, *arguments: str) -> subprocess.Popen:
        command = ["snakemake", "--profile", "k8s", "--seconds-between-status-checks", "1", *arguments]
        return subprocess.Popen(
            command, cwd=self.project.path, env=self.project.environment(**self.variables), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip


@pytest.fixture(scope="session")
def image() -> Path:
    """Return the programs of an environment made by the recipe of the image, and of nothing else."""

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        recipe = (ROOT / "envs" / "Dockerfile").read_text().replace("\\\n", "").replace("/locks/", f"{ROOT}/envs/")
        environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "LOCKS": LOCKS, "HOME": str(folder)}
        # What a job imports is compiled then; all of it would be most of the installation.
        environment["PIP_NO_COMPILE"] = "1"
        for step in re.findall(r"^RUN (.+)$", recipe, re.MULTILINE):
            if "pip install" in step:  # the others are for a system of its own
                subprocess.run(["bash", "-c", step], check=True, env=environment, stdout=subprocess.DEVNULL)

    return made_once("image", make) / "bin"


@pytest.fixture(scope="session")
def plugins() -> Path:
    """Return a folder with the plugins of the profiles: Snakemake imports those that it finds whenever it starts."""

    def make(folder: Path) -> None:
        storage = re.search(r"snakemake-storage-plugin-gcs==\S+", (ROOT / "envs" / "gce.in").read_text())[0]
        executor = re.search(r"snakemake-executor-plugin-slurm==\S+", (ROOT / "envs" / "slurm.in").read_text())[0]
        jobstep = re.search(
            r"snakemake-executor-plugin-slurm-jobstep==\S+", (ROOT / "envs" / "slurm.lock").read_text()
        )[0]
        for name, packages in {
            "gce": [ROOT / "plugins" / "snakemake-executor-plugin-gcebatch", storage],
            "slurm": [executor, jobstep],
            "k8s": ["snakemake-executor-plugin-kubernetes==0.5.1"],
        }.items():
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / name]
            subprocess.run([*pip, *packages], check=True)

    return made_once("plugins", make)


@pytest.fixture
def machine(request: pytest.FixtureRequest, plugins: Path) -> tuple[Path, dict[str, str]]:
    """Return programs and variables of a machine: nightly those of the image's recipe, which takes a minute to make."""
    if request.node.get_closest_marker("nightly"):
        return request.getfixturevalue("image"), {}
    return Path(sys.executable).parent, {"PYTHONPATH": str(plugins / "gce")}


@pytest.fixture
def cloud(tmp_path: Path, machine: tuple[Path, dict[str, str]], plugins: Path) -> Iterator[Cloud]:
    from gcp_storage_emulator.server import create_server

    project = copy_project(tmp_path / "project")
    # Git does not know it, and the machines get it all the same.
    (project.path / "config" / "hardware.local.yaml").write_text(MACHINES)
    (project.path / "config" / "studies" / "small.yaml").write_text(STUDY)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all"],
    ):
        subprocess.run(["git", *command], cwd=project.path, check=True)
    bucket = create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    bucket.start()
    storage = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{bucket._api._httpd.server_port}"}
    programs, variables = machine
    with Emulator(tmp_path / "vms", {IMAGE: programs}, storage | variables) as emulator:
        settings = {
            "EPOCHS_BUCKET": "bucket/epochs",
            "SNAKEMAKE_GCEBATCH_PROJECT": "our-project",
            "SNAKEMAKE_GCEBATCH_REGION": "us-central1",
            "SNAKEMAKE_GCEBATCH_CONTAINER": IMAGE,
            "PYTHONPATH": str(plugins / "gce"),
        }
        yield Cloud(project, emulator, storage | emulator.environment | settings)
    bucket.stop()


@pytest.fixture
def pods(cloud: Cloud, plugins: Path, tmp_path: Path) -> Iterator[Pods]:
    kubernetes.set_up(cloud.project.path)
    with kubernetes.Kubernetes() as api:
        api.write_login(tmp_path / "kubeconfig")
        path = f"{cloud.variables['PYTHONPATH']}:{plugins / 'k8s'}"
        variables = cloud.variables | {"KUBECONFIG": str(tmp_path / "kubeconfig"), "PYTHONPATH": path}
        yield Pods(cloud.project, api, variables, cloud.emulator)


@pytest.fixture(scope="module")
def service() -> Iterator[slurm.Slurm]:
    # One Slurm at a time: it has the ports. It is not below pytest's folder, into which munged's user may not look.
    with FileLock(Path(gettempdir()) / "epochs-slurm.lock"), TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)
        with slurm.running(Path(folder)) as started:
            yield started


@pytest.fixture
def cluster(service: slurm.Slurm, plugins: Path, tmp_path: Path) -> Cluster:
    project = copy_project(tmp_path / "project")
    (project.path / "config" / "hardware.local.yaml").write_text(slurm.MACHINES)
    made = Cluster(project, service, plugins)
    made.write()
    return made
