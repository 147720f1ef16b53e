"""How what the workflow does beside training grows with the study: dry run and quote, collecting, one new run.

Ratios within one run: the dry run beside a workflow of the same shape that does nothing and one of bare jobs, and every
size beside the one before. CPU seconds, as others may use the machine. Nothing passes or fails.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import process_time

import yaml
from rich.console import Console
from rich.progress import track

from scripts.records import record
from scripts.records.seen import Seen
from tests import made
from tests.conftest import copy_project

SIZES = (100, 1_000)
ROUNDS = 3

#: As many jobs of the same depth, with one file each, and nothing else to do.
BARE = """
rule all:
    input: "report"
rule train:
    output: "runs/{cell}/run.json"
    shell: "touch {output}"
rule collect:
    input: expand("runs/{cell}/run.json", cell=range(CELLS))
    output: "table"
    shell: "touch {output}"
rule report:
    input: "table"
    output: "report"
    shell: "touch {output}"
"""

#: As many jobs with as many files, wildcards, parameters and resources as ours, all of them constant.
SAME_SHAPE = r"""
PLACE = "{workload}/{hardware}/{framework}/{variant}/r{repeat}"
RUNS = [f"runs/many/mnist_mlp/cpu1/jax/b{cell}/r1" for cell in range(CELLS)]
rule all:
    input:
        "report",
        [f"{run}/run.json" for run in RUNS],
rule data:
    output: "data.npz"
    message: "data"
    shell: "touch {output}"
rule train:
    input:
        data=lambda wildcards: ancient("data.npz"),
        searched=lambda wildcards: [],
    output:
        run=f"runs/{{study}}/{PLACE}/run.json",
        epochs=f"runs/{{study}}/{PLACE}/epochs.csv",
        telemetry=f"runs/{{study}}/{PLACE}/telemetry.csv",
    log: f"runs/{{study}}/{PLACE}/train.log"
    wildcard_constraints:
        study="many", workload=r"\w+", hardware="cpu1", framework=r"\w+", variant=r"b\d+", repeat=r"\d+",
    priority: lambda wildcards: 1
    conda: "{framework}.yaml"
    threads: lambda wildcards: 1
    resources:
        runtime=1,
        container=lambda wildcards: "image",
        labels=lambda wildcards: "labels",
    params:
        arguments=lambda wildcards: ["a", "b"],
        files=lambda wildcards, input: ["--data", input.data],
        claims=lambda wildcards: "claims",
        code=lambda wildcards: "code",
        folder=subpath(output.run, parent=True),
        cell="{workload}/{hardware}/{framework}/{variant}",
    message:
        "train {wildcards.workload} on {wildcards.hardware} "
        "with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
    shell:
        "train {params.arguments:q} {params.files:q} {params.claims:q} {params.code:q} "
        "{params.folder:q} {params.cell:q} |& tee {log}"
rule collect:
    input:
        runs=[f"{run}/run.json" for run in RUNS],
        epochs=[f"{run}/epochs.csv" for run in RUNS],
    output: "table"
    shell: "touch {output}"
rule report:
    input: "table"
    output: "report"
    shell: "touch {output}"
"""


#: Both of a cluster, and with a price.
TWO_MACHINES = """
cheap:
  label: cheap
  machine: {cores: 1}
  clusters: {site: {mem_mb: 1000}}
  rent: {provider: gce, region: us-central1, items: {n1-standard-1: 1}}
dear:
  label: dear
  machine: {cores: 1}
  clusters: {site: {mem_mb: 1000}}
  rent: {provider: gce, region: us-central1, items: {n1-standard-8: 1}}
"""


def study(cells: int) -> str:
    """Return a study of so many cells: batch sizes of one net."""
    return yaml.safe_dump(
        {
            "title": "Many cells",
            "data": "synthetic",
            "workloads": ["mnist_mlp"],
            "hardware": ["cpu1"],
            "frameworks": ["jax"],
            "batch_sizes": list(range(1, cells + 1)),
            "scale": {"epochs": 1},
            "base": {"hardware": "cpu1", "framework": "jax"},
            "charts": ["relative_time"],
        }
    )


def cpu_seconds(command: list[str], folder: Path) -> float:
    """Return the CPU seconds of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def records(folder: Path, count: int, hardware: str = "cpu1") -> list[Path]:
    """Write so many records, each of its cell, and return the paths."""
    run, rows = made.record(), made.epochs()
    for number in range(1, count + 1):
        cell = run["cell"] | {"batch_size": number, "hardware": hardware}
        started = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=number)
        origin = run["provenance"] | {"started_at": started.isoformat()}
        about = {"cell": cell, "batch_size": number, "provenance": origin}
        of_run = [row | {"warmup_samples": 0, "elapsed": row["elapsed"] + number * 1e-9} for row in rows]
        record.write(folder / f"mnist_mlp/{hardware}/jax/b{number}/r1", run | about, of_run, [])
    return sorted(folder.rglob("run.json"))


def growth(name: str, took: dict[int, float], **beside: dict[int, float]) -> None:
    """Print what each size took, over the size before and over what stands beside it."""
    columns = "".join(f" {f'x {other}':>12}" for other in beside)
    print(f"\n{name}\n{'cells':>8} {'CPU s':>9} {'ms each':>9} {'x last size':>12}{columns}")
    before = None
    for size, seconds in took.items():
        grown = f"{seconds / before:.1f}" if before else ""
        ratios = "".join(f" {seconds / other[size]:>12.1f}" for other in beside.values())
        print(f"{size:>8,} {seconds:>9.2f} {1000 * seconds / size:>9.2f} {grown:>12}{ratios}", flush=True)
        before = seconds


def dry_runs(sizes: Sequence[int], folder: Path, console: Console) -> None:
    """Print what dry runs with their quotes take, beside a workflow of the same shape and one of bare jobs."""
    floor = ["snakemake", "-n", "--quiet", "all"]
    commands = {"ours": ["snakemake", "--profile", "profiles/local", "-n", "--config", "study=many"]}
    commands |= {"shape": floor, "bare": floor}
    project = copy_project(folder / "ours").path
    took: dict[str, dict[int, float]] = {name: {} for name in commands}
    for size in sizes:
        (project / "config" / "studies" / "many.yaml").write_text(study(size))
        for name, rules in {"shape": SAME_SHAPE, "bare": BARE}.items():
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "Snakefile").write_text(f"CELLS = {size}\n{rules}")
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in track(range(ROUNDS), f"dry runs of {size:,} cells", console=console, transient=True):
            for name, command in commands.items():
                times[name].append(cpu_seconds(command, folder / name))
        for name in commands:
            took[name][size] = median(times[name])
    ours = took.pop("ours")
    growth("dry run with quote, beside a workflow of the same shape (goal 1.5 x) and bare jobs", ours, **took)


def first_runs(sizes: Sequence[int], folder: Path, console: Console) -> None:
    """Print what it takes to look at the first runs of as many configurations, all of them there, on two machines."""
    copy = copy_project(folder / "tried")
    # The cluster is this machine, whose executor wants to know its cores.
    copy.edit("rules/common.smk", "    internals.free_cores(workflow)\n", "    pass\n")
    project = copy.path
    with (project / "config" / "hardware.yaml").open("a") as catalogue:
        catalogue.write(TWO_MACHINES)
    took = {}
    for size in sizes:
        about = yaml.safe_load(study(size)) | {"hardware": ["cheap", "dear"]}
        about["base"]["hardware"] = "cheap"
        (project / "config" / "studies" / "many.yaml").write_text(yaml.safe_dump(about))
        with console.status(f"writing {2 * size:,} records"):
            for machine in ("cheap", "dear"):
                records(project / "results" / "many", size, machine)
        command = ["snakemake", "--cores", "1", "--quiet", "all", "--until", "try_cheapest"]
        command += ["--config", "study=many", "profile=site"]
        with console.status(f"first runs of {size:,} configurations"):
            took[size] = cpu_seconds(command, project)
        shutil.rmtree(project / "results")
    growth("first runs on the cheapest machine looked at", took)


def collecting(sizes: Sequence[int], folder: Path, console: Console) -> None:
    """Print what collecting takes: all records, and one that is new among them."""
    whole, one = {}, {}
    for size in sizes:
        place = folder / f"records-{size}"
        with console.status(f"writing {size:,} records"):
            files = records(place, size)
        times: list[float] = []

        def timed(work: Callable[[], object], times: list[float] = times) -> float:
            start = process_time()
            work()
            times.append(process_time() - start)
            return times[-1]

        def collect(place: Path = place, files: list[Path] = files) -> int:
            seen = Seen(place / "seen.json")
            made.collect(place, files, 1, seen)
            seen.save()
            return seen.read

        whole[size] = timed(collect)
        (place / "mnist_mlp/cpu1/jax/b7/r1/run.json").touch()
        one[size] = timed(collect)
        assert collect() == 0
        shutil.rmtree(place)
    growth("collect every record (goal .3 ms each)", whole)
    growth("collect with one new record among them", one)


#: What is measured, by name.
PARTS = {"collecting": collecting, "dry-runs": dry_runs, "first-runs": first_runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without any")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="cells; 10,000 take a quarter of an hour")
    options = parser.parse_args()
    console = Console(stderr=True)
    for part in options.parts or PARTS:
        if part not in PARTS:
            parser.error(f"{part}: is not one of {', '.join(PARTS)}")
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](options.sizes, Path(folder), console)


if __name__ == "__main__":
    main()
