from pathlib import Path

import pytest

from scripts import find_unstable
from scripts.measurement import record
from tests import made


def recorded(folder: Path, cell: str, *seconds: float | None) -> list[Path]:
    """Write the records of a cell's runs; None is one that failed."""
    paths = []
    for repeat, value in enumerate(seconds, 1):
        run = made.failed_record() if value is None else made.record()
        rows = [made.epoch(training_seconds=value, validation_seconds=0.0)] if value is not None else []
        record.write(folder / cell / f"r{repeat}", run | {"repeat": repeat}, rows, [])
        paths.append(folder / cell / f"r{repeat}" / "run.json")
    return paths


@pytest.mark.parametrize(
    ("seconds", "found"),
    [((10.0, 10.5), []), ((10.0, 12.0), ["net/cpu1/jax/b1"]), ((10.0, None), []), ((None, None), []), ((10.0,), [])],
)
def test_cell_whose_runs_differ_is_found(tmp_path: Path, seconds: tuple, found: list[str]) -> None:
    assert find_unstable.unstable(tmp_path, recorded(tmp_path, "net/cpu1/jax/b1", *seconds), 0.1) == found


def test_cells_are_judged_by_themselves(tmp_path: Path) -> None:
    paths = recorded(tmp_path, "a", 10.0, 10.1) + recorded(tmp_path, "b", 20.0, 30.0)
    assert find_unstable.unstable(tmp_path, paths, 0.1) == ["b"]
