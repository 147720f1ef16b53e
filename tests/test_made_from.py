"""What a job reads is among the inputs of its rule: an edit of any of it makes again what was made from it."""

import csv
import io
from pathlib import Path

import pytest

from tests.conftest import Project

#: Python runs it as each process starts: a line for every file of the project that is opened to be read.
TRACER = """
import os, sys
ROOT, OPENED = os.environ["TRACED"], os.environ["TRACED"] + ".opened"
def opened(event, arguments):
    is_path = event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)) and isinstance(arguments[2], int)
    if is_path and "-m" in sys.orig_argv and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(ROOT + "/") and os.path.isfile(path):
            line = "\\t".join([path[len(ROOT) + 1:], *(word for word in sys.orig_argv if word.startswith("results/"))])
            log_file = os.open(OPENED, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(log_file, line.encode() + b"\\n")
            os.close(log_file)
sys.addaudithook(opened)
"""

#: What is kept between calls, and what a job reads again of its own.
KEPT = (".cache/", ".snakemake/", ".git/", "results/logs/")


@pytest.mark.slow
@pytest.mark.represented_by("gpu-providers-2018")
@pytest.mark.parametrize(
    "study",
    [
        "gpu-providers-2018",
        "cloud-or-office-2018",
        "scheduled-2018",
        "mlperf",
        "language-models",
        "speedruns",
        "fine-tuning-a10g",
        "two-cores",
    ],
)
def test_whatever_a_job_opens_is_its_input(fresh: Project, tmp_path: Path, study: str) -> None:
    (tmp_path / "tracer").mkdir()
    (tmp_path / "tracer" / "sitecustomize.py").write_text(TRACER)
    root = fresh.path.resolve()
    wanted = f"results/{study}/report.html"
    command = ("snakemake", "--cores", "all", wanted, "--config", f"study={study}")
    fresh.run(*command, TRACED=str(root), PYTHONPATH=str(tmp_path / "tracer"))
    listed = fresh.run(*command, "--detailed-summary").stdout
    inputs: dict[str, set[str]] = {}
    for row in csv.DictReader(io.StringIO(listed[listed.index("output_file\t") :]), delimiter="\t"):
        inputs[row["output_file"]] = set(row["input-file(s)"].split(","))
    unknown, traced = set(), set()
    for line in Path(f"{root}.opened").read_text().splitlines():
        file, *words = line.split("\t")
        made = [word for word in words if word in inputs]
        if not made or file.endswith((".py", ".pyc")) or file.startswith(KEPT):
            continue  # whose code belongs to a command is another test's
        traced |= set(made)
        known = set().union(*(inputs[one] for one in made), made)
        if not any(file == each or file.startswith(f"{each}/") for each in known):
            unknown.add((made[-1], file))
    assert wanted in traced
    assert len(traced) > 5
    assert unknown == set()
