"""What a job does without a figure, for all faces: about questions that are open, one sentence a kind, and where there
can be none; and about answers that nothing takes, or that stand for a file which the job needs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...domain.decisions import Limits
from ...domain.estimates import Estimate, Question, QuestionKind
from ...domain.messages import Message
from ...domain.scripts import of_script
from ...domain.sizes import human

_HINT = "An answer reaches the job as well."
_SAYS: dict[QuestionKind, Message] = {
    "environment": Message(
        code="open_environment",
        text="Open question: {names}. The job runs without it, and ends in cell {cell}, line {line} where nothing sets "
        "it.",
        hint=_HINT,
    ),
    "path": Message(
        code="open_path",
        text="Open question: {names}. The job looks for it where it runs, in cell {cell}, line {line}, and ends there "
        "without it.",
        hint=_HINT,
    ),
    "batch": Message(
        code="open_batch",
        text="Open question: what one batch of {names} looks like. The job reads its data itself and needs no answer.",
        hint="With an answer there is a figure.",
    ),
    "value": Message(
        code="open_value",
        text="Open question: {names}. The job runs cell {cell}, line {line} as it stands, and ends there if it cannot.",
        hint=_HINT,
    ),
}
_SOMEWHERE = Message(
    code="open_question",
    text="Open question: {why} The job runs all the same, as the notebook stands.",
)
_NO_FIGURE = Message(
    code="unsupported_runs",
    text="There is no figure. {why} The job runs all the same, as the notebook stands.",
)
_GRAPH = Message(
    code="static_graph_runs",
    text="There is no figure for a static graph: the job runs as the notebook stands, with at most {memory} of memory.",
    hint="Another limit is asked for when it is submitted (--memory).",
)
_GRAPH_UNLIMITED = Message(
    code="static_graph_runs",
    text="There is no figure for a static graph: the job runs as the notebook stands, and nothing limits its memory.",
)


_OF_ANSWERS = frozenset(
    (
        "answers_misspelt",
        "answers_untaken",
        "answers_untaken_alone",
        "settings_absent",
        "settings_given",
        "settings_given_in_part",
    )
)
"""Codes of an estimate's notes about answers that changed nothing, or that the job has another way."""


def unanswered(estimate: Estimate | None, limits: Limits | None = None) -> tuple[Message, ...]:
    """Which questions are open, and what the job will do about each; which answers nothing takes, or no job; empty
    where there is no estimate.

    Args:
        limits: what the job gets of the machine.
    """
    if estimate is not None and estimate.status == "static_graph":
        if limits is None or limits.memory_bytes is None:
            return (_GRAPH_UNLIMITED,)
        return (msgspec.structs.replace(_GRAPH, params={"memory": human(limits.memory_bytes)}),)
    if estimate is not None and estimate.status == "unsupported":
        reason = next((note for note in estimate.notes if note.code == "unsupported"), None)
        return () if reason is None else (msgspec.structs.replace(_NO_FIGURE, params={"why": reason}),)
    if estimate is None:
        return ()
    of_answers = tuple(note for note in estimate.notes if note.code in _OF_ANSWERS)
    if estimate.status != "needs_input":
        return of_answers
    said = (*_by_kind(estimate.questions), *of_answers)
    return tuple(map(of_script, said)) if estimate.is_script else said


def _by_kind(questions: tuple[Question, ...]) -> Iterator[Message]:
    files = [one.where for one in questions if one.kind == "path" and one.where is not None]
    for kind, message in _SAYS.items():
        # What a file would say is no second thing to be known: the job reads it there, or ends there.
        of = [one for one in questions if one.kind == kind and not (kind == "value" and one.where in files)]
        place = next((one.where for one in of if one.where is not None), None)
        if not of or (place is None and kind != "batch"):
            continue
        params: dict[str, str | int] = {"names": ", ".join(dict.fromkeys(one.name for one in of))}
        if place is not None:
            params |= {"cell": place.cell + 1, "line": place.line}
        yield msgspec.structs.replace(message, params=params)
    rest = (one for one in questions if one.where is None and one.kind != "batch")
    if (first := next(rest, None)) is not None:
        yield msgspec.structs.replace(_SOMEWHERE, params={"why": first.why})
