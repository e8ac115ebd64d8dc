"""Sizes that a program draws for each batch, as in multi-scale training: data where every draw is the largest.

What a choice among sizes gives hangs on chance, and the largest comes up sooner or later. So a batch is put together
once more, with the largest of what `choice` and `randint` choose from. What is drawn of data that is not here is not
known.

A picture may be scaled by a factor that is drawn and then be padded to its size: the batch's shapes stay, and how many
of its pixels are not padding, which a loss may leave out, hangs on the factor.

A model may draw the size that it brings its pictures to itself (YOLOX, every tenth step): a whole number from 1 on that
is drawn while a layer is called is the largest, too. One from 0 on is a place or a way.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..session import Session
from ..step.layers import LayerPaths
from . import variants
from .absent_data import Unseen
from .unknowns import is_unknown, unknown


@contextlib.contextmanager
def states_kept() -> Iterator[None]:
    """Random states are then as they were."""
    states = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


FACTORS = 64
"""Numbers that a program draws a factor from, at most; a longer list is data."""
VALUES = 1 << 12
"""Labels are smaller numbers than this."""


class DrawnSizes:
    """Whether draws give their largest now, those between two numbers as well, and whether a factor was drawn."""

    def __init__(self) -> None:
        self.are_largest = self.has_factors = self.are_uniform_largest = self.has_uniform = False

    @contextlib.contextmanager
    def largest(self, *, of_uniform: bool = False) -> Iterator[None]:
        """For a while they do; random states are then as they were."""
        with states_kept():
            self.are_largest, self.are_uniform_largest, self.has_uniform = True, of_uniform, False
            try:
                yield
            finally:
                self.are_largest = self.are_uniform_largest = False


def choice(session: Session, original: Callable[..., Any], given: Any, *args: Any, **kwargs: Any) -> Any:
    """`random.choice(sizes)`, `numpy.random.choice(sizes)`, `numpy.random.choice(count)`, one of several alone."""
    if is_unknown(kwargs.get("p")):  # what a model says of each: one of them all the same
        kwargs = {name: value for name, value in kwargs.items() if name != "p"}
    if _is_open(given) or not session.of(DrawnSizes).are_largest:
        return Unseen(given) if _is_open(given) else original(given, *args, **kwargs)
    count, chances = kwargs.get("size", args[0] if args else None), kwargs.get("p")
    if len(args) > 1 or not kwargs.keys() <= {"size", "replace", "p"} or count not in (None, 1, (1,), [1]):
        return original(given, *args, **kwargs)
    values = list(range(given)) if isinstance(given, int) else given
    if chances is not None and len(chances) == len(values):
        values = [one for one, chance in zip(values, chances, strict=True) if chance > 0]
    largest = _largest(values)
    if largest is None:
        return original(given, *args, **kwargs)
    return largest if count is None else np.array([largest])


def choices(session: Session, original: Callable[..., Any], given: Any, *args: Any, **kwargs: Any) -> Any:
    """`random.choices(sizes)` and `random.sample(sizes, 1)`, where one is drawn."""
    count = kwargs.get("k", 1 if original.__name__ == "choices" else args[0] if args else None)
    is_one = session.of(DrawnSizes).are_largest and count == 1 and not _is_open(given)
    largest = _largest(given) if is_one else None
    return original(given, *args, **kwargs) if largest is None else [largest]


def _largest(given: Any) -> Any:
    """Of numbers, or of pairs of sides; None: these are none."""
    if not isinstance(given, (Sequence, np.ndarray)) or not len(given):
        return None
    values = list(given)
    if all(isinstance(one, (int, float, np.number)) for one in values):
        return max(values)
    try:
        return max(values, key=_area)
    except TypeError:  # no sizes
        return None


def shuffle(session: Session, original: Callable[..., Any], given: Any, *args: Any, **kwargs: Any) -> None:
    """`numpy.random.shuffle(factors)`, of which a program then takes the first: the largest."""
    drawn = session.of(DrawnSizes)
    is_factors = type(given) is list and 1 < len(given) <= FACTORS and all(type(one) is float for one in given)
    drawn.has_factors |= is_factors
    if is_factors and drawn.are_largest:
        given.sort(reverse=True)
    else:
        original(given, *args, **kwargs)


def filled(batch: Any) -> int:
    """Elements of a batch's labels that are none of those it has most of: what no padding filled."""
    if isinstance(batch, dict):
        return sum(map(filled, batch.values()))
    if isinstance(batch, (list, tuple)):
        return sum(map(filled, batch))
    if not isinstance(batch, np.ndarray) or batch.dtype.kind not in "iu" or not batch.size:
        return 0
    low = batch.min()
    return batch.size - np.bincount((batch - low).ravel()).max() if batch.max() - low < VALUES else 0


def permutation(session: Session, original: Callable[..., Any], given: Any) -> Any:
    """`numpy.random.permutation(count)`."""
    return Unseen(given) if _is_open(given) else original(given)


def _is_open(*given: Any) -> bool:
    """Whether it is drawn from data that is not here, or by a number of it: what comes of that is not known either."""
    return any(isinstance(one, Unseen) for one in given) and variants.present() is None


def _area(size: Any) -> float:
    """Of a pair of sides; raises TypeError for anything else."""
    if not isinstance(size, (tuple, list)):
        raise TypeError
    return float(np.prod([float(side) for side in size]))


def _drawn(original: Callable[..., Any], low: Any, high: Any, args: Any, kw: Any, *, is_pythons: bool) -> Any:
    """A number drawn; between bounds that are made up, and have nothing between them, the upper one."""
    try:
        return original(low, high, *args, **kw)
    except ValueError:
        if variants.present() is None or args or kw:
            raise
        return int(low if high is None else high) - (not is_pythons)


def randint(session: Session, original: Callable[..., Any], low: Any, high: Any = None, *args: Any, **kw: Any) -> Any:
    """`random.randint` with its upper end, `numpy.random.randint` without."""
    if _is_open(low, high):
        several = _places(kw.get("size", args[0] if args else None))
        return Unseen(high if isinstance(high, Unseen) else low) if several is None else several
    is_pythons = getattr(original, "__self__", None) is random._inst
    drawn = _drawn(original, low, high, args, kw, is_pythons=is_pythons)
    is_of_model = not session.of(LayerPaths).is_outside and high is not None and low >= 1
    is_largest = session.of(DrawnSizes).are_largest or is_of_model
    if args or kw or not is_largest or not isinstance(drawn, (int, np.integer)):
        return drawn
    if is_of_model:
        session.note("sizes_drawn")
    top = low if high is None else high
    return type(drawn)(top if is_pythons else top - 1)


def _places(size: Any) -> Any:
    """So many places of data that is not here, as `numpy.random.randint(0, len(text) - 64, 32)` draws them; None where
    it draws one."""
    sides = size if isinstance(size, (tuple, list)) else (size,)
    is_known = all(isinstance(side, (int, np.integer)) and not is_unknown(side) for side in sides)
    return unknown(np.zeros([int(side) for side in sides], "int64")) if is_known else None


def randrange(session: Session, original: Callable[..., Any], *bounds: Any, **kw: Any) -> Any:
    """`random.randrange(320, 640, 32)`: the last of them."""
    if _is_open(*bounds):
        return Unseen(next(one for one in bounds if isinstance(one, Unseen)))
    drawn = original(*bounds, **kw)
    return range(*bounds)[-1] if session.of(DrawnSizes).are_largest and not kw and type(drawn) is int else drawn


def factor(session: Session, drawn: float, low: float, high: float) -> float:
    """A number drawn from between two above nought, `uniform(0.5, 2)`, which itself is never the upper one; from nought
    on it is a chance (`uniform(0, 1) < ratio`), or a place."""
    sizes = session.of(DrawnSizes)
    if not sizes.are_largest or not 0 < low < high:
        return drawn
    sizes.has_uniform = True
    return math.nextafter(high, low) if sizes.are_uniform_largest else drawn
