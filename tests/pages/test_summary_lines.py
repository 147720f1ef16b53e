import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from scripts.analysis.trainings import TRAINING
from scripts.pages.summary import lines

BEST = {"machine": "JAX · 2 vCPUs", "seconds": 100.0, "usd": 0.01, "runs": 6, "price_as_of": "2026-05"}
BEST |= {"settled_by": "more", "why": "too close to call", "not_told": 1, "near": ["JAX · 1 vCPU"]}
HEADS = {"cheapest": "lowest cost measured", "fastest": "fastest", "best value": "best value"}
STUDY = {
    "title": "Does a <b>second</b> core pay?",
    "runs": 12,
    "findings": 0,
    "claims": [{"says": f"Claim {number}.", "word": "holds"} for number in range(9)],
    "trainings": [
        BEST
        | {
            "workload": name,
            "role": role,
            "head": HEADS[role],
            "of": TRAINING,
            "option": "on-demand",
            "price": "on-demand price",
        }
        for name in ("mnist_mlp", "own_net")
        for role in ("cheapest", "fastest", "best value")
    ],
}


def test_summary_has_at_most_ten_lines_and_no_markup_of_others() -> None:
    for workloads in (0, 1, 2, 9):
        rows = [row | {"workload": f"w{n}"} for n in range(workloads) for row in STUDY["trainings"][:3]]
        assert len(lines(STUDY | {"trainings": rows})) <= 10
    assert lines(STUDY)[0] == r"### Does a \<b\>second\</b\> core pay?"


def test_summary_tells_cheapest_fastest_claims_and_prices() -> None:
    said = lines(STUDY)
    assert said[1].startswith(
        "- **MNIST · MLP**: lowest cost measured JAX · 2 vCPUs "
        "(0.0100 USD a training, 100 s, 6 runs, too close to call: JAX · 1 vCPU)"
    )
    assert "- Claim 0. **Holds.**" in said
    assert said[-1] == "12 runs, 9 claims. On-demand price, of 2026-05."


@pytest.mark.parametrize(
    "text",
    [
        "[click](https://localhost/x)", "![x](https://localhost/x.png)", "<img src=x onerror=y>", "<https://localhost>",
        "a | b", "`code` ``more``", "@somebody look", "mail somebody@localhost.org", "see #12 and me/it#3 and GH-4",
        "https://localhost/x www.localhost.org", "**bold** __bold__ ~~gone~~ _it_", "&lt;b&gt; &copy; &#60;",
        "$x^2$ $`x`$", ":tada: :+1:", "# head", "- item", "+ item", "1. item", "2) item", "---", "===", "> quote",
        "x\n\n# head\n- [ ] task", "    code", "a\\", "[x]: https://localhost", "[^1]", "mailto:a", "title ###",
        "a\x1b[2J\u202eb",
    ],
)  # fmt: skip
def test_what_a_study_calls_things_is_shown_as_it_is_by_markdown_and_github(text: str) -> None:
    """The oracle is another program: a parser of Markdown, with raw HTML, links and tables."""
    rows = [row | {"workload": text, "machine": text, "price": text} for row in STUDY["trainings"][:3]]
    study = STUDY | {"title": text, "trainings": rows, "claims": [{"says": text, "word": "holds"}]}
    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render("\n".join(lines(study)))
    assert set(re.findall(r"<(/?\w+)", page)) <= {
        f"{end}{tag}" for tag in ("h3", "ul", "li", "strong", "p") for end in ("", "/")
    }
    shown = unescape(re.sub(r"<[^>]*>", "", page))
    said = text.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd")
    # A workload's name has spaces for its underscores.
    said, plain = (" ".join(each.replace("_", " ").split()) for each in (said, shown.replace("\u200b", "")))
    assert plain.count(said[1:]) == 6
    # What GitHub looks for in a text when Markdown has been read.
    assert not re.search(r"@\w|#\d|GH-\d|://|www\.|:[\w+-]+:|mailto:\w", shown)
