"""What is said of an estimate of live objects: what step it is of, and what of it was found nowhere."""

from __future__ import annotations

from ..domain.messages import Message

LIVE = (
    Message(
        code="live_step",
        text="The figure is for a plain step of these objects: forward, loss, backward, update.",
        hint="What the notebook's own loop keeps besides (batches in advance, results of an evaluation, summed "
        "gradients) is in an estimate of the notebook: `%paddle_gpu estimate`.",
    ),
    Message(
        code="live_no_optimizer",
        text="No optimizer in the kernel updates this model: Adam is assumed.",
        hint="Run the cell that makes its optimizer, and estimate again.",
    ),
    Message(
        code="live_no_loss",
        text="No loss of this model was found: the mean of its output is assumed.",
        hint="Run the cell that makes the loss, and estimate again.",
    ),
    Message(
        code="live_no_batch",
        text="Neither a loader nor the cells say a batch size: 1 is assumed, as `fit` does.",
        hint="Ask for another batch size.",
    ),
)
"""Sentences of the notes by code."""
