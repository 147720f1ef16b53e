"""The key `office` of a study."""

from pydantic import ConfigDict

from scripts.studies.kinds import Count, Part, Positive, Text, key, need


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


#: The type of the key's value, and what it means.
VALUE = Office
MEANING = "An owned machine against rented ones: scaling, estimate, use"

#: A study may show nothing else.
ALONE = True
