"""The workflows by which Snakemake tries every executor, here on the emulator."""

from collections.abc import Mapping

import pytest
from conftest import Site
from snakemake.common.tests import TestWorkflowsBase
from snakemake.settings.types import RemoteExecutionSettings
from snakemake_executor_plugin_gcebatch import ExecutorSettings
from snakemake_interface_common.plugin_registry.plugin import TaggedSettings
from snakemake_storage_plugin_gcs import StorageProviderSettings


@pytest.mark.nightly
class TestWorkflows(TestWorkflowsBase):
    __test__ = True

    @pytest.fixture(autouse=True)
    def services(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        self.emulator = site.emulator
        for name, value in site.environment.items():
            monkeypatch.setenv(name, value)

    def get_executor(self) -> str:
        return "gcebatch"

    def get_executor_settings(self) -> ExecutorSettings:
        return ExecutorSettings(project="our-project", region="us-central1", container="image")

    def get_remote_execution_settings(self) -> RemoteExecutionSettings:
        return RemoteExecutionSettings(seconds_between_status_checks=1, envvars=self.get_envvars())

    def get_assume_shared_fs(self) -> bool:
        return False

    def get_default_storage_provider(self) -> str:
        return "gcs"

    def get_default_storage_prefix(self) -> str:
        return "gs://bucket/common"

    def get_default_storage_provider_settings(self) -> Mapping[str, TaggedSettings]:
        tagged = TaggedSettings()
        tagged.register_settings(StorageProviderSettings(project="our-project"))
        return {"gcs": tagged}

    def cleanup_test(self) -> None:
        """Every job had a machine, and none is left."""
        assert self.emulator.created
        assert self.emulator.running() == []
