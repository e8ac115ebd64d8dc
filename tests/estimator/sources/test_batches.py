"""What is traced besides where batches differ in shape."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.estimator.sources.batches import UNLIKE, differs, with_others
from jupyter_paddle_gpu.estimator.trace import Batches, Operation, Storage, Trace

LONG, WIDE, SMALL = ((8, 400),), ((64, 50),), ((32, 60),)


def traced(sides, *, words: int = 4096, identity: str = "1") -> Trace:
    """A step whose scores go with the square of the length."""
    (count, length) = sides[0]
    return Trace(
        status="ok",
        id=identity,
        operations=(Operation("op", "forward"),),
        storages=(
            Storage(count * length * words, 0, 1, "activations", "op", "", (count, length, words), "uint8"),
            Storage(count * length * length * 64, 0, 1, "activations", "op", "", (count, length, length, 64), "uint8"),
        ),
        batches=Batches((WIDE, SMALL, LONG), sides),
    )


def test_the_batch_that_takes_most_is_traced_for_itself():
    """Of two steps follows which batch that is; the other one beside it is another than itself."""
    asked = []

    def again(batch):
        asked.append(batch)
        return traced(LONG)

    found = with_others(traced(WIDE), again, "cpu")
    assert asked == [UNLIKE, LONG]
    assert found.batches.traced == LONG and found.batches.other.sides == WIDE
    assert found.storages == traced(LONG).storages


def test_the_largest_stays_the_step():
    asked = []

    def again(batch):
        asked.append(batch)
        return traced(SMALL)

    found = with_others(traced(LONG), again, "gpu")
    assert asked == [UNLIKE]
    assert found.batches.traced == LONG and found.batches.other.sides == SMALL


def test_without_an_answer_the_step_stays_as_it_is():
    first = traced(WIDE)
    assert with_others(first, lambda _: None, "gpu") == first
    assert with_others(first, lambda _: traced(SMALL, identity="2"), "gpu") == first
    last = with_others(first, lambda batch: traced(SMALL) if batch == UNLIKE else None, "gpu")
    assert last.batches.traced == WIDE and last.batches.other.sides == SMALL


def test_on_a_cpu_lengths_alone_tell_the_largest_batch():
    """And a step that took the processor long to be reached is not traced again; the clock says nothing of it."""
    padded = msgspec.structs.replace(traced(LONG), batches=Batches((((8, 40),), LONG), LONG))
    assert differs(traced(WIDE), "cpu", 1.0) and differs(traced(WIDE), "gpu", 1.0)
    assert differs(padded, "gpu", 1.0) and not differs(padded, "cpu", 1.0)
    assert not differs(padded, "gpu", 61.0)
    assert differs(msgspec.structs.replace(padded, seconds={"cells": 170.0}), "gpu", 20.0), "a busy machine"
    assert not differs(msgspec.structs.replace(padded, batches=None), "gpu", 1.0)
