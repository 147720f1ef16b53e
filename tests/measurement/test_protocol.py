import pytest

from scripts.measurement import protocol
from scripts.records.record import epoch_row


@pytest.mark.parametrize(
    ("steps_per_epoch", "epochs", "steps"),
    [(1000, 1, 20), (120, 1, 20), (119, 1, 1), (12, 10, 12), (12, 9, 1), (1, 500, 1)],
)
def test_warm_up_leaves_a_hundred_steps_or_is_the_first_alone(steps_per_epoch: int, epochs: int, steps: int) -> None:
    assert protocol.warmup_steps(steps_per_epoch, epochs) == steps


def row(**logs: float) -> dict:
    return epoch_row(0, 10.0, {"loss": 0.5} | logs, 100, 2.0, 3.0)


def test_training_is_what_first_step_and_validation_leave() -> None:
    assert row()["training_seconds"] == 5.0


@pytest.mark.parametrize(
    ("logs", "target", "why"),
    [
        ({}, None, None),
        ({"loss": float("nan")}, None, "diverged"),
        ({"loss": float("inf"), "val_acc": 0.99}, 0.9, "diverged"),
        ({"val_acc": 0.9}, 0.9, "target"),
        ({"val_acc": 0.89}, 0.9, None),
        ({"loss": 0.4}, 0.4, "target"),
        ({"loss": 0.41}, 0.4, None),
    ],
)
def test_training_ends_at_its_target_or_when_it_diverges(logs: dict, target: float | None, why: str | None) -> None:
    assert protocol.ending(row(**logs), target) == why
