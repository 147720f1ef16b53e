import re
from pathlib import Path

import pytest

from scripts.storage.errors import InputError
from scripts.studies import definition
from tests.faults import stage


@pytest.mark.parametrize(
    "name", ["k80/{0}_jax.csv", "{input}/mnist_mlp_jax.csv", "k80/}.txt", "<x>/a_jax.csv", "k80/<trained>.csv"]
)
def test_log_that_snakemake_would_take_for_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"mine\.yaml: import\.folder: .* braces in a path"):
        stage.imported(tmp_path, logs=stage.LOGS | {name: "x"})


@pytest.mark.parametrize(
    ("key", "study"),
    [("book", {"prices": {"as-it-is": {"book": "{a}.csv"}}}), ("import.folder", {"import": {"folder": "{a}"}})],
)
def test_path_that_snakemake_would_take_for_a_pattern_is_refused(tmp_path: Path, key: str, study: dict) -> None:
    with pytest.raises(InputError, match=rf"{key}: '\{{a\}}.* braces in a path"):
        stage.imported(tmp_path, stage.IMPORTED | study)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"hardware": "cpu4", "mode": "tuned", "asks": "?"}, "question: hardware and mode: a question is of one"),
        ({"batch_size": 64, "asks": "?"}, "question: 'than' is required: base does not say with which batch_size"),
    ],
)
def test_question_of_two_axes_or_without_another_is_refused(tmp_path: Path, question: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        stage.imported(tmp_path, stage.IMPORTED | {"question": question})


def test_question_about_a_machine_that_is_nowhere_described_is_refused() -> None:
    config = {"machines": {"ours": {}}, "question": {"asks": "?", "hardware": "ours", "than": "cpu1"}}
    definition.check_machines("study mine", config, {"cpu1": {}})
    with pytest.raises(InputError, match=r"study mine: question\.than: 'cpu9' is unknown: it is one of cpu1, ours"):
        definition.check_machines(
            "study mine", config | {"question": {"hardware": "ours", "than": "cpu9"}}, {"cpu1": {}}
        )


def test_numbers_within_a_mapping_of_the_command_line_are_numbers() -> None:
    _, config = definition.read("local", {"scale": {"samples": "0.1", "epochs": "2"}})
    assert config["scale"] == {"samples": 0.1, "epochs": 2}


@pytest.mark.parametrize("name", ["kit", "logs", "mine.yaml", ".mine", "a b", "-a"])
def test_a_name_that_is_no_folder_for_runs_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.yaml"
    path.write_text((definition.ROOT / "config" / "studies" / "smoke.yaml").read_text())
    with pytest.raises(InputError, match=r"is not for a study's runs|a study's name is its file's"):
        definition.read(str(path), {})
    assert not definition.is_name(name)
    assert definition.is_name("two-cores")


@pytest.mark.parametrize("name", ["charts", "logs"])
def test_a_workload_whose_folder_holds_other_things_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("")
    text = (definition.ROOT / "config" / "studies" / "smoke.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(re.sub(r"(?m)^workloads:.*$", f"workloads: [{tmp_path}/{name}.py]", text))
    with pytest.raises(InputError, match=f"{name}/ of a study is not for runs"):
        definition.read(str(path), {})
