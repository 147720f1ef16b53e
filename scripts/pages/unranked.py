"""Which machines a ranking leaves out, in words: several cards that are said to be faster together than alone."""

from scripts.analysis.audit import PERFECT
from scripts.estimate.classic import MOST_SCALING
from scripts.pages.inputs import Inputs
from scripts.storage.words import few


def words(inputs: Inputs, workload: str) -> str:
    """Return which machines of a workload are left out of its ranking, and why; empty where none is."""
    machines = list(dict.fromkeys(inputs.labels[name] for name, _ in inputs.unranked.get(workload, ())))
    if not machines:
        return ""
    slips = sum(row["workload"] == workload for row in inputs.slips)
    more = f", in {slips} row{'s' * (slips != 1)} more than {MOST_SCALING:g} times" if slips else ""
    return (
        f"Left out of this ranking: {len(machines)} machine{'s' * (len(machines) != 1)} ({few(machines)}). Each of "
        f"their cards is printed as more than {PERFECT:g} times as fast as one alone{more}: that cannot be the work of "
        "the cards (see the audit)."
    )
