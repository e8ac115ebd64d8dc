"""What ends a trace and no answer helps with: a sentence with its place and what to do, in place of a question."""

from __future__ import annotations

import msgspec

from ..domain.messages import Message
from . import packages
from .trace import Trace, TracedQuestion
from .translate import UNTRACEABLE, question

UNSUPPORTED = Message(
    code="unsupported",
    text="In cell {cell}, line {line} the estimate goes no further: {why}",
)
_SOMEWHERE = Message(code="unsupported", text="The estimate goes no further: {why}")
_FOR_WANT_OF_DATA = (
    "Data that is not on this machine was passed by before: with it the cell may run. Have it where the notebook "
    "looks for it, and estimate again."
)
_PASSED_BY = frozenset(("data_absent", "data_described", "data_followed"))
"""Codes of notes on data that a trace did without."""


def asked(trace: Trace) -> tuple[TracedQuestion, ...]:
    """The questions that an answer can be given to: each has a name."""
    return tuple(one for one in trace.questions if one.name and one.why != packages.MISSING)


def obstacles(trace: Trace) -> tuple[Message, ...]:
    """What hinders the trace and has no name, and so no answer; nothing where an answer leads on. Where a file is asked
    for alone, a person may not have it: what comes behind it is told as well."""
    if trace.status == "needs_input" and any(one.kind != "path" for one in asked(trace)):
        return ()
    without_data = any(note.code in _PASSED_BY for note in trace.notes)
    hindering = (one for one in trace.questions if not one.name and one.why != packages.MISSING)
    return tuple(_told(one, without_data=without_data) for one in hindering)


def _told(one: TracedQuestion, *, without_data: bool) -> Message:
    asked_for = question(one)
    why = msgspec.structs.replace(asked_for.why, hint="")
    hint = _FOR_WANT_OF_DATA if without_data and one.why in UNTRACEABLE else asked_for.why.hint
    params = {**why.params, "why": why}
    if asked_for.where is None:
        return msgspec.structs.replace(_SOMEWHERE, hint=hint, params=params)
    place = {"cell": asked_for.where.cell + 1, "line": asked_for.where.line}
    return msgspec.structs.replace(UNSUPPORTED, hint=hint, params={**params, **place})
