"""The one look of all charts, and how a figure becomes an SVG that follows the page's light or dark ink."""

import io
import re
from collections.abc import Iterable, Sequence
from textwrap import fill

import matplotlib
from mizani.breaks import breaks_extended, breaks_log
from plotnine import element_blank, element_line, element_rect, element_text, labs, theme, theme_minimal

from scripts.charts._view import Chart
from scripts.records import about
from scripts.storage.words import printable

#: Stand-ins in the drawing for the page's own colours; black is what nobody chose a colour for, as keys of a legend.
INK, FAINT, LINE = "#1b1f24", "#5f6873", "#d5dae0"
_PAGE_COLOURS = {
    INK: "var(--ink, #1b1f24)",
    "#000000": "var(--ink, #1b1f24)",
    FAINT: "var(--faint, #5f6873)",
    LINE: "var(--line, #d5dae0)",
}

#: Those of published runs only.
_HISTORICAL_COLOURS = {"tensorflow-compiled": "#b0522d", "cntk": "#4d9a5b"}

#: One colour per framework, at least 3:1 on white and on the dark page.
FRAMEWORK_COLOURS = {
    **_HISTORICAL_COLOURS,
    about.OWN: "#75706a",
    **{name: about.framework(name).colour for name in about.frameworks()},
}

#: Of every chart, in inches: on a phone of 390 px a point is then a pixel, and style.css draws it no wider than 384 px.
WIDTH = 4.6

#: Points of every text: 12 px on that phone, 14 px on a wide screen.
TEXT = 12

#: Letters of one line of a label, and the height (inches) of a row and of each of its lines.
_LETTERS, _ROW, _LINE = 21, 0.2, 0.18
#: Inches that the rows of a chart may take in all: nobody reads a longer one.
_HIGHEST = 23.0
#: Inches of a preview, drawn at as many dots as make it 1200 wide.
_PREVIEW = (8.0, 4.2)
#: A chart that is so many times as high would be a smear in it: of that the top is shown.
_SMEARED = 2.0
#: Letters of one line of its title, of the line below, and of its caption.
_PREVIEW_LETTERS = {"title": 58, "subtitle": 75, "caption": 92}

#: Ticks of an axis beside names of rows: where there are more, labels of cents or hundredths stand on one another.
FEW_BREAKS, FEW_LOG_BREAKS = breaks_extended(n=3), breaks_log(n=4)

_FONTS = ["DejaVu Sans", "Verdana", "sans-serif"]


def look() -> theme:
    """Return the theme: quiet lines, readable at phone width."""
    return theme_minimal(base_size=TEXT, base_family="DejaVu Sans") + theme(
        text=element_text(color=INK),
        axis_text=element_text(color=INK, size=TEXT),
        axis_title=element_text(color=FAINT, size=TEXT),
        panel_grid_major=element_line(color=LINE, size=0.6),
        panel_grid_minor=element_blank(),
        panel_background=element_blank(),
        plot_background=element_rect(fill="none", color="none"),
        strip_text=element_text(color=INK, size=TEXT),
        legend_position="top",
        legend_title=element_blank(),
        legend_text=element_text(color=INK, size=TEXT),
        plot_margin_right=0.03,  # half of the label of a tick at the end of its axis
    )


#: A blank at which no line ends.
_HARD = "\u00a0"


def wrapped(labels: Iterable[str]) -> list[str]:
    """Return labels in lines that leave half of a chart to what it shows, parted between the parts of a name.

    A part is parted, too, where that saves a line.
    """
    ways = ((fill(_kept_together(label), _LETTERS).replace(_HARD, " "), fill(label, _LETTERS)) for label in labels)
    return [min(way, key=lambda lines: lines.count("\n")) for way in ways]


def _kept_together(label: str) -> str:
    """Return a name whose parts have blanks that no line ends at, where a part fits into a line."""
    parts = [part.replace(" ", _HARD) if len(part) < _LETTERS - 2 else part for part in label.split(" · ")]
    return f"{_HARD}· ".join(parts)


def height(labels: Iterable[str]) -> float:
    """Return the height (inches) of a chart with a row for each of these labels, one below another."""
    return 0.8 + _rows_height(labels)


def fitting(labels: Sequence[str], each: int = 1) -> int:
    """Return how many such labels, with `each` rows of each, a chart has room for that is still read."""
    return int(_HIGHEST * max(1, len(labels)) / (each * max(_ROW, _rows_height(labels))))


def _rows_height(labels: Iterable[str]) -> float:
    """Return the height (inches) of these rows alone."""
    return sum(_ROW + _LINE * (label.count("\n") + 1) for label in wrapped(labels))


def png(chart: Chart, kind: str, caption: str) -> bytes:
    """Return the chart as the picture that previews of a link show, 1200 x 630: its finding, its kind, its caption."""
    given = {"title": chart.finding or kind, "subtitle": kind if chart.finding else "", "caption": caption}
    words = labs(**{name: fill(text, _PREVIEW_LETTERS[name]) for name, text in given.items()})
    is_high = chart.height > _SMEARED * _PREVIEW[1]
    paper = theme(
        figure_size=(_PREVIEW[0], chart.height if is_high else _PREVIEW[1]),
        plot_background=element_rect(fill="#ffffff", color="#ffffff"),
        plot_title=element_text(size=15),
        plot_subtitle=element_text(size=12),
        plot_title_position="plot",
        plot_caption_position="plot",
        plot_caption=element_text(size=9, color=FAINT, ha="left"),
        plot_margin=0.02,
    )
    stream = io.BytesIO()
    with matplotlib.rc_context({"font.sans-serif": _FONTS, "text.parse_math": False}):
        (chart.figure + words + paper).save(
            stream,
            format="png",
            dpi=1200 / _PREVIEW[0],
            verbose=False,
            metadata={"Software": None},
            limitsize=False,
        )
    return _top(stream.getvalue()) if is_high else stream.getvalue()


def _top(picture: bytes) -> bytes:
    """Return the top of a picture, as high as a preview."""
    from PIL import Image  # takes a while, and few charts are as high

    stream = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.crop((0, 0, image.width, round(image.width * _PREVIEW[1] / _PREVIEW[0]))).save(stream, format="png")
    return stream.getvalue()


#: What matplotlib calls clip paths, markers, collections and hatches: a letter and ten digits of a hash.
_HASHED_ID = re.compile(r'(?<=["#])([a-zA-Z]\w{0,3}?)[0-9a-f]{10}(?=["_)])')


def svg(chart: Chart, name: str) -> str:
    """Return the chart as one `<svg>` element, the same bytes for the same data; `name` keeps its ids apart.

    What an id, or the text around it, could take for more than a part of one is left out of the name.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", name)
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
            limitsize=False,  # names of many lines may make it higher than plotnine allows: no reason to fail
        )
    # XML knows no control characters, and texts of logs may hold some.
    text = printable(stream.getvalue())
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # Ids made of hashes of coordinates differ where two processors round differently: they are numbered instead.
    numbers: dict[str, str] = {}
    text = _HASHED_ID.sub(lambda found: numbers.setdefault(found[0], f"{found[1]}{len(numbers)}"), text)
    # A blank at the beginning of a text keeps it from its mark; SVG takes it away, but for a hard one.
    text = re.sub(r"(<text\b[^>]*>)( +)", lambda found: found[1] + _HARD * len(found[2]), text)
    # Several charts share one page: their ids must differ.
    text = re.sub(r'\b(id="|url\(#|xlink:href="#)', rf"\g<1>{name}-", text)
    for drawn, page in _PAGE_COLOURS.items():
        text = text.replace(drawn, page)
    return text
