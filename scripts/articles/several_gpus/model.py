"""The key `several_gpus` of a study."""

from typing import Annotated

from scripts.studies.kinds import Filled, Part


class SeveralGpus(Part):
    """A machine with all its GPUs, and with one of them."""

    label: str
    several: str
    one: str


#: The type of the key's value, and what it means.
VALUE = Annotated[list[SeveralGpus], Filled]
MEANING = "Machines whose time with all GPUs is compared with that of one of them: two names of machines"
