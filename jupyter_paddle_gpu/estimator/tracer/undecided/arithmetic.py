"""Arithmetic and comparisons of a value that is not known: a number where it was answered, else not known either."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import paddle

from . import variants

COMPUTED = "="
"""The label of what arithmetic gives."""


class Arithmetic:
    """What a value of unknown content does as a number (`absent_data.Unseen`)."""

    is_not_known = True
    """What operators ask before they read an attribute (`program/inference`)."""

    @abstractmethod
    def _answer(self) -> int | float | None:
        """The number that was answered for it."""

    @abstractmethod
    def _decided(self) -> bool:
        """What a condition by it comes to."""

    @abstractmethod
    def _not_known(self, against: Any = None) -> Arithmetic:
        """What is computed from it; `against` a text that it was compared with."""

    @abstractmethod
    def _factor(self) -> float | None:
        """A number that stands for it beside a tensor, where it sizes nothing: a setting."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Its items."""

    def __bool__(self) -> bool:
        answer = self._answer()
        return self._decided() if answer is None else bool(answer)

    def __contains__(self, one: Any) -> bool:
        return self._not_known(one)._decided()

    def __add__(self, other: Any) -> Any:
        # `words + [0] * 5` is a list while samples are made up.
        return [*self, *other] if _is_list(other) else _ADDED(self, other)

    def __radd__(self, other: Any) -> Any:
        return [*other, *self] if _is_list(other) else _ADDED_TO(self, other)

    __iadd__ = __add__


def _is_list(other: Any) -> bool:
    return variants.present() is not None and isinstance(other, (list, tuple))


def _computed(name: str, *, is_reflected: bool = False) -> Any:
    compute = getattr(operator, name)

    def method(self: Arithmetic, *others: Any) -> Any:
        answer = self._answer()
        if answer is None and others and isinstance(others[0], paddle.Tensor):
            answer = self._factor()
        if answer is None:
            return self._not_known(*others[:1])
        return compute(*others, answer) if is_reflected else compute(answer, *others)

    return method


def _compared(name: str) -> Any:
    compare = getattr(operator, name)

    def method(self: Arithmetic, other: Any) -> Any:
        answer = self._answer()
        return self._decided() if answer is None else compare(answer, other)

    return method


def _each_compared(name: str) -> Any:
    """`ids != vocabulary["<pad>"]` of a tensor that is made up compares each of its numbers."""
    compare, computed = getattr(operator, name), _computed(name)

    def method(self: Arithmetic, other: Any) -> Any:
        is_tensor = variants.present() is not None and isinstance(other, paddle.Tensor)
        return compare(other, 0) if is_tensor else computed(self, other)

    return method


_ADDED, _ADDED_TO = _computed("add"), _computed("add", is_reflected=True)
for _name in ("sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    for _side in ("", "r", "i"):
        _method = _computed(_name, is_reflected=_side == "r")
        setattr(Arithmetic, f"__{_side}{_name.rstrip('_')}__", _method)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Arithmetic, f"__{_name}__", _computed(_name))
for _name in ("eq", "ne"):
    setattr(Arithmetic, f"__{_name}__", _each_compared(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Arithmetic, f"__{_name}__", _compared(_name))
