"""One point of the grid, and one run of it."""

import zlib
from dataclasses import dataclass

#: How a model is trained. `sparse` is `tuned` with embeddings updated in the rows of the batch only, another update
#: rule; `plain_lstm` is `stock` with cuDNN's fused LSTM switched off.
MODES = ("stock", "tuned", "sparse", "plain_lstm")

#: float32 forbids tf32; bfloat16 and float16 are Keras's mixed policies.
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")

#: In place of a batch size: the largest that fits, found on the machine before the run.
LARGEST = "largest"


@dataclass(frozen=True)
class Cell:
    """What is trained, on what, by which framework, at which size, how.

    `batch_size` is that of one device; `devices` train data-parallel. `samples` is the fraction (0 to 1] of
    the data set's samples; `data` is `real` or `synthetic`. A run ends before its epochs are over when it
    reaches `target` (validation accuracy, or loss where there is no validation).
    """

    workload: str
    hardware: str
    framework: str
    batch_size: int | str
    epochs: int
    samples: float
    data: str
    mode: str = "stock"
    precision: str = "float32"
    devices: int = 1
    target: float | None = None

    @property
    def variant(self) -> str:
        """The cell's last folder: its batch size, and what differs from a plain float32 training on one device."""
        parts = [f"b{self.batch_size}"]
        parts += [self.mode] if self.mode != "stock" else []
        parts += [self.precision] if self.precision != "float32" else []
        parts += [f"x{self.devices}"] if self.devices != 1 else []
        return "-".join(parts)

    @property
    def path(self) -> str:
        """Where the cell's runs lie below the study's folder, short enough to type."""
        return f"{self.workload}/{self.hardware}/{self.framework}/{self.variant}"

    def seed(self, repeat: int) -> int:
        """Return the seed of one run: distinct per run, and untouched by what else a study holds."""
        return zlib.crc32(f"{self.path}/r{repeat}".encode())

    def arguments(self, repeat: int, workload: str) -> list[str]:
        """Return the arguments of scripts/train.py for one run, its outputs not among them.

        `workload` is the cell's, or the path of its file where that is the user's own.
        """
        given = {
            "workload": workload,
            "hardware": self.hardware,
            "framework": self.framework,
            "batch-size": self.batch_size,
            "mode": self.mode,
            "precision": self.precision,
            "devices": self.devices,
            "epochs": self.epochs,
            "samples": _exactly(self.samples),
            "data": "real" if self.data == "own" else self.data,
            "repeat": repeat,
            "seed": self.seed(repeat),
        } | ({} if self.target is None else {"target": _exactly(self.target)})
        return [word for name, value in given.items() for word in (f"--{name}", str(value))]


def _exactly(value: float) -> str:
    """Return a number as it was typed: a third is more than six digits."""
    return repr(value).removesuffix(".0")
