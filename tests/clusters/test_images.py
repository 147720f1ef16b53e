import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Project

#: Stands for Google's command: notes what it is asked, and prints a digest.
GCLOUD = """\
#!/bin/sh
echo "$@" >> "$0.asked"
case "$*" in *describe*) echo sha256:0123 ;; esac
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    gcloud = tmp_path / "gcloud"
    gcloud.write_text(GCLOUD)
    gcloud.chmod(0o755)
    return {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "EPOCHS_IMAGES": "region-docker.pkg.dev/project/epochs",
    }


def test_images_are_built_from_their_locks_and_their_digests_noted(
    fresh: Project, environment: dict[str, str], tmp_path: Path
) -> None:
    for name in ("jax-cpu", "tensorflow-cpu", "jax-cpu"):
        subprocess.run([fresh.path / "envs" / "images.sh", name], check=True, env=environment)
    image = "region-docker.pkg.dev/project/epochs/epochs-jax-cpu"
    asked = (tmp_path / "gcloud.asked").read_text().splitlines()
    assert f"_IMAGE={image},_LOCKS=workflow gce jax" in asked[0]
    noted = yaml.safe_load((fresh.path / "envs" / "images.yaml").read_text())
    assert noted == {
        "tensorflow-cpu": f"{image.replace('jax', 'tensorflow')}@sha256:0123",
        "jax-cpu": f"{image}@sha256:0123",
    }


@pytest.mark.slow
def test_repository_that_is_not_given_is_asked_for(fresh: Project, environment: dict[str, str]) -> None:
    del environment["EPOCHS_IMAGES"]
    done = subprocess.run([fresh.path / "envs" / "images.sh"], env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert "EPOCHS_IMAGES: is not set" in done.stderr


def test_every_lock_of_the_recipe_is_there() -> None:
    frameworks = ("tensorflow", "jax", "torch")
    for name in ("workflow", "gce", *frameworks, *(f"{framework}-gpu" for framework in frameworks)):
        assert (ROOT / "envs" / f"{name}.lock").is_file()


@pytest.mark.parametrize("recipe", ["Dockerfile", "epochs.def"])
def test_image_has_a_compiler(recipe: str) -> None:
    """Without one `tuned` on PyTorch is a cell of its own, not compiled."""
    assert re.search(r"apt-get install [^&]*\bg\+\+", (ROOT / "envs" / recipe).read_text())
