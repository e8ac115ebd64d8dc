"""Mixed precision and distribution, as far as the code says."""

from __future__ import annotations

import ast
import re

from ...domain.notebooks import Fact, Place
from ..cells import Magic
from ..code import Code
from ..names import Names
from .loop import TrainingReader

_LEVELS = ("O1", "O2")
_LAUNCH = re.compile(r"paddle\.distributed\.launch|\bfleetrun\b")
_LAUNCHED = re.compile(r"--(devices|gpus|nproc_per_node)[ =]([\w,]+)")


def read_amp(code: Code, names: Names, reader: TrainingReader) -> tuple[Fact | None, Fact | None]:
    """The level (`off`, `O1`, `O2`) and the data type of automatic mixed precision; None where nothing trains."""
    if reader.training.kind == "none":
        return None, None
    if reader.training.prepare is not None and reader.training.kind == "fit":
        given = names.argument(reader.training.prepare, "amp_configs", 3)
        if given is not None:
            return _of_prepare(names, given)
    calls = [c for c in code.of_type(ast.Call) if names.is_paddle(c.func, "auto_cast", "amp_guard")]
    decorated = [c for c in code.of_type(ast.Call) if names.is_paddle(c.func, "decorate")]
    on = [c for c in calls if not _is_off(names, c)]
    level: Fact | None = None
    for call in [*on, *(decorated if on or not calls else [])]:
        given = names.argument(call, "level", 3) if call in calls else names.argument(call, "level")
        fact = names.fact(given) if given is not None else None
        if fact is None and call in calls:
            fact = Fact(value="O1", source=names.source(call), place=code.place(call), how="default")
        if fact is not None and (level is None or fact.value == "O2"):
            level = fact
    if level is None:
        return _off(), None
    dtypes = [given for call in [*on, *decorated] if (given := names.argument(call, "dtype")) is not None]
    dtype = names.fact(dtypes[0]) if dtypes else Fact(value="float16", source="", place=level.place, how="default")
    return (_off(), None) if level.value == "O0" else (level, dtype)


def _of_prepare(names: Names, given: ast.expr) -> tuple[Fact | None, Fact | None]:
    made = names.origin(given)
    level, dtype = given, None
    if isinstance(made, ast.Dict):
        options = {k.value: v for k, v in zip(made.keys, made.values, strict=True) if isinstance(k, ast.Constant)}
        level, dtype = options.get("level", ast.Constant(value="O1")), options.get("dtype")
        if "level" not in options:
            names.code.made(level, made)
    fact = names.fact(level)
    if fact.value in ("O0", None) and fact.how != "computed":
        return _off(), None
    if dtype is not None:
        return fact, names.fact(dtype)
    return fact, Fact(value="float16", source="", place=fact.place, how="default")


def _is_off(names: Names, call: ast.Call) -> bool:
    given = names.argument(call, "enable", 0)
    known = names.evaluate(given) if given is not None else None
    return known is not None and known.value is False


def _off() -> Fact:
    return Fact(value="off", source="", place=None, how="default")


def read_distribution(code: Code, names: Names, reader: TrainingReader, magics: list[tuple[int, Magic]]) -> Fact | None:
    """How several devices train; None where nothing trains and nothing is launched.

    `launch` (the notebook starts its processes itself) comes before what those processes do then: `fleet`,
    `data_parallel` or `none`.
    """
    for cell, magic in magics:
        found = _LAUNCH.search(magic.text)
        if found is not None and not magic.text.startswith(("%%writefile", "%%file")):
            line = magic.line + magic.text[: found.start()].count("\n")
            return Fact(value="launch", source=magic.text[:80], place=Place(cell, line), how="literal")
    calls: dict[str, Fact] = {}
    for call in code.of_type(ast.Call):
        path = names.qualified(call.func)
        kind = _distribution_of(path) if path.startswith("paddle.") else ""
        if kind:
            made = Fact(value=kind, source=names.source(call), place=code.place(call), how="literal")
            calls.setdefault(kind, made)
    for kind in ("launch", "fleet", "data_parallel"):
        if kind in calls:
            return calls[kind]
    if reader.training.kind == "none":
        return None
    return Fact(value="none", source="", place=None, how="default")


def _distribution_of(path: str) -> str:
    """By what is called."""
    if path == "paddle.distributed.spawn":
        return "launch"
    if ".fleet." in path and path.endswith((".init", ".distributed_model", ".distributed_optimizer")):
        return "fleet"
    return "data_parallel" if path.endswith(".DataParallel") else ""


def spawned_in_a_cell(code: Code, names: Names, foreign: set[Place]) -> str:
    """The name of a function of a cell that new processes are to run; empty where there is none.

    They import it from the notebook's `__main__`, which is not theirs; a forked process has it.
    """
    for call in code.of_type(ast.Call):
        if names.qualified(call.func) != "paddle.distributed.spawn":
            continue
        function, method = names.argument(call, "func", 0), names.argument(call, "start_method")
        if not isinstance(function, ast.Name) or (method is not None and names.fact(method).value != "spawn"):
            continue
        if any(code.place(made) not in foreign for made in code.functions.get(function.id, ())):
            return function.id
    return ""


def read_processes(code: Code, names: Names, magics: list[tuple[int, Magic]]) -> Fact | None:
    """How many processes train together: `spawn(..., nprocs=)`, or the launcher's devices on a `!` line."""
    for call in code.of_type(ast.Call):
        given = names.argument(call, "nprocs", 2) if names.is_paddle(call.func, "spawn") else None
        if given is not None and (fact := names.fact(given)) and isinstance(fact.value, int) and fact.value > 0:
            return fact
    for cell, magic in magics:
        launched = _LAUNCH.search(magic.text)
        found = _LAUNCHED.search(magic.text, launched.end()) if launched else None
        if found is not None and (count := _count(*found.groups())):
            line = magic.line + magic.text[: found.start()].count("\n")
            return Fact(value=count, source=found.group(), place=Place(cell, line), how="literal")
    return None


def _count(option: str, given: str) -> int:
    if option == "nproc_per_node":
        return int(given) if given.isdigit() else 0
    return len([part for part in given.split(",") if part.isdigit()])
