from pathlib import Path

import pytest
import yaml

from scripts import grid, schemas
from scripts.errors import InputError
from tests.made import CATALOGUE

STUDY = {
    "title": "A study",
    "workloads": ["mnist_mlp", "imdb_fasttext"],
    "hardware": ["cpu1", "cpu4"],
    "frameworks": ["jax", "tensorflow"],
    "base": {"hardware": "cpu1", "framework": "jax"},
}


def read(folder: Path, replaced: dict | None = None, **keys) -> dict:
    """Return the config of STUDY with other `keys`, of which `replaced` come from the command line."""
    path = folder / "given.yaml"
    path.write_text(yaml.safe_dump(STUDY | keys))
    return grid.read(str(path), replaced or {})[1]


def expand(folder: Path, cores: int = 4, replaced: dict | None = None, **keys) -> grid.Study:
    return grid.expand("given", read(folder, replaced, **keys), CATALOGUE, cores, lambda dataset: "real")


def paths(study: grid.Study) -> list[str]:
    return [cell.path for cell in study.cells]


def test_grid_is_every_combination_at_the_published_size(tmp_path: Path) -> None:
    study = expand(tmp_path)
    assert paths(study) == [
        f"{workload}/{hardware}/{framework}/b{size}"
        for workload, size in (("mnist_mlp", 128), ("imdb_fasttext", 32))
        for hardware in ("cpu1", "cpu4")
        for framework in ("jax", "tensorflow")
    ]
    assert [(cell.epochs, cell.samples) for cell in study.cells] == [(20, 1.0)] * 4 + [(5, 1.0)] * 4


def test_runs_go_in_rounds(tmp_path: Path) -> None:
    study = expand(tmp_path, repeats=2, workloads=["mnist_mlp"], hardware=["cpu1"])
    assert [(cell.framework, repeat) for cell, repeat in study.runs()] == [
        ("jax", 1),
        ("tensorflow", 1),
        ("jax", 2),
        ("tensorflow", 2),
    ]


def test_data_are_asked_for_by_data_set(tmp_path: Path) -> None:
    study = grid.expand("given", read(tmp_path), CATALOGUE, 4, {"mnist": "real", "imdb": "synthetic"}.get)
    assert {cell.workload: cell.data for cell in study.cells} == {"mnist_mlp": "real", "imdb_fasttext": "synthetic"}


@pytest.mark.parametrize(("cores", "hardware"), [(1, ["cpu1"]), (3, ["cpu1"]), (4, ["cpu1", "cpu4"])])
def test_local_is_what_fits_this_machine(tmp_path: Path, cores: int, hardware: list[str]) -> None:
    study = expand(tmp_path, cores, hardware="local")
    assert list(dict.fromkeys(cell.hardware for cell in study.cells)) == hardware


def test_local_study_may_name_a_machine_that_is_not_here(tmp_path: Path) -> None:
    assert len(expand(tmp_path, 1, hardware="local", exclude=[{"hardware": "cpu4"}]).cells) == 4


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ({"framework": "tensorflow"}, 4),
        ({"workload": "mnist_mlp", "framework": "tensorflow"}, 6),
        ({"hardware": ["cpu4"], "framework": ["jax", "tensorflow"]}, 4),
    ],
)
def test_excluded_cells_match_all_keys(tmp_path: Path, where: dict, left: int) -> None:
    study = expand(tmp_path, exclude=[where])
    assert len(study.cells) == left
    assert not any(all(getattr(cell, axis) in value for axis, value in where.items()) for cell in study.cells)


def test_scale_and_overrides_set_the_size_and_the_later_wins(tmp_path: Path) -> None:
    study = expand(
        tmp_path,
        scale={"samples": 0.1, "epochs": 2},
        overrides=[
            {"where": {"workload": "mnist_mlp"}, "set": {"samples": 0.5, "batch_size": 64}},
            {"where": {"hardware": "cpu4", "workload": "mnist_mlp"}, "set": {"epochs": 3, "samples": 0.25}},
        ],
    )
    sizes = {(c.workload, c.hardware): (c.batch_size, c.epochs, c.samples) for c in study.cells}
    assert sizes == {
        ("mnist_mlp", "cpu1"): (64, 2, 0.5),
        ("mnist_mlp", "cpu4"): (64, 3, 0.25),
        ("imdb_fasttext", "cpu1"): (32, 2, 0.1),
        ("imdb_fasttext", "cpu4"): (32, 2, 0.1),
    }


def test_same_cell_is_trained_once(tmp_path: Path) -> None:
    study = expand(tmp_path, workloads=["mnist_mlp"], hardware=["cpu1"], batch_sizes=["published", 128, 64])
    assert paths(study) == [
        f"mnist_mlp/cpu1/{framework}/b{n}" for framework in ("jax", "tensorflow") for n in (128, 64)
    ]


def test_rules_may_name_what_this_grid_leaves_out(tmp_path: Path) -> None:
    rule = {"where": {"workload": "mnist_cnn", "hardware": "gpu", "framework": "torch"}, "set": {"epochs": 1}}
    assert paths(expand(tmp_path, overrides=[rule])) == paths(expand(tmp_path))


def test_numbers_of_the_command_line_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "given.yaml"
    path.write_text(
        "{title: t, workloads: [mnist_mlp], hardware: [cpu1], frameworks: [jax], "
        "base: {hardware: cpu1, framework: jax}}"
    )
    assert grid.read(str(path), {"batch_sizes": ["64", "published"]})[1]["batch_sizes"] == [64, "published"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"workloads": ["gpt9"]}, "study given: workloads: 'gpt9' is unknown: it is one of .*mnist_mlp"),
        ({"hardware": ["cray"]}, "hardware: 'cray' is unknown: it is one of cpu1, cpu4, gpu"),
        ({"frameworks": ["caffe"]}, "frameworks: 'caffe' is unknown: it is one of jax"),
        ({"charts": ["pie"]}, "charts: 'pie' is unknown: it is one of .*relative_time"),
        ({"frameworks": ["jax", "jax"]}, "frameworks: 'jax' stands twice"),
        ({"exclude": [{"workload": "gpt9"}]}, r"exclude\[0\].workload: 'gpt9' is unknown"),
        ({"exclude": [{"framework": "caffe"}]}, r"exclude\[0\].framework: 'caffe' is unknown: it is one of jax, tens"),
        (
            {"overrides": [{"where": {"hardware": "cray"}, "set": {"epochs": 1}}]},
            r"overrides\[0\].where.hardware: 'cray' is unknown",
        ),
        ({"exclude": [{"framework": ["jax", "tensorflow"]}]}, "exclude: leaves no cell"),
        (
            {"base": {"hardware": "gpu", "framework": "jax"}},
            "base: no cell has hardware 'gpu' and framework 'jax'; there are cpu1 jax, cpu1 tensorflow",
        ),
    ],
)
def test_mistake_is_named_with_key_and_what_is_allowed(tmp_path: Path, keys: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expand(tmp_path, **keys)


def test_command_line_replaces_axes_alone(tmp_path: Path) -> None:
    config = read(tmp_path, {"frameworks": ["jax"], "repeats": 3, "study": "given"})
    assert (config["frameworks"], config["repeats"], config["title"]) == (["jax"], 3, "A study")


def test_unknown_key_of_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--config: 'hardwere' is unknown: it is one of study, data_dir, workloads"):
        read(tmp_path, {"hardwere": ["cpu1"]})


def test_base_follows_the_frameworks_of_the_command_line(tmp_path: Path) -> None:
    assert read(tmp_path, {"frameworks": ["torch"]})["base"]["framework"] == "torch"


@pytest.mark.parametrize("repeats", [2.0, True, "a: b: c"])
def test_whole_number_is_one(tmp_path: Path, repeats: object) -> None:
    with pytest.raises(InputError, match="--config: repeats"):
        read(tmp_path, {"repeats": repeats})


def test_command_line_is_checked_too(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--config: repeats: 0 is less than"):
        read(tmp_path, {"repeats": 0})


def test_unknown_study_names_those_there_are() -> None:
    with pytest.raises(InputError, match=r"study 'nope' is unknown: it is one of .*local"):
        grid.read("nope", {})


@pytest.mark.parametrize("path", sorted((grid.ROOT / "config" / "studies").glob("*.yaml")), ids=lambda path: path.stem)
def test_study_of_the_project_expands(path: Path) -> None:
    catalogue = schemas.read_yaml(grid.ROOT / "config" / "hardware.yaml", "hardware")
    name, config = grid.read(path.stem, {})
    study = grid.expand(name, config, catalogue, 64, lambda dataset: "real")
    assert name == path.stem
    assert len({cell.seed(repeat) for cell, repeat in study.runs()}) == len(study.runs())
