"""The report in a real browser."""

import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import LIMIT_SECONDS, ROOT, Project

pytestmark = pytest.mark.slow

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


def opened(browser: Browser, path: Path, width: int, scheme: str) -> Page:
    """Return the open page, with what it fetched and said in `page.asked` and `page.said`."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.asked, page.said = [], []
    page.on("request", lambda sent: page.asked.append(sent.url))
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.set_default_timeout(1000 * LIMIT_SECONDS)
    page.goto(path.as_uri(), wait_until="load")
    return page


SCREENS = [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def page(browser: Browser, tiny_study: Project) -> Iterator[Page]:
    page = opened(browser, tiny_study.path / "results/tiny/report.html", *SCREENS[0])
    yield page
    page.close()


PUBLISHED = sorted((ROOT / "reports" / "published").glob("*.html"))


@pytest.fixture(scope="module", params=PUBLISHED, ids=lambda path: path.stem)
def published(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A published page, of which tests change the width and the scheme alone."""
    page = opened(browser, request.param, 1400, "light")
    yield page
    page.close()


@pytest.mark.represented_by("two-cores-390-dark", "mlperf-1400-light", "index-390-light")
@pytest.mark.parametrize(("width", "scheme"), SCREENS, ids=lambda value: str(value))
def test_published_page_fits_the_screen_and_can_be_read(published: Page, width: int, scheme: str) -> None:
    published.set_viewport_size({"width": width, "height": 900})
    published.emulate_media(color_scheme=scheme)
    fits_and_can_be_read(published)


#: What a page has as it opens, on a screen of 1400 x 900: the rest is a click away.
MOST_SCREENS, MOST_WORDS = 8, 2500


@pytest.mark.represented_by("two-cores-390", "lambda-gpus-390", "index-1400", "index-390")
@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)], ids=["1400", "390"])
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_page_is_short_as_it_opens(browser: Browser, path: Path, width: int, height: int) -> None:
    page = opened(browser, path, width, "light")
    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * height
    assert len(page.locator("body").inner_text().split()) <= MOST_WORDS
    page.close()


#: Texts of charts that leave their drawing, touch, stand on one another, or on a point.
UNREAD = """() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  document.querySelectorAll(".folded").forEach((all) => all.classList.remove("folded"));
  const found = [];
  for (const figure of document.querySelectorAll("figure")) {
    const card = (figure.querySelector("svg") ?? figure).getBoundingClientRect();
    const texts = [...figure.querySelectorAll("svg text")].filter((text) => text.textContent.trim());
    const boxOf = (text) => { // without the blanks at its beginning
      const range = document.createRange(), node = text.firstChild;
      if (node.nodeType !== Node.TEXT_NODE) return text.getBoundingClientRect();
      range.setStart(node, node.data.search(/\\S/));
      range.setEnd(node, node.data.length);
      return range.getBoundingClientRect();
    };
    const boxes = texts.map((text) => [text.textContent.trim(), boxOf(text)]);
    const points = 'svg [id*="PathCollection"] > :is(g, path), svg [id*="PathCollection"] use';
    const marks = [...figure.querySelectorAll(points)].map((mark) => mark.getBoundingClientRect());
    boxes.forEach(([name, box], place) => {
      const covers = ({left, right, top, bottom, width, height}) =>
        Math.min(box.right, right) - Math.max(box.left, left) > 0.35 * width &&
        Math.min(box.bottom, bottom) - Math.max(box.top, top) > 0.35 * height;
      if (marks.some(covers)) found.push(`${figure.id}: ${name} on a point`);
      const leaves = box.left < card.left - 1 || box.right > card.right + 1;
      if (leaves) found.push(`${figure.id}: ${name} leaves its drawing`);
      for (const [other, beside] of boxes.slice(place + 1)) {
        const wide = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
        const high = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
        const crosses = wide > 2 && high > 0.35 * Math.min(box.height, beside.height);
        const isOneLine = Math.abs(box.top - beside.top) + Math.abs(box.bottom - beside.bottom) < 2;
        if (crosses || (isOneLine && wide > -4)) found.push(`${figure.id}: ${name} on ${other}`);
      }
    });
  }
  return found;
}"""


@pytest.mark.represented_by("two-cores-390", "two-cores-1400", "speedruns-390", "lambda-gpus-390", "index-1400")
@pytest.mark.parametrize("width", [1400, 800, 390])
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_no_text_of_a_chart_is_cut_or_stands_on_another_or_on_a_point(browser: Browser, path: Path, width: int) -> None:
    page = opened(browser, path, width, "light")
    assert page.evaluate(UNREAD) == []
    page.close()


def test_phone_opens_with_the_first_chart_and_shows_all_when_asked(browser: Browser) -> None:
    page = opened(browser, ROOT / "reports" / "published" / "lambda-gpus.html", 390, "light")
    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_SCREENS * 844
    charts = page.locator("#seen figure:visible")
    assert charts.count() == 1
    assert not page.get_by_label("All at a glance").first.is_visible()
    page.locator("#seen").get_by_role("button", name="charts").click()
    assert charts.count() == 6
    page.close()


@pytest.mark.parametrize("name", ["how", "cell-2"])
def test_address_of_what_is_folded_opens_it(browser: Browser, tiny_study: Project, name: str) -> None:
    path = tiny_study.path / "results/tiny/report.html"
    page = opened(browser, path, 1400, "light")
    assert not page.locator(f"#{name}").is_visible()
    page.goto(f"{path.as_uri()}#{name}")
    page.locator(f"#{name}").wait_for(state="visible")
    page.emulate_media(media="print")
    assert page.locator("#where").is_visible(), "paper has no clicks"
    page.close()


@pytest.mark.represented_by("two-cores-390-dark")
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")], ids=lambda value: str(value))
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_published_page_breaks_no_rule_of_accessibility(browser: Browser, path: Path, width: int, scheme: str) -> None:
    """By axe-core, with what opens opened and a table sorted."""
    page = opened(browser, path, width, scheme)
    for summary in page.locator("details > summary").all()[:5]:
        if summary.is_visible():
            summary.click()
    for head in page.locator("th button").all()[:2]:
        if head.is_visible():
            head.click()
    found = Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.represented_by("two-cores", "index")
def test_published_page_is_whole(published: Page) -> None:
    assert [url for url in published.asked if not url.startswith("data:")] == [published.url]
    assert published.said == []
    assert ids_are_unique(published)
    for target in published.eval_on_selector_all("a", "all => all.map(link => link.getAttribute('href'))"):
        if target.startswith("#"):  # and what is asked of the form stands behind its name
            assert published.locator(f'[id="{target[1:].partition("&")[0]}"]').count() == 1, target
        elif not target.startswith(("https:", "data:text/csv;")):
            assert (ROOT / "reports" / "published" / target.partition("#")[0]).is_file(), target
    published.set_viewport_size({"width": 1400, "height": 900})
    published.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    for chart in published.locator("figure svg").all():
        box = chart.bounding_box()
        assert box is not None
        assert box["width"] > 250


def test_long_table_on_a_phone_shows_its_first_rows_until_it_is_asked_for_all(browser: Browser) -> None:
    page = opened(browser, ROOT / "reports" / "published" / "two-cores.html", 390, "light")
    for name in ("cells", "spread"):
        page.locator(f".chapter:has(#{name}) > summary").click()
    cells = page.locator("#cells")
    rows, last = cells.locator("tbody tr:visible"), cells.locator("tbody tr").last
    assert rows.count() == 5
    page.evaluate("id => { location.hash = id; }", last.get_attribute("id"))
    assert last.is_visible(), "a link to a row opens it"
    cells.get_by_role("button", name="workload").click()
    assert cells.locator(".means").inner_text() == "Model and data that were trained", "for who has no pointer"
    assert rows.count() in (5, 6)
    cells.get_by_label("Filter").fill("fastText")
    assert {row.splitlines()[0] for row in rows.all_inner_texts()} == {"IMDb · fastText"}
    cells.get_by_label("Filter").fill("")
    assert rows.count() == 45
    spread = page.locator("#spread")
    assert spread.locator("tbody tr").first.locator("td:visible").count() == 4, "and the first values"
    spread.get_by_role("button", name="All 45 rows").click()
    assert spread.locator("tbody tr:visible").count() == 45
    assert spread.locator("tbody tr").first.locator("td:visible").count() > 4
    page.set_viewport_size({"width": 1400, "height": 900})
    assert not page.locator(".unfold:visible").count()
    page.close()


def test_nothing_is_fetched_and_the_console_is_clean(page: Page) -> None:
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in page.asked if url.startswith("file:")]) == 1
    assert page.said == []


def test_every_chart_is_there_with_its_words(page: Page) -> None:
    charts = page.locator("figure")
    assert charts.count() == 4  # two workloads, two charts
    for chart in charts.all():
        box = chart.locator("svg").bounding_box()
        assert box is not None
        assert box["width"] > 250
        assert box["height"] > 80
        assert chart.locator("svg text").count() > 3
        assert len(chart.get_by_role("img").get_attribute("aria-label") or "") > 40
        caption = chart.locator("figcaption").inner_text()
        assert "Synthetic data" in caption
    assert "2 epochs" in (page.locator("main").text_content() or "")


def fits_and_can_be_read(page: Page) -> None:
    """Text of charts is 12 to 14 px on any screen, and in the ink of the page: it shows in light and dark."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shown = "all => all.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    sizes = [size for size in page.eval_on_selector_all("svg text", shown) if size > 0]
    if sizes:
        assert 11.5 <= min(sizes) <= max(sizes) < 14.5
        ink = page.evaluate("getComputedStyle(document.body).color")
        fills = set(page.eval_on_selector_all("svg text", "all => all.map(text => getComputedStyle(text).fill)"))
        assert ink in fills
        assert "rgb(0, 0, 0)" not in fills


@pytest.mark.parametrize(("width", "scheme"), SCREENS, ids=lambda value: str(value))
def test_page_fits_the_screen_and_can_be_read(page: Page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    assert page.locator("svg text").count() > 0
    fits_and_can_be_read(page)


def test_synthetic_data_and_scale_are_said_at_the_top(page: Page) -> None:
    page.locator(".trust summary").click()
    head = page.locator("header").inner_text()
    assert "Synthetic data." in head
    assert "Reduced scale." in head
    assert "One run of each configuration." in head
    assert re.search(r"\(\d+ cores, \d+ GiB\), no GPU · prices of Google us-central1, 20", head)


def test_config_texts_are_escaped(page: Page) -> None:
    assert page.locator("h1").inner_text() == 'Tiny <b>study</b> & "quotes"'
    assert page.locator("h1 b").count() == 0


def ids_are_unique(page: Page) -> bool:
    return page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
        " return ids.length === new Set(ids).size })()"
    )


def test_age_of_prices_is_that_of_the_day_on_which_the_page_is_read(page: Page, browser: Browser) -> None:
    (day,) = page.eval_on_selector_all("header time.age", "all => all.map(time => time.dateTime)")
    for days, words in ((0, None), (1, "(1 day old)"), (100, "(3 months old)"), (1000, "(3 years old)")):
        other = browser.new_page()
        other.clock.set_fixed_time(datetime.fromisoformat(day) + timedelta(days=days))
        other.goto(page.url)
        said = other.locator("header .facts").inner_text()
        assert words in said if words else " old)" not in said
        other.close()


def test_ids_are_unique(page: Page) -> None:
    assert ids_are_unique(page)


def test_tables_sort_numbers_times_and_dates(browser: Browser) -> None:
    page = opened(browser, ROOT / "reports" / "published" / "two-cores.html", 1400, "light")
    script = """texts => texts
        .map(text => [sortKey(Object.assign(document.createElement('td'), {textContent: text})), text])
        .sort(([a], [b]) => compareKeys(a, b)).map(([, text]) => text)"""
    for ordered in (
        ["2017-06-30", "2017-11-01", "2017-11-30", "2026-11"],
        ["59 s", "110 s", "2.17 min", "3.00 h", "2.50 days", "—"],
        ["0.5×", "1,000", "1,200 USD", "none"],
    ):
        assert page.evaluate(script, ordered[::-1]) == ordered
