"""The largest batch is found by doubling until one does not fit."""

from pathlib import Path

from scripts.measurement import largest
from scripts.measurement.outcome import Outcome
from scripts.measurement.worker import Job
from scripts.records.cell import Cell

CELL = Cell("mnist_mlp", "cpu1", "jax", batch_size="largest", epochs=20, samples=1.0, data="real", target=0.9)


def find(fits: int, most: int, gpus: int = 0):
    """Search on a machine where batches up to `fits` fit; return what is found, the tries, the jobs."""
    jobs: list[tuple[Job, float | None]] = []

    def train(job: Job, progress, limit: float | None) -> Outcome:
        jobs.append((job, limit))
        good = int(job.cell.batch_size) <= fits
        return Outcome("done" if good else "out_of_memory", facts={"peak_memory_mib": 100.0})

    found, tries = largest.find(Job(CELL, 7, 1, gpus, Path("data.npz")), 128, most, lambda line: None, train)
    return found, [(one.batch_size, one.status) for one in tries], jobs


def test_doubles_until_one_does_not_fit() -> None:
    found, tries, jobs = find(600, 10_000)
    assert found == 512
    assert tries == [(128, "done"), (256, "done"), (512, "done"), (1024, "out_of_memory")]
    for job, limit in jobs:
        assert job.probe
        assert (job.cell.epochs, job.cell.target) == (1, None)
        assert limit is not None, "on the CPU the machine's own memory is the limit"


def test_no_step_holds_more_than_all_samples() -> None:
    assert find(10**9, 1000)[0] == 512


def test_machine_that_holds_not_even_the_smallest() -> None:
    assert find(64, 1000)[:2] == (None, [(128, "out_of_memory")])
    assert find(128, 100)[0] == 128, "the published size is tried whatever there is"


def test_repeats_take_what_the_first_run_found() -> None:
    tries = [{"batch_size": 128, "status": "done"}, {"batch_size": 256, "status": "out_of_memory"}]
    assert largest.found({"batch_search": tries}) == 128
    assert largest.found({"batch_search": tries[1:]}) is None, "they search again"
    late = [tries[0], {"batch_size": 256, "status": "timed_out"}]
    assert largest.found({"batch_search": late}) is None, "nothing was shown not to fit"


def test_gpu_says_itself_when_its_memory_ends() -> None:
    assert [limit for _, limit in find(128, 1000, gpus=1)[2]] == [None, None]
