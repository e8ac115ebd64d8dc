"""What is said of what steps leave behind them, which the figure of one step has not."""

from __future__ import annotations

from ..domain.messages import Message

MORE_ELSEWHERE = "more_elsewhere"
"""A note that names the most bytes of a run, which are not in a step."""
WAITS = "waits_for_collector"
"""A note that names what of a step may be gone already."""
AT_MOST = "_at_most"
"""What the code of a note ends with whose steps are kept in a collection that takes so many (`deque(maxlen=100)`)."""
LEFT_BEHIND = (
    Message(
        code="batches_left",
        text="Loaders of different lengths are read in step: with each epoch the longer ones leave {size} of batches "
        "that they have read ahead, for good, which are not in this figure.",
        hint="Let them have as many batches, then nothing is left.",
    ),
    Message(
        code="graphs_kept",
        text="Each step keeps its graph of {operations} operations{place}: about {size} of the machine's own memory "
        "more with every step, which is not in this figure.",
        hint="Keep the number in place of the tensor: `losses.append(loss.item())`, `total += loss.item()`.",
    ),
    Message(
        code="steps_kept",
        text="Each of the first steps keeps {size} of what it made; if all do, that much comes with every step, which "
        "is not in this figure.",
        hint="Keep numbers in place of tensors (`x.item()`), or clear the list when it is read.",
    ),
    Message(
        code="graphs_kept" + AT_MOST,
        text="The last {most} steps keep their graphs of {operations} operations{place}: {size} of the machine's own "
        "memory once there are so many, which is not in this figure.",
        hint="Keep the number in place of the tensor: `losses.append(loss.item())`, `total += loss.item()`.",
    ),
    Message(
        code="steps_kept" + AT_MOST,
        text="The last {most} steps are kept in part: {size} once there are so many, which is not in this figure.",
        hint="Keep numbers in place of tensors (`x.item()`), or fewer of them.",
    ),
)
"""Sentences of the notes by code; each has a size in bytes."""
OF_STEPS = (
    *LEFT_BEHIND,
    Message(
        code="trainings_side_by_side",
        text="Trainings are handed to a pool of {threads} threads: each figure is of one of them alone.",
        hint="Those that run at the same time take together as much as the sum of their figures; a pool of one thread "
        "has them one behind the other.",
    ),
    Message(
        code=WAITS,
        text="{size} of earlier rounds is counted that waits for Python's collector; when it comes is assumed.",
        hint="The lower end of the range is without it. `gc.collect()` behind each round gives it back.",
    ),
    Message(
        code=MORE_ELSEWHERE,
        text="Elsewhere in the run more is alive than in this step: {size} of tensors{place}; the upper end of the "
        "range has that.",
        hint="An evaluation, copied parameters or a later epoch takes it; smaller batches there take less.",
    ),
    Message(
        code="elsewhere_cut",
        text="What the run does beside its step was followed only so far{place}; what it takes later is not in the "
        "range.",
        hint="A larger evaluation or prediction there may take more than the step: leave room for it.",
    ),
    Message(
        code="unfrozen_later",
        text="Layers that are frozen now are trained from a later step on{place}: it takes more than this figure, "
        "which has {trained} of {all} numbers trained.",
        hint="Set them free before the loop to see what the later steps take.",
    ),
)
"""All that is said of steps."""
