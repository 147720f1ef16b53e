"""How a page grows with its cells: what making it takes, how large it is, how long a browser takes to open and use it.

Nothing passes or fails. The goals: 1,000 cells in less than 3 MB, open in less than a second, sorted without a stall.
"""

import shutil
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.progress import track

from scripts.analysis import clocks
from scripts.pages import report
from tests.made import BOOK, CATALOGUE, inputs, run, runs
from tests.test_report import STUDY

SIZES = (100, 300, 1000)
REPEATS = 3
ROUNDS = 5

_WORKLOADS = ("mnist_mlp", "mnist_cnn", "imdb_fasttext", "vgg16")
_FRAMEWORKS = ("tensorflow", "jax", "torch")

#: What a reader does, as JavaScript that returns milliseconds until the page is laid out again.
_USES = {
    "sort": "document.querySelector('#cells th button').click()",
    "filter": "(f => { f.value = 'torch'; f.dispatchEvent(new Event('input')) })"
    "(document.querySelector('#cells input[type=search]'))",
    "ask": "(f => { f.elements.by.value = 'time'; f.dispatchEvent(new Event('input')) })"
    "(document.getElementById('ask'))",
}


def page_of(cells: int) -> str:
    """Return the page of a study of about so many cells, three runs each, on so many machines."""
    random = np.random.default_rng(0)
    machines = {
        f"m{i:03}": CATALOGUE["cpu1"] | {"label": f"machine {i}"}
        for i in range(round(cells / len(_WORKLOADS) / len(_FRAMEWORKS)))
    }
    rows = []
    for workload in _WORKLOADS:
        for machine in machines:
            for framework in _FRAMEWORKS:
                for repeat in range(1, REPEATS + 1):
                    seconds = float(random.uniform(50, 150))
                    of_cell = {"workload": workload, "hardware": machine, "framework": framework, "repeat": repeat}
                    clock = {"train_seconds": seconds, "total_seconds": seconds + 10, "validation_seconds": 1.0}
                    rows.append(run(**of_cell, **clock, samples_per_second=1e6 / seconds))
    study = STUDY | {"base": {"hardware": "m000", "framework": "tensorflow"}}
    return report.page(inputs(study, clocks.complete(runs(*rows)), machines | CATALOGUE, BOOK))


def milliseconds(page: Page, use: str) -> float:
    return page.evaluate(
        f"() => {{ const t = performance.now(); {use}; document.body.offsetHeight; return performance.now() - t }}"
    )


def main() -> None:
    console = Console(stderr=True)
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    print(f"page: CPU seconds to make, MB, and in a browser medians of {ROUNDS} in ms")
    print(f"{'cells':>6} {'make':>7} {'a cell':>9} {'MB':>6} {'open':>7} " + " ".join(f"{name:>7}" for name in _USES))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = None
        if browser_path:
            options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=browser_path, args=options)
        for cells in track(SIZES, "pages", console=console, transient=True):
            began = process_time()
            html = page_of(cells)
            made = process_time() - began
            path = Path(folder) / f"{cells}.html"
            path.write_text(html, encoding="utf-8")
            opened: list[float] = []
            used: dict[str, list[float]] = {name: [] for name in _USES}
            for _ in range(ROUNDS if browser else 0):
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                page.goto(path.as_uri(), wait_until="load")
                timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
                opened.append(page.evaluate(timing))
                for name, use in _USES.items():
                    used[name].append(milliseconds(page, use))
                page.close()
            shown = [f"{median(values):7.0f}" if values else "      —" for values in (opened, *used.values())]
            made_it = f"{made:7.1f} {1000 * made / cells:6.1f} ms {len(html.encode()) / 1e6:6.2f}"
            print(f"{cells:6,} {made_it} {' '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
