"""Numbers that hang on the model and are not computed: stand-ins that know it, and say so when they decide something.

They are numpy's float64, Python's int and numpy arrays to whatever takes them; what is computed from them is one of
them again. Where one is compared in the user's code, both ways are followed (`branches`). What leaves for C and comes
back (`math.exp`) is a plain number and decides as the stand-in.
"""

from __future__ import annotations

import dis
import sys
import sysconfig
from types import FrameType
from typing import Any

import numpy as np

from .. import call_stack
from ..session import SIZES, current
from ..step.steps import StepWatch
from .branches import Decisions, is_way_out

PLAIN = (bool, int, float, np.generic, np.ndarray)
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_LIBRARIES = (*_LIBRARIES, call_stack.TRACER)
"""Where code stands that is not the user's own."""
_DECIDING = ("COMPARE_OP", "POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
"""Instructions by which the user's own code decides; `min` and `sorted` compare within a call."""


def decided(stand_in: bool) -> bool:
    """What a comparison comes to: the way that is taken where the user's code decides by it, else the stand-in's."""
    session = current()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if is_way_out():
        return False
    if session is None or frame is None or frame.f_code.co_filename.startswith((*_LIBRARIES, "<frozen", "<__array")):
        return stand_in
    code = frame.f_code
    if not dis.opname[code.co_code[frame.f_lasti]].startswith(_DECIDING):
        return stand_in
    decisions = session.of(Decisions)
    if decisions.is_quiet(frame):
        return stand_in
    session.note("stand_in_branch", **call_stack.told())
    return decisions.decide(session.of(StepWatch).all_updates)


def plain(value: Any) -> Any:
    """The stand-in as what it stands in for."""
    if isinstance(value, Unknown):
        return float(value)
    if isinstance(value, UnknownInt):
        return int.__int__(value)
    if isinstance(value, UnknownArray):
        return value.view(np.ndarray)
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value)) if type(value) in {list, tuple} else value
    return value


def unknown(value: Any) -> Any:
    """A value as one that is not known; what is no number stays."""
    if isinstance(value, (bool, np.bool_)):
        return np.asarray(value).view(UnknownArray)
    if isinstance(value, np.ndarray):
        return unknown(value[()]) if value.ndim == 0 and value.dtype.kind in "iuf" else value.view(UnknownArray)
    if isinstance(value, (int, np.integer)):
        if (session := current()) is not None:
            session.assumed.add(SIZES)
        return UnknownInt(value)
    if isinstance(value, (float, np.floating)):
        return Unknown(value)
    if isinstance(value, tuple):
        return tuple(map(unknown, value))
    return value


def is_unknown(value: Any) -> bool:
    """Whether a value, or one in a list of values, is a stand-in."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, (Unknown, UnknownInt, UnknownArray))
    kinds = set(map(type, value))  # lists of made-up text have millions of numbers
    if any(issubclass(kind, (Unknown, UnknownInt, UnknownArray)) for kind in kinds):
        return True
    return any(issubclass(kind, (list, tuple)) for kind in kinds) and any(map(is_unknown, value))


def _arithmetic(kind: type, name: str) -> Any:
    own = getattr(kind, name)

    def method(self: Any, *others: Any) -> Any:
        if not all(isinstance(other, PLAIN) for other in others):
            return NotImplemented
        return unknown(own(_base(kind, self), *map(plain, others)))

    method.__name__ = name
    return method


def _comparison(kind: type, name: str) -> Any:
    own = getattr(kind, name)

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, PLAIN):
            return NotImplemented
        found = own(_base(kind, self), plain(other))
        return unknown(found) if isinstance(found, np.ndarray) else decided(bool(found))

    method.__name__ = name
    return method


def _base(kind: type, value: Any) -> Any:
    return np.float64(value) if kind is np.float64 else kind(value)


_UNARY = ("__neg__", "__pos__", "__abs__")
_BINARY = tuple(
    f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow") for side in ("", "r")
)
_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")


class Unknown(np.float64):
    """A floating point number that is not known."""

    __hash__ = np.float64.__hash__

    def __repr__(self) -> str:
        return float.__repr__(self)

    __str__ = __repr__

    def __bool__(self) -> bool:
        return decided(float(self) != 0)

    def __round__(self, digits: Any = None) -> Any:
        return unknown(round(float(self), digits) if digits is not None else round(float(self)))

    def item(self, *_: Any) -> Any:
        """Itself: a Python number."""
        return self


class UnknownInt(int):
    """A whole number that is not known."""

    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        return decided(int.__int__(self) != 0)

    def item(self, *_: Any) -> Any:
        """Itself: a Python number."""
        return self


for _kind, _base_kind in ((Unknown, np.float64), (UnknownInt, int)):
    for _name in (*_UNARY, *_BINARY):
        setattr(_kind, _name, _arithmetic(_base_kind, _name))
    for _name in _COMPARISONS:
        setattr(_kind, _name, _comparison(_base_kind, _name))


class UnknownArray(np.ndarray):
    """An array whose numbers are not known."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(plain(one) for one in options["out"])
        return unknown(getattr(ufunc, method)(*map(plain, inputs), **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return unknown(function(*map(plain, args), **{name: plain(one) for name, one in kwargs.items()}))

    def __getitem__(self, index: Any) -> Any:
        return unknown(self.view(np.ndarray)[plain(index)])

    def __bool__(self) -> bool:
        return decided(bool(self.view(np.ndarray)))

    def item(self, *index: Any) -> Any:
        """One of the numbers."""
        found = self.view(np.ndarray).item(*index)
        return UnknownInt(found) if isinstance(found, bool) else unknown(found)

    def tolist(self) -> Any:
        """Numbers in lists."""
        return _each(self.view(np.ndarray).tolist())


def _each(value: Any) -> Any:
    return list(map(_each, value)) if isinstance(value, list) else unknown(value)


def _reduction(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return unknown(getattr(self.view(np.ndarray), name)(*args, **kwargs))

    method.__name__ = name
    return method


for _name in ("sum", "mean", "min", "max", "std", "var", "argmax", "argmin", "prod", "all", "any"):
    setattr(UnknownArray, _name, _reduction(_name))
