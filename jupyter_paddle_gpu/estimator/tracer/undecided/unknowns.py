"""Numbers that hang on the model and are not computed: stand-ins that know it, and say so when they decide something.

They are numbers of Python's or numpy's, and numpy arrays, to whatever takes them, with no more attributes than those
have; what is computed from them is one of them again. Where one is compared in the user's code, both ways are followed
(`branches`). What leaves for C and comes back (`math.exp`) is a plain number and decides as the stand-in.
"""

from __future__ import annotations

import dis
import operator
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

_BY_NAME, _ASKING = frozenset(("LOAD_GLOBAL", "LOAD_NAME")), frozenset(("hasattr", "getattr"))
_OF_A_CALL = 8
"""Instructions of a call of a function with an expression and a name."""


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


def lacks(frame: FrameType) -> bool:
    """Whether the attribute is not there that a frame of the program's looks for by `hasattr`: nobody knows of an
    object that an absent file makes, and both ways are followed."""
    session, code = current(), frame.f_code
    is_call = dis.opname[code.co_code[frame.f_lasti]].startswith("CALL")
    if session is None or not is_call or code.co_filename.startswith((*_LIBRARIES, "<frozen", "<__array")):
        return False
    before = [one for one in dis.get_instructions(code) if one.offset < frame.f_lasti][-_OF_A_CALL:]
    called = [one.argval for one in before if one.opname in _BY_NAME and one.argval in _ASKING]
    if called[-1:] != ["hasattr"]:
        return False
    session.note("stand_in_branch", **call_stack.told())
    return not session.of(Decisions).decide(session.of(StepWatch).all_updates)


def plain(value: Any) -> Any:
    """The stand-in as what it stands in for."""
    if isinstance(value, UnknownReal):
        return float(value) if isinstance(value, UnknownFloat) else np.float64(value)
    if isinstance(value, UnknownInt):
        return np.int64(value) if isinstance(value, UnknownInteger) else int.__int__(value)
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
        return UnknownInt(value) if isinstance(value, int) else UnknownInteger(value)
    if isinstance(value, (float, np.floating)):
        return UnknownFloat(value) if type(value) is float else UnknownReal(value)
    if isinstance(value, tuple):
        return tuple(map(unknown, value))
    return value


def is_unknown(value: Any) -> bool:
    """Whether a value, or one in a list of values, is a stand-in."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, (UnknownReal, UnknownInt, UnknownArray))
    kinds = set(map(type, value))  # lists of made-up text have millions of numbers
    if any(issubclass(kind, (UnknownReal, UnknownInt, UnknownArray)) for kind in kinds):
        return True
    return any(issubclass(kind, (list, tuple)) for kind in kinds) and any(map(is_unknown, value))


def _arithmetic(name: str, *, is_reflected: bool = False) -> Any:
    compute = getattr(operator, name)

    def method(self: Any, *others: Any) -> Any:
        if not all(isinstance(other, PLAIN) for other in others):
            return NotImplemented
        given = [plain(self), *map(plain, others)][:: -1 if is_reflected else 1]
        with np.errstate(all="ignore"):
            try:
                found = compute(*given)
            except ArithmeticError:  # the number that this one stands for need not end the program
                if not isinstance(self, UnknownReal):
                    raise
                found = float(compute(*map(np.float64, given)))
        return unknown(found)

    return method


def _comparison(name: str) -> Any:
    compare = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, PLAIN):
            return NotImplemented
        found = compare(plain(self), plain(other))
        return unknown(found) if isinstance(found, np.ndarray) else decided(bool(found))

    return method


_UNARY = ("neg", "pos", "abs")
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


class UnknownReal(np.float64):
    """A floating point number of numpy's that is not known."""

    __hash__ = np.float64.__hash__

    def __repr__(self) -> str:
        return float.__repr__(self)

    __str__ = __repr__

    def __bool__(self) -> bool:
        return decided(float(self) != 0)

    def __round__(self, digits: Any = None) -> Any:
        return unknown(round(float(self), digits) if digits is not None else round(float(self)))

    def __reduce__(self) -> Any:
        return type(self), (float(self),)  # to another process (a game's reward by a pipe); numpy's makes it known

    def item(self, *_: Any) -> Any:
        """The number as Python's."""
        return UnknownFloat(float(self))


class UnknownFloat(UnknownReal):
    """A floating point number of Python's that is not known; C alone takes it for one of numpy's."""

    __hash__ = np.float64.__hash__
    __iter__ = None

    def __getitem__(self, _: Any) -> Any:
        raise TypeError("'float' object is not subscriptable")


def _lacking(name: str) -> Any:
    def get(self: Any) -> Any:
        # Bound to no name: an error in a frame of its own traceback would keep the tensors of whoever asked.
        raise _no_attribute(name, plain(self))

    return property(get)


def _no_attribute(name: str, of: float) -> AttributeError:
    problem = AttributeError(f"'float' object has no attribute {name!r}")
    problem.name, problem.obj = name, of
    return problem


for _name in {name for name in dir(np.float64) if not name.startswith("__")} - set(dir(float)):
    setattr(UnknownFloat, _name, _lacking(_name))


class UnknownInt(int):
    """A whole number of Python's that is not known."""

    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        return decided(int.__int__(self) != 0)


class UnknownInteger(UnknownInt):
    """A whole number of numpy's that is not known."""

    __hash__ = int.__hash__

    def __getattr__(self, name: str) -> Any:
        found = getattr(np.int64(self), name)
        return (lambda *given, **named: unknown(found(*given, **named))) if callable(found) else unknown(found)


for _kind in (UnknownReal, UnknownInt):
    for _name in _UNARY:
        setattr(_kind, f"__{_name}__", _arithmetic(_name))
    for _name in _BINARY:
        setattr(_kind, f"__{_name}__", _arithmetic(_name))
        setattr(_kind, f"__r{_name}__", _arithmetic(_name, is_reflected=True))
    for _name in _COMPARISONS:
        setattr(_kind, f"__{_name}__", _comparison(_name))


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


def _method(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return unknown(getattr(self.view(np.ndarray), name)(*args, **kwargs))

    method.__name__ = name
    return method


for _name in ("sum", "mean", "min", "max", "std", "var", "argmax", "argmin", "prod", "all", "any", "round"):
    setattr(UnknownArray, _name, _method(_name))
