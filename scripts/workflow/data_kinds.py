"""Which data each data set of a call has, chosen once and passed to the machines that train."""

import json
from collections.abc import Callable

from scripts.storage import environment


def chooser(choose: Callable[[str], str], is_given: bool) -> Callable[[str], str]:
    """Return the function that says `real` or `synthetic` for a data set, for which `choose` is called once.

    The data set's host may be asked. A machine that trains one run of a study `is_given` what was chosen for it.
    """
    chosen = json.loads(environment.DATA_KINDS.read() or "{}") if is_given else {}

    def kind(dataset: str) -> str:
        if dataset not in chosen:
            chosen[dataset] = choose(dataset)
            environment.DATA_KINDS.write(json.dumps(chosen))
        return chosen[dataset]

    return kind
