"""Functions of Python and of numpy that draw numbers, or would forget that numbers are not known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paddle

from ..session import Session
from ..undecided import drawn_sizes
from ..undecided.absent_data import Unseen
from ..undecided.conversions import LISTED, of_list
from ..undecided.random_numbers import uniform, unit
from .patch import Patch, misfit


def _seeded(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A seed of unknown content sizes nothing: any will do."""
    given = [0 if isinstance(one, Unseen) else one for one in args]
    named = {name: 0 if isinstance(one, Unseen) else one for name, one in kwargs.items()}
    return misfit(session, original, given, named)


def patches() -> Iterator[Patch]:
    """What draws one number or begins to, and numpy's functions of a list."""
    yield from (Patch(module, "seed", _seeded) for module in (random, np.random, paddle))
    yield Patch(random, "random", unit)
    yield Patch(random, "uniform", uniform)
    yield from (Patch(np.random, name, unit) for name in ("rand", "random", "random_sample"))
    yield Patch(np.random, "uniform", uniform)
    for module in (random, np.random):
        yield Patch(module, "choice", drawn_sizes.choice)
        yield Patch(module, "randint", drawn_sizes.randint)
        yield Patch(module, "shuffle", drawn_sizes.shuffle)
    yield Patch(random, "randrange", drawn_sizes.randrange)
    yield from (Patch(random, name, drawn_sizes.choices) for name in ("choices", "sample"))
    yield Patch(np.random, "permutation", drawn_sizes.permutation)
    yield from (Patch(np, name, of_list) for name in LISTED)
