"""From the page of a study a training of one's own is one click away from its quote."""

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from scripts.analysis import figures
from scripts.pages import ask, report, yours
from tests.made import STUDY, inputs, offer, price_book, run, runs
from tests.reading import Read

ROOT = Path(__file__).resolve().parents[2]


def quoted(net: str = "", label: str = "", card: str = "", nets: tuple[str, ...] = ("resnet50",)) -> dict[str, Any]:
    return {"net": net, "label": label, "card": card, "nets": nets}


def page(**machines: dict[str, Any]) -> str:
    return report.page(inputs(STUDY, runs(run()), quoted=machines))


def test_machines_that_the_front_door_knows_are_filled_in_there() -> None:
    text = page(cpu1=quoted("v100-16gb", "V100 16 GB", "A100 80 GB"), cpu4=quoted())
    assert '<a href="quote.html#classic&amp;net=resnet50&amp;machine=v100-16gb">V100 16 GB</a>' in text
    assert '<a href="quote.html#quote&amp;on=A100%2080%20GB">A100 80 GB</a>' in text
    assert "Not known there: 4 vCPUs." in Read(text).text


def test_a_page_of_unknown_machines_says_so() -> None:
    text = page(cpu1=quoted(), cpu4=quoted())
    assert "quote.html#" not in text
    assert "The quote page knows none of these machines." in Read(text).text


def test_a_page_of_other_nets_begins_with_language_models_and_asks_for_none_of_the_front_door() -> None:
    text = page(cpu1=quoted("v100-16gb", "V100 16 GB", "A100 80 GB", nets=()))
    assert '<a href="quote.html#classic&amp;net=&amp;machine=v100-16gb">V100 16 GB</a>' in text
    said = Read(text).text
    model = said.find("a language model by its tokens a second, or by its tokens and hours, on")
    assert -1 < model < said.find("another net by")
    assert "in a day" not in said, "no printed row says how much that is"


def test_a_page_of_language_models_leads_to_no_other_net() -> None:
    study = STUDY | {"import": {"format": "token_table", "units": {"*": "tokens"}}}
    text = report.page(inputs(study, runs(run()), quoted={"cpu1": quoted("v100-16gb", "V100", "H100", nets=())}))
    assert '<a href="quote.html#quote&amp;on=H100">H100</a>' in text
    assert "quote.html#classic" not in text


def test_a_card_with_a_printed_row_is_quoted_for_the_training_of_that_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"hardware": "cpu1", "workload": "Llama_3_8B_pre-training_at_8192", "precision": "bfloat16"}
    row |= {"framework": "NeMo-25.11", "devices": 8, "rate": 14_468.0}
    monkeypatch.setattr(figures, "asked", lambda study, derived: [row])
    text = page(cpu1=quoted(card="H100"), cpu4=quoted(card="B200"))
    asks = "kind=Llama%203%208B&amp;task=pretrain&amp;length=8192&amp;precision=bf16&amp;software=Megatron-Bridge"
    asks += "&amp;tokens=10"  # 8 cards, 14,468 tokens a second, 86,400 seconds
    assert f'<a href="quote.html#quote&amp;{asks}&amp;cards=8&amp;on=H100">H100</a>' in text
    assert "they open with what the printed training does in a day" in Read(text).text
    assert '<a href="quote.html#quote&amp;on=B200">B200</a>' in text


def test_a_cell_of_a_language_model_has_what_the_front_door_is_asked_for() -> None:
    cell = {"workload": "Llama_3_70B_LoRA_at_4096", "precision": "fp8", "framework": "NeMo-AutoModel"}
    asks = {"kind": "Llama 3 70B", "task": "lora", "length": "4096", "precision": "fp8", "software": "NeMo AutoModel"}
    assert yours.training_of(cell) == asks
    assert yours.training_of(cell | {"precision": None}) == {}
    assert yours.training_of(cell | {"workload": "mnist_mlp"}) == {}


def test_each_field_of_a_link_is_one_that_the_front_door_offers() -> None:
    """A value that its form lacks is not followed."""
    published = ROOT / "reports" / "published"
    door = (published / "quote.html").read_text(encoding="utf-8")
    options = set(re.findall(r"<option(?: value=\"([^\"]*)\"| selected)*>([^<]*)", door))
    known = {html.unescape(value or label) for value, label in options}
    pages = [path.read_text(encoding="utf-8") for path in published.glob("*.html")]
    links = {link for text in pages for link in re.findall(r'href="quote\.html#quote&amp;([^"]*)"', text)}
    fields = [field for link in links for field in parse_qsl(html.unescape(link))]
    assert len(fields) > 5
    free = ("length", "tokens", "cards")
    assert [field for field in fields if field[0] not in free and field[1] not in known] == []


def test_machines_that_the_front_door_lacks_are_asked_for_in_the_form_of_the_page() -> None:
    rows = [run(), run(hardware="cpu4")]
    text = report.page(inputs(STUDY, runs(*rows), quoted={"cpu1": quoted(), "cpu4": quoted(), "gpu": quoted()}))
    assert '<a href="#ask&amp;takes=10&amp;on=cpu4">4 vCPUs</a>' in text
    assert "on=gpu" not in text, "nothing was trained there"


def test_a_page_without_a_front_door_beside_it_leads_to_none() -> None:
    made = inputs(STUDY, runs(run()))
    assert yours.context(made) == {"yours": None}
    assert "quote.html" not in report.page(made)


def test_many_machines_are_counted_and_those_of_the_question_come_first() -> None:
    machines = {f"m{i}": quoted(f"net{i}", f"Net {i}") for i in range(9)}
    study = STUDY | {"question": {"asks": "Does it pay?", "hardware": "m8", "than": "m7"}}
    found = yours.context(inputs(study, runs(run()), quoted=machines))["yours"]
    assert [one["label"] for one in found["nets"]] == ["Net 8", "Net 7", "Net 0", "Net 1", "Net 2", "Net 3"]
    assert found["more"] == 3


def test_hours_of_the_form_lead_on_to_all_providers() -> None:
    """A net that the front door has is asked for by its name; a machine that it does not know leads nowhere."""
    machines = {"cpu1": quoted("v100-16gb", "V100 16 GB", "A100"), "cpu4": quoted(), "gpu": quoted(card="A100 80 GB")}
    found = ask.context(inputs(STUDY, runs(run(), run(hardware="cpu4")), quoted=machines))["ask"]
    assert found["nets"] == ("resnet50",)
    assert found["quoted"] == {
        "cpu1": "quote.html#classic&machine=v100-16gb",
        "gpu": "quote.html#quote&on=A100%2080%20GB",
    }


def test_hours_are_asked_for_at_prices_that_can_be_paid() -> None:
    old, new = (offer("1-core", 1.0, as_of=day, purchase=how) for day, how in (("2017", "on-demand"), ("2026", "spot")))
    ways = {"prices": {"then": {"purchase": "on-demand"}, "today": {"purchase": "spot"}}, "price": "then"}
    rows = [run(framework=name) for name in ("jax", "torch")]
    text = report.page(inputs(STUDY | ways, runs(*rows), rows=price_book(old, new), quoted={"cpu1": quoted()}))
    assert '<a href="#ask&amp;takes=10&amp;option=today&amp;on=cpu1">1 vCPU</a>' in text
    assert 'the <a href="#ask&amp;option=today">form</a> answers among' in text, "at the prices that the line names"
    assert "answers among the machines of this page, at prices of 2026, cloud spot." in Read(text).text
