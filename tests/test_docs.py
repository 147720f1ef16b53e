"""What the documents say can be typed, and what they list is there."""

import re
import shlex
import subprocess
from pathlib import Path
from statistics import median

import pytest
import yaml

from scripts import frameworks, importers
from scripts.costs import book, books
from scripts.costs.terms import read_terms
from scripts.document import measured
from scripts.document.__main__ import pages
from scripts.records import about
from scripts.records.reference import Reference
from scripts.storage import schemas
from scripts.studies import definition
from tests.conftest import ROOT, Project
from tests.workflow.timers.test_cron import STAND_IN

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


#: What tests/clusters runs on what stands for the cluster, and tests/kit when records were taken in.
ELSEWHERE = ("gce-cpu", "gce-gpu", "slurm", "report card")

#: What a command says of a clone in which nothing was made yet; of the others a dry run lists trainings.
SAID = {
    "snakemake published": "publish under reports/published",
    "./epd quote full": "quote (on-demand)",
    "./epd quote local": "quote (on-demand)",
    "./epd summary": "the study in ten lines of Markdown",
    "./epd import -- -n": "import the logs of gpus-2017",
    "./epd import /path/to/logs --machine h100 --price 2.49": "run.csv",
    './epd estimate --model "Llama 3 8B" --tokens 2e9': "tokens/s a card",
    "./epd prices refresh": "refresh config/prices/current.csv",
    "./epd prices show cpu1 gce-t4x1": "gce-t4x1",
    "./epd prices card H100": "H100 SXM",
    "./epd prices card H100 --offers": "H100 SXM",
    "./epd status": "24 runs of 24 configurations: 24 missing",
    "./epd stop": "study local: no job runs or waits on this machine",
    "./epd compare two-cores@cpu1 two-cores@cpu2": "two-cores@cpu2 against two-cores@cpu1: ",
    "./epd compare local@2026-11-23T021015Z local": "history/local/2026-11-23T021015Z: no such folder",
    "./epd history": "study local: has no history",
    "./epd kit take card-records.zip": "card-records.zip",
    "./epd schedule add --every 1d --by cron": "cron: 0 0 * * * cd ",
    "./epd schedule add --every 6h --by systemd": "(0/6:00)",
    "./epd schedule add --every 1w --by github": "github: ",
    "./epd schedule add --prices --every 1w --by cron": "cron: 0 0 * * 0 cd ",
    "./epd schedule list": "nothing is scheduled here",
    "./epd schedule remove": "local: is not scheduled",
    "./epd schedule remove --prices": "_prices: is not scheduled",
}

#: Those that find something to say no to: two cores are dearer, and what was made elsewhere is not here.
NOT_WELL = {
    "./epd compare two-cores@cpu1 two-cores@cpu2": 1,
    "./epd compare local@2026-11-23T021015Z local": 2,
    "./epd history": 2,
    "./epd kit take card-records.zip": 2,
}

#: Sub-commands of `epd` that call Snakemake, and are given a dry run.
DRY = ("report", "summary", "import", "prices refresh", "kit pack")


def commands() -> list[str]:
    """Return every line of the ```console blocks."""
    blocks = [block for page in PAGES for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)]
    lines = {line for block in blocks for line in block.splitlines() if line}
    return sorted(line for line in lines if not line.endswith(ELSEWHERE) and "envs/images.sh" not in line)


def test_there_are_commands() -> None:
    assert {"make report", "make test", "snakemake -n", "./epd report", "python scripts/train.py --help"} <= set(
        commands()
    )
    assert set(SAID) <= set(commands())


@pytest.fixture
def reader(fresh: Project, tmp_path: Path) -> Project:
    """A clone with a folder of the reader's own, and what stands for crontab and systemctl."""
    (fresh.path / "data-here").mkdir()
    (fresh.path / "logs-here").mkdir()
    (fresh.path / "logs-here" / "run.csv").write_text("epoch,elapsed,loss\n0,60.5,0.7\n1,59.5,0.5\n")
    stand_ins = {"crontab": STAND_IN.format(table=tmp_path / "table"), "systemctl": "#!/bin/sh\n"}
    (tmp_path / "bin").mkdir()
    for name, text in stand_ins.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return fresh


def dry(command: str) -> list[str]:
    """Return the words of a command that trains nothing for long, and writes nothing of its own."""
    words = shlex.split(command)
    if words[:2] == ["python", "-m"]:
        return [*words, "--help"] if words[2].startswith("tests.") else words  # benches take hours
    if words[0] in ("make", "snakemake"):
        return [words[0], "-n", *words[1:]]
    if words[0] == "./epd":
        words += ["--config", "data=synthetic"] * (words[-1] == "full")
        is_long = command.removeprefix("./epd ").startswith(DRY) and "logs-here" not in words
        return words + ["--", "-n"] * (is_long and "--" not in words)
    return words if "--help" in words else [*words, "--data", "synthetic", "--samples", "0.02", "--epochs", "1"]


@pytest.mark.represented_by(
    "make report",
    "make test",
    "snakemake published",
    "./epd compare two-cores@cpu1 two-cores@cpu2",
    "./epd report-",
    "python scripts/train.py --help",
)
@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_command_of_the_documents(reader: Project, tmp_path: Path, command: str) -> None:
    if command.startswith("python scripts/train.py --workload"):
        reader.edit("config/hardware.yaml", "machine: {cores: 2}", "machine: {cores: 1}")
    if command.endswith("github"):  # it clones what git knows
        reader.run("git", "init", "-q")
        reader.run("git", "add", "config")
    path = f"{tmp_path / 'bin'}:{reader.environment()['PATH']}"
    here = re.sub(r"/path/to/(data|logs)\b", r"\1-here", command)
    variables, words = re.fullmatch(r"((?:[A-Z_]+=\S+ )*)(.*)", here).groups()
    more = dict(word.split("=", 1) for word in variables.split())
    done = reader.run(*dry(words), check=False, cores=2, PATH=path, HOME=str(tmp_path), **more)
    said = done.stdout + done.stderr
    assert done.returncode == NOT_WELL.get(command, 0), said[-3000:]
    if command.startswith(("snakemake", "./epd")):
        assert SAID.get(command, "train") in said


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def documented(page: str, key: str) -> dict:
    """Return the YAML block of a page of docs/ that begins with `key`."""
    block = re.search(rf"```yaml\n({key}:.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert block, f"docs/{page}: {key}"
    return yaml.load(block[1], schemas._UniqueKeyLoader)


def test_the_documented_machine_is_valid() -> None:
    schemas.validate(documented("adding.md", "workstation"), "hardware", "docs/adding.md")


def test_the_documented_own_machines_are_valid_over_the_catalogue(tmp_path: Path) -> None:
    (tmp_path / "hardware.yaml").write_text((ROOT / "config" / "hardware.yaml").read_text())
    block = re.search(r"```yaml\n(slurm-gpu:.*?)```", (ROOT / "docs/clusters.md").read_text(), re.DOTALL)[1]
    schemas.own(tmp_path / "hardware.yaml").write_text(block)
    catalogue = schemas.read_yaml(tmp_path / "hardware.yaml", "hardware")
    assert catalogue["slurm-gpu"]["clusters"]["slurm"]["gpu_model"] == "a100"
    assert catalogue["slurm-gpu"]["own"]["power_watts"] == 600


def test_the_documented_study_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setenv("EPOCHS_TRUST", "all")
    whole = documented("adding.md", "title") | documented("adding.md", "tables")
    (tmp_path / "my_net.py").touch()
    whole["workloads"] = [str(tmp_path / Path(file).name) for file in whole["workloads"]]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(whole))
    name, study = definition.read(str(tmp_path / "mine.yaml"), {})
    assert (name, definition.is_grid(study), definition.is_trained_here(study)) == ("mine", True, False)
    assert definition.is_trained_here(definition.read(str(tmp_path / "mine.yaml"), {"tables": None})[1])


def test_the_documented_rent_is_in_the_books() -> None:
    rent = documented("pricing.md", "rent")["rent"]
    machine = {"label": "a T4", "machine": {"cores": 4}, "rent": rent}
    schemas.validate({"t4": machine}, "hardware", "docs/pricing.md")
    rows = book.read([books.path(name) for name in ("current", "listed")])
    assert book.rent(rows, read_terms(), **rent, purchase="on-demand")


def test_the_documented_study_of_logs_is_one(tmp_path: Path) -> None:
    whole = documented("importing.md", "title") | documented("importing.md", "claims")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(whole))
    name, study = definition.read(str(tmp_path / "mine.yaml"), {})
    assert (name, definition.is_grid(study), study["import"]["folder"]) == ("mine", False, "/data/logs")
    assert set(study["import"]["hardware"].values()) == set(study["machines"])


def test_the_documented_prices_are_those_of_a_study(tmp_path: Path) -> None:
    study = documented("importing.md", "title") | documented("pricing.md", "book")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    assert definition.read(str(tmp_path / "mine.yaml"), {})[1]["price"] == "spot"


def test_every_importer_and_column_of_a_price_book_is_documented() -> None:
    importing, pricing = ((ROOT / "docs" / page).read_text() for page in ("importing.md", "pricing.md"))
    formats = re.findall(r"^\| `(\w+)` \| ", importing, re.MULTILINE)
    assert {"keras_csv", "rare_json", "tf_cnn", "mllog", "throughput_table"} <= set(formats) <= set(importers.names())
    columns = pricing.split("| column | meaning |")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`(?=[^|]*\|[^|]*\|$)", columns, re.MULTILINE) == list(book.COLUMNS)


def test_every_price_book_is_documented() -> None:
    text = (ROOT / "docs/pricing.md").read_text()
    for path in books.FOLDER.glob("*.csv"):
        assert f"`{path.stem}`" in text or f"`{path.name}`" in text, path.name


@pytest.mark.slow
def test_made_pages_are_up_to_date() -> None:
    for path, text in pages().items():
        assert path.read_text() == text, "run: make docs"


def published_epoch_by_epoch(reference: Reference | None) -> bool:
    """Return whether a training of full size can be set beside a log, epoch by epoch."""
    return reference is not None and reference.first_epoch == 1


def test_every_workload_reaches_the_published_accuracy_on_every_framework() -> None:
    """Within 2 points (accuracy) or 0.05 (loss) of the log, the median of a cell's runs counting."""
    rows = measured.accuracy_rows(ROOT / "reports" / "accuracy")
    cells: dict[tuple[str, str], list[dict]] = {}
    for row in filter(lambda row: row["judged"], rows):
        cells.setdefault((row["workload"], row["framework"]), []).append(row)
    logged = {name for name in about.workloads() if published_epoch_by_epoch(about.workload(name).reference)}
    trained, on = {workload for workload, _ in cells}, {framework for _, framework in cells}
    assert len(trained) >= 6, "the classics at least; one that is new may not have been trained to its end yet"
    assert trained <= logged
    assert {"jax", "tensorflow", "torch"} <= on <= set(frameworks.names())
    assert set(cells) == {(name, framework) for name in trained for framework in on}
    for cell, runs in cells.items():
        limit = {"val_acc": 0.02, "acc": 0.02, "loss": 0.05}[runs[0]["metric"]]
        assert abs(median(run["here"] for run in runs) - runs[0]["published"]) <= limit, cell


def test_locks_name_no_host_and_hash_everything() -> None:
    for lock in (ROOT / "envs").glob("*.lock"):
        text = lock.read_text()
        assert "://" not in text
        pins = re.findall(r"^[a-z0-9][\w.-]*==.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
        assert pins
        assert all("--hash=sha256:" in pin for pin in pins), lock.name


def test_locks_agree_on_versions() -> None:
    versions: dict[tuple[str, str], set[str]] = {}
    for lock in (ROOT / "envs").glob("*.lock"):
        for name, version, marker in re.findall(
            r"^([\w.-]+)==([^\s;+]+)(?:\+cpu)?(?: ; ([^\\]+))?", lock.read_text(), re.MULTILINE
        ):
            python = marker.strip() if "python_full_version" in marker else ""
            versions.setdefault((name, python), set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", ["workflow", "tensorflow", "jax", "torch"])
def test_conda_environments_are_those_of_the_locks(name: str) -> None:
    pip = yaml.safe_load((ROOT / f"envs/{name}.yaml").read_text())["dependencies"][-1]["pip"]
    wanted = {
        line.split("#")[0].strip()
        for file in (f"{name}.in", "train.in")
        for line in (ROOT / "envs" / file).read_text().splitlines()
    }
    asked = {line for line in wanted if line and not line.startswith("-r")}
    if name == "torch":
        asked = {line for line in asked if line in (ROOT / "envs/train.in").read_text()} | {"torch==2.13.0"}
    assert set(pip) == asked


def test_tracked_files_are_small() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    sizes = {name: (ROOT / name).stat().st_size for name in tracked.split("\0") if name and (ROOT / name).is_file()}
    assert {name: size for name, size in sizes.items() if size > 2**21} == {}


def test_ci_runs_the_readme_test_command() -> None:
    assert "make test" in commands()
    assert "make test" in Path(ROOT / ".ci/run").read_text()
