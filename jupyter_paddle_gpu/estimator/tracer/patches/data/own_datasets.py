"""Data sets of the program's own whose files are not on this machine: they are made all the same, and hold nothing.

A program makes its data sets deep inside of functions and libraries: were the error to end all of these, nothing of its
training would be seen. A method of a data set that fails for want of its files therefore ends there alone. Its data is
of unknown content then, as if a cell had failed (`notebook/absorbing`), and the batch of its loader is asked for; a
trainer's data set whose format is known (`trainers.records`) is filled with samples.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

import paddle

from ... import call_stack
from ...session import Session, current
from ...undecided import own_changes, variants
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.needs import Need, NeededError
from ...undecided.running_code import tensors_kept
from ...undecided.unseen_data import UnseenData
from ..environment import DownloadNeeded
from ..patch import Patch
from ..trainers.records import filled
from ..trainers.text_images import wanted_characters

_MISSING = (FileNotFoundError, NotADirectoryError, DownloadNeeded, NeededError)
_CATCHES = frozenset(("Exception", "BaseException", "OSError", "IOError", "EnvironmentError"))
_OF_PADDLE = re.compile(r"\(at [^()]*\)|^.*Error Message Summary:", re.DOTALL)
_FILE = re.compile(r"[\w./-]+\.[A-Za-z]\w{1,4}")
_LONGEST = 400
"""Characters of a path at most."""


GIVEN = "_paddle_gpu_given"
"""The attribute of a data set that holds its constructor and what that was given."""


def anew(data_set: Any) -> Any | None:
    """A data set of the program's own, made once more; None where nobody knows how it was made."""
    kind: Any = next((one for one in type(data_set).__mro__ if not issubclass(one, UnseenData)), None)
    given = vars(data_set).get(GIVEN)
    if kind is None or given is None:
        return None
    made = kind.__new__(kind)
    method, args, kwargs = given
    method(made, *args, **kwargs)
    return made


_BUILDS = frozenset(("BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"))


def gives_one(data_set: Any) -> bool:
    """Whether a sample of a data set of the program's own is one thing, and so a batch no list: `return self.rows[i]`,
    not `return self.rows[i], self.labels[i]`."""
    while type(data_set) is UnseenData:
        data_set = data_set.data
    method = next((vars(one)["__getitem__"] for one in type(data_set).__mro__[:-1]
                   if call_stack.is_own(one) and "__getitem__" in vars(one)), None)  # fmt: skip
    code = getattr(inspect.unwrap(method) if method else None, "__code__", None)
    if code is None:
        return False
    names = [one.opname for one in dis.get_instructions(code)]
    return not any(one in _BUILDS and then == "RETURN_VALUE" for one, then in pairwise(names))


def is_absence(problem: BaseException) -> bool:
    """Whether a file, a download or a program is missing: by the error's type, by what an estimate refused below it, or
    by a path that is not there in its text or in the hands of the code that failed. A file by which the model is made
    is no data."""
    reason: BaseException | None = problem
    seen: list[BaseException] = []
    if wanted_characters(problem):
        return False
    while reason is not None and reason not in seen:
        if isinstance(reason, _MISSING) or getattr(reason, "refused", None) is not None:
            return True
        seen.append(reason)
        reason = reason.__cause__ or reason.__context__
    if not isinstance(problem, (Exception, SystemExit)):
        return False
    held = list(_held(problem.__traceback__))
    return names_absent_path(problem) is not None or any(map(_is_absent_path, held)) or _lacks_file(problem, held)


def _lacks_file(problem: BaseException, held: list[Any]) -> bool:
    """Whether an error names a folder that is here, in which the code that failed looked for a file in vain
    (`PaddleDetection`: “Dataset … is not valid”, without its list of pictures)."""
    named = {word.strip("`'\"()[]{},;:!?").rstrip(".") for word in str(problem).split()[:64]}
    folders = [Path(word) for word in named if os.sep in word and len(word) < _LONGEST and Path(word).is_dir()]
    files = {one for one in held if isinstance(one, str) and len(one) < _LONGEST and _FILE.fullmatch(one)}
    return any(not (folder / file).exists() for folder in folders for file in files)


def names_absent_path(problem: BaseException) -> str | None:
    """The path in an error's text that is not on this machine; None where there is none. Files of Paddle's sources,
    which its own errors name, are none, nor are words that stand in the sentence of a library
    (“KaimingNormal/KaimingUniform”)."""
    said, sentences = _OF_PADDLE.sub(" ", str(problem)), _sentences(problem.__traceback__)
    words = (word.strip("`'\"()[]{},;:!?").rstrip(".,;:!?") for word in said.split()[:64])
    return next((word for word in words if _is_absent_path(word) and word not in sentences), None)


def _sentences(step: TracebackType | None) -> str:
    """Texts that stand in the function of a library that raised an error."""
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    code = None if step is None else step.tb_frame.f_code
    if code is None or not code.co_filename.startswith((call_stack.PADDLE, sys.prefix, sys.base_prefix)):
        return ""
    return "\n".join(one for one in code.co_consts if isinstance(one, str))


def _is_absent_path(value: Any) -> bool:
    if not isinstance(value, str) or os.sep not in value or not 1 < len(value) < _LONGEST:
        return False
    if "://" in value or "\n" in value or "\0" in value:
        return False
    return not os.path.exists(value)  # noqa: PTH110 - a string, perhaps no path


def _held(step: TracebackType | None) -> Iterator[Any]:
    """Strings that the frames of an error held, and what objects there were given."""
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith((call_stack.TRACER, call_stack.PADDLE)):
            for value in list(step.tb_frame.f_locals.values()):
                yield value
                if isinstance(value, paddle.io.Dataset):
                    yield from list(vars(value).values())
        step = step.tb_next


def _made(session: Session, original: Callable[..., Any], kind: type, **options: Any) -> None:
    """A class of data sets is defined: its methods are watched."""
    original(kind, **options)
    for name, value in list(vars(kind).items()):
        is_method = inspect.isfunction(value) and not inspect.isgeneratorfunction(inspect.unwrap(value))
        if is_method and (name in {"__init__", "__len__"} or not name.startswith("__")):
            setattr(kind, name, _watched(value))


def _watched(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = current()
        running = None if session is None else session.of(Running).data_sets
        if running is None or id(self) in running:  # who called the outer method sees what becomes of it
            return method(self, *args, **kwargs)
        running.add(id(self))
        if method.__name__ == "__init__" and variants.present() is None:
            vars(self)[GIVEN] = method, args, kwargs
        try:
            return _known(method, method(self, *args, **kwargs))
        except BaseException as problem:
            if isinstance(self, UnseenData) or not is_absence(problem) or _is_caught(sys._getframe(1), problem):
                raise
            assert session is not None
            _without_files(session, self, problem)
            return {"__init__": None, "__len__": len(self)}.get(method.__name__, Unseen())
        finally:
            running.discard(id(self))

    # `functools.wraps` is not enough for programs that read a constructor's arguments with `getfullargspec`.
    watched.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return watched


def _known(method: Callable[..., Any], result: Any) -> Any:
    """What a method gives; a length that nobody knows is data that is not here."""
    if method.__name__ == "__len__" and isinstance(result, Unseen):
        raise NeededError(Need("", "value", "length_unseen", None, None, is_of_step=False))
    return result


class Running:
    """The data sets, by number, of which a method runs now."""

    def __init__(self) -> None:
        self.data_sets: set[int] = set()


def _without_files(session: Session, data_set: Any, problem: BaseException) -> None:
    """The data set goes on without its files: with samples where its format is known, else with nothing."""
    name = type(data_set).__name__
    if filled(data_set):
        own_changes.take_given(data_set, problem)
        session.note("dataset_made_up", name=name)
        return
    path = names_absent_path(problem) or next(filter(_is_absent_path, _held(problem.__traceback__)), None)
    cell, line = call_stack.place()
    session.note("data_absent", cell=cell + 1, line=line, **({"data_set": name} if path is None else {"wanted": path}))
    kind: Any = type(data_set)
    code = getattr(inspect.unwrap(kind.__init__), "__code__", None)
    lost = tensors_kept(code) if isinstance(code, CodeType) else ()
    session.of(AbsentData).unmade.update(dict.fromkeys(name for name in lost if name not in vars(data_set)))
    own_changes.leave_open(data_set, own_changes.changed_behind(data_set, problem))
    own_changes.take_given(data_set, problem)
    data_set.__class__ = _unseen(kind)
    vars(data_set)["data"] = Unseen()


@functools.cache
def _unseen(kind: Any) -> type:
    """The class of a data set as one of unknown content: what its own methods name as an attribute is not known."""
    names = {name for base in kind.__mro__ for value in vars(base).values() for name in _names(value)}

    def missing(self: Any, name: str) -> Any:
        if name in names and not name.startswith("__"):
            session = current()
            answer = None if session is None else session.of(AbsentData).answers.get(name)
            return answer if isinstance(answer, (int, float)) else Unseen(name=name)
        message = f"{kind.__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def nothing(self: Any) -> Any:
        raise NeededError(Need("", "batch", "batch_unseen", None, None, is_of_step=False))

    own: dict[str, Any] = {"__getattr__": missing}
    if hasattr(kind, "__iter__"):
        own["__iter__"] = nothing
    return type(kind.__name__, (UnseenData, kind), own)


def _names(value: Any) -> Iterator[str]:
    code = getattr(inspect.unwrap(value), "__code__", None) if inspect.isfunction(value) else None
    if isinstance(code, CodeType):
        yield from code.co_names


def _is_caught(frame: FrameType | None, problem: BaseException) -> bool:
    """Whether the code that calls the data set has its own way to live without its files."""
    while frame is not None and frame.f_code.co_filename.startswith(call_stack.TRACER):
        frame = frame.f_back
    if frame is None:
        return False
    kinds = {kind.__name__ for kind in type(problem).__mro__} | _CATCHES
    return any(start <= frame.f_lineno <= end and kinds & caught for start, end, caught in _tries(frame))


def _tries(frame: FrameType) -> Iterator[tuple[int, int, frozenset[str]]]:
    """First and last line of the bodies of `try` in a frame's file, and the types that are caught there."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            types = [one.type for one in node.handlers]
            named = {getattr(part, "id", getattr(part, "attr", "")) for one in types if one for part in ast.walk(one)}
            caught = frozenset(named | ({"BaseException"} if None in types else set()))
            yield node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, caught


def patches() -> Iterator[Patch]:
    """Where classes of data sets are defined."""
    yield Patch(paddle.io.Dataset, "__init_subclass__", _made)
