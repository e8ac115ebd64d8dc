"""Functions that are called with other arguments than they have, and arguments of a command line that no parser knows,
whatever the data is."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import traceback
from argparse import Namespace
from functools import partial
from types import FrameType
from typing import Any

import paddle
from paddle.base.framework import EagerParamBase

from .. import call_stack
from ..patches.absent_modules import AbsentModules
from ..session import current
from ..undecided.absent_data import AbsentData
from . import syntax
from .certain.guards import is_of_guards

_MISCALLED = re.compile(r"^[\w.<>]+\(\) (missing \d+ required|got an unexpected keyword)")
"""What Python says of a call with an argument too few, or with one that there is not."""
_TOO_MANY = re.compile(
    r"^[\w.<>]+\(\) (takes (from \d+ to )?\d+ positional arguments? but \d+ (was|were) given|"
    r"got multiple values for (keyword )?argument)"
)
"""Of one too many, or of one that is given twice, which may be an item of data (`model(*batch)`)."""
_CALLED = re.compile(r"^[\w.]+")


def is_miscalled(problem: BaseException) -> bool:
    """Whether a function is called with other arguments than it has."""
    if not isinstance(problem, TypeError):
        return False
    said = str(problem)
    if _MISCALLED.search(said) is not None:
        return True
    return _TOO_MANY.search(said) is not None and not any(map(_is_starred, _frames(problem)))


def is_handed_on(problem: BaseException) -> bool:
    """Whether `fit` hands a network more or fewer things of a batch than it takes."""
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__))
    return is_miscalled(problem) and any(file.endswith("hapi/model.py") for file in files)


def is_of_program(problem: BaseException) -> bool:
    """Whether it is a function of the program's own that is called so, by its name in the code that calls it."""
    if not is_miscalled(problem) or (found := _CALLED.match(str(problem))) is None:
        return False
    first, *rest = found[0].split(".")
    for frame, _ in _frames(problem):
        held = frame.f_globals.get(first)
        for name in rest:
            held = vars(held).get(name) if isinstance(held, type) else None
        if held is not None and hasattr(held, "__module__") and call_stack.is_own(held):
            return True
    return False


_MADE_AT_RUN_TIME = re.compile(
    r"\b(setattr|vars)\(|__dict__|\bnamespace=|\b(Namespace|set_defaults)\(\s*\*\*|"
    r"\badd_argument\(\s*(?!['\"][\w-]+['\"]\s*[,)])"
)
"""Code that may give the arguments of a command line names which stand nowhere."""


def is_undeclared(problem: BaseException) -> bool:
    """Whether the arguments of a command line are asked for one that the program gives them nowhere
    (`args.widht`)."""
    session = current()
    if not isinstance(problem, AttributeError) or type(problem.obj) is not Namespace or session is None:
        return False
    code, name = session.of(AbsentData).code, re.escape(str(problem.name)).replace("_", "[_-]")
    is_given = re.search(rf"['\"]-*{name}['\"]|\.{name}\s*=(?!=)|\b(Namespace|set_defaults)\([^)]*\b{name}\s*=", code)
    is_handed_out = session.of(AbsentModules).has_arguments
    return not (is_given or is_handed_out or _MADE_AT_RUN_TIME.search(code))


_OF_NUMBERS = tuple(
    call_stack.PADDLE + part for part in ("nn/", "optimizer/", "tensor/", "metric/", "vision/transforms")
)
"""Parts of Paddle that look for no file and no device."""


def is_of_constants(problem: BaseException) -> bool:
    """Whether Paddle's own code refuses a call that the program gives nothing but constants, in the call itself or
    under a name (`HEADS = 3`), or one of its constants by that word (`reduction="avg"`)."""
    *_, (innermost, _) = traceback.walk_tb(problem.__traceback__)
    frames, is_of_numbers = _frames(problem), innermost.f_code.co_filename.startswith(_OF_NUMBERS)
    if not isinstance(problem, (TypeError, ValueError, AssertionError)) or not frames or not is_of_numbers:
        return False
    frame, line = frames[-1]
    own = syntax.nodes("".join(linecache.getlines(frame.f_code.co_filename)))
    calls = (node for node in own if isinstance(node, ast.Call))
    here = [one for one in calls if one.lineno <= line <= (one.end_lineno or one.lineno)]
    given = [part for one in here for part in (*one.args, *(word.value for word in one.keywords))]
    parts = [node for one in given for node in ast.walk(one) if isinstance(node, ast.expr)]
    is_known = bool(parts) and all(isinstance(one, _CONSTANT) for one in parts)
    is_said = (is_known and len(here) == 1) or _stands_in_code(problem, frame) or _is_quoted(problem, innermost)
    return is_said or is_of_guards(problem, partial(_is_among, _constants(innermost)))


_CONSTANT = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp)


def _stands_in_code(problem: BaseException, caller: FrameType) -> bool:
    """Whether all that the function of Paddle's was called with which a frame of the program's calls is a constant of
    the program's code, or what the function takes where nothing is given."""
    session, frames = current(), [frame for frame, _ in traceback.walk_tb(problem.__traceback__)]
    called = frames[frames.index(caller) + 1 :]
    if session is None or not called:
        return False
    names, starred, keywords, values = inspect.getargvalues(called[0])
    asked = [name for name in (*names, starred, keywords) if name is not None and name in values]
    constants = _constants(called[0])
    return all(_is_among(constants, values[name]) for name in asked)


def _constants(frame: FrameType) -> set[tuple[type, Any]]:
    """The constants of the program's code, and what the function of a frame takes where nothing is given."""
    session = current()
    own = syntax.nodes(session.of(AbsentData).code if session is not None else "")
    found = {_kind(node.value) for node in own if isinstance(node, ast.Constant)}
    return found | {_kind(value) for value in _defaults(frame)}


def _is_quoted(problem: BaseException, refusing: FrameType) -> bool:
    """Whether Paddle names a word that its function was given, and that is a constant of the program's code."""
    session, said = current(), set(_WORD.findall(str(problem)))
    given = {value for value in refusing.f_locals.values() if isinstance(value, str) and value in said}
    own = syntax.nodes(session.of(AbsentData).code if session is not None else "")
    given &= {node.value for node in own if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return bool(given - {row.default for row in _parameters(refusing) if isinstance(row.default, str)})


_WORD = re.compile(r"\w{2,}")


def _parameters(frame: FrameType) -> tuple[inspect.Parameter, ...]:
    found = frame.f_globals.get(frame.f_code.co_name)
    return tuple(inspect.signature(found).parameters.values()) if inspect.isfunction(found) else ()


def _is_among(constants: set[tuple[type, Any]], value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_among(constants, one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_among(constants, one) for one in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        value = -value
    is_given = value is None or isinstance(value, (bool, paddle.nn.Layer, EagerParamBase))
    return is_given or (type(value) in _PLAIN and _kind(value) in constants)


_PLAIN = (int, float, str)


def _kind(value: Any) -> tuple[type, Any]:
    """With its type, since 1, 1.0 and True are equal."""
    return type(value), value


def _defaults(frame: FrameType) -> tuple[Any, ...]:
    """What the function of a frame takes where nothing is given; none where it is not found by its name."""
    owner = frame.f_locals.get("self")
    found = getattr(type(owner), frame.f_code.co_name, None) or frame.f_globals.get(frame.f_code.co_name)
    defaults = (*(getattr(found, "__defaults__", None) or ()), *(getattr(found, "__kwdefaults__", None) or {}).values())
    return tuple(one for one in defaults if type(one) in _PLAIN)


def _frames(problem: BaseException) -> list[tuple[FrameType, int]]:
    """The frames of the program's own that an error went through, with their lines."""
    found, step = [], problem.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if call_stack.is_beside(file) and not file.startswith(call_stack.TRACER):
            found.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return found


def _is_starred(at: tuple[FrameType, int]) -> bool:
    """Whether a call that runs is given the items of something."""
    frame, line = at
    own = syntax.nodes("".join(linecache.getlines(frame.f_code.co_filename)))
    calls = (node for node in own if isinstance(node, ast.Call))
    here = (one for one in calls if one.lineno <= line <= (one.end_lineno or one.lineno))
    return any(isinstance(part, ast.Starred) for one in here for part in one.args)
