"""Traces of a training whose batches differ in shape: beside the largest batch's step one of another shape.

Two steps tell how each allocation goes with the shapes (`memory.changing`), and so which batch takes most.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..memory.changing import largest
from ..trace import Batches, OtherStep, Trace

SECONDS = 60.0
"""Of the processor's time; a step that took longer to be reached is not traced once more. A busy machine takes longer
on the clock for the same answer."""
UNLIKE = "unlike"
"""Asks for the batch that differs most from the largest."""
Again = Callable[[object], Trace | None]
"""Traces the program once more, with such a batch or one of these shapes."""


def differs(trace: Trace, target: str, took: float) -> bool:
    """Whether a step with another batch would tell more than the traced one.

    On a GPU all shapes decide; on a CPU the largest batch, which is known by its bytes where only lengths change.

    Args:
        took: the processor's seconds for the trace.
    """
    found = [one.batches for one in (trace, *trace.others) if one.batches is not None and one.batches.other is None]
    return took < SECONDS and any(target != "cpu" or _change_samples(one) for one in found)


def _change_samples(batches: Batches) -> bool:
    return len({tuple(shape[:1] for shape in sides) for sides in batches.sides}) > 1


def with_others(trace: Trace, again: Again, target: str) -> Trace:
    """The trace with a step of another shape, of the batch that takes most as far as that can be told."""
    second = again(UNLIKE)
    if second is None:
        return trace
    trace = _with_steps(trace, second)
    workspace = "workspace_cpu" if target == "cpu" else "workspace_low"
    sides = largest(trace, lambda one: int(getattr(one, workspace)))
    if sides is None:
        return trace
    third = again(sides)
    if third is None or third.status != "ok" or third.id != trace.id:
        return trace
    is_second = second.batches is not None and second.batches.traced == sides
    return _with_steps(third, trace if is_second else second)


def _with_steps(trace: Trace, second: Trace) -> Trace:
    steps = {one.id: one for one in (second, *second.others)}
    others = tuple(_with_step(one, steps) for one in trace.others)
    return msgspec.structs.replace(_with_step(trace, steps), others=others)


def _with_step(trace: Trace, steps: dict[str, Trace]) -> Trace:
    found = steps.get(trace.id)
    if trace.batches is None or trace.batches.other is not None or found is None or found.batches is None:
        return trace
    step = OtherStep(found.batches.traced, found.operations, found.storages)
    return msgspec.structs.replace(trace, batches=msgspec.structs.replace(trace.batches, other=step))
