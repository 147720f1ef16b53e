from typing import Any

import pandas as pd
import pytest

from scripts.analysis import audit
from scripts.importers import COLUMNS
from scripts.storage.errors import InputError


def facts(*runs: dict[str, Any]) -> pd.DataFrame:
    """Return a table of facts; a run is one of mnist on a k80 unless it says otherwise."""
    rows = []
    for index, run in enumerate(runs):
        row = {"workload": "mnist", "hardware": "k80", "framework": "cntk", "repeat": 1, "missing_columns": ""} | run
        name = f"{row['hardware']}/{row['workload']}_{row['framework']}"
        rows.append({"run": name, "file": f"{name}.csv", "sha256": f"sum{index}"} | row)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def of(kind: str, table: pd.DataFrame) -> list[dict[str, str]]:
    """Return the findings of a kind, without the keys that are empty."""
    rows = table[table["kind"] == kind].drop(columns="kind").to_dict("records")
    return [{key: value for key, value in row.items() if value} for row in rows]


def test_columns_are_always_there() -> None:
    assert list(audit.findings(facts()).columns) == list(audit.COLUMNS)
    assert len(audit.findings(facts())) == 0


def test_clean_study_has_no_findings() -> None:
    runs = [{"repeat": repeat, "first_epoch_seconds": 2, "median_epoch_seconds": 1} for repeat in (1, 2)]
    assert len(audit.findings(facts(*runs).assign(file=["a.csv", "b.csv"]))) == 0


def test_same_bytes_under_two_machines() -> None:
    table = audit.findings(facts({"sha256": "s"}, {"hardware": "p100", "sha256": "s"}, {"hardware": "v100"}))
    assert of("identical files", table) == [
        {
            "workload": "mnist",
            "hardware": "p100",
            "framework": "cntk",
            "file": "p100/mnist_cntk.csv",
            "message": "same bytes as k80/mnist_cntk.csv of k80: at most one of the two was measured on its machine",
        }
    ]


def test_same_bytes_as_a_repeat() -> None:
    table = facts({"sha256": "s"}, {"sha256": "s", "repeat": 2, "file": "again/mnist_cntk.csv"})
    (found,) = of("identical files", audit.findings(table))
    assert found["message"] == "same bytes as k80/mnist_cntk.csv: no second measurement"


@pytest.mark.parametrize(("share", "found"), [(1.00005, 1), (1.001, 0)])
def test_times_that_agree_to_the_last_digits_are_of_one_measurement(share: float, found: int) -> None:
    times = {"train_seconds": 100.0, "first_epoch_seconds": 12.0, "median_epoch_seconds": 11.0, "epochs_done": 8}
    edited = times | {name: value * share for name, value in times.items() if name.endswith("seconds")}
    table = audit.findings(facts(times, edited | {"hardware": "p100"}))
    said = of("nearly identical", table)
    assert len(said) == found
    if found:
        assert said[0]["file"] == "p100/mnist_cntk.csv"
        assert said[0]["message"] == "its times are those of k80/mnist_cntk.csv to 0.01 %: one of the two was edited"


def test_runs_of_one_file_are_not_copies() -> None:
    table = facts({"file": "a.log", "run": "a#1", "sha256": "s"}, {"file": "a.log", "run": "a#2", "sha256": "s"})
    assert of("identical files", audit.findings(table)) == []


def test_same_bytes_as_another_study() -> None:
    earlier = facts({"hardware": "gpu", "sha256": "s"}, {"sha256": "t"})[["file", "sha256", "hardware"]]
    table = audit.findings(facts({"sha256": "s"}, {"hardware": "p100"}), others={"2017-06": earlier})
    assert of("identical files", table) == [
        {
            "workload": "mnist",
            "hardware": "k80",
            "framework": "cntk",
            "file": "k80/mnist_cntk.csv",
            "message": "same bytes as gpu/mnist_cntk.csv of gpu in the study 2017-06: it was not measured for both",
        }
    ]


def test_missing_runs_are_those_of_pairs_that_occur() -> None:
    table = audit.findings(
        facts({}, {"workload": "imdb"}, {"hardware": "p100"}, {"hardware": "cpu", "framework": "torch"})
    )
    assert [(f["workload"], f["hardware"], f["framework"]) for f in of("missing run", table)] == [
        ("imdb", "p100", "cntk"),
        ("imdb", "cpu", "torch"),
    ]
    assert of("missing run", table)[0]["message"] == "no run of imdb on p100 with cntk"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (["", ""], []),
        (["acc", "acc"], [("", "no acc in any of its 2 logs")]),
        (["acc,val_acc", "acc"], [("", "no acc in any of its 2 logs"), ("a", "no val_acc, which other logs have")]),
        (["", "val_loss,val_acc"], [("b", "no val_loss, val_acc, which other logs have")]),
        ([None, ""], []),
    ],
)
def test_missing_columns_are_grouped(missing: list[str], said: list[tuple[str, str]]) -> None:
    table = facts(*({"hardware": name, "missing_columns": text} for name, text in zip("ab", missing, strict=True)))
    found = of("missing columns", audit.findings(table))
    assert [(finding.get("hardware", ""), finding["message"]) for finding in found] == said


def test_missing_columns_of_the_only_log() -> None:
    (found,) = of("missing columns", audit.findings(facts({"missing_columns": "acc"})))
    assert found["message"] == "no acc in its only log"


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        (2.0, 1.0, None),
        (11.83, 5.06, "the first epoch took 11.8 s, 2.34 x the median of the later ones, 5.06 s; it is part"),
        (0.5, 1.0, None),
        (5.0, None, None),
        (5.0, 0.0, None),
    ],
)
def test_first_epoch_far_above_the_rest(first: float, later: float | None, said: str | None) -> None:
    table = facts({"first_epoch_seconds": first, "median_epoch_seconds": later})
    found = [finding["message"] for finding in of("slow first epoch", audit.findings(table))]
    assert len(found) == (said is not None)
    assert all(message.startswith(said) for message in found)


def test_single_runs_are_one_finding() -> None:
    table = facts({}, {"repeat": 2}, {"batch_size": 64}, {"hardware": "p100"})
    (found,) = of("single runs", audit.findings(table))
    assert found == {"message": "2 of 3 configurations have one run only: no spread is known"}


CUDNN = "cuDNN LSTM against plain LSTM"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"workload": "imdb", "hardware": "k80"}, [{"workload": "imdb", "hardware": "k80"}]),
        ({"workload": ["imdb", "mnist"]}, [{"workload": "mnist"}, {"workload": "imdb"}]),
        ({"workload": "imdb", "hardware": ["k80", "p100"]}, [{"workload": "imdb"}]),
        ({"hardware": ["p100", "v100"]}, [{"hardware": "p100"}]),
        ({"framework": "cntk"}, [{"framework": "cntk"}]),
    ],
)
def test_unlike_things_are_said_once_a_workload(where: dict, found: list[dict]) -> None:
    table = facts({}, {"workload": "imdb"}, {"workload": "imdb", "hardware": "p100"})
    said = of("unlike things", audit.findings(table, [{"where": where, "says": CUDNN}]))
    assert said == [finding | {"message": CUDNN} for finding in found]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"hardware": "v100"}, r"unlike\[0\].where: no run matches {'hardware': 'v100'}"),
        ({"workload": "imdb", "hardware": "k80"}, r"unlike\[0\].where: no run matches"),
        ({"machine": "k80"}, r"unlike\[0\].where: 'machine' is not allowed; allowed are workload, hardware, framework"),
    ],
)
def test_unlike_things_that_are_not_there_are_refused(where: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        audit.findings(facts({}), [{"where": where, "says": CUDNN}])


def test_runs_of_one_cell_that_are_far_apart() -> None:
    cell = {"batch_size": 64, "precision": "float16", "devices": 1, "status": "done"}
    runs = [
        cell | {"samples_per_second": 68.0, "repeat": 1},
        cell | {"samples_per_second": 560.0, "repeat": 2},
        cell | {"samples_per_second": 600.0, "precision": "float32"},
        cell | {"train_seconds": 5.0, "workload": "other"},
        cell | {"train_seconds": 9.9, "workload": "other", "repeat": 2},
    ]
    (found,) = of("runs far apart", audit.findings(facts(*runs)))
    assert (found["workload"], found["hardware"]) == ("mnist", "k80")
    assert found["message"] == (
        "the 2 runs of one configuration lie 8.24 x apart, the fastest is k80/mnist_cntk: they differ in more than it "
        "says, or one is broken"
    )


def test_run_that_took_no_time_is_infinitely_far_apart() -> None:
    runs = [{"status": "done", "train_seconds": seconds, "repeat": n} for n, seconds in enumerate((0.0, 5.0), 1)]
    (found,) = of("runs far apart", audit.findings(facts(*runs)))
    assert found["message"].startswith("the 2 runs of one configuration lie ∞ x apart")


def test_several_cards_that_do_more_than_as_many_single_ones() -> None:
    def run(machine: str, devices: int, rate: float, **more: Any) -> dict[str, Any]:
        about = {"hardware": machine, "devices": devices, "samples_per_second": rate, "precision": "float16"}
        return about | {"status": "done"} | more

    cards = {"v100": "V100", "v100-x4": "V100", "a10": "A10"}
    runs = [run("v100", 1, 100.0), run("v100", 1, 104.0, repeat=2), run("v100-x4", 4, 2856.0), run("a10", 1, 1.0)]
    (found,) = of("above linear scaling", audit.findings(facts(*runs), cards=cards))
    assert found["message"] == (
        "7.00 x what 4 single cards do: 2,856 samples/s with 4 V100 in float16, 102 with one; that is not the work of "
        "the cards alone"
    )
    (found,) = of(
        "above linear scaling", audit.findings(facts(*(one | {"precision": None} for one in runs)), cards=cards)
    )
    assert "with 4 V100, 102 with one" in found["message"], "a log may name no precision"
    assert not of("above linear scaling", audit.findings(facts(*runs))), "without cards nothing is compared"
    near = [run("v100", 1, 100.0), run("v100-x4", 4, 436.0), run("v100-x4", 4, 4360.0, batch_size=8)]
    assert not of("above linear scaling", audit.findings(facts(*near), cards=cards)), "another batch is another cell"


@pytest.mark.parametrize(("machines", "found"), [(4, 4), (5, 1)])
def test_workload_that_many_machines_lack_is_one_finding(machines: int, found: int) -> None:
    lacking = [{"hardware": f"m{number}", "workload": "mnist"} for number in range(machines)]
    said = of("missing run", audit.findings(facts({"workload": "other"}, {"workload": "mnist"}, *lacking)))
    assert len(said) == found
    assert said[0]["message"] == (
        "no run of other on m0 with cntk" if found > 1 else "no run of other on m0, m1, m2, m3, m4 with cntk"
    )


def test_what_is_no_grid_lacks_no_runs() -> None:
    """A table of configurations: twelve machines with a workload each are no 144 runs of which most are missing."""
    found = audit.findings(facts(*({"workload": f"net{n}", "hardware": f"box{n}"} for n in range(12))))
    assert of("missing run", found) == []
    (one,) = of("no grid", found)
    assert one["message"] == "12 of 144 combinations of workload, machine and framework were run"
