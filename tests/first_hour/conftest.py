"""What a person sees who has an account and tries it for the first time: each refusal, through each profile."""

import re
from dataclasses import dataclass

from tests.clusters.conftest import cloud, cluster, image, machine, plugins, pods, service  # noqa: F401, fixtures


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    said: str

    @property
    def last_screen(self) -> str:
        """What stands from the first line on that says what was not done, each run of spaces as one."""
        assert "NOT DONE: " in self.said, self.said[-3000:]
        return " ".join(self.said[self.said.index("NOT DONE: ") :].split())

    def is_refused(self, cause: str, to_do: str) -> None:
        """Check that the last screen names cause and remedy, that the call failed, and that nothing has ended."""
        assert self.code not in (0, None)
        assert "Traceback" not in self.last_screen
        assert cause in self.last_screen, self.said[-3000:]
        assert to_do in self.last_screen.partition("to do: ")[2], self.said[-3000:]
        counted = re.findall(r"(\d+) of \d+ runs ended", self.said)
        assert set(counted) <= {"0"}, counted
