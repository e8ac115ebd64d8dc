"""Arrays of data that is not here, of which everything is known but how many rows there are.

The program's own code says what a row looks like: a sentence filled up to a length, a picture cut to a size. What is
done with such an array is done with two made-up ones of other lengths: what comes out alike in both is known, and a
slice of known length is an array of known shape.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from itertools import islice
from typing import Any

import numpy as np

from ..session import current
from . import variants
from .absent_data import AbsentData, Unseen, is_unseen
from .arithmetic import COMPUTED
from .made_up import OpenShape
from .needs import LENGTH
from .running_code import assigned, is_trained_on
from .unknowns import UnknownArray, UnknownFloat, UnknownInt, plain, unknown

LENGTHS = (1 << 20) + 4096, (1 << 21) + 4097
"""Rows of the made-up arrays that are indexed: more than any index of a batch."""
FEW = 7, 11
"""Rows of those that are computed with."""
_MOST_BYTES = 1 << 28
"""Of a made-up array that something is computed with."""
_LOOKED_AT = 64
"""Items of a list that are looked at."""


class UnseenRows(Unseen):
    """An array, or a list of arrays, of unknown length and content.

    Args:
        dtype: of its numbers.
        shape: of one row.
        is_guessed: whether the type is a guess.
    """

    def __init__(self, dtype: Any, shape: Sequence[int], *, is_guessed: bool = False, name: str = "") -> None:
        super().__init__(name=name, dtype=np.dtype(dtype))
        self.__dict__.update(_row=tuple(shape), _is_guessed=is_guessed)

    def mark_guessed(self) -> None:
        """Its type hangs on data that is not here."""
        self.__dict__["_is_guessed"] = True

    def _made(self, length: int) -> Any:
        return np.broadcast_to(np.zeros((), self.__dict__["_dtype"]), (length, *self.__dict__["_row"]))

    def _present(self) -> Any | None:
        """The made-up array, while samples are made up."""
        variant = variants.present()
        return None if variant is None else self._made(variant.length)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its shape; the length is one of unknown content."""
        made = self._present()
        return (Unseen(self, label=LENGTH), *self.__dict__["_row"]) if made is None else made.shape

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return 1 + len(self.__dict__["_row"])

    @property
    def dtype(self) -> Any:
        """Type of its numbers."""
        return self.__dict__["_dtype"]

    def __getattr__(self, name: str) -> Any:
        if (made := self._present()) is not None:
            return getattr(made.copy() if made.nbytes < _MOST_BYTES else made, name)
        if name in _METHODS:
            return lambda *args, **kwargs: _both(
                lambda rows: getattr(rows, name)(*args, **kwargs), self, is_certain=name == "astype"
            )
        return super().__getattr__(name)

    def __getitem__(self, index: Any) -> Any:
        if (made := self._present()) is not None:
            return made if _is_open(index) else made[index]
        if isinstance(index, Unseen) or _is_open(index):  # an order, a choice, a part of unknown length
            return UnseenRows(self.dtype, self.__dict__["_row"], is_guessed=self.__dict__["_is_guessed"])
        if is_unseen(index):
            return Unseen(self)
        return _both(lambda rows: rows[plain(index)], self, lengths=LENGTHS)

    def __len__(self) -> int:
        return len(made) if (made := self._present()) is not None else super().__len__()

    def __iter__(self) -> Any:
        return iter(made) if (made := self._present()) is not None else super().__iter__()

    def __array__(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        made = self._present()
        return super().__array__(dtype, *args, **kwargs) if made is None else made.astype(dtype or self.dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _both(lambda *rows: getattr(ufunc, method)(*rows, **options), *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _both(lambda *rows: function(*rows, **kwargs), *args)


_METHODS = frozenset(("astype", "reshape", "transpose", "copy", "squeeze", "clip", "mean", "std", "min", "max", "sum"))


def _operation(name: str) -> Any:
    found = getattr(operator, name)

    def method(self: Any, *others: Any) -> Any:
        return _both(found, self, *others)

    def reflected(self: Any, other: Any) -> Any:
        return _both(lambda mine, yours: found(yours, mine), self, other)

    return method, reflected


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _method, _reflected = _operation(_name)
    setattr(UnseenRows, f"__{_name}__", _method)
    setattr(UnseenRows, f"__r{_name}__", _reflected)
    setattr(UnseenRows, f"__i{_name}__", _method)
for _name in ("neg", "abs"):
    setattr(UnseenRows, f"__{_name}__", _operation(_name)[0])


def _both(compute: Callable[..., Any], *given: Any, lengths: tuple[int, int] = FEW, is_certain: bool = False) -> Any:
    """What is computed of arrays of two lengths, as far as it is the same; of unknown content where it fails.

    Args:
        is_certain: whether its type hangs on no other.
    """
    if (variant := variants.present()) is not None:
        return compute(*(_of_length(one, variant.length) for one in given))
    rows = next((one for one in _flat(given) if isinstance(one, UnseenRows)), None)
    if any(isinstance(one, Unseen) and not isinstance(one, UnseenRows) for one in _flat(given)):
        return Unseen(rows)
    try:
        with np.errstate(all="ignore"):
            found = [compute(*(_of_length(one, length) for one in given)) for length in lengths]
    except (ValueError, TypeError, IndexError, MemoryError):
        return Unseen(rows)
    guesses = [one.__dict__["_is_guessed"] for one in _flat(given) if isinstance(one, UnseenRows)]
    is_guessed = any(guesses) and not is_certain
    made = alike(*found, is_guessed=is_guessed)
    if made is None:
        return Unseen(rows)
    if isinstance(made, np.ndarray) and made.ndim and rows is not None:
        _tell(rows, made, is_guessed)
    return made


def _tell(rows: UnseenRows, made: Any, is_guessed: bool) -> None:
    """Remember what a loop that trains takes of rows."""
    session = current()
    if session is None or not is_trained_on():
        return
    data = session.of(AbsentData)
    name = data.own_name(rows) or assigned()
    if name and name not in data.followed:
        data.followed[name] = f"{made.dtype}[{','.join(map(str, made.shape))}]"
        if is_guessed:
            data.guessed.add(name)


def _is_open(index: Any) -> bool:
    """Whether it is a slice with an end that nobody knows."""
    return isinstance(index, slice) and is_unseen([index.start, index.stop, index.step])


def _flat(given: Any) -> list[Any]:
    found: list[Any] = []
    for one in given:
        found += _flat(one) if isinstance(one, (list, tuple)) else [one]
    return found


def _of_length(value: Any, length: int) -> Any:
    if isinstance(value, UnseenRows):
        return value._made(length)
    if isinstance(value, (list, tuple)):
        return type(value)(_of_length(one, length) for one in value)
    return plain(value)


class UnseenList(Unseen):
    """A list of unknown length whose items are alike.

    Args:
        item: one of them, with data of unknown content where nobody knows more.
    """

    def __init__(self, item: Any) -> None:
        super().__init__()
        self.__dict__["_item"] = item

    def _items(self, count: int) -> list[Any]:
        return [_fresh(self.__dict__["_item"]) for _ in range(count)]

    def __getitem__(self, index: Any) -> Any:
        if _is_open(index):
            return UnseenList(self.__dict__["_item"])
        if is_unseen(index):
            return Unseen(self)
        if (variant := variants.present()) is not None:  # items are alike: no more of them are made than are taken
            taken = range(variant.length)[index]
            return self._items(len(taken)) if isinstance(taken, range) else self._items(1)[0]
        counts = {len(range(length)[index]) for length in LENGTHS} if isinstance(index, slice) else {1}
        if len(counts) > 1 or (count := counts.pop()) > _MOST_ITEMS:
            return UnseenList(self.__dict__["_item"])
        try:
            row = np.array(_zeros(self.__dict__["_item"]))
        except ValueError:  # of parts that are not alike
            return Unseen(self)
        items = [unknown(row) for _ in range(count)]
        return items if isinstance(index, slice) else items[0]

    def __iter__(self) -> Any:
        variant = variants.present()
        return super().__iter__() if variant is None else iter(self._items(variant.length))

    def __array__(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        variant = variants.present()
        if variant is None:
            return super().__array__(dtype, *args, **kwargs)
        return np.array([_zeros(self.__dict__["_item"], variant.numbers)] * variant.length, dtype)


_MOST_ITEMS = 4096
"""Items of a list that are made at once."""


def _fresh(item: Any) -> Any:
    if isinstance(item, (list, tuple)):
        return type(item)(map(_fresh, item))
    return Unseen() if isinstance(item, Unseen) else copy(item)


def _zeros(item: Any, numbers: str = "int64") -> Any:
    """An item as numbers, those of which nobody knows anything of a type."""
    if isinstance(item, (list, tuple)):
        return [_zeros(one, numbers) for one in item]
    return np.zeros(_length_of(item), item.__dict__["_dtype"] or numbers) if isinstance(item, Unseen) else item


def _length_of(item: Unseen) -> tuple[int, ...]:
    length = item.__dict__["_length"]
    return () if length is None else (length,)


def alike(one: Any, other: Any, *, is_guessed: bool = False) -> Any | None:
    """What two values have in common that came of data of two lengths: an array of unknown numbers, one or a list of
    unknown length, or None."""
    if isinstance(one, (list, tuple, deque)) and isinstance(other, (list, tuple, deque)):
        item = _item_of([*islice(one, _LOOKED_AT), *islice(other, _LOOKED_AT)])
        return None if len(one) == len(other) or item is None or isinstance(item, Unseen) else UnseenList(item)
    one, other = (np.float64(value) if isinstance(value, UnknownFloat) else value for value in (one, other))
    if not all(isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf" for value in (one, other)):
        return None
    # Of an open shape is what `np.array(rows)` gives of data of which nothing is known: no one number.
    if (
        isinstance(one, OpenShape)
        or one.dtype != other.dtype
        or one.ndim != other.ndim
        or one.shape[1:] != other.shape[1:]
    ):
        return None
    if one.shape == other.shape:
        if not one.size:  # of too little made-up data: it tells nothing
            return None
        return unknown(np.broadcast_to(np.zeros((), one.dtype), one.shape))
    return UnseenRows(one.dtype, one.shape[1:], is_guessed=is_guessed)


def _item_of(items: list[Any]) -> Any | None:
    """What items have in common; None where they are not alike."""
    first = items[0] if items else None
    if any(type(one) is not type(first) for one in items):
        return None
    if isinstance(first, (list, tuple)):
        if not first or any(len(one) != len(first) for one in items):
            return None
        parts = [_item_of([one[number] for one in items]) for number in range(len(first))]
        return None if any(part is None for part in parts) else type(first)(parts)
    if isinstance(first, (np.ndarray, np.generic)) and not isinstance(first, UnknownFloat):
        is_alike = all(one.shape == first.shape and one.dtype == first.dtype for one in items)
        return first if is_alike and first.dtype.kind in "biuf" else None
    if isinstance(first, (bool, int, float, Unseen)):
        return first
    return Unseen() if isinstance(first, str) else None


class UnseenNumbers(UnknownArray):
    """An array of known shape whose whole numbers data would have set: what all of them come to (`sizes.sum()`,
    `labels.max() + 1`, `sum(sizes)`) is of unknown content, since it may size a layer."""

    def __iter__(self) -> Any:
        return map(_of_all, super().__iter__())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _of_all(super().__array_ufunc__(ufunc, method, *inputs, **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _of_all(super().__array_function__(function, types, args, kwargs))


def _of_all(value: Any) -> Any:
    """What whole numbers of unknown content come to."""
    if isinstance(value, UnknownArray):
        return value.view(UnseenNumbers) if value.dtype.kind in "iu" else value
    return Unseen(label=COMPUTED) if isinstance(value, UnknownInt) else value


def unset(value: Any) -> Any:
    """An array of which data would have set parts: only its shape and type are known."""
    return value.view(UnseenNumbers) if value.dtype.kind in "iu" else unknown(value)


def _reduction(name: str) -> Any:
    found = getattr(UnknownArray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _of_all(found(self, *args, **kwargs))

    return method


for _name in ("sum", "min", "max", "prod"):
    setattr(UnseenNumbers, _name, _reduction(_name))
