"""Where the code of a notebook may train."""

from .holdings import SEVERAL, Holding, Site
from .sites import COMMAND, OPTIMIZERS, STEPS, TRAININGS, Sites
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
