"""A workflow of a few jobs, an emulated Google Batch and an emulated bucket, each test with its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from emulator import Emulator
from gcp_storage_emulator.server import create_server

#: Ends what hangs (s); no test passes or fails by it.
LIMIT_SECONDS = 1800

#: What stands for the image: this environment's own programs. The project's tests make one from the image's lock.
BIN = Path(sys.executable).parent

SNAKEFILE = """
rule all:
    input:
        "joined.txt",
    localrule: True
    shell:
        "cat {input}"


rule make:
    output:
        "{name}.txt",
    resources:
        machine_type="n1-standard-4",
        gpu=lambda wildcards: 1 if wildcards.name == "b" else 0,
        gpu_model="nvidia-tesla-t4",
        runtime=10,
        labels="study=small",
    shell:
        "COMMAND"


rule join:
    localrule: True
    input:
        "a.txt",
        "b.txt",
    output:
        "joined.txt",
    shell:
        "cat {input} > {output}"
"""

PLAIN = (
    "pwd; ls -A; echo up $(cut -d' ' -f1 /proc/uptime); "
    "echo {wildcards.name} on ${{BATCH_TASK_RETRY_ATTEMPT}} > {output}"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nightly: takes long and guards little that no other test guards")


@dataclass
class Site:
    """A folder with the workflow, beside the services it is sent to."""

    folder: Path
    emulator: Emulator
    environment: dict[str, str]

    def write(self, command: str = PLAIN) -> None:
        """Let each job run a command, in which MAY_END is a file that is there when jobs are let end."""
        command = command.replace("MAY_END", str(self._may_end))
        (self.folder / "Snakefile").write_text(SNAKEFILE.replace("COMMAND", command))

    @property
    def _may_end(self) -> Path:
        return self.folder / "may_end"

    def let_jobs_end(self) -> None:
        self._may_end.touch()

    def start(self, *arguments: str) -> subprocess.Popen:
        options = {
            "--executor": "gcebatch",
            "--jobs": "4",
            "--cores": "2",
            "--seconds-between-status-checks": "1",
            "--gcebatch-project": "our-project",
            "--gcebatch-region": "us-central1",
            "--gcebatch-container": "image",
            "--storage-gcs-project": "our-project",
            "--default-storage-provider": "gcs",
            "--default-storage-prefix": "gs://bucket/small",
        }
        command = ["snakemake", *(word for option in options.items() for word in option), *arguments]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def object(self, name: str) -> str:
        """Return what the bucket holds under a name."""
        address = f"{self.environment['STORAGE_EMULATOR_HOST']}/download/storage/v1/b/bucket/o/small%2F{name}?alt=media"
        with urlopen(address) as answer:
            return answer.read().decode()

    def run(self, *arguments: str) -> tuple[int, str]:
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, said


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    bucket = create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    bucket.start()
    storage = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{bucket._api._httpd.server_port}"}
    image = storage | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    with Emulator(tmp_path / "vms", {"image": BIN}, image) as emulator:
        variables = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
        made = Site(tmp_path / "workflow", emulator, os.environ | variables | storage | emulator.environment)
        made.folder.mkdir()
        made.write()
        yield made
    bucket.stop()
