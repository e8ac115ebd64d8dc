"""Names of a notebook, or of its helpers, that the program's own code reads: `data` of `def get_batch(): return
data[:8]`."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, MethodType, ModuleType
from typing import Any, TypeAlias

from ... import call_stack

_MOST = 200
"""Functions, classes and objects that are looked through."""
_LOADS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
Names: TypeAlias = dict[str, Any]


def read(code: CodeType, names: Names) -> Iterator[tuple[Names, str]]:
    """What code reads of the names of its module, and what functions and classes do that it names."""
    yield from _followed([(one, names) for one in _all_of(code)], [])


def read_by(*values: Any) -> Iterator[tuple[Names, str]]:
    """The same of functions, objects and classes of the program's own."""
    yield from _followed([], list(values))


def _followed(codes: list[tuple[CodeType, Names]], values: list[Any]) -> Iterator[tuple[Names, str]]:
    held: dict[int, Any] = {}
    given: set[tuple[int, str]] = set()
    while (codes or values) and len(held) < _MOST:
        while codes:
            code, names = codes.pop()
            for name in _loaded(code):
                if name in names and (id(names), name) not in given:
                    given.add((id(names), name))
                    yield names, name
                    values.append(names[name])
                    if isinstance(names[name], ModuleType) and call_stack.HELPER in vars(names[name]):
                        values += [vars(names[name])[one] for one in code.co_names if one in vars(names[name])]
        if not values or id(value := values.pop()) in held:
            continue
        held[id(value)] = value
        function = _function(value)
        if function is not None:
            codes += [(one, function.__globals__) for one in _all_of(function.__code__)]
            values += _closed_over(function)
        else:
            values += _parts(value)


def _closed_over(function: Any) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it is empty as yet
            yield cell.cell_contents


def _function(value: Any) -> Any | None:
    """The plain function that is called; None where it is none of the program's."""
    if isinstance(value, (functools.partial, MethodType)):
        return None
    if not (inspect.isfunction(value) or "__wrapped__" in getattr(value, "__dict__", ())):
        return None
    inner = inspect.unwrap(value)
    is_own = inspect.isfunction(inner) and (
        call_stack.is_cell(inner.__code__.co_filename) or inner.__globals__.get("__name__") == "__main__"
    )
    return inner if is_own else None


def _parts(value: Any) -> list[Any]:
    """What of a value may hold code of the program's."""
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, type):
        own = [one for one in value.__mro__ if call_stack.is_own(one)]
        return [part for one in own for part in list(vars(one).values()) if _is_code(part)]
    if call_stack.is_own(type(value)):
        held = getattr(value, "__dict__", {}).values()
        return [type(value), *(one for one in list(held) if _is_code(one) or call_stack.is_own(type(one)))]
    return []


def _is_code(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, (functools.partial, MethodType))


def _all_of(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _all_of(one)


@functools.lru_cache(maxsize=512)
def _loaded(code: CodeType) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.argval for one in dis.get_instructions(code) if one.opname in _LOADS))
