"""What a notebook's cells find of IPython while they are traced: it runs the scripts of Python that are started by it,
accepts everything else and does nothing."""

from __future__ import annotations

from typing import Any

from ...patches.processes.started_programs import StartedPrograms
from ...session import current

_STARTS = frozenset(("system", "system_raw", "system_piped", "getoutput"))


def ignore(*args: Any, **kwargs: Any) -> None:
    """`display(...)`, and whatever else only shows."""
    return


class Shell:
    """What `get_ipython()` gives: magics are accepted and do nothing, commands run what is Python's of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _start if name in _STARTS else ignore


def _start(command: str, *_: Any, **__: Any) -> None:
    session = current()
    if session is not None:
        session.of(StartedPrograms).status(command, {})
