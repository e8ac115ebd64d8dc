"""Traces a training step inside the notebook kernel's interpreter; standard library, numpy and paddle only.

`trace_notebook(request)` and `trace_live(...)` return the JSON shape of `estimator.trace.Trace`; `prepare()` puts the
patches into their places beforehand, so that a warm process answers quickly, and returns the names of those that this
Paddle has no place for; `warm_up()` makes the next traces quicker by some of its own. Paddle is imported with the first
of them, not before.
"""

from __future__ import annotations

from typing import Any

__all__ = ["prepare", "trace_live", "trace_notebook", "warm_up"]
_MODULES = {
    "prepare": "notebook.traces",
    "trace_live": "notebook.live",
    "trace_notebook": "notebook.requests",
    "warm_up": "warming",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(name)
