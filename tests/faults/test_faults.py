"""Some faults of each kind; `make faults` tries them by the thousand."""

from pathlib import Path
from random import Random

import pytest

from tests.faults import __main__ as faults
from tests.faults import inputs, kills, network, texts, trainings, trial, verbs

#: Kinds that take seconds a fault: how many of each are tried where tests may be slow.
SLOW = {
    **{kind.name: 6 for kind in verbs.KINDS},
    **{kind.name: 1 for kind in (*kills.KINDS, *trainings.KINDS)},
    texts.KINDS[0].name: 8,
    texts.KINDS[2].name: 3,
    network.KINDS[0].name: 20,
}


def lost(kind: trial.Kind, count: int | None) -> list[trial.Outcome]:
    return [outcome for outcome in trial.outcomes(kind, seed=7, count=count) if outcome.why is not None]


@pytest.mark.slow
@pytest.mark.parametrize("kind", inputs.KINDS, ids=lambda kind: kind.name)
def test_files_with_one_thing_changed_or_cut_are_a_result_or_a_line(kind: trial.Kind) -> None:
    assert lost(kind, 30 if kind.count else None) == []


def test_what_a_training_prints_ends_no_display_and_changes_no_terminal() -> None:
    assert lost(texts.KINDS[1], 60) == []


@pytest.mark.slow
def test_network_is_a_line_in_bounded_time() -> None:
    assert lost(network.KINDS[0], 4) == []


@pytest.mark.represented_by("verbs killed")
@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_takes_longer(name: str) -> None:
    assert lost(faults.KINDS[name], SLOW[name]) == []


def test_wheels_that_drip_are_given_up(tmp_path: Path) -> None:
    host = network.Host()
    network._meet(host, "drip", tmp_path, network._wheels(host, tmp_path))


def test_records_of_a_kit_need_not_name_the_usual_axes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs.ROOT)
    place = verbs.kit(tmp_path / "kit")
    place.call("take_kit")
    assert (place.results / "mine" / "mnist_mlp" / "cpu1" / "jax" / "b128" / "r1" / "run.json").is_file()


def test_every_kind_is_tried_here() -> None:
    here = {*SLOW, texts.KINDS[1].name, *(kind.name for kind in inputs.KINDS)}
    assert here == set(faults.KINDS)


def test_harness_sees_what_is_not_survived() -> None:
    """A fault that ends in a traceback, without a word or in a hang is not survived."""

    def hang() -> None:
        while True:
            pass

    def raises(error: Exception) -> None:
        raise error

    assert (trial.tried("", "", lambda: raises(KeyError("x"))).why or "").startswith("KeyError: 'x' (test_faults.py:")
    assert (trial.tried("", "", lambda: raises(trial.InputError(" "))).why or "").startswith("not a line to read")
    assert trial.tried("", "", hang, limit_seconds=1).why == "takes more than 1 s"
    assert trial.tried("", "", lambda: raises(trial.InputError("study: key: value"))).why is None


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("a.html", "<p onclick='x'>", "onclick"),
        ("a.html", "<a href='javascript:x'>", "javascript"),
        ("a.html", "<p>\x1b[2J", "control characters"),
        ("a.svg", "<svg><p></svg>", "mismatched tag"),
        ("a.csv", "a,b\n1\n", "a row of 1 cells under 2"),
        ("a.csv", "a\n=1+1\n", "a formula"),
    ],
)
def test_harness_sees_what_is_not_inert(tmp_path: Path, file: str, text: str, why: str) -> None:
    (tmp_path / file).write_text(text)
    tags = {("p", ""), ("a", ""), ("a", "href"), ("svg", "")}
    with pytest.raises((AssertionError, SyntaxError), match=why):
        texts.check(tmp_path, {".html": tags, ".svg": tags}, None)


def test_faults_are_the_same_for_a_seed(tmp_path: Path) -> None:
    whats = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        whats.append(inputs.study(folder, Random(3))[0])
    assert whats[0] == whats[1]


def test_what_came_of_a_kind_stands_beside_the_others_with_what_was_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "OUTPUT", tmp_path / "faults.json")
    network_, study = network.KINDS[0].name, inputs.KINDS[0].name
    faults.note(network_, 60, 60, False, 1)
    faults.note(study, 10, 9, True, 1)
    known = faults.json.loads((tmp_path / "faults.json").read_text())
    assert list(known) == list(faults.KINDS)
    assert {name for name, about in known.items() if about["on"]} == {study, network_}
    assert (known[study]["planned"], known[study]["tried"], known[study]["survived"]) == (250, 10, 9)
    assert known[network_]["planned"] == 60
