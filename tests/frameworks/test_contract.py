"""Every framework in the folder has what `Framework` lists."""

import inspect
import re
import subprocess
import sys

import pytest

from scripts import frameworks
from scripts.frameworks import Framework
from tests.conftest import ROOT

#: The papers that charts are drawn on: reports/style.css.
PAPERS = ("#ffffff", "#14171c")


def functions(protocol: type) -> dict[str, inspect.Signature]:
    """Return the public functions of a protocol."""
    found = {name: value for name, value in vars(protocol).items() if inspect.isfunction(value)}
    return {name: inspect.signature(value) for name, value in found.items() if not name.startswith("_")}


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb` as WCAG defines it, 0 to 1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", frameworks.names())
def test_a_framework_has_all_that_is_asked_of_it(name: str) -> None:
    framework = frameworks.framework(name)
    assert inspect.ismodule(framework)
    assert not [attribute for attribute in Framework.__annotations__ if not hasattr(framework, attribute)]
    for function, signature in functions(Framework).items():
        inspect.signature(getattr(framework, function)).bind(*list(signature.parameters)[1:])
    loop = inspect.signature(framework.Loop)
    loop.bind("model", "x", "y", None, 32, 1, False)
    assert framework.PARALLEL_FIT or "tuned" in loop.parameters
    # That of torch is another one for each loop.
    assert not [
        method for method in functions(frameworks.Loop).keys() - {"close"} if not hasattr(framework.Loop, method)
    ]


@pytest.mark.parametrize("name", frameworks.names())
def test_its_colour_is_seen_on_both_papers(name: str) -> None:
    colour = frameworks.framework(name).COLOUR
    assert re.fullmatch(r"#[0-9a-f]{6}", colour)
    for paper in PAPERS:
        darker, lighter = sorted((luminance(colour), luminance(paper)))
        assert (lighter + 0.05) / (darker + 0.05) >= 3, paper


def test_no_two_are_drawn_alike() -> None:
    found = [frameworks.framework(name) for name in frameworks.names()]
    assert len({each.COLOUR for each in found}) == len({each.LABEL for each in found}) == len(found)


@pytest.mark.slow
def test_labels_and_colours_are_known_where_no_framework_is_installed() -> None:
    code = (
        "import sys; from scripts import frameworks; frameworks.hide_others('');"
        "from scripts.analysis.names import FRAMEWORK_NAMES; from scripts.charts._theme import FRAMEWORK_COLOURS;"
        "names = set(frameworks.names());"
        "assert names <= set(FRAMEWORK_NAMES) and set(FRAMEWORK_COLOURS) == set(FRAMEWORK_NAMES);"
        "assert not names & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
