"""One model of a study: schema, documents, defaults and errors say the same, as they come from it."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from scripts.costs import hourly
from scripts.storage import schemas
from scripts.storage.errors import InputError
from scripts.studies import definition, describe, kinds, model
from tests.faults.answers import put

SCHEMA = json.loads((definition.ROOT / "config" / "schemas" / "study.schema.json").read_text())
STUDIES = sorted((definition.ROOT / "config" / "studies").glob("*.yaml"))

STUDY: dict[str, Any] = {
    "title": "A study",
    "workloads": ["mnist_mlp"],
    "hardware": ["cpu1"],
    "frameworks": ["jax"],
    "base": {"hardware": "cpu1", "framework": "jax"},
    "scale": {"samples": 0.5, "epochs": 2},
    "prices": {"on-demand": {"purchase": "on-demand"}},
    "claims": [{"says": "It pays.", "check": "less", "cell": {"hardware": ["cpu1", "cpu4"]}}],
}


def refusal(value: Any) -> str:
    with pytest.raises(InputError) as error:
        kinds.check(value, model.of(value), "mine.yaml")
    return str(error.value)


def test_the_schema_is_that_of_the_model() -> None:
    assert describe.schema(model.whole()) == SCHEMA, "run `python -m scripts.document`"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_of_the_project_obey_schema_and_model(path: Path) -> None:
    study = schemas.plain_yaml(path.read_text(), path)
    jsonschema.Draft202012Validator(SCHEMA).validate(study)
    kinds.check(study, model.of(study), path)


def test_a_default_is_what_counts_and_what_schema_and_documents_say(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("{title: t, import: {format: keras_csv, facts: a.csv}}")
    _, config = definition.read(str(path), {})
    charts = ["relative_time", "relative_cost", "dollars", "pareto", "learning"]
    assert config["charts"] == charts
    assert SCHEMA["properties"]["charts"]["default"] == charts
    defaults = {key: about["default"] for key, about in SCHEMA["properties"].items() if "default" in about}
    assert {key: config[key] for key in defaults} == defaults
    page = (definition.ROOT / "docs" / "studies.md").read_text()
    assert f"| `charts` | list of text | `{json.dumps(charts)}` |" in page
    kinds.check({"title": "t"} | defaults, model.of(defaults), "the defaults")


def test_a_default_that_one_study_changes_is_no_other_studys(tmp_path: Path) -> None:
    model.defaults()["charts"].append("bill")
    assert "bill" not in model.defaults()["charts"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("titel", "t", "mine.yaml: 'titel' is unknown: it is one of title, .*; is 'title' meant\\?"),
        ("workload", ["mnist_mlp"], "'workload' is unknown: it is one of .*; is 'workloads' meant\\?"),
        ("zzz", 1, "'zzz' is unknown: it is one of title, [^;]*$"),
        ("scale.sample", 0.5, "scale: 'sample' is unknown: it is one of samples, epochs; is 'samples' meant\\?"),
        ("title", ..., "mine.yaml: 'title' is a required property"),
        ("base.framework", ..., "base: 'framework' is a required property"),
        ("title", None, "title: is empty: must be a text"),
        ("title", "", "title: '' should be non-empty"),
        ("workloads", [], r"workloads: \[\] should be non-empty"),
        ("workloads", "mnist_mlp", r"workloads: 'mnist_mlp' is not a list \(\[one, another\]\)"),
        ("hardware", "cpu1", "hardware: 'cpu1' is not allowed: A list of entries of config/hardware.yaml, or the word"),
        ("hardware", ["cpu1", 5], r"hardware\[1\]: 5 is not a text"),
        ("scale", "half", r"scale: 'half' is not allowed: full \(the published size\), or samples: a fraction"),
        ("scale.samples", 2, "scale.samples: 2 is greater than the maximum of 1"),
        ("scale.samples", 0, "scale.samples: 0 is less than or equal to the minimum of 0"),
        ("scale", {}, "scale: {} should be non-empty"),
        ("batch_sizes", ["huge"], r"batch_sizes\[0\]: 'huge' is not allowed: published, largest, or a whole number"),
        ("batch_sizes", [0], r"batch_sizes\[0\]: 0 is less than the minimum of 1"),
        ("modes", ["stock", "stock"], "modes: 'stock' is given twice"),
        ("data", "reel", "data: 'reel' is not one of 'real', 'synthetic' or 'real-or-synthetic'"),
        ("prices.on-demand.purchase", "won", r"prices\['on-demand'\].purchase: 'won' is not one of 'on-demand'"),
        ("prices", {"On Demand": {}}, "'On Demand' does not match"),
        ("claims.0.cell.hardware", ["cpu1", None], r"claims\[0\].cell.hardware\[1\]: is empty: must be a text"),
        ("claims.0.between", [1], r"claims\[0\].between: \[1\] is too short: 2 are needed"),
        ("published", {"title": "t", "by": "b", "date": "d", "url": "https://a\n"}, "published.url: .* does not match"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_key_value_and_what_is_allowed(key: str, value: Any, said: str) -> None:
    found = refusal(put(STUDY, key, value))
    assert re.search(said, found), found
    assert "\n" not in found


@pytest.mark.parametrize("value", ["1", 1.0, True, None, [1], float("nan"), float("inf"), "1e3"])
@pytest.mark.parametrize("key", ["repeats", "scale.epochs"])
def test_nothing_is_taken_for_a_whole_number(key: str, value: Any) -> None:
    assert key in refusal(put(STUDY, key, value))


@pytest.mark.parametrize("value", ["0.1", True, "yes", float("nan"), float("inf"), None])
def test_nothing_is_taken_for_a_number(value: Any) -> None:
    assert "unstable_above" in refusal(STUDY | {"unstable_above": value})


@pytest.mark.parametrize("value", ["yes", "true", 1, 0, None])
def test_nothing_is_taken_for_true_or_false(value: Any) -> None:
    assert "stop_at_target" in refusal(STUDY | {"stop_at_target": value})


def test_a_number_stays_as_it_was_written(tmp_path: Path) -> None:
    """480 and 480.0 are the same length of a run, and not the same text, which says what is made again."""
    path = tmp_path / "mine.yaml"
    path.write_text("{title: t, max_run_minutes: 10, import: {format: keras_csv, facts: a.csv}}")
    assert json.dumps(definition.read(str(path), {})[1]["max_run_minutes"]) == "10"


RENT = {"provider": "gce", "region": "us-central1", "items": {"n1-standard-4": 1}}
OWN = {"acquisition_usd": 1000, "life_months": 48, "power_watts": 100, "usd_per_kwh": 0.2, "hours_per_month": 240}
PREEMPTION = {"preemptions_per_hour": 0.1, "restart_seconds": 60, "source": "a guess"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"machines.a.rent.purchase": "on-demand"}, "without, on demand"),
        ({"machines.b.own.residual_usd": 0}, "without, nothing"),
        ({"machines.b.own.maintenance_usd_per_month": 0}, "Without, nothing"),
        ({"prices.as-it-is.hours_per_month": 730}, "without, 730: all of them"),
        ({"prices.as-it-is.months": 1}, "without, one"),
        ({"prices.as-it-is.in_a_row": False}, "Trainings follow one another"),
        ({"prices.spot.preemption.save_seconds": 0}, "Without, 0"),
    ],
    ids=lambda value: next(iter(value), None) if isinstance(value, dict) else None,
)
def test_what_counts_without_a_key_is_what_the_documents_say(change: dict[str, Any], said: str) -> None:
    study: dict[str, Any] = model.defaults() | {
        "title": "t",
        "machines": {
            "a": {"label": "A", "rent": RENT},
            "b": {"label": "B", "own": OWN | {"as_of": "2026", "source": "a bill"}},
        },
        "prices": {"as-it-is": {}, "spot": {"purchase": "spot", "preemption": PREEMPTION}},
    }
    ((key, value),) = change.items()
    changed = put(study, key, value)
    kinds.check(changed, model.of(changed), "mine.yaml")
    rows = hourly.of_study(study, study["machines"], study["machines"])
    assert len(rows) == 3
    assert hourly.of_study(changed, changed["machines"], changed["machines"]) == rows
    assert said in (definition.ROOT / "docs" / "studies.md").read_text()
