"""scikit-learn's partial_fit, with a sentence of one's own."""

import sys

import numpy as np
from sklearn.linear_model import SGDClassifier

rows = np.random.rand(40_000, 200)
labels = (rows.sum(1) > 100).astype(int)
model, passes = SGDClassifier(), int(sys.argv[1])
for number in range(1, passes + 1):
    for begin in range(0, 40_000, 1000):
        model.partial_fit(rows[begin : begin + 1000], labels[begin : begin + 1000], classes=[0, 1])
    print(f"pass {number}/{passes} score {model.score(rows, labels):.3f}")
