"""The bar of sections is whole where there is room, says that there is more where there is none; prints are whole."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scripts.pages import render
from tests.conftest import ROOT
from tests.test_report_page import browser, opened  # noqa: F401, a fixture

pytestmark = pytest.mark.slow

BAR = "".join(f'<a href="#s{i}">What a section of this page is about</a>\n' for i in range(18))
FOLD = (
    "<details class='chapter'><summary><h2>Folded</h2></summary><section><p id='inside'>words</p></section></details>"
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    style = (ROOT / "reports" / "style.css").read_text()
    page = f"<!doctype html><style>{style}</style><body><main><nav>{BAR}</nav>{FOLD}</main>"
    (tmp_path / "page.html").write_text(page)
    return tmp_path / "page.html"


def test_every_section_is_in_sight_on_a_wide_screen(browser: Browser, written: Path) -> None:  # noqa: F811
    page = opened(browser, written, 1400, "light")
    assert page.evaluate("(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('nav'))")
    assert page.evaluate("document.querySelector('nav').offsetHeight") < 200
    page.close()


@pytest.mark.parametrize("width", [390, 800])
def test_every_section_is_in_sight_on_a_narrow_screen_and_goes_as_one_reads_on(
    browser: Browser,  # noqa: F811
    written: Path,
    width: int,
) -> None:
    page = opened(browser, written, width, "light")
    assert page.evaluate("(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('nav'))")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).position") == "static"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_a_print_has_what_is_folded(browser: Browser, written: Path) -> None:  # noqa: F811
    page = opened(browser, written, 800, "light")
    assert page.locator("#inside").bounding_box() is None or not page.locator("#inside").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#inside").is_visible()
    assert not page.locator("nav").is_visible()
    page.close()


def test_a_print_has_its_bars_and_light_colours_also_from_a_dark_page(browser: Browser, tmp_path: Path) -> None:  # noqa: F811
    style = (ROOT / "reports" / "style.css").read_text()
    cell = "<table class='heat'><tbody><tr><th>w</th><td class='n' style='--heat: 0%'>1.00×</td></tr></tbody></table>"
    bar = "<div class='bar'><span>a</span><span class='track'><i style='width: 50%'></i></span></div>"
    (tmp_path / "page.html").write_text(f"<!doctype html><style>{style}</style><body>{cell}{bar}")
    page = opened(browser, tmp_path / "page.html", 800, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    of = "([selector, key]) => getComputedStyle(document.querySelector(selector))[key]"
    assert {page.evaluate(of, [one, "printColorAdjust"]) for one in (".heat td", ".track i")} == {"exact"}
    assert page.evaluate(of, [".heat td", "backgroundColor"]) == "color(srgb 0.737255 0.85098 0.960784)", "#bcd9f5"
    page.close()


LONG = "Llama 3.1 405B pre-training at a length that is not stated"
FILLED = "<p>words</p>" * 80
CHAPTERS = "".join(
    f"<details class='chapter' open><summary><h2>{LONG} {i}</h2> <span>{'what is in it, ' * (9 * i)}</span></summary>"
    f"<section id='s{i}'>{FILLED}</section></details>"
    for i in range(3)
)


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_heading_that_is_jumped_to_stands_below_the_bar(browser: Browser, tmp_path: Path, width: int) -> None:  # noqa: F811
    style = (ROOT / "reports" / "style.css").read_text()
    plain = f"<section id='s3'><h2>{LONG}</h2>{FILLED}</section><p style='height: 100vh'></p>"
    scripts = render.scripts(("elements.js",))
    text = f"<!doctype html><style>{style}</style><body>{FILLED}<main><nav>{BAR}</nav>{CHAPTERS}{plain}</main>"
    (tmp_path / "page.html").write_text(f"{text}<script>{scripts}</script>")
    page = opened(browser, tmp_path / "page.html", 1200, "light")
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    for i in (2, 0, 3, 1):
        page.evaluate(f"location.hash = '#s{i}'")
        heading = (page.locator("summary").nth(i) if i < 3 else page.locator("#s3 h2")).bounding_box()
        bar = page.locator("nav").bounding_box()
        assert heading is not None
        assert bar is not None
        below = heading["y"] - max(0.0, bar["y"] + bar["height"])  # of a narrow screen it has gone
        assert -0.5 <= below < 40, (i, below)
    page.close()


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_what_is_chosen_in_a_form_can_be_read(browser: Browser, tmp_path: Path, width: int) -> None:  # noqa: F811
    """A select is as wide as the text that it shows, and no wider than the page."""
    style = (ROOT / "reports" / "style.css").read_text()
    select = f"<select id='one'><option>short</option><option selected>{LONG}</option></select>"
    form = f"<form id='ask'><label>workload{select}</label><label>images<input></label></form>"
    (tmp_path / "page.html").write_text(f"<!doctype html><style>{style}</style><body><main>{form}</main>")
    page = opened(browser, tmp_path / "page.html", width, "light")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shown, needed = page.evaluate(
        """() => { const one = document.getElementById("one"), shown = one.getBoundingClientRect().width;
        one.style.maxWidth = "none"; return [shown, one.getBoundingClientRect().width]; }"""
    )
    assert shown >= min(needed, width - 40)
    page.close()


@pytest.mark.parametrize("width", [1400, 1100])
def test_paths_in_a_table_break_before_they_leave_it(browser: Browser, tmp_path: Path, width: int) -> None:  # noqa: F811
    style = (ROOT / "reports" / "style.css").read_text()
    path = "v5.1: University-of-Florida/results/hpg.dgxb200x8.n32_with_more_of_it"
    row = f"<td class='wrap'>8 x B200, Quanta Cloud Technology</td>{'<td>12,345</td>' * 4}<td class='wrap'>{path}</td>"
    table = f"<div class='table'><table><tr><th>Llama 3.1 405B (a part)</th>{row}</tr></table></div>"
    (tmp_path / "page.html").write_text(f"<!doctype html><style>{style}</style><body><main>{table}</main>")
    page = opened(browser, tmp_path / "page.html", width, "light")
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.table'))")
    page.close()


@pytest.mark.parametrize("width", [1400, 390])
def test_every_column_is_shown_when_asked_for_on_every_screen(browser: Browser, tmp_path: Path, width: int) -> None:  # noqa: F811
    columns = [{"kind": "extra" if i in (3, 9) else "", "means": "", "title": f"head {i}"} for i in range(10)]
    rows = [[f"value {i} of {row}" for i in range(10)] for row in "ab"]
    macros = render.environment().get_template("rows.html.j2").make_module()
    made = {"more": True, "title": "made up", "columns": columns, "rows": rows, "names": ["", ""]}
    table = macros.rows(made)  # type: ignore[attr-defined]
    style = (ROOT / "reports" / "style.css").read_text()
    scripts = render.scripts(("elements.js", "tables.js"))
    text = (
        f"<!doctype html><style>{style}</style><body><main><section>{table}</section></main><script>{scripts}</script>"
    )
    (tmp_path / "page.html").write_text(text)
    page = opened(browser, tmp_path / "page.html", width, "light")
    heads, values = page.locator("thead th:visible"), page.locator("tbody tr").first.locator("th:visible, td:visible")
    few = 8 if width == 1400 else 5
    assert (heads.count(), values.count()) == (few, few), "no head of a column that is not shown"
    page.get_by_label("every column").check()
    assert (heads.count(), values.count()) == (10, 10)
    assert not page.locator(".unfold:visible").count(), "nothing is left to ask for"
    page.close()
