"""What a machine costs its owner, and how much use makes owning cheaper than renting."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scripts.costs.billing import Numbers

#: No machine costs, lasts or draws more (USD, months, W): beyond, sums with it are of no use.
_MOST = 1e12


@dataclass(frozen=True)
class Machine:
    """A machine that is bought, used for `life_months`, and sold for `residual_usd`.

    `power_watts` is what it draws in use. Raises ValueError for a life of 0 months or less, negative
    figures, and a residual value above the acquisition.
    """

    acquisition_usd: float
    life_months: float
    power_watts: float
    usd_per_kwh: float
    maintenance_usd_per_month: float = 0.0
    residual_usd: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 <= value <= _MOST:
                raise ValueError(f"{name} is {value:g}; 0 to {_MOST:g} is allowed")
        if self.life_months == 0:
            raise ValueError("life_months is 0; more than 0 is allowed")
        if self.residual_usd > self.acquisition_usd:
            raise ValueError(
                f"residual_usd is {self.residual_usd}; at most acquisition_usd ({self.acquisition_usd}) is allowed"
            )

    @property
    def fixed_usd_per_month(self) -> float:
        """What a month costs without use (USD)."""
        return (self.acquisition_usd - self.residual_usd) / self.life_months + self.maintenance_usd_per_month

    @property
    def energy_usd_per_hour(self) -> float:
        """What an hour of use costs on top (USD)."""
        return self.power_watts / 1000 * self.usd_per_kwh


def machine(own: Mapping[str, Any]) -> Machine:
    """Return the machine of an `own` entry of a config, which also has its hours of use and its source."""
    return Machine(**{field.name: own[field.name] for field in fields(Machine) if field.name in own})


def usd_per_hour(machine: Machine, hours_per_month: Numbers) -> Numbers:
    """Return the cost (USD) of one hour of use: the less it is used, the dearer the hour.

    As in "cloud vs office" (Parkopedia, 2018): acquisition / months / hours of use a month, plus the energy
    of one hour. Infinite without use, if a month costs something.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(machine.fixed_usd_per_month, hours_per_month) + machine.energy_usd_per_hour


def break_even_hours_per_month(machine: Machine, rented_usd_per_hour: Numbers) -> Numbers:
    """Return the hours of use per month above which owning is cheaper than renting.

    Infinite where the rent is not above the energy of an hour: owning is never cheaper. More hours than a
    month has are returned as they are: no month is long enough.
    """
    # a machine got for nothing pays from the first hour or never: 0 / 0 would say neither
    fixed = max(machine.fixed_usd_per_month, np.finfo(float).tiny)
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(fixed, np.maximum(rented_usd_per_hour - machine.energy_usd_per_hour, 0))
