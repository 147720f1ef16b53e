"""From the page of a study a training of one's own is one click away from its quote."""

from typing import Any

from scripts.pages import ask, report, yours
from tests.made import STUDY, inputs, offer, price_book, run, runs
from tests.reading import Read


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
    assert -1 < said.find("a language model by its hours, or its tokens a second, on") < said.find("another net by")


def test_a_page_of_language_models_leads_to_no_other_net() -> None:
    study = STUDY | {"import": {"format": "token_table", "units": {"*": "tokens"}}}
    text = report.page(inputs(study, runs(run()), quoted={"cpu1": quoted("v100-16gb", "V100", "H100", nets=())}))
    assert '<a href="quote.html#quote&amp;on=H100">H100</a>' in text
    assert "#classic" not in text


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
    assert "answers among the machines of this page, at prices of 2026, cloud spot." in Read(text).text
