import json
from pathlib import Path

import pytest

from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import model
from tests.conftest import ROOT

SCHEMAS = ("hardware", "study")

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
  rent: {provider: gce, region: us-central1, items: {n1-standard-1: 1, nvidia-tesla-k80: 2}}
  own: {acquisition_usd: 1000, life_months: 48, power_watts: 100, usd_per_kwh: 0.2, hours_per_month: 240,
        as_of: 2026-06-23, source: a list}
"""

#: A study of logs, a machine of its own, every kind of price option and of claim.
IMPORTED = """
title: Logs of others
import: {format: keras_csv, folder: logs, hardware: {gpu: card}, unlike: [{where: {hardware: card}, says: a toy}]}
machines:
  card: {label: A card, rent: {provider: gce, items: {n1-standard-1: 1}, premium: skylake, purchase: spot}}
base: {hardware: card, framework: cntk}
book: [here.csv, current]
prices:
  on-demand: {label: by the hour, purchase: on-demand, discount: {share: 0.37, source: one year}}
  spot:
    purchase: spot
    preemption: {preemptions_per_hour: 0.04, checkpoint_seconds: 900, restart_seconds: 60, source: me}
  month: {purchase: month, hours_per_month: 365, months: 2, sustained_use: true}
  today: {book: current, instead: {card: {provider: aws, region: us-east-1, items: {p2.xlarge: 1}}}}
charts: [relative_time, relative_cost.today]
claims:
  - {says: it is best, check: best, by: cost_usd, cell: {hardware: card}}
  - {says: it costs half, check: ratio, by: usd_per_hour, price: spot, than_price: today, between: [0.4, 0.6]}
  - {says: it costs 1 USD, check: figure, figure: usd_per_hour_card_spot, printed: 1, within: 0.05}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "given.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("key", "said"), [("5", "5"), ("true", "True"), ("null", "None"), ("1.5", "1.5")])
def test_a_key_is_a_text(tmp_path: Path, key: str, said: str) -> None:
    text = (Path("config") / "owned.yaml").read_text()
    with pytest.raises(InputError, match=f"^owned.yaml: the key {said} is no text: write it in quotes$"):
        schemas.parse_yaml(f"{text}\n{key}: {{}}\n", "owned", "owned.yaml")
    with pytest.raises(InputError, match=f"^owned.yaml: H100: the key {said} is no text"):
        schemas.parse_yaml(f"H100: {{{key}: 1}}\n", "owned", "owned.yaml")


@pytest.mark.parametrize(
    ("text", "number"), [("2.8e5", 2.8e5), ("1e6", 1e6), ("5E-1", 0.5), (".5e2", 50.0), ("280000", 280000)]
)
def test_a_number_is_read_as_yaml_1_2_writes_it(text: str, number: float) -> None:
    found = schemas.parse_yaml(OWNED.format(text), "owned", "mine.yaml")
    assert found["H100"]["acquisition_usd"] == number
    with pytest.raises(InputError, match=r"mine.yaml: H100.acquisition_usd: 'e5' is not a number"):
        schemas.parse_yaml(OWNED.format("e5"), "owned", "mine.yaml")


def test_dates_stay_text(tmp_path: Path) -> None:
    catalogue = schemas.read_yaml(written(tmp_path, MACHINE), "hardware")
    assert catalogue["cpu1"]["own"]["as_of"] == "2026-06-23"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        "{a: " * 5_000 + "1" + "}" * 5_000,
        "\n".join(f"{' ' * depth}a:" for depth in range(2_000)),
        "- " * 5_000,
    ],
    ids=["unclosed lists", "mappings in a line", "mappings in blocks", "lists in a line"],
)
def test_what_is_nested_too_deep_is_bad_input(tmp_path: Path, text: str) -> None:
    """libyaml, which reads the files, ends this process where lists are nested some ten thousand deep."""
    path = tmp_path / "study.yaml"
    path.write_text(f"title: {text}" if "\n" not in text else text)
    with pytest.raises(InputError, match="not YAML: "):
        model.read(path)


def test_anchors_and_merged_keys_are_allowed(tmp_path: Path) -> None:
    text = MACHINE.replace("cpu1:", "cpu1: &one") + "cpu2:\n  <<: *one\n  label: 2 vCPUs\n"
    catalogue = schemas.read_yaml(written(tmp_path, text), "hardware")
    assert catalogue["cpu2"]["label"] == "2 vCPUs"
    assert catalogue["cpu2"]["rent"] == catalogue["cpu1"]["rent"]


def test_study_of_logs_is_a_study(tmp_path: Path) -> None:
    study = model.read(written(tmp_path, IMPORTED))
    assert (study["book"], study["machines"]["card"]["rent"]["purchase"]) == (["here.csv", "current"], "spot")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STUDY + "title: Another\n", "'title' is given twice"),
        (STUDY.replace("{hardware: cpu1,", "{hardware: cpu1, hardware: cpu2,"), "'hardware' is given twice"),
        ("title: [unclosed", "not YAML: .*line 1"),
        (STUDY.replace("title: A study", ""), "'title' is a required property"),
        (STUDY + "repeat: 3\n", "'repeat' is unknown: it is one of"),
        (STUDY + "repeats: 0\n", "repeats: 0 is less than the minimum of 1"),
        (STUDY + "repeats: 1.5\n", "repeats: 1.5 is not a whole number"),
        (STUDY + "scale: {samples: 2}\n", "scale.samples: 2 is greater than the maximum of 1"),
        (STUDY + "scale: {samples: 0}\n", "scale.samples: 0 is less than or equal to"),
        (STUDY + "batch_sizes: [-1]\n", r"batch_sizes\[0\]: -1 is less than"),
        (STUDY + "data: fake\n", "data: 'fake' is not one of .*'real', 'synthetic'"),
        (STUDY.replace("[jax]", "[]"), "frameworks: .*non-empty"),
        (STUDY + "exclude: [{gpu: k80}]\n", r"exclude\[0\]: 'gpu' is unknown: it is one of"),
        ("", "is empty: must be a mapping"),
        (
            STUDY.replace("title: A study", 'title: "\\ud800"'),
            "holds half a character|invalid Unicode character escape code in line 2",
        ),
        (STUDY + 'targets: {"\\ud800": 1}\n', "holds half a character|invalid Unicode character escape code in line 7"),
        (STUDY + "published: {title: a, by: b, date: c, url: 'javascript:x'}\n", "published.url: .* does not match"),
    ],
)
def test_bad_study_is_named_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        model.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "acquisition_usd: 1000",
            "acquisition_usd: cheap",
            "own.acquisition_usd: 'cheap' is not a number",
        ),
        ("acquisition_usd: 1000", "acquisition_usd: -1", "cpu1.own.acquisition_usd: -1 is less than"),
        ("life_months: 48", "life_months: 0", "cpu1.own.life_months: 0 is less than or equal to"),
        ("hours_per_month: 240", "hours_per_month: 745", "cpu1.own.hours_per_month: 745 is greater than"),
        ("as_of: 2026-06-23, ", "", "cpu1.own: 'as_of' is a required property"),
        ("as_of: 2026-06-23", "as_of: last week", "cpu1.own.as_of: 'last week'"),
        ("own: {", "own: {energy: 3, ", "cpu1.own: 'energy' is unknown: it is one of"),
        ("provider: gce, ", "", "cpu1.rent: 'provider' is a required property"),
        ("nvidia-tesla-k80: 2", "nvidia-tesla-k80: 0", r"cpu1.rent.items\S+: 0 is less than the minimum of 1"),
        ("nvidia-tesla-k80: 2", "nvidia-tesla-k80: 0.5", r"cpu1.rent.items\S+: 0.5 is not a whole number"),
        ("{n1-standard-1: 1, nvidia-tesla-k80: 2}", "{}", "cpu1.rent.items: .*"),
        ("{n1-standard-1: 1, nvidia-tesla-k80: 2}", "n1-standard-1", "cpu1.rent.items: .* is not a mapping"),
        ("rent:", "prices:", "cpu1: 'prices' is unknown: it is one of"),
        ("cores: 1", "cores: many", "cpu1.machine.cores: 'many' is not a whole number"),
        ("cpu1:", "../cpu1:", "'../cpu1' does not match"),
        ("cpu1:", '"cpu1\\n":', r"'cpu1\\n' does not match"),
    ],
)
def test_bad_machine_is_named_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MACHINE
    with pytest.raises(InputError, match=message):
        schemas.read_yaml(written(tmp_path, MACHINE.replace(old, new)), "hardware")


def test_machines_are_priced_alike_in_the_catalogue_and_in_a_study() -> None:
    ours, of_study = (
        json.loads((ROOT / f"config/schemas/{name}.schema.json").read_text())["$defs"] for name in SCHEMAS
    )
    assert (ours["rent"], ours["own"]) == (of_study["Rent"], of_study["Own"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format: keras_csv, ", "", "import: 'format' is a required property"),
        ("folder: logs", "folders: logs", "import: 'folders' is unknown: it is one of"),
        ("folder: logs", "commit: abc", "import.commit: 'abc' does not match"),
        ("folder: logs", "repository: ../..", r"import.repository: '\.\./\.\.' does not match"),
        ("folder: logs", "repository: one", "import.repository: 'one' does not match"),
        ("where: {hardware: card}", "where: {gpu: card}", r"import.unlike\[0\].where: 'gpu' is unknown: it is one of"),
        ("{label: A card, ", "{", "machines.card: 'label' is a required property"),
        ("premium: skylake", "premium: 0.3", "machines.card.rent.premium: 0.3 is not a text"),
        ("book: [here.csv, current]", "book: []", r"book: .*non-empty"),
        ("book: [here.csv, current]", "book: 7", "book: 7 is not allowed: A price book of config/prices/ or the path"),
        ("book: current, instead", "book: 7, instead", "prices.today.book: 7 is not allowed: A name or a list"),
        ("purchase: month", "purchase: lease", "prices.month.purchase: 'lease' is not one of .*'spot', 'month'"),
        ("spot:\n", "Spot:\n", "prices: 'Spot' does not match"),
        ("share: 0.37", "share: 37", r"prices\S+on-demand\S+discount.share: 37 is greater than the maximum of 1"),
        (", source: one year", "", r"prices\S+on-demand\S+discount: 'source' is a required property"),
        ("hours_per_month: 365", "hours_per_month: 0", "prices.month.hours_per_month: 0 is less than or equal to"),
        ("sustained_use: true", "sustained_use: e2", "prices.month.sustained_use: 'e2' is not true or false"),
        ("restart_seconds: 60, ", "", "prices.spot.preemption: 'restart_seconds' is a required property"),
        ("checkpoint_seconds: 900", "checkpoint_seconds: .inf", "checkpoint_seconds: inf is not a finite number"),
        ("items: {p2.xlarge: 1}", "items: {}", "prices.today.instead.card.items: "),
        ("check: best", "check: worst", r"claims\[0\].check: 'worst' is not one of .*'best', 'never_best'"),
        ("says: it is best, ", "", r"claims\[0\]: 'says' is a required property"),
        ("between: [0.4, 0.6]", "between: [0.4]", r"claims\[1\].between: \[0.4\] is too short"),
        ("within: 0.05", "within: -1", r"claims\[2\].within: -1 is less than the minimum of 0"),
    ],
)
def test_bad_study_of_logs_is_named_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in IMPORTED
    with pytest.raises(InputError, match=message) as error:
        schemas.read_yaml(written(tmp_path, IMPORTED.replace(old, new)), "study")
    assert "\n" not in str(error.value)


OWNED = (
    "H100: {{acquisition_usd: {}, life_months: 48, hours_per_month: 500, power_watts: 10, usd_per_kwh: 0.1, "
    "as_of: 2026-11, source: an invoice}}"
)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: No such file"):
        model.read(tmp_path / "none.yaml")


def test_file_in_another_encoding_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(STUDY.replace("A study", "Année").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml"):
        model.read(path)


#: Over MACHINE: a value replaced, one removed, a machine removed, one added.
OWN = """
cpu1:
  label: mine
  rent: {items: {nvidia-tesla-k80: null}}
  clusters: {slurm: {slurm_partition: short, slurm_account: lab, runtime: 30, modules: cuda/12.4 gcc/13}}
cpu2: null
cpu3: {label: new, machine: {cores: 3}}
"""


def beside(path: Path, text: str) -> Path:
    own = schemas.own(path)
    own.write_text(text)
    return own


def test_own_machines_are_merged_over_the_catalogue(tmp_path: Path) -> None:
    path = written(tmp_path, MACHINE + "cpu2: {label: 2 vCPUs, machine: {cores: 2}}\n")
    assert beside(path, OWN).name == "given.local.yaml"
    catalogue = schemas.read_yaml(path, "hardware")
    assert list(catalogue) == ["cpu1", "cpu3"]
    assert (catalogue["cpu1"]["label"], catalogue["cpu1"]["machine"]) == ("mine", {"cores": 1})
    assert catalogue["cpu1"]["rent"]["items"] == {"n1-standard-1": 1}
    assert catalogue["cpu1"]["clusters"]["slurm"]["runtime"] == 30
    beside(path, "# cpu1: {label: all of it is commented out}\n")
    assert list(schemas.read_yaml(path, "hardware")) == ["cpu1", "cpu2"]


def test_own_file_beside_a_study_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path, STUDY)
    beside(path, "title: Mine\n")
    assert model.read(path)["title"] == "A study"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu1: {labl: x}", r"cpu1: 'labl' is unknown: it is one of"),
        ("cpu9: {label: x}", "cpu9: 'machine' is a required property"),
        ("cpu1: {machine: null}", "cpu1: 'machine' is a required property"),
        ("cpu1: {clusters: {slurm: {runtime: 15}}}", "cpu1.clusters.slurm.runtime: 15 is less than the minimum of 16"),
        ("cpu1: {clusters: {slurm: {modules: a;b}}}", "cpu1.clusters.slurm.modules: 'a;b' does not match"),
        ("cpu1: {clusters: {slurm: {labels: a=b}}}", r"cpu1.clusters.slurm: .*'labels'"),
        ("cpu1: {label: a}\ncpu1: {label: b}", "'cpu1' is given twice"),
        ("cpu1: {own: *own}", "not YAML: .*undefined alias"),
        ("- cpu1", "is not a mapping"),
        ("cpu1: null", "should be non-empty"),
    ],
)
def test_fault_of_an_own_machine_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, MACHINE)
    own = beside(path, text)
    with pytest.raises(InputError, match=message) as error:
        schemas.read_yaml(path, "hardware")
    assert str(error.value).startswith(f"{own}: ")


def _nested(levels: int, form: str) -> str:
    """Return mappings each of which names the one before nine times."""
    lines = ["a0: &a0 {" + ", ".join(f"k{i}: 1" for i in range(10)) + "}"]
    return "\n".join(lines + [f"a{i}: &a{i} {form % ', '.join([f'*a{i - 1}'] * 9)}" for i in range(1, levels)])


@pytest.mark.parametrize(
    "text",
    [
        _nested(12, "{<<: [%s]}"),
        _nested(12, "[%s]"),
        "a: &a {"
        + ", ".join(f"k{i}: 1" for i in range(1000))
        + "}\n"
        + "".join(f"b{i}: {{<<: *a}}\n" for i in range(101)),
        "a: &a {<<: *a}",
    ],
)
def test_a_few_lines_that_stand_for_millions_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"has more than [\d,]+ values|nested too deep, or in itself"):
        model.read(written(tmp_path, text))


def test_what_is_merged_is_put_in(tmp_path: Path) -> None:
    own = "{acquisition_usd: 1000, life_months: 48, power_watts: 100, usd_per_kwh: 0.2, hours_per_month: 240"
    text = (
        MACHINE.replace("  own: {", "  own: &own {")
        + "cpu2: {label: b, machine: {cores: 2}, own: {<<: *own, power_watts: 7}}"
    )
    found = schemas.read_yaml(written(tmp_path, text), "hardware")
    assert own in MACHINE
    assert (found["cpu2"]["own"]["power_watts"], found["cpu2"]["own"]["life_months"]) == (7, 48)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("machine: {cores: 0x10}", "line 2: 0x10: a number is written in decimal digits; a text stands in quotes"),
        ("machine: {cores: 010}", "line 2: 010: a number is written in decimal digits"),
        ("machine: {cores: 1:30}", "line 2: 1:30: a number is written in decimal digits"),
        ("machine: {cores: 1e2}", "cores: 100.0 is not a whole number"),
        ("machine: {cores: '４'}", "mine.machine.cores: '４' is not a whole number"),
    ],
)
def test_a_number_is_what_people_read(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "hardware.yaml").write_text(f"mine: {{label: Mine,\n {text}}}\n")
    with pytest.raises(InputError) as error:
        schemas.read_yaml(tmp_path / "hardware.yaml", "hardware")
    assert said in str(error.value)


#: A whole number that no float holds, and the largest that is allowed.
TOO_LARGE, LARGEST = 10**309, 10**100


@pytest.mark.parametrize(
    ("text", "schema", "said"),
    [
        (OWNED.format(TOO_LARGE), "owned", r"H100\.acquisition_usd: 100000000\.\.\. of 310 digits is too large"),
        (OWNED.format(-TOO_LARGE), "owned", r"H100\.acquisition_usd: -100000000\.\.\. of 310 digits"),
        (MACHINE.replace("cores: 1}", f"cores: {TOO_LARGE}}}"), "hardware", r"machine\.cores: 1\S+ of 310 digits"),
        ("scale: {samples: .02, epochs: " + "9" * 400 + "}", "study", r"scale\.epochs: 999999999\.\.\. of 400 digits"),
    ],
)
def test_a_whole_number_that_no_float_holds_is_refused(tmp_path: Path, text: str, schema: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"a\.yaml: .*{said}") as error:
        schemas.parse_yaml(text, schema, tmp_path / "a.yaml")
    with pytest.raises(InputError, match=r"is too large: at most 1e\+100 is allowed"):
        schemas.plain_yaml(text, "a.yaml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["parameters", "validation_samples", "seed"])
@pytest.mark.parametrize("count", [2**53 + 1, 2**63, 10**30])
def test_a_record_has_no_count_that_a_column_of_whole_numbers_does_not_hold(key: str, count: int) -> None:
    run = json.loads((ROOT / "tests/records/raw/trained/run.json").read_text())
    schemas.validate(run | {key: 2**53}, "run", "run.json")
    with pytest.raises(
        InputError, match=rf"run\.json: {key}: {str(count)[:9]}\.\.\. of {len(str(count))} digits is too large"
    ):
        schemas.validate(run | {key: count}, "run", "run.json")


@pytest.mark.parametrize("where", ['{"a": [{"b": %d}]}', '{"c": 1, "a": [{"b": -%d}]}'])
def test_nor_does_json_hold_one(where: str) -> None:
    with pytest.raises(InputError, match=r"run\.json: a\.0\.b: -?100000000\.\.\. of 310 digits is too large"):
        schemas.read_json(where % TOO_LARGE, "run.json")
    assert schemas.read_json(where % LARGEST, "run.json")["a"]
    with pytest.raises(InputError, match="of 101 digits is too large"):
        schemas.read_json(where % (LARGEST + 1), "run.json")
