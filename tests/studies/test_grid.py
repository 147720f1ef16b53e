from pathlib import Path

import pytest
import yaml

from scripts.records import about
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import definition, grid
from tests.made import CATALOGUE

STUDY = {
    "title": "A study",
    "workloads": ["mnist_mlp", "imdb_fasttext"],
    "hardware": ["cpu1", "cpu4"],
    "frameworks": ["jax", "tensorflow"],
    "base": {"hardware": "cpu1", "framework": "jax"},
}

#: A study of logs: nothing is trained.
LOGS = {"title": "Logs", "import": {"format": "keras_csv", "folder": "logs", "hardware": {"gpu": "card"}}}


def read(folder: Path, replaced: dict | None = None, **keys) -> dict:
    """Return the config of STUDY with other `keys`, of which `replaced` come from the command line."""
    path = folder / "given.yaml"
    path.write_text(yaml.safe_dump(STUDY | keys))
    return definition.read(str(path), replaced or {})[1]


def read_alone(folder: Path, config: dict, replaced: dict | None = None) -> dict:
    """Return the config of a file that holds just `config`."""
    path = folder / "given.yaml"
    path.write_text(yaml.safe_dump(config))
    return definition.read(str(path), replaced or {})[1]


def without(config: dict, *keys: str) -> dict:
    return {key: value for key, value in config.items() if key not in keys}


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


MANY = {"batch_sizes": list(range(1, 1001)), "modes": ["stock", "tuned"], "precisions": ["float32", "bfloat16"]}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            MANY | {"devices": list(range(1, 101))},
            "2 workloads x 2 hardware x 2 frameworks x 1,000 batch_sizes x 2 modes x 2 precisions x 100 devices are "
            "3,200,000 configurations: at most 100,000 are allowed, before exclude",
        ),
        ({"batch_sizes": list(range(1, 51)), "repeats": 10_000}, "repeats: 10,000 of 400 configurations are 4,000,000"),
        (MANY | {"exclude": [{"mode": "stock"}] * 400}, "exclude: 400 entries for 32,000 configurations: at most 312"),
        (
            MANY | {"tiers": [[{"mode": "stock"}] * 200] * 2},
            "tiers: 400 entries for 32,000 configurations: at most 312",
        ),
    ],
)
def test_a_few_lines_that_ask_for_millions_are_refused_before_they_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict, said: str
) -> None:
    if "repeats" not in keys:
        monkeypatch.setattr(grid, "_product", lambda *_: pytest.fail("was looked at"))
    with pytest.raises(InputError) as error:
        expand(tmp_path, **keys)
    assert said in str(error.value)


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
    assert definition.read(str(path), {"batch_sizes": ["64", "published"]})[1]["batch_sizes"] == [64, "published"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"workloads": ["gpt9"]}, "study given: workloads: 'gpt9' is unknown: it is one of .*mnist_mlp"),
        ({"hardware": ["cray"]}, "hardware: 'cray' is unknown: it is one of cpu1, cpu4, gpu"),
        ({"frameworks": ["caffe"]}, "frameworks: 'caffe' is unknown: it is one of jax"),
        ({"charts": ["pie"]}, "charts: 'pie' is unknown: it is one of .*relative_time"),
        ({"charts": ["pie.spot"]}, "charts: 'pie' is unknown: it is one of .*relative_time"),
        (
            {"charts": ["relative_cost.lease"]},
            "charts: 'relative_cost.lease': 'lease' is not one of prices: on-demand, spot, owned",
        ),
        ({"price": "lease"}, "price: 'lease' is unknown: it is one of on-demand, spot, owned"),
        ({"prices": {"yearly": {}}}, "price: 'on-demand' is unknown: it is one of yearly"),
        ({"price": "on-demand", "prices": {"today": {}}, "charts": ["learning"]}, "price: 'on-demand' is unknown"),
        (
            {"claims": [{"says": "a", "check": "best", "by": "cost_usd", "price": "lease"}]},
            r"claims\[0\].price: 'lease' is unknown: it is one of on-demand, spot, owned",
        ),
        (
            {"claims": [{"says": "a", "check": "more", "by": "cost_usd", "than_price": "lease"}]},
            r"claims\[0\].than_price: 'lease' is unknown",
        ),
        ({"targets": {"gpt9": 0.9}}, "targets: 'gpt9' is unknown: it is one of .*mnist_mlp"),
        ({"frameworks": ["jax", "jax"]}, "frameworks: 'jax' is given twice"),
        ({"exclude": [{"workload": "gpt9"}]}, r"exclude\[0\].workload: 'gpt9' is unknown"),
        ({"exclude": [{"framework": "caffe"}]}, r"exclude\[0\].framework: 'caffe' is unknown: it is one of "),
        (
            {"overrides": [{"where": {"hardware": "cray"}, "set": {"epochs": 1}}]},
            r"overrides\[0\].where.hardware: 'cray' is unknown",
        ),
        ({"exclude": [{"framework": ["jax", "tensorflow"]}]}, "exclude: leaves no configuration"),
        (
            {"base": {"hardware": "gpu", "framework": "jax"}},
            "base: no configuration has .* 'gpu jax stock float32 1'; there are cpu1 jax stock float32 1, cpu1 tens",
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
    with pytest.raises(InputError, match=r"--config: 'hardwere' is unknown: it is one of study, profile, .*workloads"):
        read(tmp_path, {"hardwere": ["cpu1"]})


def test_every_setting_of_the_project_may_be_given_on_the_command_line(tmp_path: Path) -> None:
    settings = yaml.safe_load((definition.ROOT / "config" / "config.yaml").read_text())
    assert read(tmp_path, settings) == read(tmp_path)


@pytest.mark.parametrize("key", ["workloads", "hardware", "frameworks", "base"])
def test_grid_without_one_of_its_axes_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=rf"given\.yaml: '{key}' is a required property of a grid"):
        read_alone(tmp_path, without(STUDY, key))


@pytest.mark.parametrize("replaced", [{"repeats": 2}, {"frameworks": ["jax"]}])
def test_grid_without_a_base_is_named_beside_the_command_line_too(tmp_path: Path, replaced: dict) -> None:
    with pytest.raises(InputError, match="'base' is a required property of a grid"):
        read_alone(tmp_path, without(STUDY, "base"), replaced)


def test_axis_that_the_file_lacks_may_come_from_the_command_line(tmp_path: Path) -> None:
    config = read_alone(tmp_path, without(STUDY, "workloads"), {"workloads": ["mnist_cnn"]})
    assert (config["workloads"], definition.is_grid(config)) == (["mnist_cnn"], True)


def test_study_of_logs_is_no_grid_and_has_the_same_defaults(tmp_path: Path) -> None:
    given, trained = read_alone(tmp_path, LOGS), read(tmp_path)
    assert (definition.is_grid(given), definition.is_grid(trained)) == (False, True)
    for key in ("book", "price", "prices", "charts", "claims", "machines"):
        assert given[key] == trained[key]
    assert given["book"] == ["current", "listed"]
    assert list(given["prices"]) == ["on-demand", "spot", "owned"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"title": "t"}, "has nothing to show: give workloads, hardware, frameworks, base, or import"),
        ({"title": "t", "base": STUDY["base"]}, "has nothing to show"),
        (LOGS | {"import": {"format": "excel", "hardware": {".": "card"}}},
         "import.format: 'excel' is unknown: it is one of .*keras_csv, .*mllog"),
        (LOGS | {"import": {"format": "keras_csv", "folder": "logs"}},
         "import: 'hardware' is a required property of logs"),
        (STUDY | LOGS, "has workloads, hardware, frameworks, base and import"),
    ],
    ids=["nothing", "base alone", "format", "no mapping", "both"],
)  # fmt: skip
def test_study_that_shows_nothing_is_named(tmp_path: Path, config: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read_alone(tmp_path, config)
    assert str(error.value).startswith(str(tmp_path / "given.yaml"))


def test_facts_need_no_mapping_of_folders(tmp_path: Path) -> None:
    given = {"format": "keras_csv", "facts": "facts.csv"}
    assert read_alone(tmp_path, LOGS | {"import": given})["import"] == given


def test_chart_may_name_a_price_option_of_its_own(tmp_path: Path) -> None:
    charts = ["relative_cost", "relative_cost.spot"]
    assert read(tmp_path, charts=charts)["charts"] == charts


def test_prices_of_a_study_replace_the_usual_ones(tmp_path: Path) -> None:
    prices = {"then": {"label": "prices of 2017", "book": "gce-2017-07"}, "now": {}}
    config = read(tmp_path, prices=prices, price="then", book="current", charts=["relative_cost.now"])
    assert (config["prices"], config["price"], config["book"]) == (prices, "then", "current")


def test_book_and_price_may_come_from_the_command_line(tmp_path: Path) -> None:
    config = read(tmp_path, {"book": "gce-2017-11", "price": "spot"})
    assert (config["book"], config["price"]) == ("gce-2017-11", "spot")
    with pytest.raises(InputError, match=r"price book .*nope.csv: there is no such file"):
        read(tmp_path, {"book": "nope"})


def test_machines_of_a_study_stand_beside_those_of_the_catalogue(tmp_path: Path) -> None:
    card = {"label": "my card", "own": {}}
    machines = definition.machines({"machines": {"card": card, "cpu4": card}}, CATALOGUE)
    assert list(machines) == ["cpu1", "cpu4", "gpu", "card"]
    assert (machines["cpu1"], machines["cpu4"]) == (CATALOGUE["cpu1"], card)


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
        definition.read("nope", {})


@pytest.mark.parametrize(
    "path", sorted((definition.ROOT / "config" / "studies").glob("*.yaml")), ids=lambda path: path.stem
)
def test_study_of_the_project_can_be_read(path: Path) -> None:
    catalogue = schemas.read_yaml(definition.ROOT / "config" / "hardware.yaml", "hardware")
    name, config = definition.read(path.stem, {})
    assert name == path.stem
    if definition.is_grid(config):
        study = grid.expand(name, config, catalogue, 64, lambda dataset: "real")
        assert len({cell.seed(repeat) for cell, repeat in study.runs()}) == len(study.runs())


def test_every_published_study_is_one_of_the_project() -> None:
    settings = yaml.safe_load((definition.ROOT / "config" / "config.yaml").read_text())
    studies = [definition.read(name, {})[1] for name in settings["published"]]
    own = [definition.is_grid(study) for study in studies]
    assert own == sorted(own), "the figures of others come first"
    assert 0 < sum(own) < len(own)
    assert all("published" in study for study in studies)


def test_every_mode_precision_and_number_of_devices_is_a_cell(tmp_path: Path) -> None:
    study = expand(
        tmp_path,
        workloads=["mnist_mlp"],
        hardware=["cpu4"],
        base={"hardware": "cpu4", "framework": "jax"},
        frameworks=["jax"],
        batch_sizes=["published", "largest"],
        modes=["stock", "tuned"],
        precisions=["float32", "bfloat16"],
        devices=[1, 2],
        exclude=[{"precision": "bfloat16", "devices": 2}, {"mode": "stock", "devices": 2}],
    )
    assert [cell.variant for cell in study.cells] == [
        "b128", "b128-bfloat16", "b128-tuned", "b128-tuned-x2", "b128-tuned-bfloat16",
        "blargest", "blargest-bfloat16", "blargest-tuned", "blargest-tuned-x2", "blargest-tuned-bfloat16",
    ]  # fmt: skip


def test_base_is_the_first_of_each_axis_that_it_does_not_name(tmp_path: Path) -> None:
    config = read(tmp_path, modes=["tuned", "stock"], base={"hardware": "cpu1", "framework": "jax", "devices": 1})
    assert config["base"] == {
        "hardware": "cpu1", "framework": "jax", "devices": 1, "mode": "tuned", "precision": "float32",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"modes": ["fast"]}, r"modes\[0\]: 'fast' is not one of"),
        ({"precisions": ["int8"]}, r"precisions\[0\]: 'int8' is not one of"),
        ({"devices": [0]}, r"devices\[0\]: 0 is less than the minimum of 1"),
        ({"exclude": [{"mode": "fast"}]}, r"exclude\[0\].mode: 'fast' is unknown: it is one of stock, tuned"),
        ({"devices": [1, 2]}, r"devices: cpu1 has 1 cores, not 2; exclude: \[{hardware: cpu1, devices: 2}\]"),
        ({"exclude": [{"devices": 4}]}, r"exclude\[0\].devices: 4 is unknown: it is one of 1"),
        (
            {"base": {"hardware": "cpu1", "framework": "jax", "mode": "tuned"}},
            "base: no configuration has .* 'cpu1 jax tuned",
        ),
    ],
)
def test_mistake_on_an_axis_is_named(tmp_path: Path, keys: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expand(tmp_path, **keys)


def test_target_ends_runs_only_where_the_study_says_so(tmp_path: Path) -> None:
    targets = {"targets": {"mnist_mlp": 0.95}}
    assert {cell.target for cell in expand(tmp_path, **targets).cells} == {None}
    cells = expand(tmp_path, stop_at_target=True, **targets).cells
    assert {(cell.workload, cell.target) for cell in cells} == {("mnist_mlp", 0.95), ("imdb_fasttext", None)}


def test_second_measurement_has_as_many_runs_with_other_numbers(tmp_path: Path) -> None:
    assert list(expand(tmp_path, repeats=3).again()) == [4, 5, 6]


OWN = """
'''A net of mine.'''
DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 16, 3, None
def prepare(arrays): ...
def build(split): ...
"""


@pytest.fixture(autouse=True)
def no_workload_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setenv("EPOCHS_TRUST", "all")


def own_workload(folder: Path, name: str, text: str = OWN) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_workload_may_be_a_file_of_ones_own(tmp_path: Path) -> None:
    file = own_workload(tmp_path, "my_net.py")
    config = read(tmp_path, workloads=[file, "mnist_mlp"])
    assert config["workloads"] == ["my_net", "mnist_mlp"]
    assert config["workload_files"] == {"my_net": file}
    cell = expand(tmp_path, workloads=[file, "mnist_mlp"]).cells[0]
    assert (cell.path, cell.epochs, cell.data) == ("my_net/cpu1/jax/b16", 3, "own")


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "`x`", "x;y", "-x", "=1", "1st", "..", "a.b"])
def test_name_of_an_own_workload_is_one_that_commands_and_folders_bear(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text("")
    with pytest.raises(InputError, match="a workload's name is its file's"):
        read(tmp_path, workloads=[str(file)])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mnist_mlp.py", OWN, "the project has a workload of this name"),
        ("broken_net.py", "def (", "broken_net.py: not Python: "),
        ("half_net.py", "DATASET = None", "half_net.py: BATCH_SIZE is missing; a workload has it"),
    ],
)
def test_own_workload_that_is_none_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expand(tmp_path, workloads=[own_workload(tmp_path, name, text)])
    with pytest.raises(InputError, match=r"gone\.py: no such file"):
        read(tmp_path, workloads=[str(tmp_path / "gone.py")])


def test_study_that_was_trained_before_is_a_grid_that_trains_nothing(tmp_path: Path) -> None:
    config = read(tmp_path, tables="somewhere")
    assert definition.is_grid(config)
    assert not definition.is_trained_here(config)
    assert definition.is_trained_here(read(tmp_path, {"tables": ""}, tables="somewhere")), "trained anew"


def test_studies_beside_are_names_or_files(tmp_path: Path) -> None:
    assert read(tmp_path)["beside"] == []
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(STUDY | {"title": "Another"}))
    config = read(tmp_path, beside=["gpus-2017", str(tmp_path / "other.yaml")])
    found = definition.beside({"given": config})
    assert {name: about["title"] for name, about in found.items()} == {
        "gpus-2017": "Do GPUs pay again?",
        "other": "Another",
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            STUDY | {"beside": ["gpus-2018"]},
            "beside: 'gpus-2018' is not another study: it is one of batch-size, card, cloud-or-office-2018",
        ),
        (STUDY | {"beside": ["nowhere.yaml"]}, "beside: 'nowhere.yaml' is not another study"),
        (STUDY | {"beside": ["gpus-2017", "gpus-2017"]}, "beside: 'gpus-2017' is given twice"),
        (LOGS | {"beside": ["gpus-2017"]}, "beside: is for a study with workloads, hardware"),
    ],
    ids=["name", "file", "twice", "logs"],
)
def test_study_that_cannot_stand_beside_is_named(tmp_path: Path, config: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read_alone(tmp_path, config)
    assert str(error.value).startswith(str(tmp_path / "given.yaml"))


def test_study_does_not_stand_beside_itself(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"given.yaml' is not another study"):
        read(tmp_path, beside=[str(tmp_path / "given.yaml")])


@pytest.mark.parametrize(
    "option", [{"purchase": "spot"}, {"purchase": "on-demand", "discount": {"share": 0.3, "source": "me"}}]
)
def test_discount_for_long_use_stands_alone(tmp_path: Path, option: dict) -> None:
    with pytest.raises(InputError, match="prices: long: sustained_use: is for purchase on-demand without a discount"):
        read(tmp_path, prices={"on-demand": {"purchase": "on-demand"}, "long": option | {"sustained_use": True}})
