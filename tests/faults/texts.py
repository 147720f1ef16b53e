"""Hostile texts wherever a person, a log or a training can put one: nothing runs, and all that is written is inert."""

import copy
import csv
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import yaml
from playwright.sync_api import Browser, sync_playwright

from scripts.workflow import progress
from tests.conftest import ROOT, Project, copy_project
from tests.faults import stage, trial
from tests.test_report_page import CHROMIUM

#: What does something where a text is taken for more than that: a shell, a page, a template, a pattern, a terminal,
#: a spreadsheet, a path, a table.
TEXTS = (
    "$(touch injected)",
    "`touch injected`",
    "; touch injected ;",
    "| touch injected",
    "&& touch injected #",
    "> injected",
    "'; touch injected; '",
    '"; touch injected; "',
    "\\'; touch injected; \\'",
    "$HOME ${PATH} ~ * ? [a-z] !!",
    "a  b   c ",
    "-rf --help",
    "[/INST] [/red] [bold]x[/bold] [link=file:///x]x[/link]",
    "{{ 7 * 7 }}{% for x in y %}{# #}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{snakemake} {wildcards.study} {input} {0} {} {{",
    "%s %d %(x)s %n",
    "<script>document.title = 'injected'; fetch('https://localhost/injected')</script>",
    "<img src=x onerror=\"document.title='injected'\">",
    "\"><svg onload=document.title='injected'>",
    "</svg></style></title></script><script>document.title='injected'</script>",
    "' onmouseover='document.title=1' x='",
    "javascript:document.title='injected'",
    "<!-- --> <![CDATA[ ]]> &amp; &#60;script&#62; &lt;",
    '=HYPERLINK("https://localhost/injected","click")',
    "=cmd|'/C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "'=1+1",
    "a\x1b[2J\x1b]0;injected\x07\x1b]52;c;aW5qZWN0ZWQ=\x07b",
    "a\rb\x08\x08c\x00d\x7fe\x9bf",
    "one\ntwo\n\nthree",
    "one\r\ntwo\u2028three\u0085four",
    "\u202eexe.txt\u202c \u2066\u2067\u200f\u061c",
    "\ufeffzero\u200bwidth\u200d",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea é e\u0301 中文 \U00020000 ﷽",
    "Z" + "\u0361\u0489" * 60,
    "\ud800 half a character",
    "../../injected",
    "/etc/passwd",
    "C:\\injected",
    "a,b;c\td\"e\"",
    "$\\frac{1}{2}$ $x^2$ \\input{x} _a_ *b* # c",
    "url(#x) id=\"y\" xlink:href=\"#z\" <metadata>m</metadata>",
    "nan",
    "None",
    "",
    " ",
    "x" * 300,
    "word " * 2_000,
    "x" * 20_000,
    "'" * 30_000,
)  # fmt: skip

#: Names of a cell of a CSV file that a spreadsheet would compute; a number is none.
_FORMULA = re.compile(r"\s*'*[=+\-@]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class _Tags(HTMLParser):
    """The tags of a page with the names of their attributes, and what its links lead to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.schemes: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, ""), *((tag, name) for name, _ in attributes)}
        links = (value for name, value in attributes if name in ("href", "src", "xlink:href") and ":" in (value or ""))
        self.schemes |= {str(link).partition(":")[0] for link in links}


def _paths(value: Any, above: tuple = ()) -> list[tuple]:
    """Return where all values within a nested one are."""
    found = [above] if above else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        found += _paths(part, (*above, key))
    return found


def _strings(value: Any, leave: tuple[str, ...]) -> list[tuple]:
    """Return where the texts within a value are, without those below the keys to `leave` alone."""
    found = []
    for place in _paths(value):
        inside = value
        for key in place:
            inside = inside[key]
        if isinstance(inside, str) and not set(leave) & set(place):
            found.append(place)
    return found


def _with(value: Any, rng: Random, text: str, leave: tuple[str, ...]) -> tuple[Any, list[str]]:
    """Return a copy with `text` in the place of some of its texts, or at their ends, and which."""
    changed, places = copy.deepcopy(value), _strings(value, leave)
    chosen = rng.sample(places, rng.choice((1, 1, min(4, len(places)), len(places))))
    for place in chosen:
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = text if rng.random() < 0.7 else f"{inside[place[-1]]} {text}"
    return changed, [".".join(map(str, place)) for place in chosen]


def check(folder: Path, allowed: dict[str, set[tuple[str, str]]], browser: Browser | None) -> None:
    """Assert that what lies in a folder of results is well-formed and inert: pages, drawings, tables.

    `allowed` are the tags and attributes by suffix that such a study has without hostile texts.
    """
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.suffix not in (".html", ".svg", ".csv"):
            continue
        text = file.read_bytes().decode("utf-8")
        if file.suffix == ".csv":
            _check_table(file, text)
            continue
        assert not trial.hidden(text, "\n\t"), f"{file.name}: control characters"
        seen = _Tags(text)
        assert seen.found <= allowed[file.suffix], f"{file.name}: {sorted(seen.found - allowed[file.suffix])}"
        assert seen.schemes <= {"data", "https", "http"}, f"{file.name}: {seen.schemes}"
        if file.suffix == ".svg":
            ElementTree.fromstring(text)
        elif browser:
            _open(browser, file)


def _check_table(file: Path, text: str) -> None:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        assert len(row) == len(rows[0]), f"{file.name}: a row of {len(row)} cells under {len(rows[0])}"
        for cell in row:
            assert _NUMBER.fullmatch(cell) or not _FORMULA.match(cell.removeprefix("'") if cell[:1] != "'" else ""), (
                f"{file.name}: a formula: {cell[:40]!r}"
            )


def _open(browser: Browser, file: Path) -> None:
    """Open a page: it asks for nothing, says nothing and runs nothing."""
    page = browser.new_page()
    asked, said = [], []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    try:
        page.goto(file.as_uri(), wait_until="load")
        assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()], asked
        assert said == [], said
        assert page.title() != "injected"
        assert page.locator("main").count() == 1
    finally:
        page.close()


def _allowed(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Return the tags of the pages and drawings of the same studies without hostile texts."""
    found: dict[str, set[tuple[str, str]]] = {".html": set(), ".svg": set()}
    for name, make in (("imported", stage.imported), ("trained", stage.trained), ("refused", _refused)):
        made = make(folder / name)
        made.all()
        for file in made.results.rglob("*"):
            if file.suffix in found:
                found[file.suffix] |= _Tags(file.read_text()).found
    # A title of a drawing wraps, as does a text of several lines; what a table says of a failure is a paragraph.
    found[".svg"] |= {("tspan", name) for name in ("", "x", "y", "style")}
    return found


def _refused(folder: Path) -> stage.Stage:
    """Return the study of logs of which one is refused, and one column is missing."""
    lacking = {"k80/cut.csv": "epoch", "k80/mnist_cnn_jax.csv": "epoch,elapsed,loss\n0,1,2\n"}
    return stage.imported(folder, logs=stage.LOGS | lacking)


#: What is a name or a path and no text of a page: the study's kind of words are what is left.
_NAMES = ("import", "charts", "price", "check", "by", "hardware", "framework", "purchase", "as_of", "provider", "book")
_GRID_NAMES = (*_NAMES, "workloads", "frameworks", "base")
_OF_RECORD = ("cell", "status", "schema_version", "started_at", "metric", "sha256", "kind", "dataset")


def _of_study(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """The words of a study of logs."""
    study, places = _with(stage.IMPORTED, rng, text, _NAMES)
    return f"study: {', '.join(places)}", stage.imported(folder, study)


def _of_names(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """What of a study is a name: of a machine, a price, a chart, a book, an item."""
    study, places = _with(stage.IMPORTED, rng, text, ("title", "summary"))
    key = rng.choice(("machines", "prices"))
    study[key] = {f"{name}{text}" if rng.random() < 0.5 else name: about for name, about in study[key].items()}
    return f"names: {', '.join(places)}, keys of {key}", stage.imported(folder, study)


def _of_book(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """A price book: item, source and notes."""
    rows = list(csv.reader(io.StringIO(stage.BOOK)))
    column = rng.choice(("item", "source", "inferred", "region"))
    study = copy.deepcopy(stage.IMPORTED)
    for row in rows[1:]:
        row[rows[0].index(column)] = text
    if column == "item":
        study["machines"]["k80"]["rent"]["items"] = {text: 1}
        study["prices"]["committed"]["instead"]["own"]["items"] = {text: 2}
    book = io.StringIO()
    csv.writer(book, lineterminator="\n").writerows(rows)
    return f"book: {column}", stage.imported(folder, study, book=book.getvalue())


def _of_logs(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """Logs: the names of their files and columns, and what stands in them."""
    name, log = rng.choice(list(stage.LOGS.items()))
    what = rng.choice(("name", "workload", "framework", "column", "cell", "other column"))
    in_path = text.replace("/", "_").replace("\0", "_").encode("utf-8", "replace").decode()[:60] or "_"
    quoted = '"' + text.replace('"', '""') + '"'
    logs = dict(stage.LOGS)
    match what:
        case "name":
            logs[f"k80/{in_path}.csv"] = log
        case "workload" | "framework":
            del logs[name]
            logs[name.replace("mnist_mlp" if what == "workload" else Path(name).stem.split("_")[-1], in_path)] = log
        case "column":
            logs[name] = log.replace("val_acc", quoted)
        case "cell":
            logs[name] = log.replace("0.75", quoted)
        case "other column":
            first, *rest = log.splitlines()
            logs[name] = "\n".join([f"{first},{quoted}", *(f"{line},{quoted}" for line in rest)]) + "\n"
    return f"logs: {what}", stage.imported(folder, logs=logs)


def _of_record(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """What a training records of itself and its machine: reasons, versions, settings, models."""
    said: list[str] = []
    own = rng.getrandbits(32)

    def change(run: dict[str, Any]) -> dict[str, Any]:
        given = {"reason": "as it is", "provenance": {"container": "none", "gpu_driver": "1"}}
        changed, places = _with(run | {"reason": given["reason"]}, Random(own), text, _OF_RECORD)
        changed["provenance"]["packages"][text] = text
        changed["settings"][text] = text
        said[:] = places
        return changed

    made = stage.trained(folder, change=change)
    return f"record: {', '.join(said)}", made


def _of_grid(folder: Path, rng: Random, text: str) -> tuple[str, stage.Stage]:
    """The words of a study that trains."""
    study, places = _with(stage.TRAINED, rng, text, _GRID_NAMES if rng.random() < 0.6 else ())
    return f"grid: {', '.join(places)}", stage.trained(folder, study)


PLACES = (_of_study, _of_names, _of_book, _of_logs, _of_record, _of_grid)


def _meet(
    folder: Path,
    make: Callable[[Path], stage.Stage],
    allowed: dict[str, set[tuple[str, str]]],
    browser: Browser | None,
) -> None:
    before = set(folder.parent.iterdir())
    try:
        made = make(folder)
        made.all()
        check(made.results, allowed, browser)
    finally:
        assert set(folder.parent.iterdir()) == before, "written outside"
        assert os.listdir(".") == [], "ran what was typed, or wrote where it was called"
        assert not (ROOT / "injected").exists()


def shown(folder: Path, rng: Random, is_opened: bool = True) -> Iterator[trial.Fault]:
    """Yield texts within a study that is made from its file to its page, which a browser opens."""
    allowed = _allowed(folder / "allowed")
    shutil.rmtree(folder / "allowed")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options) if CHROMIUM and is_opened else None
        while True:
            text, place, own = rng.choice(TEXTS), rng.choice(PLACES), rng.getrandbits(32)
            with tempfile.TemporaryDirectory(dir=folder) as name:
                said: list[str] = [place.__name__[4:]]

                def make(inside: Path, place=place, own=own, text=text, said=said) -> stage.Stage:
                    what, made = place(inside, Random(own), text)
                    said[0] = what
                    return made

                what = f"{place.__name__[1:]} ({own}): {text!r:.80}"
                yield what, lambda f=Path(name), m=make: _meet(f, m, allowed, browser)


def _print(lines: str) -> None:
    """Show what a training prints: it never ends the display, and does nothing to the terminal."""

    class Pipe(io.TextIOWrapper):
        pass

    for trainings in ("3", ""):
        errors_, shown_ = io.StringIO(), io.StringIO()
        pipe = Pipe(io.BytesIO(lines.encode("utf-8", "surrogatepass")), encoding="utf-8")
        variables = {"EPOCHS_TRAININGS": trainings, "EPOCHS_STARTED": "0"}
        words = ["progress", "results", "mnist_mlp/cpu1/jax/b128"]
        with (
            mock.patch.dict("os.environ", variables), mock.patch.object(sys, "argv", words),
            mock.patch.object(sys, "stdin", pipe), redirect_stdout(shown_), redirect_stderr(errors_),
        ):  # fmt: skip
            assert progress.main() == 0
        said = errors_.getvalue() + shown_.getvalue()
        assert not trial.hidden(said, "\n\t"), f"{said!r:.200}"
    shutil.rmtree("results")


def printed(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield what a training may print."""
    while True:
        lines = [rng.choice(("", "error: ", "epoch 1/2: ")) + rng.choice(TEXTS) for _ in range(rng.randint(1, 6))]
        yield f"{lines!r:.100}", lambda lines=lines: _print("\n".join(lines) + rng.choice(("", "\n")))


def _call(project: Project, place: Path, name: str, options: list[str]) -> None:
    """Call the workflow with what lies in a folder of that name: it makes its report, or says why not in a line."""
    before = {path for path in project.path.iterdir() if path.name != ".cache"}
    shutil.rmtree(project.path / "results", ignore_errors=True)
    called = project.run("snakemake", "--profile", "profiles/local", "--config", *options, check=False)
    said = called.stdout + called.stderr
    refusals = [line for line in said.splitlines() if line.startswith("error: ")]
    assert called.returncode == 0 or (len(refusals) == 1 and "Traceback" not in said), said[-1500:]
    if called.returncode == 0:
        # A name that a study may have is that of its folder.
        (report,) = (project.path / "results").glob("*/report.html")
        assert not trial.hidden(report.read_text(), "\n\t")
    after = {path for path in project.path.iterdir() if path.name != ".cache"}
    assert after - before <= {project.path / "results", project.path / ".snakemake"}, after - before
    assert not list(place.rglob("injected*"))


def in_paths(folder: Path, rng: Random) -> Iterator[trial.Fault]:
    """Yield the whole workflow with hostile names of folders and files, through Snakemake and its shells."""
    project = copy_project(folder / "project")
    places = ("study's folder", "study", "log's folder", "log", "book")
    while True:
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            text, where = rng.choice(TEXTS), rng.choice(places)
            name = re.sub(r"[/\0]", "_", text).encode("utf-8", "replace").decode()[:50] or "_"
            place = Path(inside) / (name if where == "study's folder" else "plain")
            place.mkdir()
            stage.imported(place)
            study = yaml.safe_load((place / "mine.yaml").read_text()) | {"charts": ["relative_time"]}
            file = place / "mine.yaml"
            match where:
                case "study":
                    file = place / f"{name}.yaml"
                case "log's folder":
                    (place / "logs" / "k80").rename(place / "logs" / name)
                    study["import"]["hardware"] = {name: "k80", "own": "own"}
                case "log":
                    (place / "logs" / "k80" / f"{name}.csv").write_text(stage.LOGS["k80/mnist_mlp_jax.csv"])
                case "book":
                    study["book"] = str((place / "book.csv").rename(place / f"{name}.csv"))
            (place / "mine.yaml").unlink()
            file.write_text(yaml.safe_dump(study, allow_unicode=True))
            options = [f"study={json.dumps(str(file)) if rng.random() < 0.5 else file}"]
            yield f"{where}: {name!r}", lambda given=(project, Path(inside), name, options): _call(*given)


KINDS = [
    trial.Kind("texts that are shown", 150, shown, limit_seconds=60),
    trial.Kind("texts that a training prints", 200, printed),
    trial.Kind("texts in paths", 40, in_paths, limit_seconds=300),
]
