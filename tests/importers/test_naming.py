"""What runs are called, and which runs of one name are other trainings."""

from pathlib import Path

import pytest

from scripts.importers import naming


def row(**settings: object) -> dict[str, object]:
    return {"workload": "flowers", "hardware": "box", "framework": "torch", "settings": settings}


def called(*rows: dict[str, object]) -> list[object]:
    naming.distinguish(rows)
    return [one["workload"] for one in rows]


def test_runs_with_other_parameters_are_other_trainings() -> None:
    assert called(row(lr="0.1", depth="4"), row(lr="0.01", depth="4"), row(lr="0.1", depth="4")) == [
        "flowers+lr_0.1",
        "flowers+lr_0.01",
        "flowers+lr_0.1",
    ]


def test_no_more_parameters_are_named_than_distinguish_them() -> None:
    """Depth and width say the same; one of them is enough beside the rate."""
    rows = [row(lr=lr, depth=depth, width=depth * 10) for lr in (0.1, 0.2) for depth in (1, 2)]
    assert called(*rows) == [
        "flowers+lr_0.1+depth_1",
        "flowers+lr_0.1+depth_2",
        "flowers+lr_0.2+depth_1",
        "flowers+lr_0.2+depth_2",
    ]


@pytest.mark.parametrize("key", ["seed", "model.seed", "run_name", "output_dir", "random_state", "save_dir"])
def test_a_seed_and_a_name_make_repeats(key: str) -> None:
    assert called(row(**{key: "1", "lr": "1"}), row(**{key: "2", "lr": "1"})) == ["flowers", "flowers"]


def test_other_cells_and_runs_without_parameters_keep_their_name() -> None:
    other = row(lr="0.1") | {"hardware": "other"}
    assert (
        called(row(lr="0.2"), other, {"workload": "flowers", "hardware": "box", "framework": "torch"})
        == ["flowers"] * 3
    )


def test_a_missing_parameter_is_another_one() -> None:
    assert called(row(lr="0.1"), row(lr="0.1", dropout="0.5")) == ["flowers+dropout_none", "flowers+dropout_0.5"]


def test_values_that_cannot_be_written_are_numbered() -> None:
    assert called(row(prompt="a b"), row(prompt="a/b")) == ["flowers+settings_1", "flowers+settings_2"]
    long = [row(**{f"parameter_number_{n}": str(one) for n in range(9)}, which=f"{one}") for one in range(2)]
    assert all(len(str(name)) <= 100 for name in called(*long))


@pytest.mark.parametrize(
    ("run", "title"),
    [
        ("yolo/runs/detect/train/results", "yolo/runs/detect/train"),
        ("tb/mlp/events.out.tfevents.1700000000.box.1", "tb/mlp"),
        ("speed/record", "speed/record"),
        ("results", "results"),
        ("tracked/mlflow#12", "tracked/mlflow #12"),
    ],
)
def test_people_call_a_run_by_its_folder_where_all_files_are_called_alike(run: str, title: str) -> None:
    assert naming.title_of(run) == title


@pytest.mark.parametrize(
    ("folder", "place"), [("/data/vision/logs", "vision/logs"), ("/data/vision", "vision"), ("/logs", "logs")]
)
def test_a_folder_that_many_have_is_called_with_the_one_above(folder: str, place: str) -> None:
    assert naming.place_of(Path(folder)) == place


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Übungsläufe für Café", "Ubungslaufe_fur_Cafe"),
        ("実験1", "1-441466"),
        ("実験", "logs-8d2062"),
        ("___", ""),
    ],
)
def test_letters_of_other_scripts_keep_names_apart(text: str, name: str) -> None:
    assert naming.slug(text) == name
