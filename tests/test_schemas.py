from pathlib import Path

import pytest

from scripts import schemas
from scripts.errors import InputError

STUDY = """
title: A study
workloads: [mnist_mlp]
hardware: [cpu1]
frameworks: [jax]
base: {hardware: cpu1, framework: jax}
"""

MACHINE = """
cpu1:
  label: 1 vCPU
  machine: {cores: 1}
  prices:
    on-demand: {usd_per_hour: 0.0475, as_of: 2026-06-23, source: a list}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "given.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_dates_stay_text(tmp_path: Path) -> None:
    catalogue = schemas.read_yaml(written(tmp_path, MACHINE), "hardware")
    assert catalogue["cpu1"]["prices"]["on-demand"]["as_of"] == "2026-06-23"


def test_anchors_and_merged_keys_are_allowed(tmp_path: Path) -> None:
    text = MACHINE.replace("cpu1:", "cpu1: &one") + "cpu2:\n  <<: *one\n  label: 2 vCPUs\n"
    catalogue = schemas.read_yaml(written(tmp_path, text), "hardware")
    assert catalogue["cpu2"]["label"] == "2 vCPUs"
    assert catalogue["cpu2"]["prices"] == catalogue["cpu1"]["prices"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STUDY + "title: Another\n", "'title' stands twice"),
        (STUDY.replace("{hardware: cpu1,", "{hardware: cpu1, hardware: cpu2,"), "'hardware' stands twice"),
        ("title: [unclosed", "not YAML: .*line 1"),
        (STUDY.replace("title: A study", ""), "'title' is a required property"),
        (STUDY + "repeat: 3\n", "'repeat' was unexpected"),
        (STUDY + "repeats: 0\n", "repeats: 0 is less than the minimum of 1"),
        (STUDY + "repeats: 1.5\n", "repeats: 1.5 is not of type 'integer'"),
        (STUDY + "scale: {samples: 2}\n", "scale.samples: 2 is greater than the maximum of 1"),
        (STUDY + "scale: {samples: 0}\n", "scale.samples: 0 is less than or equal to"),
        (STUDY + "batch_sizes: [-1]\n", r"batch_sizes\[0\]: -1 is less than"),
        (STUDY + "data: fake\n", "data: 'fake' is not one of .*'real', 'synthetic'"),
        (STUDY.replace("[jax]", "[]"), "frameworks: .*non-empty"),
        (STUDY + "exclude: [{gpu: k80}]\n", r"exclude\[0\]: .*'gpu' was unexpected"),
        ("", "is not of type 'object'"),
    ],
)
def test_bad_study_is_named_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        schemas.read_yaml(path, "study")
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("usd_per_hour: 0.0475", "usd_per_hour: cheap", "on-demand.*usd_per_hour: 'cheap' is not of type 'number'"),
        ("usd_per_hour: 0.0475", "usd_per_hour: -1", "on-demand.*usd_per_hour: -1 is less than"),
        ("as_of: 2026-06-23, ", "", "on-demand.*'as_of' is a required property"),
        ("as_of: 2026-06-23", "as_of: last week", "on-demand.*as_of: 'last week'"),
        ("cores: 1", "cores: many", "cpu1.machine.cores: 'many' is not of type 'integer'"),
        ("cpu1:", "../cpu1:", "'../cpu1' does not match"),
    ],
)
def test_bad_machine_is_named_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        schemas.read_yaml(written(tmp_path, MACHINE.replace(old, new)), "hardware")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: No such file"):
        schemas.read_yaml(tmp_path / "none.yaml", "study")


def test_file_in_another_encoding_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(STUDY.replace("A study", "Année").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml"):
        schemas.read_yaml(path, "study")
