"""Modules that only cells behind the training import and the kernel's Python does not have: a job ends there, having
trained."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..sites import Sites
from ..syntax import parsed

_INSTALLS = re.compile(r"\b(pip3?|conda|mamba|uv)\b.{0,20}\binstall\b")
_NOTE = "modules_passed_by"
_BY_CALLS = {"paddle.onnx.export": ("paddle2onnx",)}
"""Modules that functions of Paddle's import as they are called."""


def told(result: dict[str, Any], request: dict[str, Any], sites: Sites) -> dict[str, Any]:
    """The result with a note on those modules; nothing is told where the cells install something themselves."""
    cells: list[dict[str, Any]] = request["cells"]
    last = max((site.cell for site in sites.all), default=None)
    installs = request.get("installs") or any(_INSTALLS.search(cell["source"]) for cell in cells)
    if result["status"] != "ok" or last is None or installs:
        return result
    behind = [cell for cell in cells if cell["index"] > last and not cell.get("may_fail")]
    absent = dict.fromkeys(
        name for cell in behind for name in _imported(parsed(cell["source"]).body) if _is_absent(name)
    )
    present = [str(note["params"]["modules"]) for note in result["notes"] if note["code"] == _NOTE]
    known = [name for one in present for name in one.split(", ")]
    if not set(absent) - set(known):
        return result
    others = [note for note in result["notes"] if note["code"] != _NOTE]
    note = {"code": _NOTE, "params": {"modules": ", ".join(dict.fromkeys([*known, *absent]))}}
    return {**result, "notes": [*others, note]}


def _imported(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Modules that a cell imports whichever way it goes."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from (one.name.partition(".")[0] for one in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Expr(value=ast.Call(func=called)) | ast.Assign(value=ast.Call(func=called)):
                yield from _BY_CALLS.get(ast.unparse(called), ())


def _is_absent(name: str) -> bool:
    try:
        return name not in sys.modules and importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return False
