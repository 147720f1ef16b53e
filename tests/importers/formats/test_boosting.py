from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from scripts.importers import Layout
from scripts.importers.formats import boosting

XGBOOST = """[0]\tvalidation_0-logloss:0.60123\tvalidation_1-logloss:0.61000
[1]\tvalidation_0-logloss:0.50123\tvalidation_1-logloss:0.54000
[2]\tvalidation_0-logloss:0.40123\tvalidation_1-logloss:0.55000
"""

#: The best round is printed once more after the end.
LIGHTGBM = """[LightGBM] [Info] Total Bins 7665
Training until validation scores don't improve for 2 rounds
[1]\ttraining's auc: 0.9\tvalid_1's auc: 0.80
[2]\ttraining's auc: 0.95\tvalid_1's auc: 0.85
[3]\ttraining's auc: 0.96\tvalid_1's auc: 0.84
Early stopping, best iteration is:
[2]\ttraining's auc: 0.95\tvalid_1's auc: 0.85
"""

COMMAND_LINE = """[LightGBM] [Info] Iteration:1, valid_1 l2 : 0.25
[LightGBM] [Info] 0.500000 seconds elapsed, finished iteration 1
[LightGBM] [Info] Iteration:2, valid_1 l2 : 0.2
[LightGBM] [Info] 1.250000 seconds elapsed, finished iteration 2
"""

CATBOOST = """Learning rate set to 0.1
0:\tlearn: 0.6732\ttest: 0.6741\tbest: 0.6741 (0)\ttotal: 47.1ms\tremaining: 47s
1:\tlearn: 0.5532\ttest: 0.5941\tbest: 0.5941 (1)\ttotal: 1m 2.5s\tremaining: 40s
bestTest = 0.5941
"""

#: A metric of which more is better, and that is not worked out on what is learned from.
CATBOOST_AUC = """0:\ttest: 0.8959\tbest: 0.8959 (0)\ttotal: 49.2ms\tremaining: 1.43s
5:\ttest: 0.9431\tbest: 0.9450 (4)\ttotal: 108ms\tremaining: 433ms
"""

CLOCK = """[23:59:50] [0]\ttrain-rmse:1.5
[00:00:20] [1]\ttrain-rmse:1.2
[00:00:50] [2]\ttrain-rmse:1.0
"""


def runs(folder: Path, text: str, **layout: object) -> list[dict[str, object]]:
    (folder / "a.log").write_text(text)
    imported = boosting.read(folder, Layout({".": "box"}, workload="higgs", **layout))
    assert imported.problems == []
    return [{key: one for key, one in row.items() if not pd.isna(one)} for row in imported.runs.to_dict("records")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            XGBOOST,
            {
                "framework": "xgboost",
                "steps_done": 3,
                "val_loss": 0.55,
                "best": 0.54,
                "best_of": "validation_1 logloss",
            },
        ),
        (LIGHTGBM, {"framework": "lightgbm", "steps_done": 3, "best": 0.85, "best_of": "valid_1 auc"}),
        (COMMAND_LINE, {"framework": "lightgbm", "steps_done": 2, "val_loss": 0.2, "train_seconds": 1.25}),
        (CATBOOST, {"framework": "catboost", "steps_done": 2, "loss": 0.5532, "best": 0.5941, "train_seconds": 62.5}),
        (CATBOOST_AUC, {"framework": "catboost", "steps_done": 6, "best": 0.945, "train_seconds": 0.108}),
        (CLOCK, {"framework": "xgboost", "steps_done": 3, "loss": 1.0, "train_seconds": 60.0 + 30.0}),
    ],
)
def test_rounds_and_the_metric_that_is_printed_last(tmp_path: Path, text: str, expected: dict[str, object]) -> None:
    assert boosting.looks(PurePosixPath("a.log"), text)
    (found,) = runs(tmp_path, text)
    assert found.items() >= expected.items()


def test_without_times_it_says_what_would_add_them(tmp_path: Path) -> None:
    (found,) = runs(tmp_path, XGBOOST)
    assert found["remarks"] == "without time: XGBoost and LightGBM print no times: give seconds"
    (found,) = runs(tmp_path, XGBOOST, seconds={".": 30.0})
    assert (found["train_seconds"], found["seconds_from"]) == (30.0, "the study: seconds")


def test_rounds_that_begin_anew_are_another_run(tmp_path: Path) -> None:
    assert [found["best"] for found in runs(tmp_path, XGBOOST + XGBOOST.replace("0.54", "0.44"))] == [0.54, 0.44]


def test_a_loss_that_is_no_number_is_a_run_that_diverged(tmp_path: Path) -> None:
    (found,) = runs(tmp_path, XGBOOST.replace("0.55000", "nan"))
    assert (found["status"], found["best"]) == ("diverged", 0.54)
