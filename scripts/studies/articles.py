"""The parts of a study that single published studies need: what an article prints, and what follows from it."""

from typing import Annotated

from pydantic import ConfigDict, Field

from scripts.studies.kinds import Count, Filled, NotNegative, Part, Pattern, Positive, Text, key, need


class LeftOut(Part):
    """What an article shows that is not here, and why."""

    what: Text
    why: Text


class SeveralGpus(Part):
    """A machine with all its GPUs, and with one of them."""

    label: str
    several: str
    one: str


class Scaling(Part):
    """Machines, and for each workload the efficiencies by batch size."""

    model_config = ConfigDict(extra="allow")

    single: str
    multi: str
    gpus: int
    setup: dict[str, str] = key("Workload: letter of how its GPUs exchanged gradients")


class Gain(Part):
    """Samples per USD over those of a rented machine."""

    label: Text
    gain: Positive
    workload: Text
    gpus: int = key()
    machine: Text = key()
    days: Positive = key("Days of use a month it is printed for, if not those of `own`")


class Office(Part):
    """An owned machine against rented ones."""

    owned: Text
    single: Text = need("Machine with one card, whose throughput is known")
    gpus: Count
    batch_sizes: list[float]
    efficiency_decimals: int
    scaling: list[Scaling]
    printed_means: dict[str, list[float]]
    printed_estimates: dict[str, list[float]]
    to_train: dict[str, list[float]] = need("Workload: batch size and iterations of its paper")
    gains: dict[str, Gain] = need("Samples per USD over those of a rented machine, at the use of `own`")
    rents: list[Text] = need("Price options that rents are compared under")


class PriceCut(Part):
    """By how much an item's hourly rate fell."""

    provider: str
    item: str
    before: str
    after: str
    after_purchase: str = key("How it is bought after it: spot, for what spot saves; without, on demand")


class MLPerf(Part):
    """Results of MLPerf Training in dollars."""

    results: Text = need("Table of results (.csv) that scripts/import_mlperf.py made")
    submitter: Text = need("Whose machines show what software alone gained")
    generations: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = need(
        "An older card and a newer one: names of machines"
    )
    accelerators: Annotated[dict[str, Count], Filled] = need("Card: how many of them the rented machine has")
    providers: dict[str, Text] = need("Price option: the provider whose prices of it are set beside those of others")
    then: dict[str, Annotated[str, Pattern(r"\d{4}-\d{2}-\d{2}")]] = need(
        "Price option: from which day its list held, the oldest first"
    )


class Rule(Part):
    """Whose billing rule of which day."""

    provider: Text
    date: Text
    label: Text


class Schedule(Part):
    """A machine that is started on a schedule."""

    machine: Text
    provider: Text
    month_days: Positive
    seconds_each: Positive
    every_hours: Annotated[list[Positive], Filled]
    rules: Annotated[dict[str, Rule], Filled]
    fees: dict[str, float] = need("Item of the book: pieces, by the month")
    seconds_per_start: dict[str, float] = need("Item of the book: seconds for each start")


class PrintedRow(Part):
    """The printed cost of a machine."""

    usd: float
    within: float
    type: str = key()
    gpu_memory_gb: Positive = key()
    instance: str = key()
    gpus: Count = key("Without, 1")
    gpus_used: Count = key("Of `gpus`; without, all")


class Printed(Part):
    """Costs as printed, to compare with the derived ones."""

    price: str = need("Price option they were paid at")
    seconds_within: NotNegative = need("Rounding of the printed times: half of the last digit")
    rows: dict[str, PrintedRow] = need("Machine: printed cost, half of its last digit, and what else is printed of it")
