"""The study of one card has a price option for every offer of its books that rents one such card, and no other."""

import re

import pandas as pd

from scripts.costs import book, books, pricing
from scripts.storage import schemas
from scripts.studies import definition

CARDS = {"h100", "h200"}
WANTED = schemas.read_yaml(books.FOLDER / "catalogue.yaml", "catalogue")

#: A name that says its cards. Without a number it is one; without a form it is taken for the SXM card.
NAMED = re.compile(r"(?:gpu_)?(?:(\d+)x[_-])?(h[12]00)(?:_(sxm|pcie|nvl)\d*)?(?:x(\d+))?(?:-\d+)*")
#: AWS's names do not say their cards, and no table of ours does.
AWS = {"p5.4xlarge": {"h100": 1}, "p5.48xlarge": {"h100": 8}}


def cards(provider: str, item: str) -> dict[str, int]:
    """Return how many of which card a machine of a book has. PCIe and NVL are other cards, named with their form."""
    built_in = WANTED.get(provider, {}).get("built_in", {})
    if item in built_in:
        return {card.lower(): count for card, count in built_in[item].items()}
    if provider == "aws":
        assert item in AWS or not item.startswith("p5"), f"AWS must say how many of which card {item} has"
        return AWS.get(item, {})
    named = NAMED.fullmatch(item.lower())
    assert named or not re.search(r"(?<!g)h[12]00", item.lower()), f"{provider} {item}: how many of which card?"
    if not named:
        return {}
    before, card, form, after = named.groups("")
    return {card if form in ("", "sxm") else f"{card}_{form}": int(before or after or 1)}


def test_the_study_of_one_card_has_every_offer_of_one_and_no_other() -> None:
    _, study = definition.read("card", {})
    rows = pd.DataFrame(book.read(books.files(study["book"])))
    made_of = [cards(provider, item) for provider, item in zip(rows["provider"], rows["item"], strict=True)]
    one = [next((card for card in CARDS if has == {card: 1}), "") for has in made_of]
    offers = rows.assign(hardware=one, usd_per_hour=rows["rate"])[[bool(card) for card in one]]
    assert set(offers["currency"] + " per " + offers["per"]) == {"USD per hour"}
    assert set(offers["hardware"]) == CARDS
    machines = definition.machines(study, schemas.read_yaml(definition.ROOT / "config" / "hardware.yaml", "hardware"))
    table = pricing.price_table(study, machines, CARDS)
    columns = ["hardware", "provider", "region", "purchase", "usd_per_hour"]
    priced, offered = (sorted(frame[columns].itertuples(index=False, name=None)) for frame in (table, offers))
    assert priced == offered
