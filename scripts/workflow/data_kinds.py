"""Which data each data set of a call has, chosen once and told to the machines that train."""

import json
from collections.abc import Callable
from pathlib import Path

from scripts import datasets
from scripts.storage import environment


def chooser(policy: str, is_told: bool) -> Callable[[str], str]:
    """Return the function that tells `real` or `synthetic` for a data set under a study's policy.

    A machine that trains one run of a study `is_told` what was chosen for it. Each set is chosen once: its host may be
    asked.
    """
    chosen = json.loads(environment.DATA_KINDS.read() or "{}") if is_told else {}

    def choose(dataset: str) -> str:
        if dataset not in chosen:
            chosen[dataset] = datasets.choose(policy, dataset, Path("data"), datasets.given_folder())
            environment.DATA_KINDS.write(json.dumps(chosen))
        return chosen[dataset]

    return choose
