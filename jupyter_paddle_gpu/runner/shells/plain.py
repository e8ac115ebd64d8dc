"""Cells executed without IPython: `exec`, the last expression shown, figures at the end of the cell."""

import __future__

import ast
import contextlib
import functools
import io
import sys
import traceback
import types
from typing import TYPE_CHECKING, Any, Dict, Iterator

from .. import own_settings
from . import figures, formats, launches, magics, sets
from .base import CellOutcome, Publisher, cut_interrupt, ends_script, failure_of, from_cell, remember_source, text_of

if TYPE_CHECKING:
    from .magic_calls import Calls

_COROUTINE = 0x80
"""`inspect.CO_COROUTINE`; to import `inspect` takes longer than most cells."""
_FEATURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
"""What a cell imports from `__future__` holds for all behind it, as in IPython."""


class PlainShell:
    """Executor on the standard library alone."""

    title = "without IPython"

    def __init__(self, publisher: Publisher, values: Dict[str, Any]) -> None:
        self._publisher, self._values = publisher, values
        sets.reach_parsers(values)
        if values or own_settings.are_any() or launches.are_any():
            from . import scripts  # which takes longer to import than most cells run

            scripts.reach_started(values)
        # The module `__main__` itself, so that classes of the notebook can be pickled and found by workers.
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self._namespace = module.__dict__
        self._namespace["display"] = self._display
        self._count = self._features = 0
        figures.choose_backend(inline=False)
        figures.watch_show(publisher)

    @functools.cached_property
    def _calls(self) -> "Calls":
        """What calls of magics lead to; made for the first of them, since most notebooks have none."""
        from .magic_calls import Calls

        calls = self._namespace[magics.CALL] = Calls(self._namespace, self._values)
        return calls

    def run(self, source: str, count: int) -> CellOutcome:
        """Execute a cell."""
        filename = "<cell %d>" % count
        self._count = count
        remember_source(filename, source)
        try:
            self._execute(source, filename)
            figures.publish_open(self._publisher)
        except BaseException as error:
            if ends_script(error, self._namespace):
                return CellOutcome()
            if isinstance(error, KeyboardInterrupt):
                cut_interrupt(from_cell(error, filename))
            self._publisher.error(type(error).__name__, text_of(error), _traceback(error, filename))
            failure = failure_of(error, filename)
            if isinstance(error, magics.MagicError):
                failure["line"] = error.line
            return CellOutcome(failure, isinstance(error, KeyboardInterrupt))
        return CellOutcome()

    def close(self) -> None:
        """Nothing to undo."""

    def _execute(self, source: str, filename: str) -> None:
        prepared = magics.prepare(source)
        if magics.CALL in prepared.source:
            self._namespace[magics.CALL] = self._calls
        if prepared.magic is None:
            self._show(self._value(prepared.source, filename))
        elif prepared.magic == "time":
            self._calls.tick()
            self._show(self._calls.tock(value=self._value(prepared.source, filename)))
        elif prepared.magic == "capture":
            with self._captured(prepared.argument):
                self._show(self._value(prepared.source, filename))
        else:
            self._calls.cell(prepared.magic, prepared.argument, prepared.source)

    def _value(self, source: str, filename: str) -> Any:
        """Execute Python; the value of the last expression where it is to be shown."""
        tree = sets.bind(ast.parse(source, filename), self._values)
        last = tree.body[-1] if tree.body else None
        show = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
        if show and isinstance(last, ast.Expr):
            tree.body.pop()
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self._features
        code = compile(tree, filename, "exec", flags, dont_inherit=True)
        self._features |= code.co_flags & _FEATURES
        self._evaluate(code)
        if show and isinstance(last, ast.Expr):
            expression = ast.fix_missing_locations(ast.Expression(last.value))
            return self._evaluate(compile(expression, filename, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
        return None

    def _show(self, value: Any) -> None:
        if value is not None:
            self._namespace["_"] = value
            data, metadata = formats.bundle(value)
            self._publisher.result(data, metadata, self._count)

    def _evaluate(self, code: types.CodeType) -> Any:
        value = eval(code, self._namespace)
        if code.co_flags & _COROUTINE:
            import asyncio

            return asyncio.run(value)
        return value

    def _display(self, *values: Any, **_: Any) -> None:
        for value in values:
            data, metadata = formats.bundle(value)
            self._publisher.display(data, metadata)

    @contextlib.contextmanager
    def _captured(self, argument: str) -> Iterator[None]:
        """`%%capture [name]`: what is printed goes into `name.stdout` and `name.stderr` instead."""
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield
        finally:
            name = next((part for part in argument.split() if not part.startswith("-")), None)
            if name:
                self._namespace[name] = types.SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue())


def _traceback(error: BaseException, filename: str) -> "list[str]":
    """The traceback from the cell on, without the frames of this executor."""
    lines = traceback.format_exception(type(error), error, from_cell(error, filename))
    return "".join(lines).rstrip("\n").split("\n")
