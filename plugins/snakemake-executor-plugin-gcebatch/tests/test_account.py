from pathlib import Path

import pytest
from snakemake_executor_plugin_gcebatch import account


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on a VM of Google."""
    monkeypatch.setattr(account, "_PRODUCT", tmp_path / "product_name")


def test_credentials_are_a_file_that_is_named(tmp_path: Path) -> None:
    variables = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")}
    assert not account.has_credentials(variables)
    (tmp_path / "key.json").write_text("{}")
    assert account.has_credentials(variables)


@pytest.mark.parametrize("variable", ["CLOUDSDK_CONFIG", "HOME"])
def test_credentials_are_those_of_gcloud(tmp_path: Path, variable: str) -> None:
    folder = tmp_path if variable == "CLOUDSDK_CONFIG" else tmp_path / ".config" / "gcloud"
    variables = {variable: str(tmp_path)}
    assert not account.has_credentials(variables)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "application_default_credentials.json").write_text("{}")
    assert account.has_credentials(variables)


def test_vm_of_google_has_an_account(tmp_path: Path) -> None:
    (tmp_path / "product_name").write_text("Google Compute Engine\n")
    assert account.has_credentials({"HOME": str(tmp_path)})


def test_storage_begins_without_an_account_and_nowhere_else(tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path)}
    account.let_storage_begin(variables)
    assert variables["STORAGE_EMULATOR_HOST"] == account.NOWHERE
    variables = {"HOME": str(tmp_path), "STORAGE_EMULATOR_HOST": "http://localhost:4443"}
    account.let_storage_begin(variables)
    assert variables["STORAGE_EMULATOR_HOST"] == "http://localhost:4443"
