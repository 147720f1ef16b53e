"""The key `printed` of a study."""

from scripts.studies.kinds import Count, NotNegative, Part, Positive, key, need


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


#: The type of the key's value, and what it means.
VALUE = Printed
MEANING = "Costs as printed, to compare with the derived ones"
