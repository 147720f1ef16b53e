"""Some faults of each kind; `make faults` tries them by the thousand."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from scripts.document.faults import counts
from scripts.storage.errors import InputError
from scripts.studies import definition
from tests.faults import __main__ as faults
from tests.faults import guards, handed, inputs, kills, network, recorded, texts, trainings, trial, verbs
from tests.faults.answers import Case, accepted, refused

#: Kinds that take seconds a fault: how many of each are tried where tests may be slow.
SLOW = {
    **{kind.name: 4 for kind in verbs.KINDS},
    **{kind.name: 1 for kind in (*kills.KINDS, *trainings.KINDS)},
    texts.KINDS[0].name: 8,
    texts.KINDS[2].name: 3,
    network.KINDS[0].name: 20,
}


#: Kinds of files with known right answers: those of seconds are tried whole, of the others some.
FILES = [*inputs.KINDS, *recorded.KINDS, *handed.KINDS]
QUICK = ("places", "price book", "history", "attempts.json", "records of a kit")


def lost(kind: trial.Kind, count: int | None) -> list[trial.Outcome]:
    return [outcome for outcome in trial.outcomes(kind, seed=7, count=count) if outcome.why is not None]


@pytest.mark.parametrize("name", QUICK)
def test_files_are_taken_or_refused_as_is_right(name: str) -> None:
    assert lost(faults.KINDS[name], None) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in FILES if kind.name not in QUICK], ids=lambda kind: kind.name)
def test_more_files_are_taken_or_refused_as_is_right(kind: trial.Kind) -> None:
    assert lost(kind, 40) == []


def test_what_a_training_prints_ends_no_display_and_changes_no_terminal() -> None:
    assert lost(texts.KINDS[1], 60) == []


@pytest.mark.slow
def test_network_is_a_line_in_bounded_time() -> None:
    assert lost(network.KINDS[0], 4) == []


@pytest.mark.represented_by("verbs killed at a step")
@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_takes_longer(name: str) -> None:
    assert lost(faults.KINDS[name], SLOW[name]) == []


@pytest.mark.slow
def test_wheels_that_drip_are_given_up(tmp_path: Path) -> None:
    host = network.Host()
    network._meet(host, "drip", tmp_path, network._wheels(host, tmp_path))


def test_records_of_a_kit_need_not_name_the_usual_axes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(definition.ROOT)
    place = verbs.kit(tmp_path / "kit")
    place.call("epd kit take")
    assert (place.results / "mine" / "mnist_mlp" / "cpu1" / "jax" / "b128" / "r1" / "run.json").is_file()


def test_every_kind_is_tried_here() -> None:
    here = {*SLOW, texts.KINDS[1].name, *(kind.name for kind in FILES)}
    assert here == set(faults.KINDS)


@pytest.mark.slow
def test_harness_sees_what_is_not_survived() -> None:
    """A fault that ends in a traceback, without output or in a hang is not survived."""

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
    whats = [[what for what, _ in inputs.KINDS[0].faults(tmp_path, Random(3))] for _ in range(2)]
    assert whats[0] == whats[1]


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (refused("", lambda _: 5), "taken: 5"),
        (refused("", lambda _: answer(InputError("a.csv: x")), "rate"), "the line does not say"),
        (accepted("", lambda _: answer(InputError("a.csv: x"))), "refused: a.csv: x"),
        (accepted("", lambda _: 5, 6), "came out as 5, and is 6"),
        (refused("", lambda _: answer(KeyError("x"))), "KeyError"),
    ],
)
def test_harness_sees_a_wrong_answer(tmp_path: Path, case: Case, why: str) -> None:
    assert why in (trial.tried("", "", lambda: case.meet(tmp_path)).why or "")


@pytest.mark.parametrize("sign", ["\x1b", "\r", "\x00", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800", "\ufeff"])
def test_harness_sees_what_is_hidden_without_asking_the_program(sign: str) -> None:
    assert not trial.is_line(f"a{sign}b")
    assert trial.hidden(f"a{sign}b", "\n\t") == sign
    assert trial.is_line("é 中文 \U0001f468\u200d\U0001f469 —")


def answer(error: Exception) -> None:
    """Raise an error, where a lambda cannot."""
    raise error


def test_what_came_of_a_kind_stands_beside_the_others_with_what_was_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "OUTPUT", tmp_path / "faults.json")
    (tmp_path / "faults.json").write_text('{"a kind that has gone": {}}')
    study, network_ = (room.KINDS[0].name for room in (inputs, network))
    faults.note(network_, planned=60, tried=60, survived=60, minutes=1, seed=1)
    faults.note(study, planned=250, tried=10, survived=9, minutes=1, seed=1)
    known = json.loads((tmp_path / "faults.json").read_text())
    assert list(known) == list(faults.KINDS)
    assert {name for name, about in known.items() if about} == {study, network_}
    assert counts(known[study]) == "250 | 10 | 240 | 9 | 1"


@pytest.mark.parametrize(
    ("taken", "lost", "first"),
    [
        ("open .a; write .a; sync .a; rename .a a; sync ", set(), ""),
        ("open .a; write .a; rename .a a; sync ", {"a"}, ""),
        ("open .a; sync .a; write .a; rename .a a; sync ", {"a"}, ""),
        ("open a; write a", {"a"}, ""),
        ("open .a; write .a; sync .a; rename .a a", set(), "a"),
        ("open .a; sync .a; rename .a a; open .b; sync .b; rename .b b; sync ", set(), "a"),
        ("open x/.a; sync x/.a; rename x/.a x/a; sync ; rename b c; sync ", set(), "x/a"),
        ("open x/.a; sync x/.a; rename x/.a x/a; sync x/; rename b c; sync ", set(), ""),
        ("open a; write a; remove a", set(), ""),
    ],
)
def test_what_a_power_cut_takes_is_worked_out_from_the_steps(taken: str, lost: set[str], first: str) -> None:
    steps = [(*one.split(" "), "", "")[:3] for one in taken.split("; ")]
    assert (verbs.unsynced(steps), verbs.unordered(steps)) == (lost, first)


def test_every_guard_is_where_the_list_says_and_its_kind_is_one() -> None:
    assert len({guard.name for guard in guards.GUARDS}) == len(guards.GUARDS) >= 68
    for guard in guards.GUARDS:
        assert guard.changed(definition.ROOT) != (definition.ROOT / guard.file).read_text()
        assert guard.kind in ("", *faults.KINDS)
        assert all((definition.ROOT / name).exists() for name in guard.tests.split())
    with pytest.raises(InputError, match="its text is there 0 times"):
        replace(guards.GUARDS[0], text="what is not there").changed(definition.ROOT)


def test_time_that_is_over_leaves_the_rest_out(tmp_path: Path) -> None:
    kind = trial.Kind("x", None, lambda folder, rng: [("", lambda: None)] * 9)
    with trial.started(kind, 1) as (planned, some):
        assert (planned, len(list(trial.of_some(kind, some, seconds=0)))) == (9, 1)
