"""Every word that may name a winner has a rule: tests/winning_words.yaml, which somebody has read.

What pages, charts, tables, summaries and terminals can print is scanned for superlatives and comparatives. A new one
fails here until it stands in the table, under what makes it true:

- `judged`: the code that prints it has judged the cells by the rule of verdicts, or names all that may have won;
- `measured`: it says what was measured, and how often, and no more;
- `arithmetic`: it follows from prices, bills or printed figures, which have no noise;
- `reading`: it says how to read an axis, a column or the rule itself;
- `name`: a key, an option or a class, which nobody reads as a verdict.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("winning_words.yaml")
RULES = ("judged", "measured", "arithmetic", "reading", "name")

WORDS = re.compile(
    r"\b(fastest|slowest|quickest|cheapest|dearest|best|worst|better|worse|faster|slower|cheaper|dearer|quicker"
    r"|(?<!at )least|(?<!at )most|lowest|highest|shortest|longest|fewest|fewer|superior|leading"
    r"|winn(?:er|ers|ing)|wins?|won|beats?|beaten|outperform\w*|leads?|pays?|saves?|worth|gains?|gained|haste|hurry)\b"
    r"|× (?:as|the (?:money|speed|dollars|hours|cost|time))\b|times (?:as|fewer|more)\b",
    re.IGNORECASE,
)

#: In code that compares cells by the rule of verdicts.
JUDGES = re.compile(
    r"\bis_clear\b|undecided\(|\bwon\(|winner\(|clearly different|clearlyDifferent|rule of verdicts|told apart"
    r"|\.near|judge|fastest\("
)


def python(text: str) -> Iterator[str]:
    """Yield the string literals of a module, those of f-strings too, without its docstrings."""
    tree = ast.parse(text)
    with_docs = (ast.Module, ast.ClassDef, ast.FunctionDef)
    bodies = [node.body[0] for node in ast.walk(tree) if isinstance(node, with_docs) and node.body]
    docs = {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def template(text: str) -> Iterator[str]:
    """Yield the text of a template between its tags, that of its attributes, and the literals of its expressions."""
    text = re.sub(r"(?s)\{#.*?#\}", "", text)
    for code in re.findall(r"(?s)\{[{%](.*?)[%}]\}", text):
        yield from re.findall(r'"([^"]*)"', code)
    text = re.sub(r"(?s)\{[{%].*?[%}]\}", "\0", text)
    shown = "\0".join(re.findall(r'(?:title|aria-label|placeholder|content)="([^"]*)"', text))
    yield from shown.split("\0")
    yield from re.split(r"\0|<[^>]*>", text)


def script(text: str) -> Iterator[str]:
    """Yield the string literals of JavaScript, of template literals the text between what is filled in."""
    text = re.sub(r"(?s)/\*.*?\*/", "", text)
    text = re.sub(r"(?m)(?<![:\"'`])//.*$", "", text)
    for quoted, single, ticked in re.findall(
        r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`', text
    ):
        yield from re.split(r"\$\{[^}]*\}", quoted or single or ticked)


def words(text: str) -> Iterator[str]:
    """Yield the texts of a YAML file."""

    def inside(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (text for key, each in value.items() for text in (str(key), *inside(each)))
        elif isinstance(value, list):
            yield from (text for each in value for text in inside(each))
        elif isinstance(value, str):
            yield value

    return inside(yaml.safe_load(text))


def prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of Markdown."""
    return iter(text.split("\n\n"))


#: What can be printed; what is trained with prints no verdict, and neither do refusals of `storage` and `studies`.
PRINTED: dict[str, Callable[[str], Iterator[str]]] = {
    "scripts/*.py": python,
    "scripts/epd/*.py": python,
    "scripts/pages/*.py": python,
    "scripts/charts/*.py": python,
    "scripts/articles/**/*.py": python,
    "scripts/analysis/*.py": python,
    "scripts/costs/*.py": python,
    "scripts/estimate/*.py": python,
    "scripts/document/*.py": python,
    "scripts/importers/*.py": python,
    "scripts/kit/*.py": python,
    "scripts/workflow/*.py": python,
    "reports/*.j2": template,
    "reports/sections/*.j2": template,
    "reports/scripts/*.js": script,
    "reports/words/*.yaml": words,
    "reports/heads.yaml": words,
    "reports/captions/*": prose,
    "README.md": prose,
}


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that hold one of the words, spaces made one."""
    for sentence in re.split(r"(?<=[.;:?])\s", " ".join(text.split())):
        if WORDS.search(sentence):
            yield sentence.strip()


def scanned() -> dict[str, set[str]]:
    """Return by file the sentences that hold one of the words."""
    found: dict[str, set[str]] = {}
    for pattern, read in PRINTED.items():
        for path in sorted(ROOT.glob(pattern)):
            texts = read(path.read_text(encoding="utf-8"))
            if held := {sentence for text in texts for sentence in sentences(text)}:
                found[path.relative_to(ROOT).as_posix()] = held
    return found


def reviewed() -> dict[str, dict[str, list[str]]]:
    """Return the table: file -> rule -> sentences."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return found


def test_every_word_that_may_name_a_winner_has_a_rule() -> None:
    known = {file: {text for texts in rules.values() for text in texts} for file, rules in reviewed().items()}
    found = scanned()
    unread = {file: sorted(held - known.get(file, set())) for file, held in found.items()}
    assert {file: held for file, held in unread.items() if held} == {}, "put them under a rule in winning_words.yaml"
    gone = {file: sorted(held - found.get(file, set())) for file, held in known.items()}
    assert {file: held for file, held in gone.items() if held} == {}, "take what is gone out of winning_words.yaml"


def test_rules_of_winning_words_are_known_and_one_each() -> None:
    for file, rules in reviewed().items():
        assert set(rules) <= set(RULES), file
        texts = [text for held in rules.values() for text in held]
        assert len(texts) == len(set(texts)), file


def test_what_is_judged_is_judged_in_its_file() -> None:
    for file, rules in reviewed().items():
        if "judged" in rules and file.startswith(("scripts", "reports/scripts")):
            assert JUDGES.search((ROOT / file).read_text(encoding="utf-8")), file


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (python, 'x = f"{name} wins at {price}"\n"""no doc: the best"""', ["wins at", "no doc: the best"]),
        (python, 'def f():\n    """The best."""\n    return "a"', []),
        (template, '{% if a == "cheapest" %}<p title="best"><b>fastest</b>{# worst #}', ["cheapest", "best", "fastest"]),  # noqa: E501
        (script, "const a = `It beats ${b} by far`; // the best\nlet c = 'worth it';", ["It beats", "worth it"]),
        (words, "a: {title: Cheapest, b: [leads]}", ["Cheapest", "leads"]),
    ],
)  # fmt: skip
def test_scanner_sees_what_is_printed(read: Callable[[str], Iterator[str]], text: str, found: list[str]) -> None:
    held = [sentence for each in read(text) for sentence in sentences(each)]
    assert sorted(held) == sorted(one for text in found for one in sentences(text))
