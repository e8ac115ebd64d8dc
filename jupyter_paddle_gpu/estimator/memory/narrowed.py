"""What an estimate says of the measurements that narrowed its range."""

from __future__ import annotations

from ...domain.estimates import DeviceTerms
from ...domain.messages import Message

BY_JOB = Message(code="narrowed_by_jobs", text="The range is narrowed by one finished job on this card.")
BY_JOBS = Message(code="narrowed_by_jobs", text="The range is narrowed by {jobs} finished jobs on this card.")
BY_PROGRAMS = Message(
    code="narrowed_by_programs", text="The range is narrowed by {programs} calibration programs run on this card."
)


def narrowed(terms: DeviceTerms | None) -> tuple[Message, ...]:
    """The notes for an estimate with these terms; none where nothing was measured on its card."""
    if terms is None:
        return ()
    notes = []
    if terms.jobs:
        notes.append(BY_JOB if terms.jobs == 1 else _with(BY_JOBS, jobs=terms.jobs))
    if programs := terms.observations - terms.jobs:
        notes.append(_with(BY_PROGRAMS, programs=programs))
    return tuple(notes)


def _with(template: Message, **params: int) -> Message:
    return Message(code=template.code, text=template.text, hint=template.hint, params=dict(params))
