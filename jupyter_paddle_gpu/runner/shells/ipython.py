# mypy: disallow-untyped-calls=False
"""Cells executed by IPython: magics, `!`, `await`, rich display and inline figures as in a kernel. Raises
`ImportError` on import where there is no IPython."""

import ast
import contextlib
import os
import shutil
import subprocess
import sys
from typing import Any, Dict

import IPython
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from . import figures, programs, scripts, sets
from .base import CellOutcome, Publisher, cut_interrupt, ends_script, failure_of


class _Hook(DisplayHook):
    """The value of a cell's last expression goes to the publisher instead of being printed."""

    publisher: Publisher

    def __call__(self, result: Any = None) -> None:
        self.check_for_underscore()
        if result is not None and not self.quiet():
            data, metadata = self.compute_format_data(result)
            self.update_user_ns(result)
            if data:
                self.publisher.result(data, metadata, self.prompt_count)


class _Display(DisplayPublisher):
    """`display(…)` and figures go to the publisher."""

    publisher: Publisher

    def publish(self, data: Any, metadata: Any = None, *_: Any, **options: Any) -> None:
        """IPython's way in for every rich output."""
        transient = options.get("transient") or {}
        update = bool(options.get("update"))
        self.publisher.display(data, metadata, display_id=transient.get("display_id"), update=update)

    def clear_output(self, wait: bool = False) -> None:
        """`IPython.display.clear_output`."""
        self.publisher.clear(wait)


class _Shell(InteractiveShell):
    """An InteractiveShell without a terminal: errors are published, `!` lines write straight to our pipes."""

    publisher: Publisher
    values: Dict[str, Any]

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        kind, error, trace = super()._get_exc_info(exc_tuple)
        if isinstance(error, KeyboardInterrupt):
            cut_interrupt(trace)
        return kind, error, trace

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = [stb] if isinstance(stb, str) else list(stb)
        self.publisher.error(getattr(etype, "__name__", str(etype)), str(evalue), lines)

    def system(self, command: str) -> None:
        """Run a shell line; its output comes as it is written, its status is left in `_exit_code`."""
        sys.stdout.flush()
        shell = shutil.which(os.environ.get("SHELL", "sh")) or "/bin/sh"
        expanded = self.var_expand(command, depth=1)
        try:
            status = subprocess.call(scripts.command(expanded, self.values), shell=True, executable=shell)
        except KeyboardInterrupt:
            status = 130
        programs.ended(expanded, status)
        self.user_ns["_exit_code"] = status

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """A cell magic; the answers reach the scripts that a cell of the shell starts as well."""
        if magic_name in scripts.SHELLS:
            cell = scripts.command(cell, self.values)
        return super().run_cell_magic(magic_name, line, cell)

    def _tee(self, channel: str) -> Any:
        """IPython keeps all that is printed in memory and slows every print by it; the log and the notebook have it."""
        return contextlib.nullcontext()

    def init_io(self) -> None:
        """Keep our streams as they are."""

    def enable_gui(self, gui: Any = None) -> None:
        """No event loop here."""

    def ask_exit(self) -> None:
        """`exit` ends the session of a person; a job goes on to its next cell."""


class IPythonShell:
    """Executor on IPython."""

    def __init__(self, publisher: Publisher, values: Dict[str, Any]) -> None:
        _Hook.publisher = _Display.publisher = _Shell.publisher = publisher
        sets.reach_parsers(values)
        scripts.reach_started(values)
        self.title = "IPython %s" % IPython.__version__
        figures.choose_backend(inline=True)
        self._filename = ""
        options = {"displayhook_class": _Hook, "display_pub_class": _Display}
        # A history file in the user's home would be a trace that nobody asked for, and a lock between jobs.
        shell: Any = _Shell.instance(**options, history_load_length=0)
        self._shell = shell
        self._shell.history_manager.enabled = False
        self._shell.user_ns["__name__"] = "__main__"
        self._shell.autoindent = False
        _Shell.values = values
        if values:
            self._shell.ast_transformers.append(_Transformer(values))
        self._watch_names()

    def _watch_names(self) -> None:
        """Learn the file name that IPython compiles each cell under: it is how an error's line in the cell is found."""
        compiler = self._shell.compile
        original = compiler.cache

        def cache(*arguments: Any, **options: Any) -> Any:
            self._filename = original(*arguments, **options)
            return self._filename

        compiler.cache = cache

    def run(self, source: str, count: int) -> CellOutcome:
        """Execute a cell."""
        self._filename = ""
        try:
            result = self._shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except KeyboardInterrupt as interrupt:
            error = interrupt
            self._shell.publisher.error("KeyboardInterrupt", "", ["KeyboardInterrupt"])
        if error is None:
            return CellOutcome()
        if ends_script(error, self._shell.user_ns):
            return CellOutcome()
        if isinstance(error, SystemExit):
            self._shell.publisher.error("SystemExit", str(error), ["SystemExit: %s" % error])
        return CellOutcome(failure_of(error, self._filename), isinstance(error, KeyboardInterrupt))

    def close(self) -> None:
        """IPython cleans up by itself when the process exits."""


class _Transformer(ast.NodeTransformer):
    """IPython's protocol for tree transformers around `sets.bind`."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def visit(self, node: Any) -> Any:
        """The whole tree at once."""
        return sets.bind(node, self._values)
