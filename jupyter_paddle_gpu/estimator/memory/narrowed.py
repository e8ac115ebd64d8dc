"""What an estimate says of the measurements, here and in public logs, that its range rests on."""

from __future__ import annotations

from ...domain.estimates import DeviceTerms
from ...domain.messages import Message

BY_JOB = Message(code="narrowed_by_jobs", text="The range is narrowed by one finished job on this card.")
BY_JOBS = Message(code="narrowed_by_jobs", text="The range is narrowed by {jobs} finished jobs on this card.")
BY_PROGRAMS = Message(
    code="narrowed_by_programs", text="The range is narrowed by {programs} calibration programs run on this card."
)
BY_ANSWERS = Message(
    code="narrowed_by_answers",
    text="Both ends rest on {answered} trainings of convolutional nets, replayed with the workspaces that cuDNN asked "
    "for on an H200 and an H100: nine of ten lie between them; what recurrent layers ask for is known. On older cards "
    "other algorithms may be chosen.",
)
BY_ALL_LOGS = Message(
    code="widened_by_logs",
    text="The range is at least as wide as {logs} public training logs of GPUs scatter, of generated pictures, speech, "
    "text in pictures, language, pictures with text and point clouds, {mixed} of them of mixed precision, one on an "
    "RTX 5090, the other cards not named: their 90 % prediction interval. Of each log in turn, the interval of the "
    "others held eight of nine.",
)
CHANGING = Message(
    code="range_of_changing_shapes",
    text="The size of a batch is drawn anew in each step, which leaves gaps in the allocator's memory. The range has "
    "them; of two public training logs of detection, by which this was made, one lies inside and one 3 % above; their "
    "cards are not named.",
)

ORDERS = Message(
    code="range_of_orders",
    text="Batches of another shape in each step leave gaps in the allocator's memory, and which come first decides how "
    "many: the range holds {orders} orders of them. Of eight small trainings run on Paddle's own allocator for 40 "
    "steps seven lie inside.",
)


def narrowed(terms: DeviceTerms | None) -> tuple[Message, ...]:
    """The notes for an estimate with these terms; none where nothing was measured on its card."""
    if terms is None:
        return ()
    notes = []
    if terms.jobs:
        notes.append(BY_JOB if terms.jobs == 1 else BY_JOBS.filled(jobs=terms.jobs))
    if programs := terms.observations - terms.jobs:
        notes.append(BY_PROGRAMS.filled(programs=programs))
    if terms.mixed_logs:
        notes.append(BY_ALL_LOGS.filled(logs=terms.logs, mixed=terms.mixed_logs))
    if terms.answered:
        notes.append(BY_ANSWERS.filled(answered=terms.answered))
    if terms.changing_shapes and not terms.observations:
        notes.append(CHANGING)
    if terms.orders and not terms.observations:
        notes.append(ORDERS.filled(orders=terms.orders))
    return tuple(notes)
