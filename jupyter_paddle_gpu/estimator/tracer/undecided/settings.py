"""Settings of a file that is not here, as a program uses them: texts by which it chooses among things that it knows,
lists that make layers, and many values at once (`Net(**config["model"])`)."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from .. import call_stack
from .descriptions import is_description
from .needs import with_default
from .running_code import nodes_in

SAME = frozenset(("lower", "upper", "strip", "title", "capitalize", "casefold"))
"""Methods of a text that give another form of it."""
GETS = frozenset(("get", "getint", "getfloat", "getboolean"))
"""Methods by which a mapping, or a section of `configparser`, gives what stands under a name."""
_HANDED_ON = frozenset(("DICT_MERGE", "CALL_FUNCTION_EX", "BUILD_MAP_UNPACK_WITH_CALL"))
"""Instructions that give a function all values of a mapping by their names."""
_FILES = re.compile(r"(?i)\.(ya?ml|json5?|toml|ini|cfg|conf)$")
_IN_FORMAT = re.compile(r"\{[^{}]*:[^{}]*\{")
"""A value within the form in which another one is written: `f"{loss:.{digits}f}"`."""


def answer(given: Any) -> Any:
    """What an answer is as a setting: a list where it is written as one (`[64, 64]`); None for what it is not."""
    if given is None or is_description(given):
        return None
    if isinstance(given, str) and given[:1] in {"[", "("}:
        try:
            return ast.literal_eval(given)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return given
    return given


def of_key(of: Any, key: str, default: Any = None, *_: Any, fallback: Any = None) -> Any:
    """What settings of unknown content give under a name, with what the program takes where they do not have it."""
    return with_default(of[key], default if fallback is None else fallback)


def is_file(path: object) -> bool:
    """Whether a path is that of a file of settings."""
    return isinstance(path, str) and _FILES.search(Path(path).name) is not None


def is_in_format(frame: FrameType) -> bool:
    """Whether the line that runs writes a value in a form that another one says."""
    return _IN_FORMAT.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno)) is not None


def taken(frame: FrameType) -> dict[str, int | None] | None:
    """What a function takes of a mapping that is handed on to it (`Net(**config)`), each with what it takes where it is
    not given; None where nobody knows.

    Of what a function of the program's own does without, only whole numbers are taken: those may be sizes. Paddle's
    functions have what they do without as their signatures say.
    """
    code = frame.f_code
    if not call_stack.is_cell(code.co_filename) or dis.opname[code.co_code[frame.f_lasti]] not in _HANDED_ON:
        return None
    called = [one for one in running(frame, frame.f_lineno) if isinstance(one, ast.Call)]
    for call in (one for one in called if any(word.arg is None for word in one.keywords)):
        found = value_of(call.func, frame)
        module = str(getattr(found, "__module__", ""))
        is_own = callable(found) and call_stack.is_own(found)
        if not is_own and module.partition(".")[0] != "paddle":
            continue
        given = {word.arg for word in call.keywords if word.arg is not None}
        return dict(_parameters(found, len(call.args), given, is_own=is_own))
    return None


def _parameters(function: Any, count: int, given: set[str], *, is_own: bool) -> Iterator[tuple[str, int | None]]:
    for number, one in enumerate(inspect.signature(function).parameters.values()):
        if number < count or one.name in given or one.kind not in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY}:
            continue
        if one.default is one.empty:
            yield one.name, None
        elif is_own and type(one.default) is int and one.default > 0:
            yield one.name, one.default


def running(frame: FrameType, line: int) -> list[ast.AST]:
    """The nodes of the innermost statement at a line of a frame's file."""
    nodes = nodes_in("".join(linecache.getlines(frame.f_code.co_filename)))
    here = [one for one in nodes if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or line)]
    found = min(here, key=lambda one: (one.end_lineno or line) - one.lineno, default=None)
    return [] if found is None else list(ast.walk(found))


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """What an expression of names, attributes and items is in a frame; None where it is another one, or fails."""
    if not all(isinstance(one, _PLAIN) or (isinstance(one, ast.Call) and _looks_up(one)) for one in ast.walk(node)):
        return None
    with contextlib.suppress(Exception):  # it was worked out a moment ago; what has changed since tells nothing
        return eval(compile(ast.Expression(node), "<setting>", "eval"), frame.f_globals, frame.f_locals)
    return None


def _looks_up(call: ast.Call) -> bool:
    """Whether a call only looks something up by its name: `globals()`, `getattr(models, name)`."""
    return isinstance(call.func, ast.Name) and call.func.id in {"globals", "locals", "vars", "getattr"}


_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
