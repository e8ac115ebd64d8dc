"""Cell magics that nothing in a notebook brings: IPython ends the cell by an error, and so the job."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_OWN = (
    "!", "HTML", "SVG", "bash", "capture", "cmd", "code_wrap", "debug", "file", "html", "javascript", "js", "latex",
    "markdown", "perl", "prun", "pypy", "python", "python2", "python3", "ruby", "script", "sh", "svg", "sx", "system",
    "time", "timeit", "writefile",
)  # fmt: skip
"""Those of IPython itself."""
_OF_EXTENSIONS = frozenset(("R", "cython", "Cython", "julia", "matlab", "octave", "sql", "ipytest"))
"""Those of well-known extensions, each of which is loaded by a line of its own."""
_BRINGS = re.compile(
    r"load_ext|reload_ext|register_\w*magic|register_magics|load_ipython_extension|run_line_magic|extension_manager|"
    r"%run\b|\bimport \*|\bexec\("
)
"""Code that may bring further magics."""
_NEAR = 0.7
"""How alike two names are of which one is a slip of the other, from 0 to 1."""


def brings_any(sources: Iterable[str]) -> bool:
    """Whether anything in the code may bring a magic that IPython does not have."""
    return any(_BRINGS.search(source) is not None for source in sources)


def is_unknown(name: str) -> bool:
    """Whether IPython has no such cell magic, and no import brings it: one of an extension, or a slip of its own."""
    if name in _OWN:
        return False
    return not name or name in _OF_EXTENSIONS or bool(difflib.get_close_matches(name, _OWN, n=1, cutoff=_NEAR))


def raising(name: str) -> str:
    """What ends a cell as IPython ends it."""
    return f"raise type('UsageError', (Exception,), {{}})('Cell magic `%%{name}` not found.')"
