"""A small study and its plan."""

from pathlib import Path

import pytest
import yaml

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


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what makes a plan of a study's keys and the config's, in an empty folder with the project's config."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(ROOT / "config")

    def made(config: dict | None = None, **keys) -> Plan:
        (tmp_path / "small.yaml").write_text(yaml.safe_dump(STUDY | keys))
        return Plan.of(CONFIG | {"study": "small.yaml"} | (config or {}), lambda policy: lambda dataset: "synthetic")

    return made
