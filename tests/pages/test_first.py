"""What stands beside the answer of a page."""

import re
from types import SimpleNamespace

import pytest

from scripts.analysis import trainings, verdicts
from scripts.pages import ask, first, report
from scripts.pages.inputs import Inputs
from tests.made import BOOK, CATALOGUE, STUDY, inputs, run, runs

TWO = {"*-v2-*": "a container of 2024", "*": "tables of 2022"}


def rate(name: str, **values) -> dict:
    """Return a row of a table of throughput."""
    unknown = {"train_seconds": None, "total_seconds": None, "samples_fraction": None, "train_samples": None}
    return run(**unknown | values) | {"run": name}


def context(*rows: dict, software: dict | None = None, units: dict | None = None, **more) -> dict:
    given = {"format": "throughput_table", "software": software or {}, "units": units or {}}
    study = STUDY | {"import": given, "question": {"asks": "Does it pay?", "hardware": "cpu4", "than": "cpu1"}}
    options = {"on-demand": {"purchase": "on-demand"}}
    return first.context(inputs(study | {"prices": options, "price": "on-demand"} | more, runs(*rows), rows=BOOK))


def test_software_of_two_dates_is_said_beside_the_answer() -> None:
    rows = [
        rate("table-v2-fp16#a"),
        rate("table-v2-fp16#b", hardware="cpu4"),
        rate("table-fp16#a", batch_size=64),
        rate("table-v2-fp16#c", batch_size=64, hardware="cpu4"),
    ]
    page = context(*rows, software=TWO)
    words, asked = page["software_words"], dict(page["minute"])
    assert "1 of 1 rankings mix kinds of software, which a gap may be of.\n\n" in asked["How sure"]
    assert "Software of 2 kinds is compared: a container of 2024: 3 results and tables of 2022: 1 result." in words
    assert "In 1 of the 2 pairs of the answer both are of one kind." in words
    assert "1 of 1 rankings mix kinds" in words


def test_software_of_one_date_is_not_said() -> None:
    rows = [rate("table-v2-fp16#a"), rate("table-v2-fp16#b", hardware="cpu4")]
    assert context(*rows, software=TWO)["software_words"] == ""
    assert context(*rows)["software_words"] == ""


def test_dollars_and_seconds_of_rates_are_of_as_many_samples() -> None:
    """A million tokens take 100 s at 10,000/s and .001 USD at .036 USD/h, however little that is."""
    rows = [rate("a"), rate("b", hardware="cpu4")]
    (panel,) = context(*rows, units={"mnist_mlp": "tokens"})["panels"]
    assert panel["unit"] == "USD a million tokens"
    shown = panel["bars"][0]
    assert (round(shown["usd"], 6), round(shown["seconds"])) == (0.001, 100)


def test_a_study_may_price_a_billion_tokens() -> None:
    rows = [rate("a"), rate("b", hardware="cpu4")]
    found = context(*rows, units={"*": "tokens"}, per_samples=10**9)
    (panel,) = found["panels"]
    assert panel["unit"] == "USD a billion tokens"
    assert found["unit_words"].startswith("A billion tokens, on the steady clock")
    shown = panel["bars"][0]
    assert (round(shown["usd"], 6), round(shown["seconds"])) == (1.0, 100_000)


@pytest.mark.parametrize(
    ("pairs", "cheaper", "dearer", "few", "said"),
    [
        (6, 4, 2, 0, "is cheaper than JAX in 4 of 6 pairs (dearer in 2)"),
        (6, 4, 0, 0, "is cheaper than JAX in 4 of 6 pairs (dearer in 0, too close to call in 2)"),
        (12, 0, 0, 0, "is not clearly cheaper than JAX (too close to call in 12 of 12 pairs)"),
        (1, 0, 0, 0, "is not clearly cheaper than JAX (too close to call in 1 of 1 pair)"),
        (
            31,
            3,
            3,
            20,
            "is cheaper than JAX in 3 of 31 pairs (dearer in 3, too close to call in 5, too few runs in 20)",
        ),
        (12, 0, 0, 12, "is not clearly cheaper than JAX (too few runs in 12 of 12 pairs)"),
        (
            12,
            0,
            0,
            5,
            "is not clearly cheaper than JAX (too close to call in 7, too few runs in 5 of 12 pairs)",
        ),
    ],
)
def test_answer_of_pairs_that_are_all_too_close_counts_no_zeros(
    pairs: int, cheaper: int, dearer: int, few: int, said: str
) -> None:
    answer = trainings.Answer(pairs, cheaper, dearer, faster=0, price=1.0, speedup=0.0, where="", few=few)
    assert first._pairs(answer, than=" than JAX") == said


@pytest.mark.parametrize(("count", "by"), [(1, "one run of each"), (3, "medians")])
def test_price_of_another_machine_is_that_of_the_workload_and_says_of_which_runs(count: int, by: str) -> None:
    """400 s on four cores at .144 USD/h cost 16 times what 100 s on one do at .036: as much at .009."""
    noisy = [run(hardware=name, repeat=i, train_seconds=seconds * (1 + i / 2))
             for name, seconds in (("cpu1", 100.0), ("cpu4", 400.0)) for i in range(count)]  # fmt: skip
    (panel,) = context(*noisy)["panels"]
    assert panel["flip"] == (
        f"For MNIST · MLP alone, 4 vCPUs is even by {by} at 0.00900 USD an hour (now 0.144), and no price is known at "
        "which it wins clearly. The answer at the top is of pairs that are alike in all else."
    )


def test_answer_by_single_runs_names_no_medians() -> None:
    words = [
        dict(context(*rows)["minute"])["Price at which another wins"]
        for rows in ([run(), run(hardware="cpu4")], [run(), run(repeat=2), run(hardware="cpu4")])
    ]
    against = r"\nAgainst 1 vCPU, over the one pair: 4 vCPUs costs no more at \S+ USD an hour \(now 0\.144\), by "
    assert re.search(against + "one run of each", words[0])
    assert re.search(against + "medians", words[1])


def test_control_of_noise_is_no_answer() -> None:
    """The same machine by another name, whose runs are the shortest: a cell, and never the best."""
    rows = [
        run(hardware=machine, framework=framework, repeat=i + 1, train_seconds=seconds + i)
        for machine, framework, seconds in (("cpu1", "jax", 100), ("cpu1", "torch", 200), ("cpu4", "jax", 10))
        for i in range(6)
    ]
    study = STUDY | {"prices": {"on-demand": {"purchase": "on-demand"}}, "price": "on-demand"}
    chosen, control = (
        inputs(study, runs(*rows), catalogue=CATALOGUE | {"cpu4": CATALOGUE["cpu4"] | {"control": control}}, rows=BOOK)
        for control in (False, True)
    )
    assert "JAX · 4 vCPUs" in names_of(chosen)
    assert not any("4 vCPUs" in name for name in names_of(control))
    assert {cell["hardware"] for cell in ask.context(control)["ask"]["cells"]} == {"cpu1"}
    assert set(control.cells["hardware"]) == {"cpu1", "cpu4"}


def names_of(made: Inputs) -> set[str]:
    """Return the configurations of the first panel."""
    return {bar["name"] for bar in first.context(made)["panels"][0]["bars"]}


@pytest.mark.slow
def test_form_asks_for_tokens_where_samples_are_tokens() -> None:
    rows = [rate("a"), rate("b", hardware="cpu4")]
    given = {"format": "throughput_table", "software": {}, "units": {"mnist_mlp": "tokens"}}
    options = {"on-demand": {"purchase": "on-demand"}}
    made = inputs(STUDY | {"import": given, "prices": options, "price": "on-demand"}, runs(*rows), rows=BOOK)
    assert ask.context(made)["ask"]["workloads"]["mnist_mlp"]["noun"] == "tokens"
    assert '<label>tokens<input name="samples"' in report.page(made)


@pytest.mark.parametrize(
    ("near", "said"),
    [
        (["jax, one"], " The machine is clear (one core), the software is open."),
        (["torch, two"], " The software is clear (PyTorch), the machine is open."),
        ([], ""),
        (["jax, one", "torch, two"], ""),
    ],
)
def test_where_machine_or_software_of_all_that_may_be_cheapest_is_one_it_is_said(near: list[str], said: str) -> None:
    names = ("torch, one", "jax, one", "torch, two")
    cells = [{"machine": name, "cell": {"framework": name[:-5], "hardware": name[-3:]}} for name in names]
    inputs = SimpleNamespace(labels={"one": "one core", "two": "two cores"})
    clear = lambda cells, near: verdicts.clear_axes(first._axes(cells, {"machine": "torch, one", "near": near}, inputs))  # noqa: E731
    assert clear(cells, near) == said
    assert clear(cells[:2], ["jax, one"]) == "", "there is no other"


def test_marks_part_what_is_too_close_from_what_has_too_few_runs() -> None:
    """Six runs 1 % apart are too close; one run of a wide noise cannot say; ten times as dear is clear."""
    close = [run(hardware="cpu1", framework=name, repeat=i, train_seconds=seconds + i)
             for name, seconds in (("jax", 100), ("torch", 101), ("tensorflow", 1000)) for i in range(6)]  # fmt: skip
    (panel,) = context(*close)["panels"]
    marks = {bar["name"].partition(" ")[0]: bar["mark"] for bar in panel["bars"]}
    assert marks == {"JAX": "best", "PyTorch": "near", "TensorFlow": ""}
    notes = {bar["name"].partition(" ")[0]: bar["note"].partition(": ") for bar in panel["bars"]}
    words = {"JAX": "", "PyTorch": "too close", "TensorFlow": "clearly more"}
    assert {name: note[0] for name, note in notes.items()} == words
    near, more = (list(map(float, notes[name][2].rstrip("×").split(" to "))) for name in ("PyTorch", "TensorFlow"))
    assert near[0] < 1 < 1.01 < near[1], "what decides holds the ratio of the medians"
    assert 1.05 < more[0] < 10 < more[1]
    (panel,) = context(run(train_seconds=100), run(framework="jax", train_seconds=150))["panels"]
    assert sorted(bar["mark"] for bar in panel["bars"]) == ["best", "few"]
