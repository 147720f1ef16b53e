import pytest

from scripts.storage.errors import InputError
from scripts.storage.words import few, printable


@pytest.mark.parametrize("text", ["a\x1b[2J", "a\x07", "a\x00", "a\u202eb", "a\u2066", "\ud800", "\ufeffa", "a\x9b"])
def test_what_a_terminal_or_page_would_obey_is_replaced(text: str) -> None:
    assert "\ufffd" in printable(text)
    said = str(InputError(f"file: {text}"))
    assert "\ufffd" in said
    said.encode()


@pytest.mark.parametrize("text", ["1 × 2\n\tb", "中文 é e\u0301", "\U0001f468\u200d\U0001f469", "a\u00a0b"])
def test_what_is_only_seen_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("names", "count", "said"),
    [
        ([], None, ""),
        (["a"], None, "a"),
        (["a", "b", "c"], 3, "a; b; c"),
        (["a", "b", "c", "d", "e"], None, "a; b; c and 2 more"),
        (["a", "b", "c"], 24, "a; b; c and 21 more"),
    ],
)
def test_few_names_are_said_and_more_are_counted(names: list[str], count: int | None, said: str) -> None:
    assert few(names, count) == said
