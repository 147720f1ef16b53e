"""The settings of a call: one model checks them, and writes config/config.yaml and its table in the documents."""

from typing import Any

import pytest
import yaml

from scripts.storage.errors import InputError
from scripts.studies import model, settings
from scripts.studies.definition import ROOT

FILE = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def test_the_file_holds_each_setting_with_its_default() -> None:
    defaults = {name: field.default for name, field in settings.Settings.model_fields.items()}
    assert defaults | {"published": FILE["published"]} == FILE
    settings.check_config(FILE, model.AXES)


def test_the_published_studies_stay_when_the_file_is_written_anew() -> None:
    assert yaml.safe_load("\n".join(settings.file(["a", "b"]))) == FILE | {"published": ["a", "b"]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"proflie": "local"},
            r"--config: 'proflie' is unknown: it is one of study, profile, .*; is 'profile' meant\?",
        ),
        ({"framework": ["jax"]}, r"--config: 'framework' is unknown: .*; is 'frameworks' meant\?"),
        ({"published": "two-cores"}, r"--config: published: 'two-cores' is not a list \(\[one, another\]\)"),
        ({"published": ["two-cores", 5]}, r"--config: published\[1\]: 5 is not a text"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        settings.check_config(FILE | given, model.AXES)


def test_what_snakemake_takes_for_a_number_or_nothing_is_a_text() -> None:
    given = FILE | {"study": 2018, "kit_python": 3.12, "data_dir": None}
    assert settings.texts(given) | {"study": "2018"} == settings.texts(FILE) | {"study": "2018"}
    settings.check_config(given, ())
