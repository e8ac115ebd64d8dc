"""What is said of batches whose shapes differ from step to step, seen, drawn or assumed."""

from __future__ import annotations

from ..domain.messages import Message

BATCHES = (
    Message(
        code="no_batch",
        text="A loader gives no batch at all{place}: its data set has {samples} samples, fewer than the {batch} of a "
        "batch, and `drop_last` leaves those out. In the job its loop does nothing; the figure is of a batch of all.",
        hint="Choose a batch size that the data fills, or let `drop_last` be false.",
    ),
    Message(
        code="splits_differ",
        text="Each process draws its own parts of the data{place}: random_split takes Paddle's seed, which the program "
        "does not set, so that what one process trains with another one may validate with.",
        hint="Write paddle.seed(0) above that line; all processes then have the same parts.",
    ),
    Message(
        code="sizes_drawn",
        text="The size of a batch is drawn at random; the figure is that of the largest.",
    ),
    Message(
        code="sizes_drawn_unseen",
        text="The program draws the size of a batch at random, and its data is not here: the figure is that of the "
        "batch above, taken for the largest. The range on a GPU has batches of 0.6 to 1 of its sides.",
        hint="With some of the data here the largest that is drawn is taken.",
    ),
    Message(
        code="batch_of_another_size",
        text="The batch that was described for “{name}” has {answered} samples, the program's own have {own}: the "
        "figure is of {answered}, and the job takes {own}.",
        hint="Describe a batch of {own}, or choose the batch size, which the job gets too.",
    ),
    Message(
        code="read_twice_at_once",
        text="A loop over the data set {name} is left early and its thread reads on, while the next loop reads as "
        "well; both change what is in its {attribute}: the reader may stop at any row, and the training then waits for "
        "good.",
        hint="Let `__iter__` keep that in a variable of its own, or make the data set anew for each loop.",
    ),
    Message(
        code="shapes_differ",
        text="Batches differ in shape: of the next {batches} of the data here there are {shapes} shapes; the "
        "figure is that of the largest.",
        hint="A larger one that comes later takes more.",
    ),
    Message(
        code="shapes_assumed_half",
        text="The program pads each batch to the longest of its samples, and its data is not here: the figure is "
        "that of the batch above, taken for the longest. The range on a GPU has {batches} batches of half to all "
        "of that length, which is assumed.",
        hint="With some of the data here its own lengths are taken.",
    ),
    Message(
        code="shapes_assumed_texts",
        text="The figure is for texts of their mean length. The range has {batches} batches of lengths around it "
        "(log-normal, 0.6 of the logarithm), padded and cut by the program's own code; how they are spread is "
        "assumed.",
        hint="With some of the data here its own lengths are taken.",
    ),
    Message(
        code="shapes_alternate",
        text="The program's own sampler gives batches of several shapes that take as much; the figure is that of "
        "the one with most samples.",
    ),
)
"""Sentences of the notes by code."""
