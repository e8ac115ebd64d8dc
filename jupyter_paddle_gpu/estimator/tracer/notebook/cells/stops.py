"""Which exceptions are the notebook's: the job would end by them, too.

A cell can fail in a trace for three reasons: the notebook is wrong; something it needs is not here; or the trace told
it something that is not so (a number that stands in for one nobody computed, a size that was assumed, a module passed
by). Only what certainly has the first one is called the notebook's. What Paddle itself refused was asked with true
shapes, types and attributes, and numbers play no part in it; an exception of Python's is judged by whether it can hang
on numbers.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
import linecache
import re
import sys
import traceback
from argparse import ArgumentError
from subprocess import CalledProcessError
from types import TracebackType
from typing import Any

from ... import call_stack
from ...patches.absent_modules import AbsentModules
from ...patches.data.datasets import Contents
from ...patches.data.loaders import Loaders
from ...patches.data.own_datasets import names_absent_path
from ...session import CUT, SELECTED, SIZES, Session
from ...step.resizing import Resizing
from ...step.steps import StepWatch
from ...undecided.absent_data import AbsentData
from ..beyond.places import is_beyond
from ..certain.closed import is_closed
from ..certain.guards import is_come_to, is_of_names, is_straight
from ..miscalled import is_handed_on, is_miscalled, is_of_constants, is_undeclared
from ..questions import wording
from ..questions.wording import said
from ..removed import is_removed
from ..syntax import parsed
from .absorbing import is_of_types

_BY_TYPE = (TypeError, AttributeError, NameError, ImportError, SyntaxError)
"""What is raised whatever the numbers are."""
_OF_ENVIRONMENT = (OSError, EOFError, MemoryError, RecursionError, SystemExit)
"""What another machine, another folder or another person at the keyboard may spare the job."""
_BY_LIMITS = re.compile(r"can't (start new thread|allocate lock)|ResourceExhausted")
"""What is said of threads and memory that run out: a trace has less of them than a job."""
_BY_DIMENSIONS = re.compile(
    r"too many indices|invalid index to scalar|only integers, slices|object of too small depth|dimensions? mismatch|"
    r"zero-dimensional arrays cannot be concatenated|truth value of an array with more than one element|"
    r"The weight size should be equal to x input channel"
)
"""What numpy, and a layer of Paddle, say of an index, an operand or a condition whose number of dimensions or elements
is wrong, whatever its numbers are."""
_BY_SIZES = re.compile(
    r"out of bounds for array of dimension|operands could not be broadcast together|could not broadcast input array|"
    r"cannot reshape array of size|shapes .* not aligned|matmul: Input operand|axes don't match array|"
    r"only (length-1|size-1|0-dimensional) arrays can be converted|can only convert an array of size 1|"
    r"input arrays? .*(must|dimension)|inhomogeneous shape|is out of bounds for size \d|size not equal to one|"
    r"inconsistent numbers of samples: |Unknown format code|Invalid format specifier|not allowed in .* format"
)
"""What numpy and scikit-learn say of shapes that do not go together, and Python of a type that cannot be written in a
format."""
_BY_RANKS = re.compile(
    r"\b(ndim|ranks?|ax[ie]s|dim(ension)?s?|perm(utation)?|shapes?|\dD|\d-?D tensor|channels?)\b", re.IGNORECASE
)
"""What Paddle's own functions name that refuse a tensor for its shape before any operator sees it."""
_OF_FUNCTIONS = tuple(call_stack.PADDLE + place for place in ("tensor/", "nn/functional/", "nn/layer/", "signal.py"))
"""Where those functions stand."""
_BY_CPU = re.compile(r"not compiled with|for cpu kernel|\(Unavailable\)|kernel .* is not registered")
"""What a Paddle for CPUs says of kernels that it may lack, where numbers that are known are computed."""
_OF_NO_MEMORY = re.compile(r"holds no memory|memory's size is 0\.|Place\(undefined:0\) is not supported")
"""What Paddle says of a tensor without memory, as which the trace has them all: no word on one that has it."""
_BY_CONTENT = re.compile(r"^(`paddle\.load` can not parse the file|invalid load key|pickle data was truncated)")
"""What Paddle and Python say of a file that is here and holds something else."""
_ONLY_ON_GPUS = re.compile(
    r"ops\.legacy' has no attribute '(?P<name>\w+)'|Check data type error for op: (?P<op>\w+), .*expected_dtype: +\(at",
    re.DOTALL,
)
"""What a Paddle for CPUs says of an operator that it has under no name or no kernel of."""
_OF_WORD = "unexpected keyword argument"
"""What Python says of a call with a word that the function does not know."""
_OF_NO_PACKAGE = re.compile(r"^attempted relative import (with no known parent package|beyond top-level package)")
"""What Python says of `from . import data` in a script, which is in no package."""
_OF_HOOK = "(External) "
"""How Paddle passes on what a hook of a tensor raises."""
_UNPACKED = re.compile(r"^(too many|not enough) values to unpack")
"""What Python says of a tensor, among others, that is taken apart into names."""
_NEAR = 0.75
"""How alike two names are of which one is a slip of the other, from 0 to 1."""
_SHORT = 3
"""Letters of a name that is near too many of Python's own: `net` is no slip of `next`."""
_STAND_IN = "dataset_stand_in"
_NOTED = frozenset(("data_absent", _STAND_IN, "value_failed"))
"""Notes on numbers that are not the notebook's own."""
_PASSED_ON = tuple(
    call_stack.TRACER + place
    for place in ("undecided", "memory/values.py", "notebook/cells/loops.py", "notebook/cells/rounds.py")
)
"""Where numpy's functions are passed on to numpy, Paddle's are run for real with numbers that are known, and a loop
goes through what the notebook gave it (`for epoch in 3:`)."""
_PATCHES = call_stack.TRACER + "patches"
"""Where what a function is called with is passed on to it as it is."""


def is_of_notebook(problem: BaseException, session: Session, *, passed_by: bool = False, told: bool = False) -> bool:
    """Whether the notebook raises it wherever it runs.

    Args:
        problem: what ended a cell.
        session: knows what the program was told that is not known.
        passed_by: whether lines before it were not run: then only what Paddle refuses is certain.
        told: whether to judge as if what stands for unknown sizes and numbers were known: the caller tries others.
    """
    watch = session.of(StepWatch)
    # What was said of the data of one training is not so of a later one's under the same name.
    is_of_another = watch.trainings and session.of(AbsentData).used and is_handed_on(problem)
    is_resized = session.of(Resizing).change is not None  # for a what-if, also where nobody meant it
    is_apart = session.of(AbsentModules).modules or passed_by
    is_told_otherwise = is_of_another or is_resized or only_on_gpus(problem, session)
    if is_told_otherwise or (is_apart and not is_certain(problem, session, told=told)):
        return False
    is_of_arrays = is_by_dimensions(problem) or is_by_sizes(problem)
    is_of_shapes = session.is_refusal(problem) or is_unpacked(problem) or is_of_arrays
    assumed = session.assumed - {SELECTED} if told else session.assumed
    assumed = assumed & {CUT} if told and is_of_shapes else assumed
    is_sized = assumed.isdisjoint((SIZES, SELECTED, CUT))
    if session.is_refusal(problem):
        return is_sized or is_removed(problem)
    is_said = problem is watch.rest.missing or is_beyond(problem, session)
    is_typed = is_of_types(problem)
    if isinstance(problem, OSError) and problem.__cause__ is not None and str(problem).startswith(_OF_HOOK):
        return is_of_notebook(problem.__cause__, session, told=told)
    is_outer = isinstance(problem, _OF_ENVIRONMENT) or _rests_on_environment(problem) or _is_of_tracer(problem, session)
    leaves = is_exit(problem) and not watch.updates
    if is_outer and not (is_typed or is_removed(problem) or leaves or is_said):
        return False
    is_certain_kind = isinstance(problem, _BY_TYPE) or is_of_shell(problem) or is_of_code(problem) or leaves
    is_certain_kind = is_certain_kind or _BY_CONTENT.search(str(problem)) is not None
    if is_typed or is_certain_kind or is_said or (is_sized and is_of_arrays):
        return True
    is_through = not watch.trainings  # what a training that was left has collected is cut short
    noted = _NOTED - {_STAND_IN} if _is_of_no_sample(problem, session) else _NOTED
    return is_through and not assumed and noted.isdisjoint(session.notes)


def _is_of_no_sample(problem: BaseException, session: Session) -> bool:
    """Whether the contents of a published data set, which is known by its shapes, play no part in it: no word that a
    program looks up is in it, an attribute that Paddle's own code refuses is none of a sample, and what the program was
    never handed it decides nothing by.
    """
    is_of_paddle = _innermost(problem.__traceback__).startswith(call_stack.PADDLE)
    is_of_attributes = is_of_paddle and not isinstance(problem, LookupError)
    return _is_of_word(problem) or is_of_attributes or not session.of(Contents).are_seen


def _is_of_word(problem: BaseException) -> bool:
    """Whether a word is no key of a mapping: `config["lr_peak"]`."""
    return isinstance(problem, KeyError) and problem.args[:1] != () and isinstance(problem.args[0], str)


def is_certain(problem: BaseException, session: Session, *, told: bool = False) -> bool:
    """Whether it hangs on true shapes alone, which neither data nor a module that is not here can change."""
    if is_removed(problem) or _is_missing_beside(problem) or is_miscalled(problem) or is_unreadable(problem):
        return True
    if isinstance(problem, ImportError) and _OF_NO_PACKAGE.search(str(problem)):
        return True
    if is_of_shell(problem) or is_of_code(problem) or is_undeclared(problem) or _BY_CONTENT.search(str(problem)):
        return True
    if isinstance(problem, ArgumentError):  # a shell fills in what begins with a dollar
        return not any(mark in str(problem) for mark in "${")
    if not session.assumed.isdisjoint((CUT,) if told else (SIZES, SELECTED, CUT)):
        return False
    return session.is_refusal(problem) or is_of_types(problem) or bool(_BY_DIMENSIONS.search(str(problem)))


def only_on_gpus(problem: BaseException, session: Session) -> str:
    """The operator that the device has which the estimate is for, and that this Paddle for CPUs lacks; empty: none."""
    found = _ONLY_ON_GPUS.search(str(problem)) if session.target == "gpu" else None
    return (found["name"] or found["op"]).removesuffix("_grad") if found else ""


def is_by_type(problem: BaseException) -> bool:
    """Whether it is raised whatever the numbers are."""
    return isinstance(problem, _BY_TYPE)


def _is_missing_beside(problem: BaseException) -> bool:
    """Whether a module that lies beside the notebook lacks a name that is imported from it."""
    path = problem.path if isinstance(problem, ImportError) else None
    is_own = path is not None and not path.startswith((call_stack.PADDLE, sys.prefix, sys.base_prefix))
    return is_own and str(problem).startswith("cannot import name") and "partially initialized" not in str(problem)


def is_of_code(problem: BaseException) -> bool:
    """Whether it hangs on constants of the program's code alone, in a call of Paddle's or in code of its own."""
    return is_of_constants(problem) or is_closed(problem)


def of_code(problem: BaseException) -> tuple[bool, bool]:
    """Whether it hangs on the program's constants and names alone where nothing but batches is made up, and whether the
    program comes there with any batch."""
    is_of_word = is_miscalled(problem) and _OF_WORD in str(problem) and is_come_to(problem)
    return is_of_code(problem) or is_of_names(problem) or is_of_word, is_straight(problem)


def is_of_shell(problem: BaseException) -> bool:
    """Whether the lines of a shell end the cell by themselves (`exit 1` in `%%bash`), or nothing knows the cell's magic
    (`%%R`)."""
    if type(problem).__name__ == "UsageError" and str(problem).startswith("Cell magic `%%"):
        return True
    return isinstance(problem, CalledProcessError) and str(problem.cmd).startswith("%%")


def is_exit(problem: BaseException) -> bool:
    """Whether a cell leaves whatever comes (`sys.exit()` in a line of its own), which ends a notebook's job there."""
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    file = frame.f_code.co_filename
    is_cells = call_stack.cell_of(file) is not None and "__file__" not in frame.f_globals
    return isinstance(problem, SystemExit) and is_cells and _EXITS.match(linecache.getline(file, line)) is not None


def is_left(problem: BaseException) -> bool:
    """Whether it does so at the top of a cell, whatever rounds come before."""
    if not is_exit(problem):
        return False
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    body = parsed("".join(linecache.getlines(frame.f_code.co_filename))).body
    return any(isinstance(one, (ast.Expr, ast.Raise)) and one.lineno <= line <= (one.end_lineno or 0) for one in body)


def ends_cell(problem: BaseException) -> bool:
    """Whether it is an error, or leaves whatever comes."""
    return isinstance(problem, Exception) or is_left(problem)


_EXITS = re.compile(r"(sys\.)?exit\(|raise SystemExit\b")


def is_unreadable(problem: BaseException) -> bool:
    """Whether a cell, or a module that is here, is no Python."""
    if not isinstance(problem, SyntaxError):
        return False
    return wording.module_of(problem) is not None or call_stack.is_cell(problem.filename or "")


def is_by_dimensions(problem: BaseException) -> bool:
    """Whether an array has another number of dimensions than is asked of it, whatever its numbers are."""
    if not isinstance(problem, (AssertionError, IndexError, ValueError)):
        return False
    is_said = not isinstance(problem, AssertionError) and _BY_DIMENSIONS.search(str(problem)) is not None
    return is_said or _is_by_ranks(problem)


def _is_by_ranks(problem: BaseException) -> bool:
    """Whether one of Paddle's functions refuses a tensor for its shape (`paddle.flatten(x, 1)` of a vector)."""
    is_of_function = _innermost(problem.__traceback__).startswith(_OF_FUNCTIONS)
    return is_of_function and _BY_RANKS.search(str(problem)) is not None


def is_by_sizes(problem: BaseException) -> bool:
    """Whether arrays do not go together by their shapes, or a format is none of a type, whatever the numbers are."""
    return isinstance(problem, (IndexError, ValueError)) and _BY_SIZES.search(str(problem)) is not None


def is_unpacked(problem: BaseException) -> bool:
    """Whether there are more or fewer values than names."""
    return isinstance(problem, ValueError) and _UNPACKED.match(str(problem)) is not None


def stop(cell: int, line: int, problem: BaseException, loaders: Loaders) -> dict[str, Any]:
    """What is told of the end: the cell that runs, and the line of another cell (a layer's own), or of a module beside
    the program, that raises it."""
    raised, step = None, problem.__traceback__
    while step is not None:
        if (index := call_stack.cell_of(step.tb_frame.f_code.co_filename)) is not None:
            raised = None if index == cell else {"cell": index, "line": step.tb_lineno}
        step = step.tb_next
    told = {"cell": cell, "line": line, "raised": raised, "error": sentence(problem) + meant(problem)}
    if module := call_stack.module(problem):
        told |= {"raised": None, "module": module["beside"], "module_line": module["inner"]}
    return {**told, "hangs": True} if problem is loaders.silenced else told


def late(loaders: Loaders) -> dict[str, Any] | None:
    """Where the job would end in its first epoch, for want of samples that a data set counts and does not have."""
    return None if loaders.late is None else stop(*loaders.late, loaders)


def meant(problem: BaseException) -> str:
    """The name that was probably meant, in the words in which Python ends its own tracebacks; empty: none is near."""
    name, names = getattr(problem, "name", None), set()
    with contextlib.suppress(Exception):  # what a program's own object answers
        if isinstance(problem, AttributeError):
            names = set(dir(problem.obj))
        elif isinstance(problem, NameError) and problem.__traceback__ is not None:
            *_, (frame, _line) = traceback.walk_tb(problem.__traceback__)
            names = {*frame.f_locals, *frame.f_globals}
            names |= set(vars(builtins)) if len(str(name)) > _SHORT else set()
    if not isinstance(name, str):
        return ""
    likest = sorted(names, key=lambda one: difflib.SequenceMatcher(None, name, one).ratio())
    spelled = {one.lower(): one for one in likest if one.startswith("_") == name.startswith("_")}
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_NEAR)
    return f". Did you mean: '{spelled[near[0]]}'?" if near else ""


def sentence(problem: BaseException) -> str:
    """Type and text, as Paddle or Python says it."""
    return ": ".join(filter(None, (type(problem).__name__, said(problem))))


def _rests_on_environment(problem: BaseException) -> bool:
    """Whether something that is not here was the reason, or an environment variable was read."""
    seen: list[BaseException] = []
    reason: BaseException | None = problem
    while reason is not None and reason not in seen:
        file = _innermost(reason.__traceback__)
        if isinstance(reason, _OF_ENVIRONMENT) or file == "<frozen os>" or file.endswith("/os.py"):
            return True
        if _BY_LIMITS.search(str(reason)) or names_absent_path(reason) is not None:
            return True
        seen.append(reason)
        reason = reason.__cause__ or reason.__context__
    return False


def _is_of_tracer(problem: BaseException, session: Session) -> bool:
    """Whether the trace itself raised it, or the Paddle for CPUs that it asks for a GPU."""
    if session.target == "gpu" and _BY_CPU.search(str(problem)):
        return True
    if _OF_NO_MEMORY.search(str(problem)):
        return True
    if isinstance(problem, SyntaxError):  # raised where the trace has a cell compiled
        return False
    file = _innermost(problem.__traceback__)
    passes_on = (*_PASSED_ON, _PATCHES) if is_miscalled(problem) else _PASSED_ON
    return file.startswith(call_stack.TRACER) and not file.startswith(passes_on)


def _innermost(step: TracebackType | None) -> str:
    file = ""
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        step = step.tb_next
    return file
