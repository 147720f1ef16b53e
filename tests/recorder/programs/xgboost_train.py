"""XGBoost, which prints a line a round."""

import sys

import numpy as np
import xgboost

rows = np.random.rand(40_000, 40)
data = xgboost.DMatrix(rows, (rows.sum(1) > 20).astype(int))
asked = {"objective": "binary:logistic", "nthread": 1, "max_depth": 6}
xgboost.train(asked, data, num_boost_round=int(sys.argv[1]), evals=[(data, "train")])
