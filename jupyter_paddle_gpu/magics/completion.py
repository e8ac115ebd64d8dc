"""Tab completion of `%paddle_gpu` in IPython and JupyterLab.

It is there from the kernel's start, before the magic is loaded, and costs nothing until somebody presses Tab behind
`%paddle_gpu`: only then the commands are imported.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_OURS = re.compile(r"\s*%{1,2}paddle_gpu\s")
_BEGUN = re.compile(r"\s*(%{1,2})(p\w*)$")
_NAME = "paddle_gpu"
_FILES = (".ipynb", ".py")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Complete the words behind the magic."""
    from IPython.core.completer import context_matcher

    @context_matcher(identifier="paddle_gpu_matcher")  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, Any]:
        line: str = context.line_with_cursor[: context.cursor_position]
        if _OURS.match(line):
            return _matched(shell, line)
        begun = _BEGUN.match(line)
        return _named(shell, *begun.groups()) if begun else {"completions": []}

    matchers = shell.Completer.custom_matchers
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != match.matcher_identifier]
    matchers.append(match)


def _matched(shell: InteractiveShell, line: str) -> dict[str, Any]:
    """IPython's answer of a matcher: nothing but our words makes sense on such a line."""
    from IPython.core.completer import SimpleCompletion

    words = _words(line)
    typed = "" if line[-1:].isspace() else words.pop()
    # IPython asks its other matchers where there is nothing, and a keyword of Python is nothing here either.
    found = _completions(shell, words[1:], typed) or [typed]
    return {
        "completions": [SimpleCompletion(text, type="magic") for text in found],
        "matched_fragment": typed,
        "suppress": True,
    }


def _named(shell: InteractiveShell, signs: str, typed: str) -> dict[str, Any]:
    """The magic's own name, beside what else begins so: IPython tells no magic that it has yet to load."""
    from IPython.core.completer import SimpleCompletion

    if not _NAME.startswith(typed) or _NAME in shell.magics_manager.magics["line"]:
        return {"completions": []}
    return {"completions": [SimpleCompletion(signs + _NAME, type="magic")], "matched_fragment": signs + typed}


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation mark that is still to be closed
        return line.split()


def _completions(shell: InteractiveShell, words: list[str], typed: str) -> list[str]:
    from click.shell_completion import ShellComplete

    from ..commands.group import paddle_gpu
    from .cell import CellFace

    face = CellFace(shell)
    completer = ShellComplete(paddle_gpu, {"obj": face}, "%paddle_gpu", "")
    found: list[str] = []
    for item in completer.get_completions(words, typed):
        found.extend((*face.live_names(typed), *_paths(typed)) if item.type == "file" else (str(item.value),))
    return found


def _paths(typed: str) -> list[str]:
    """Notebooks, scripts and folders whose path begins with what is typed."""
    folder, _, begun = typed.rpartition("/")
    head = typed[: len(typed) - len(begun)]
    try:
        entries = sorted(Path(folder or ("/" if head else ".")).expanduser().iterdir())
    except OSError:
        return []
    wanted = [entry for entry in entries if entry.name.startswith(begun) and not entry.name.startswith(".")]
    return [head + entry.name + "/" * entry.is_dir() for entry in wanted if entry.is_dir() or entry.suffix in _FILES]
