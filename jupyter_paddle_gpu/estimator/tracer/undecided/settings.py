"""Settings of a file that is not here, as a program uses them: texts by which it chooses among things that it knows,
lists that make layers, and many values at once (`Net(**config["model"])`).

What is answered of them is remembered by the keys that lead to it, so that a job can have a file that says it.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import json
import linecache
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from .. import call_stack
from ..session import current
from .arithmetic import COMPUTED
from .asking import is_setting, settings_of
from .descriptions import is_description
from .needs import default_of, optional, with_default
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
    return optional(with_default(of[key], default if fallback is None else fallback))


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
    return _at("".join(linecache.getlines(frame.f_code.co_filename)), line)


@lru_cache(maxsize=1024)  # a loop of thousands of rounds whose statements are passed by asks each time
def _at(source: str, line: int) -> list[ast.AST]:
    nodes = nodes_in(source)
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


Keys = tuple[str | int, ...]
_ROOT = "_file"
"""Of settings of unknown content: the path of the file that holds them."""
_FORMATS = {".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml"}
"""By the ending of a name; INI is what `configparser` reads, whatever it is called."""


@dataclass
class AbsentFile:
    """What a program takes of a file of settings that is not here.

    Attributes:
        kind: json, yaml, toml or ini; empty for a form that nobody knows.
        values: what is answered, by the keys to it.
        open: what is not, by the keys to it: the name that it would be answered by, and what stands for it.
        is_lost: whether keys to something that is answered are not known.
    """

    kind: str
    values: dict[Keys, Any] = field(default_factory=dict)
    open: dict[Keys, tuple[str, Any]] = field(default_factory=dict)
    is_lost: bool = False


@dataclass
class AbsentFiles:
    """The files of settings that a program opened and that are not here, by path; the last one is last."""

    files: dict[str, AbsentFile] = field(default_factory=dict)

    def as_data(self) -> list[dict[str, Any]]:
        """Those of which answers say something, each with its fields and the names of what is not answered."""
        return [found for path, one in self.files.items() if (found := _told(path, one)) is not None]


def opened(path: str) -> None:
    """A program opened a file of settings that is not here."""
    if (session := current()) is not None:
        files = session.of(AbsentFiles).files
        files[path] = files.pop(path) if path in files else AbsentFile(_FORMATS.get(Path(path).suffix.lower(), ""))


def mark(value: Any, *, is_one: bool = True, path: str = "", kind: str = "") -> Any:
    """Mark a value of unknown content as what a file of settings holds: of the one that was opened last, else of that
    at a path."""
    if not is_one:
        value.__dict__["_is_settings"] = False
        return value
    session = current()
    files = session.of(AbsentFiles).files if session is not None else {}
    of = os.path.realpath(path) if path else next(reversed(files), "")
    if kind and of in files:
        files[of].kind = kind
    value.__dict__[_ROOT] = of
    return settings_of(value)


def take(part: Any, answer: Any, name_of: Callable[[Any], str]) -> None:
    """Remember what a program takes of a file of settings.

    Args:
        answer: what was answered for it; None where nothing was.
    """
    session = current()
    if session is None or not is_setting(part) or part.__dict__["_label"] == COMPUTED:
        return
    keys, root = [], part
    while root.__dict__["_of"] is not None:
        keys.append(_key_of(root))
        root = root.__dict__["_of"]
    known = session.of(AbsentFiles).files
    file = known.get(root.__dict__.get(_ROOT) or next(reversed(known), ""))
    if file is None:
        return
    whole = tuple(one for one in reversed(keys) if one is not None)
    if len(whole) < len(keys):
        file.is_lost = file.is_lost or answer is not None
    elif answer is not None:
        file.values[whole] = answer
    elif part.__dict__["_index"] is not None and whole not in file.values:
        file.open.setdefault(whole, (name_of(part), part))


def look_behind(names: Mapping[str, Any], sources: Iterable[str]) -> None:
    """Remember what cells that nothing runs here take of files of settings in any case (`open(config["log"])` behind
    the training): a job comes to them."""
    for item in (one for source in sources for one in _in_any_case(nodes_in(source))):
        keys, holder = list[Any](), item
        while isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant):
            keys.append(holder.slice.value)
            holder = holder.value
        value: Any = names.get(holder.id) if isinstance(holder, ast.Name) else None
        if not keys or not hasattr(type(value), "is_not_known") or not _is_of_file(value):
            continue
        while keys and hasattr(type(value), "is_not_known"):
            value = value[keys.pop()]


def _in_any_case(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What is read of items in a cell's own statements, under no condition and in no function."""
    inner: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, _CONDITIONAL) or node in inner:
            inner.update(ast.iter_child_nodes(node))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield node


_CONDITIONAL: tuple[type[ast.AST], ...]
_CONDITIONAL = (ast.If, ast.IfExp, ast.Try, ast.While, ast.For, ast.BoolOp, ast.FunctionDef, ast.Lambda, ast.ClassDef)
_CONDITIONAL += (ast.AsyncFunctionDef, ast.comprehension, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def _is_of_file(value: Any) -> bool:
    while value.__dict__["_of"] is not None:
        value = value.__dict__["_of"]
    return bool(value.__dict__.get("_is_settings"))


def _key_of(part: Any) -> str | int | None:
    """The key by which a part is taken of what holds it; None where it is none of a file's."""
    label, index = part.__dict__["_label"], part.__dict__["_index"]
    if isinstance(index, int):
        return index if index >= 0 else None
    return label if isinstance(label, str) and (label.isidentifier() or label.isdecimal()) else None


def _told(path: str, file: AbsentFile) -> dict[str, Any] | None:
    # What is taken as a whole and in parts is a mapping; what the program does without may be left out of it.
    of_parts = {keys[:length] for keys in (*file.values, *file.open) for length in range(1, len(keys))}
    lacks = [
        name for keys, (name, part) in file.open.items()
        if keys not in of_parts and keys not in file.values
        and default_of(part) is None and not part.__dict__.get("_is_optional")
    ]  # fmt: skip
    if not file.values and lacks:
        return None
    fields = [{"keys": list(keys), "value": json.dumps(value)} for keys, value in file.values.items()]
    fields += [{"keys": list(keys), "value": ""} for keys in of_parts if keys not in file.values]
    kind = file.kind if not file.is_lost and _can_hold(file, of_parts) else ""
    return {"path": path, "kind": kind, "fields": fields, "lacks": sorted(set(lacks))}


def _can_hold(file: AbsentFile, of_parts: set[Keys]) -> bool:
    """Whether a file of this kind can say what is answered."""
    taken = {*file.values, *of_parts}
    entries = [(keys, keys[-1]) for keys in taken if isinstance(keys[-1], int)]
    has_gaps = any(number and (*keys[:-1], number - 1) not in taken for keys, number in entries)
    if has_gaps or not of_parts.isdisjoint(file.values):
        return False
    if file.kind != "ini":
        return True
    is_flat = all(len(keys) == 2 for keys in file.values) and all(len(keys) == 1 for keys in of_parts)
    return is_flat and not any(sign in str(value) for value in file.values.values() for sign in "%\n")
