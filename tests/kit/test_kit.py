"""A kit on a machine without network: packed, carried, cut at any moment, and taken in."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import pynvml
import pytest

from scripts.kit import records
from tests.conftest import CORES, LIMIT_SECONDS, ROOT, Project, copy_of, copy_project, made_once, wait_for
from tests.test_workflow import OWN_NET

pytestmark = pytest.mark.slow

#: Two cells that take seconds, of which the tuned one shows more; the other fails.
STUDY = """
title: Borrowed
data: synthetic
workloads: [mnist_mlp]
hardware: [h100]
frameworks: [jax]
modes: [tuned, sparse]
tiers: [[{mode: tuned}]]
repeats: 2
scale: {samples: 0.02, epochs: 2}
base: {hardware: h100, framework: jax, mode: tuned}
charts: [relative_time]
"""
RUNS = 4
PYTHON = f"3.{sys.version_info.minor}"
#: The entry that a kit finds on a machine of this name does not depend on the machine that tests.
LABEL = f"{len(CORES)} cores"
MACHINE = LABEL.replace(" ", "-")


@dataclass(frozen=True)
class Carried:
    """An unpacked kit in an empty folder, and how its commands are run."""

    folder: Path
    prefix: tuple[str, ...] = ()

    @property
    def records(self) -> Path:
        return self.folder / "borrowed-records.zip"

    def start(self, *arguments: str, minutes: float = 10) -> subprocess.Popen:
        return subprocess.Popen(
            [*self.prefix, "bash", "kit/run.sh", "--minutes", str(minutes), *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "PYTHON": sys.executable, "HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, CORES),
        )

    def run(self, *arguments: str, minutes: float = 10) -> tuple[int, str]:
        """Return exit code and output of a call."""
        process = self.start(*arguments, minutes=minutes)
        said, _ = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, said


def without_network() -> tuple[str, ...]:
    """Return what runs a command without a network, nothing where this system allows no such thing."""
    for prefix in (("unshare", "-n"), ("unshare", "-rn")):
        if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    return ()


@pytest.fixture(scope="session")
def packed() -> Project:
    """The project with the kit of the study, not to be changed."""

    def make(folder: Path) -> None:
        project = copy_project(folder)
        (folder / "config" / "studies" / "borrowed.yaml").write_text(STUDY)
        project.run("snakemake", "kit", "--config", "study=borrowed", f'kit_python="{PYTHON}"')

    return Project(made_once("packed", make))


@pytest.fixture
def carried(packed: Project, tmp_path: Path) -> Carried:
    folder = tmp_path / "carried"
    unpack(packed, folder)
    return Carried(folder, without_network())


def unpack(packed: Project, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with tarfile.open(packed.path / "results/kit/borrowed-kit.tar") as archive:
        archive.extractall(folder, filter="data")


def runs_in(archive: Path) -> dict[str, dict]:
    """Return the records of an archive by the path of their run."""
    runs, _ = records.read(archive)
    return {path: json.loads(files["run.json"]) for path, files in runs.items() if "run.json" in files}


def test_kit_says_what_is_inside_and_what_it_needs(carried: Carried) -> None:
    text = (carried.folder / "kit" / "README.txt").read_text()
    for part in (
        "study borrowed, 2 configurations, 4 runs",
        f"Python {PYTHON} with NumPy",
        "jax",
        "keras",
        "No network",
    ):
        assert part in text
    names = {path.name for path in (carried.folder / "kit" / "wheels").iterdir()}
    assert not {name for name in names if name.startswith(("numpy", "jax", "torch", "tensorflow"))}


def test_a_net_of_ones_own_is_trained_with_what_it_imports(packed: Project, tmp_path: Path) -> None:
    project = Project(copy_of(packed.path, tmp_path / "project"))
    (tmp_path / "nets").mkdir()
    beside = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport own_size\nimport numpy"
    own = OWN_NET.replace("import numpy", beside, 1).replace("320", "own_size.NUMBERS")
    (tmp_path / "nets" / "my_net.py").write_text(own)
    (tmp_path / "nets" / "own_size.py").write_text("NUMBERS = 320\n")
    kept = ("title", "hardware", "frameworks", "base", "charts")
    lines = [line.replace(", mode: tuned", "") for line in STUDY.splitlines() if line.startswith(kept)]
    study = "\n".join([*lines, f"workloads: [{tmp_path}/nets/my_net.py]", ""])
    (tmp_path / "own.yaml").write_text(study)
    settings = (f"study={tmp_path}/own.yaml", "trust=all", f'kit_python="{PYTHON}"')
    project.run("snakemake", "kit", "--config", *settings)
    (tmp_path / "there").mkdir()
    with tarfile.open(project.path / "results/kit/own-kit.tar") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    code, said = Carried(tmp_path / "there", without_network()).run("--cpu", "--study", "own")
    assert code == 0, said
    (run,) = runs_in(tmp_path / "there" / "own-records.zip").values()
    assert (run["status"], run["train_samples"]) == ("done", 320), said


def test_without_a_card_nothing_is_trained_unless_asked(carried: Carried) -> None:
    try:
        pynvml.nvmlInit()
        pytest.skip("this machine has an NVIDIA card")
    except pynvml.NVMLError:
        pass
    code, said = carried.run()
    assert code == 2
    assert said.splitlines()[-1] == "error: card: no NVIDIA driver answers; --cpu measures the processor instead"
    assert not carried.records.exists()


@pytest.mark.represented_by("arguments0")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--study", "other"], "invalid choice: 'other'"), (["--minutes", "0"], "0 is not a number above 0"),
     (["--minutes", "soon"], "soon is not a number above 0"), (["--records", "/proc/none.zip"], "cannot be written"),
     (["--records", "nowhere/x.zip"], "nowhere: no such folder")],
)  # fmt: skip
def test_what_is_typed_wrongly_is_a_line(carried: Carried, arguments: list[str], says: str) -> None:
    code, said = carried.run("--cpu", *arguments)
    assert code == 2
    assert says in said.splitlines()[-1]
    assert "Traceback" not in said


@pytest.mark.nightly
def test_the_order_is_that_of_value_and_what_cannot_end_in_time_is_not_started(carried: Carried) -> None:
    code, said = carried.run("--cpu", minutes=0.9)
    assert code == 0
    assert "the time is over: " in said
    assert not runs_in(carried.records), "a run of which nothing is known is given a minute"
    code, said = carried.run("--cpu")
    assert code == 0
    trained = [line.split(": ")[1].split(", ", 2)[2] for line in said.splitlines() if " min left: " in line]
    assert trained[:2] == ["b128-tuned, run 1", "b128-tuned, run 2"], "the first tier, then the others"
    assert len(trained) == RUNS


def killed(process: subprocess.Popen, number: signal.Signals = signal.SIGKILL) -> None:
    """End a call with all that it started."""
    os.killpg(process.pid, number)
    process.communicate(timeout=LIMIT_SECONDS)


def test_a_kit_that_is_killed_on_a_machine_that_is_wiped_goes_on(
    packed: Project, carried: Carried, tmp_path: Path
) -> None:
    process = carried.start("--cpu")
    wait_for(lambda: carried.records.exists() and runs_in(carried.records), process)
    killed(process)
    had = runs_in(carried.records)
    shutil.rmtree(carried.folder / "kit")
    unpack(packed, carried.folder)
    assert carried.run("--cpu")[0] == 0
    assert had.items() <= runs_in(carried.records).items()
    is_whole(carried)
    takes_in(packed, carried, tmp_path)


@pytest.mark.nightly
def test_a_kit_that_is_killed_at_any_moment_loses_at_most_one_run(packed: Project, carried: Carried) -> None:
    chance, had = random.Random(7), 0
    for kill in range(4):
        process = carried.start("--cpu")
        time.sleep(chance.uniform(0.5, 16))
        number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        killed(process, number)
        there = len(runs_in(carried.records)) if carried.records.exists() else 0
        assert there >= had, f"kill {kill} by {number} lost records"
        had = there
        if kill % 2:  # the machine is wiped, and the last file is carried in again
            shutil.rmtree(carried.folder / "kit")
            unpack(packed, carried.folder)
    code, said = carried.run("--cpu")
    assert code == 0
    assert "nothing is left to train" in said
    is_whole(carried)


def is_whole(carried: Carried) -> None:
    """Every run of the study came back once, those that fail too."""
    found = runs_in(carried.records)
    assert len(found) == RUNS
    assert len({run["seed"] for run in found.values()}) == RUNS
    assert {run["cell"]["mode"]: run["status"] for run in found.values()} == {
        "tuned": "done",
        "sparse": "failed",
    }
    leftovers = [path.name for path in carried.folder.rglob("*") if path.name.startswith(".borrowed")]
    assert leftovers == []


def takes_in(packed: Project, carried: Carried, folder: Path) -> None:
    """What came back is taken in once, shown, and trained by nobody."""
    home = Project(copy_of(packed.path, folder / "home"))
    take = ("./epd", "kit", "take", str(carried.records))
    printed = home.run(*take).stdout
    assert f"{RUNS} runs taken into results/borrowed" in printed
    assert f"study borrowed: hardware: add {MACHINE}" in printed
    assert f"{RUNS} were there already" in home.run(*take).stdout
    proposed = printed.split("proposed, to be given a `rent` or `own`:")[1].split("study borrowed:")[0]
    home.edit("config/hardware.yaml", "h100:\n", f"{proposed.strip()}\nh100:\n")
    home.edit("config/studies/borrowed.yaml", "hardware: [h100]", f"hardware: [{MACHINE}]")
    home.edit("config/studies/borrowed.yaml", "{hardware: h100,", f"{{hardware: {MACHINE},")
    done = home.snakemake(study="borrowed")
    assert "collect the runs" in done
    assert not [job for job in done if job.startswith("train ")]
    page = (home.path / "results/borrowed/report.html").read_text()
    assert "Borrowed" in page
    record = next((home.path / "results/borrowed").rglob("r1/run.json"))
    record.write_text(record.read_text().replace('"repeat": 1', '"repeat": 1 '))
    again = home.run(*take, check=False)
    assert again.returncode != 0
    assert "is the record of another run: nothing was taken" in again.stdout + again.stderr


@pytest.mark.nightly  # it lasts as long as the time that it is given
def test_a_run_whose_time_is_over_keeps_its_epochs_and_is_given_more_the_next_time(carried: Carried) -> None:
    """The first guess is wrong here: nothing is expected to last, and nothing ends."""
    queue, about = carried.folder / "kit" / "scripts" / "kit" / "queue.py", carried.folder / "kit" / "kit.json"
    queue.write_text(queue.read_text().replace("UNKNOWN_SECONDS = 60.0", "UNKNOWN_SECONDS = 0.1"))
    about.write_text(about.read_text().replace('"epochs": 2', '"epochs": 1000000'))
    code, said = carried.run("--cpu", minutes=3)
    assert (code, said.count("timed out: took longer than")) == (0, 1)
    runs, _ = records.read(carried.records)
    (files,) = runs.values()
    assert len(files["epochs.csv"].splitlines()) > 2, "what a call of three minutes brings home"
    assert "the shortest run needs" in carried.run("--cpu", minutes=0.2)[1]


@pytest.mark.nightly
def test_records_of_another_size_are_refused_here_and_at_home(packed: Project, carried: Carried) -> None:
    about = carried.folder / "kit" / "kit.json"
    about.write_text(about.read_text().replace('"epochs": 2', '"epochs": 1'))
    process = carried.start("--cpu")
    wait_for(lambda: carried.records.exists() and runs_in(carried.records), process)
    killed(process, signal.SIGINT)
    had = len(runs_in(carried.records))
    unpack(packed, carried.folder)
    code, said = carried.run("--cpu")
    assert code == 2
    assert "epochs 1, not 2: the study has changed: name another (--records)" in said.splitlines()[-1]
    assert len(runs_in(carried.records)) == had
    taken = packed.run("./epd", "kit", "take", str(carried.records), check=False)
    assert taken.returncode != 0
    assert "epochs 1 is not that of the study, 2: it was trained at another size" in taken.stdout + taken.stderr
    assert not (packed.path / "results" / "borrowed").exists()


@pytest.mark.nightly
def test_what_failed_is_trained_again_when_asked(carried: Carried) -> None:
    """The failing runs are those of a mode that the model has no layer for."""
    carried.run("--cpu")
    before = runs_in(carried.records)
    failed = {path for path, run in before.items() if run["status"] != "done"}
    assert len(failed) == 2
    assert "nothing is left to train" in carried.run("--cpu")[1]
    code, _ = carried.run("--cpu", "--retry-failed")
    assert code == 0
    after = runs_in(carried.records)
    assert len(after) == RUNS
    assert {path for path, run in after.items() if run["provenance"] != before[path]["provenance"]} == failed


@pytest.mark.nightly
def test_two_at_once_are_refused(carried: Carried) -> None:
    first = carried.start("--cpu")
    try:
        assert any(" min left: " in line for line in first.stdout or ()), "it trains"
        code, said = carried.run("--cpu")
        assert (code, said.count("another call of this kit is training")) == (2, 1)
    finally:
        killed(first)


def test_a_framework_that_is_missing_is_a_line_and_none_is_the_end(carried: Carried) -> None:
    module = carried.folder / "kit" / "scripts" / "frameworks" / "jax" / "__init__.py"
    module.write_text(module.read_text().replace('("jax", "jaxlib")', '("jax-of-tomorrow",)'))
    code, said = carried.run("--cpu")
    assert code == 2
    assert "missing: jax: jax-of-tomorrow is not installed: its runs are left out" in said
    assert said.splitlines()[-1] == "error: none of jax can train here"


def test_a_disk_without_room_is_said_before_anything_is_trained(packed: Project, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=300m none {small} && cp -r {tmp_path}/carried/. {small} && cd {small}"
    prefix = next(
        (
            one
            for one in (["unshare", "-m"], ["unshare", "-rm"])
            if subprocess.run([*one, "mount", "-t", "tmpfs", "none", str(small)], capture_output=True).returncode == 0
        ),
        None,
    )
    if prefix is None:
        pytest.skip("this system lets nobody mount a small disk")
    unpack(packed, tmp_path / "carried")
    command = f"{mount} && PYTHON={sys.executable} bash kit/run.sh --cpu --minutes 5"
    done = subprocess.run([*prefix, "bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "MiB free at" in done.stderr.splitlines()[-1]


def other_pythons() -> list[str]:
    """Return Pythons of other versions than this one."""
    found = [*Path("/usr/bin").glob("python3.1?"), *(Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3")]
    by_version = {}
    for path in found:
        asked = [str(path), "-c", "import sys; print(*sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True)
        version = tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()
        if version >= (3, 11) and version != sys.version_info[:2]:
            by_version[version] = str(path)
    return list(by_version.values())


def test_another_python_is_asked_to_take_another_kit(carried: Carried) -> None:
    others = other_pythons()
    if not others:
        pytest.skip("this machine has one Python alone")
    for python in others:
        done = subprocess.run(
            [*carried.prefix, "bash", "kit/run.sh", "--minutes", "5", "--cpu"],
            cwd=carried.folder, env={"PATH": os.environ["PATH"], "PYTHON": python}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 2
        assert "make kit STUDY=borrowed KIT_PYTHON=" in done.stderr.splitlines()[-1]


def test_the_card_study_fits_into_a_kit() -> None:
    from scripts.storage import schemas
    from scripts.studies import definition, grid

    catalogue = schemas.read_yaml(ROOT / "config" / "hardware.yaml", "hardware")
    name, settings = definition.read("card", {})
    study = grid.expand(name, settings, catalogue, cores=2, kind=lambda dataset: "real")
    first = [cell for cell in study.cells if study.tier(cell) == 0]
    assert len(first) == 20
    assert [repeat for cell, repeat in study.runs()[:80]] == [n for n in (1, 2, 3, 4) for _ in range(20)]
    assert {cell.framework for cell in study.cells} == {"jax", "torch"}
