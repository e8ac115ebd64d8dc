"""What is said of lines that may end a job, where the figure is that of a step that goes well."""

from __future__ import annotations

from ..domain.messages import Message

LEFT_EARLY = "left_early"
"""A note that says why no training was found."""
REFUSALS = (
    Message(
        code="refused_by_chance",
        text="Numbers drawn at random are out of bounds in {refused} of {of} draws: the job ends in cell {cell}, "
        "line {line}, by the first such one: {error}",
        hint="Draw within the bounds. The figure is that of a step that goes well.",
    ),
    Message(
        code="refused_likely",
        text="Outputs of {op} have no bounds, so the job most likely ends in cell {cell}, line {line}: {error}",
        hint="Put a sigmoid in front of this loss, or take the loss that has one "
        "(paddle.nn.BCEWithLogitsLoss). The figure is that of a step that goes well.",
    ),
    Message(
        code="index_unchecked",
        text="Cell {cell}, line {line} takes index {index} of an axis with {size} places, and Paddle does not "
        "check it: the step reads what stands in memory there, or the job crashes.",
        hint="Correct the index. The figure is that of a step that goes on.",
    ),
    Message(
        code="way_refused",
        text="A condition that is not computed here decides whether the job ends in cell {cell}, line {line}: {error}",
        hint="The figure is that of a step that goes well.",
    ),
    Message(
        code=LEFT_EARLY,
        text="In cell {cell}, line {line} “{function}” returns before its training, since this holds: {test}",
        hint="Give what it waits for where it is called, or set the name that keeps it from training, and estimate "
        "again.",
    ),
)
