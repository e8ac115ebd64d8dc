"""Limits of a job on the machine's memory and processors: how large, where they come from, what follows at the end."""

from __future__ import annotations

import msgspec

from ..decisions import Limits
from ..messages import Message, Param
from ..mistakes.explanations import plain
from ..sizes import human
from . import reasons

RAISE = 2
"""A run that ended for want of memory gets so many times the limit when it is run again."""


def raised(limits: Limits | None, reason: Message | None) -> Limits | None:
    """The limits of another run of a job that ended for `reason`: where it wanted memory, twice the estimate's limit,
    within policy."""
    if limits is None or reason is None or reason.code != "out_of_memory_host" or not _can_be_raised(limits):
        return limits
    memory = _more(limits)
    others = tuple(message for message in limits.why if not message.code.startswith("memory_limit"))
    told = Message(
        code="memory_limit_raised",
        text="Memory limit {limit}: twice that of the run before, which ended for want of memory; at most {most} by "
        "policy.",
        params={"limit": human(memory), "most": human(limits.most_memory_bytes or memory)},
    )
    return msgspec.structs.replace(limits, memory_bytes=memory, why=(told, *others))


def out_of_memory(asked: int | None, settled: Limits | None, limit: int | None = None) -> Message:
    """Why a job ended that wanted more memory than it had.

    Args:
        asked: bytes that the job itself asked for.
        settled: what it was given.
        limit: the limit that held, where the engine knows it; else the one that was settled.
    """
    limit = limit or asked or (settled.memory_bytes if settled else None)
    if not limit:
        return reasons.out_of_memory_host()
    if asked:
        return reasons.out_of_memory_asked(human(limit), human(RAISE * limit))
    if settled is not None and _can_be_raised(settled):
        return reasons.out_of_memory_estimated(human(limit), human(_more(settled)), human(_most(settled)))
    return reasons.out_of_memory_policy(human(limit))


def out_of_memory_raised(cell: int, line: int | None, name: str, value: str) -> Message:
    """A cell got no memory for what it asked, which may be more than any machine has: nothing else was ended."""
    hint = "Use fewer DataLoader workers, load the data in parts, or run where there is more memory."
    error = f"{name}: {reasons.short(plain(value))}".rstrip(": ")
    params: dict[str, Param] = {"cell": cell + 1, "line": line or 0, "error": error}
    code = "out_of_memory_host"
    if line is None:
        return Message(code=code, text="Cell {cell} got no memory for what it asked: {error}", hint=hint, params=params)
    text = "Cell {cell}, line {line} got no memory for what it asked: {error}"
    return Message(code=code, text=text, hint=hint, params=params)


def _can_be_raised(limits: Limits) -> bool:
    return limits.memory_from == "estimate" and limits.memory_bytes is not None and limits.memory_bytes < _most(limits)


def _more(limits: Limits) -> int:
    return min(RAISE * (limits.memory_bytes or 0), _most(limits))


def _most(limits: Limits) -> int:
    return limits.most_memory_bytes or RAISE * (limits.memory_bytes or 0)
