"""Programs that a notebook runs: a script in a process of its own becomes a module `__main__` of the trace, with its
arguments and its folder. Files that cells write are written; the guard keeps them off the disk."""

from __future__ import annotations

import ast
import contextlib
import gc
import linecache
import os
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from ... import call_stack
from ...patches.processes.started_programs import Started
from .. import processes
from ..sites import BY_NAME, COMMAND, name_of, started
from ..syntax import nodes
from .beside import Beside
from .helpers import Helpers
from .passing import Passing

_NAMED = re.compile(r"\{([^{}$]+)\}|\$\{?(\w+)\}?")


class Programs:
    """What the commands of one run do.

    Args:
        execute: runs a script's source in a namespace: (source, file, namespace, cell, line).
        namespace: the names that a fresh one begins with.
        failed: takes cell, line and file of a program, what it ended with, and whether the cell ends with it; else the
            notebook goes on, as behind `!`.
        helpers: that the notebook imports.
        begun: the run, and the processes that it starts.
        passing: where several trainings are looked for.
    """

    def __init__(
        self,
        execute: Callable[[str, str, dict[str, Any], int, int], None],
        namespace: Callable[[str], dict[str, Any]],
        failed: Callable[[int, int, str, BaseException, bool], None],
        helpers: Helpers,
        begun: processes.Begun,
        *,
        passing: Passing | None,
    ) -> None:
        self._execute, self._namespace, self._failed, self._helpers = execute, namespace, failed, helpers
        self._begun, self._passing = begun, passing
        self.written: dict[str, str] = {}
        """What cells have written, by path."""

    @contextlib.contextmanager
    def installed(self, names: dict[str, Any]) -> Iterator[None]:
        """While a trace runs: modules that cells have written, and those beside the notebook, whose names are `names`,
        are imported."""
        folder = os.getcwd()  # noqa: PTH109 - the overlay's
        own = Beside(folder, self.written, names, self._namespace, self._helpers, passing=self._passing)
        with own.installed():
            yield

    def command(  # noqa: PLR0917 - as `estimator.sources.commands` calls it
        self, names: dict[str, Any], kind: str, cell: int, line: int, path: str, arguments: Sequence[str],
        folder: str, text: str, appends: bool, ends: bool = False, environment: Sequence[tuple[str, str]] = (),
    ) -> None:  # fmt: skip
        """One command of the notebook, whose names are `names`."""
        path, folder = _filled(path, names), _filled(folder, names)
        if kind == "folder":
            with contextlib.suppress(OSError):
                os.chdir(path)
        elif kind == "variable":
            os.environ[path] = _filled(text, names)
        elif kind == "write":
            self._write(path, text, appends=appends)
        else:
            given = [_filled(argument, names) for argument in arguments]
            if kind == "cell":
                self._run_cell(text, cell)
                return
            if text:  # of a notebook, which has the names of the one that runs it
                self._execute(text, os.path.abspath(path), names, cell, line)  # noqa: PTH100
                return
            own = {**os.environ, **{name: _filled(value, names) for name, value in environment}}
            with _standing_in(folder), _environment(own if environment else None):
                self._run(kind, cell, line, path, given, names, ends=ends)

    def sources_of(self, asked: Started) -> list[str]:
        """The code of a program that the program starts, and of what it imports from beside it."""
        run = f"{COMMAND}('python', 0, 1, {asked.path!r}, (), '', '', False)"
        return list(sources([{"index": 0, "source": run}], asked.folder or os.getcwd()).values())  # noqa: PTH109

    def started(self, cell: int, line: int, asked: Started) -> int:
        """A program that the program starts, at a line of a cell; the result is its exit status."""
        with _standing_in(asked.folder or ""), _environment(asked.environment):
            return self._run("python", cell, line, asked.path, list(asked.arguments), {})

    def _write(self, path: str, text: str, *, appends: bool) -> None:
        with open(path, "a" if appends else "w", encoding="utf-8") as file:  # noqa: PTH123 - the guard follows `open`
            file.write(text)
        place = os.path.abspath(path)  # noqa: PTH100
        self.written[place] = (self.written.get(place, "") if appends else "") + text

    def _run_cell(self, text: str, cell: int) -> None:
        """The lines of `%%python`. The cell fails where the process does; its lines are the cell's own."""
        module = types.ModuleType("__main__")
        module.__dict__.update(self._namespace(""))
        name = call_stack.cell_name(cell)
        typed = linecache.cache.get(name)
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        try:
            with self._begun.process(module):
                sys.argv = [""]
                self._execute(text, name, module.__dict__, cell, 0)
        except SystemExit as problem:
            if problem.code not in {None, 0}:
                raise
        finally:
            module.__dict__.clear()
            if typed is not None:
                linecache.cache[name] = typed
        gc.collect()  # the process is over

    def _run(  # noqa: PLR0917
        self,
        kind: str,
        cell: int,
        line: int,
        path: str,
        arguments: list[str],
        names: dict[str, Any],
        *,
        ends: bool = False,
    ) -> int:
        """The program's exit status."""
        file = os.path.abspath(path)  # noqa: PTH100
        source = self.written.get(file)
        if source is None:
            source = Path(file).read_text(encoding="utf-8", errors="replace")
        module = types.ModuleType("__main__")
        module.__dict__.update(self._namespace(file))
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        # `%run` starts no process: what the program imports and sets stays.
        begun = processes.as_main(module) if kind == "run" else self._begun.process(module)
        status = 0
        with begun:
            sys.argv, sys.path[:0] = [path, *arguments], [os.path.dirname(file)]  # noqa: PTH120
            if kind == "module":  # whose package is found from the folder in which it is started
                sys.path[0] = os.getcwd()  # noqa: PTH109
                module.__dict__["__package__"] = os.path.dirname(path).replace("/", ".")  # noqa: PTH120
            try:
                self._execute(source, file, module.__dict__, cell, line)
            except SystemExit as problem:
                status = 0 if problem.code is None else problem.code if isinstance(problem.code, int) else 1
                if status and kind != "run":
                    self._failed(cell, line, file, problem, ends)
            except Exception as problem:
                if kind == "run":
                    raise
                status = 1
                self._failed(cell, line, file, problem, ends)
                _release(problem)
            finally:
                linecache.cache.pop(file, None)
                if kind == "run":
                    names.update({name: value for name, value in module.__dict__.items() if not name.startswith("__")})
                else:
                    module.__dict__.clear()
        if kind != "run":
            gc.collect()  # the process is over
        return status


def _release(problem: BaseException | None) -> None:
    """What the frames of an error hold goes with the process that ended by it."""
    seen: list[BaseException] = []
    while problem is not None and problem not in seen:
        seen.append(problem)
        traceback.clear_frames(problem.__traceback__)
        problem.__traceback__ = None
        problem = problem.__cause__ or problem.__context__


def sources(cells: Sequence[dict[str, Any]], folder: str | None) -> dict[str, str]:
    """What the cells' commands run, and modules beside them that are imported, by path; the cells' own are left out.

    Paths are as the commands have them, folders that the notebook goes to put in front.
    """
    found: dict[str, str] = {}
    waiting: list[str] = []
    here = ""
    roots = [""]
    imports = partial(_imports, folder or ".", cache(_names_in))
    for cell in cells:
        for node in nodes(cell["source"]):
            if (added := _added_to_path(node)) is not None:
                # A script in `tools/` commonly adds the folder above, in words that only running it would tell.
                roots += [added, os.path.dirname(added)]  # noqa: PTH120
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == COMMAND:
                kind, _, _, path, _, inside, text, appends, *_ = (ast.literal_eval(one) for one in node.args)
                place = os.path.normpath(os.path.join(here, inside, path))  # noqa: PTH118
                if kind == "folder":
                    here = place
                elif kind == "variable":
                    continue
                elif kind == "write":
                    found[place] = found.get(place, "") * appends + text
                elif text:
                    found[place] = text
                else:
                    waiting.append(place)
        waiting += [os.path.normpath(os.path.join(here, script)) for script in started(cell["source"])]  # noqa: PTH118
        waiting += [path for root in roots for path in imports(cell["source"], os.path.join(here, root))]  # noqa: PTH118
    waiting += [path for place, text in list(found.items()) for path in imports(text, os.path.dirname(place))]  # noqa: PTH120
    while waiting and len(found) < MOST_FILES:
        place = waiting.pop(0)
        if place in found:
            continue
        file = Path(folder or ".") / place
        with contextlib.suppress(OSError, ValueError):
            if file.suffix == ".py" and file.is_file():
                found[place] = file.read_text(encoding="utf-8", errors="replace")
                waiting += imports(found[place], os.path.dirname(place))  # noqa: PTH120
                waiting += [path for root in roots for path in imports(found[place], root)]
    return found


def _added_to_path(node: ast.AST) -> str | None:
    """The folder of `sys.path.insert(0, "/a/folder")`, also where it is put together (`os.path.join("..", "lib")`)."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="path"), attr="append" | "insert"), args=[*_, folder]
        ):
            texts = [one.value for one in ast.walk(folder) if isinstance(one, ast.Constant)]
            return os.path.join(*[one for one in texts if isinstance(one, str)] or [".."])  # noqa: PTH118
    return None


MOST_FILES = 60
"""Files whose functions are looked at for trainings."""


def _imports(start: str, names_in: Callable[[str], frozenset[str]], source: str, folder: str) -> list[str]:
    """Where the modules would lie that a source imports, from a folder; those of which nothing lies there are left out:
    most are libraries, and each would be looked for at two places."""
    there = names_in(os.path.join(start, folder))  # noqa: PTH118
    names: list[str] = []
    relative: list[str] = []
    for node in nodes(source):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:  # `from ..nets import Net`
            above = "../" * (node.level - 1) + (node.module or "").replace(".", "/")
            relative += [above, *(f"{above}/{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and name_of(node.func) in BY_NAME:  # `importlib.import_module("train")`
            names += [str(one.value) for one in node.args[:1] if isinstance(one, ast.Constant)]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    paths = [name.replace(".", "/") for name in names if name.partition(".")[0] in there] + relative
    return [os.path.normpath(os.path.join(folder, path + end)) for path in paths for end in (".py", "/__init__.py")]  # noqa: PTH118


def _names_in(folder: str) -> frozenset[str]:
    """Modules and packages that may lie in a folder."""
    try:
        return frozenset(name.partition(".")[0] for name in os.listdir(folder or "."))  # noqa: PTH208
    except OSError:
        return frozenset()


def _filled(text: str, names: dict[str, Any]) -> str:
    """`{name}`, `{width * 2}` and `$name` as IPython fills them in."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        found = names.get(name, os.environ.get(name))
        if found is None and match[1] is not None:
            with contextlib.suppress(Exception):  # what is no expression stays as it is
                found = eval(name, names)
        return str(found) if isinstance(found, (str, int, float)) else match[0]

    return _NAMED.sub(value, text)


@contextlib.contextmanager
def _environment(asked: Mapping[str, str] | None) -> Iterator[None]:
    """While a program runs that was started with an environment of its own."""
    if asked is None:
        yield
        return
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(asked)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _standing_in(folder: str) -> Iterator[None]:
    before = os.getcwd()  # noqa: PTH109 - the guard follows it
    if folder:
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
