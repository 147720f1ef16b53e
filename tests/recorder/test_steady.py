"""Sessions of trainings whose whole is known beforehand: a minute of each, and what it promises."""

import random
from itertools import pairwise
from statistics import median

import pytest
from epochs_per_dollar import etas, lines, progress, steady
from epochs_per_dollar.steady import Rate


class Training:
    """Trainings as programs run them: a start, a slow first step, warm-up, steps with noise, evaluations.

    `clock` holds the seconds after which each step was done.
    """

    def __init__(
        self,
        steps: int,
        each: float = 0.05,
        start: float = 8.0,
        first: float = 5.0,
        noise: float = 0.05,
        every: int = 0,
        pause: float = 0.0,
        seed: int = 1,
        compiled: tuple[int, ...] = (1,),
    ) -> None:
        chance = random.Random(seed)
        self.clock, now = [], start
        for step in range(1, steps + 1):
            now += each * chance.lognormvariate(0, noise) + (first if step in compiled else 0)
            if every and step % every == 0:
                now += pause
            self.clock.append(now)

    def printed(self, every: int, until: float) -> steady.Rate:
        """Return what is made of the first seconds of it, of lines that come after so many steps."""
        points = [
            progress.Point(now, step, 0) for step, now in enumerate(self.clock, 1) if step % every == 0 and now < until
        ]
        rate = steady.measure(points)
        assert rate is not None
        return rate


@pytest.mark.parametrize("printed_every", [1, 10, 40])
@pytest.mark.parametrize("every", [0, 250])
@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_a_minute_promises_the_whole(printed_every: int, every: int, noise: float) -> None:
    apart = []
    for seed in range(12):
        training = Training(20_000, noise=noise, every=every, pause=3.0, seed=seed)
        promised = training.printed(printed_every, until=73).seconds_of(20_000)
        apart.append(abs(promised / training.clock[-1] - 1))
    assert median(apart) < 0.02
    assert max(apart) < 0.05


def test_start_and_compilation_are_paid_once() -> None:
    rate = Training(5_000, start=20, first=30, noise=0.01).printed(1, until=110)
    assert rate.once_seconds == pytest.approx(50, abs=0.5)
    assert rate.units_per_second == pytest.approx(20, rel=0.01)


def test_first_steps_that_are_faster_take_nothing_from_what_is_paid_once() -> None:
    """A start of 8 s, then 400 steps of 0.01 s and all others of 0.08 s, as of sequences that become longer."""
    clock = [8 + 0.01 * min(step, 400) + 0.08 * max(0, step - 400) for step in range(1, 2_001)]
    rate = steady.measure([progress.Point(now, step, 0) for step, now in enumerate(clock[:1_200], 1)])
    assert rate.once_seconds == pytest.approx(8, abs=0.1)
    assert rate.faster_seconds == pytest.approx(400 * 0.07, rel=0.02)
    assert rate.seconds_of(2_000) == pytest.approx(clock[-1], rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_paid_once_is_the_time_to_the_first_step_at_least(seed: int) -> None:
    training = Training(2_000, start=6.0, first=0.0, noise=0.3, seed=seed)
    rate = training.printed(1, until=60)
    assert rate.once_seconds >= training.clock[0] - 0.06


def test_evaluations_are_counted_by_their_cadence() -> None:
    rate = Training(5_000, noise=0.02, every=200, pause=4.0).printed(5, until=80)
    (pauses,) = rate.pauses
    assert pauses.known_by == "regular"
    assert pauses.every_units == pytest.approx(200, rel=0.02)
    assert pauses.each_seconds == pytest.approx(4.0, rel=0.1)


def test_an_evaluation_that_was_seen_once_is_said_to_be() -> None:
    (pauses,) = Training(5_000, noise=0.02, every=900, pause=4.0).printed(5, until=70).pauses
    assert (pauses.count, pauses.known_by) == (1, "once")


@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("printed_every", [1, 5, 20])
def test_noise_of_steps_is_no_pause(noise: float, printed_every: int) -> None:
    """Of lognormal noise fewer than 0.1 in 1,000 steps are taken for one, also in a session of twelve lines."""
    found, steps = 0, 0
    for seed in range(60):
        for lines_read in (12, 12, 12, 200):
            training = Training(lines_read * printed_every, noise=noise, first=0, seed=1000 * seed + lines_read)
            rate = training.printed(printed_every, until=1e9)
            found += sum(pauses.count for pauses in rate.pauses)
            steps += lines_read * printed_every
    assert 1000 * found / steps < 0.1


@pytest.mark.parametrize(("noise", "pause"), [(0.1, 1.0), (0.3, 2.0)])
@pytest.mark.parametrize("printed_every", [1, 5])
def test_pauses_that_stand_out_of_the_noise_are_found(noise: float, pause: float, printed_every: int) -> None:
    """At steps of 0.05 s: of twelve in each of ten trainings."""
    rates = [
        Training(1_250, noise=noise, first=0, every=100, pause=pause, seed=seed).printed(printed_every, until=1e9)
        for seed in range(10)
    ]
    found = [sum(pauses.count for pauses in rate.pauses) for rate in rates]
    assert max(found) <= 12
    assert sum(found) >= 0.95 * 120
    assert median(rate.pauses[0].each_seconds for rate in rates) == pytest.approx(pause, rel=0.1)


@pytest.mark.parametrize("compiled", [(1,), (2,), (1, 2, 4), (30,)])
@pytest.mark.parametrize("every", [0, 200])
@pytest.mark.parametrize("printed_every", [1, 5])
def test_a_step_that_compiles_is_paid_once(compiled: tuple[int, ...], every: int, printed_every: int) -> None:
    """Also if it is the second, and whatever pauses come later: a graph that is compiled again is no evaluation."""
    training = Training(20_000, first=30.0, compiled=compiled, every=every, pause=4.0)
    rate = training.printed(printed_every, until=training.clock[1_199])
    assert rate.once_seconds == pytest.approx(8 + 30 * len(compiled), abs=0.5)
    assert [(one.known_by, one.every_units) for one in rate.pauses] == ([("regular", 200)] if every else [])
    assert rate.seconds_of(20_000) == pytest.approx(training.clock[-1], rel=0.01)


def test_a_pause_of_a_resumed_training_is_counted_from_where_it_went_on() -> None:
    """From 4,000 on: an evaluation at 4,500, and none before 4,700."""
    points = [progress.Point(10 + 0.1 * step + (5 if step >= 500 else 0), 4_000 + step, 0) for step in range(0, 701, 5)]
    rate = steady.measure(points)
    assert rate is not None
    assert [(one.known_by, one.every_units) for one in rate.pauses] == [("once", 500)]


def test_a_session_that_is_still_speeding_up_is_not_settled() -> None:
    points = [progress.Point(10 + 60 * (1 - 0.98**step), step, 0) for step in range(1, 60)]
    rate = steady.measure(points)
    assert rate is not None
    assert not rate.settled


def test_too_short_a_session_does_not_know_whether_it_is_steady() -> None:
    rate = steady.measure([progress.Point(5 + step, step, 0) for step in range(5)])
    assert rate is not None
    assert rate.apart != rate.apart
    assert not rate.settled


@pytest.mark.parametrize("points", [[], [progress.Point(1, 1, 0)], [progress.Point(1, 1, 0), progress.Point(2, 1, 0)]])
def test_without_two_counts_there_is_no_rate(points: list[progress.Point]) -> None:
    assert steady.measure(points) is None


def read(
    *said: tuple[float, str], command: str = "", of: float | None = None, epochs: float | None = None
) -> progress.Whole | None:
    """Return how long a training is whose program said these lines at these seconds."""
    seen = progress.Progress()
    for seconds, line in said:
        seen.add(seconds, lines.read(line))
    steps = seen.steps()
    assert steps is not None
    return progress.whole(seen, steps, command.split(), of, epochs)


def bar(epoch: str, done: int, total: int) -> str:
    return f"{epoch}{100 * done // total:3d}%|█▏  | {done}/{total} [00:12<01:28, 10.0it/s]"


def test_a_bar_of_all_steps_is_the_whole() -> None:
    said = [(i, bar("", 10 * i, 300)) for i in range(1, 9)]
    assert read(*said).units == 300
    # Transformers names a part of an epoch beside its bar of all steps.
    assert read(*said, (9, "{'loss': 1.0, 'epoch': 0.1}"), (10, "{'loss': 1.0, 'epoch': 0.2}")).units == 300


@pytest.mark.parametrize(
    ("said", "command", "units"),
    [
        ([(i, bar("Epoch 0: ", 100 * i, 1000)) for i in range(1, 9)], "train.py --epochs 5", 5000),
        ([(i, bar("Epoch 1/4: ", 100 * i, 1000)) for i in range(1, 9)], "", 4000),
        ([(i, bar("Epoch 0/3: ", 100 * i, 1000)) for i in range(1, 9)], "", 4000),
        ([(0, "Epoch 1/10"), *((i, f"{20 * i}/1875 [=>....] - ETA: 3s") for i in range(1, 9))], "", 18750),
        ([(i, f"Train Epoch: 1 [{640 * i}/60000 ({i}%)]") for i in range(9)], "main.py --epochs=14", 840_000),
        ([(i, f"iter {10 * i}: loss 2.0, time 1ms") for i in range(9)], "train.py --max_iters=5000", 5000),
        ([(i, f"epoch {i}: loss 2.0") for i in range(1, 5)], "train.py --num-epochs 90", 90),
        ([(i, f"step {10 * i}/700 loss 2.0") for i in range(9)], "", 700),
        ([(i, f"Train: 0 [ {10 * i}/500 ( 4%)]  Loss: 6.9") for i in range(9)], "train.py --epochs 30", 15_000),
        ([(i, f"epoch 001:    {10 * i} / 300 loss=9, num_updates={10 * i}") for i in range(9)], "--max-epoch 6", 1800),
        ([(i, f"epoch 001: {10 * i} / 300 loss=9, num_updates={10 * i}") for i in range(9)], "--max-update 900", 900),
        ([(i, f'{{"step": {10 * i}, "epoch": {i / 31:.4f}}}') for i in range(5, 31)], "--num-train-epochs 3", 930),
        ([(i, f"step {10 * i}/700 | loss 2.0 | epoch: 1") for i in range(9)], "", 700),
        ([(0, "Epoch 1/5"), *((i, f"loss: 2.3  [{64 * i:>5d}/12800]") for i in range(9))], "", 64_000),
        ([(0, "Epoch 1/5"), *((i, bar("", 10 * i, 90)) for i in range(9))], "", 450),
        ([(i, f"batch {10 * i}/500 (epoch 1/3) loss 2.0") for i in range(9)], "", 1500),
        ([(i, f"global_step={128 * i}, return=[21.]") for i in range(9)], "ppo.py --total-timesteps 9000", 9000),
        ([(0, "Num Epochs = 3"), *((i, f"{{'loss': '1.0', 'epoch': '{i / 100:.2f}'}}") for i in range(9))], "", 3),
        ([(0, "  Num Epochs = 3"), *((i, bar("Epoch 0: ", 10 * i, 90)) for i in range(9))], "", 270),
        ([(i, f"Trial {i} finished with value: 0.1") for i in range(9)], "tune.py --n-trials 50 --max-steps 900", 50),
        ([(i, f"iteration {i} loss 1") for i in range(9)], "pretrain.py --train-iters 3000", 3000),
        ([(i, f"Epoch {i}: loss=0.1") for i in range(9)], "mace_run_train --max_num_epochs=100", 100),
    ],
)  # fmt: skip
def test_how_long_the_whole_is(said: list[tuple[float, str]], command: str, units: float) -> None:
    assert read(*said, command=command).units == units


@pytest.mark.parametrize(
    ("command", "units"),
    [
        ("ppo.py --num_timesteps=1e6", 1_000_000),
        ("ppo.py --max-steps 40", None),  # updates, and the count is one of the environment's steps
    ],
)
def test_timesteps_have_arguments_of_their_own(command: str, units: float | None) -> None:
    found = read(*((i, f"| misc/total_timesteps | {1024 * i} |") for i in range(1, 9)), command=command)
    assert (found and found.units) == units


@pytest.mark.parametrize("command", ["dqn.py --num_timesteps=40000", "dqn.py --max-steps 40000"])
def test_steps_of_a_table_may_be_either(command: str) -> None:
    assert read(*((i, f"| steps | {200 * i} |") for i in range(1, 9)), command=command).units == 40_000


def test_iterations_of_a_configuration_given_as_a_pair() -> None:
    said = [(i, f"eta: 0:10:00  iter: {20 * i - 1}  total_loss: 1.2") for i in range(1, 9)]
    assert read(*said, command="train_net.py SOLVER.MAX_ITER 600 OUTPUT_DIR out").units == 600


def test_bars_of_epochs_and_of_batches_are_one_training() -> None:
    said, now = [], 0.0
    for epoch in range(3):
        for step in range(0, 51, 5):
            now += 1
            said.append((now, bar("batches: ", step, 50)))
        said.append((now, bar("Epochs: ", epoch + 1, 10)))
    assert read(*said).units == 500


def test_a_bar_called_epoch_may_be_that_of_its_batches() -> None:
    said = [(60 * epoch + i, bar("Epoch: ", 10 * i, 400)) for epoch in range(2) for i in range(41)]
    assert read(*said, command="train.py --epochs 5").units == 2000


def test_batches_may_be_those_of_one_epoch() -> None:
    found = read(*((i, f"[batch={5 * i}/100]:") for i in range(1, 9)))
    assert found.units == 100
    assert "if these are the batches of all of it" in found.known_from


def left(*said: tuple[float, str]) -> progress.Whole | None:
    """Return the whole by what a program says is left, at the rate that its lines have."""
    seen = progress.Progress()
    for seconds, line in said:
        seen.add(seconds, lines.read(line))
    steps = seen.steps()
    rate = steady.measure(steps.points())
    return progress.whole_by_its_eta(steps, rate.units_per_second)


def test_time_that_is_left_says_how_long_the_whole_is() -> None:
    """600 iterations of 0.5 s, and four epochs of 200."""
    detectron2 = [
        (10 * i, f"eta: 0:{(300 - 10 * i) // 60:02d}:{(300 - 10 * i) % 60:02d}  iter: {20 * i}") for i in range(1, 9)
    ]
    assert left(*detectron2).units == pytest.approx(600, abs=1)  # half a second, as it is cut
    mmengine = [
        (5 * i, f"Epoch(train) [1][{10 * i}/200] eta: 0:0{(400 - 5 * i) // 60}:{(400 - 5 * i) % 60:02d} loss: 2")
        for i in range(1, 9)
    ]
    assert left(*mmengine).units == pytest.approx(800, abs=1)


@pytest.mark.parametrize("steps", [200, 300, 400])
@pytest.mark.parametrize("every", [7, 11])
def test_seconds_that_are_cut_lose_nothing_of_the_whole(steps: int, every: int) -> None:
    """Steps of 0.05 s, of 10 to 20 s in all, of which a third is watched: cut times alone are 2.5 to 5 % too short."""
    said = [
        (0.05 * i, f"eta: 0:00:{int((steps - i) * 0.05):02d}  iter: {i}  total_loss: 1.2")
        for i in range(every, steps // 3, every)
    ]
    found = left(*said)
    assert found.units == pytest.approx(steps, rel=0.02)
    assert "give or take 10" in found.known_from


def test_what_is_left_in_hours_says_how_coarse_it_is() -> None:
    said = [(i, f"iter {i} eta: 2h loss 1.0") for i in range(1, 60)]
    assert left(*said).known_from == "the time that it says is left, give or take 1,800"


def test_time_that_is_left_of_an_epoch_is_not_that_of_the_whole() -> None:
    said = [(5 * i, f"Epoch [1][{10 * i}/200] eta: 0:01:{(100 - 5 * i) % 60:02d} loss: 2") for i in range(1, 8)]
    assert lines.read(said[0][1])[0].eta.seconds == 95
    assert left(*said) is None


def test_epochs_that_begin_anew_are_not_the_whole() -> None:
    """As those of each fold: of how many is not known."""
    assert read(*((10 * fold + i, f"fold {fold} Epoch {i}/9") for fold in range(2) for i in range(1, 10))) is None


def test_a_count_beside_epochs_that_were_asked_for_may_be_of_one() -> None:
    found = read(*((i, f"step {10 * i}/700") for i in range(9)), command="train.py --epochs 3")
    assert (found.units, found.known_from) == (700, "log lines, if it counts through all of --epochs=3")


def test_an_argument_below_what_was_counted_is_of_something_else() -> None:
    """`--num-steps` of a rollout."""
    assert read(*((i, f"global_step={128 * i}") for i in range(1, 9)), command="ppo.py --num-steps 128") is None


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ([(i, f"data={16 * i}/32000 loss=1.2") for i in range(9)], "if it counts through all epochs"),
        ([(i, f"step {10 * i}/700 | epoch: 1") for i in range(9)], "if it counts through all"),
        ([(i, f"step {10 * i}/700 | epoch: {1 + i // 4}") for i in range(9)], ""),
        ([(i, f"step {10 * i}/700") for i in range(9)], ""),
    ],
)
def test_a_total_that_may_be_of_one_epoch_is_said_to_be(said: list[tuple[float, str]], about: str) -> None:
    known_from = read(*said).known_from
    assert about in known_from
    assert about or "if" not in known_from


def test_what_goes_up_and_down_is_no_count() -> None:
    """rl_games prints how many steps a second it makes before the epoch; an accuracy is a part of a total."""
    seen, chance = progress.Progress(), random.Random(1)
    for epoch in range(1, 60):
        fps, right = 40_000 + chance.randrange(9_000), chance.randrange(200, 1000)
        seen.add(epoch, lines.read(f"fps step: {fps} fps total: {fps - 900} epoch: {epoch}/500 frames: {epoch * 8192}"))
        seen.add(epoch + 0.5, lines.read(f"acc {right}/1000"))
    steps = seen.steps()
    assert (steps.unit, steps.points()[-1].done) == ("epoch", 59)
    assert progress.whole(seen, steps, [], None, None).units == 500


def test_ranks_that_print_after_each_other_are_one_count() -> None:
    """The first is a line ahead of the second, or behind it."""
    seen, now = progress.Progress(), 0.0
    for step in range(10, 400, 10):
        for rank, done in ((0, step), (1, step - 10 * (step % 30 == 0))):
            now += 0.5
            seen.add(now, lines.read(f"[rank{rank}]: step {done}/5000 loss 2.0"))
    steps = seen.steps()
    assert steps.laps[-1] == 0
    assert steady.measure(steps.points()).units_per_second == pytest.approx(10, rel=0.02)


def test_of_two_counts_that_are_as_fine_the_one_that_goes_on_is_taken() -> None:
    """Chainer draws a bar of all and one of the epoch."""
    seen = progress.Progress()
    for i in range(1, 60):
        for name, share in (("this epoch", i % 20 / 20), ("     total", i / 200)):
            seen.add(i, lines.read(f"{name} [{'#' * int(50 * share)}{'.' * (50 - int(50 * share))}] {share:6.2%}"))
    assert seen.steps().name == "total"


@pytest.mark.parametrize("tick", [("inf", None), ("nan", None), ("5", "inf"), ("5", "nan"), ("-1", None)])
def test_numbers_that_are_none_count_nothing(tick: tuple[str, str | None]) -> None:
    seen = progress.Progress()
    done, total = float(tick[0]), tick[1] and float(tick[1])
    seen.add(1.0, [lines.Tick("watch", "step", done, total, "watch() in its loop")])
    assert [one.total for one in seen.series.values()] == ([None] if done == 5 else [])


def test_what_nobody_says_is_unknown() -> None:
    assert read(*((i, bar("Epoch 0: ", 100 * i, 1000)) for i in range(1, 9))) is None
    assert read(*((i, f"iter {i}: loss 2") for i in range(9))) is None


def test_a_bar_that_is_full_while_the_program_goes_on_is_not_the_whole() -> None:
    """As that of a search for a learning rate: what follows is longer."""
    assert read(*((i, bar("Finding best initial lr: ", 50 * i, 300)) for i in range(1, 7))) is None


def test_what_somebody_says_counts_first() -> None:
    said = [(i, bar("", 10 * i, 300)) for i in range(1, 9)]
    assert read(*said, of=900).units == 900


def test_a_bar_an_epoch_goes_on_from_lap_to_lap() -> None:
    seen = progress.Progress()
    for epoch, step in ((epoch, step) for epoch in range(3) for step in range(0, 101, 10)):
        seen.add(epoch * 102 + step, lines.read(bar(f"Epoch {epoch}: ", step, 100)))
    points = seen.steps().points()
    assert [point.done for point in points] == sorted(point.done for point in points)
    assert points[-1].done == 300


def test_an_evaluation_with_a_bar_of_its_own_is_a_pause() -> None:
    """And no part of the steps."""
    seen, now = progress.Progress(), 0.0
    for epoch in range(3):
        for step in range(0, 101, 5):
            now += 0.5
            seen.add(now, lines.read(bar(f"Epoch {epoch}: ", step, 100)))
        for step in range(0, 21):
            now += 0.4
            seen.add(now, lines.read(bar("Validation: ", step, 20)))
    steps = seen.steps()
    assert steps.name == "Epoch #"
    (pauses,) = steady.measure(steps.points()).pauses
    assert pauses.each_seconds == pytest.approx(21 * 0.4, rel=0.1)
    assert pauses.every_units == pytest.approx(100, rel=0.02)


def test_bars_without_a_name_are_two_where_their_totals_are() -> None:
    """Transformers draws one for all steps, and one for each evaluation."""
    seen, now = progress.Progress(), 0.0
    for step in range(0, 401, 10):
        now += 1.0
        seen.add(now, lines.read(bar("", step, 8000)))
        for done in range(26) if step % 100 == 0 else ():
            now += 0.1
            seen.add(now, lines.read(bar("", done, 25)))
    steps = seen.steps()
    assert steps.total == 8000
    assert progress.whole(seen, steps, [], None, None).units == 8000
    assert steady.measure(steps.points()).units_per_second == pytest.approx(10, rel=0.01)


def counted_down(*starts: int, until: int = 30) -> progress.Progress:
    """Return what is read of a program that says each second how many steps are left, from so many on."""
    seen, now = progress.Progress(), 0
    for start in starts:
        for left in range(start, until, -1):
            now += 1
            seen.add(now, lines.read(f"steps: {left} remaining"))
    return seen


def test_a_count_down_is_progress_to_its_end() -> None:
    seen = counted_down(50)
    steps = seen.steps()
    points = steps.points()
    assert (points[0].done, points[-1].done) == (0, 19)
    assert progress.whole(seen, steps, [], None, None).units == 50
    assert steady.measure(points).units_per_second == pytest.approx(1)


def test_a_count_down_that_begins_anew_is_of_one_epoch() -> None:
    seen = counted_down(50, 50, until=0)
    steps = seen.steps()
    assert [point.done for point in steps.points()] == list(range(100))
    assert progress.whole(seen, steps, ["--epochs", "4"], None, None).units == 200


def test_a_bar_that_counts_down_knows_its_whole() -> None:
    said = [(i, bar("", 300 - 10 * i, 300)) for i in range(1, 9)]
    assert read(*said).units == 300


def test_a_long_count_down_is_kept_in_little_memory() -> None:
    seen = progress.Progress()
    for step in range(100_000):
        seen.add(step / 100, [lines.Tick("left", "step", 100_000 - step, None, "log lines")])
    assert len(seen.steps().counts) <= 4_001


@pytest.mark.parametrize(
    ("said", "worked_out", "is_far"),
    [
        (100, (90, 500), False),  # as much as the bar has left
        (500, (90, 500), False),  # as the whole
        (5000, (90, 500), True),
        (20, (90, 500), True),
        (200, (90, 500), True),
        (3, (9, 9), False),
    ],
)
def test_what_a_program_says_is_left_may_contradict(said: float, worked_out: tuple[float, ...], is_far: bool) -> None:
    assert etas.contradicts(etas.Left(said, 1.0), *worked_out) == is_far


@pytest.mark.parametrize(("text", "is_far"), [("0h0m", False), ("0h1m", False), ("0h5m", True), ("2 h", True)])
def test_what_is_left_is_compared_as_far_as_it_is_printed(text: str, is_far: bool) -> None:
    """59 s of whole minutes are 0."""
    assert etas.contradicts(lines.read(f"step 5/100 eta: {text} ")[0].eta, 59.0) == is_far


def test_a_long_training_is_kept_in_little_memory() -> None:
    seen = progress.Progress()
    for step in range(100_000):
        seen.add(step / 100, [lines.Tick("iter", "step", step, None, "log lines")])
    steps = seen.steps()
    assert len(steps.counts) <= 4_001
    rate = steady.measure(steps.points())
    assert isinstance(rate, Rate)
    assert rate.units_per_second == pytest.approx(100, rel=0.01)
    assert all(earlier < later for earlier, later in pairwise(steps.seconds))


def test_best_round_that_a_booster_names_at_its_end_is_no_further_round() -> None:
    seen = progress.Progress()
    said = [f"[{n}]\tvalid's auc: 0.9" for n in range(10, 110, 10)] + ["[28]\tvalid's auc: 0.95"]
    for second, line in enumerate(said):
        seen.add(float(second), lines.read(line))
    steps = seen.steps()
    assert steps is not None
    assert steps.points()[-1].done == 100
