"""What the page answers when it is asked is what the Python engine computes."""

import itertools
import json
import re
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from scipy import optimize

from scripts.analysis import clocks, trainings
from scripts.analysis.verdicts import LESS, undecided
from scripts.costs import billing, ownership, spot
from scripts.pages import first, report
from scripts.pages.ask import context
from scripts.pages.inputs import Inputs
from scripts.storage.axes import CELL
from scripts.storage.tables import records
from tests import made as tables_of
from tests.made import CATALOGUE, inputs, offer, price_book, run, runs
from tests.pages.test_winners import page as alike
from tests.test_report import STUDY
from tests.test_report_page import browser, opened  # noqa: F401, a fixture

pytestmark = pytest.mark.slow

MACHINES = CATALOGUE | {
    "box": {
        "label": "our box",
        "own": {
            "acquisition_usd": 3000.0,
            "life_months": 36.0,
            "power_watts": 400.0,
            "usd_per_kwh": 0.3,
            "hours_per_month": 200.0,
            "as_of": "2026-01-02",
            "source": "a shop",
        },
    }
}
OPTIONS = {
    "on-demand": {"purchase": "on-demand"},
    "spot": {
        "purchase": "spot",
        "preemption": {
            "preemptions_per_hour": 0.2,
            "checkpoint_seconds": 300.0,
            "restart_seconds": 60.0,
            "save_seconds": 5.0,
        },
    },
    "owned": {"purchase": "owned"},
}
#: Of 2019, when the least was a minute: some of these trainings are shorter.
BOOK = price_book(
    offer("1-core", 0.036, as_of="2019"),
    offer("1-core", 0.018, purchase="spot", as_of="2019"),
    offer("4-core", 0.144, as_of="2019"),
    offer("4-core", 0.05, purchase="spot", as_of="2019"),
)
RULE = ("increment_seconds", "minimum_seconds")


@pytest.fixture(scope="module")
def study() -> Inputs:
    """Two workloads on three machines, 1 to 12 runs a cell, at a twentieth of full length."""
    rng = np.random.default_rng(5)
    rows = []
    for number, (workload, hardware, framework) in enumerate(
        itertools.product(("mnist_mlp", "mnist_cnn"), ("cpu1", "cpu4", "box"), ("tensorflow", "jax"))
    ):
        middle = rng.uniform(1000, 20_000)
        for repeat in range(1, (1, 3, 4, 6, 12)[number % 5] + 1):
            rate = float(middle * np.exp(0.05 * rng.standard_normal()))
            trained = 3_000 * 2 / rate
            rows.append(
                run(
                    workload=workload,
                    hardware=hardware,
                    framework=framework,
                    repeat=repeat,
                    samples_fraction=0.05,
                    epochs=2,
                    epochs_done=2,
                    train_samples=3_000,
                    samples_per_second=rate,
                    first_step_seconds=float(rng.uniform(0.5, 3)),
                    validation_seconds=float(rng.uniform(0.1, 0.5)),
                    train_seconds=trained + 3.0,
                    total_seconds=trained + 12.0,
                )
            )
    about = STUDY | {"prices": OPTIONS, "question": {"asks": "Do four pay?", "hardware": "cpu4"}}
    return inputs(about, clocks.complete(runs(*rows)), MACHINES, BOOK)


@pytest.fixture(scope="module")
def page(browser: Browser, study: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:  # noqa: F811
    path = tmp_path_factory.mktemp("ask") / "report.html"
    path.write_text(report.page(study))
    page = opened(browser, path, 1400, "light")
    yield page
    assert page.said == []
    page.close()


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Return settings at random, most of them as they are on the open page."""

    def maybe(value: Any, share: float = 0.3) -> Any:
        return value if rng.random() < share else None

    return {
        "workload": str(rng.choice(["mnist_mlp", "mnist_cnn"])),
        "by": str(rng.choice(["cost", "time", "value"])),
        "option": str(rng.choice(list(OPTIONS))),
        "samples": maybe(float(10 ** rng.uniform(3, 9))),
        "accuracy": None,
        "compile": bool(rng.random() < 0.7),
        "discount": maybe(float(rng.uniform(0, 0.9))) or 0.0,
        "preemptions": maybe(float(rng.choice([0, 0.05, 2.0]))),
        "checkpoint": maybe(float(rng.uniform(10, 3000))),
        "restart": maybe(float(rng.uniform(0, 300))),
        "hours": maybe(float(rng.uniform(1, 730))),
        "deadline": maybe(float(10 ** rng.uniform(-2, 2)), 0.2),
        "budget": maybe(float(10 ** rng.uniform(-4, 1)), 0.2),
        "base": "",
        "prices": {name: float(rng.uniform(0, 1)) for name in ("cpu1", "cpu4", "box") if rng.random() < 0.2},
    }


def hourly(study: Inputs, price: dict[str, Any] | None, machine: str, state: dict[str, Any]) -> float | None:
    if machine in state["prices"]:
        return state["prices"][machine]
    if price is None:
        return None
    if state["option"] == "owned":
        own = study.machines[machine]["own"]
        return float(ownership.usd_per_hour(ownership.machine(own), state["hours"] or own["hours_per_month"]))
    return price["usd_per_hour"] * (1 - state["discount"])


def computed(study: Inputs, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what `ask` of engine.js should, by the project's own functions."""
    known = {row["hardware"]: row for row in records(study.prices) if row["price_option"] == state["option"]}
    cells = study.runs[study.runs["workload"] == state["workload"]]
    rows = []
    for key, group in cells.groupby(CELL, sort=False, dropna=False):
        cell = dict(zip(CELL, key, strict=True))
        price = known.get(cell["hardware"])
        usd_per_hour = hourly(study, price, cell["hardware"], state)
        if usd_per_hour is None:
            continue
        once, rest = np.transpose([clocks.parts(row) for row in records(group)])
        if not state["compile"]:
            once = once - group["first_step_seconds"].to_numpy(dtype=float)
        samples = float(group["published_samples"].iloc[0])
        useful = once + rest * (1.0 if state["samples"] is None else state["samples"] / samples)
        given = {name: price[name] if price else 0.0 for name in ("preemptions_per_hour", "save_seconds")}
        rate = given["preemptions_per_hour"] if state["preemptions"] is None else state["preemptions"]
        has_terms = price is not None and price["preemptions_per_hour"] > 0
        own = {
            "checkpoint": price["checkpoint_seconds"] if has_terms else np.inf,
            "restart": price["restart_seconds"] if has_terms else 0.0,
        }
        terms = [own[name] if state[name] is None else state[name] for name in ("checkpoint", "restart")]
        seconds = spot.expected_seconds(useful, rate, *terms, given["save_seconds"] if has_terms else 0.0)
        seconds = seconds if rate > 0 else useful  # as price_runs does: without preemptions nobody saves
        paid = seconds if price is None else billing.billed_seconds(seconds, *(price[name] for name in RULE))
        of = {"seconds": seconds, "usd": billing.cost_usd(paid, usd_per_hour)}
        of["value"] = of["usd"] * seconds
        row = {"name": study.name_of(cell), "hardware": cell["hardware"], "of": of} | {
            name: float(np.median(one)) for name, one in of.items()
        }
        late = state["deadline"] is not None and row["seconds"] > state["deadline"] * 3600
        dear = state["budget"] is not None and row["usd"] > state["budget"]
        rows.append(row | {"out": "too slow" if late else "too dear" if dear else ""})
    key = {"cost": "usd", "time": "seconds", "value": "value"}[state["by"]]
    rows.sort(key=lambda row: (bool(row["out"]), row[key]))
    within = [row for row in rows if not row["out"]]
    values = [np.sqrt(row["of"][key]) if key == "value" else row["of"][key] for row in within]
    near = undecided(study.judge, values[0], values[1:], [row["hardware"] for row in within]) if within else []
    for place, row in enumerate(within):
        row["near"] = place - 1 in near
    return rows


def opened_up(page: Page) -> None:
    """Open the rarer settings."""
    page.evaluate("document.querySelector('#ask details').open = true")


def test_hundred_settings_at_random_are_what_the_engine_says(page: Page, study: Inputs) -> None:
    rng = np.random.default_rng(11)
    states = [drawn(rng) for _ in range(100)]
    script = (
        "states => { const data = JSON.parse(document.getElementById('ask-data').textContent);"
        " return states.map(state => ask(data, state)) }"
    )
    answers, compared = page.evaluate(script, states), 0
    for state, rows in zip(states, answers, strict=True):
        expected = computed(study, state)
        assert [row["name"] for row in rows] == [row["name"] for row in expected], state
        for row, known in zip(rows, expected, strict=True):
            for name in ("usd", "seconds", "value"):
                assert row[name] == pytest.approx(known[name], rel=1e-9), (name, row["name"], str(state))
            assert row["out"] == known["out"]
            assert row["near"] == known.get("near", False), (row["name"], state)
            compared += 1
    assert compared > 300


NOTHING = dict.fromkeys(("samples", "accuracy", "preemptions", "checkpoint", "restart", "hours", "deadline", "budget"))
AS_IT_OPENS = NOTHING | {"option": "on-demand", "base": "", "prices": {}, "compile": True, "discount": 0.0}


@pytest.mark.parametrize(("faster", "wins"), [(0.0, False), (log(2), True)])
def test_what_ifs_name_a_winner_where_there_is_one_alone(page: Page, faster: float, wins: bool) -> None:
    """Pages of twelve cells, alike or the first faster: as they open, for fewer samples and at other prices."""
    changes = [{}, {"samples": 2000.0}, {"discount": 0.5}, {"prices": {"cpu1": 3.0}}]
    states = [
        AS_IT_OPENS | {"workload": "mnist_mlp", "option": "then", "by": by} | change
        for by in ("cost", "time", "value")
        for change in changes
    ]
    script = (
        "([data, states]) => states.map(state => { const rows = ask(data, state);"
        " const below = winsBelow(rows[0], rows.slice(1), data.rule) / rows[0].usd_per_hour;"
        " return {...best(rows, state.by), below} })"
    )
    named = 0
    for seed in range(10):
        made = alike(seed, 12, faster)
        found = page.evaluate(script, [json.loads(json.dumps(context(made)["ask"])), states])
        named += any(not one["head"].endswith("measured") for one in found)
        cells = trainings.by_workload(made.costs, made.price, made.name_of)["mnist_mlp"]
        for one, role in zip(found[:: len(changes)], trainings.best(cells, made.judge), strict=True):
            assert one["said"] == role["said"]
            assert one["head"].lower() == role["head"]
        assert all((one["below"] > 1) == (not one["head"].endswith("measured")) for one in found[: len(changes)])
    assert named == 10 if wins else named <= 1


@pytest.mark.parametrize(
    ("count", "spread", "disturbed", "why"),
    [
        (1, 0.05, 0.0, "too few runs"),
        (3, 0.002, 0.0, "too close to call"),  # many lie within the least gap that counts, however few runs they are
        (6, 0.05, 0.0, "too close to call"),
        (6, 0.05, 50.0, "all runs disturbed"),
    ],
)
def test_reason_why_nothing_wins_is_the_true_one_and_that_of_python(
    page: Page, count: int, spread: float, disturbed: float, why: str
) -> None:
    rng = np.random.default_rng(count)
    rows = [
        run(batch_size=size, repeat=i + 1, train_seconds=100 * float(np.exp(spread * rng.standard_normal())),
            other_cpu_percent=disturbed)
        for size in range(1, 53) for i in range(count)  # a page so large has its own noise
    ]  # fmt: skip
    made = inputs(tables_of.STUDY, runs(*rows))
    script = (
        "([data, states]) => states.map((state) => { const rows = ask(data, state);"
        " const close = rows.filter((row) => row.near); return [best(rows, state.by).said,"
        " whyNot(close).join(' or '), close.length, settledBy(close)] })"
    )
    states = [AS_IT_OPENS | {"workload": "mnist_mlp", "option": "then", "by": by} for by in ("cost", "time", "value")]
    found = page.evaluate(script, [json.loads(json.dumps(context(made)["ask"])), states])
    cells = trainings.by_workload(made.costs, made.price, made.name_of)["mnist_mlp"]
    expected = trainings.best(cells, made.judge)
    assert found == [[one["said"], one["why"], one["not_told"], one["settled_by"]] for one in expected]
    assert all(one["why"].startswith(why) for one in expected)
    assert all(one["said"].lower().startswith(why) for one in expected)


def test_training_of_ones_own_takes_its_hours_on_its_machine(browser: Browser, page: Page, study: Inputs) -> None:  # noqa: F811
    """The fastest configuration there takes that long, and all others as many samples."""
    page.locator("#ask [type=reset]").click()
    page.fill("[name=takes]", "10")
    page.select_option("[name=on]", "cpu4")
    page.fill("[name=samples]", "5000")
    assert page.locator("[name=takes]").input_value() == "", "a training's length is said in one way"
    assert not page.locator("[name=on]").is_visible(), "it says on what one's own takes so long"
    page.fill("[name=takes]", "10")
    assert page.locator("[name=samples]").input_value() == ""
    said = page.locator("#asked .answer").inner_text()
    assert "a training like MNIST · MLP that takes 10.0 h on 4 vCPUs as " in said
    assert "These are of the machines of this page (on-demand)." in page.locator("#asked").inner_text()
    script = (
        "state => { const data = JSON.parse(document.getElementById('ask-data').textContent);"
        " return ask(data, state).map(({name, seconds}) => [name, seconds]) }"
    )
    taken = dict(
        page.evaluate(script, AS_IT_OPENS | {"workload": "mnist_mlp", "by": "cost", "takes": 10, "on": "cpu4"})
    )
    cells: dict[str, list[tuple[float, float]]] = {}
    for row in records(study.runs[study.runs["workload"] == "mnist_mlp"]):
        cells.setdefault(study.name_of(row), []).append(clocks.parts(row))
    there = [parts for name, parts in cells.items() if "4 vCPUs" in name]
    shortest = lambda times: min(float(np.median([once + times * rest for once, rest in parts])) for parts in there)  # noqa: E731
    times = optimize.brentq(lambda times: shortest(times) - 36_000, 0, 1e9, xtol=1e-9, rtol=1e-14)
    for name, seconds in taken.items():
        expected = float(np.median([once + times * rest for once, rest in cells[name]]))
        assert seconds == pytest.approx(expected, rel=1e-9), name
    assert min(seconds for name, seconds in taken.items() if "4 vCPUs" in name) == pytest.approx(36_000)
    other = browser.new_page()
    other.goto(page.url)
    assert "takes=10&on=cpu4" in other.url
    assert other.locator("#asked .answer").inner_text() == said
    other.goto(page.url.partition("#")[0] + "#ask&takes=0.0001&on=cpu4")
    other.reload()
    assert "is known that is as short" in other.locator("#asked").inner_text()
    other.close()
    page.locator("#ask [type=reset]").click()
    page.wait_for_function("!location.hash")


def test_training_of_ones_own_is_that_of_the_software_chosen(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    """PyTorch takes three times as long as JAX on each machine: 10 h of it are a third of a training of JAX's 10 h."""
    rows = [
        run(hardware=machine, framework=framework, repeat=i, train_seconds=seconds * (1 + i / 100))
        for machine, times in (("cpu1", 4), ("cpu4", 1))
        for framework, seconds in (("jax", 1000.0 * times), ("torch", 3000.0 * times))
        for i in range(4)
    ]
    (path := tmp_path / "report.html").write_text(report.page(inputs(STUDY, runs(*rows))))
    page = opened(browser, path, 1400, "light")
    hours = (
        "() => { const data = JSON.parse(document.getElementById('ask-data').textContent);"
        " const state = stateOf(new FormData(document.getElementById('ask')), data.limits);"
        " return Object.fromEntries(ask(data, state).map(({name, seconds}) => [name, seconds / 3600])) }"
    )
    page.fill("[name=takes]", "10")
    assert not page.locator("[name=like]").is_visible(), "first on which machine"
    page.select_option("[name=on]", "cpu4")
    assert page.locator("[name=like] option").all_inner_texts()[0] == "its fastest there"
    assert page.evaluate(hours)["JAX · 4 vCPUs"] == pytest.approx(10)
    fastest = page.locator("#asked .answer").inner_text()
    assert "as JAX · 4 vCPUs, the fastest there" in fastest
    assert re.search(r"stay on 4 vCPUs(\.|, nothing here clearly costs less\.)", fastest), (
        "four vCPUs at four times the price"
    )
    page.select_option("[name=like]", "PyTorch · 4 vCPUs")
    found = page.evaluate(hours)
    assert found["PyTorch · 4 vCPUs"] == pytest.approx(10)
    assert found["JAX · 4 vCPUs"] == pytest.approx(10 / 3, rel=0.01)
    said = page.locator("#asked .answer").inner_text()
    assert "takes 10.0 h on 4 vCPUs as PyTorch · 4 vCPUs." in said
    tied = r"1 vCPU \(JAX\): 0\.480 USD; 4 vCPUs \(JAX\): 0\.480 USD \(too close: 0\.\d+ to 1\.\d+×\)"
    assert re.match(rf"Undecided between {tied}, price of 2026-01-02\. ", said), (
        "a third of 10 h at 0.144, and a quarter of the price for four times"
    )
    notes = page.locator("#asked .bars .bar small").all_inner_texts()
    assert len(notes) == page.locator("#asked .bars .bar").count() - 1, "each beside the first says what it is"
    for note in notes:
        what, low = re.fullmatch(r" ?· (clearly more|too close): (\S+) to \S+×", note).groups()
        assert (float(low) <= 1) == (what == "too close"), "the range that decides"
    assert "taken as" not in said, "the reader's own hours"
    assert "Yours comes to 1.44 USD: stay on 4 vCPUs, where JAX · 4 vCPUs clearly costs less." in said, "10 h at 0.144"
    page.evaluate("document.querySelector('#ask details').open = true")
    page.fill("[name='price.cpu4']", "1")
    assert "Yours comes to 10.0 USD, clearly more: move." in page.locator("#asked .answer").inner_text()
    assert (
        page.locator("#asked .answer strong")
        .inner_text()
        .startswith("Rent 1 vCPU (JAX): 0.480 USD, price of 2026-01-02.")
    )
    page.fill("[name='price.cpu4']", "")
    other = browser.new_page()
    other.goto(page.url)
    assert other.locator("#asked .answer").inner_text() == said, "the address keeps the choice"
    link = '<p class="asks"><a href="#ask&takes=10&on=cpu4">4 vCPUs</a></p>'  # as that of `yours` on a published page
    other.evaluate("link => document.body.insertAdjacentHTML('afterbegin', link)", link)
    other.click(".asks a")
    other.wait_for_function("document.querySelector('#asked').innerText.includes('taken as 10.0 hours: give yours')")
    other.fill("[name=takes]", "10.0")
    assert "taken as" not in other.locator("#asked .answer").inner_text()
    other.close()
    page.close()


def test_machine_of_ones_own_stays_where_a_workload_did_not_run_on_it(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    rows = [
        run(workload=workload, hardware=machine, framework=framework, repeat=i)
        for workload, machine in (("mnist_mlp", "cpu1"), ("mnist_mlp", "cpu4"), ("mnist_cnn", "cpu4"))
        for framework in ("jax", "torch")
        for i in range(4)
    ]
    (path := tmp_path / "report.html").write_text(report.page(inputs(STUDY, runs(*rows))))
    page = opened(browser, path, 1400, "light")
    answer = page.locator("#asked .answer")
    page.fill("[name=takes]", "10")
    assert answer.inner_text() == "Choose the machine on which it takes 10.0 h.", "none is chosen for the reader"
    page.select_option("[name=on]", "cpu1")
    said = answer.inner_text()
    assert "takes 10.0 h on 1 vCPU" in said
    page.select_option("[name=workload]", "mnist_cnn")
    assert answer.inner_text() == "MNIST · CNN was not run on 1 vCPU: cannot be told."
    page.select_option("[name=workload]", "mnist_mlp")
    assert answer.inner_text() == said
    page.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [("10M", "10,000,000 samples"), ("10 million", "10,000,000 samples"), ("1.5k", "1,500 samples"),
     ("2 billion", "2,000,000,000 samples"), ("1,000,000", "1,000,000 samples"),
     ("60 000 000", "60,000,000 samples"), ("60\u202f000", "60,000 samples"), ("60’000", "60,000 samples"),
     ("60 00", "Not computed. samples: more than 0 is allowed, not 60 00."),
     ("10 miles", "Not computed. samples: more than 0 is allowed, not 10 miles.")],
)  # fmt: skip
def test_counts_are_read_as_people_write_them(page: Page, text: str, said: str) -> None:
    page.fill("[name=samples]", text)
    assert said in page.locator("#asked .answer").inner_text()
    assert ("at this length" in page.locator("#asked").inner_text()) != said.startswith("Not computed")
    page.fill("[name=samples]", "")


def test_where_no_log_records_samples_whole_trainings_are_asked_for(page: Page) -> None:
    made = inputs(tables_of.STUDY, runs(tables_of.log(), tables_of.log(hardware="cpu4")))
    data = context(made)["ask"]
    assert {key: data["workloads"]["mnist_mlp"][key] for key in ("samples", "noun")} == {
        "samples": 1,
        "noun": "trainings",
    }
    state = AS_IT_OPENS | {"workload": "mnist_mlp", "option": "then", "by": "cost"}
    script = "([data, states]) => states.map((state) => ask(data, state)[0].usd)"
    one, three = page.evaluate(script, [json.loads(json.dumps(data)), [state, state | {"samples": 3}]])
    assert three == pytest.approx(3 * one)


def test_price_up_to_which_a_machine_surely_costs_less_is_by_the_rule(page: Page, study: Inputs) -> None:
    """A little below that price the rule of Python calls it different from the other machines, a little above not."""
    script = (
        "state => { const data = JSON.parse(document.getElementById('ask-data').textContent);"
        " const rows = ask(data, state); return rows.map(row => [row.cell.hardware, row.of.usd,"
        " winsBelow(row, rows.filter(other => other.cell.hardware !== row.cell.hardware), data.rule)"
        " / row.usd_per_hour]) }"
    )
    rows, tried = page.evaluate(script, AS_IT_OPENS | {"workload": "mnist_cnn", "by": "cost"}), 0
    for machine, usd, share in rows:
        for near, wins in ((0.999, True), (1.001, False)) if share else ():
            cheaper = [
                study.judge.compare(np.array(usd) * share * near, theirs, (machine, other)).word == LESS
                for other, theirs, _ in rows
                if other != machine
            ]
            assert all(cheaper) == wins, (machine, share)
            tried += 1
    assert tried > 4


def test_a_preemptible_machine_of_2017_lives_for_a_day(page: Page) -> None:
    """24.4 hours take two of Google's of then; of its spot machines of today, and of others', one may do."""
    lives = [spot.lives_seconds(*of) for of in (("gce", "2017-07"), ("gce", "2026-05-20"), ("aws", "2017-07"))]
    prices = [{} if seconds is None else {"lives_seconds": seconds} for seconds in lives]
    hours = (24.4, 24.0, 49.0)
    script = "([prices, hours]) => prices.map((price) => hours.map((one) => livesOf(one * 3600, price)))"
    assert page.evaluate(script, [prices, hours]) == [[2, 1, 3], [1, 1, 1], [1, 1, 1]]


def test_price_at_which_another_would_win_is_where_it_does(page: Page) -> None:
    """A little below that price a machine is the cheapest, a little above another; rivals on it do not count."""
    script = (
        "state => { const data = JSON.parse(document.getElementById('ask-data').textContent); return ask(data, state) }"
    )
    state = AS_IT_OPENS | {"workload": "mnist_mlp", "by": "cost"}
    rows = page.evaluate(script, state)
    turning = [row for row in rows if row["even_at"]]
    machines = [row["cell"]["hardware"] for row in turning]
    assert sorted(machines) == sorted({row["cell"]["hardware"] for row in rows}), "the best of each machine, once"
    assert len(machines) > 1
    for row, machine in zip(turning, machines, strict=True):
        for share, wins in ((0.999, True), (1.001, False)):
            found = page.evaluate(script, state | {"prices": {machine: row["even_at"] * share}})
            assert (found[0]["cell"]["hardware"] == machine) == wins, (machine, share)


def test_as_it_opens_it_says_what_is_there_without_scripts(page: Page, study: Inputs) -> None:
    cells = trainings.by_workload(study.costs, "on-demand", study.name_of)["mnist_mlp"]
    best = {one["role"]: one for one in trainings.best(cells, study.judge)}
    cards = page.locator("#asked .card strong").all_inner_texts()
    assert cards[:2] == [best["cheapest"]["machine"], best["fastest"]["machine"]]
    both = (page.locator("#asked"), page.locator("#first .static .panel").first)
    asked, without = ([" ".join(card.split()) for card in place.locator(".card").all_text_contents()] for place in both)
    assert asked == without, "what is best, what is too close to it, and the price of speed"
    heads = [page.locator(f"{where} table.heat th").all_text_contents() for where in ("#asked", "#first .static")]
    assert heads[0][: len(heads[1])] == heads[1], "the columns of the glance, in their order"
    cells = [page.locator(f"{where} table.heat td").all_text_contents() for where in ("#asked", "#first .static")]
    assert cells[0] == cells[1] != [], "and what stands in them"
    static = page.locator("#first .static .panel").first.locator(".bar [role=rowheader]").all_text_contents()
    assert page.locator("#asked .bars .bar span:first-child").all_inner_texts() == static
    assert not page.locator("#first .static").is_visible()
    question = trainings.Question("hardware", "cpu4", "cpu1")
    counted = trainings.pays(trainings.by_workload(study.costs, "on-demand", study.name_of), question, study.judge)
    assert counted is not None
    said = f"cheaper than 1 vCPU in {counted.cheaper} of {counted.pairs} pairs and dearer in {counted.dearer}"
    assert said in page.locator("#asked").inner_text()
    classes = "bars => bars.map((bar) => bar.className.trim())"
    marks = [place.locator(".bar").evaluate_all(classes) for place in both]
    assert marks[0] == marks[1], "what is lowest, too close to it, or has too few runs"
    notes = [" ".join(place.locator(".bar small").all_text_contents()) for place in both]
    assert notes[0] == notes[1] != "", "and between how many times as much"
    summary = " ".join((page.locator("#first .static summary").first.text_content() or "").split())
    assert page.locator("#asked .answer strong").inner_text() in summary, "which is cheapest, and what of it is clear"


def test_ways_to_buy_stand_beside_each_other(page: Page, study: Inputs) -> None:
    """Each row is what the page answers when that way is chosen, and the page without scripts says the same."""
    page.locator("#ask [type=reset]").click()

    def rows(where: str) -> list[list[str]]:
        lines = page.locator(where).locator("tbody tr").all()
        return [line.locator("th, td").all_text_contents() for line in lines]

    asked = rows("#asked [aria-label='The best by each way to buy']")
    without = page.locator("#first .static .panel").first.locator(".table").first
    assert asked == [
        [" ".join(text.split()) for text in line.locator("th, td").all_text_contents()]
        for line in without.locator("tbody tr").all()
    ]
    assert [row[0] for row in asked] == ["on-demand", "spot", "owned"]
    for option, name, *_ in asked:
        page.select_option("[name=option]", option)
        assert page.locator("#asked .card strong").first.inner_text() == name.split(" (")[0]
    page.locator("#ask [type=reset]").click()
    assert asked[0][-1] == "60.0 s", "the least that is billed"


def test_settings_are_kept_in_the_address_and_come_back(browser: Browser, page: Page) -> None:  # noqa: F811
    page.select_option("[name=workload]", "mnist_cnn")
    page.select_option("[name=by]", "time")
    page.fill("[name=samples]", "5000000")
    opened_up(page)
    page.select_option("[name=workload]", "mnist_cnn")  # whose configurations have three runs or more on both
    page.fill("[name='price.cpu1']", "0.05")
    page.fill("[name='price.cpu4']", "0.04")
    said = page.locator("#asked").text_content()
    assert said
    assert "5,000,000 samples of MNIST · CNN" in said
    other = browser.new_page(viewport={"width": 390, "height": 900})
    other.goto(page.url)
    assert other.locator("#asked").text_content() == said
    assert other.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    other.close()
    page.locator("#ask [type=reset]").click()
    page.wait_for_function("!location.hash")


def test_address_controls_and_answer_agree_whatever_is_clicked(browser: Browser, page: Page) -> None:  # noqa: F811
    """Back, an address that is pasted into the open page, and the page's own navigation."""
    other = browser.new_page()
    other.goto(page.url.partition("#")[0])

    def agree(workload: str, by: str) -> None:
        other.wait_for_function(
            "([workload, by]) => document.querySelector('[name=workload]').value === workload"
            " && document.querySelector('[name=by]').value === by",
            arg=[workload, by],
        )
        words = other.locator("#ask [name=workload] option:checked").inner_text()
        assert words in other.locator("#asked .answer").inner_text()
        fresh = browser.new_page()
        fresh.goto(other.url)
        assert fresh.locator("#asked").inner_text() == other.locator("#asked").inner_text()
        fresh.close()

    agree("mnist_mlp", "cost")
    other.select_option("[name=workload]", "mnist_cnn")
    other.select_option("[name=by]", "time")
    agree("mnist_cnn", "time")
    other.locator("nav a").last.click()
    agree("mnist_cnn", "time")
    other.go_back()
    agree("mnist_cnn", "time")
    other.go_back()
    agree("mnist_cnn", "cost")
    other.go_back()
    agree("mnist_mlp", "cost")
    other.go_forward()
    agree("mnist_cnn", "cost")
    other.go_back()
    other.evaluate("location.hash = '#ask&by=value'")
    agree("mnist_mlp", "value")
    other.close()


def test_a_jump_to_a_section_leaves_the_answer_as_it_is(browser: Browser, page: Page) -> None:  # noqa: F811
    other = browser.new_page()
    other.goto(page.url.partition("#")[0])
    other.evaluate("document.querySelector('#asked .answer').dataset.same = 'yes'")
    other.locator("nav a").last.click()
    other.wait_for_function("location.hash")
    other.evaluate("new Promise((done) => setTimeout(done))")
    assert other.locator("#asked .answer").get_attribute("data-same") == "yes"
    other.close()


def test_input_closes_nothing_and_the_sentence_alone_is_read_aloud(page: Page) -> None:
    folded = page.locator("#asked details", has_text="At which price")
    folded.locator("summary").click()
    page.select_option("[name=by]", "time")
    assert folded.get_attribute("open") is not None
    opened_up(page)
    page.fill("[name=deadline]", "-1")
    assert "Not computed" in page.locator("#asked").inner_text()
    assert page.locator("#link").is_disabled(), "there is nothing to send"
    page.fill("[name=deadline]", "1000")
    assert folded.get_attribute("open") is not None
    (live,) = page.locator("#asked [aria-live]").all_inner_texts()
    assert live == page.locator("#asked .answer").inner_text()
    assert len(live.split()) < 60
    page.locator("#link").click()
    page.wait_for_function("/Copied|address bar/.test(document.getElementById('link').textContent)")
    page.locator("#ask [type=reset]").click()
    page.wait_for_function("!location.hash")


def test_address_of_an_older_page_asks_what_is_left_of_it(browser: Browser, page: Page) -> None:  # noqa: F811
    other = browser.new_page()
    said: list[str] = []
    other.on("pageerror", lambda error: said.append(str(error)))
    other.goto(page.url.partition("#")[0] + "#ask&workload=gone&by=speed&option=none&base=nobody")
    assert said == []
    assert other.locator("#asked .answer").inner_text() == page.locator("#asked .answer").inner_text()
    assert other.locator(".tools").count() > 0, "the scripts after it run, too"
    other.close()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_address_of_a_question_opens_at_its_answer(browser: Browser, page: Page, width: int, height: int) -> None:  # noqa: F811
    other = browser.new_page(viewport={"width": width, "height": height})
    other.goto(page.url.partition("#")[0] + "#ask&workload=mnist_cnn")
    box = other.locator("#asked .answer").bounding_box()
    heading = "document.querySelector('#first h2, summary:has(+ #first) h2').getBoundingClientRect().top"
    hidden = "document.querySelector('main > nav').getBoundingClientRect().bottom"
    assert other.evaluate(f"{heading} >= {hidden}"), "its heading lies below the bar of sections"
    other.close()
    assert box is not None
    assert 0 <= box["y"] < height


def test_hostile_address_is_text(browser: Browser, page: Page) -> None:  # noqa: F811
    other = browser.new_page()
    other.goto(
        page.url.partition("#")[0] + "#ask&workload=<img src=x onerror=alert(1)>&samples=abc&price.cpu1=1e999&nosuch=1"
    )
    assert other.locator("#asked").count() == 1
    assert other.locator("#asked img").count() == 0
    other.close()


REFUSED = {
    "discount=150": "discount, %: 0 to 100 is allowed, not 150.",
    "price.cpu1=-1": "1 vCPU: 0 or more is allowed, not -1.",
    "samples=-5": "samples: more than 0 is allowed, not -5.",
    "samples=0": "samples: more than 0 is allowed, not 0.",
    "takes=0": "or mine takes, hours: more than 0 is allowed, not 0.",
    "samples=0x10": "samples: more than 0 is allowed, not 0x10.",
    "samples=NaN": "samples: more than 0 is allowed, not NaN.",
    "hours=0": "hours an owned machine is used, a month: more than 0 and at most 744 is allowed, not 0.",
    "deadline=0": "deadline, hours: more than 0 is allowed, not 0.",
    "budget=Infinity": "budget, USD: 0 or more is allowed, not Infinity.",
}


def test_setting_that_cannot_be_is_refused_from_the_address_too(browser: Browser, page: Page) -> None:  # noqa: F811
    for setting, said in REFUSED.items():
        other = browser.new_page()
        other.goto(f"{page.url.partition('#')[0]}#ask&{setting}")
        assert other.locator("#asked").inner_text() == f"Not computed. {said}"
        assert other.locator("#ask .problem:visible").all_inner_texts() == [said.partition(": ")[2].rstrip(".")]
        other.locator("#ask [type=reset]").click()
        other.wait_for_function("!document.querySelector('#asked').textContent.startsWith('Not computed')")
        assert other.locator("#ask .problem:visible").count() == 0
        other.close()


def test_setting_that_cannot_be_is_said_beside_its_field(page: Page) -> None:
    opened_up(page)
    page.fill("[name=discount]", "150")
    assert page.locator("label:has([name=discount]) .problem").inner_text() == "0 to 100 is allowed, not 150"
    page.fill("[name=discount]", "50")
    assert page.locator("#ask .problem:visible").count() == 0
    page.fill("[name=discount]", "")


def test_what_nothing_can_do_is_said(page: Page) -> None:
    opened_up(page)
    page.fill("[name=budget]", "0")
    assert "Nothing is fast and cheap enough" in page.locator("#asked .answer").inner_text()
    page.fill("[name=budget]", "")
    assert "Nothing is" not in page.locator("#asked .answer").inner_text()
    page.fill("[name=preemptions]", "1000000")
    assert "With so many preemptions no training ends." in page.locator("#asked .answer").inner_text()
    page.fill("[name=preemptions]", "")


def test_data_of_a_page_are_small_json(study: Inputs) -> None:
    text = report.page(study)
    data = text.partition('id="ask-data">')[2].partition("</script>")[0]
    assert len(json.loads(data)["cells"]) == 12
    assert "<" not in data


def test_price_at_which_another_wins_is_in_sight_and_the_same_without_scripts(page: Page, study: Inputs) -> None:
    page.locator("#ask [type=reset]").click()
    (panel,) = [one for one in first.context(study)["panels"] if one["workload"] == "mnist_mlp"]
    assert "For MNIST · MLP alone, 4 vCPUs is even by medians at" in panel["flip"]
    assert panel["flip"] in page.locator("#asked").inner_text()
    static = " ".join((page.locator("#first .static .panel").first.text_content() or "").split())
    assert panel["flip"] in static
    page.select_option("[name=by]", "time")
    assert panel["flip"] not in page.locator("#asked").inner_text(), "no price changes the order of times"
    page.locator("#ask [type=reset]").click()


def test_another_length_says_why_it_has_another_answer_and_nothing_where_it_has_none(page: Page) -> None:
    """A hundred samples cost the least that is billed on every machine of one price, one vCPU, which may be cheapest at
    the page's own length, too. In 3.6 minutes four vCPUs alone do 1.2 million.
    """
    opened_up(page)
    page.select_option("[name=workload]", "mnist_cnn")
    page.fill("[name=samples]", "100")
    assert page.locator("#asked .answer strong").inner_text() == "2 of 4 cost the same."
    assert ", one by one, as 60.0 s are billed at least (in a row on " in page.locator("#asked .answer").inner_text()
    assert "With the page's own" not in page.locator("#asked").inner_text()
    page.fill("[name=deadline]", "0.06")
    page.fill("[name=samples]", "1200000")
    words = (
        "With the page's own 720,000 samples: TensorFlow · 1 vCPU is cheapest, as start and compilation are paid once."
    )
    assert words in page.locator("#asked").inner_text()
    page.fill("[name=samples]", "720000")
    assert "With the page's own" not in page.locator("#asked").inner_text()
    page.locator("#ask [type=reset]").click()
