import json
from pathlib import Path

import jinja2
import pytest

from scripts.pages import render


def written(folder: Path, chart: str, *drawn: dict) -> Path:
    """Write what `scripts.chart` leaves in its folder; the drawings only name themselves."""
    (folder / chart).mkdir()
    about = {"chart": chart, "title": chart.title(), "help": "Read it.", "drawn": drawn}
    (folder / f"{chart}.json").write_text(json.dumps(about))
    for one in drawn:
        if "missing" not in one:
            (folder / chart / f"{one['workload'] or 'study'}.svg").write_text(f"<svg id='{chart}'></svg>\n")
    return folder / f"{chart}.json"


def figure(workload: str) -> dict:
    return {"workload": workload, "caption": f"of {workload}", "description": "Bars."}


def test_charts_are_gathered_by_workload_in_the_order_of_the_study(tmp_path: Path) -> None:
    folders = [
        written(tmp_path, "time", figure("mnist_mlp"), figure("mnist_cnn")),
        written(tmp_path, "learning", figure("mnist_mlp")),
        written(tmp_path, "scaling", figure("")),
    ]
    found = render.load_charts(folders)
    assert {workload: [one["name"] for one in charts] for workload, charts in found.items()} == {
        "mnist_mlp": ["time", "learning"],
        "mnist_cnn": ["time"],
        "": ["scaling"],
    }
    assert found["mnist_mlp"][1] == figure("mnist_mlp") | {
        "name": "learning",
        "kind": "Learning",
        "title": "Learning",
        "help": "Read it.",
        "headline": False,
        "svg": "<svg aria-hidden=\"true\" id='learning'></svg>\n",
    }
    assert render.load_charts(folders[::-1])["mnist_mlp"][0]["name"] == "learning"


def test_chart_that_is_missing_has_no_drawing(tmp_path: Path) -> None:
    folder = written(tmp_path, "time", {"workload": "mnist_mlp", "missing": "No chart: no time."})
    assert render.load_charts([folder]) == {
        "mnist_mlp": [
            {
                "workload": "mnist_mlp",
                "missing": "No chart: no time.",
                "name": "time",
                "kind": "Time",
                "title": "Time",
                "help": "Read it.",
                "headline": False,
            }
        ]
    }


def test_drawings_are_not_escaped_and_all_else_is(tmp_path: Path) -> None:
    folder = written(tmp_path, "time", figure("") | {"caption": "<b>"})
    (picture,) = render.load_charts([folder])[""]
    text = render.environment().from_string("{{ one.caption }} {{ one.svg }}").render(one=picture)
    assert text == "&lt;b&gt; <svg aria-hidden=\"true\" id='time'></svg>\n"


def test_name_that_a_template_mistypes_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render.environment().from_string("{{ nmae }}").render(name="x")
