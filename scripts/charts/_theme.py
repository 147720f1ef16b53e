"""The one look of all charts, and how a figure becomes an SVG that follows the page's light or dark ink."""

import io
import re

import matplotlib
from plotnine import element_blank, element_line, element_rect, element_text, theme, theme_minimal

from scripts import frameworks
from scripts.charts._view import Chart

#: Stand-ins in the drawing for the page's own colours.
INK, FAINT, LINE = "#1b1f24", "#5f6873", "#d5dae0"
_PAGE_COLOURS = {INK: "var(--ink, #1b1f24)", FAINT: "var(--faint, #5f6873)", LINE: "var(--line, #d5dae0)"}

#: Those of published runs only.
_HISTORICAL_COLOURS = {"tensorflow-compiled": "#b0522d", "cntk": "#4d9a5b"}

#: One colour per framework, at least 3:1 on white and on the dark page.
FRAMEWORK_COLOURS = _HISTORICAL_COLOURS | {name: frameworks.framework(name).COLOUR for name in frameworks.names()}

WIDTH = 4.6

#: Letters of a label for which that is wide enough, and the width (inches) of each one more.
_LETTERS, _LETTER = 26, 0.075
_FONTS = ["DejaVu Sans", "Verdana", "sans-serif"]


def look() -> theme:
    """Return the theme: quiet lines, readable at phone width."""
    return theme_minimal(base_size=11, base_family="DejaVu Sans") + theme(
        text=element_text(color=INK),
        axis_text=element_text(color=INK, size=11),
        axis_title=element_text(color=FAINT, size=10),
        panel_grid_major=element_line(color=LINE, size=0.6),
        panel_grid_minor=element_blank(),
        panel_background=element_blank(),
        plot_background=element_rect(fill="none", color="none"),
        legend_position="top",
        legend_title=element_blank(),
        legend_text=element_text(color=INK, size=10),
    )


def wide_enough(labels: list[str]) -> float:
    """Return the width (inches) of a chart of bars with these labels."""
    return WIDTH + max(0, max(map(len, labels)) - _LETTERS) * _LETTER


def svg(chart: Chart, name: str) -> str:
    """Return the chart as one `<svg>` element, the same bytes for the same data; `name` keeps its ids apart."""
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.sans-serif": _FONTS,
        "savefig.facecolor": "none",
        "text.parse_math": False,
    }
    stream = io.StringIO()
    with matplotlib.rc_context(settings):
        figure = chart.figure + theme(figure_size=(chart.width, chart.height), svg_usefonts=True)
        figure.save(
            stream,
            format="svg",
            verbose=False,
            metadata={"Date": None, "Creator": None},
        )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # Several charts share one page: their ids must differ.
    text = re.sub(r'\b(id="|url\(#|xlink:href="#)', rf"\g<1>{name}-", text)
    for drawn, page in _PAGE_COLOURS.items():
        text = text.replace(drawn, page)
    return text
