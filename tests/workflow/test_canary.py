"""The cheapest machine goes first."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.records.cell import Cell
from scripts.workflow.canary import Canary
from scripts.workflow.plan import Plan, reasons

CHEAP, DEAR = "cheap", "dear"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two workloads on two machines, two runs each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Plan, "code_of_cell", lambda self, cell: "now")
    cells = [
        Cell(workload, machine, "jax", 128, 1, 1.0, "synthetic") for workload in ("a", "b") for machine in (DEAR, CHEAP)
    ]
    return Plan(
        "s", "s", {"s": {"repeats": 2}}, {CHEAP: {}, DEAR: {}}, "gce-gpu", [],
        cells={cell.path: cell for cell in cells},
        tiers={cell.path: int(cell.workload == "b") for cell in cells},
        runs=[f"results/s/{cell.path}/r{repeat}" for repeat in (1, 2) for cell in cells],
    )  # fmt: skip


def folder(workload: str, machine: str, repeat: int = 1) -> str:
    return f"results/s/{workload}/{machine}/jax/b128/r{repeat}"


def test_the_first_run_of_a_configuration_is_the_cheapest_machines(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    assert canary.firsts == {("a", "jax", "b128"): folder("a", CHEAP), ("b", "jax", "b128"): folder("b", CHEAP)}
    names = SimpleNamespace(workload="a", framework="jax")
    assert canary.get_firsts(names) == [f"{folder('a', CHEAP)}/run.json"]


def test_nothing_is_tried_first_without_prices_or_with_one_machine(plan: Plan) -> None:
    for machines in ({}, {CHEAP: {}}):
        canary = Canary(plan, machines)
        assert (canary.firsts, canary.runs, canary.at_once) == ({}, {}, plan.runs)


def record(run: str, code: str = "now") -> None:
    Path(run).mkdir(parents=True, exist_ok=True)
    Path(run, "run.json").write_text(json.dumps({"provenance": {"code": code}}))


def note(plan: Plan, failed: dict[str, str]) -> None:
    path = Path(plan.note(("a", "jax")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(failed))


def test_a_new_price_makes_no_other_machine_the_first(plan: Plan) -> None:
    record(folder("a", DEAR))
    firsts = Canary(plan, {CHEAP: {}, DEAR: {}}).firsts
    assert firsts == {("a", "jax", "b128"): folder("a", DEAR), ("b", "jax", "b128"): folder("b", CHEAP)}


def test_runs_on_dearer_machines_wait_for_what_failed(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    family = ("a", "jax")
    record(folder("a", DEAR, 2))
    for failed in ("{}", '{"b256": "failed"}'):
        assert canary.tried(family, lambda failed=failed, **names: failed) == canary.runs[family]
    assert canary.tried(family, lambda **names: '{"b128": "failed"}') == [folder("a", CHEAP), folder("a", DEAR, 2)]
    record(folder("a", DEAR, 2), "before")
    assert canary.tried(family, lambda **names: '{"b128": "failed"}') == [folder("a", CHEAP)]


def test_each_family_waits_for_its_own_first_runs(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    asked = []
    canary.tried(("b", "jax"), lambda **names: asked.append(names) or "{}")
    assert asked == [{"workload": "b", "framework": "jax"}]
    assert len(canary.notes()) == 2


@pytest.mark.parametrize("text", ["", "[]", "{", "5", '["b128"]', '{"b128": 5}', "[" * 100_000, "\ufeff{}"])
def test_a_note_that_is_none_gives_up_nothing(plan: Plan, text: str) -> None:
    note(plan, {})
    Path(plan.note(("a", "jax"))).write_text(text)
    assert not plan.is_given_up(folder("a", DEAR))
    assert reasons(text) == {}


def test_a_run_is_given_up_while_its_configuration_has_failed(plan: Plan) -> None:
    assert not plan.is_given_up(folder("a", DEAR))
    note(plan, {})
    assert not plan.is_given_up(folder("a", DEAR))
    note(plan, {"b128": "failed"})
    assert plan.is_given_up(folder("a", DEAR))
    assert not plan.is_given_up(folder("b", DEAR))
    record(folder("a", DEAR))
    assert not plan.is_given_up(folder("a", DEAR)), "it is there already"


def test_what_may_follow_the_first_runs_is_in_the_quote(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    first, runs = folder("a", CHEAP), canary.runs["a", "jax"]
    assert canary.may_follow(("a", "jax"), [first]) == runs
    record(first)
    record(folder("a", DEAR))
    missing = [folder("a", CHEAP, 2), folder("a", DEAR, 2)]
    assert sorted(canary.may_follow(("a", "jax"), [])) == sorted(missing)
    assert canary.may_follow(("a", "jax"), [first]) == runs, "what is trained again, is on all machines"
    note(plan, {"b128": "failed"})
    assert canary.may_follow(("a", "jax"), []) == []


def test_tiers_then_rounds_then_the_cheapest(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    axes = ("workload", "hardware", "framework", "variant")
    jobs = [
        SimpleNamespace(**{axis: getattr(cell, axis) for axis in axes}, repeat=n)
        for cell in plan.cells.values()
        for n in (1, 2)
    ]
    ordered = sorted(jobs, key=canary.get_priority, reverse=True)
    assert [(job.workload, job.repeat, job.hardware) for job in ordered] == [
        (workload, repeat, machine) for workload in ("a", "b") for repeat in (1, 2) for machine in (CHEAP, DEAR)
    ]


def test_cells_that_are_compared_follow_one_another(plan: Plan) -> None:
    """Within a round the order is that of the grid, whatever the order in which jobs are asked."""
    canary = Canary(plan, {})
    axes = ("workload", "hardware", "framework", "variant")
    jobs = [
        SimpleNamespace(**{axis: getattr(cell, axis) for axis in axes}, repeat=1)
        for cell in reversed(plan.cells.values())
        if plan.tiers[cell.path] == 0
    ]
    ordered = sorted(jobs, key=canary.get_priority, reverse=True)
    assert ordered == jobs[::-1]
    assert all(canary.get_priority(job) > 0 for job in jobs)
