"""Whether a loader's own code gives batches of other sizes in each step, read from the code without its data."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

from paddle.io.dataloader.collate import default_collate_fn

_PADS = re.compile(
    r"\b(Pad|pad_sequence|pad_sequences|DataCollator\w*|padding\s*=\s*(True|[\"']longest[\"']))\b|\bmax\("
)
"""In the text of a collate function: PaddleNLP's and Hugging Face's helpers, or a maximum of lengths."""
_FIXED = re.compile(r"[\"']max_length[\"']|pad_to_max_(seq_len|length)\s*=\s*True")
"""In the text of a collate function or of a data set: all samples are as long as the limit."""
_DRAWS = re.compile(r"\brandom\.(choice|choices|randint|randrange|sample|uniform)\(")
_RESIZES = re.compile(r"\b(resize|interpolate)\w*\(", re.IGNORECASE)
"""In the text of a collate function: a size is drawn for all pictures of a batch."""
_DEPTH = 3
"""Functions within functions that are looked at."""


def pads(loader: Any) -> bool:
    """Whether batches of the loader differ in length by its own collate function."""
    texts = _of_collate(loader)
    own = list(_texts(getattr(type(loader.dataset), "__getitem__", None), 1))
    return any(map(_PADS.search, texts)) and not any(map(_FIXED.search, [*texts, *own]))


def draws(loader: Any) -> bool:
    """Whether its own collate function draws a size for each batch."""
    texts = _of_collate(loader)
    return any(map(_DRAWS.search, texts)) and any(map(_RESIZES.search, texts))


def _of_collate(loader: Any) -> list[str]:
    collate = getattr(loader, "collate_fn", None)
    return [] if collate is None or collate is default_collate_fn else list(_texts(collate, _DEPTH))


def _texts(thing: Any, depth: int) -> Iterator[str]:
    """The code of what a loader calls, and of what that calls by a name of the program's own."""
    if not depth or thing is None:
        return
    if isinstance(thing, functools.partial):
        yield from _texts(thing.func, depth)
        return
    function = getattr(thing, "__func__", thing)
    if not isinstance(function, types.FunctionType):
        yield from _of_object(thing, depth)
        return
    try:
        yield inspect.getsource(function)
    except (OSError, TypeError, SyntaxError):
        yield " ".join(function.__code__.co_names)
    found = [function.__globals__.get(name) for name in _names(function.__code__)]
    found += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    found += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for one in found:
        if isinstance(one, types.FunctionType) or _helps(one):
            yield from _texts(one, depth - 1)


def _of_object(thing: Any, depth: int) -> Iterator[str]:
    """An object that is called: its class by its name, how it pads, and what it calls in its turn."""
    kind = thing if isinstance(thing, type) else type(thing)
    padding = getattr(thing, "padding", None)
    yield f"{kind.__name__}( padding={padding!r}"
    call = vars(kind).get("__call__")
    if isinstance(call, types.FunctionType) and _is_own(kind):
        yield from _texts(call, depth)
    for value in getattr(thing, "__dict__", {}).values():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if _helps(one):
                yield from _texts(one, depth - 1)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_own(kind: type) -> bool:
    return not (kind.__module__ or "").startswith(("paddle.", "numpy", "builtins"))


def _helps(thing: Any) -> bool:
    """Whether it may be one of the helpers that put a batch together."""
    return callable(thing) and not isinstance(thing, (type, types.ModuleType)) and _is_own(type(thing))
