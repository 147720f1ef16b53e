import pytest

from scripts.analysis.names import price_words, run_name

K80 = {"rent": {"provider": "gce", "items": {"nvidia-tesla-k80": 1}}}
CPU8 = {"rent": {"provider": "gce", "items": {"n1-highcpu-8": 1}}}


def words(**instead: dict) -> str:
    study = {
        "machines": {"k80": K80, "cpu8": CPU8},
        "prices": {"today": {"label": "today's prices", "instead": instead}, "spot": {}},
    }
    return price_words(study, "today", {"k80": "K80", "cpu8": "8 vCPUs"})


def test_machine_of_another_provider_is_named() -> None:
    found = words(k80={"provider": "aws", "items": {"p2.xlarge": 1}})
    assert found == "today's prices (K80 as p2.xlarge of AWS, another provider than then (Google))"


def test_other_machine_of_the_same_provider_is_not() -> None:
    assert words(cpu8={"provider": "gce", "items": {"n1-highcpu-8": 1}, "purchase": "spot"}) == "today's prices"


def test_option_without_a_label_is_called_by_its_name() -> None:
    assert price_words({"prices": {"spot": {}}}, "spot", {}) == "spot price"


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("mnist_mlp/cpu2/torch/b128-tuned-bfloat16-x4/r5",
         "MNIST · MLP, 2 cores, PyTorch, batch 128, tuned, bfloat16, 4 devices, run 5"),
        ("own/box/jax/blargest/r1", "own, box, JAX, largest batch, run 1"),
        ("mnist_mlp/k80/cntk/bNone-None-None-xNone/r1", "MNIST · MLP, K80, CNTK, run 1"),
        ("somebody's run", "somebody's run"),
    ],
)  # fmt: skip
def test_runs_are_called_by_what_they_are(run: str, name: str) -> None:
    assert run_name(run, {"cpu2": "2 cores", "k80": "K80"}) == name
