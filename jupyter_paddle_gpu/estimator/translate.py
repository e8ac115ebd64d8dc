"""The tracer's codes as sentences. The tracer runs in another interpreter and sends codes with their parameters."""

from __future__ import annotations

import msgspec

from ..domain.estimates import Question
from ..domain.messages import Message
from ..domain.notebooks import Place
from .trace import TracedNote, TracedQuestion

NOTES: dict[str, Message] = {}
QUESTIONS: dict[str, Message] = {}
UNTRACEABLE: frozenset[str] = frozenset()
"""Reasons for which a real step may still give an answer."""
_OTHER = Message(code="tracer_note", text="The tracer says: {code} {details}")


def note(traced: TracedNote) -> Message:
    """A note's sentence."""
    return _sentence(NOTES, traced.code, dict(traced.params))


def question(traced: TracedQuestion) -> Question:
    """A question with its reason as a sentence."""
    params = {"name": traced.name, **traced.params}
    return Question(
        name=traced.name,
        why=_sentence(QUESTIONS, traced.why, params),
        where=Place(traced.cell, traced.line or 1) if traced.cell is not None else None,
        suggestion=traced.suggestion,
    )


def _sentence(table: dict[str, Message], code: str, params: dict[str, str | int | float]) -> Message:
    template = table.get(code)
    if template is None:
        details = ", ".join(f"{name} {value}" for name, value in params.items())
        return msgspec.structs.replace(_OTHER, params={"code": code, "details": details})
    return msgspec.structs.replace(template, params=params)
