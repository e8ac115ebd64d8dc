"""Environment variables that a library of settings misses for a program, by the name that it looks for: a setting's own
with its prefix (pydantic), one that its error tells (environs, decouple, OmegaConf's `${oc.env:...}`, a helper of the
program's own), a key of a copy of the environment (`{**dotenv_values(), **os.environ}["BATCH"]`)."""

from __future__ import annotations

import ast
import contextlib
import enum
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from traceback import walk_tb
from types import FrameType
from typing import Any, Literal, TypeGuard, get_args, get_origin

from ... import call_stack
from ...patches.processes.variables import AbsentVariables
from ..questions.numbers import by_name
from ..syntax import nodes
from .answers import variable
from .endings import Lack
from .looked_for import source_of

WHY = "environment_missing"
_REQUIRED = frozenset(("missing", "value_error.missing"))
"""What pydantic calls a field that was not given, in its second and its first version."""
_SPEAKS = re.compile(r"(?i)environ|\benv\b|\bvariable")
_NUMBERS = frozenset(("int", "float"))
_MOST_DEEP = 4


def missed(problem: BaseException, looked_up: Collection[str], said: str = "") -> list[Lack]:
    """The variables for want of which a program ended.

    Args:
        looked_up: those that anything has looked for.
        said: what the program said last, where it left by itself.
    """
    found = [*_fields(problem), *_keys(problem), *_parameters(problem), *_nothing(problem)] or list(
        _told(problem, looked_up, said)
    )
    return list({one.name: one for one in reversed(found)}.values())[::-1]


def chain(problem: BaseException) -> Iterator[BaseException]:
    """An error and those that it came of."""
    seen: list[BaseException] = []
    one: BaseException | None = problem
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__ or one.__context__


def _told(problem: BaseException, looked_up: Collection[str], said: str) -> Iterator[Lack]:
    """Those that an error names, and that were looked for and are not set. A key that a mapping lacks says nothing of
    which mapping that is, and Paddle names its own."""
    texts = [str(one) for one in chain(problem) if not _is_bare(one) and not _is_of_paddle(one)]
    texts += [said] if isinstance(problem, SystemExit) else []
    for text in texts:
        words = set(re.findall(r"\w+", text))
        for name in sorted(words.intersection(looked_up) - set(os.environ)):
            if len(name) > 1 and (name.isupper() or _SPEAKS.search(text)):
                yield Lack(WHY, name)


def _is_of_paddle(problem: BaseException) -> bool:
    frames = [frame for frame, _ in walk_tb(problem.__traceback__)]
    return bool(frames) and frames[-1].f_code.co_filename.startswith(call_stack.PADDLE)


def _is_bare(problem: BaseException) -> bool:
    return isinstance(problem, KeyError) and str(problem.args[:1]).count(" ") == 0


def _keys(problem: BaseException) -> Iterator[Lack]:
    """The key that a copy of the environment lacks."""
    for frame, line in list(walk_tb(problem.__traceback__))[-1:] if isinstance(problem, KeyError) else ():
        for node in _at(frame, line):
            match node:
                case ast.Subscript(value=of, slice=key) if _is_of_environment(_value(of, frame)):
                    name = _value(key, frame)
                    if isinstance(name, str) and problem.args[:1] == (name,):
                        yield Lack(WHY, name)


_LACKS = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)")


def _parameters(problem: BaseException) -> Iterator[Lack]:
    """What a function was to be given of the environment: `Config(**dotenv_values(".env"))`."""
    lacks = _LACKS.search(str(problem)) if isinstance(problem, TypeError) else None
    if lacks is not None and _is_handed_on(problem):
        yield from (Lack(WHY, name) for name in re.findall(r"'(\w+)'", lacks[1]))


def _is_handed_on(problem: BaseException) -> bool:
    """Whether a statement on the way to an error hands the environment on, name by name."""
    steps = walk_tb(problem.__traceback__)
    handed = ((node.value, frame) for frame, line in steps for node in _at(frame, line) if _is_mapping(node))
    return any(_is_of_environment(_value(value, frame)) or _reads_file(value) for value, frame in handed)


def _is_mapping(node: ast.AST) -> TypeGuard[ast.keyword]:
    return isinstance(node, ast.keyword) and node.arg is None


def _reads_file(node: ast.expr) -> bool:
    """Whether it is what python-dotenv reads of a file, which is asked for where that is not there."""
    match node:
        case ast.Call(func=ast.Name(id="dotenv_values") | ast.Attribute(attr="dotenv_values"), args=[*given]):
            path = given[0].value if given and isinstance(given[0], ast.Constant) else ".env"
            return not os.path.exists(str(path))  # noqa: PTH110 - text of the program's
    return False


def _nothing(problem: BaseException) -> Iterator[Lack]:
    """The variables that gave None, at which whatever takes it fails, also in a function that is called with it:
    `batch = os.getenv("BATCH")`, `int(config.get("BATCH"))`."""
    if not (isinstance(problem, (TypeError, AttributeError, ValueError)) and "NoneType" in str(problem)):
        return
    for frame, line in walk_tb(problem.__traceback__):
        bound = _bound(source_of(frame.f_code.co_filename), frame)
        for node in _at(frame, line):
            match node:
                case ast.Name(id=name) if name in bound and _value(node, frame, default=0) is None:
                    yield Lack(WHY, bound[name])
                case ast.Attribute(attr=name) if name in bound and _value(node, frame, default=0) is None:
                    yield Lack(WHY, bound[name])
                case ast.Call() if (wanted := _got(node, frame)) and wanted not in os.environ:
                    yield Lack(WHY, wanted)


def _bound(source: str, frame: FrameType) -> dict[str, str]:
    """The variables that are not set by the names that code binds to what it reads of them."""
    found = {}
    for node in nodes(source):
        match node:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=ast.Call() as value):
                if (read := variable(value) or _got(value, frame)) and read not in os.environ:
                    found[name] = read
    return found


def _got(call: ast.Call, frame: FrameType) -> str:
    """The variable that is asked of a copy of the environment: `config.get("BATCH")`."""
    match call:
        case ast.Call(func=ast.Attribute(value=of, attr="get"), args=[ast.Constant(value=str(name))]):
            return name if _is_of_environment(_value(of, frame)) else ""
    return ""


def _is_of_environment(value: Any) -> bool:
    """Whether a mapping holds the environment, or what an absent file would add to it."""
    if isinstance(value, AbsentVariables):
        return True
    is_copy = isinstance(value, Mapping) and not hasattr(type(value), "encodekey") and len(os.environ) > 0
    return is_copy and all(value.get(name) == text for name, text in os.environ.items())


def _at(frame: FrameType, line: int) -> list[ast.AST]:
    """The nodes of the innermost statement at a line of a frame's file."""
    whole = nodes(source_of(frame.f_code.co_filename))
    here = [one for one in whole if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or line)]
    found = min(here, key=lambda one: (one.end_lineno or line) - one.lineno, default=None)
    return [] if found is None else list(ast.walk(found))


def _value(node: ast.expr, frame: FrameType, default: Any = None) -> Any:
    if all(isinstance(one, _PLAIN) for one in ast.walk(node)):
        with contextlib.suppress(Exception):  # what a program's own objects answer
            return eval(compile(ast.Expression(node), "<variable>", "eval"), frame.f_globals, frame.f_locals)
    return default


_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)


def _fields(problem: BaseException) -> Iterator[Lack]:
    """The fields of settings of pydantic that it was to read from the environment: those of `BaseSettings`, and those
    of a model that is given a copy of the environment (`Config(**os.environ)`)."""
    for error, cause in product(_errors(problem), (problem,)):
        place = [str(part) for part in error.get("loc", ())]
        if error.get("type") not in _REQUIRED or not place:
            continue
        settings = next((one for frame, _ in walk_tb(cause.__traceback__) if (one := _settings(frame))), None)
        if settings is not None:
            yield from _of_settings(settings, place)
        elif len(place) == 1 and (_is_of_environment(error.get("input")) or _is_handed_on(cause)):
            yield Lack(WHY, place[0])


def _errors(problem: BaseException) -> list[dict[str, Any]]:
    """What pydantic says of each field that is wrong."""
    if type(problem).__name__ != "ValidationError" or not callable(getattr(problem, "errors", None)):
        return []
    with contextlib.suppress(Exception):  # another library's error of that name
        return [one for one in problem.errors() if isinstance(one, dict)]  # type: ignore[attr-defined]
    return []


def _settings(frame: FrameType) -> type | None:
    """The class of settings that is made in a frame."""
    if frame.f_code.co_name != "__init__" or not frame.f_code.co_varnames:
        return None
    made = type(frame.f_locals.get(frame.f_code.co_varnames[0]))
    return made if any(one.__name__ == "BaseSettings" for one in made.__mro__) else None


def _of_settings(settings: Any, place: list[str]) -> Iterator[Lack]:
    first = getattr(settings, "__fields__", {}) if not hasattr(settings, "model_fields") else {}
    for field in first.values():  # of pydantic's first version
        names = sorted(field.field_info.extra.get("env_names") or ())
        if field.alias == place[0] and names:
            yield Lack(WHY, _cased(names[0], settings.__config__), *_kind(field.outer_type_))
    config = getattr(settings, "model_config", {})
    for name, field in getattr(settings, "model_fields", {}).items():
        aliases = _aliases(field)
        if place[0] in {name, *aliases}:
            prefix = str(config.get("env_prefix") or "")
            yield from _parts(aliases[0] if aliases else prefix + name, field.annotation, place[1:], config, 0)


def _aliases(field: Any) -> list[str]:
    """By what a field is given in place of its name."""
    alias = field.validation_alias
    choices = getattr(alias, "choices", [alias])
    paths = (getattr(one, "path", [one])[0] for one in choices if one is not None)
    return [one for one in paths if isinstance(one, str)]


def _parts(name: str, kind: Any, place: list[str], config: Any, depth: int) -> Iterator[Lack]:
    """The variables of a field: of one that is a model itself, those of what it requires, where the settings say what
    stands between the names (`MODEL__WIDTH`)."""
    inner, between = getattr(kind, "model_fields", None), config.get("env_nested_delimiter")
    if not inner or not between or depth > _MOST_DEEP:
        number, choices = _kind(kind)
        yield Lack(WHY, _cased(name, config), number, choices or ((json.dumps(_example(kind, 0)),) if inner else ()))
        return
    for part, field in inner.items():
        if (not place and field.is_required()) or place[:1] == [part]:
            yield from _parts(name + between + part, field.annotation, place[1:], config, depth + 1)


def _example(kind: Any, depth: int) -> Any:
    """What a model requires, as it is written in a variable as a whole, with values by their names."""
    inner = getattr(kind, "model_fields", {}) if depth < _MOST_DEEP else {}
    found: dict[str, Any] = {}
    for name, field in inner.items():
        number, choices = _kind(field.annotation)
        plain = choices[0] if choices else name
        assumed = {"int": by_name(name) or 1, "float": 0.1}.get(number, plain)
        if field.is_required():
            found[name] = (
                _example(field.annotation, depth + 1) if hasattr(field.annotation, "model_fields") else assumed
            )
    return found


def _cased(name: str, config: Any) -> str:
    """A variable as it is written: in capitals where that is the same to the settings."""
    is_exact = config.get("case_sensitive") if isinstance(config, Mapping) else getattr(config, "case_sensitive", False)
    return name if is_exact else name.upper()


def _kind(annotation: Any) -> tuple[str, tuple[str, ...]]:
    """The type of number that a field is, and the values of which it is one."""
    called = getattr(annotation, "__name__", "")
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return "", tuple(str(one.value) for one in annotation)
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    return called if called in _NUMBERS else "", tuple(map(str, choices))
