"""One point of the grid, and one run of it."""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """What is trained, on what, by which framework, at which size.

    `samples` is the fraction (0 to 1] of the data set's samples; `data` is `real` or `synthetic`.
    """

    workload: str
    hardware: str
    framework: str
    batch_size: int
    epochs: int
    samples: float
    data: str

    @property
    def path(self) -> str:
        """Where the cell's runs lie below the study's folder, short enough to type."""
        return f"{self.workload}/{self.hardware}/{self.framework}/b{self.batch_size}"

    def seed(self, repeat: int) -> int:
        """Return the seed of one run: distinct per run, and untouched by what else a study holds."""
        return zlib.crc32(f"{self.path}/r{repeat}".encode())
