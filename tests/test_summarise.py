from scripts.analysis.trainings import TRAINING
from scripts.summarise import lines

BEST = {"machine": "JAX · 2 vCPUs", "seconds": 100.0, "usd": 0.01, "runs": 6, "not_told": 1, "price_as_of": "2026-05"}
HEADS = {"cheapest": "lowest cost measured", "fastest": "fastest", "best value": "best value"}
STUDY = {
    "title": "Does a <b>second</b> core pay?",
    "runs": 12,
    "findings": 0,
    "claims": [{"says": f"Claim {number}.", "word": "holds"} for number in range(9)],
    "trainings": [
        BEST
        | {
            "workload": name,
            "role": role,
            "head": HEADS[role],
            "of": TRAINING,
            "option": "on-demand",
            "price": "on-demand price",
        }
        for name in ("mnist_mlp", "own_net")
        for role in ("cheapest", "fastest", "best value")
    ],
}


def test_summary_has_at_most_ten_lines_and_no_markup_of_others() -> None:
    for workloads in (0, 1, 2, 9):
        rows = [row | {"workload": f"w{n}"} for n in range(workloads) for row in STUDY["trainings"][:3]]
        assert len(lines(STUDY | {"trainings": rows})) <= 10
    assert lines(STUDY)[0] == r"### Does a \<b\>second\</b\> core pay?"


def test_summary_tells_cheapest_fastest_claims_and_prices() -> None:
    said = lines(STUDY)
    assert said[1].startswith(
        "- **MNIST · MLP**: lowest cost measured JAX · 2 vCPUs "
        "(0.0100 USD a training, 100 s, 6 runs, 1 too close to call)"
    )
    assert "- Claim 0. **Holds.**" in said
    assert said[-1] == "12 runs, 9 claims. On-demand price, of 2026-05."
