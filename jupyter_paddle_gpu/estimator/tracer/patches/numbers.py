"""Functions of Python and of numpy that draw numbers, or would forget that numbers are not known."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..session import Session, current
from ..undecided import drawn_sizes
from ..undecided.absent_data import Unseen
from ..undecided.conversions import LISTED, READ, of_bytes, of_list
from ..undecided.random_numbers import uniform, unit
from ..undecided.unknowns import UnknownInteger
from .patch import Patch, misfit


def seeded(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A seed of unknown content sizes nothing: any will do."""
    given = [0 if isinstance(one, Unseen) else one for one in args]
    named = {name: 0 if isinstance(one, Unseen) else one for name, one in kwargs.items()}
    return misfit(session, original, given, named)


_DRAWS: dict[str, Callable[..., Any]] = {
    "choice": drawn_sizes.choice,
    "permutation": drawn_sizes.permutation,
    "randint": drawn_sizes.randint,
    "random": unit,
    "random_sample": unit,
    "shuffle": drawn_sizes.shuffle,
    "uniform": uniform,
}
"""What stands for methods of numpy's generators, by name: classes of C, of which others are made here."""


def _drawing(kind: type, name: str) -> Callable[..., Any]:
    own, replacement = getattr(kind, name), _DRAWS[name]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = current()

        def original(*args: Any, **kwargs: Any) -> Any:
            return own(self, *args, **kwargs)

        original.__name__ = name
        return original(*args, **kwargs) if session is None else replacement(session, original, *args, **kwargs)

    method.__name__, method.__doc__ = name, own.__doc__
    return method


def _integers(self: Any, low: Any, high: Any = None, *args: Any, endpoint: bool = False, **kwargs: Any) -> Any:
    """Up to below `high`, or up to it where it is the `endpoint`."""

    def original(low: Any, high: Any = None, *args: Any, **kwargs: Any) -> Any:
        return np.random.Generator.integers(self, low, high, *args, **kwargs)

    session = current()
    if session is None:
        return original(low, high, *args, endpoint=endpoint, **kwargs)
    low, high = (0, low) if high is None else (low, high)
    return drawn_sizes.randint(session, original, low, high + 1 if endpoint else high, *args, **kwargs)


def _made(kind: type) -> type:
    methods = {name: _drawing(kind, name) for name in _DRAWS if hasattr(kind, name)}
    more = {"integers": _integers} if kind is np.random.Generator else {}
    return type(kind.__name__, (kind,), {**methods, **more, "__module__": kind.__module__, "__doc__": kind.__doc__})


_GENERATOR, _STATE = _made(np.random.Generator), _made(np.random.RandomState)


def _default_rng(session: Session, original: Callable[..., Any], seed: Any = None) -> Any:
    """A seed of unknown content sizes nothing: any will do."""
    return _GENERATOR(original(0 if isinstance(seed, Unseen) else seed).bit_generator)


def _generator(session: Session, original: Callable[..., Any], bits: Any) -> Any:
    return _GENERATOR(bits)


def _state(session: Session, original: Callable[..., Any], seed: Any = None) -> Any:
    return _STATE(0 if isinstance(seed, Unseen) else seed)


def _encoded(session: Session, original: Callable[..., Any], thing: Any, *args: Any, **kwargs: Any) -> Any:
    """`json.dumps`, which takes no numbers of numpy's: one that stands in for such a one is of Python's type."""
    if not kwargs.keys() & {"cls", "default"} and _has_whole(thing):
        raise session.refused(TypeError("Object of type int64 is not JSON serializable"))
    return original(thing, *args, **kwargs)


def _has_whole(thing: Any) -> bool:
    if isinstance(thing, (dict, list, tuple)):
        return any(map(_has_whole, thing.values() if isinstance(thing, dict) else thing))
    return isinstance(thing, UnknownInteger)


def patches() -> Iterator[Patch]:
    """What draws one number or begins to, and numpy's functions of a list."""
    yield from (Patch(module, "seed", seeded) for module in (random, np.random))
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
    yield Patch(np.random, "default_rng", _default_rng)
    yield Patch(np.random, "Generator", _generator)
    yield Patch(np.random, "RandomState", _state)
    yield from (Patch(np, name, of_list) for name in LISTED)
    yield from (Patch(np, name, of_bytes) for name in READ)
    yield from (Patch(json, name, _encoded) for name in ("dump", "dumps"))
