"""Functions of Python and of numpy that draw numbers, or would forget that numbers are not known."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from ..undecided import drawn_sizes
from ..undecided.conversions import LISTED, of_list
from ..undecided.random_numbers import uniform, unit
from .patch import Patch


def patches() -> Iterator[Patch]:
    """What draws one number, and numpy's functions of a list."""
    yield Patch(random, "random", unit)
    yield Patch(random, "uniform", uniform)
    yield from (Patch(np.random, name, unit) for name in ("rand", "random", "random_sample"))
    yield Patch(np.random, "uniform", uniform)
    for module in (random, np.random):
        yield Patch(module, "choice", drawn_sizes.choice)
        yield Patch(module, "randint", drawn_sizes.randint)
    yield Patch(np.random, "permutation", drawn_sizes.permutation)
    yield from (Patch(np, name, of_list) for name in LISTED)
