"""Several steps of a trace through the allocator: what it reserves once the training is steady. Sizes in bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import msgspec

from ..trace import Operation, Storage, Trace
from .allocator import Allocator, AutoGrowthBestFit, Block, driver_bytes

MOST_STEPS = 4
"""Steps replayed at most; a step that reserves nothing new ends the replay."""

SIDES = (0.75, 0.6, 0.85, 0.7, 0.9, 0.65, 0.95, 0.8, 1.0, 0.6, 0.9, 1.0)
"""Sides of a training that draws its pictures' size for each batch, as parts of the largest, in the order of the steps.

Trainers draw from some 0.4 to 0.6 of the largest (`BatchRandomResize` of PaddleDetection: 320 to 768, 480 to 800); the
order is any, but the largest is seldom the first, after which nothing would have to be asked for any more."""

Kept = defaultdict[tuple[str, int], list[Block]]


class Reserved(msgspec.Struct, frozen=True):
    """The allocator after the replay: its peak use, what it reserved at most, what the driver mapped for that, how many
    chunks it is, and what was refused (`Allocator`)."""

    allocated: int
    reserved: int
    mapped: int
    chunks: int
    refused: int = 0

    @classmethod
    def of(cls, allocator: Allocator) -> Reserved:
        """What an allocator came to."""
        chunks = allocator.chunks
        return cls(
            allocator.peak_allocated, allocator.peak_reserved, driver_bytes(chunks), len(chunks), allocator.refused
        )


def replay_reserved(
    trace: Trace, workspace: Callable[[Operation], int], new: Callable[[], Allocator] = AutoGrowthBestFit
) -> Reserved:
    """Replay steps until nothing new is reserved, beginning with the first step of a training.

    In the first step neither gradients nor optimizer state are there; they come into being between and after the
    step's activations, which is what fragments the chunks of the steps that follow. A startup program makes them
    before it.
    """
    allocator = new()
    steps = Steps(trace, [workspace(operation) for operation in trace.operations])
    kept: Kept = defaultdict(list)
    for number in range(MOST_STEPS):
        before = allocator.peak_reserved
        kept = steps.run(allocator, kept, first=number == 0 and not trace.begins_whole)
        if number and allocator.peak_reserved == before:
            break
    return Reserved.of(allocator)


def replay_changing(
    trace: Trace, workspace: Callable[[Operation], int], new: Callable[[], Allocator] = AutoGrowthBestFit
) -> Reserved:
    """Replay steps whose pictures have another size each (`SIDES`): chunks of one size are cut for the next.

    What grows with the pictures are activations, inputs and the kernels' transients; all else stays.
    """
    allocator = new()
    known: dict[float, Steps] = {}
    kept: Kept = defaultdict(list)
    for number, side in enumerate(SIDES):
        if side not in known:
            known[side] = Steps(*_shrunk(trace, workspace, side * side))
        kept = known[side].run(allocator, kept, first=number == 0 and not trace.begins_whole)
    return Reserved.of(allocator)


def _shrunk(trace: Trace, workspace: Callable[[Operation], int], part: float) -> tuple[Trace, list[int]]:
    """The step with this part of its pictures' area, and its transients."""
    storages = tuple(
        msgspec.structs.replace(one, bytes=max(1, int(one.bytes * part)))
        if one.kind in ("activations", "inputs") and one.bytes > 0
        else one
        for one in trace.storages
    )
    transients = [int(workspace(operation) * part) for operation in trace.operations]
    return msgspec.structs.replace(trace, storages=storages), transients


class Steps:
    """The events of one step, put in order once."""

    def __init__(self, trace: Trace, transients: list[int]) -> None:
        self._transients = transients
        self._end = len(trace.operations)
        self._standing: list[Storage] = []
        self._starts: defaultdict[int, list[Storage]] = defaultdict(list)
        self._ends: defaultdict[int, list[Storage]] = defaultdict(list)
        for storage in trace.storages:
            if storage.bytes <= 0:
                continue
            (self._standing if storage.start < 0 else self._starts[storage.start]).append(storage)
            if storage.end < self._end:
                self._ends[storage.end].append(storage)

    def run(self, allocator: Allocator, kept: Kept, *, first: bool) -> Kept:
        """One step; takes over what the step before kept and returns what this one keeps."""
        held = self._standing_now(allocator, kept, first)
        for moment in range(self._end):
            for storage in self._starts.get(moment, ()):
                held[id(storage)] = (storage, allocator.allocate(storage.bytes))
            if self._transients[moment]:
                allocator.release(allocator.allocate(self._transients[moment]))
            for storage in self._ends.get(moment, ()):
                if pair := held.pop(id(storage), None):
                    allocator.release(pair[1])
        left: Kept = defaultdict(list)
        for storage, block in held.values():
            left[storage.kind, storage.bytes].append(block)
        if first:  # the first update makes the optimizer's state
            for storage in self._standing:
                if storage.kind == "optimizer_state":
                    left[storage.kind, storage.bytes].append(allocator.allocate(storage.bytes))
        return left

    def _standing_now(self, allocator: Allocator, kept: Kept, first: bool) -> dict[int, tuple[Storage, Block]]:
        """What is there before the step; what was kept for nobody is given back."""
        held: dict[int, tuple[Storage, Block]] = {}
        for storage in self._standing:
            if first and storage.kind in ("gradients", "optimizer_state"):
                continue
            waiting = kept[storage.kind, storage.bytes]
            held[id(storage)] = (storage, waiting.pop() if waiting else allocator.allocate(storage.bytes))
        for blocks in kept.values():
            for block in blocks:
                allocator.release(block)
        return held
