"""Write the index of the published studies, from the verdicts on each."""

import argparse
import json
from pathlib import Path

from markupsafe import Markup

from scripts.analysis.claim_verdict import WORDS
from scripts.analysis.trainings import KINDS
from scripts.charts import _front, _theme
from scripts.pages import front, render
from scripts.storage import errors
from scripts.storage.files import write_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="page to write (.html)")
    parser.add_argument("claims", nargs="+", type=Path, help="claims.json of each study, in order")
    options = parser.parse_args()
    studies = []
    for path in options.claims:
        study = json.loads(path.read_text(encoding="utf-8"))
        if study["published"] is None:
            raise errors.InputError(f"{path}: published: study {study['name']} does not say whose figures it shows")
        words = [claim["word"] for claim in study["claims"]]
        studies.append(
            study
            | {"tally": {word: words.count(word) for word in WORDS if word in words}}
            | {"doubtful": [claim for claim in study["claims"] if claim["word"] not in ("holds", "holds by figures")]}
        )
    picture = None
    if chart := _front.draw(front.by_year(studies)):
        svg = Markup(_theme.svg(chart, "front"))  # noqa: S704, our own drawing
        picture = {
            "svg": svg,
            "finding": chart.finding,
            "caption": chart.caption,
            "notes": chart.notes,
            "description": chart.description,
        }
    answers = front.answers(studies)
    recent, history = front.by_age(studies)
    text = render.page(
        "index.html.j2",
        studies=studies,
        recent=recent,
        history=history,
        answers=answers,
        amounts={kind: rows for kind, rows in answers.items() if kind not in KINDS},
        picture=picture,
    )
    write_text(options.output, text)
    return 0


if __name__ == "__main__":
    errors.run(main)
