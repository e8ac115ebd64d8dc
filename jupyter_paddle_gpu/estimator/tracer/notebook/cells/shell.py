"""What a notebook's cells find of IPython while they are traced: it runs the scripts of Python that are started by it,
accepts everything else and does nothing."""

from __future__ import annotations
import __future__

import ast
import asyncio
import inspect
from typing import Any

from ...patches.processes.started_programs import StartedPrograms
from ...session import current

_FEATURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_STARTS = frozenset(("system", "system_raw", "system_piped", "getoutput"))


def ignore(*args: Any, **kwargs: Any) -> None:
    """`display(...)`, and whatever else only shows."""
    return


class Statements:
    """Runs statements of cells: they may await (`await main()`), and what one imports from `__future__` holds behind it
    in all cells. What holds here does not hold there: annotations are values."""

    def __init__(self) -> None:
        self._features = 0

    def run(self, statements: list[ast.stmt], name: str, namespace: dict[str, Any]) -> None:
        """Run some."""
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | self._features
        code = compile(ast.Module(statements, []), name, "exec", flags, dont_inherit=True)
        self._features |= code.co_flags & _FEATURES
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, namespace))
        else:
            exec(code, namespace)


class Shell:
    """What `get_ipython()` gives: magics are accepted and do nothing, commands run what is Python's of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _start if name in _STARTS else ignore


def _start(command: str, *_: Any, **__: Any) -> None:
    session = current()
    if session is not None:
        session.of(StartedPrograms).status(session, command, {})
