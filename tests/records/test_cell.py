from dataclasses import replace

import pytest

from scripts.records.cell import Cell

CELL = Cell("mnist_mlp", "cpu1", "jax", batch_size=128, epochs=20, samples=1.0, data="real")


def test_path_can_be_typed() -> None:
    assert CELL.path == "mnist_mlp/cpu1/jax/b128"


def test_path_says_what_is_not_plain() -> None:
    cell = replace(CELL, batch_size="largest", mode="tuned", precision="bfloat16", devices=4)
    assert cell.path == "mnist_mlp/cpu1/jax/blargest-tuned-bfloat16-x4"


@pytest.mark.parametrize("samples", [1.0, 0.02, 1 / 3, 0.3333333, 1e-5])
def test_scale_is_trained_as_it_was_typed(samples: float) -> None:
    words = replace(CELL, samples=samples, target=samples).arguments(1, "mnist_mlp")
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert float(given["--samples"]) == float(given["--target"]) == samples


def test_every_run_has_its_own_seed() -> None:
    changes = [{"batch_size": 64}, {"hardware": "cpu2"}, {"framework": "torch"}, {"mode": "tuned"}, {"devices": 2}]
    cells = [CELL, *(replace(CELL, **change) for change in changes), replace(CELL, precision="bfloat16")]
    seeds = [cell.seed(repeat) for cell in cells for repeat in range(1, 6)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds), "NumPy takes no other"


@pytest.mark.parametrize("change", [{"epochs": 2}, {"samples": 0.1}, {"data": "synthetic"}, {"target": 0.9}])
def test_seed_does_not_change_with_the_scale(change: dict) -> None:
    assert replace(CELL, **change).seed(1) == CELL.seed(1)


def test_seed_is_the_same_tomorrow() -> None:
    assert CELL.seed(1) == 3511922428, "published in run records"
