"""Ratios of machines on classic nets, against arithmetic by hand and Lambda's committed tables."""

from math import log

import pytest

from scripts.estimate import classic
from scripts.importers import facts
from scripts.storage import tables
from tests.conftest import ROOT

#: Five families; both sizes of one are one witness: twice, thrice, four, eight times (2 and 8) and five times as fast.
SLOW = {"a": 100.0, "b": 10.0, "c": 1.0, "bert_base_squad": 30.0, "bert_large_squad": 10.0, "e": 7.0}
TIMES = {"a": 2.0, "b": 3.0, "c": 4.0, "bert_base_squad": 2.0, "bert_large_squad": 8.0, "e": 5.0}
KNOWN = {(net, "float16", "slow"): rate for net, rate in SLOW.items()} | {
    (net, "float16", "fast"): rate * TIMES[net] for net, rate in SLOW.items()
}


def test_an_unknown_net_has_the_median_of_families() -> None:
    """Of 2, 3, 4, 4 (the root of 2 x 8) and 5 the median is 4. Without each, the median of the others is 4 (of 3, 4, 4,
    5) for 2, 4 for 3, 3.46 (the root of 12) for both 4, 3.46 for 5: off by 2, 1.33, 1.15, 1.15 and 1.44; four of five
    (.8 of 6, rounded up) are within 2.
    """
    found = classic.ratio(KNOWN, "float16", "slow", "fast", "another")
    assert found is not None
    assert [found.middle, found.low, found.high, found.families] == pytest.approx([4.0, 2.0, 8.0, 5])


def test_a_net_of_the_tables_has_its_own_ratio() -> None:
    found = classic.ratio(KNOWN, "float16", "slow", "fast", "b")
    assert found is not None
    assert found.middle == pytest.approx(3.0)
    assert found.high / found.middle == pytest.approx(found.middle / found.low)


def test_few_families_tell_nothing() -> None:
    few = {key: rate for key, rate in KNOWN.items() if key[0] in ("a", "b", "c")}
    assert classic.ratio(few, "float16", "slow", "fast", "another") is None
    assert classic.ratio(KNOWN, "float32", "slow", "fast", "another") is None


@pytest.mark.slow
def test_intervals_hold_on_lambdas_tables_as_often_as_they_say() -> None:
    """Ten nets: one standard error of a coverage of 80 % is 13 points. Peak FLOPS are off by 1.63 in the median."""
    rows = tables.records(facts.read(ROOT / "reports" / "published" / "facts" / "lambda-gpus.csv"))
    found = classic.trials(classic.rates(rows))
    assert found.cases > 5000
    assert 0.67 <= found.held <= 0.93
    assert log(found.median) < log(1.63) / 2
    assert found.most < 2
