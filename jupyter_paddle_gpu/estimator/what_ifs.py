"""Sentences of the tracer on what-ifs that it could not, or not quite, grant."""

from __future__ import annotations

from ..domain.messages import Message

NOTES: tuple[Message, ...] = (
    Message(
        code="no_images",
        text="The training step gets no images, so there is no other size to ask about.",
        hint="An image is an array of four dimensions that a layer is called with.",
    ),
    Message(
        code="no_sequences",
        text="The training step gets no sequences, so there is no other length to ask about.",
        hint="A sequence is a [batch, length] array of integers or a [batch, length, features] array that a layer "
        "is called with.",
    ),
    Message(
        code="image_refused",
        text="With images of {images} × {images} pixels the notebook fails in cell {cell}, line {line}: {problem}",
        hint="The model is built for one size: look for a Linear layer behind Flatten, or for a table of positions.",
    ),
    Message(
        code="sequence_refused",
        text="With sequences of length {length} the notebook fails in cell {cell}, line {line}: {problem}",
        hint="The model is built for one length, or up to one: look for a table of positions or a fixed mask.",
    ),
    Message(
        code="both_refused",
        text="With images of {images} × {images} pixels and sequences of length {length} the notebook fails in "
        "cell {cell}, line {line}: {problem}",
        hint="Ask for one of the two to see which of them the model refuses.",
    ),
    Message(code="image_refused_live", text="With images of {images} × {images} pixels the step fails: {problem}"),
    Message(code="sequence_refused_live", text="With sequences of length {length} the step fails: {problem}"),
    Message(
        code="both_refused_live",
        text="With images of {images} × {images} pixels and sequences of length {length} the step fails: {problem}",
    ),
    Message(
        code="live_step",
        text="The figure is for a plain step of these objects: forward, loss, backward, update.",
        hint="What the notebook's own loop keeps besides (batches in advance, results of an evaluation, summed "
        "gradients) is in an estimate of the notebook: `%paddle_gpu estimate`.",
    ),
    Message(
        code="image_kept",
        text="Images of {asked} × {asked} pixels were asked for, but the model still gets {height} × {width}.",
        hint="Give the variable that holds their size with --set name=value.",
    ),
    Message(
        code="sequence_kept",
        text="Sequences of length {asked} were asked for, but the model still gets {found}.",
        hint="Give the variable that holds their length with --set name=value.",
    ),
    Message(
        code="size_unreached",
        text="With the size that was asked for ({asked}) the notebook reaches no training step.",
        hint="Change it in the notebook and run it once to see what happens.",
    ),
    Message(
        code="accumulation_kept",
        text="Gradients of {asked} steps were to be summed; the notebook sums those of {found}, and the figure is "
        "for that.",
        hint="Ask for a multiple of {found}, or change it in the notebook.",
    ),
    Message(
        code="batch_undivided",
        text="The notebook's batches are of one size in any case, so an update sees {asked} times as many samples.",
        hint="Ask for it together with a batch size where a variable such as BATCH_SIZE sets it.",
    ),
    Message(
        code="too_few_steps",
        text="The training ends before gradients of {asked} steps are summed.",
        hint="Let the loop that trains run for more steps.",
    ),
)
