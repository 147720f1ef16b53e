"""The convergence guard: did a run learn what a published training of the same size learned?

MLPerf tests whether a submission converges slower than the reference does (one-sided t-test, p = .05, against 2n
reference runs, training_rules.adoc). Our references are one published run each, which has no spread to test against.
In the test's place stand two fractions of the way from guessing to the published value.
"""

from scripts.records.reference import Reference

OK = "ok"
BELOW = "below the reference"
LEARNED_NOTHING = "learned nothing"
TOO_SHORT = "too short to tell"
NOTHING_TO_COMPARE = "nothing to compare with"

#: No better than this fraction of the way: learned nothing.
HALFWAY = 0.5

#: As good as the reference from this fraction of the way on. Of our trainings at published size, seeds and
#: frameworks apart, the furthest behind came .91 of the way (docs/accuracy.md).
AS_GOOD = 0.9


def verdict(reference: Reference | None, value: float | None, chance: float | None, epochs: float, data: str) -> str:
    """Return whether a run that ended with this `value` of the reference's metric learned what it should.

    `epochs` is how many epochs of *all* samples the run has seen: half of the samples twice are one. Measured is
    how much of the way it has come from `chance` to what the reference had reached after as many whole epochs:

    - `nothing to compare with`: synthetic `data`, no value, no reference, or one that is no better than chance;
    - `too short to tell`: less than the first published epoch;
    - `learned nothing`: at most `HALFWAY`, or no number; without a reference, an accuracy after an epoch or more that
      guessing has too. Such a run is no benchmark result;
    - `ok`: at least `AS_GOOD`, better than the reference too;
    - `below the reference`: between the two. A result, shown with its verdict.
    """
    if data == "synthetic" or value is None or chance is None:
        return NOTHING_TO_COMPARE
    if reference is None:
        # A share of the samples in float32: equal to the last digit that it has.
        return NOTHING_TO_COMPARE if epochs < 1 or value > chance + 1e-6 else LEARNED_NOTHING
    published = reference.after(epochs)
    if published is None:
        return TOO_SHORT
    upwards = 1 if reference.metric.removeprefix("val_") == "acc" else -1
    way = upwards * (published[1] - chance)
    if way <= 0:
        return NOTHING_TO_COMPARE
    progress = upwards * (value - chance) / way
    if progress >= AS_GOOD:
        return OK
    return BELOW if progress > HALFWAY else LEARNED_NOTHING
