"""Where the code of a notebook may train."""

from .sites import COMMAND, OPTIMIZERS, SEVERAL, STEPS, TRAININGS, Holding, Site, Sites
from .words import BY_NAME, STARTERS, name_of, started

__all__ = [
    "BY_NAME",
    "COMMAND",
    "OPTIMIZERS",
    "SEVERAL",
    "STARTERS",
    "STEPS",
    "TRAININGS",
    "Holding",
    "Site",
    "Sites",
    "name_of",
    "started",
]
