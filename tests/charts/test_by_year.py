"""The picture of the index, by hand."""

from scripts.charts import _front


def row(date: str) -> dict:
    return {"workload": "resnet50", "date": date, "usd": 1.0, "usd_of_runs": [1.0], "machine": "a", "study": "b"}


def test_years_stand_apart_on_a_phone() -> None:
    """Eleven years in a picture of 340 px: each second one would touch the next."""
    made = _front.draw([row("2017-06-01"), row("2026-11-01")])
    assert made is not None
    (years,) = [scale for scale in made.figure.scales if "x" in scale.aesthetics]
    assert years.labels == ["2017", "2020", "2023", "2026"]
