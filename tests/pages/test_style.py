"""The bar of sections is whole where there is room, says that there is more where there is none; prints are whole."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

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
def test_bar_that_is_longer_than_the_screen_shows_that_it_goes_on(browser: Browser, written: Path, width: int) -> None:  # noqa: F811
    page = opened(browser, written, width, "light")
    assert page.evaluate("(nav => nav.scrollWidth > nav.clientWidth)(document.querySelector('nav'))")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).backgroundImage").count("gradient") == 4
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
