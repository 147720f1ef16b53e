"""The cheapest machine goes first."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.measurement.cell import Cell
from scripts.workflow.canary import Canary
from scripts.workflow.plan import Plan

CHEAP, DEAR = "cheap", "dear"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two workloads on two machines, two runs each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Plan, "code_of_cell", lambda self, cell: "now")
    cells = [
        Cell(workload, machine, "jax", 128, 1, 1.0, "synthetic") for workload in ("a", "b") for machine in (DEAR, CHEAP)
    ]
    plan = Plan("s", "s", {"s": {"repeats": 2}}, {CHEAP: {}, DEAR: {}}, "gce-gpu", [])
    plan.cells = {cell.path: cell for cell in cells}
    plan.tiers = {cell.path: int(cell.workload == "b") for cell in cells}
    plan.runs = [plan.folder(cell, repeat) for repeat in (1, 2) for cell in cells]
    return plan


def folder(workload: str, machine: str, repeat: int = 1) -> str:
    return f"results/s/{workload}/{machine}/jax/b128/r{repeat}"


def test_the_first_run_of_a_configuration_is_the_cheapest_machines(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    assert canary.firsts == {("a", "jax", "b128"): folder("a", CHEAP), ("b", "jax", "b128"): folder("b", CHEAP)}
    names = SimpleNamespace(workload="a", framework="jax", variant="b128")
    assert canary.get_first(names) == f"{folder('a', CHEAP)}/run.json"


def test_nothing_is_tried_first_without_prices_or_with_one_machine(plan: Plan) -> None:
    assert Canary(plan, {}).firsts == {}
    assert Canary(plan, {CHEAP: {}}).firsts == {}


def test_runs_on_dearer_machines_wait_for_what_failed(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    configuration = ("a", "jax", "b128")
    there = Path(folder("a", DEAR, 2))
    there.mkdir(parents=True)
    (there / "run.json").write_text(json.dumps({"provenance": {"code": "now"}}))
    assert canary.tried(configuration, lambda **names: "") == canary.runs[configuration]
    assert canary.tried(configuration, lambda **names: "failed") == [folder("a", CHEAP), folder("a", DEAR, 2)]
    (there / "run.json").write_text(json.dumps({"provenance": {"code": "before"}}))
    assert canary.tried(configuration, lambda **names: "failed") == [folder("a", CHEAP)]


def test_a_run_is_given_up_while_its_configuration_has_a_note(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    note = Path(canary.note(("a", "jax", "b128")))
    assert not canary.is_given_up(folder("a", DEAR))
    note.parent.mkdir(parents=True)
    note.write_text("")
    assert not canary.is_given_up(folder("a", DEAR))
    note.write_text("failed\n")
    assert canary.is_given_up(folder("a", DEAR))
    assert not canary.is_given_up(folder("b", DEAR))
    Path(folder("a", DEAR)).mkdir(parents=True)
    Path(folder("a", DEAR), "run.json").write_text("{}")
    assert not canary.is_given_up(folder("a", DEAR)), "it is there already"


def test_tiers_then_rounds_then_the_cheapest(plan: Plan) -> None:
    canary = Canary(plan, {CHEAP: {}, DEAR: {}})
    ordered = sorted(
        ((canary.get_priority(cell, repeat), (cell.workload, repeat, cell.hardware)) for cell in plan.cells.values()
         for repeat in (1, 2)),
        reverse=True,
    )  # fmt: skip
    assert [what for _, what in ordered] == [
        (workload, repeat, machine) for workload in ("a", "b") for repeat in (1, 2) for machine in (CHEAP, DEAR)
    ]
