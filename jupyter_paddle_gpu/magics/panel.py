"""What the panel asks of a notebook's kernel: which models it holds, and the trace of a step of one of them.

The panel sends these as user expressions of an empty, silent execution, as Jupyter's messaging has them: no name, no
`In`, no `Out` and no execution count changes, and a trace runs in a forked child (`live`).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from ..domain.decoding import decode
from .first_input import attributes, suggested

MIME = "application/vnd.jupyter-paddle-gpu+json"


class Reply:
    """A value that Jupyter's protocol carries as it is."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self._value}


def models() -> Reply:
    """`{models: [{name, type, parameters}]}`, the one made last at the end; parameters is a count of numbers."""
    from .live import models

    names = _names()
    return Reply({"models": [_described(name, names[name]) for name in models(names)]})


def held(questions: str) -> Reply:
    """`{held}`: by the names of open questions what this kernel holds.

    Args:
        questions: list of `{name, kind, holders}` as JSON.
    """
    from .held import held

    return Reply({"held": held(_names(), msgspec.json.decode(questions))})


def trace(name: str, request: str, language: str = "", cells: str = "[]") -> Reply:
    """The trace of a step of the model of that name.

    Args:
        request: an `EstimateRequest` as JSON.
        language: of what is said, as a language tag; else the one of commands typed here.
        cells: the sources of the notebook's code cells, a list as JSON: what was not executed yet is known so too.

    Returns:
        `{trace}`: the JSON of `estimator.trace.Trace`, deflated, as base64; or `{error: {code, message, hint}}`.
    """
    from ..domain.errors import PaddleGpuError
    from ..domain.what_ifs import EstimateRequest
    from ..i18n import to_json, translator
    from .language import cell_language
    from .live import trace_live

    names = _names()
    try:
        _check_held(name, names)
        traced = trace_live(names, (name,), decode(request, EstimateRequest), msgspec.json.decode(cells))
    except PaddleGpuError as error:
        if error.code == "inputs_unknown":  # in the panel nobody names objects: it asks
            return _packed(_asking(name, names, msgspec.json.decode(cells)))
        return Reply({"error": to_json(error.message, translator(language or cell_language()))})
    return _packed(traced)


def _check_held(name: str, names: dict[str, Any]) -> None:
    from ..domain.errors import PaddleGpuError

    if name not in names:
        raise PaddleGpuError(
            "no_live_object",
            "The kernel holds no “{name}” any more.",
            hint="Run the cell that makes it, or press its name again: the estimate is of the cells then.",
            name=name,
        )


def _packed(traced: dict[str, Any]) -> Reply:
    return Reply({"trace": base64.b64encode(zlib.compress(msgspec.json.encode(traced))).decode()})


def _asking(name: str, names: dict[str, Any], cells: list[str]) -> dict[str, Any]:
    """A trace that waits for what a batch of the model's looks like."""
    question: dict[str, Any] = {"name": name, "kind": "batch", "why": "live_batch"}
    if (found := suggested(names[name], names, cells)) is not None:
        question |= {"suggestion": found[0], "params": {"source": found[1]}}
    return {"status": "needs_input", "questions": [question]}


def _names() -> dict[str, Any]:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def _described(name: str, model: Any) -> dict[str, Any]:
    own = attributes(model)
    network = own.get("network", model)
    count = sum({id(one): int(one.size) for one in _parameters(network, set())}.values())
    return {"name": name, "type": type(network).__name__, "parameters": count}


def _parameters(layer: Any, seen: set[int]) -> Iterator[Any]:
    """A layer's parameters by its attributes: a method of the program's own would run."""
    own = attributes(layer)
    seen.add(id(layer))
    yield from (one for one in own.get("_parameters", {}).values() if one is not None)
    for part in own.get("_sub_layers", {}).values():
        if part is not None and id(part) not in seen:
            yield from _parameters(part, seen)
