"""What comes next on a machine whose time ends soon."""

from dataclasses import replace

from scripts.kit import queue
from scripts.kit.queue import Run, expected_seconds, next_run
from scripts.records.cell import LARGEST, Cell

MLP = Cell("mnist_mlp", "h100", "jax", 128, 20, 1.0, "real")
TORCH = replace(MLP, framework="torch")
GPT = replace(MLP, workload="nietzsche_gpt", batch_size=64)
FULL = replace(GPT, batch_size=LARGEST)


def test_unknown_runs_are_given_a_minute_and_a_search_more() -> None:
    assert expected_seconds(Run(MLP, 1), {}) == queue.UNKNOWN_SECONDS
    assert expected_seconds(Run(FULL, 1), {}) == queue.UNKNOWN_SEARCH_SECONDS


def test_nearest_known_runs_count_the_longest_of_them() -> None:
    lasted = {Run(MLP, 1): 20.0, Run(MLP, 2): 30.0, Run(replace(MLP, mode="tuned"), 1): 40.0, Run(GPT, 1): 100.0}
    assert expected_seconds(Run(MLP, 3), lasted) == 30 * queue.SAME_CELL
    assert expected_seconds(Run(replace(MLP, precision="tf32"), 1), lasted) == 40 * queue.SAME_FRAMEWORK
    assert expected_seconds(Run(TORCH, 1), lasted) == 40 * queue.SAME_WORKLOAD
    assert expected_seconds(Run(replace(MLP, workload="resnet50"), 1), lasted) == queue.UNKNOWN_SECONDS


def test_a_search_is_not_taken_for_a_training_of_a_known_batch() -> None:
    lasted = {Run(GPT, 1): 10.0, Run(FULL, 1): 30.0}
    assert expected_seconds(Run(FULL, 2), lasted) == 30 * queue.SAME_CELL
    assert expected_seconds(Run(replace(FULL, precision="tf32"), 1), lasted) == queue.UNKNOWN_SEARCH_SECONDS
    assert expected_seconds(Run(FULL, 1), {Run(FULL, 1): 600.0}) == 600 * queue.SAME_CELL


def test_the_first_that_ends_in_time_is_next() -> None:
    pending = [Run(GPT, 2), Run(MLP, 2), Run(TORCH, 2)]
    lasted = {Run(GPT, 1): 100.0, Run(MLP, 1): 20.0, Run(TORCH, 1): 10.0}
    assert next_run(pending, lasted, 200) == pending[0]
    assert next_run(pending, lasted, 109) == pending[1]
    assert next_run(pending, lasted, 12) == pending[2]
    assert next_run(pending, lasted, 10) is None
    assert next_run([], lasted, 1000) is None


def test_runs_of_the_largest_batch_wait_for_the_one_that_finds_it() -> None:
    pending = [Run(FULL, 2), Run(FULL, 1)]
    assert next_run(pending, {}, 1000) == Run(FULL, 1)
    assert next_run(pending[:1], {}, 1000) == Run(FULL, 2)
    assert next_run(pending, {}, 100) is None
