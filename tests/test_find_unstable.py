from pathlib import Path

import pytest

from scripts import find_unstable
from scripts.records import record
from scripts.records.samples import Sample
from tests import made


def recorded(folder: Path, cell: str, *seconds: float | None) -> list[Path]:
    """Write the records of a cell's runs; None is one that failed."""
    paths = []
    for repeat, value in enumerate(seconds, 1):
        run, rows = (made.failed_record(), []) if value is None else made.timed(value)
        record.write(folder / cell / f"r{repeat}", run | {"repeat": repeat}, rows, [])
        paths.append(folder / cell / f"r{repeat}" / "run.json")
    return paths


A, B = "net/cpu1/jax/b1", "net/cpu2/jax/b1"


def again(folder: Path, paths: list[Path], disturbed_too: bool = False) -> list[str]:
    """Return the runs that are measured once more, in a study of two repeats."""
    return list(find_unstable.again(folder, paths, 0.1, 2, disturbed_too))


@pytest.mark.parametrize(
    ("seconds", "found"),
    [((10.0, 10.5), []), ((10.0, 12.0), [f"{A}/r3", f"{A}/r4"]), ((10.0, None), []), ((None, None), []), ((10.0,), [])],
)
def test_cell_whose_runs_differ_is_found(tmp_path: Path, seconds: tuple, found: list[str]) -> None:
    assert again(tmp_path, recorded(tmp_path, A, *seconds)) == found


def test_cells_are_judged_by_themselves_and_measured_in_rounds(tmp_path: Path) -> None:
    paths = recorded(tmp_path, A, 10.0, 10.1) + recorded(tmp_path, B, 20.0, 30.0)
    assert again(tmp_path, paths) == [f"{B}/r3", f"{B}/r4"]
    paths = recorded(tmp_path, A, 10.0, 12.1) + recorded(tmp_path, B, 20.0, 30.0)
    assert again(tmp_path, paths) == [f"{A}/r3", f"{B}/r3", f"{A}/r4", f"{B}/r4"]


def test_disturbed_runs_are_measured_once_more_where_a_study_asks_for_it(tmp_path: Path) -> None:
    """The second run took longer as others used the machine: that makes its cell unstable only if it is left in."""
    paths = recorded(tmp_path, A, 10.0, 12.0)
    samples = [Sample(100.0 + i, "train", 90.0, 256.0, 50.0, 40.0) for i in range(20)]
    run, rows = made.timed(12.0, repeat=2)
    record.write(tmp_path / A / "r2", run, rows, samples)
    assert again(tmp_path, paths, disturbed_too=True) == [f"{A}/r4"]
    assert again(tmp_path, paths) == [f"{A}/r3", f"{A}/r4"]
